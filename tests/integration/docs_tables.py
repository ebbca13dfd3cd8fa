#!/usr/bin/env python3
"""Looks whether every page of the project renders as it is meant: tables, links, code blocks.

Usage: docs_tables.py [--render] PROJECT

First it looks at pages with mistakes on purpose, each of which it must find. Then at all *.md files below PROJECT.
What it finds is printed as file:line: what. With --render each page is also rendered by markdown-it
(python3-markdown-it), which must find the same tables with the same rows.
"""

import os
import re
import sys
import tempfile

FENCE = re.compile(r"^ *(```+|~~~+)(.*)$")
SEPARATOR = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^()\s<>]+(?:\([^()\s]*\)[^()\s]*)?)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^ {0,3}\[[^\]]+\]:\s+<?([^\s>]+)>?")
HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
# A name in code that begins so is meant to be in the project, but for those of the install tree.
INSTALLED = ("python/site-packages",)
FOLDERS = ("src/", "docs/", "tests/", "scripts/", "cli/", "cmake/", "include/", "python/", "bench/", "examples/",
           "packaging/")


def pages_below(project):
    for folder, inner, files in os.walk(project):
        inner[:] = sorted(each for each in inner
                          if not each.startswith(".") and each != "node_modules"
                          and not (folder == project and each == "build"))
        yield from (os.path.join(folder, file) for file in sorted(files) if file.endswith(".md"))


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n")


def outside_blocks(lines):
    """(number, line) of the lines outside fenced blocks, and the number of a fence that is never closed, or None."""
    outside, fence, opened = [], None, None
    for number, line in enumerate(lines, 1):
        match = FENCE.match(line)
        if fence is None and match:
            fence, opened = match.group(1), number
        elif fence is not None:
            if match and match.group(1).startswith(fence) and not match.group(2).strip():
                fence, opened = None, None
        else:
            outside.append((number, line))
    return outside, opened


def cells_of(row):
    """The cells of a row. Only a backslash keeps a pipe in its cell, also inside code."""
    row = row.strip()
    row = row[1:] if row.startswith("|") else row
    cells = re.split(r"(?<!\\)\|", row)
    return cells[:-1] if not cells[-1].strip() else cells


def without_code(line):
    """The line with code spans blanked."""
    return re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", lambda match: " " * len(match.group(0)), line)


def tables_of(outside):
    """Rows that follow each other, as lists of (number, line)."""
    tables, last = [], None
    for number, line in outside:
        if line.lstrip().startswith("|") and len(line) - len(line.lstrip()) < 4:
            if last is not None and number == last + 1:
                tables[-1].append((number, line))
            else:
                tables.append([(number, line)])
            last = number
    return tables


def table_problems(outside):
    text = dict(outside)
    for table in tables_of(outside):
        first, last = table[0][0], table[-1][0]
        if len(table) < 2 or not SEPARATOR.match(table[1][1]):
            yield first, "rows without a head: is there a blank line inside a table?"
            continue
        if not re.match(r"^\s*$|^\s*<!--.*-->\s*$", text.get(first - 1, "")):
            yield first, "a table needs a blank line above it"
        if not re.match(r"^\s*$|^\s*<!--|^#", text.get(last + 1, "")):
            yield last + 1, "this line becomes a row of the table above it"
        wanted = len(cells_of(table[0][1]))
        for number, line in table:
            cells = cells_of(line)
            if len(cells) != wanted:
                yield number, "%d cells in a table of %d columns; a pipe inside a cell is written \\|" % (len(cells), wanted)
            elif not line.rstrip().endswith("|"):
                yield number, "a row ends with a pipe"
            elif any(cell.count("`") % 2 for cell in cells):
                yield number, "code goes over the border of a cell; a pipe inside a cell is written \\|"


def anchors_of(path):
    """The names under which the headings of a page can be reached, as GitHub makes them."""
    found = set()
    lines = lines_of(path)
    for _, line in outside_blocks(lines)[0]:
        match = HEADING.match(line)
        if match:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match.group(2)).lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            number, plain = 0, name
            while name in found:
                number += 1
                name = "%s-%d" % (plain, number)
            found.add(name)
        found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
    return found


def link_problems(outside, path, project):
    for number, line in outside:
        plain = without_code(line)
        targets = LINK.findall(plain) + DEFINITION.findall(plain)
        for target in targets:
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            file, _, anchor = target.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if os.path.relpath(there, project).startswith(".."):
                yield number, "the link %s leads out of the project" % target
            elif not os.path.exists(there):
                yield number, "the link %s leads to no file" % target
            elif anchor and there.endswith(".md") and anchor not in anchors_of(there):
                yield number, "the link %s leads to no heading" % target
        if re.search(r"\]\([^)]*$", plain):
            yield number, "a link goes on in the next line"


