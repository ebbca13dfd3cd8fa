"""Copies and fills (Y-100 to Y-111)."""

import ctypes
import mmap
import threading

import pytest

import acl
from arguments import refused
from offered import exported
from support import Word, bytes_at, fill, ok, run

PATTERN = bytes(i * 7 & 0xFF for i in range(1024))
HOST_HOST, HOST_DEVICE, DEVICE_HOST, DEVICE_DEVICE, DEFAULT = range(5)


@pytest.fixture
def blocks(device):
    """{name: address}: 1024 bytes of each kind of memory."""
    kept = bytes(bytearray(1024))
    made = {"device": ok(acl.rt.malloc(1024, 2)), "device2": ok(acl.rt.malloc(1024, 2)),
            "pinned": ok(acl.rt.malloc_host(1024)), "pinned2": ok(acl.rt.malloc_host(1024)),
            "plain": acl.util.bytes_to_ptr(kept)}
    yield made
    assert len(kept) == 1024  # alive until here
    for name in "device", "device2":
        ok(acl.rt.free(made[name]))
    for name in "pinned", "pinned2":
        ok(acl.rt.free_host(made[name]))


@pytest.fixture
def stream(device):
    made = ok(acl.rt.create_stream())
    yield made
    ok(acl.rt.destroy_stream(made))


PAIRS = [("plain", "device"), ("device", "plain"), ("pinned", "device"), ("device", "pinned"),
         ("device", "device2"), ("pinned", "pinned2"), ("plain", "pinned")]


@pytest.mark.parametrize("source, target", PAIRS)
@pytest.mark.parametrize("kind", [0, 1, 2, 3, 4, 5])
def test_y100_y101_every_kind_copies_between_every_pair(blocks, source, target, kind):
    fill(blocks[source], PATTERN)
    ok(acl.rt.memset(blocks[target], 1024, 0, 1024))
    result = acl.rt.memcpy(blocks[target], 1024, blocks[source], 1024, kind)
    assert type(result) is int and result == 0
    assert bytes_at(blocks[target], 1024) == PATTERN


@pytest.mark.parametrize("kind", [-2 ** 31, -1, 6, 7, 8, 2 ** 31 - 1])
def test_y101_a_kind_outside_the_enumeration_is_a_number(blocks, kind):
    assert acl.rt.memcpy(blocks["device"], 1024, blocks["pinned"], 1024, kind) == 100000


def test_y101_the_asynchronous_copy_looks_at_the_kind(blocks, stream):
    device, plain = blocks["device"], blocks["plain"]
    assert acl.rt.memcpy_async(device, 1024, plain, 1024, DEVICE_HOST, stream) == 107000
    assert acl.rt.memcpy_async(plain, 1024, device, 1024, HOST_DEVICE, stream) == 107000
    ok(acl.rt.memcpy_async(device, 1024, plain, 1024, HOST_DEVICE, stream))
    ok(acl.rt.memcpy_async(plain, 1024, device, 1024, DEVICE_HOST, stream))


def test_y100_all_five_must_be_given(blocks):
    refused("rt.memcpy", blocks["device"], 1024, blocks["pinned"], 1024)
    refused("rt.memcpy", blocks["device"], blocks["pinned"], 1024, 1)


@pytest.mark.parametrize("more", [0, 1, 1024, 2 ** 31, 2 ** 32, 2 ** 63])
def test_y102_room_larger_than_the_block_is_accepted(blocks, more):
    fill(blocks["pinned"], PATTERN)
    ok(acl.rt.memcpy(blocks["device"], 1024 + more, blocks["pinned"], 1024, 1))
    assert bytes_at(blocks["device"], 1024) == PATTERN


