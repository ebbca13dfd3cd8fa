"""A fresh machine, with other settings, inside one process."""

from __future__ import annotations

import enum
import gc
import os
import warnings
from contextlib import ContextDecorator
from types import TracebackType
from typing import Any, Optional, Union

from ._errors import check, forget_message
from ._load import native
from ._memory import live_views
from ._peaks import write_down_peaks
from ._words import counted

#: Every setting: name of the argument, and the words for True and False where it is a switch. The variable is
#: BELAY_ with the name in capitals. docs/settings.md tells what each one means.
SETTINGS: dict[str, Optional[tuple[str, str]]] = {
    "product": None,
    "devices": None,
    "hbm": None,
    "huge": None,
    "huge1g": None,
    "normal": None,
    "p2p": None,
    "form": None,
    "machine": None,
    "machines": None,
    "host_access": ("allow", "deny"),
    "faults": ("explain", "off"),
    "leaks": ("report", "off"),
    "summary": ("on", "off"),
    "pin": ("strict", "best-effort"),
    "keep": None,
    "pages": None,
    "backing": None,
    "poison": None,
    "commit": None,
    "host_node": None,
    "schedule": None,
    "link": None,
    "check": None,
    "watch_host": ("on", "off"),
    "stacks": None,
    "quarantine": None,
    "trace": None,
}


class Unchanged(enum.Enum):
    """Stands for a setting that is left as it is. None unsets one."""

    UNCHANGED = "unchanged"

    def __repr__(self) -> str:
        return self.value


UNCHANGED = Unchanged.UNCHANGED

Text = Union[str, None, Unchanged]
Number = Union[str, int, None, Unchanged]
Switch = Union[str, bool, None, Unchanged]
Path = Union[str, "os.PathLike[str]", None, Unchanged]


def restart(force: bool = False) -> None:
    """End everything that this process has on the emulated machine, and start again.

    Devices, contexts, streams and blocks are gone, as after the end of the process; settings are read again
    from the environment. Older objects of belay can no longer be used. No other thread may be inside ``acl``
    during this.

    Raises :class:`Error` if a setting is wrong; then there is no machine until it is corrected.

    Refused while memoryviews or arrays of belay's memory exist, because they would dangle; ``force``
    restarts anyway, and such views must not be touched any more.
    """
    if not force:
        _refuse_live_views()
    _restart("belay.restart()")


def _restart(what: str) -> None:
    try:
        write_down_peaks()
    finally:
        check(native.restart(), what)


class settings(ContextDecorator):
    """Run some lines on a fresh machine with other settings::

        with belay.settings(product="310P", hbm="4G"):
            with belay.device(0):
                ...

    A name is that of the variable without ``BELAY_``, in lower case: ``hbm="4G"`` is ``BELAY_HBM=4G``.
    The usual ones are ``product``, ``hbm``, ``devices``, ``schedule``, ``host_access``, ``link``, ``pages``;
    docs/settings.md has them all. ``None`` unsets a variable, switches take True and False. The machine is
    private to this process unless ``machine`` or ``BELAY_MACHINE`` names one. A wrong value raises
    :class:`Error` at the beginning of the block, and leaves the environment as it was; what was on the machine
    is gone.

    belay restarts at the beginning and, with the previous settings, at the end: nothing survives either.
    Can be used as a decorator, too.
    """

    def __init__(
        self,
        *,
        product: Text = UNCHANGED,
        devices: Number = UNCHANGED,
        hbm: Number = UNCHANGED,
        huge: Number = UNCHANGED,
        huge1g: Number = UNCHANGED,
        normal: Number = UNCHANGED,
        p2p: Number = UNCHANGED,
        form: Text = UNCHANGED,
        machine: Text = UNCHANGED,
        machines: Path = UNCHANGED,
        host_access: Switch = UNCHANGED,
        faults: Switch = UNCHANGED,
        leaks: Switch = UNCHANGED,
        summary: Switch = UNCHANGED,
        pin: Switch = UNCHANGED,
        keep: Number = UNCHANGED,
        pages: Text = UNCHANGED,
        backing: Text = UNCHANGED,
        poison: Number = UNCHANGED,
        commit: Number = UNCHANGED,
        host_node: Number = UNCHANGED,
        schedule: Text = UNCHANGED,
        link: Text = UNCHANGED,
        check: Text = UNCHANGED,
        watch_host: Switch = UNCHANGED,
        stacks: Number = UNCHANGED,
        quarantine: Number = UNCHANGED,
        trace: Path = UNCHANGED,
    ) -> None:
        given = locals()
        chosen = {name: given[name] for name in SETTINGS if given[name] is not UNCHANGED}
        self._words = f"belay.settings({', '.join(f'{name}={value!r}' for name, value in chosen.items())})"
        self._variables = {"BELAY_" + name.upper(): _text(name, value) for name, value in chosen.items()}
        self._saved: list[dict[str, Optional[str]]] = []

    def __enter__(self) -> settings:
        _refuse_live_views()
        wanted = dict(self._variables)
        if "BELAY_MACHINE" not in wanted and not os.environ.get("BELAY_MACHINE"):
            wanted["BELAY_MACHINE"] = "private"
        saved = {name: os.environ.get(name) for name in wanted}
        _put(wanted)
        try:
            _restart(self._words)
        except BaseException:
            _put(saved)
            if native.end() != 0:
                forget_message()  # the error that is on its way tells more
            raise
        self._saved.append(saved)
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        # Views of a failed test live on in its traceback, so an error at this place would hide the real one.
        alive = live_views()
        if alive and error is None:
            gc.collect()
            alive = live_views()
            if alive:
                warnings.warn(
                    f"{counted(alive, 'view')} of memory outlived belay.settings and must not be touched",
                    RuntimeWarning,
                    stacklevel=2,
                )
        _put(self._saved.pop())
        try:
            write_down_peaks()
        finally:
            # The next call starts anew: maybe nobody wants that machine.
            check(native.end(), "the end of belay.settings()")


def _refuse_live_views() -> None:
    if not live_views():
        return
    gc.collect()  # views in reference cycles are not in use any more
    alive = live_views()
    if alive:
        raise BufferError(
            f"{counted(alive, 'view')} (memoryview or array) of belay's memory still alive; a restart would "
            "free the memory: delete them first"
        )


def _text(name: str, value: Any) -> Optional[str]:
    if value is None:
        return None
    if isinstance(value, bool):
        words = SETTINGS[name]
        if words is None:
            raise TypeError(f"the setting {name!r} is not a switch and cannot be {value}")
        return words[0] if value else words[1]
    if isinstance(value, int):
        return str(value)
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise TypeError(f"the setting {name!r} takes a string or an integer, not {value!r}")
    return text


def _put(variables: dict[str, Optional[str]]) -> None:
    for name, text in variables.items():
        if text is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = text
