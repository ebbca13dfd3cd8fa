"""``pytest --belay-check``, tried on small test files in processes of their own."""

import re
from pathlib import Path

import pytest

import belay
from belay import _checking
from belay._words import without_pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def without_settings(monkeypatch):
    """Those of this run are not for the runs in it."""
    for name in ("BELAY_CHECK", "BELAY_STACKS", "BELAY_VERDICT"):
        monkeypatch.delenv(name, raising=False)


def run(pytester, source, *options):
    pytester.makepyfile(source)
    return pytester.runpytest_subprocess("-rA", *options)


def report_of(done, test):
    """The lines below the heading of one test, up to the next."""
    lines = done.stdout.lines
    begin = next(i for i, line in enumerate(lines) if re.fullmatch(rf"_+ {test} _+", line))
    end = next(i for i in range(begin + 1, len(lines)) if re.fullmatch(r"[_=]{3,} .* [_=]{3,}", lines[i]))
    return lines[begin + 1 : end]


MISTAKES = """
    import acl, belay, pytest

    def give_back(block):
        return acl.rt.free(block)

    def free_twice():
        block, code = acl.rt.malloc(100, 0)
        assert (code, give_back(block)) == (0, 0)
        assert give_back(block) != 0
"""

SOME_TESTS = """
    def test_good(belay_device):
        with belay.malloc(100) as block:
            block.fill(1)

    def test_frees_twice(belay_device):
        free_twice()

    def test_frees_twice_too(belay_device):
        for turn in range(3):
            free_twice()

    def test_last(belay_device):
        pass
"""


def test_a_mistake_fails_the_test_that_makes_it_with_its_text(pytester):
    done = run(pytester, MISTAKES + SOME_TESTS, "--belay-check")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(["belay: check all"])
    told = report_of(done, "test_frees_twice")
    file = "test_a_mistake_fails_the_test_that_makes_it_with_its_text.py"
    assert re.fullmatch(r"belay: double-free: aclrtFree freed .* \[lifetime\]", told[0])
    assert told[1:3] == [
        f"belay:   at give_back ({file}:4)",
        f"belay:   at free_twice ({file}:9)",
    ]
    assert told[-1].startswith("belay:   rule M-111")
    assert not [line for line in told if "pytest/" in line or "Captured" in line]


def test_each_test_with_the_same_mistake_fails(pytester, monkeypatch):
    """With one frame the place is the same line in a helper; it is one finding."""
    monkeypatch.setenv("BELAY_STACKS", "1")
    done = run(pytester, MISTAKES + SOME_TESTS.replace("belay_device", "belay_module_device"), "--belay-check=cheap")
    done.assert_outcomes(passed=2, failed=2)
    assert report_of(done, "test_frees_twice")[0].startswith("belay: double-free: ")
    told = report_of(done, "test_frees_twice_too")
    assert told[0].startswith("belay: double-free: ") and told[-1] == "belay:   3 times"
    assert len([line for line in told if line.startswith("belay: double-free: ")]) == 1


def test_the_same_tests_pass_without_the_option(pytester):
    run(pytester, MISTAKES + SOME_TESTS).assert_outcomes(passed=4)


def test_good_tests_pass_with_the_option(pytester):
    done = run(
        pytester,
        """
        import acl, belay
        def test_good(belay_device):
            with belay.malloc(100) as block, belay.malloc_host(100) as pinned, belay.stream() as stream:
                block.copy_from(pinned, stream=stream)
                stream.synchronize()
        def test_without_a_fixture():
            with belay.device(), belay.malloc(100): pass
        def test_without_belay(): pass
        """,
        "--belay-check",
        "-W",
        "error",
    )
    done.assert_outcomes(passed=3)
    assert done.ret == 0
    assert not [line for line in done.errlines if "belay" in line]


def test_a_leak_when_a_device_is_reset_fails_the_test(pytester):
    done = run(
        pytester,
        """
        import acl, pytest
        def leak():
            assert acl.rt.set_device(0) == 0
            assert acl.rt.malloc(100, 0)[1] == 0
            assert acl.rt.reset_device(0) == 0
        def test_leaks(): leak()
        def test_leaks_and_fails():
            leak()
            assert 0
        @pytest.mark.belay(may_leak=True)
        def test_may_leak(): leak()
        def test_good(): pass
        """,
        "--belay-check",
    )
    done.assert_outcomes(passed=2, failed=2)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    told = report_of(done, "test_leaks")
    assert re.fullmatch(r"belay: leak: 1 block of device 0 .*4 KB.* \[leaks\]", told[0])
    assert not [line for line in report_of(done, "test_leaks_and_fails") if "belay: leak" in line]


