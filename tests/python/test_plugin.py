"""The pytest plugin, tried on small test files in processes of their own."""

import pytest

import belay
from belay._fixtures import _is_schedule


def run(pytester, source, *options):
    pytester.makepyfile(source)
    return pytester.runpytest_subprocess("-rA", *options)


def test_pytest_finds_the_plugin_by_itself(pytester):
    found = pytester.runpytest_subprocess("--help")
    assert found.ret == 0
    found.stdout.fnmatch_lines(["*--belay-schedule=ORDER*", "*--belay-peak*"])


def test_fixtures_and_marker_are_listed(pytester):
    pytester.runpytest_subprocess("--markers").stdout.fnmatch_lines(["@pytest.mark.belay(*"])
    listed = pytester.runpytest_subprocess("--fixtures")
    listed.stdout.fnmatch_lines_random(["belay_machine*", "*A fresh emulated machine*", "belay_device*"])


def test_a_run_without_the_fixtures_imports_no_acl(pytester):
    done = run(
        pytester,
        """
        import sys
        def test_nothing():
            assert not {"acl", "belay._native"} & set(sys.modules)
        """,
        "--strict-markers",
        "-W",
        "error",
    )
    done.assert_outcomes(passed=1)


def test_where_acl_is_missing_only_the_tests_with_a_fixture_fail_and_are_told_why(pytester):
    done = run(
        pytester,
        """
        import sys
        sys.modules["acl"] = None
        def test_without(): pass
        def test_with(belay_device): pass
        """,
    )
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["*ImportError: belay needs the module 'acl'*"])


def test_each_test_has_a_fresh_machine(pytester):
    done = run(
        pytester,
        """
        import acl, belay, pytest
        @pytest.mark.parametrize("turn", range(3))
        def test_fresh(belay_machine, turn):
            assert belay_machine is belay
            assert belay.used() == belay.peak() == 0
            assert acl.init() == 0
            assert acl.rt.set_device(0) == 0
            assert acl.rt.malloc(1 << 20, 1)[1] == 0
        """,
    )
    done.assert_outcomes(passed=3)


def test_the_machine_is_private(pytester, monkeypatch):
    monkeypatch.setenv("BELAY_MACHINE", "of-this-test")
    done = run(
        pytester,
        """
        import os
        def test_private(belay_machine):
            assert os.environ["BELAY_MACHINE"] == "private"
        def test_as_it_was():
            assert os.environ["BELAY_MACHINE"] == "of-this-test"
        """,
    )
    done.assert_outcomes(passed=2)


def test_the_device_is_set_and_its_object_is_given(pytester):
    done = run(
        pytester,
        """
        import acl, belay, pytest
        def test_zero(belay_device):
            assert acl.rt.get_device() == (0, 0)
            assert isinstance(belay_device, belay.Device) and belay_device.id == 0
        @pytest.mark.belay(device=2)
        def test_two(belay_device):
            assert acl.rt.get_device() == (2, 0)
            assert belay_device.id == 2
        def test_none_after_all():
            assert acl.rt.get_device() == (0, 107002)
        """,
    )
    done.assert_outcomes(passed=3)


def test_markers_choose_the_settings_the_nearest_one_wins(pytester):
    done = run(
        pytester,
        """
        import acl, os, pytest
        pytestmark = pytest.mark.belay(product="310P", hbm="4G")
        class TestSmall:
            pytestmark = pytest.mark.belay(hbm="1G")
            def test_class(self, belay_device):
                assert belay_device.name.startswith("Ascend310P")
                assert belay_device.total == 1 << 30
            @pytest.mark.belay(hbm="2G", schedule="lazy")
            def test_function(self, belay_device):
                assert belay_device.name.startswith("Ascend310P")
                assert belay_device.total == 2 << 30
                assert os.environ["BELAY_SCHEDULE"] == "lazy"
        def test_module(belay_device):
            assert belay_device.total == 4 << 30
        """,
        "--strict-markers",
    )
    done.assert_outcomes(passed=3)


def test_a_test_of_a_wrong_setting_may_leave_no_machine_behind(pytester):
    done = run(
        pytester,
        """
        import belay, pytest
        def test_wrong(belay_device, monkeypatch):
            monkeypatch.setenv("BELAY_HBM", "much")
            with pytest.raises(belay.Error, match="BELAY_HBM"):
                belay.restart()
                belay.device(0).__enter__()
        def test_the_next_one_is_fine(belay_device): pass
        """,
        "--belay-peak",
    )
    done.assert_outcomes(passed=2)


