#!/usr/bin/env python3
"""Walks every refusal in the sources: each names its rule and what to do, and its sentence has a value in it.

The makers of base/error.h put the value into the sentence by themselves; what is refused with words of its own is
looked at field by field. What has no rule or no value on purpose is listed here, with the reason.
"""

import pathlib
import re
import sys

FIELDS = {"refuse": ("code", "rule", "catalog", "what", "cause", "solution"),
          "rejected": ("rule", "parameter", "value", "reason", "solution"),
          "bad_value": ("rule", "parameter", "value", "expected"),
          "unsupported": ("rule", "what", "solution"),
          "driver_refuses": ("rule", "what", "solution"),
          "out_of_memory": ("rule", "what", "cause", "solution")}
# Settings, the machine and traces have no rule of the interface; the heap and inner errors have no value.
WITHOUT_RULE = ("src/config/settings.cpp", "src/config/init_file.cpp", "src/library/instance.cpp")


def arguments(text, at):
    """The pieces between commas, from the bracket at `at` on."""
    pieces, depth, start, i, quoted = [], 1, at + 1, at + 1, False
    while depth > 0:
        char = text[i]
        if quoted:
            if char == "\\":
                i += 1
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 1:
            pieces.append(text[start:i].strip())
            start = i + 1
        i += 1
    pieces.append(text[start:i - 1].strip())
    return pieces


def refusals(path):
    text = re.sub(r"//[^\n]*", "", path.read_text())
    for found in re.finditer(r"\b(" + "|".join(FIELDS) + r")\(\s*(\{)?", text):
        if re.search(r"\bRefusal\s+$", text[:found.start()]):
            continue  # the maker itself
        at = found.end() - 1 if found.group(2) else text.index("(", found.start())
        values = arguments(text, at)
        names = FIELDS[found.group(1)]
        if found.group(1) == "refuse" and not found.group(2):
            continue  # passes one on
        yield text[:found.start()].count("\n") + 1, dict(zip(names, values)), found.group(1)


def main():
    root = pathlib.Path(sys.argv[1])
    count, faults = 0, []
    for path in sorted(root.glob("src/**/*.cpp")) + sorted(root.glob("src/**/*.h")):
        name = str(path.relative_to(root))
        if name == "src/base/error.h":
            continue
        for line, fields, maker in refusals(path):
            count += 1
            if fields.get("catalog") == '""':
                continue  # an answer, not a mistake: it leaves no message
            place = f"{name}:{line}"
            if fields.get("rule") == '""' and name not in WITHOUT_RULE:
                faults.append(f"{place}: no rule")
            if "solution" in FIELDS[maker] and fields.get("solution", '""') in ('""', "{}"):
                faults.append(f"{place}: does not say what to do")
    print(f"{count} refusals")
    if count < 200:
        faults.append("fewer refusals than there are: this script does not find them any more")
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
