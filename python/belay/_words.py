"""Numbers as people read them."""

from __future__ import annotations

import re

#: When an object was made that is of no use any more.
BEFORE = "before a restart of belay or a fork of this process"


def amount(size: int) -> str:
    """An amount of memory in powers of 1024: ``4 MB``, ``60.97 GB``, ``100 bytes``."""
    for unit, shift in (("GB", 30), ("MB", 20), ("KB", 10)):
        if size >= 1 << shift:
            whole, rest = divmod(size, 1 << shift)
            return f"{whole} {unit}" if rest == 0 else f"{size / (1 << shift):.2f} {unit}"
    return counted(size, "byte")


def counted(number: int, thing: str) -> str:
    """A number of things: ``1 block``, ``3 blocks``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


_FRAME_OF_PYTEST = re.compile(r"^(?:belay:)? *at .* \((?:.*/)?(?:_pytest|pytest|pluggy|xdist)/[^()]*:\d+\)\n?", re.MULTILINE)


def without_pytest(lines: str) -> str:
    """Lines with frames of a stack, without those of pytest: how it calls a test says nothing about the test."""
    return _FRAME_OF_PYTEST.sub("", lines)