LEAKS = """
    import acl, belay
    def helper():
        return acl.rt.malloc(100, 0)
    def test_leaks(belay_device):
        assert helper()[1] == 0
        belay.malloc(200)
    def test_no_leaks():
        with belay.device(), belay.no_leaks():
            assert helper()[1] == 0
"""


@pytest.mark.parametrize("options", [(), ("--belay-check",)], ids=["unchecked", "checked"])
def test_leaks_are_told_once_with_the_lines_that_allocated_them(pytester, options):
    done = run(pytester, LEAKS, *options)
    done.assert_outcomes(passed=1, errors=1, failed=1)
    told = report_of(done, "ERROR at teardown of test_leaks")
    if options:
        assert len(told) == 6, "the report of the library is left out"
    # The window lies elsewhere under a sanitizer.
    plain = [re.sub(r"test_leaks_are\w*\.py", "file.py", re.sub(r"0x\w{3}000", "0x12c000", line)) for line in told[:6]]
    assert plain == [
        "2 blocks allocated here and never freed, 8 KB in all:",
        "  device 0: 0x12c000000000, 100 bytes asked, 4 KB in pages of 4 KB",
        "    allocated at helper (file.py:3)",
        "              at test_leaks (file.py:5)",
        "  device 0: 0x12c000001000, 200 bytes asked, 4 KB in pages of 4 KB",
        "    allocated at test_leaks (file.py:6)",
    ]
    done.stdout.fnmatch_lines(["E *allocated at helper (*.py:3)", "E *at test_no_leaks (*.py:9)"])


def test_without_stacks_leaks_are_told_without_lines(pytester, monkeypatch):
    monkeypatch.setenv("BELAY_STACKS", "off")
    done = run(pytester, LEAKS)
    done.assert_outcomes(passed=1, errors=1, failed=1)
    done.stdout.no_fnmatch_line("*allocated at*")


def test_errors_that_nobody_asked_for_do_not_fail_unless_they_are_to(pytester):
    source = """
        import acl
        def test_it(belay_device):
            assert acl.rt.malloc(0, 0)[1] != 0
    """
    done = run(pytester, source, "--belay-check")
    done.assert_outcomes(passed=1)
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*Captured stderr call*", "belay: error-not-fetched: aclrtMalloc failed*"])
    done = run(pytester, source, "--belay-check", "--belay-fail-on=lifetime,errors")
    done.assert_outcomes(failed=1)
    assert report_of(done, "test_it")[0].startswith("belay: error-not-fetched: ")
    run(pytester, MISTAKES + SOME_TESTS, "--belay-check", "--belay-fail-on=leaks").assert_outcomes(passed=4)


def test_markers_allow_mistakes(pytester):
    done = run(
        pytester,
        MISTAKES
        + """
    @pytest.mark.belay(may_find="double-free")
    def test_by_id(belay_device):
        free_twice()
        [found] = belay.findings()
        assert (found.id, found.class_name, found.rule) == ("double-free", "lifetime", "M-111")
        assert (found.function, found.count, found.fails) == ("aclrtFree", 1, True)
        assert str(found) == found.text and found.text.startswith("belay: double-free: ")

    @pytest.mark.belay(may_find=["bounds", "lifetime"])
    def test_by_class(belay_device): free_twice()

    @pytest.mark.belay(may_find=True)
    def test_all(belay_device): free_twice()

    @pytest.mark.belay(may_find="use-after-free")
    def test_another(belay_device): free_twice()

    @pytest.mark.belay(check="off")
    def test_not_checked(belay_device): free_twice()

    def test_checked_again(belay_device):
        assert belay.findings() == []
        free_twice()

    @pytest.mark.xfail(strict=True)
    def test_expected(belay_device): free_twice()
    """,
        "--belay-check",
        "--strict-markers",
    )
    done.assert_outcomes(passed=4, failed=2, xfailed=1)
    done.stdout.fnmatch_lines_random(["FAILED *::test_another*", "FAILED *::test_checked_again*"])


