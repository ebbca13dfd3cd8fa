"""Draws the figures of `scripts/bench pages`: plot_pages.py pages.json pages.svg

A panel for each way of reading. In it a line per page kind through the medians, and a band from the fastest to the
slowest round. The SVG needs no other file and has a white ground of its own.
"""

import json
import math
import sys

from drawing import Pen, picture, text, tick_step, upright
from wording import size

# Told apart by colour-blind readers too, and a line that lies on another shows both.
PENS = {"4 KB": Pen("#d55e00", "circle"), "2 MB": Pen("#0072b2", "square"), "1 GB": Pen("#007a55", "triangle", "7 5")}
PANELS = (("dependent", "Dependent reads"), ("independent", "Independent reads"),
          ("sparse", "Dependent, one line of each 4 KB"))

WIDTH, HEIGHT = 1080, 460
TOP, BOTTOM = 96, 380  # of every panel
LEFT = (64, 420, 776)
PANEL_WIDTH = 286


def short_size(number):
    return size(number)[:-1].replace(" ", "")  # 256M: the ticks stand close


def reaches(machine, pattern):
    """Sizes at which something of the processor ends, where they are known."""
    entries = machine.get("tlb_entries", {}).get("4K", 0)
    if entries:
        yield entries * 4096, "reach of the TLB with 4 KB pages"
    if machine.get("last_cache_bytes", 0) and pattern != "sparse":  # which reads a 64th of the data
        yield machine["last_cache_bytes"], "size of the last cache"


def panel(result, left, pattern, title):
    lines = [(kind["name"], sorted((p for p in kind["points"] if p["pattern"] == pattern),
                                   key=lambda p: p["working_set_bytes"]))
             for kind in result["kinds"] if kind["available"]]
    out = [text(left + PANEL_WIDTH / 2, TOP - 14, title, more=' class="title"')]
    sets = sorted({p["working_set_bytes"] for _, points in lines for p in points})
    if not sets:
        return out + [text(left + PANEL_WIDTH / 2, (TOP + BOTTOM) / 2, "nothing was measured")]

    highest = max(p["max_ns"] for _, points in lines for p in points)
    step = tick_step(highest)
    top = math.ceil(highest / step) * step
    first, last = math.log2(sets[0]), math.log2(sets[-1])

    def x_of(bytes_):
        share = (math.log2(bytes_) - first) / (last - first) if last > first else 0.5
        return left + 14 + share * (PANEL_WIDTH - 28)

    def y_of(ns):
        return BOTTOM - ns / top * (BOTTOM - TOP)

    for i in range(round(top / step) + 1):
        y = y_of(i * step)
        out.append('<path d="M%d %.1fh%d" class="%s"/>' % (left, y, PANEL_WIDTH, "axis" if i == 0 else "grid"))
        out.append(text(left - 8, y + 4, "%g" % (i * step), "end"))
    for set_ in sets:
        out.append('<path d="M%.1f %dv5" class="axis"/>' % (x_of(set_), BOTTOM))
        out.append(text(x_of(set_), BOTTOM + 20, short_size(set_)))
    for bytes_, words in reaches(result["machine"], pattern):
        if sets[0] < bytes_ < sets[-1]:
            x = x_of(bytes_)
            out.append('<path d="M%.1f %dV%d" class="reach"/>' % (x, TOP, BOTTOM))
            out.append(upright(round(x - 4, 1), TOP + 2, words, "end", ' class="note"'))
    out.append(text(left + PANEL_WIDTH / 2, BOTTOM + 42, "working set in bytes (logarithmic)"))

    def places(points, what):
        return [(x_of(p["working_set_bytes"]), y_of(p[what])) for p in points]

    for name, points in lines:
        out.append(PENS[name].band(places(points, "max_ns"), places(points, "min_ns")))
    for name, points in lines:
        middle = places(points, "median_ns")
        out.append(PENS[name].line(middle))
        out += [PENS[name].mark(*place) for place in middle]
    return out


def draw(result):
    out = [text(LEFT[0], 32, "Random reads by page size", "start", ' class="head"')]
    for left, (pattern, title) in zip(LEFT, PANELS):
        out += panel(result, left, pattern, title)
    out.append(upright(18, (TOP + BOTTOM) / 2, "ns per read"))

    x = 450
    for kind in result["kinds"]:
        name = kind["name"]
        words = "%s pages" % name + ("" if kind["available"] else ": not available")
        if kind["available"]:
            out += PENS[name].sample(x, 28)
        out.append(text(x + 42, 32, words, "start"))
        x += 138 if kind["available"] else 220
    out.append(text(LEFT[0], HEIGHT - 12, "Line: median of %d rounds. Band: fastest to slowest round. "
                    "Note the different vertical scales." % result["rounds"], "start", ' class="note"'))
    return picture(WIDTH, HEIGHT, "Time of a random read by working set and page size", out)


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        result = json.load(file)
    with open(arguments[1], "w", encoding="utf-8") as file:
        file.write(draw(result))


if __name__ == "__main__":
    main(sys.argv[1:])
