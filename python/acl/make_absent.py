"""Makes rows of the module from the table of what belay does not run: make_absent.py TABLE OUTPUT

A row is ABSENT(path, kinds, C function, help): `kinds` has a letter for each value that is returned (absent.cpp).
"""

import keyword
import re
import sys

LETTERS = {"ret": "r", "None": "n", "str": "n", "op_name": "n", "op_type": "n", "callable": "n", "dict": "d", "list": "l",
           "float": "f", "data_type": "u", "format": "u"}
TYPES = {"n": "object", "d": "dict", "l": "list", "f": "float"}


def row(line):
    path, arguments, result, function = re.fullmatch(r"([\w.]+)\((.*?)\) -> (.*) = (\w+)", line).groups()
    names = [name.strip() for name in result.strip("()").split(",")]
    kinds = "".join(LETTERS.get(name, "i") for name in names)
    typed = ["%s: %s" % (name, TYPES.get(kind, "int")) for name, kind in zip(names, kinds)]
    result = "(%s)" % ", ".join(typed) if result.startswith("(") else typed[0].partition(": ")[2]
    arguments = [name.strip() for name in arguments.split(",") if name.strip()]
    arguments = ", ".join("%s%s: object" % (name, "_" if keyword.iskeyword(name) else "") for name in arguments)
    words = ("(%s) -> %s\\n\\nNot implemented: belay runs no models, operators or media processing. Returns 207000; "
             "the first call prints a note. [C-22]" % (arguments, "ret: int" if result == "int" and kinds == "r" else result))
    return 'ABSENT("%s", "%s", "%s", "%s")\n' % (path, kinds, function, words)


def main():
    table, output = sys.argv[1:]
    with open(table) as lines:
        made = "".join(row(line.strip()) for line in lines if line.strip() and not line.startswith("#"))
    try:
        with open(output) as before:
            if before.read() == made:
                return
    except FileNotFoundError:
        pass
    with open(output, "w") as file:
        file.write(made)


main()