def test_a_test_that_fails_anyway_tells_both(pytester):
    done = run(
        pytester,
        MISTAKES
        + """
    def test_fails(belay_device):
        free_twice()
        assert "mine" == "yours"

    def test_skips(belay_device):
        free_twice()
        pytest.skip("half-way")
    """,
        "--belay-check",
    )
    done.assert_outcomes(failed=2)
    told = report_of(done, "test_fails")
    assert any("assert 'mine' == 'yours'" in line for line in told)
    assert len([line for line in told if line.startswith("belay: double-free: ")]) == 1
    assert report_of(done, "test_skips")[0].startswith("belay: double-free: ")


def test_mistakes_in_fixtures(pytester):
    done = run(
        pytester,
        MISTAKES
        + """
    @pytest.fixture
    def before(belay_device): free_twice()
    @pytest.fixture
    def fails(belay_device):
        free_twice()
        assert 0
    @pytest.fixture
    def after(belay_device):
        yield
        free_twice()
    def test_before(before): pass
    def test_setup_fails(fails): pass
    def test_after(after): pass
    def test_good(belay_device): pass
    """,
        "--belay-check",
    )
    done.assert_outcomes(passed=2, failed=1, errors=2)
    for test in ("test_before", "ERROR at setup of test_setup_fails", "ERROR at teardown of test_after"):
        told = report_of(done, test)
        assert len([line for line in told if line.startswith("belay: double-free: ")]) == 1, test


def test_mistakes_outside_of_tests_fail_the_run(pytester):
    done = run(
        pytester,
        MISTAKES
        + """
    with belay.device(): free_twice()
    def test_innocent(belay_device): pass
    """,
        "--belay-check",
    )
    done.assert_outcomes(passed=1)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["*found outside of all tests (belay)*", "belay: double-free: *"])


def test_a_worker_of_xdist_hands_them_on(pytester):
    """Without xdist: it gives a worker a dictionary, and hands that to the process that tells."""
    pytester.makeconftest(
        """
        from types import SimpleNamespace
        def pytest_configure(config): config.workeroutput = {}
        def pytest_unconfigure(config):
            print("outside:", config.workeroutput)
            teller = type(config.pluginmanager.getplugin("belay-check"))(config)
            teller.pytest_testnodedown(SimpleNamespace(workeroutput=config.workeroutput))
            teller.pytest_testnodedown(SimpleNamespace())  # one that died
            print("handed on:", len(teller._outside))
        """
    )
    source = MISTAKES + "\n    with belay.device(): free_twice()\n    def test_it(): pass\n"
    done = run(pytester, source, "--belay-check", "-s")
    done.stdout.fnmatch_lines(["outside: {'belay_outside': *belay: double-free: *", "handed on: 1"])


def test_a_forked_child_has_findings_of_its_own(pytester):
    done = run(
        pytester,
        MISTAKES
        + """
    import os
    def test_child(belay_device):
        child = os.fork()
        if child == 0:
            with belay.device(): free_twice()
            found = {each.id for each in belay.findings()}  # that it was forked is a hint
            os._exit(1 if found == {"hint", "double-free"} else 2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        assert belay.findings() == []
    def test_next(belay_device): free_twice()
    """,
        "--belay-check",
    )
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["FAILED *::test_next*"])


def test_tests_that_run_in_a_forked_child_are_judged_there(pytester):
    """As pytest-forked does it."""
    pytester.makeconftest(
        """
        import os, pytest
        from _pytest.runner import runtestprotocol
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_protocol(item):
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                reports = runtestprotocol(item, log=False)
                words = ",".join(report.outcome for report in reports)
                os.write(writing, words.encode())
                os._exit(0)
            os.waitpid(child, 0)
            print(item.name, os.read(reading, 100).decode())
            return True
        """
    )
    done = run(pytester, MISTAKES + SOME_TESTS, "--belay-check", "-s")
    told = dict(re.findall(r"(test_\w+) (\w+,\w+,\w+)", done.stdout.str()))
    good, bad = "passed,passed,passed", "passed,failed,passed"
    assert told == {
        "test_good": good,
        "test_frees_twice": bad,
        "test_frees_twice_too": bad,
        "test_last": good,
    }


def test_a_child_process_tells_and_ends_for_itself(pytester):
    done = run(
        pytester,
        MISTAKES
        + """
    import subprocess, sys
    CODE = "import acl; acl.rt.set_device(0); block = acl.rt.malloc(8, 0)[0]; acl.rt.free(block); acl.rt.free(block)"
    def test_it():
        done = subprocess.run([sys.executable, "-c", CODE], stderr=subprocess.PIPE, text=True)
        assert done.returncode == 86
        assert "belay: double-free: " in done.stderr
    """,
        "--belay-check",
    )
    done.assert_outcomes(passed=1)
    assert done.ret == 0


