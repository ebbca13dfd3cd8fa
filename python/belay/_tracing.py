"""Traces of this process, and names of the program's own in them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import SupportsInt

from ._errors import check
from ._load import native


@contextlib.contextmanager
def trace(file: str | os.PathLike[str], *, limit: int = 0) -> Iterator[None]:
    """Write down what happens to memory within the block, in a file that ``belay stats`` reads.

    The file is begun anew, with the blocks that are alive; no other thread may allocate or free just then. It gets no
    longer than ``limit`` bytes (0: 1 GB): near that, not every event is written down, but totals stay exact::

        with belay.trace("step.trace"):
            step(batch)
    """
    check(native.trace(os.fspath(file), limit), "trace")
    try:
        yield
    finally:
        check(native.trace(None, 0), "trace")


@contextlib.contextmanager
def range(name: str) -> Iterator[None]:  # noqa: A001 - belay.range, as belay_range_push
    """A part of the program that a trace names; without a trace it does nothing::

        with belay.range("forward"):
            loss = model(batch)
    """
    native.range_push(name)
    try:
        yield
    finally:
        native.range_pop()


def label(address: SupportsInt, name: str) -> None:
    """Name the block around an address in traces: ``belay.label(cache, "kv-cache")``."""
    if native.label(int(address), name) != 0:
        raise ValueError(f"no block of this process is at {int(address):#x}")
