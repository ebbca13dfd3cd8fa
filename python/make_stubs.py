"""Writes the type stubs of `acl` from what its functions say of themselves: make_stubs.py DIRECTORY

acl.pyi is for editors that look beside acl.so. acl-stubs is the same as a package, for type checkers that follow PEP 561:
one file cannot tell them of "import acl.rt". Run with the built module on PYTHONPATH.
"""

import os
import re
import sys

SUBMODULES = ("rt", "mdl", "media", "op", "blas", "util", "prof", "himpi", "fv")
HEAD = '"""%s"""\n\n# Written by make_stubs.py from the docstrings of the module; do not edit.\n'
TYPES = {
    "dict": "Dict[str, Any]",
    "list": "List[Any]",
    "tuple": "Tuple[int, ...]",
    "Callable": "Callable[..., object]",
    "str | None": "Optional[str]",
    "Callable | None": "Optional[Callable[..., object]]",
}


def type_of(words):
    """'size: int' -> 'int'"""
    name = words.split(":", 1)[-1].strip()
    return TYPES.get(name, name)


def split(words):
    return [part.strip() for part in words.split(",") if part.strip()]


def stub(function, indent=""):
    first, _, rest = function.__doc__.partition("\n")
    match = re.fullmatch(r"(\w+)\((\[?)(.*?)(\]?)\) -> (.*)", first)
    name, optional, arguments, _, result = match.groups()
    parameters = ["%s: %s%s" % (part.split(":")[0], type_of(part), " = ..." if optional else "")
                  for part in split(arguments)]
    if parameters:
        parameters.append("/")
    if result.startswith("("):
        result = "Tuple[%s]" % ", ".join(type_of(part) for part in split(result[1:-1]))
    else:
        result = type_of(result)
    lines = ["def %s(%s) -> %s:" % (name, ", ".join(parameters), result)]
    text = rest.strip("\n").replace("\\", "\\\\").splitlines()
    lines += ['    """' + text[0]] + ["    " + line if line else "" for line in text[1:]]
    lines[-1] += '"""'
    return "\n".join(indent + line if line else "" for line in lines) + "\n"


def functions_of(module):
    return [getattr(module, name) for name in sorted(vars(module)) if callable(getattr(module, name))]


def imports(text):
    names = [name for name in ("Any", "Callable", "Dict", "List", "Optional", "Tuple") if re.search(r"\b%s\b" % name, text)]
    out = "\nfrom typing import %s\n" % ", ".join(names) if names else ""
    return out + ("\nimport numpy\n" if "numpy." in text else "")


def page(title, body):
    return HEAD % title + imports(body) + ("\n" + body if body else "")


def one_file(acl):
    parts = [stub(function) for function in functions_of(acl)]
    for name in SUBMODULES:
        inside = ["    @staticmethod\n" + stub(function, "    ") for function in functions_of(getattr(acl, name))]
        parts.append("class %s:\n%s" % (name, "\n".join(inside) if inside else "    ...\n"))
    return page("AscendCL from Python.", "\n".join(parts))


def files(acl):
    """{path: text}"""
    made = {"acl.pyi": one_file(acl)}
    top = "from . import %s\n\n" % ", ".join("%s as %s" % (name, name) for name in SUBMODULES)
    made["acl-stubs/__init__.pyi"] = page("AscendCL from Python.",
                                          top + "\n".join(stub(function) for function in functions_of(acl)))
    for name in SUBMODULES:
        body = "\n".join(stub(function) for function in functions_of(getattr(acl, name)))
        made["acl-stubs/%s.pyi" % name] = page("acl.%s" % name, body)
    return made


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    import acl

    for path, text in files(acl).items():
        path = os.path.join(arguments[0], path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
