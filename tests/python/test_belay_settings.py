"""belay.settings() and belay.restart()."""

import os
import threading

import acl
import pytest

import belay


def variables():
    return {name: text for name, text in os.environ.items() if name.startswith("BELAY_")}


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    before = variables()
    yield
    assert variables() == before
    belay.restart()


def test_inside_the_machine_is_the_one_asked_for():
    with belay.settings(product="310P", devices=3, hbm="4G"):
        assert acl.rt.get_device_count() == (3, 0)
        with belay.device() as npu:
            assert npu.name.startswith("Ascend310P")
            assert npu.total == 4 << 30
    with belay.settings(product="A3"), belay.device() as npu:
        assert npu.name.startswith("Ascend910_93")


def test_the_settings_from_before_come_back():
    with belay.settings(devices=3):
        with belay.settings(devices=5, product="A3"):
            assert acl.rt.get_device_count() == (5, 0)
            assert os.environ["BELAY_PRODUCT"] == "A3"
        assert acl.rt.get_device_count() == (3, 0)
        assert os.environ["BELAY_DEVICES"] == "3"


def test_the_settings_come_back_after_an_exception():
    with pytest.raises(KeyError):
        with belay.settings(devices=3):
            raise KeyError
    assert "BELAY_DEVICES" not in os.environ


@pytest.mark.parametrize(
    "name, value, variable, text",
    [
        ("product", "A2", "BELAY_PRODUCT", "A2"),
        ("hbm", 4 << 30, "BELAY_HBM", "4294967296"),
        ("host_access", True, "BELAY_HOST_ACCESS", "allow"),
        ("host_access", False, "BELAY_HOST_ACCESS", "deny"),
        ("leaks", False, "BELAY_LEAKS", "off"),
        ("summary", False, "BELAY_SUMMARY", "off"),
        ("faults", True, "BELAY_FAULTS", "explain"),
        ("pin", False, "BELAY_PIN", "best-effort"),
        ("link", "h2d:25GB/s", "BELAY_LINK", "h2d:25GB/s"),
        ("schedule", "seed:7", "BELAY_SCHEDULE", "seed:7"),
    ],
)
def test_values_become_words(name, value, variable, text):
    with belay.settings(**{name: value}):
        assert os.environ[variable] == text
        assert acl.init() == 0


def test_none_unsets_a_variable():
    with belay.settings(devices=3):
        with belay.settings(devices=None):
            assert "BELAY_DEVICES" not in os.environ
            assert acl.rt.get_device_count() == (8, 0)
        assert acl.rt.get_device_count() == (3, 0)


def test_paths_are_taken(tmp_path):
    tmp_path.chmod(0o700)
    with belay.settings(machines=tmp_path, machine="of-this-test"), belay.device():
        assert os.environ["BELAY_MACHINES"] == str(tmp_path)
        assert any(tmp_path.iterdir())


def test_the_machine_is_private_unless_one_is_named(monkeypatch):
    monkeypatch.delenv("BELAY_MACHINE", raising=False)
    with belay.settings(devices=3):
        assert os.environ["BELAY_MACHINE"] == "private"
    assert "BELAY_MACHINE" not in os.environ
    monkeypatch.setenv("BELAY_MACHINE", "of-this-test")
    with belay.settings(devices=3):
        assert os.environ["BELAY_MACHINE"] == "of-this-test"
    monkeypatch.undo()


def test_a_name_that_is_not_there_is_refused_by_python_itself():
    with pytest.raises(TypeError, match="unexpected keyword argument 'hmb'"):
        belay.settings(hmb="4G")
    with pytest.raises(TypeError, match="positional argument"):
        belay.settings("310P")


def test_a_value_of_a_wrong_kind_is_a_type_error():
    with pytest.raises(TypeError, match="'product' is not a switch"):
        belay.settings(product=True)
    with pytest.raises(TypeError):
        belay.settings(hbm=4.5)


def test_a_value_that_does_not_fit_is_told_and_changes_nothing():
    with belay.settings(devices=3):
        with pytest.raises(belay.Error, match="BELAY_HBM.*12345") as caught:
            with belay.settings(hbm="12345"):
                pytest.fail("not reached")
        assert caught.value.code == 507033
        assert caught.value.what == "belay.settings(hbm='12345')"
        assert "BELAY_HBM has the value '12345'" in caught.value.message
        assert "BELAY_HBM" not in os.environ
        assert acl.rt.get_device_count() == (3, 0)


