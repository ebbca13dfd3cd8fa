"""Streams and events."""

from __future__ import annotations

from types import TracebackType
from typing import Callable, Optional, Union

from ._device import current_context, in_context
from ._errors import Error, check
from ._load import acl, native
from ._makers import lost, maker

_COMPLETE = 0


class _Handle:
    """A handle that lives until it is closed, or until a restart or a fork ends everything."""

    _what = "handle"

    def __init__(self, handle: int) -> None:
        self._value = handle
        self._generation = native.generation()
        self._maker = maker()

    @property
    def handle(self) -> int:
        """The number that functions of ``acl`` take."""
        if self._generation != native.generation():
            raise ValueError(f"this {self._what} was made {lost(self._maker, 'make a new one')}")
        if not self._value:
            raise ValueError(f"this {self._what} is closed")
        return self._value

    @property
    def closed(self) -> bool:
        """Whether the handle cannot be used any more."""
        return not self._value or self._generation != native.generation()

    def __int__(self) -> int:
        return self.handle

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{self._value:#x}"
        return f"<belay.{type(self).__name__} {state}>"


class Stream(_Handle):
    """A queue of work on the current device. Made by :func:`stream`.

    Leaving the ``with`` block waits for the work and destroys the stream. If the block is left by an
    exception, work that has not started is dropped instead: waiting might never end.
    """

    _what = "stream"

    def __init__(self) -> None:
        super().__init__(check(acl.rt.create_stream(), "acl.rt.create_stream"))
        self._context = current_context()
        self._kept: list[object] = []

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if self.closed:
            return
        if error is None:
            self.close()
            return
        try:
            self._destroy(acl.rt.destroy_stream_force, "acl.rt.destroy_stream_force")
        except Error:
            pass  # the error of the block is the one to tell

    @property
    def done(self) -> bool:
        """Whether all work is done. Asking does not wait."""
        return bool(check(acl.rt.stream_query(self.handle), "acl.rt.stream_query") == _COMPLETE)

    def synchronize(self) -> None:
        """Wait until all work is done. Raises if a task has failed."""
        check(acl.rt.synchronize_stream(self.handle), "acl.rt.synchronize_stream")
        self._kept.clear()

    def wait(self, event: Event) -> None:
        """Let work that is queued from now on start only after the event. Does not wait itself."""
        check(acl.rt.stream_wait_event(self.handle, event.handle), "acl.rt.stream_wait_event")

    def close(self) -> None:
        """Wait for the work and destroy the stream."""
        self.handle  # refuses in words if there is none
        with in_context(self._context):  # so that threads without a device can close it as well
            try:
                self.synchronize()
            finally:
                self._destroy(acl.rt.destroy_stream, "acl.rt.destroy_stream")

    def _keep(self, thing: object) -> None:
        """Keep an object alive until its copy is surely over."""
        self._kept.append(thing)

    def _destroy(self, how: Callable[[int], int], what: str) -> None:
        with in_context(self._context):  # a stream can be destroyed in its own context only
            check(how(self.handle), what)
        self._value = 0
        self._kept.clear()


class Event(_Handle):
    """A point in the work of a stream. Made by :func:`event`."""

    _what = "event"

    def __init__(self) -> None:
        super().__init__(check(acl.rt.create_event(), "acl.rt.create_event"))

    def __enter__(self) -> Event:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if not self.closed:
            self.close()

    @property
    def done(self) -> bool:
        """Whether all work before the event is done. Asking does not wait."""
        return bool(check(acl.rt.query_event(self.handle), "acl.rt.query_event") == _COMPLETE)

    def record(self, stream: Union[Stream, int] = 0) -> None:
        """Record the event after all work that the stream has now. 0 is the default stream."""
        check(acl.rt.record_event(self.handle, int(stream)), "acl.rt.record_event")

    def synchronize(self) -> None:
        """Wait until all work before the event is done."""
        check(acl.rt.synchronize_event(self.handle), "acl.rt.synchronize_event")

    def elapsed(self, since: Event) -> float:
        """Milliseconds between an earlier event and this one. Both must be done."""
        ret = acl.rt.event_elapsed_time(since.handle, self.handle)
        return float(check(ret, "acl.rt.event_elapsed_time"))

    def close(self) -> None:
        """Destroy the event. Work that waits for it is not affected."""
        check(acl.rt.destroy_event(self.handle), "acl.rt.destroy_event")
        self._value = 0


def stream() -> Stream:
    """Make a stream on the current device::

        with belay.stream() as s:
            block.copy_from(pinned, stream=s)
            s.synchronize()
    """
    return Stream()


def event() -> Event:
    """Make an event::

        with belay.event() as before, belay.event() as after:
            before.record(s)
            block.copy_from(pinned, stream=s)
            after.record(s)
            after.synchronize()
            print(after.elapsed(before), "ms")
    """
    return Event()
