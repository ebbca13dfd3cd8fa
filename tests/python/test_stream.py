"""Streams (Y-72 to Y-80)."""

import ctypes
import threading

import pytest

import acl
from arguments import refused
from support import Word, bytes_at, fill, ok


@pytest.fixture
def held(device):
    """(stream, word): a stream that goes on when the word is released."""
    stream, word = ok(acl.rt.create_stream()), Word()
    word.hold(stream)
    yield stream, word
    word.release()
    ok(acl.rt.synchronize_device())


def released_soon(word):
    """Release the word from another thread, a moment from now."""
    context = ok(acl.rt.get_context())

    def body():
        ok(acl.rt.set_context(context))
        word.release()

    timer = threading.Timer(0.05, body)
    timer.start()
    return timer


def priority_of(stream):
    value = ctypes.c_uint32(99)
    library = ctypes.CDLL("libascendcl.so")
    assert library.aclrtStreamGetPriority(ctypes.c_void_p(stream), ctypes.byref(value)) == 0
    return value.value


def test_y72_create_stream(device):
    first, second = ok(acl.rt.create_stream()), ok(acl.rt.create_stream())
    assert type(first) is int and 0 != first != second
    address = ok(acl.rt.malloc(64, 2))
    ok(acl.rt.memset_async(address, 64, 9, 64, first))
    ok(acl.rt.synchronize_stream(first))
    assert bytes_at(address, 64) == bytes([9]) * 64
    ok(acl.rt.free(address))
    ok(acl.rt.destroy_stream(first))
    ok(acl.rt.destroy_stream(second))


@pytest.mark.parametrize("given, kept", [(0, 0), (1, 1), (7, 7), (8, 7), (9, 7), (2 ** 31 - 1, 7)])
def test_y73_priorities_are_brought_into_range(device, given, kept):
    stream = ok(acl.rt.create_stream_with_config(given, 0))
    assert priority_of(stream) == kept
    ok(acl.rt.destroy_stream(stream))


@pytest.mark.parametrize("given", [-1, -2 ** 31])
def test_y73_so_are_negative_ones(device, given):
    stream = ok(acl.rt.create_stream_with_config(given, 0))
    assert 0 <= priority_of(stream) <= 7
    ok(acl.rt.destroy_stream(stream))