NEEDS_A_MACHINE = {
    "restart": belay.restart,
    "settings": lambda: belay.settings(devices=2).__enter__(),
    "device": lambda: belay.device().__enter__(),
    "used": belay.used,
    "used of the host": lambda: belay.used(belay.HOST),
    "blocks": belay.blocks,
    "peak": belay.peak,
    "reset_peak": belay.reset_peak,
    "peak_of": lambda: belay.peak_of().__enter__(),
    "no_leaks": lambda: belay.no_leaks().__enter__(),
}


@pytest.mark.parametrize("use", NEEDS_A_MACHINE.values(), ids=NEEDS_A_MACHINE)
def test_a_wrong_variable_is_an_error_wherever_a_machine_is_needed(monkeypatch, use):
    with monkeypatch.context() as patch:
        patch.setenv("BELAY_HBM", "nonsense")
        with pytest.raises(belay.Error):
            belay.restart()
        with pytest.raises(belay.Error) as caught:
            use()
        assert caught.value.code in (507033, 500000)  # 500000 is what acl.init answers
        assert "BELAY_HBM has the value 'nonsense'" in caught.value.message


def test_settings_as_a_decorator():
    @belay.settings(devices=3)
    def count():
        """How many."""
        return belay.check(acl.rt.get_device_count())

    assert count() == count() == 3
    assert count.__doc__ == "How many."
    assert "BELAY_DEVICES" not in os.environ


def test_settings_can_be_entered_again():
    three = belay.settings(devices=3)
    with three:
        with belay.settings(devices=4):
            with three:
                assert acl.rt.get_device_count() == (3, 0)
            assert acl.rt.get_device_count() == (4, 0)
        assert acl.rt.get_device_count() == (3, 0)


def test_a_restart_ends_everything():
    with belay.settings(pin="best-effort"):
        assert acl.init() == 0
        belay.check(acl.rt.set_device(0))
        for _ in range(3):
            belay.check(acl.rt.malloc(1 << 20, 0))
            belay.check(acl.rt.malloc_host(4096))
            belay.check(acl.rt.create_stream())
        acl.rt.free(1)  # leaves a message
        belay.restart()
        assert belay.used() == belay.used(belay.HOST) == belay.peak() == 0
        assert belay.blocks() == belay.blocks(belay.HOST) == []
        assert acl.get_recent_err_msg() is None
        assert acl.rt.get_context()[1] == 107002
        assert acl.rt.get_primary_ctx_state(0) == (0, 0, 0)
        assert acl.init() == 0


def test_after_a_restart_memory_is_free_again():
    with belay.settings(hbm="1G"):
        for _ in range(3):
            with belay.device() as npu:
                belay.malloc(768 << 20, 1)._freed = True  # no warning: the leak is meant
                assert npu.free < 256 << 20
                belay.restart()


def test_queued_work_does_not_survive_a_restart():
    with belay.settings(schedule="lazy", pin="best-effort"), belay.device():
        pinned, block = belay.malloc_host(4096), belay.malloc(4096)
        block.copy_from(pinned, stream=belay.stream())
        belay.restart()
    with belay.device(), belay.malloc(4096) as block:
        block.fill(1)
        assert block.tobytes() == b"\1" * 4096


def test_a_thread_that_had_a_device_has_none_after_a_restart():
    ready, go_on, seen = threading.Event(), threading.Event(), []

    def work():
        belay.check(acl.rt.set_device(0))
        ready.set()
        go_on.wait(60)
        seen.append(acl.rt.malloc(100, 0))
        with belay.device(1), belay.malloc(100) as block:
            seen.append(block.size)

    with belay.settings(devices=2):
        thread = threading.Thread(target=work)
        thread.start()
        ready.wait(60)
        belay.restart()
        go_on.set()
        thread.join()
    assert seen == [(0, 107002), 100]


def test_a_restart_is_refused_while_views_live():
    with belay.settings(pin="best-effort"), belay.device():
        pinned = belay.malloc_host(4096)
        view = memoryview(pinned)
        with pytest.raises(BufferError, match="1 view .*delete them first"):
            belay.restart()
        with pytest.raises(BufferError, match="1 view "):
            belay.settings(devices=3).__enter__()
        assert not pinned.gone
        assert "BELAY_DEVICES" not in os.environ
        view[0] = 1
        belay.restart(force=True)
        assert pinned.gone
        del view  # letting go of it is all that may be done with it


def test_views_in_a_cycle_do_not_stop_a_restart():
    with belay.settings(pin="best-effort"), belay.device():
        pinned = belay.malloc_host(4096)
        cycle = [memoryview(pinned)]
        cycle.append(cycle)
        del cycle
        belay.restart()
        assert pinned.gone


def test_views_that_outlive_their_settings_give_a_warning():
    with pytest.warns(RuntimeWarning, match="1 view of memory outlived"):
        with belay.settings(pin="best-effort"), belay.device():
            view = memoryview(belay.malloc_host(4096))
    del view
