"""Which fixture of pytest is being set up.

Objects that are made meanwhile remember it: when a restart has ended them, the one who reads the error wants to
know where they came from, and that is seldom the test that uses them.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator, NamedTuple, Optional

from ._words import BEFORE


class Fixture(NamedTuple):
    name: str
    scope: str


#: Names of the scopes that have fixtures of ours; those in between do with the next larger one.
_OURS = {"class": "module", "module": "module", "package": "session", "session": "session"}

_at_work: list[Fixture] = []


@contextmanager
def setting_up(fixture: Fixture) -> Iterator[None]:
    _at_work.append(fixture)
    try:
        yield
    finally:
        _at_work.pop()


def maker() -> Optional[Fixture]:
    """The innermost fixture that is being set up, if one is."""
    return _at_work[-1] if _at_work else None


def lost(made_by: Optional[Fixture], otherwise: str) -> str:
    """When an object was made that is of no use any more; by which fixture, if it was one; and what to do."""
    if made_by is None:
        return f"{BEFORE}; {otherwise}"
    return f"{BEFORE}, in the fixture {made_by.name!r} of scope {made_by.scope}; {advice(made_by.scope)}"


def advice(scope: str) -> str:
    if scope == "function":
        return "restart before the fixture is set up, or create its objects again after the restart"
    ours = _OURS[scope]
    return (
        "belay_machine, belay_device, belay.settings() and belay.restart() start a new machine: in tests "
        f"that share it use only belay_{ours}_machine or belay_{ours}_device, or give it the scope function"
    )
