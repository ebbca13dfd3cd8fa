"""Draws the figures of `scripts/bench pages`: plot_pages.py pages.json pages.svg

A panel for each way of reading. In it a line per page kind through the medians, and a band from the fastest to the
slowest round. The SVG needs no other file and has a white ground of its own.
"""

import json
import math
import sys
from xml.sax.saxutils import escape

COLOURS = {"4 KB": "#d55e00", "2 MB": "#0072b2", "1 GB": "#007a55"}  # told apart by colour-blind readers too
MARKS = {"4 KB": "circle", "2 MB": "square", "1 GB": "triangle"}
DASHES = {"4 KB": "", "2 MB": "", "1 GB": ' stroke-dasharray="7 5"'}  # a line that lies on another shows both
PANELS = (("dependent", "Dependent reads"), ("independent", "Independent reads"),
          ("sparse", "Dependent, one line of each 4 KB"))

WIDTH, HEIGHT = 1080, 460
TOP, BOTTOM = 96, 380  # of every panel
LEFT = (64, 420, 776)
PANEL_WIDTH = 286


def size(number):
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if number >= unit:
            return "%.3g %s" % (number / unit, name)
    return "%d B" % number


def short_size(number):
    return size(number)[:-1].replace(" ", "")  # 256M: the ticks stand close


def text(x, y, words, anchor="middle", more=""):
    return '<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>' % (x, y, anchor, more, escape(words))


def mark(kind, x, y):
    colour = COLOURS[kind]
    if MARKS[kind] == "circle":
        return '<circle cx="%.1f" cy="%.1f" r="4.5" fill="%s"/>' % (x, y, colour)
    if MARKS[kind] == "square":
        return '<rect x="%.1f" y="%.1f" width="11" height="11" fill="%s"/>' % (x - 5.5, y - 5.5, colour)
    return '<path d="M%.1f %.1fl5.5 9.5h-11z" fill="%s" stroke="#fff"/>' % (x, y - 6, colour)


def tick_step(top):
    """A step of 1, 2 or 5 times a power of ten that makes four to eight ticks."""
    raw = top / 5
    power = 10 ** math.floor(math.log10(raw))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)


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
            out.append('<text transform="translate(%.1f %d) rotate(-90)" text-anchor="end" class="note">%s</text>'
                       % (x - 4, TOP + 2, escape(words)))
    out.append(text(left + PANEL_WIDTH / 2, BOTTOM + 42, "working set in bytes (logarithmic)"))

    for name, points in lines:
        edge = ["%.1f,%.1f" % (x_of(p["working_set_bytes"]), y_of(p["max_ns"])) for p in points]
        edge += ["%.1f,%.1f" % (x_of(p["working_set_bytes"]), y_of(p["min_ns"])) for p in reversed(points)]
        out.append('<polygon points="%s" fill="%s" fill-opacity="0.13"/>' % (" ".join(edge), COLOURS[name]))
    for name, points in lines:
        middle = [(x_of(p["working_set_bytes"]), y_of(p["median_ns"])) for p in points]
        out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>'
                   % (" ".join("%.1f,%.1f" % place for place in middle), COLOURS[name], DASHES[name]))
        out += [mark(name, *place) for place in middle]
    return out


def draw(result):
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" '
           'aria-label="Time of a random read by working set and page size">' % (WIDTH, HEIGHT, WIDTH, HEIGHT),
           "<style>text{font:13px 'DejaVu Sans',Verdana,Arial,sans-serif;fill:#222}.head{font-size:17px;font-weight:bold}"
           ".title{font-size:14px;font-weight:bold}.note{font-size:11px;fill:#666}"
           ".axis{stroke:#222;fill:none}.grid{stroke:#ddd;fill:none}"
           ".reach{stroke:#888;stroke-dasharray:3 4;fill:none}</style>",
           '<rect width="%d" height="%d" fill="#fff"/>' % (WIDTH, HEIGHT),
           text(LEFT[0], 32, "Random reads by page size", "start", ' class="head"')]
    for left, (pattern, title) in zip(LEFT, PANELS):
        out += panel(result, left, pattern, title)
    out.append('<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">ns per read</text>'
               % ((TOP + BOTTOM) / 2))

    x = 450
    for kind in result["kinds"]:
        name = kind["name"]
        words = "%s pages" % name + ("" if kind["available"] else ": not available")
        if kind["available"]:
            out.append('<path d="M%d 28h34" stroke="%s" stroke-width="2"%s/>' % (x, COLOURS[name], DASHES[name]))
            out.append(mark(name, x + 17, 28))
        out.append(text(x + 42, 32, words, "start"))
        x += 138 if kind["available"] else 220
    out.append(text(LEFT[0], HEIGHT - 12, "Line: median of %d rounds. Band: fastest to slowest round. "
                    "Note the different vertical scales." % result["rounds"], "start", ' class="note"'))
    return "\n".join(out + ["</svg>"]) + "\n"


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        result = json.load(file)
    with open(arguments[1], "w", encoding="utf-8") as file:
        file.write(draw(result))


if __name__ == "__main__":
    main(sys.argv[1:])
