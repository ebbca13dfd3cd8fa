"""Draws the figures of scripts/bench: plot_performance.py FILE.json DIRECTORY

Writes pairs.svg, churn.svg and threads.svg, as far as they were measured. Lines go through the best repeats, bands span
the middle half of all repeats. Both axes are logarithmic, because the allocators differ by powers of ten.
"""

import json
import math
import os
import sys

from drawing import Pen, picture, text, upright
from wording import count, counted, size

# Told apart by colour-blind readers too; belay's line is the thick one.
PENS = {"belay": Pen("#d55e00", "circle", width=4), "glibc": Pen("#0072b2", "square"),
        "mimalloc": Pen("#007a55", "triangle"), "jemalloc": Pen("#b0508a", "diamond", "8 4"),
        "tcmalloc": Pen("#a07800", "cross", "3 3"), "mmap": Pen("#777777", "circle", "2 5"),
        "loop": Pen("#000000", "square", "2 5"), "table": Pen("#000000", "triangle", "2 5")}
NAMES = {"mmap": "mmap + munmap", "loop": "shares nothing", "table": "a table of words alone"}

WIDTH, TOP, BOTTOM, HEIGHT = 1080, 96, 400, 478
LEFT, RIGHT, GAP = 76, 1056, 80


class Line:
    """Points (x, best, low, high) of one allocator."""

    def __init__(self, who, points):
        self.who, self.points = who, sorted(points)


def lines_of(result, question, x_of, value=lambda ns: ns):
    """x_of turns a point's name into a number, or None if it belongs to another panel."""
    found = []
    for who in PENS:
        points = [(x_of(each),) + tuple(value(each[what]) for what in ("best", "low", "high"))
                  for each in result["figures"]
                  if each["question"] == question and each["who"] == who and x_of(each) is not None]
        if points:
            found.append(Line(who, points))
    return found


def panel(lines, left, right, title, x_title, x_name):
    out = [text((left + right) / 2, TOP - 14, title, more=' class="title"')]
    xs = sorted({point[0] for line in lines for point in line.points})
    values = [value for line in lines for point in line.points for value in point[1:]]
    first, last = math.log2(xs[0]), math.log2(xs[-1])
    lowest, highest = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    highest = max(highest, lowest + 1)

    def x_at(x):
        share = (math.log2(x) - first) / (last - first) if last > first else 0.5
        return left + 14 + share * (right - left - 28)

    def y_at(value):
        return BOTTOM - (math.log10(value) - lowest) / (highest - lowest) * (BOTTOM - TOP)

    for power in range(lowest, highest + 1):
        out.append('<path d="M%d %.1fh%d" class="%s"/>' % (
            left, y_at(10 ** power), right - left, "axis" if power == lowest else "grid"))
        words = count(10 ** power) if power >= 0 else "%g" % 10 ** power
        out.append(text(left - 8, y_at(10 ** power) + 4, words, "end"))
    for x in xs:
        out.append('<path d="M%.1f %dv5" class="axis"/>' % (x_at(x), BOTTOM))
        out.append(text(x_at(x), BOTTOM + 20, x_name(x)))
    out.append(text((left + right) / 2, BOTTOM + 42, x_title))
    for line in lines:
        out.append(PENS[line.who].band([(x_at(x), y_at(high)) for x, _, _, high in line.points],
                                       [(x_at(x), y_at(low)) for x, _, low, _ in line.points]))
    for line in lines[::-1]:  # belay's lies on top
        places = [(x_at(x), y_at(best)) for x, best, _, _ in line.points]
        out.append(PENS[line.who].line(places))
        out += [PENS[line.who].mark(*place) for place in places]
    return out


def draw(head, y_title, panels):
    """Panels side by side: (lines, title, title of the x axis, name of an x)."""
    panels = [each for each in panels if each[0]]
    if not panels:
        return None
    out = [text(LEFT, 28, head, "start", ' class="head"')]
    x = LEFT
    shown = {line.who for each in panels for line in each[0]}
    for who, pen in PENS.items():
        if who in shown:
            out += pen.sample(x, 52)
            out.append(text(x + 42, 56, NAMES.get(who, who), "start"))
            x += 166 if who in NAMES else 134
    wide = (RIGHT - LEFT - GAP * (len(panels) - 1)) / len(panels)
    for number, (lines, title, x_title, x_name) in enumerate(panels):
        left = LEFT + number * (wide + GAP)
        out += panel(lines, left, left + wide, title, x_title, x_name)
    out.append(upright(16, (TOP + BOTTOM) / 2, y_title))
    note = "Line: best of all repeats. Band: the middle half of them. Both axes are logarithmic."
    if len(panels) > 1:
        note += " Note the different vertical scales."
    out.append(text(LEFT, HEIGHT - 10, note, "start", ' class="note"'))
    return picture(WIDTH, HEIGHT, head, out)


def short_size(number):
    return size(number)[:-1].replace(" ", "") if number >= 1024 else "%d" % number  # 256M: the ticks stand close


def number_of(each):
    return int(each["point"])


def threads_at(bytes_):
    def x_of(each):
        of, threads = each["point"].split("/")
        return int(threads) if int(of) in (bytes_, 0) else None
    return x_of


def pictures(result):
    live = "live blocks"
    yield "pairs", draw("Allocate and free one block", "ns per pair", [
        (lines_of(result, "pairs", number_of), "", "size in bytes", short_size)])
    yield "churn", draw("Free a random block, allocate another", "ns per step", [
        (lines_of(result, "churn_small", number_of), "Blocks of 64 B to 8 KB", live, count),
        (lines_of(result, "churn_large", number_of), "Blocks of 1 to 4 MB", live, count)])
    yield "threads", draw("Allocate and free on several threads", "million pairs per second", [
        (lines_of(result, "threads", threads_at(bytes_), lambda ns: 1e3 / ns), "Blocks of " + size(bytes_),
         "threads, on " + counted(result["machine"]["cpus"], "processor"), str) for bytes_ in (64 << 10, 2 << 20)])


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        result = json.load(file)
    os.makedirs(arguments[1], exist_ok=True)
    for name, drawn in pictures(result):
        if drawn:
            path = os.path.join(arguments[1], name + ".svg")
            with open(path, "w", encoding="utf-8") as file:
                file.write(drawn)
            print("drawn: " + path)


if __name__ == "__main__":
    main(sys.argv[1:])
