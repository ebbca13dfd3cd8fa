"""Pieces of a plot in SVG. The pictures need no other file and have a white ground of their own."""

import math
from xml.sax.saxutils import escape

STYLE = ("<style>text{font:13px 'DejaVu Sans',Verdana,Arial,sans-serif;fill:#222}.head{font-size:17px;font-weight:bold}"
         ".title{font-size:14px;font-weight:bold}.note{font-size:11px;fill:#666}"
         ".axis{stroke:#222;fill:none}.grid{stroke:#ddd;fill:none}"
         ".reach{stroke:#888;stroke-dasharray:3 4;fill:none}</style>")


class Pen:
    """How one line is told from the others: by colour, by mark, and by dashes where lines may lie on each other."""

    def __init__(self, colour, shape, dashes="", width=2):
        self.colour, self.shape, self.width = colour, shape, width
        self.dashes = ' stroke-dasharray="%s"' % dashes if dashes else ""

    def mark(self, x, y):
        if self.shape == "circle":
            return '<circle cx="%.1f" cy="%.1f" r="4.5" fill="%s"/>' % (x, y, self.colour)
        if self.shape == "square":
            return '<rect x="%.1f" y="%.1f" width="11" height="11" fill="%s"/>' % (x - 5.5, y - 5.5, self.colour)
        if self.shape == "diamond":
            return '<path d="M%.1f %.1fl6 6l-6 6l-6 -6z" fill="%s"/>' % (x, y - 6, self.colour)
        if self.shape == "cross":
            return '<path d="M%.1f %.1fl9 9m0 -9l-9 9" fill="none" stroke="%s" stroke-width="2"/>' % (
                x - 4.5, y - 4.5, self.colour)
        return '<path d="M%.1f %.1fl5.5 9.5h-11z" fill="%s" stroke="#fff"/>' % (x, y - 6, self.colour)

    def line(self, places):
        return '<polyline points="%s" fill="none" stroke="%s" stroke-width="%d"%s/>' % (
            " ".join("%.1f,%.1f" % place for place in places), self.colour, self.width, self.dashes)

    def band(self, upper, lower):
        return '<polygon points="%s" fill="%s" fill-opacity="0.13"/>' % (
            " ".join("%.1f,%.1f" % place for place in upper + lower[::-1]), self.colour)

    def sample(self, x, y):
        """What stands in front of the name of a line."""
        return ['<path d="M%d %dh34" stroke="%s" stroke-width="%d"%s/>' % (x, y, self.colour, self.width, self.dashes),
                self.mark(x + 17, y)]


def text(x, y, words, anchor="middle", more=""):
    return '<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>' % (x, y, anchor, more, escape(words))


def upright(x, y, words, anchor="middle", more=""):
    """Text that reads from the bottom to the top."""
    return '<text transform="translate(%g %d) rotate(-90)" text-anchor="%s"%s>%s</text>' % (
        x, y, anchor, more, escape(words))


def tick_step(top):
    """A step of 1, 2 or 5 times a power of ten that makes four to eight ticks."""
    raw = top / 5
    power = 10 ** math.floor(math.log10(raw))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)


def picture(width, height, about, content):
    head = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" '
            'aria-label="%s">' % (width, height, width, height, escape(about)))
    ground = '<rect width="%d" height="%d" fill="#fff"/>' % (width, height)
    return "\n".join([head, STYLE, ground] + content + ["</svg>"]) + "\n"
