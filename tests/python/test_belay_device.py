"""belay.device()."""

import threading

import acl
import pytest

import belay


@pytest.fixture(autouse=True)
def machine():
    with belay.settings(machine="private", product="A2", devices=4, hbm="4G"):
        yield


def current_device():
    device, code = acl.rt.get_device()
    acl.get_recent_err_msg()
    return device if code == 0 else None


def test_the_device_is_current_inside_and_closed_outside():
    with belay.device(2) as npu:
        assert npu.id == 2
        assert current_device() == 2
        assert acl.rt.get_primary_ctx_state(2) == (1, 0, 0)
    assert current_device() is None
    assert acl.rt.get_primary_ctx_state(2) == (0, 0, 0)


def test_device_0_is_the_default():
    with belay.device() as npu:
        assert npu.id == 0


def test_acl_is_initialised_and_finalised_when_nobody_else_did():
    with belay.device():
        assert acl.init() == 100002
        assert acl.finalize_reference() == (1, 0)
    assert acl.init() == 0
    assert acl.finalize() == 0


def test_acl_stays_initialised_when_the_program_did_it():
    assert acl.init() == 0
    with belay.device():
        pass
    assert acl.init() == 100002
    assert acl.finalize() == 0


def test_a_program_that_finalises_inside_does_no_harm():
    with belay.device():
        assert acl.finalize() == 0
    assert acl.init() == 0
    assert acl.finalize() == 0


def test_a_program_that_initialised_with_a_file_does_no_harm(tmp_path):
    config = tmp_path / "acl.json"
    config.write_text('{"err_msg_mode": "0"}')
    assert acl.init(str(config)) == 0
    with belay.device() as npu:
        assert npu.total > 0
    assert acl.get_recent_err_msg() is None
    assert acl.finalize_reference() == (0, 0)


def test_nested_devices_come_back_in_turn():
    with belay.device(0) as outer:
        with belay.device(1) as inner:
            assert current_device() == 1
            with inner:
                assert current_device() == 1
            assert current_device() == 1
        assert current_device() == 0
        with belay.device(0):
            pass
        assert current_device() == 0
        assert outer.free > 0


def test_the_context_from_before_comes_back():
    belay.check(acl.rt.set_device(3))
    context = belay.check(acl.rt.create_context(1))
    with belay.device(0):
        assert current_device() == 0
    assert belay.check(acl.rt.get_context()) == context


def test_free_and_total_are_of_the_device_not_of_the_current_one():
    with belay.device(0) as first, belay.device(1) as second:
        assert first.total == second.total == 4 << 30
        with belay.malloc(64 << 20, 1):
            assert second.free < first.free
        assert second.free == first.free
        assert current_device() == 1


def test_the_name_is_that_of_the_chip():
    with belay.device() as npu:
        assert npu.name.startswith("Ascend910B")


def test_synchronize_waits_for_the_streams_of_the_device():
    with belay.settings(machine="private", schedule="lazy", pin="best-effort"), belay.device() as npu:
        with belay.malloc(4096) as block, belay.malloc_host(4096) as pinned, belay.stream() as s:
            pinned.fill(7)
            block.fill(0)
            block.copy_from(pinned, stream=s)
            assert block.tobytes() == bytes(4096)
            npu.synchronize()
            assert block.tobytes() == b"\7" * 4096


def test_exceptions_pass_through_and_the_device_is_closed():
    with pytest.raises(KeyError, match="mine"):
        with belay.device(1):
            raise KeyError("mine")
    assert current_device() is None
    assert acl.rt.get_primary_ctx_state(1) == (0, 0, 0)


def test_a_device_that_does_not_exist_is_an_error_and_leaves_nothing_behind():
    with pytest.raises(belay.Error) as caught:
        with belay.device(4):
            pytest.fail("not reached")
    assert caught.value.code == 107001
    assert acl.init() == 0
    assert acl.finalize() == 0


def test_a_device_reset_by_force_inside_does_no_harm():
    with belay.device():
        assert acl.rt.reset_device_force(0) == 0
    assert acl.get_recent_err_msg() is None
    assert acl.init() == 0
    assert acl.finalize() == 0


def test_asking_outside_of_the_block_is_told():
    npu = belay.device(0)
    with pytest.raises(ValueError, match=r"with belay\.device\(0\)"):
        npu.free
    with npu:
        assert npu.free > 0
    with pytest.raises(ValueError, match="not in use"):
        npu.synchronize()


def test_entering_leaves_no_message_behind():
    with belay.device():
        assert acl.get_recent_err_msg() is None
    assert acl.get_recent_err_msg() is None


def test_another_thread_opens_its_own():
    seen = []

    def work():
        seen.append(current_device())
        with belay.device(2):
            seen.append(current_device())
        seen.append(current_device())

    with belay.device(0):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert current_device() == 0
    assert seen == [None, 2, None]


def on_a_thread(work):
    """Runs work on a thread without a context: what it returned, and the device of the thread afterwards."""
    seen = []
    thread = threading.Thread(target=lambda: seen.append((work(), current_device())))
    thread.start()
    thread.join()
    (both,) = seen
    return both


def test_asking_from_a_thread_without_a_device_leaves_it_without():
    with belay.device(1) as npu:
        free = npu.free
        assert on_a_thread(lambda: npu.free) == (free, None)
        assert on_a_thread(npu.synchronize) == (None, None)
        stream = belay.stream()
        assert on_a_thread(stream.close) == (None, None)
        assert stream.closed and current_device() == 1
    assert acl.rt.get_primary_ctx_state(1) == (0, 0, 0)
    assert acl.get_recent_err_msg() is None


def test_a_thread_without_a_device_is_so_again_while_another_one_holds_it():
    def work():
        with belay.device(0):
            return current_device()

    with belay.device(0), belay.malloc(64) as block:
        assert on_a_thread(work) == (0, None)
        assert acl.rt.get_primary_ctx_state(0) == (1, 0, 0)
        block.fill(1)
    assert acl.rt.get_primary_ctx_state(0) == (0, 0, 0)


def test_a_restart_inside_ends_the_device_and_leaving_is_quiet():
    with belay.device(0) as npu:
        belay.restart()
        with pytest.raises(ValueError, match="before a restart"):
            npu.free
        assert current_device() is None
        with belay.device(1):
            pass
    assert acl.get_recent_err_msg() is None
