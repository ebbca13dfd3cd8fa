"""Hooks and fixtures of :mod:`belay.pytest_plugin`, which tells what they are for."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Generator, Iterator, Optional

import pytest

from ._checking import FAILED, Checking, classes, environment, level, put, readable
from ._makers import Fixture, advice, setting_up

if TYPE_CHECKING:
    from types import ModuleType

    from belay import Device, peak_of

_SCHEDULE = "BELAY_SCHEDULE"
_PEAKS = "belay_peaks"
_SEEDS = 1 << 64

# A number beside the words of _PEAKS, to sort by.
_PEAK_BYTES = "belay_peak_bytes"

_environment_before = pytest.StashKey[dict[str, Optional[str]]]()


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
        help="list at the end how much memory each test with a fixture of belay held at most",
    )
    group.addoption(
        "--belay-check",
        metavar="LEVEL",
        nargs="?",
        const="all",
        type=level,
        help="look for mistakes, and fail the tests that make them: all (default) or cheap",
    )
    group.addoption(
        "--belay-fail-on",
        metavar="CLASSES",
        type=classes,
        help="with --belay-check: classes that fail a test, such as lifetime,leaks (default: all but errors "
        "and hints)",
    )


@pytest.hookimpl(tryfirst=True)  # files conftest.py may start the runtime, which reads the environment
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    _set_environment(early_config, early_config.known_args_namespace)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "belay(may_leak=False, may_find=(), device=0, **settings): settings of the machine that belay_machine and "
        "belay_device use, such as product='310P', hbm='4G', schedule='lazy'",
    )
    _set_environment(config, config.option)  # where a conftest.py named this plugin, the hook above has not been called
    if config.getoption("--belay-check"):
        config.pluginmanager.register(Checking(config), "belay-check")


def pytest_unconfigure(config: pytest.Config) -> None:
    put(config.stash.get(_environment_before, {}))


def _set_environment(config: pytest.Config, options: Any) -> None:
    """In the environment, so that it also applies to tests without our fixtures."""
    if _environment_before in config.stash:
        return
    wanted: dict[str, Optional[str]] = {**environment(options)}
    if options.belay_schedule:
        if not _is_schedule(options.belay_schedule):
            raise pytest.UsageError(
                f"--belay-schedule={options.belay_schedule}: "
                "expected eager, fifo, lazy, or seed: and a number, such as seed:42"
            )
        wanted[_SCHEDULE] = options.belay_schedule
    config.stash[_environment_before] = put(wanted)


def pytest_report_header(config: pytest.Config) -> Optional[str]:
    chosen = [(name, config.getoption(f"--belay-{name}")) for name in ("check", "schedule")]
    words = ", ".join(f"{name} {value}" for name, value in chosen if value)
    return f"belay: {words}" if words else None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    report = (yield).get_result()
    report.sections = list(readable(item, report.sections))
    if call.excinfo is None:
        return
    item.stash[FAILED] = True  # failed, skipped half-way, or failed as expected
    skipped_before = call.when == "setup" and call.excinfo.errisinstance(pytest.skip.Exception)
    if _shared_of(item) and not skipped_before:
        for node in item.listchain():  # those who share a device with it are not asked for leaks either
            node.stash[FAILED] = True


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Generator[None, Any, None]:
    with setting_up(Fixture(fixturedef.argname, fixturedef.scope)):
        yield


@pytest.hookimpl(trylast=True)  # when the fixtures of the test are there, and may have restarted
def pytest_runtest_setup(item: pytest.Item) -> None:
    for name in _shared_of(item):
        from belay._load import native

        scope, generation = _shared[name]
        if generation != native.generation():
            words = f"the machine of the fixture {name!r} of scope {scope} ended in a restart"
            pytest.fail(f"{words}; {advice(scope)}", pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    if not (_shared_of(item) and item.config.getoption("--belay-peak")):
        yield
        return
    with ExitStack() as stack:
        spans = {place: stack.enter_context(span) for place, span in _spans().items()}
        yield
        _tell_peaks(item, {place: span.bytes for place, span in spans.items()})


@pytest.fixture
def belay_machine(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """A fresh emulated machine for this test alone. Everything on it ends with the test."""
    import belay
    from belay._load import native

    with _machine(request):
        yield belay
        if request.config.getoption("--belay-peak") and native.device_count() > 0:
            _tell_peaks(request.node, {place: belay.peak(span.device) for place, span in _spans().items()})


@pytest.fixture
def belay_device(request: pytest.FixtureRequest, belay_machine: ModuleType) -> Iterator[Device]:
    """Device 0 (or that of the marker) of a fresh machine. Leaks are an error, unless marked."""
    yield from _device(request)


@pytest.fixture(scope="module")
def belay_module_machine(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """A fresh emulated machine that the tests of a module share, until one restarts."""
    yield from _shared_machine(request)


@pytest.fixture(scope="module")
def belay_module_device(request: pytest.FixtureRequest, belay_module_machine: ModuleType) -> Iterator[Device]:
    """Device 0 (or that of the module's marker) of the machine that the tests of a module share."""
    yield from _shared_device(request)


@pytest.fixture(scope="session")
def belay_session_machine(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """A fresh emulated machine that all tests of the run share, until one restarts."""
    yield from _shared_machine(request)


@pytest.fixture(scope="session")
def belay_session_device(request: pytest.FixtureRequest, belay_session_machine: ModuleType) -> Iterator[Device]:
    """Device 0 of the machine that all tests of the run share."""
    yield from _shared_device(request)


# Fixtures of ours that outlive a test and are set up: their scope, and the generation that they live in.
_shared: dict[str, tuple[str, int]] = {}


def _shared_of(item: pytest.Item) -> list[str]:
    return [name for name in getattr(item, "fixturenames", ()) if name in _shared]


@contextmanager
def _known_as_shared(request: pytest.FixtureRequest) -> Iterator[None]:
    from belay._load import native

    name = str(request.fixturename)
    _shared[name] = str(request.scope), native.generation()
    try:
        yield
    finally:
        del _shared[name]


def _shared_machine(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    import belay

    with _machine(request), _known_as_shared(request):
        yield belay


def _shared_device(request: pytest.FixtureRequest) -> Iterator[Device]:
    with _known_as_shared(request):
        yield from _device(request)


@contextmanager
def _machine(request: pytest.FixtureRequest) -> Iterator[None]:
    import belay

    chosen = _marked(request.node)
    for ours in ("may_leak", "may_find", "device"):
        chosen.pop(ours, None)
    with ExitStack() as stack:
        with _told_in_one_line():
            stack.enter_context(belay.settings(**{"machine": "private", **chosen}))
        yield


def _device(request: pytest.FixtureRequest) -> Iterator[Device]:
    import belay
    from belay._leaks import Watch

    marked = _marked(request.node)
    with ExitStack() as stack:
        with _told_in_one_line():
            device = stack.enter_context(belay.device(marked.get("device", 0)))
        watch = Watch()
        yield device
        if marked.get("may_leak") or request.node.stash.get(FAILED, False):
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
    for line in [line for _, line in sorted(told)] or ["no test used a fixture of belay"]:
        terminalreporter.line(line)


def _marked(item: Any) -> dict[str, Any]:
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


def _spans() -> dict[str, peak_of]:
    """The places where memory can be held, and what measures each."""
    import belay
    from belay._load import native

    spans = {f"device {id}": belay.peak_of(id) for id in range(native.device_count())}
    return {**spans, "pinned": belay.peak_of(belay.HOST)}


def _tell_peaks(item: Any, reached: dict[str, int]) -> None:
    """Keep the peaks of a test with its report, which also goes through junit files and between processes."""
    from belay._words import amount

    words = ", ".join(f"{place} {amount(size)}" for place, size in reached.items() if size) or "nothing"
    item.user_properties += [(_PEAKS, words), (_PEAK_BYTES, sum(reached.values()))]