def path_problems(outside, project):
    """Files that are named in code and are not there."""
    for number, line in outside:
        for name in re.findall(r"`([^`\s]+)`", line):
            if name.startswith(FOLDERS) and not name.startswith(INSTALLED) and re.fullmatch(r"[\w./+-]+", name):
                if not os.path.exists(os.path.join(project, name)):
                    yield number, "there is no %s" % name


def rendered_rows(markdown, text):
    """(line, number of rows) of the tables that a renderer sees."""
    rows, begin = [], None
    for token in markdown.parse(text):
        if token.type == "table_open":
            begin, count = token.map[0] + 1, 0
        elif token.type == "tr_open":
            count += 1
        elif token.type == "table_close":
            rows.append((begin, count))
    return rows


def render_problems(markdown, outside, lines):
    ours = [(table[0][0], len(table) - 1) for table in tables_of(outside)]
    theirs = rendered_rows(markdown, "\n".join(lines))
    for begin, count in ours:
        if (begin, count) not in theirs:
            yield begin, "renders as no table of %d rows with its head" % count
    for begin, count in theirs:
        if (begin, count) not in ours:
            yield begin, "renders as a table of %d rows, which does not look like one" % count


def problems_of(path, project, markdown=None):
    lines = lines_of(path)
    outside, unclosed = outside_blocks(lines)
    found = [(unclosed, "this block is never closed")] if unclosed else []
    found += table_problems(outside)
    found += link_problems(outside, path, project)
    found += path_problems(outside, project)
    if markdown is not None:
        found += render_problems(markdown, outside, lines)
    return sorted(found)


TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n"
MISTAKES = (  # page, line, words of the complaint
    (TABLE + "\n| 3 | 4 |\n", 5, "rows without a head"),
    ("| a | b |\n|---|\n| 1 | 2 |\n", 2, "1 cells in a table of 2"),
    (TABLE + "| 3 | 4 | 5 |\n", 4, "3 cells in a table of 2"),
    (TABLE + "| 3 |\n", 4, "1 cells in a table of 2"),
    (TABLE + "| `a|b` |\n", 4, "over the border"),
    (TABLE + "| `a|b` | 1 |\n", 4, "3 cells"),
    (TABLE + "| 3 | 4\n", 4, "ends with a pipe"),
    (TABLE + "text\n", 4, "becomes a row"),
    ("text\n" + TABLE, 2, "blank line above"),
    ("```sh\nls\n", 1, "never closed"),
    ("```sh\nls\n```\n\n````text\n```\n", 5, "never closed"),
    ("[a](nowhere.md)\n", 1, "leads to no file"),
    ("![a](nowhere.svg)\n", 1, "leads to no file"),
    ("[a]\n\n[a]: nowhere.md\n", 3, "leads to no file"),
    ("# One\n\n[a](#two)\n", 3, "leads to no heading"),
    ("[a](other.md#one)\n", 1, "leads to no heading"),
    ("[a](../outside.md)\n", 1, "out of the project"),
    ("`docs/nowhere.md` tells\n", 1, "there is no docs/nowhere.md"),
)
RIGHT = ("# One, *two* & `three`\n\n## Same\n\n## Same\n\n" + TABLE + "| `a\\|b` | [x](other.md#its-heading) |\n\n"
         "[a](#one-two--three) [b](#same-1) [c](page.md) [d](https://example.org/x#y) `[e](nowhere)`\n\n"
         "```sh\n| no table\n[f](nowhere)\n```\n")


def test_this(markdown):
    """Each mistake must be found, at its line; and none where there is none."""
    with tempfile.TemporaryDirectory() as project:
        page = os.path.join(project, "page.md")
        with open(os.path.join(project, "other.md"), "w", encoding="utf-8") as file:
            file.write("# Its heading\n")
        for text, line, words in MISTAKES:
            with open(page, "w", encoding="utf-8") as file:
                file.write(text)
            found = problems_of(page, project)
            if not any(number == line and words in what for number, what in found):
                return "%r: '%s' in line %d was not found, but %s" % (text, words, line, found)
        with open(page, "w", encoding="utf-8") as file:
            file.write(RIGHT)
        found = problems_of(page, project, markdown)
        return "%r is right, but %s" % (RIGHT, found) if found else None


def renderer():
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        print("not rendered: this Python has no markdown_it (python3-markdown-it)")
        return None
    return MarkdownIt("commonmark").enable("table")


def main(arguments):
    markdown = renderer() if "--render" in arguments else None
    arguments = [each for each in arguments if each != "--render"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    blind = test_this(markdown)
    if blind:
        print("this test itself fails: " + blind)
        return 1
    project = os.path.realpath(arguments[0])
    pages, problems = list(pages_below(project)), 0
    for page in pages:
        for number, what in problems_of(page, project, markdown):
            print("%s:%d: %s" % (os.path.relpath(page, project), number, what))
            problems += 1
    print("%d pages, %d problem(s)" % (len(pages), problems))
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
