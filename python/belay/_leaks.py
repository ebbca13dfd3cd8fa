"""Blocks that were never freed, as failed assertions."""

from __future__ import annotations

from contextlib import ContextDecorator
from itertools import takewhile
from types import TracebackType
from typing import Optional

from ._accounts import Block, alive
from ._load import native
from ._words import amount, counted, without_pytest

_MOST_TOLD = 10


class Watch:
    """The blocks that are alive now, to find those that are allocated later.

    Looks at one device, or at all of them (``None``), and at pinned host memory.
    """

    def __init__(self, device: Optional[int] = None, host: bool = True) -> None:
        self._device = device
        self._host = host
        self._generation = native.generation()
        self._known = {block.serial for block in alive(device, host)}

    def leaked(self) -> list[Block]:
        """Blocks that were allocated since and still live."""
        if native.device_count() == 0:
            return []  # a test of a wrong setting has left no machine behind
        there = alive(self._device, self._host)
        if self._generation == native.generation():  # a restart ends the known ones and counts anew
            there = [block for block in there if block.serial not in self._known]
        # Now, as long as they are there; and only of those that are told, because it takes a while.
        largest = sorted(there, key=lambda block: (-block.bytes, block.serial))
        told = [block._replace(site=_site_of(block)) for block in largest[:_MOST_TOLD]]
        return told + largest[_MOST_TOLD:]


def _site_of(block: Block) -> str:
    """The lines of the program that led to its allocation, innermost first."""
    lines = without_pytest(native.block_site(block.address)).splitlines()
    frames = takewhile(lambda line: line.startswith("  at "), lines[1:])  # below "the block was allocated by"
    return "\n".join(frame.strip() for frame in frames)


class LeakError(AssertionError):
    """Blocks were allocated and not freed. ``blocks`` has them, the largest first."""

    __module__ = "belay"

    def __init__(self, leaked: list[Block]) -> None:
        super().__init__(leaked)  # what a copy is made of, in another process for instance
        self.blocks = sorted(leaked, key=lambda block: (-block.bytes, block.serial))

    def __str__(self) -> str:
        total = amount(sum(block.bytes for block in self.blocks))
        lines = [f"{counted(len(self.blocks), 'block')} allocated here and never freed, {total} in all:"]
        for block in self.blocks[:_MOST_TOLD]:
            lines.append(f"  {block}")
            for number, frame in enumerate(block.site.splitlines()):
                lines.append(f"    {'allocated ' if number == 0 else '          '}{frame}")
        if len(self.blocks) > _MOST_TOLD:
            lines.append(f"  and {len(self.blocks) - _MOST_TOLD} more")
        return "\n".join(lines)


class no_leaks(ContextDecorator):
    """Fail if a block that was allocated inside is still alive at the end::

        with belay.no_leaks():
            work()

    Looks at one device, or at all of them (``None``), and at pinned host memory unless ``host`` is false.
    Raises :class:`LeakError`, which is an ``AssertionError``. An exception of the block itself
    takes precedence. Can also be used as a decorator.
    """

    def __init__(self, device: Optional[int] = None, host: bool = True) -> None:
        self._device = device
        self._host = host
        self._watches: list[Watch] = []

    def __enter__(self) -> no_leaks:
        self._watches.append(Watch(self._device, self._host))
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        watch = self._watches.pop()
        if error is not None:
            return
        leaked = watch.leaked()
        if leaked:
            raise LeakError(leaked)
