"""``pytest --belay-check``: a mistake that is found fails the test that made it."""

from __future__ import annotations

import os
from typing import Any, Generator, Iterable, Iterator, NamedTuple, Optional

import pytest

from ._words import without_pytest

CHECK = "BELAY_CHECK"
STACKS = "BELAY_STACKS"

#: Of src/base/misuse.h. The library cannot be asked here: a run may have no use for it.
CLASSES = (
    "lifetime",
    "bounds",
    "contents",
    "direction",
    "readonly",
    "host",
    "leaks",
    "errors",
    "order",
    "hints",
)

#: A test, or one that shares a machine with it, did not get to its end.
FAILED = pytest.StashKey[bool]()

_OUTSIDE = "belay_outside"


def level(text: str) -> str:
    if text.lower() not in ("cheap", "all"):
        raise pytest.UsageError(
            f"--belay-check={text}: expected cheap or all; in front of a path write --belay-check=all"
        )
    return text.lower()


def classes(text: str) -> str:
    """As BELAY_CHECK takes them: with plus signs, because a comma separates its options."""
    names = text.lower().split(",")
    if names != ["all"] and not set(names) <= set(CLASSES):
        raise pytest.UsageError(f"--belay-fail-on={text}: expected all, or some of {','.join(CLASSES)}")
    return "+".join(names)


def environment(options: Any) -> dict[str, str]:
    """The variables that these options of pytest stand for. What the user has set in them stays."""
    wanted = {} if os.environ.get(STACKS) else {STACKS: "8"}
    if not options.belay_check:
        if options.belay_fail_on:
            raise pytest.UsageError("--belay-fail-on needs --belay-check")
        return wanted
    others = os.environ.get(CHECK, "").split(",")[1:]  # behind the level: suppressions for instance
    if options.belay_fail_on:
        others = [each for each in others if not each.startswith("fail-on=")]
        others.append(f"fail-on={options.belay_fail_on}")
    return {**wanted, CHECK: ",".join([options.belay_check, *others])}


class _News(NamedTuple):
    number: int
    finding: Any  # belay.Finding
    times: int  # since the last look


class Checking:
    """The hooks of a run that is checked.

    They fail a test as an exception in it would, so that markers such as xfail mean what they always mean. They
    are the innermost of all that wrap a test, so that what is printed meanwhile is captured.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._counts: list[int] = []
        self._process = os.getpid()
        self._outside: list[str] = []
        # `belay check` sums up in the end, and is to know of everything.
        self._has_verdict = bool(os.environ.get("BELAY_VERDICT"))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, None]:
        self._keep_outside()
        yield

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, None]:
        outcome = yield
        if outcome.excinfo is not None:  # else it is found after the call, and fails the test
            self._judge(item, "setup", outcome)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        self._judge(item, "call", (yield))

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, None]:
        self._judge(item, "teardown", (yield))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._keep_outside()
        if hasattr(self._config, "workeroutput"):  # of xdist: another process tells what happened in this one
            self._config.workeroutput[_OUTSIDE] = self._outside
        if self._outside and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._outside += getattr(node, "workeroutput", {}).get(_OUTSIDE, [])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._outside:
            terminalreporter.section("found outside of all tests (belay)")
            terminalreporter.write("\n".join(self._outside))

    def _news(self) -> list[_News]:
        from ._findings import all_findings

        if self._process != os.getpid():  # a forked child starts with none
            self._process, self._counts = os.getpid(), []
        found = all_findings()
        self._counts += [0] * (len(found) - len(self._counts))
        news = [
            _News(number, finding, finding.count - before)
            for number, (finding, before) in enumerate(zip(found, self._counts))
            if finding.count > before
        ]
        self._counts = [finding.count for finding in found]
        return news

    def _accept(self, news: _News) -> None:
        from ._load import native

        self._counts[news.number] = native.accept_finding(news.number, news.times)

    def _told_here(self, news: _News) -> None:
        """The exit code is that of pytest, which knows of it now."""
        if not self._has_verdict:
            self._accept(news)

    def _keep_outside(self) -> None:
        for news in self._news():
            if news.finding.fails:
                self._outside.append(_words(news))
                self._told_here(news)

    def _judge(self, item: pytest.Item, when: str, outcome: Any) -> None:
        """Fail a test for what was found since the last look."""
        from ._load import native

        native.end_of_test()
        error = outcome.excinfo[1] if outcome.excinfo is not None else None
        meant = _meant(item)
        if error is not None or _has_failed(item):
            meant.add("leaks")  # it had no chance to give anything back
        failing = []
        told: list[str] = item.stash.get(_told, [])
        item.stash[_told] = told
        for news in self._news():
            if meant & {"all", news.finding.id, news.finding.class_name}:
                self._accept(news)
            elif news.finding.fails:
                failing.append(news)
                self._told_here(news)
            else:
                continue  # nobody but standard error tells it
            told.append(news.finding.text)
        if not failing:
            return
        text = "\n".join(map(_words, failing))
        if error is None or isinstance(error, pytest.skip.Exception):
            _raise_in(outcome, pytest.fail.Exception(text, pytrace=False))
        else:
            item.add_report_section(when, "belay", text)


_told = pytest.StashKey[list[str]]()


def _has_failed(item: pytest.Item) -> bool:
    """It, or one that shares a machine with it."""
    return any(FAILED in node.stash for node in item.listchain())


def _meant(item: pytest.Item) -> set[str]:
    """Ids and classes that the markers of a test allow; the nearest marker that says so applies."""
    chosen: dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers("belay"))):
        chosen.update(marker.kwargs)
    may_find = chosen.get("may_find", ())
    meant = {"all"} if may_find is True else {may_find} if isinstance(may_find, str) else set(may_find or ())
    return meant | {"leaks"} if chosen.get("may_leak") else meant


def _words(news: _News) -> str:
    text = without_pytest(news.finding.text)
    return text if news.times == 1 else f"{text}belay:   {news.times} times\n"


def _raise_in(outcome: Any, error: BaseException) -> None:
    """As if the wrapped hooks had raised it. An exception of a wrapper itself would skip other wrappers."""
    if hasattr(outcome, "force_exception"):  # pluggy 1.1
        outcome.force_exception(error)
    else:
        outcome._excinfo = (type(error), error, error.__traceback__)


def readable(item: pytest.Item, sections: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The captured output of a test, without what its report tells anyway, and without frames of pytest."""
    for title, content in sections:
        if title.startswith("Captured stderr") and "belay:" in content:
            for text in item.stash.get(_told, []):
                content = content.replace(text, "")
            if not content.strip():
                continue
            content = without_pytest(content)
        yield title, content


def put(variables: dict[str, Optional[str]]) -> dict[str, Optional[str]]:
    """Set or unset variables of the environment; return what they were."""
    before = {name: os.environ.get(name) for name in variables}
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return before
