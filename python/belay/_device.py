"""Devices, as context managers."""

from __future__ import annotations

from contextlib import contextmanager
from types import TracebackType
from typing import Iterator, NamedTuple, Optional

from ._codes import CONTEXT_NULL, CONTEXT_RELEASED, INVALID_PARAM, REPEAT_INITIALIZE
from ._errors import Error, check, forget_message
from ._load import acl, native
from ._makers import Fixture, lost, maker

_ANY_MEMORY = 1  # ACL_HBM_MEM; a device that has no HBM tells its DDR instead


def current_context() -> int:
    """The handle of this thread's context, 0 if it has none."""
    handle, code = acl.rt.get_context()
    if code == CONTEXT_NULL:
        forget_message()
        return 0
    check(code, "acl.rt.get_context")
    return int(handle)


@contextmanager
def in_context(handle: int) -> Iterator[None]:
    """Make a context current for a few calls, and give the thread back the one that it had."""
    before = current_context()
    if before == handle:
        yield
        return
    check(acl.rt.set_context(handle), "acl.rt.set_context")
    try:
        yield
    finally:
        _go_back_to(before)


def _go_back_to(before: int) -> None:
    """Give the thread back the context that it had, or none (0)."""
    if before:
        if acl.rt.set_context(before) != 0:
            forget_message()  # the program destroyed it meanwhile
        return
    device, code = acl.rt.get_device()
    if code == CONTEXT_NULL:
        forget_message()
        return
    # acl has no call that takes a thread's context away, but one that was destroyed counts as none.
    check(code, "acl.rt.get_device")
    last = check(acl.rt.create_context(device), f"acl.rt.create_context({device})")
    check(acl.rt.destroy_context(last), "acl.rt.destroy_context")


class _Entry(NamedTuple):
    generation: int
    before: int  # the context to go back to, or 0
    context: int  # the one of the device
    counted: bool  # whether our acl.init counts, so that it has to be taken back
    maker: Optional[Fixture]


class Device:
    """One device, in use inside a ``with`` block. Made by :func:`device`.

    Entering initialises ``acl`` if that was not done, and makes the device current on this thread. Leaving
    undoes exactly that: the previous device is current again, and ``acl`` is finalised if entering
    initialised it. Blocks may be nested, for other devices or for the same.
    """

    id: int

    def __init__(self, id: int = 0) -> None:
        self.id = id
        self._entries: list[_Entry] = []

    def __enter__(self) -> Device:
        before = current_context()
        code = acl.init()
        if code == INVALID_PARAM:
            forget_message()  # the program initialised with a file, which an init without one cannot join
        elif code not in (0, REPEAT_INITIALIZE):
            check(code, "acl.init")
        counted = code != INVALID_PARAM
        try:
            check(acl.rt.set_device(self.id), f"acl.rt.set_device({self.id})")
        except Error:
            if counted:
                acl.finalize_reference()
            raise
        self._entries.append(_Entry(native.generation(), before, current_context(), counted, maker()))
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        entry = self._entries.pop()
        if entry.generation != native.generation():
            return  # a restart has closed everything, or this is a forked child
        try:
            check(acl.rt.reset_device(self.id), f"acl.rt.reset_device({self.id})")
        except Error as failure:
            # 507007: the program reset the device by force, so there is nothing left to close.
            if failure.code != CONTEXT_RELEASED and error is None:
                raise
        finally:
            try:
                _go_back_to(entry.before)
            finally:
                if entry.counted:
                    acl.finalize_reference()

    def __repr__(self) -> str:
        return f"<belay.Device {self.id}{'' if self._entries else ', not in use'}>"

    @property
    def name(self) -> str:
        """Name of the chip, such as ``Ascend910B3``."""
        return acl.get_soc_name() or ""

    @property
    def free(self) -> int:
        """Bytes that can still be allocated; other processes may hold the rest."""
        return self._memory()[0]

    @property
    def total(self) -> int:
        """Bytes of memory that the device has."""
        return self._memory()[1]

    def synchronize(self) -> None:
        """Wait until all streams of this device are done."""
        with in_context(self._context()):
            check(acl.rt.synchronize_device(), "acl.rt.synchronize_device")

    def _memory(self) -> tuple[int, int]:
        with in_context(self._context()):
            free, total = check(acl.rt.get_mem_info(_ANY_MEMORY), "acl.rt.get_mem_info")
        return free, total

    def _context(self) -> int:
        if not self._entries:
            raise ValueError(f"device {self.id} is not in use: write 'with belay.device({self.id}) as npu:'")
        entry = self._entries[-1]
        if entry.generation != native.generation():
            raise ValueError(f"device {self.id} was set {lost(entry.maker, 'set it again')}")
        return entry.context


def device(id: int = 0) -> Device:
    """Use a device inside a ``with`` block::

        with belay.device(0) as npu:
            print(npu.name, npu.total)

    Device and context belong to the thread: other threads open their own.
    """
    return Device(id)
