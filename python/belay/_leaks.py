"""Blocks that were never freed, as failed assertions."""

from __future__ import annotations

from contextlib import ContextDecorator
from types import TracebackType
from typing import Optional

from ._accounts import Block, alive
from ._load import native
from ._words import amount, counted

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
        if self._generation != native.generation():
            return there  # a restart ended the known ones and began to count anew
        return [block for block in there if block.serial not in self._known]


class LeakError(AssertionError):
    """Blocks were allocated and not freed. ``blocks`` has them, the largest first."""

    __module__ = "belay"

    def __init__(self, leaked: list[Block]) -> None:
        super().__init__(leaked)  # what a copy is made of, in another process for instance
        self.blocks = sorted(leaked, key=lambda block: (-block.bytes, block.serial))

    def __str__(self) -> str:
        total = amount(sum(block.bytes for block in self.blocks))
        lines = [f"{counted(len(self.blocks), 'block')} allocated here and never freed, {total} in all:"]
        lines += [f"  {block}" for block in self.blocks[:_MOST_TOLD]]
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
