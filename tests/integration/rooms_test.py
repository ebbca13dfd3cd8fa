#!/usr/bin/env python3
"""Every room can include the rooms that it names, and no other: a wrong include does not compile.

Usage: rooms_test.py <source directory> <build directory>

Asks the compiler itself, with the flags that the build compiles each room with.
"""
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path


def rooms_by_cmake(source):
    """The rooms, and what each names, as the build files say."""
    named = {}
    for file in [source / "src/CMakeLists.txt", *sorted(source.glob("src/*/CMakeLists.txt"))]:
        for body in re.findall(r"belay_room\(([^)]*)\)", file.read_text()):
            words = body.split()
            sees = words[words.index("SEES") + 1:] if "SEES" in words else []
            named[words[0]] = [word for word in sees if word not in ("LINKS", "SOURCES")]
            if "LINKS" in sees:
                named[words[0]] = sees[:sees.index("LINKS")]
    return named


def flags_of(room, source, build):
    """How the build compiles a file of the room, but for the file and what comes out."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "/belay_%s.dir/" % room in entry["command"]:
            words = shlex.split(entry["command"])
            start = next(i for i, word in enumerate(words) if word.endswith(("++", "g++-12", "clang++")))
            flags, skip = [], False
            for word in words[start:]:
                if skip:
                    skip = False
                elif word in ("-o", "-c", "-MT", "-MF", "-include"):
                    skip = True
                elif word not in ("-MD", "-Winvalid-pch"):
                    flags.append(word)
            return flags, entry["directory"]
    raise SystemExit("no file of room %s in compile_commands.json" % room)


def compiles(text, flags, directory):
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write(text)
        file.flush()
        return subprocess.run([*flags, "-fsyntax-only", file.name], cwd=directory, capture_output=True, text=True)


def main(source, build):
    named = rooms_by_cmake(source)
    headers = {room: sorted((source / "src" / room).glob("*.h")) for room in named}
    headers = {room: "%s/%s" % (room, files[0].name) for room, files in headers.items() if files}
    wrong = []
    if len(named) < 10 or "base" not in named:
        wrong.append("only these rooms were found: %s" % ", ".join(sorted(named)))
    for room in sorted(named):
        flags, directory = flags_of(room, source, build)
        lines = []
        for other, header in sorted(headers.items()):
            may = other == room or other in named[room]
            lines.append('#if %s__has_include("%s")\n#error "%s: %s"\n#endif\n' % (
                "!" if may else "", header, other, "is named and cannot be included" if may
                else "is not named and can be included"))
        answer = compiles("".join(lines), flags, directory)
        wrong += ["%s: %s" % (room, line) for line in re.findall(r'#error "([^"]*)"$', answer.stderr, re.M)]
        if answer.returncode and not wrong:
            wrong.append("%s: %s" % (room, answer.stderr.strip()))

    # The same as a whole, once: what stands above is not what a programmer would write.
    flags, directory = flags_of("memory", source, build)
    if compiles('#include "memory/plan.h"\n', flags, directory).returncode:
        wrong.append("memory cannot include its own plan.h")
    if not compiles('#include "runtime/process.h"\n', flags, directory).returncode:
        wrong.append("memory can include runtime/process.h")
    for line in wrong:
        print(line)
    print("%d rooms, %d wrong" % (len(named), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
