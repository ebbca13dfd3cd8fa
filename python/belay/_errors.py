"""Error codes as exceptions."""

from __future__ import annotations

import re
from typing import Any, Optional, Union

from ._codes import CODES
from ._load import acl, native
from ._words import without_pytest

# What stands in front of the words in a line of the runtime: [PID: 4711] [THREAD:12] 2026-01-31-10:15:30.123.456
# Invalid_Argument(EE1011):
_STAMP = re.compile(
    r"^( *)(?:\[PID: \d+\] )?(?:\[THREAD:\d+\] )?(?:[\d:.-]{20,} )?(?:\w+\([A-Z]{2}\d{4}\): )?", re.MULTILINE
)
_NOTHING_BELOW = re.compile(r"\n *TraceBack \(most recent call last\):\s*\Z")


class Error(RuntimeError):
    """A call returned a code other than 0.

    ``code`` is the code, ``name`` the vendor's name for it if known, ``message`` the text that the runtime
    left for this thread (or ``""``), without its process and time, ``what`` the call.
    """

    __module__ = "belay"  # where programs know it from, in tracebacks too

    code: int
    message: str
    what: str

    def __init__(self, code: int, message: str = "", what: str = "") -> None:
        super().__init__(code, message, what)
        self.code = code
        self.message = message
        self.what = what

    @property
    def name(self) -> Optional[str]:
        return CODES[self.code][0] if self.code in CODES else None

    def __str__(self) -> str:
        subject = self.what or "the call"
        if self.code in CODES:
            name, words = CODES[self.code]
            headline = f"{subject} returned {self.code} {name}: {words}"
        else:
            headline = f"{subject} returned {self.code}"
        return f"{headline}\n{self.message}" if self.message else headline


def check(ret: Union[int, tuple[Any, ...]], what: str = "") -> Any:
    """Raise :class:`Error` unless a call of ``acl`` succeeded; return what it returned besides the code.

    ``ret`` is what the function returned, a code or a tuple with the code at its end::

        belay.check(acl.rt.set_device(0), "set_device")
        pointer = belay.check(acl.rt.malloc(1024, 0))
        free, total = belay.check(acl.rt.get_mem_info(1))
    """
    if isinstance(ret, tuple):
        *outputs, code = ret
        result = outputs[0] if len(outputs) == 1 else tuple(outputs)
    else:
        code, result = ret, None
    if code != 0:
        raise Error(code, plain(acl.get_recent_err_msg() or ""), what)
    return result


def check_machine() -> None:
    """Raise :class:`Error` if there is no machine because a setting is wrong. Its figures would all be 0."""
    if native.device_count() == 0:
        check(acl.rt.get_device_count(), "the start of the emulated machine")


def plain(message: str) -> str:
    """The words of a message of the runtime. Process, time and number are for logs."""
    return without_pytest(_STAMP.sub(r"\1", _NOTHING_BELOW.sub("", message))).rstrip()


def forget_message() -> None:
    """Drop the text of a refusal that was expected, so that it does not head the next real one."""
    acl.get_recent_err_msg()