def test_wrong_markers_are_errors_in_words(pytester):
    done = run(
        pytester,
        """
        import pytest
        @pytest.mark.belay(hmb="4G")
        def test_name(belay_machine): pass
        @pytest.mark.belay(hbm="12345")
        def test_value(belay_machine): pass
        @pytest.mark.belay("310P")
        def test_no_name(belay_machine): pass
        @pytest.mark.belay(hbm=1.5)
        def test_kind(belay_machine): pass
        @pytest.mark.belay(device=99)
        def test_no_device(belay_device): pass
        def test_the_next_one_is_fine(belay_device): pass
        """,
    )
    done.assert_outcomes(passed=1, errors=5)
    lines = done.stdout.lines
    first, last = (
        next(i for i, line in enumerate(lines) if words in line) for words in ("= ERRORS", "= PASSES")
    )
    told = lines[first + 1 : last]
    assert len(told) == 12, told  # a heading and a line each, nothing of our own source; and stderr once
    done.stdout.fnmatch_lines(
        [
            "*__init__() got an unexpected keyword argument 'hmb'*",
            "belay.settings(hbm='12345'*) returned 507033*BELAY_HBM*'12345'*",
            "the marker 'belay' takes names and values*",
            "the setting 'hbm' takes a string or an integer, not 1.5",
            "acl.rt.set_device(99) returned 107001*",
        ]
    )


LEAKS = """
    import acl, belay, pytest

    def test_leaks(belay_device):
        assert acl.rt.malloc(100, 2)[1] == 0
        assert acl.rt.malloc_host(100)[1] == 0

    @pytest.mark.belay(may_leak=True)
    def test_may_leak(belay_device):
        assert acl.rt.malloc(100, 2)[1] == 0

    def test_fails_first(belay_device):
        assert acl.rt.malloc(100, 2)[1] == 0
        assert "mine" == "yours"

    @pytest.fixture
    def block(belay_device):
        with belay.malloc(100) as block:
            yield block

    def test_fixtures_may_hold_blocks(block):
        block.fill(0)

    def test_machine_only_does_not_look(belay_machine):
        with belay.device():
            assert acl.rt.malloc(100, 2)[1] == 0
"""


def test_leaks_are_told_when_all_is_over(pytester):
    done = run(pytester, LEAKS)
    done.assert_outcomes(passed=4, failed=1, errors=1)
    done.stdout.fnmatch_lines(
        [
            "*ERROR at teardown of test_leaks*",
            "2 blocks allocated here and never freed, 8 KB in all:",
            "*device 0: 0x*, 100 bytes asked, 4 KB in pages of 4 KB",
        ]
    )
    done.stdout.fnmatch_lines(["*pinned host memory: 0x*, 100 bytes asked*"])
    done.stdout.no_fnmatch_line("*ERROR at teardown of test_fails_first*")


def test_leaks_after_a_restart_inside_the_test_are_told(pytester):
    done = run(
        pytester,
        """
        import acl, belay, pytest
        @pytest.fixture
        def earlier(belay_machine):
            with belay.device(), belay.malloc(100): yield
        def test_leaks(earlier, belay_device):
            belay.restart()
            assert acl.rt.set_device(0) == 0
            assert acl.rt.malloc(100, 2)[1] == 0
        """,
    )
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["1 block allocated here and never freed, 4 KB in all:"])


def test_a_leak_does_not_reach_the_next_test(pytester):
    done = run(
        pytester,
        """
        import acl, belay, pytest
        @pytest.mark.belay(hbm="64M", may_leak=True)
        @pytest.mark.parametrize("turn", range(3))
        def test_takes_nearly_all(belay_device, turn):
            assert acl.rt.malloc(48 << 20, 1)[1] == 0
        """,
    )
    done.assert_outcomes(passed=3)


LAGGING = """
    import acl, belay, os, pytest

    def arrives_by_luck():
        with belay.malloc_host(64) as pinned, belay.malloc(64) as block, belay.stream() as s:
            pinned.fill(7)
            block.fill(0)
            block.copy_from(pinned, stream=s)
            return block.tobytes() == bytes([7]) * 64

    def test_fixture(belay_device):
        assert not arrives_by_luck()

    @pytest.mark.belay(schedule="fifo")
    def test_marker_wins(belay_device):
        assert os.environ["BELAY_SCHEDULE"] == "fifo"

    def test_without_a_fixture():
        assert os.environ["BELAY_SCHEDULE"] == "lazy"
        with belay.device():
            assert not arrives_by_luck()
"""


def test_a_schedule_for_the_whole_run(pytester):
    done = run(pytester, LAGGING, "--belay-schedule=lazy")
    done.assert_outcomes(passed=3)
    done.stdout.fnmatch_lines(["belay: schedule lazy"])


def test_a_schedule_that_does_not_exist_is_told(pytester):
    done = run(pytester, "def test_it(belay_machine): pass", "--belay-schedule=soon")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    told = [line for line in done.errlines if line]
    assert told == [
        "ERROR: --belay-schedule=soon: expected eager, fifo, lazy, or seed: and a number, such as seed:42"
    ]