@pytest.mark.parametrize("flag", [0, 1, 2, 3, 0x40, 0x80, 0x10000, 0x40000000])
def test_y73_unknown_flags_make_an_ordinary_stream(device, flag):
    stream = ok(acl.rt.create_stream_with_config(0, flag))
    address = ok(acl.rt.malloc(64, 2))
    ok(acl.rt.memset_async(address, 64, 5, 64, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert bytes_at(address, 64) == bytes([5]) * 64
    ok(acl.rt.free(address))
    ok(acl.rt.destroy_stream(stream))


@pytest.mark.parametrize("flag", [2 ** 31, 2 ** 32 - 1, 2 ** 32])
def test_y73_a_flag_with_the_top_bit_raises(device, flag):
    refused("rt.create_stream_with_config", 0, flag)


def test_y74_destroy_waits_for_queued_work(held):
    stream, word = held
    address = ok(acl.rt.malloc(64, 2))
    ok(acl.rt.memset(address, 64, 0, 64))
    ok(acl.rt.memset_async(address, 64, 3, 64, stream))
    timer = released_soon(word)
    ok(acl.rt.destroy_stream(stream))
    assert bytes_at(address, 64) == bytes([3]) * 64
    timer.join()
    assert acl.rt.destroy_stream(stream) == 107017
    ok(acl.rt.free(address))


def test_y74_destroy_by_force_does_not_wait(held):
    stream, word = held
    address = ok(acl.rt.malloc(64, 2))
    fill(address, bytes(64))
    ok(acl.rt.memset_async(address, 64, 3, 64, stream))
    ok(acl.rt.destroy_stream_force(stream))
    assert word.read() == 0  # nobody has released it
    assert bytes_at(address, 64) == bytes(64)
    assert acl.rt.destroy_stream_force(stream) == 107017
    ok(acl.rt.free(address))


def test_y74_abort_drops_what_is_queued(held):
    stream, word = held
    address = ok(acl.rt.malloc(64, 2))
    fill(address, bytes(64))
    ok(acl.rt.memset_async(address, 64, 3, 64, stream))
    ok(acl.rt.stream_abort(stream))
    ok(acl.rt.synchronize_stream(stream))
    assert bytes_at(address, 64) == bytes(64) and word.read() == 0
    ok(acl.rt.memset_async(address, 64, 4, 64, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert bytes_at(address, 64) == bytes([4]) * 64
    ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.free(address))


def test_y74_failure_mode(device):
    stream = ok(acl.rt.create_stream())
    ok(acl.rt.set_stream_failure_mode(stream, 0))
    ok(acl.rt.set_stream_failure_mode(stream, 2 ** 32 + 1))  # u32: 1
    assert ok(acl.rt.get_stream_attribute(stream, 1)) == {"failureMode": 1}
    assert acl.rt.set_stream_failure_mode(stream, 0) == 207000
    ok(acl.rt.destroy_stream(stream))
    assert acl.rt.set_stream_failure_mode(stream, 0) == 107017


def test_y75_synchronize_waits_for_the_stream(held):
    stream, word = held
    timer = released_soon(word)
    ok(acl.rt.synchronize_stream(stream))
    assert word.read() == 1
    timer.join()
    ok(acl.rt.destroy_stream(stream))
    assert acl.rt.synchronize_stream(stream) == 107017


def test_y75_0_is_the_default_stream_of_the_current_context(device):
    word = Word()
    word.hold(0)
    default = ok(acl.rt.ctx_get_current_default_stream())
    assert acl.rt.stream_query(default) == (1, 0)
    old = ok(acl.rt.get_context())
    context = ok(acl.rt.create_context(0))
    ok(acl.rt.synchronize_stream(0))  # another default stream, and nothing in it
    ok(acl.rt.destroy_context(context))
    ok(acl.rt.set_context(old))
    timer = released_soon(word)
    ok(acl.rt.synchronize_stream(0))
    assert word.read() == 1
    timer.join()
    ok(acl.rt.free(word.address))


@pytest.mark.parametrize("ms", [0, -2, -2 ** 31])
def test_y76_timeouts_that_are_none(device, ms):
    assert acl.rt.synchronize_stream_with_timeout(0, ms) == 107000
    assert acl.rt.synchronize_device_with_timeout(ms) == 107000


def test_y76_a_timeout_runs_out(held):
    stream, word = held
    for ms in 1, 20:
        assert acl.rt.synchronize_stream_with_timeout(stream, ms) == 507046
    word.release()
    for ms in -1, 1, 2 ** 31 - 1:
        ok(acl.rt.synchronize_stream_with_timeout(stream, -1))
        ok(acl.rt.synchronize_stream_with_timeout(stream, max(ms, 60000)))
    ok(acl.rt.destroy_stream(stream))


def test_y76_minus_1_waits_for_ever(held):
    stream, word = held
    timer = released_soon(word)
    ok(acl.rt.synchronize_stream_with_timeout(stream, -1))
    assert word.read() == 1
    timer.join()
    ok(acl.rt.destroy_stream(stream))


def test_y77_synchronize_device(held):
    stream, word = held
    assert acl.rt.synchronize_device_with_timeout(20) == 507046
    timer = released_soon(word)
    ok(acl.rt.synchronize_device())
    assert word.read() == 1
    timer.join()
    ok(acl.rt.synchronize_device_with_timeout(-1))
    ok(acl.rt.synchronize_device_with_timeout(2 ** 31 - 1))
    ok(acl.rt.destroy_stream(stream))


def test_y78_query(held):
    stream, word = held
    assert acl.rt.stream_query(stream) == (1, 0)
    word.release()
    ok(acl.rt.synchronize_stream(stream))
    assert acl.rt.stream_query(stream) == (0, 0)
    ok(acl.rt.destroy_stream(stream))
    assert acl.rt.stream_query(stream) == (65535, 107017)


def test_y79_ids_and_how_many_are_left(device):
    before = ok(acl.rt.get_stream_available_num())
    streams = [ok(acl.rt.create_stream()) for _ in range(3)]
    assert ok(acl.rt.get_stream_available_num()) == before - 3
    ids = [ok(acl.rt.stream_get_id(stream)) for stream in streams]
    assert len(set(ids)) == 3 and all(type(number) is int and number >= 0 for number in ids)
    for stream in streams:
        ok(acl.rt.destroy_stream(stream))
    assert ok(acl.rt.get_stream_available_num()) == before
    assert acl.rt.stream_get_id(streams[0]) == (0, 107017)


@pytest.mark.parametrize("attribute, key, numbers", [
    (1, "failureMode", [0, 1]), (2, "overflowSwitch", [1, 0]), (3, "userCustomTag", [0, 7, 2 ** 32 - 1])])
def test_y80_attributes_by_key(device, attribute, key, numbers):
    stream = ok(acl.rt.create_stream())
    for number in numbers:
        result = acl.rt.set_stream_attribute(stream, attribute, {key: number})
        assert type(result) is int and result == 0
        assert acl.rt.get_stream_attribute(stream, attribute) == ({key: number}, 0)
    ok(acl.rt.destroy_stream(stream))


def test_y80_other_attributes_have_a_list(device):
    stream = ok(acl.rt.create_stream_with_config(5, 0))
    value = ok(acl.rt.get_stream_attribute(stream, 5))  # the priority
    assert list(value) == ["reserved"] and type(value["reserved"]) is list
    assert value["reserved"][0] == 5
    value, ret = acl.rt.get_stream_attribute(stream, 99)
    assert ret == 107000 and list(value) == ["reserved"] and set(value["reserved"]) <= {0}
    ok(acl.rt.destroy_stream(stream))


def test_y80_a_stream_that_is_gone(device):
    stream = ok(acl.rt.create_stream())
    ok(acl.rt.destroy_stream(stream))
    assert acl.rt.set_stream_attribute(stream, 1, {"failureMode": 1}) == 107017
    assert acl.rt.get_stream_attribute(stream, 1) == ({"failureMode": 0}, 107017)