ENVIRONMENT = """
    import os
    def test_it(): print("inside", os.environ.get("BELAY_CHECK"), os.environ.get("BELAY_STACKS"))
"""


@pytest.mark.parametrize(
    "options, before, seen",
    [
        ([], {}, "None 8"),
        ([], {"BELAY_STACKS": "off", "BELAY_CHECK": "cheap"}, "cheap off"),
        (["--belay-check"], {}, "all 8"),
        (["--belay-check=cheap"], {"BELAY_STACKS": "2"}, "cheap 2"),
        (["--belay-check", "--belay-fail-on=leaks,HOST"], {}, "all,fail-on=leaks+host 8"),
        (
            ["--belay-check", "--belay-fail-on=all"],
            {"BELAY_CHECK": "cheap,fail-on=leaks,suppressions=file"},
            "all,suppressions=file,fail-on=all 8",
        ),
    ],
)
def test_what_the_environment_is_in_a_run_and_after_it(pytester, monkeypatch, options, before, seen):
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    pytester.makepyfile(ENVIRONMENT)
    script = pytester.makepyfile(
        both=f"""
        import os, pytest
        pytest.main(["-s", *{options!r}])
        print("outside", {{name: os.environ[name] for name in ("BELAY_CHECK", "BELAY_STACKS") if name in os.environ}})
        """
    )
    done = pytester.runpython(script)
    done.stdout.fnmatch_lines([f"*inside {seen}*"])
    assert f"outside {dict(sorted(before.items()))}" in done.outlines


def test_the_check_is_on_before_a_conftest_starts_the_runtime(pytester):
    pytester.makeconftest("import acl\nassert acl.init() == 0 and acl.rt.set_device(0) == 0")
    done = run(pytester, MISTAKES + "\n    def test_it(): free_twice()\n", "--belay-check")
    done.assert_outcomes(failed=1)


@pytest.mark.parametrize(
    "options, told",
    [
        (["--belay-check=much"], "--belay-check=much: expected cheap or all; *"),
        (["--belay-check", "test_some.py"], "--belay-check=test_some.py: *in front of a path write --belay-check=all"),
        (["--belay-check", "--belay-fail-on=leeks"], "--belay-fail-on=leeks: expected all, or some of lifetime,*"),
        (["--belay-fail-on=leaks"], "--belay-fail-on needs --belay-check"),
    ],
)
def test_wrong_options_are_told(pytester, options, told):
    pytester.makepyfile(test_some="def test_it(): pass")
    done = pytester.runpytest_subprocess(*options)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"ERROR: {told}"])
    assert len([line for line in done.errlines if line]) == 1


def test_the_classes_are_those_of_the_library():
    text = (ROOT / "src" / "base" / "misuse.h").read_text()
    names = re.search(r"kMisuseClasses\{(.*?)\}", text, re.DOTALL)[1]
    assert _checking.CLASSES == tuple(re.findall(r'"(\w+)"', names))


def test_frames_of_pytest_are_left_out_and_no_others():
    kept = "belay:   at test_it (tests/test_pytest.py:3)\nbelay:   at f (/home/me/pytest.py:7)\nrule (a)\n"
    of_pytest = "belay:     at _multicall (/usr/lib/python3/dist-packages/pluggy/_callers.py:39)\n"
    of_pytest += "  at Function.runtest (_pytest/python.py:1789)\n"
    assert without_pytest(of_pytest + kept + of_pytest) == kept


def test_nothing_is_found_in_a_program_that_is_not_checked():
    with belay.settings(check="off"), belay.device():
        block = belay.malloc(100)
        block.free()
    assert belay.findings() == []


def test_marks_find_what_grows():
    with belay.settings(check="all,print-limit=0"), belay.device():
        belay.mark()
        kept = belay.malloc(100)
        with belay.malloc(200):
            pass
        assert belay.mark() == 1
        found = [finding for finding in belay.findings() if finding.id == "growth"]
        assert len(found) == 1 and found[0].class_name == "leaks"
        assert "test_marks_find_what_grows (" in found[0].text
        assert belay.mark() == 0
        kept.free()
    for number, finding in enumerate(belay._findings.all_findings()):
        belay._findings.native.accept_finding(number, finding.count)  # this run is not to end with 86
    assert belay.findings() == []