SCHEDULES = ["eager", "FIFO", "Lazy", "seed:0", "SEED:007", f"seed:{2**64 - 1}", f"seed:{2**64}", "seed:"]
SCHEDULES += ["seed:-1", "seed:+1", "seed: 1", "seed:0x1", "seed:\u0664", " lazy", "lazy\n", "soon"]


@pytest.mark.parametrize("text", SCHEDULES, ids=ascii)
def test_the_plugin_and_the_library_know_the_same_schedules(text):
    try:
        with belay.settings(schedule=text):
            known = True
    except RuntimeError:
        known = False
    assert _is_schedule(text) == known


def test_the_variable_is_taken_back_after_the_run(pytester, monkeypatch):
    monkeypatch.delenv("BELAY_SCHEDULE", raising=False)
    pytester.makepyfile("def test_it(): pass")
    pytester.makeconftest(
        """
        import os
        def pytest_sessionfinish():
            print("inside", os.environ["BELAY_SCHEDULE"])
        """
    )
    script = pytester.makepyfile(
        both="""
        import os, pytest
        pytest.main(["-s", "--belay-schedule=seed:3"])
        print("outside", os.environ.get("BELAY_SCHEDULE"))
        """
    )
    done = pytester.runpython(script)
    done.stdout.fnmatch_lines(["*inside seed:3*", "outside None"])


def test_peaks_are_told_at_the_end_the_largest_first(pytester):
    done = run(
        pytester,
        """
        import acl, belay
        def test_holds(belay_device):
            with belay.malloc(1 << 20, 1), belay.malloc(100, 2), belay.malloc_host(8192):
                pass
        def test_holds_nothing(belay_machine): pass
        def test_holds_more(belay_device):
            with belay.malloc(3 << 20, 1): pass
        def test_holds_more_pinned(belay_machine):
            with belay.device(), belay.malloc_host(4 << 20): pass
        def test_without_fixture(): pass
        """,
        "--belay-peak",
    )
    done.assert_outcomes(passed=5)
    done.stdout.fnmatch_lines(
        [
            "*peak of memory held by each test, the largest first (belay)*",
            "device 0 4 MB  *::test_holds_more",
            "pinned 4 MB  *::test_holds_more_pinned",
            "device 0 2.00 MB, pinned 8 KB  *::test_holds",
            "nothing  *::test_holds_nothing",
        ],
        consecutive=True,
    )
    done.stdout.no_fnmatch_line("*  *::test_without_fixture")


def test_peaks_are_not_told_unasked(pytester):
    done = run(pytester, "def test_it(belay_device): pass")
    done.assert_outcomes(passed=1)
    done.stdout.no_fnmatch_line("*peak of memory*")


def test_peaks_without_a_test_of_ours_say_so(pytester):
    done = run(pytester, "def test_it(): pass", "--belay-peak")
    done.stdout.fnmatch_lines(["no test used a fixture of belay"])


SHARED = """
    import acl, belay, pytest
    pytestmark = pytest.mark.belay(hbm="1G")

    @pytest.fixture(scope="{scope}")
    def weights(belay_{scope}_device):
        with belay.malloc(4096) as block:
            block.fill(7)
            yield block

    def test_first(weights, belay_{scope}_device):
        assert acl.rt.get_device() == (0, 0)
        assert belay_{scope}_device.total == 1 << 30 or "{scope}" == "session"
        weights.copy_from(b"first")

    def test_second(weights, belay_{scope}_machine):
        assert belay_{scope}_machine is belay
        assert weights.tobytes(size=6) == b"first\\7"
"""


@pytest.mark.parametrize("scope", ["module", "session"])
def test_tests_of_a_wider_scope_share_a_machine_and_what_is_on_it(pytester, scope):
    pytester.makepyfile(test_one=SHARED.format(scope=scope), test_two=SHARED.format(scope=scope))
    done = pytester.runpytest_subprocess("-rA", "--strict-markers")
    done.assert_outcomes(passed=4)


def test_a_session_has_one_machine_and_each_module_one_of_its_own(pytester):
    text = """
        from belay._load import native
        def test_it(belay_{scope}_machine): print("generation", native.generation())
        def test_again(belay_{scope}_machine): print("generation", native.generation())
    """
    for scope, machines in ("module", 2), ("session", 1):
        pytester.makepyfile(test_one=text.format(scope=scope), test_two=text.format(scope=scope))
        done = pytester.runpytest_subprocess("-s", "-q")
        done.assert_outcomes(passed=4)
        told = [line.partition("generation ")[2] for line in done.outlines if "generation " in line]
        assert len(told) == 4 and len(set(told)) == machines


