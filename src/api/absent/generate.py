#!/usr/bin/env python3
"""Makes headers, functions and the list of exports from the tables of what belay does not run (C-22).

Usage: generate.py TABLES EXPORTS OUTPUT

TABLES is the folder of the tables, EXPORTS the list of what else the library exports. Written below OUTPUT, and only
where something changed: include/acl/..., absent_functions.cpp, absent_names.inc, exported_names.inc and
exports.map.

A table is one header. Its lines:

    # words                            a comment in the header; the first says what the header is about
    header acl/acl_mdl.h               where it goes
    guard NAME                         its include guard
    include acl_base.h                 a header beside it that it includes
    constant NAME VALUE                a macro
    opaque NAME                        a structure that nobody sees into
    handle NAME TYPE                   another name of a type
    callback RESULT (*NAME)(...)       a type of functions
    struct NAME { ... }
    enum NAME { ... }
    function RESULT NAME(...) -> X     declared, exported, and answered: 207000, NULL, 0, or X
    present RESULT NAME(...)           declared here, and belay has it
"""
import pathlib
import re
import sys

DECLARATIONS = {
    "opaque": lambda rest: f"typedef struct {rest} {rest};",
    "handle": lambda rest: "typedef {1} {0};".format(*rest.split(None, 1)),
    "callback": lambda rest: f"typedef {rest};",
    "constant": lambda rest: f"#define {rest}",
}


def folded(words, indent="    ", width=110):
    """Words in lines of at most that width."""
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width - len(indent):
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(indent + line for line in lines)


def with_body(kind, rest):
    name, body = re.fullmatch(r"(\w+) \{ (.*) \}", rest).groups()
    if kind == "enum":
        inner = folded(body)
    else:
        inner = "\n".join(f"    {field.strip()};" for field in body.rstrip("; ").split(";"))
    # An array of no length is GNU C's.
    odd = "__extension__ " if "[0]" in body else ""
    return f"{odd}typedef {kind} {name} {{\n{inner}\n}} {name};"


class Function:
    def __init__(self, text):
        prototype, _, self.answer = text.partition(" -> ")
        self.result, self.name, self.parameters = re.fullmatch(r"(.*?[ *])(\w+)\((.*)\)", prototype).groups()

    def declaration(self):
        text = f"ACL_FUNC_VISIBILITY {self.result}{self.name}({self.parameters});"
        first, *others = folded(text, "").split("\n")
        return "\n    ".join([first, *others])

    def definition(self):
        tell = f'absent("{self.name}")'
        if self.result == "aclError ":
            body = f"return {tell};"
        elif self.result == "void ":
            body = f"(void){tell};"
        else:
            body = f"(void){tell}; return {self.answer or '{}'};"
        return f"{self.result}{self.name}({self.parameters}) {{ {body} }}"


class Table:
    def __init__(self, path):
        self.includes, self.body, self.functions, self.about = [], [], [], ""
        for number, line in enumerate(path.read_text().splitlines(), 1):
            try:
                self.read(line.strip())
            except Exception as trouble:
                sys.exit(f"{path}:{number}: this line cannot be read ({trouble}): {line}")

    def read(self, line):
        kind, _, rest = line.partition(" ")
        if not line:
            self.body.append("")
        elif kind == "#" and not self.about:
            self.about = rest
        elif kind == "#":
            self.body.append(f"/* {rest} */")
        elif kind in ("header", "guard"):
            setattr(self, kind, rest)
        elif kind == "include":
            self.includes.append(rest)
        elif kind in ("struct", "enum"):
            self.body.append(with_body(kind, rest))
        elif kind in ("function", "present"):
            function = Function(rest)
            self.body.append(function.declaration())
            if kind == "function":
                self.functions.append(function)
        else:
            self.body.append(DECLARATIONS[kind](rest))

    def text(self):
        up = "../" * (self.header.count("/") - 1)
        includes = "\n".join(f'#include "{up}{each}"' for each in self.includes)
        note = "" if not self.functions else (
            "\n *\n * belay runs no models, operators or media processing: functions declared here return 207000, or NULL"
            "\n * where they return an object, so that programs compile, link and run their memory part.")
        return (f"/*\n * {self.about}{note}\n */\n#ifndef {self.guard}\n#define {self.guard}\n\n{includes}\n\n"
                '#ifdef __cplusplus\nextern "C" {\n#endif\n\n' + "\n".join(self.body).strip() +
                f"\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {self.guard} */\n")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    folder, exports, output = map(pathlib.Path, sys.argv[1:])
    tables = [Table(path) for path in sorted(folder.glob("*.table"))]
    functions = [function for table in tables for function in table.functions]
    names = sorted(function.name for function in functions)
    for table in tables:
        write(output / "include" / table.header, table.text())
    write(output / "absent_functions.cpp",
          '#include "api/absent.h"\n' + "".join(f'#include "{table.header}"\n' for table in tables) +
          '\n#pragma GCC diagnostic ignored "-Wunused-parameter"\n\nusing belay::absent;\n\n' +
          "\n".join(function.definition() for function in functions) + "\n")
    write(output / "absent_names.inc", "".join(f"ABSENT({each.name}, {each.answer})\n" for each in
                                                functions))
    wanted = exports.read_text()
    place = wanted.index("    local:")
    present = re.findall(r"^ *([a-z]\w*);", wanted[:place], re.MULTILINE)
    write(output / "exported_names.inc", "".join(f"EXPORTED({name})\n" for name in present + names))
    write(output / "exports.map",
          wanted[:place] + "        /* Not run (api/absent) */\n" + "".join(f"        {name};\n" for name in names) + "\n" +
          wanted[place:])


if __name__ == "__main__":
    main()
