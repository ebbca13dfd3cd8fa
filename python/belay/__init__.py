"""belay for Python programs: tests of memory code on emulated Ascend devices.

The module ``acl`` is the vendor's interface, call by call. This package adds what Python users expect:
context managers, buffers, exceptions, and figures for tests::

    import belay

    with belay.device(0) as npu, belay.malloc(1 << 20) as block:
        block.copy_from(b"hello")
        assert block.tobytes(size=5) == b"hello"
        print(npu.name, npu.free, belay.peak())

Everything here works through ``acl``, so both may be mixed: ``block.ptr`` and ``stream.handle`` are the plain
numbers that ``acl`` takes. For pytest there are fixtures, see :mod:`belay.pytest_plugin`.

Names are loaded at first use, so the pytest plugin has no cost and no effect in a run that never uses a
device.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from ._accounts import HOST, Block, blocks, used
    from ._device import Device, device
    from ._errors import Error, check
    from ._findings import Finding, check_segments, findings, mark
    from ._leaks import LeakError, no_leaks
    from ._memory import DeviceMemory, HostMemory, malloc, malloc_host
    from ._peaks import peak, peak_of, reset_peak
    from ._settings import restart, settings
    from ._streams import Event, Stream, event, stream
    from ._tracing import label, range, trace

# Which file has which name. The files start with an underscore so that none of them hides a name of the
# package (`belay.device` is the function).
_HOMES = {
    "_accounts": ("HOST", "Block", "blocks", "used"),
    "_device": ("Device", "device"),
    "_errors": ("Error", "check"),
    "_findings": ("Finding", "check_segments", "findings", "mark"),
    "_leaks": ("LeakError", "no_leaks"),
    "_memory": ("DeviceMemory", "HostMemory", "malloc", "malloc_host"),
    "_peaks": ("peak", "peak_of", "reset_peak"),
    "_settings": ("restart", "settings"),
    "_streams": ("Event", "Stream", "event", "stream"),
    "_tracing": ("label", "range", "trace"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "HOST",
    "Block",
    "Device",
    "DeviceMemory",
    "Error",
    "Event",
    "Finding",
    "HostMemory",
    "LeakError",
    "Stream",
    "blocks",
    "check",
    "check_segments",
    "device",
    "event",
    "findings",
    "label",
    "malloc",
    "malloc_host",
    "mark",
    "no_leaks",
    "peak",
    "peak_of",
    "range",
    "reset_peak",
    "restart",
    "settings",
    "stream",
    "trace",
    "used",
]


if not TYPE_CHECKING:  # a type checker would take it that any name may be there

    def __getattr__(name: str) -> Any:
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module 'belay' has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
