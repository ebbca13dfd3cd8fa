"""The most memory that was held at a time.

The library keeps one peak for each device. Several spans can be measured at once all the same, one inside the
other: whoever starts a new one first writes down for all others what was reached so far.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Optional

from ._accounts import used
from ._errors import check_machine
from ._load import native

_lock = threading.RLock()
_spans: list[peak_of] = []
_reached: dict[int, int] = {}
_reached_in = -1


def peak(device: int = 0) -> int:
    """The most bytes that this process held on a device at a time, since the start or the last reset.

    The start is that of the process or of the last :func:`restart`; :func:`reset_peak` resets.
    """
    with _lock:
        check_machine()
        _forget_old_machine()
        return max(native.use(device)[2], _reached.get(device, 0))


def reset_peak(device: int = 0) -> None:
    """Let :func:`peak` start again from what is held now."""
    with _lock:
        check_machine()
        _write_down(device)
        native.reset_peak(device)
        _reached[device] = 0


class peak_of:
    """Measure the peak of some lines::

        with belay.peak_of(device=0) as p:
            work()
        assert p.bytes <= 64 << 20
        assert p.above_start <= 16 << 20

    ``bytes`` is the most that the process held at a time, ``above_start`` how much of it was added to
    what it held at the beginning. Both can be read inside the block as well.
    """

    def __init__(self, device: int = 0) -> None:
        self.device = device
        self._seen = 0
        self._start = 0

    def __enter__(self) -> peak_of:
        with _lock:
            check_machine()
            _write_down(self.device)
            native.reset_peak(self.device)
            self._seen = self._start = used(self.device)
            _spans.append(self)
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        with _lock:
            _write_down(self.device)
            _spans.remove(self)

    @property
    def bytes(self) -> int:
        with _lock:
            if self in _spans:
                _write_down(self.device)
            return self._seen

    @property
    def above_start(self) -> int:
        return self.bytes - self._start


def write_down_peaks() -> None:
    """Keep what was reached so far for the spans that go on after a restart."""
    with _lock:
        for span in _spans:
            _write_down(span.device)


def _forget_old_machine() -> None:
    global _reached_in
    if _reached_in != native.generation():
        _reached.clear()
        _reached_in = native.generation()


def _write_down(device: int) -> None:
    _forget_old_machine()
    if device >= native.device_count():
        return  # a machine with fewer devices has come in between
    reached = native.use(device)[2]
    _reached[device] = max(reached, _reached.get(device, 0))
    for span in _spans:
        if span.device == device:
            span._seen = max(span._seen, reached)
