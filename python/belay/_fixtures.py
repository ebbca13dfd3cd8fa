"""Hooks and fixtures of :mod:`belay.pytest_plugin`, which tells what they are for."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Generator, Iterator, Optional

import pytest

if TYPE_CHECKING:
    from types import ModuleType

    from belay import Device

_SCHEDULE = "BELAY_SCHEDULE"
_PEAKS = "belay_peaks"
_SEEDS = 1 << 64

# A number beside the words of _PEAKS, to sort by.
_PEAK_BYTES = "belay_peak_bytes"

_failed = pytest.StashKey[bool]()
_schedule_before = pytest.StashKey[Optional[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("belay", "emulated Ascend devices (belay)")
    group.addoption(
        "--belay-schedule",
        metavar="ORDER",
        help="order of queued work for the whole run: eager, fifo, lazy or seed:N",
    )
    group.addoption(
        "--belay-peak",
        action="store_true",
        help="tell at the end how much memory each test with a fixture of belay held at most",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "belay(may_leak=False, device=0, **settings): settings of the machine that belay_machine and "
        "belay_device give, such as product='310P', hbm='4G', schedule='lazy'",
    )
    schedule = config.getoption("--belay-schedule")
    if schedule:
        if not _is_schedule(schedule):
            raise pytest.UsageError(
                f"--belay-schedule={schedule}: "
                "expected eager, fifo, lazy, or seed: and a number, such as seed:42"
            )
        # In the environment, so that tests without our fixtures run under it as well.
        config.stash[_schedule_before] = os.environ.get(_SCHEDULE)
        os.environ[_SCHEDULE] = schedule


def pytest_unconfigure(config: pytest.Config) -> None:
    if _schedule_before not in config.stash:
        return
    before = config.stash[_schedule_before]
    if before is None:
        os.environ.pop(_SCHEDULE, None)
    else:
        os.environ[_SCHEDULE] = before


def pytest_report_header(config: pytest.Config) -> Optional[str]:
    schedule = config.getoption("--belay-schedule")
    return f"belay: schedule {schedule}" if schedule else None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    yield
    if call.excinfo is not None:  # failed, skipped half-way, or failed as expected
        item.stash[_failed] = True


@pytest.fixture
def belay_machine(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """A fresh emulated machine for this test alone. Everything on it ends with the test."""
    import belay

    chosen = _marked(request.node)
    chosen.pop("may_leak", None)
    chosen.pop("device", None)
    with ExitStack() as stack:
        with _told_in_one_line():
            stack.enter_context(belay.settings(**{"machine": "private", **chosen}))
        yield belay
        if request.config.getoption("--belay-peak"):
            request.node.user_properties += _peaks()


@pytest.fixture
def belay_device(request: pytest.FixtureRequest, belay_machine: ModuleType) -> Iterator[Device]:
    """Device 0 (or that of the marker) of a fresh machine. Leaks are an error, unless marked."""
    import belay
    from belay._leaks import Watch

    marked = _marked(request.node)
    with ExitStack() as stack:
        with _told_in_one_line():
            device = stack.enter_context(belay.device(marked.get("device", 0)))
        watch = Watch()
        yield device
        if marked.get("may_leak") or request.node.stash.get(_failed, False):
            return  # a test that failed half-way had no chance to free
        leaked = watch.leaked()
        if leaked:
            pytest.fail(str(belay.LeakError(leaked)), pytrace=False)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not config.getoption("--belay-peak"):
        return
    told = [
        (-int(of_test[_PEAK_BYTES]), f"{of_test[_PEAKS]}  {report.nodeid}")
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"
        for of_test in [dict(report.user_properties)]
        if _PEAKS in of_test
    ]
    terminalreporter.section("peak of memory held by each test, the largest first (belay)")
    for line in [line for _, line in sorted(told)] or ["no test used belay_machine or belay_device"]:
        terminalreporter.line(line)


def _marked(item: pytest.Item) -> dict[str, Any]:
    """What the markers say, the nearest one last."""
    chosen: dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers("belay"))):
        if marker.args:
            pytest.fail("the marker 'belay' takes names and values: belay(product='310P')", pytrace=False)
        chosen.update(marker.kwargs)
    return chosen


@contextmanager
def _told_in_one_line() -> Iterator[None]:
    """Tell a wrong setting or marker as such: the source of these fixtures helps nobody to correct it."""
    try:
        yield
    except (RuntimeError, TypeError, ValueError) as error:  # belay.Error is a RuntimeError
        raise pytest.fail.Exception(": ".join(str(error).splitlines()[:2]), pytrace=False) from None


def _is_schedule(text: str) -> bool:
    """What the library takes for BELAY_SCHEDULE. It cannot be asked here: a run may have no use for it."""
    if re.fullmatch("eager|fifo|lazy", text, re.IGNORECASE):
        return True
    seed = re.fullmatch("seed:([0-9]+)", text, re.IGNORECASE)
    return seed is not None and int(seed[1]) < _SEEDS


def _peaks() -> list[tuple[str, object]]:
    """The peaks of a test, as properties that also go through junit files and between processes."""
    import belay
    from belay._load import native
    from belay._words import amount

    reached = {f"device {id}": belay.peak(id) for id in range(native.device_count())}
    reached["pinned"] = belay.peak(belay.HOST)
    words = ", ".join(f"{place} {amount(size)}" for place, size in reached.items() if size) or "nothing"
    return [(_PEAKS, words), (_PEAK_BYTES, sum(reached.values()))]
