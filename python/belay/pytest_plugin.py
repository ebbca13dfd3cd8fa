"""Fixtures for tests on emulated devices. pytest loads this by itself where belay is installed.

``belay_machine``
    a fresh machine for this test alone; its value is the module ``belay``.
``belay_device``
    device 0 of such a machine, set and ready; its value is what ``with belay.device(0)`` gives. Blocks that
    are still alive when the test and the fixtures above it are over are an error.
``@pytest.mark.belay(product="310P", hbm="4G", schedule="lazy")``
    settings of that machine, see :class:`belay.settings`. ``device=1`` makes ``belay_device`` another one,
    and ``may_leak=True`` lets it pass leaks.
``--belay-schedule=lazy``, ``--belay-schedule=seed:42``
    one schedule for the whole run, unless a marker names another.
``--belay-peak``
    tells at the end how much memory each of these tests held at most.

``acl`` is imported when a fixture is first used, not before.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generator, Iterator, Optional

import pytest

if TYPE_CHECKING:
    from types import ModuleType

    from belay import Device

_SCHEDULE = "BELAY_SCHEDULE"
_PEAKS = "belay_peaks"

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
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    if outcome.get_result().failed:
        item.stash[_failed] = True


@pytest.fixture
def belay_machine(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """A fresh emulated machine for this test alone. Everything on it ends with the test."""
    import belay

    chosen = _marked(request.node)
    chosen.pop("may_leak", None)
    chosen.pop("device", None)
    with belay.settings(**{"machine": "private", **chosen}):
        yield belay
        if request.config.getoption("--belay-peak"):
            request.node.user_properties.append((_PEAKS, _peaks()))


@pytest.fixture
def belay_device(request: pytest.FixtureRequest, belay_machine: ModuleType) -> Iterator[Device]:
    """Device 0 (or that of the marker) of a fresh machine. Leaks are an error, unless marked."""
    import belay
    from belay._leaks import Watch

    marked = _marked(request.node)
    with belay.device(marked.get("device", 0)) as device:
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
    lines = [
        f"{words}  {report.nodeid}"
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"
        for name, words in report.user_properties
        if name == _PEAKS
    ]
    terminalreporter.section("peak of memory held by each test (belay)")
    for line in lines or ["no test used belay_machine or belay_device"]:
        terminalreporter.line(line)


def _marked(item: pytest.Item) -> dict[str, Any]:
    """What the markers say, the nearest one last."""
    chosen: dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers("belay"))):
        if marker.args:
            raise pytest.UsageError("the marker 'belay' takes names and values: belay(product='310P')")
        chosen.update(marker.kwargs)
    return chosen


def _peaks() -> str:
    """The peaks of a test, as a text, because it also goes through junit files and between processes."""
    import belay
    from belay._load import native
    from belay._words import amount

    reached = {f"device {id}": belay.peak(id) for id in range(native.device_count())}
    reached["pinned"] = belay.peak(belay.HOST)
    return ", ".join(f"{place} {amount(size)}" for place, size in reached.items() if size) or "nothing"