def test_y102_room_may_be_the_size_of_an_address(blocks, stream):
    target = blocks["device"]
    fill(blocks["pinned"], PATTERN)
    ok(acl.rt.memcpy(target, target + 2 * 1024, blocks["pinned"], 1024, 1))
    ok(acl.rt.memcpy(target, 2 ** 64 - 1, blocks["pinned"], 1024, 1))
    ok(acl.rt.memcpy_async(target, target + 2 * 1024, blocks["pinned"], 1024, 1, stream))
    ok(acl.rt.synchronize_stream(stream))
    ok(acl.rt.memset(target, target + 2 * 1024, 1, 1024))
    assert bytes_at(target, 1024) == bytes([1]) * 1024


@pytest.mark.parametrize("room", [0, 1, 1023])
def test_y102_room_below_the_count_is_refused(blocks, room):
    ok(acl.rt.memset(blocks["device"], 1024, 0, 1024))
    assert acl.rt.memcpy(blocks["device"], room, blocks["pinned"], 1024, 1) == 107000
    assert bytes_at(blocks["device"], 1024) == bytes(1024)


def plain_memory():
    """(keeper, address) of 1024 bytes that acl never saw, in the ways Python programs come by them."""
    data = bytes(bytearray(1024))
    yield data, acl.util.bytes_to_ptr(data)
    array = (ctypes.c_char * 1024)()
    yield array, ctypes.addressof(array)
    changing = bytearray(1024)
    view = (ctypes.c_char * 1024).from_buffer(changing)
    yield (changing, view), ctypes.addressof(view)
    mapped = mmap.mmap(-1, 1024)
    view = (ctypes.c_char * 1024).from_buffer(mapped)
    yield (mapped, view), ctypes.addressof(view)
    text = ctypes.create_string_buffer(1024)
    yield text, ctypes.addressof(text)


def test_y103_memory_that_acl_never_saw(blocks, stream):
    for keeper, address in plain_memory():
        ctypes.memmove(address, PATTERN, 1024)
        ok(acl.rt.memcpy(blocks["device"], 1024, address, 1024, HOST_DEVICE))
        assert bytes_at(blocks["device"], 1024) == PATTERN
        ok(acl.rt.memset(blocks["device"], 1024, 0x3C, 1024))
        ok(acl.rt.memcpy(address, 1024, blocks["device"], 1024, DEVICE_HOST))
        assert ctypes.string_at(address, 1024) == bytes([0x3C]) * 1024
        ok(acl.rt.memcpy_async(blocks["device"], 1024, address, 1024, HOST_DEVICE, stream))
        ok(acl.rt.memcpy(address, 1024, blocks["pinned"], 1024, HOST_HOST))
        assert ok(acl.rt.pointer_get_attributes(address))["location"]["type"] == 2
        assert keeper is not None


def test_y104_pinned_memory_is_copied_in_the_stream(blocks, stream):
    word = Word()
    word.hold(stream)
    fill(blocks["pinned"], PATTERN)
    ok(acl.rt.memset(blocks["device"], 1024, 0, 1024))
    result = acl.rt.memcpy_async(blocks["device"], 1024, blocks["pinned"], 1024, HOST_DEVICE, stream)
    assert type(result) is int and result == 0
    assert bytes_at(blocks["device"], 1024) == bytes(1024)  # it waits behind the word
    word.release()
    ok(acl.rt.synchronize_stream(stream))
    assert bytes_at(blocks["device"], 1024) == PATTERN
    ok(acl.rt.free(word.address))


@pytest.mark.parametrize("call", ["memcpy_async", "memcpy_async_with_condition"])
def test_y104_y105_other_host_memory_is_copied_before_the_call_returns(blocks, stream, call):
    source = bytes(bytearray(PATTERN))
    copy = getattr(acl.rt, call)
    ok(copy(blocks["device"], 1024, acl.util.bytes_to_ptr(source), 1024, HOST_DEVICE, stream))
    assert bytes_at(blocks["device"], 1024) == PATTERN
    ok(copy(blocks["plain"], 1024, blocks["device"], 1024, DEVICE_HOST, stream))
    assert ctypes.string_at(blocks["plain"], 1024) == PATTERN


