"""How the benchmark scripts say things: sizes, counts, machines, and tables in pages between two marks."""

import sys


def size(number):
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if number >= unit:
            return "%.3g %s" % (number / unit, name)
    return "%d B" % number


def count(number):
    return format(number, ",")


def counted(number, thing):
    """1 processor, 2 processors."""
    return "%d %s%s" % (number, thing, "" if number == 1 else "s")


def by_number(point):
    """A key to sort names by in which numbers stand between slashes: 64 comes before 512."""
    return [(int(part) if part.isdigit() else 0, part) for part in point.split("/")]


def cell(words):
    return words.replace("|", "\\|")


def table(head, rows):
    """The lines of a table in Markdown."""
    return ["| %s |" % " | ".join(head), "|%s" % ("---|" * len(head))] + ["| %s |" % " | ".join(row) for row in rows]


def machine_line(machine):
    virtual = {"yes": "a virtual machine", "no": "no virtual machine"}.get(
        machine["virtual_machine"], "unknown whether a virtual machine")
    return "Machine: %s, %s, %.0f GB, Linux %s, %s." % (
        machine["cpu"], counted(machine["cpus"], "processor"), machine["memory_bytes"] / (1 << 30), machine["kernel"], virtual)


def write_between_marks(path, begin, end, block):
    """Replaces what stands between the two marks of a page."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    if page.count(begin) != 1 or page.count(end) != 1:
        sys.exit("%s: the marks '%s' and '%s' must be there once each" % (path, begin, end))
    front, rest = page.split(begin)
    back = rest.split(end)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write("%s%s\n\n%s\n\n%s%s" % (front, begin, block, end, back))