@pytest.mark.parametrize("scope", ["module", "session"])
def test_leaks_of_a_wider_scope_are_told_at_its_end(pytester, scope):
    source = """
        import acl
        def test_leaks(belay_{scope}_device): assert acl.rt.malloc(100, 2)[1] == 0
        def test_last(belay_{scope}_device): {what}
    """
    done = run(pytester, source.format(scope=scope, what="pass"))
    done.assert_outcomes(passed=2, errors=1)
    done.stdout.fnmatch_lines(["*ERROR at teardown of test_last*", "1 block allocated here and never freed*"])
    done = run(pytester, source.format(scope=scope, what="assert False"))
    done.assert_outcomes(passed=1, failed=1)  # one that failed had no chance to free


def test_peaks_of_tests_that_share_a_machine_are_their_own(pytester):
    done = run(
        pytester,
        """
        import belay
        def test_large(belay_module_device):
            with belay.malloc(3 << 20, 1): pass
            assert belay.peak() == 4 << 20
        def test_small(belay_module_device):
            with belay.malloc(100, 2): pass
            assert belay.peak() == 4 << 20
        """,
        "--belay-peak",
    )
    done.assert_outcomes(passed=2)
    done.stdout.fnmatch_lines(["device 0 4 MB  *::test_large", "device 0 4 KB  *::test_small"])


RESTARTED = """
    import belay, pytest

    @pytest.fixture(scope="{scope}")
    def weights(belay_{scope}_device):
        return belay.malloc(4096)

    @pytest.fixture(scope="{scope}")
    def queue(belay_{scope}_device):
        return belay.stream()

    def test_uses_them(weights, queue): weights.fill(1, stream=queue)
    def test_restarts(belay_device): pass
    def test_asks_for_it_again(weights): pytest.fail("not reached")

    def test_kept_elsewhere(request):
        manager = request.session._fixturemanager
        def kept(name): return manager._arg2fixturedefs[name][-1].cached_result[0]
        for use in (lambda: kept("weights").fill(1), lambda: kept("queue").handle,
                    lambda: kept("belay_{scope}_device").free):
            with pytest.raises(ValueError) as caught: use()
            print(caught.value)
"""


@pytest.mark.parametrize("scope", ["module", "session"])
def test_what_a_restart_took_from_a_fixture_is_told_with_its_name(pytester, scope):
    done = run(pytester, RESTARTED.format(scope=scope))
    done.assert_outcomes(passed=3, errors=1)
    ours = f"belay_{scope}_device"
    what_to_do = f"*belay.restart() start a new machine: in tests that share it use only belay_{scope}_machine or {ours}*"
    of_weights, of_queue = (f"in the fixture '{name}' of scope {scope}; " for name in ("weights", "queue"))
    done.stdout.fnmatch_lines(
        [
            f"the machine of the fixture 'belay_{scope}_*' of scope {scope} ended in a restart; {what_to_do}",
            f"this memory was allocated before a restart *{of_weights}{what_to_do}",
            f"this stream was made before a restart *{of_queue}{what_to_do}",
            f"device 0 was set before a restart *in the fixture '{ours}' of scope {scope}; {what_to_do}",
        ]
    )


def test_what_a_test_restarted_under_its_own_fixture_is_told_with_its_name(pytester):
    done = run(
        pytester,
        """
        import belay, pytest
        @pytest.fixture
        def block(belay_device): return belay.malloc(4096)
        def test_it(block):
            inside = block[8:16]
            belay.restart()
            inside.fill(1)
        def test_no_fixture(belay_device):
            block = belay.malloc(4096)
            belay.restart()
            block.fill(1)
        """,
    )
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(
        [
            "*ValueError: this memory was allocated before a restart *, in the fixture 'block' of scope function; *",
            "*ValueError: this memory was allocated before a restart *process; allocate it again",
        ]
    )


def test_a_failed_test_with_live_views_does_not_disturb_the_next(pytester):
    done = run(
        pytester,
        """
        import belay
        def test_fails(belay_device):
            pinned = belay.malloc_host(4096)
            view = memoryview(pinned)
            assert view[0] == "mine"
        def test_next(belay_device):
            assert belay.used(belay.HOST) == 0
        """,
    )
    done.assert_outcomes(passed=1, failed=1)


def test_an_older_pytest_has_a_warning_and_goes_on(pytester):
    pytester.makepyfile(older="import pytest\ndel pytest.StashKey\npytest.__version__ = '6.2.5'")
    pytester.makepyfile("def test_without(): pass\ndef test_with(belay_device): pass")
    pytester.syspathinsert()
    done = pytester.runpytest_subprocess("-p", "older")
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["*fixture 'belay_device' not found"])
    told = [line for line in done.outlines + done.errlines if "UserWarning" in line]
    assert len(told) == 1 and "the fixtures of belay need pytest 7 or later, this is 6.2.5" in told[0]


def test_this_run_has_the_plugin_too(request):
    assert request.config.pluginmanager.hasplugin("belay")
    assert belay.__all__
