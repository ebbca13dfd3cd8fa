"""Mistakes that were found in this process, and marks to find what grows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ._errors import check
from ._load import native


@dataclass(frozen=True)
class Finding:
    """One mistake at one place in the program. ``str()`` of it is its text."""

    __module__ = "belay"

    id: str  # such as "double-free"; it never changes
    class_name: str  # such as "lifetime"
    rule: str  # such as "M-111", or ""
    function: str  # of AscendCL, in C; "" if none was called
    text: str  # all of it, several lines
    count: int  # how often, up to now
    fails: bool  # whether it fails a test, and decides the exit code of a program

    def __str__(self) -> str:
        return self.text


def findings() -> list[Finding]:
    """What was found so far, the first one first; each mistake once for each place in the program.

    Empty unless the program is checked: ``pytest --belay-check``, ``BELAY_CHECK=all`` or ``belay check``.
    What was meant is not in it, nor what failed a test of pytest already, unless ``belay check`` sums up.
    """
    return [finding for finding in all_findings() if finding.count > 0]


def all_findings() -> list[Finding]:
    """By number, also those that count no more."""
    return [Finding(*facts) for facts in native.findings(0)]


def mark() -> int:
    """Set a mark; return how many objects are alive that were made since the mark before.

    Objects are blocks, streams, events, mappings and all else that must be given back. Where the program is
    checked, each group of them is a finding of the class ``leaks``. The first mark returns 0::

        belay.mark()
        for batch in batches:
            step(batch)
            assert belay.mark() == 0, belay.findings()
    """
    return native.mark()


def check_segments(base: int, segments: Iterable[tuple[int, int]]) -> None:
    """Raise :class:`Error` unless a plan for cutting a block into segments keeps to the rule of the documents.

    ``base`` is an address in the block, ``segments`` has an offset from it and a number of bytes for each, in any
    order. Each takes its bytes rounded up to 32, plus 32, and begins at a multiple of 64 (M-45)::

        belay.check_segments(block, [(0, 1000), (1088, 64)])

    Where the program is checked, a plan that breaks the rule is a finding, too.
    """
    check(native.check_segments(base, segments), "check_segments")
