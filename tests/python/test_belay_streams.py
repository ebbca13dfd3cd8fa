"""belay.stream() and belay.event()."""

import gc
import weakref

import acl
import pytest

import belay


@pytest.fixture(autouse=True)
def device():
    with belay.settings(machine="private", schedule="lazy", pin="best-effort"), belay.device() as npu:
        yield npu


@pytest.fixture
def ends():
    """Pinned memory full of sevens, and device memory full of zeros."""
    with belay.malloc_host(4096) as pinned, belay.malloc(4096) as block:
        pinned.fill(7)
        block.fill(0)
        yield pinned, block


def test_a_stream_is_a_handle_for_acl():
    with belay.stream() as s:
        assert s.handle == int(s) != 0
        assert acl.rt.synchronize_stream(s.handle) == 0
    assert s.closed
    with pytest.raises(ValueError, match="stream is closed"):
        s.handle
    with pytest.raises(ValueError, match="stream is closed"):
        s.synchronize()


def test_queued_work_happens_when_it_is_waited_for(ends):
    pinned, block = ends
    with belay.stream() as s:
        block.copy_from(pinned, stream=s)
        assert block.tobytes() == bytes(4096)
        s.synchronize()
        assert block.tobytes() == b"\7" * 4096
        assert s.done


def test_leaving_the_block_waits(ends):
    pinned, block = ends
    with belay.stream() as s:
        block.copy_from(pinned, stream=s)
    assert block.tobytes() == b"\7" * 4096


def test_leaving_by_an_exception_drops_the_work(ends):
    pinned, block = ends
    with pytest.raises(KeyError):
        with belay.stream() as s:
            block.copy_from(pinned, stream=s)
            raise KeyError
    assert s.closed
    assert block.tobytes() == bytes(4096)


def test_done_does_not_wait(ends):
    pinned, block = ends
    with belay.stream() as s:
        assert s.done
        for _ in range(8):  # asking moves a lazy stream by one task
            block.copy_from(pinned, stream=s)
        assert not s.done


def test_a_failed_task_is_told_by_synchronize():
    with belay.stream() as s, belay.malloc_host(4096) as pinned:
        block = belay.malloc(4096)
        block.copy_from(pinned, stream=s)
        block.free()
        with pytest.raises(belay.Error) as caught:
            s.synchronize()
        assert caught.value.code == 507899


def test_a_failed_task_is_told_by_leaving_and_the_stream_is_closed():
    with belay.malloc_host(4096) as pinned:
        with pytest.raises(belay.Error) as caught:
            with belay.stream() as s:
                block = belay.malloc(4096)
                block.copy_from(pinned, stream=s)
                block.free()
        assert caught.value.code == 507899
        assert s.closed


def test_the_stream_keeps_objects_until_it_is_synchronised():
    class Data(bytearray):
        pass

    data = Data(4096)
    alive = weakref.ref(data)
    with belay.malloc(4096) as block, belay.stream() as s:
        block.copy_from(data, stream=s)
        del data
        gc.collect()
        assert alive() is not None
        s.synchronize()
        gc.collect()
        assert alive() is None


def test_a_stream_is_destroyed_in_its_own_context():
    with belay.stream() as s:
        with belay.device(1):
            s.close()
            assert belay.check(acl.rt.get_device()) == 1
    assert s.closed


def test_a_restart_ends_streams_and_events():
    s, mark = belay.stream(), belay.event()
    with s, mark:
        belay.restart()
        assert s.closed and mark.closed
        with pytest.raises(ValueError, match="stream was made before a restart"):
            s.synchronize()
        with pytest.raises(ValueError, match="event was made before a restart"):
            mark.record()


def test_events_mark_a_place_in_the_stream(ends):
    pinned, block = ends
    with belay.stream() as s, belay.event() as mark:
        block.copy_from(pinned, stream=s)
        mark.record(s)
        assert not mark.done
        mark.synchronize()
        assert mark.done
        assert block.tobytes() == b"\7" * 4096
    assert mark.closed


def test_a_stream_waits_for_an_event_of_another(ends):
    pinned, block = ends
    with belay.malloc_host(4096) as back:
        with belay.stream() as up, belay.stream() as down, belay.event() as there:
            block.copy_from(pinned, stream=up)
            there.record(up)
            down.wait(there)
            block.copy_to(back, stream=down)
            down.synchronize()
            assert bytes(back) == b"\7" * 4096


def test_elapsed_is_the_time_between_two_events():
    with belay.stream() as s, belay.event() as before, belay.event() as after:
        before.record(s)
        s.synchronize()
        after.record(s)
        s.synchronize()
        assert 0 <= after.elapsed(before) < 60_000
        assert before.elapsed(after) == -after.elapsed(before)


def test_elapsed_of_an_event_that_is_not_done_is_an_error():
    with belay.stream() as s, belay.event() as before, belay.event() as after:
        before.record(s)
        after.record(s)
        with pytest.raises(belay.Error) as caught:
            after.elapsed(before)
        assert caught.value.code == 107006


def test_an_event_can_be_recorded_in_the_default_stream():
    with belay.event() as mark:
        mark.record()
        mark.synchronize()
        assert mark.done


def test_repr_tells_the_state():
    s = belay.stream()
    assert repr(s) == f"<belay.Stream {s.handle:#x}>"
    s.close()
    assert repr(s) == "<belay.Stream closed>"