@pytest.mark.parametrize("offset", [1, 3, 7, 32, 63])
def test_y104_any_alignment_will_do(blocks, stream, offset):
    fill(blocks["pinned"], PATTERN)
    ok(acl.rt.memcpy_async(blocks["device"] + offset, 900, blocks["pinned"] + 1, 900, HOST_DEVICE, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert bytes_at(blocks["device"] + offset, 900) == PATTERN[1:901]


@pytest.mark.parametrize("call", ["memcpy_async", "memcpy_async_with_condition"])
def test_y104_y105_host_to_host_is_refused(blocks, stream, call):
    copy = getattr(acl.rt, call)
    assert copy(blocks["pinned"], 1024, blocks["pinned2"], 1024, HOST_HOST, stream) == 207000
    assert copy(blocks["pinned"], 1024, blocks["plain"], 1024, HOST_HOST, stream) == 207000


def test_y104_host_to_host_where_host_and_device_are_one(fresh):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        first, ret = acl.rt.malloc_host(64)
        second, again = acl.rt.malloc_host(64)
        assert ret == again == 0
        assert acl.rt.memset(first, 64, 7, 64) == 0
        assert acl.rt.memcpy_async(second, 64, first, 64, 0, 0) == 0
        assert acl.rt.synchronize_stream(0) == 0
        assert acl.util.ptr_to_bytes(second, 64) == bytes([7]) * 64
        """, env={"BELAY_PRODUCT": "310B", "BELAY_FORM": "RC"})


def test_y104_stream_0_is_the_default_stream(blocks):
    fill(blocks["pinned"], PATTERN)
    ok(acl.rt.memcpy_async(blocks["device"], 1024, blocks["pinned"], 1024, HOST_DEVICE, 0))
    ok(acl.rt.synchronize_stream(0))
    assert bytes_at(blocks["device"], 1024) == PATTERN


def test_y105_the_same_answers(blocks, stream):
    both = acl.rt.memcpy_async, acl.rt.memcpy_async_with_condition
    device, pinned, plain = blocks["device"], blocks["pinned"], blocks["plain"]
    for arguments in ((device, 1024, pinned, 1024, 1, stream), (0, 1024, pinned, 1024, 1, stream),
                      (device, 1024, 0, 1024, 1, stream), (device, 1023, pinned, 1024, 1, stream),
                      (device, 1024, pinned, 1024, 9, stream), (device, 1024, plain, 1024, 2, stream),
                      (device, 1024, pinned, 1024, 1, 12345), (0, 0, 0, 0, 99, 12345)):
        first, second = [call(*arguments) for call in both]
        assert first == second
    ok(acl.rt.synchronize_stream(stream))


@pytest.mark.parametrize("where", ["device", "pinned"])
def test_y106_fills(blocks, stream, where):
    address = blocks[where]
    result = acl.rt.memset(address, 1024, 1, 1024)
    assert type(result) is int and result == 0
    ok(acl.rt.memset(address + 100, 24, 2, 24))
    assert bytes_at(address, 1024) == bytes([1]) * 100 + bytes([2]) * 24 + bytes([1]) * 900
    result = acl.rt.memset_async(address, 1024, 3, 1024, stream)
    assert type(result) is int and result == 0
    ok(acl.rt.memset_async(address, 1024, 4, 10, 0))
    ok(acl.rt.synchronize_device())
    assert bytes_at(address + 10, 1014) == bytes([3]) * 1014
    assert acl.rt.memset(address, 1023, 1, 1024) == 107000
    assert acl.rt.memset_async(address, 1023, 1, 1024, stream) == 107000
    assert acl.rt.memset(0, 1024, 1, 1024) == 100000


def test_y106_device_memory_is_filled_in_the_stream(blocks, stream):
    word = Word()
    word.hold(stream)
    ok(acl.rt.memset(blocks["device"], 1024, 0, 1024))
    ok(acl.rt.memset_async(blocks["device"], 1024, 9, 1024, stream))
    assert bytes_at(blocks["device"], 1024) == bytes(1024)
    word.release()
    ok(acl.rt.synchronize_stream(stream))
    assert bytes_at(blocks["device"], 1024) == bytes([9]) * 1024
    ok(acl.rt.free(word.address))


@pytest.mark.parametrize("value", [0, 1, 255, 256, 257, 511, -1, -256, -2 ** 31, 2 ** 31 - 1, 0x12345678])
def test_y107_the_low_byte_of_the_value(blocks, stream, value):
    for where in "device", "pinned":
        ok(acl.rt.memset(blocks[where], 1024, value, 1024))
        assert bytes_at(blocks[where], 1024) == bytes([value & 0xFF]) * 1024
        ok(acl.rt.memset(blocks[where], 1024, value + 1 if value < 2 ** 31 - 1 else 0, 1024))
        ok(acl.rt.memset_async(blocks[where], 1024, value, 1024, stream))
        ok(acl.rt.synchronize_stream(stream))
        assert bytes_at(blocks[where], 1024) == bytes([value & 0xFF]) * 1024


@pytest.mark.parametrize("value", [2 ** 31, -2 ** 31 - 1, 2 ** 32])
def test_y107_a_value_beyond_32_bits_raises(blocks, value):
    refused("rt.memset", blocks["device"], 1024, value, 1024)


def rows(data, pitch, width, height):
    return [data[row * pitch:row * pitch + width] for row in range(height)]


@pytest.mark.parametrize("there, back", [(HOST_DEVICE, DEVICE_HOST), (DEFAULT, DEFAULT)])
@pytest.mark.parametrize("host", ["pinned", "plain"])
def test_y108_y109_two_dimensions(blocks, stream, host, there, back):
    device, memory = blocks["device"], blocks[host]
    ok(acl.rt.memset(device, 1024, 0, 1024))
    fill(memory, PATTERN)
    ok(acl.rt.memcpy2d(device, 100, memory, 64, 20, 10, there))
    got = bytes_at(device, 1024)
    assert rows(got, 100, 20, 10) == rows(PATTERN, 64, 20, 10)
    assert got[20:100] == bytes(80)  # between the rows
    ok(acl.rt.memset(memory, 1024, 0, 1024))
    ok(acl.rt.memcpy2d_async(memory, 50, device, 100, 20, 10, back, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert rows(bytes_at(memory, 1024), 50, 20, 10) == rows(PATTERN, 64, 20, 10)


def test_y108_there_is_no_other_spelling():
    for name in "memcpy_2d", "memcpy_2d_async", "memcpy2_d":
        assert not hasattr(acl.rt, name)


def test_y109_kinds(blocks, stream):
    device, other, pinned = blocks["device"], blocks["device2"], blocks["pinned"]
    assert acl.rt.memcpy2d(device, 10, other, 10, 10, 10, DEVICE_DEVICE) == 207000
    fill(other, PATTERN)
    ok(acl.rt.memcpy2d_async(device, 10, other, 10, 10, 10, DEVICE_DEVICE, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert bytes_at(device, 100) == PATTERN[:100]
    for kind in 0, 5, 6, 7, 8, -1:
        assert acl.rt.memcpy2d(device, 10, pinned, 10, 10, 10, kind) == 100000
        assert acl.rt.memcpy2d_async(device, 10, pinned, 10, 10, 10, kind, stream) == 100000


def test_y109_device_to_device_on_older_products(fresh):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        device, ret = acl.rt.malloc(4096, 2)
        assert acl.rt.memcpy2d_async(device, 10, device + 2048, 10, 10, 10, 3, 0) == 100000
        """, env={"BELAY_PRODUCT": "310P"})


def test_y109_limits(device, stream):
    width, height = 5000000, 5242880
    target, source = ok(acl.rt.malloc(height + 1, 0)), ok(acl.rt.malloc_host(height + 1))
    for copy, more in ((acl.rt.memcpy2d, ()), (acl.rt.memcpy2d_async, (stream,))):
        ok(copy(target, width, source, width, width, 1, 1, *more))
        assert copy(target, width + 1, source, width + 1, width + 1, 1, 1, *more) == 107000
        assert copy(target, 1, source, 1, 1, height + 1, 1, *more) == 107000
        assert copy(target, 9, source, 10, 10, 1, 1, *more) == 100000
        assert copy(target, 10, source, 9, 10, 1, 1, *more) == 100000
        ok(copy(target, 10, source, 10, 10, 1, 1, *more))
    ok(acl.rt.memcpy2d(target, 1, source, 1, 1, height, 1))
    ok(acl.rt.synchronize_stream(stream))
    ok(acl.rt.free(target))
    ok(acl.rt.free_host(source))


def test_y110_descriptors(blocks, stream):
    size = ok(acl.rt.get_memcpy_desc_size(6))
    assert size == 32
    descriptor = ok(acl.rt.malloc(size, 2))
    fill(blocks["device"], PATTERN)
    ok(acl.rt.memset(blocks["device2"], 1024, 0, 1024))
    # source before destination
    result = acl.rt.set_memcpy_desc(descriptor, 6, blocks["device"], blocks["device2"], 1000, 0)
    assert result == (descriptor, 0)
    assert bytes_at(blocks["device2"], 1024) == bytes(1024)
    for _ in range(2):
        result = acl.rt.memcpy_async_with_desc(descriptor, 6, stream)
        assert type(result) is int and result == 0
    ok(acl.rt.synchronize_stream(stream))
    assert bytes_at(blocks["device2"], 1024) == PATTERN[:1000] + bytes(24)
    assert bytes_at(blocks["device"], 1024) == PATTERN
    ok(acl.rt.free(descriptor))


@pytest.mark.parametrize("kind", [0, 1, 2, 3, 4, 5, 7])
def test_y110_only_kind_6(blocks, stream, kind):
    descriptor = ok(acl.rt.malloc(64, 2))
    assert acl.rt.get_memcpy_desc_size(kind) == (0, 207000)
    answer = acl.rt.set_memcpy_desc(descriptor, kind, blocks["device"], blocks["device2"], 64, 0)
    assert answer == (descriptor, 207000)
    assert acl.rt.memcpy_async_with_desc(descriptor, kind, stream) == 207000
    ok(acl.rt.free(descriptor))


def test_y110_refusals(blocks, stream):
    device, other = blocks["device"], blocks["device2"]
    assert acl.rt.set_memcpy_desc(0, 6, device, other, 64, 0) == (0, 100000)
    assert acl.rt.set_memcpy_desc(device, 6, 0, other, 64, 0) == (device, 100000)
    assert acl.rt.set_memcpy_desc(device, 6, device, other, 0, 0) == (device, 100000)
    assert acl.rt.set_memcpy_desc(device, 6, device, other, 64, 1) == (device, 100000)
    assert acl.rt.memcpy_async_with_desc(device, 6, 0) == 100000  # the default stream has no name here


def test_y111_reduce_is_left_out():
    assert not hasattr(acl.rt, "reduce_async")
    assert not exported("aclrtReduceAsync")


def test_y106_y47_two_threads_share_a_stream(blocks, stream):
    context = ok(acl.rt.get_context())
    failed = []

    def body(value):
        try:
            ok(acl.rt.set_context(context))
            for _ in range(50):
                ok(acl.rt.memset_async(blocks["device"], 1024, value, 1024, stream))
        except BaseException as error:  # looked at below
            failed.append(error)

    threads = [threading.Thread(target=body, args=(value,)) for value in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ok(acl.rt.synchronize_stream(stream))
    assert failed == []
    assert bytes_at(blocks["device"], 1024) in (bytes([1]) * 1024, bytes([2]) * 1024)
