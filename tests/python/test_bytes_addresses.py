"""acl.util: bytes objects and addresses."""

import ctypes
import gc
import os
import random
import signal
import sys
import textwrap

import pytest

import acl
from arguments import Index, refused
from support import bytes_at, fill, ok, run

HEADER = sys.getsizeof(b"") - 1  # bytes of the object before its own storage


def test_y142_the_objects_own_storage():
    for size in (0, 1, 2, 3, 33, 4096, 1 << 20):
        data = os.urandom(size)
        address = acl.util.bytes_to_ptr(data)
        assert type(address) is int
        assert address == id(data) + HEADER
        assert ctypes.string_at(address, size) == data
        assert acl.util.bytes_to_ptr(data) == address, "no copy is made, now or later"


def test_y142_a_subclass_is_bytes_too():
    class Named(bytes):
        pass

    data = Named(b"some words")
    assert ctypes.string_at(acl.util.bytes_to_ptr(data), len(data)) == data


def test_y142_nothing_is_kept_alive():
    data = os.urandom(1000)
    before = sys.getrefcount(data)
    addresses = [acl.util.bytes_to_ptr(data) for _ in range(10)]
    assert len(set(addresses)) == 1
    gc.collect()
    assert sys.getrefcount(data) == before


@pytest.mark.parametrize("other", [bytearray(b"abc"), memoryview(b"abc"), "abc", 5, None, [1], (b"a",),
                                   ctypes.create_string_buffer(4)], ids=lambda value: type(value).__name__)
def test_y142_only_bytes(other):
    with pytest.raises(ValueError) as caught:
        acl.util.bytes_to_ptr(other)
    assert str(caught.value) == "needs an byte as argument"


def test_y142_one_argument():
    refused("util.bytes_to_ptr")
    refused("util.bytes_to_ptr", b"a", b"b")
    with pytest.raises(TypeError):
        acl.util.bytes_to_ptr(data=b"a")


@pytest.mark.parametrize("size", [2, 63, 4096, 3 << 20])
def test_y143_scripts_write_there(device, size):
    block = ok(acl.rt.malloc(size, 2))
    pattern = random.Random(size).randbytes(size) if hasattr(random.Random, "randbytes") else os.urandom(size)
    fill(block, pattern)
    back = bytes(bytearray(size))
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), size, block, size, 2) == 0
    assert back == pattern
    assert memoryview(back).tobytes() == pattern


def test_y143_into_the_middle_of_an_object(device):
    block = ok(acl.rt.malloc(64, 2))
    ok(acl.rt.memset(block, 64, 0x11, 64))
    back = bytes(bytearray(256))
    ok(acl.rt.memcpy(acl.util.bytes_to_ptr(back) + 100, 64, block, 64, 2))
    assert back == bytes(100) + b"\x11" * 64 + bytes(92)


def test_y143_asynchronous_copies_too(device):
    stream = ok(acl.rt.create_stream())
    block = ok(acl.rt.malloc(4096, 2))
    ok(acl.rt.memset(block, 4096, 0x77, 4096))
    back = bytes(bytearray(4096))
    assert acl.rt.memcpy_async(acl.util.bytes_to_ptr(back), 4096, block, 4096, 2, stream) == 0
    assert back == b"\x77" * 4096, "pageable memory: the call returns when the copy is done"
    ok(acl.rt.destroy_stream(stream))


def test_y144_small_objects_are_shared(fresh):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        util = acl.util
        for value in (65, 0, 255):
            assert util.bytes_to_ptr(bytes([value])) == util.bytes_to_ptr(bytes([value]))
        assert util.bytes_to_ptr(b"") == util.bytes_to_ptr(bytes())
        two, other = bytes(bytearray(b"AB")), bytes(bytearray(b"AB"))
        assert util.bytes_to_ptr(two) != util.bytes_to_ptr(other)
        # Writing changes every equal constant; put it back before anybody else looks.
        shared, new = bytes([65]), bytes(bytearray(b"Z."))
        ret = acl.rt.memcpy(util.bytes_to_ptr(shared), 1, util.bytes_to_ptr(new), 1, 0)
        seen = ord(bytes([65]))
        old = bytes(bytearray(b"A."))
        again = acl.rt.memcpy(util.bytes_to_ptr(shared), 1, util.bytes_to_ptr(old), 1, 0)
        assert (ret, seen, again) == (0, 90, 0), (ret, seen, again)
        assert ord(bytes([65])) == 65
    """)


def test_y145_a_copy(device):
    memory = ctypes.create_string_buffer(b"before", 64)
    address = ctypes.addressof(memory)
    for size in (0, 1, 6, 64):
        taken = acl.util.ptr_to_bytes(address, size)
        assert type(taken) is bytes and taken == memory.raw[:size]
        if size > 1:
            assert acl.util.bytes_to_ptr(taken) != address
    taken = acl.util.ptr_to_bytes(address, 6)
    memory[0:6] = b"after!"
    assert taken == b"before"
    assert acl.util.ptr_to_bytes(address + 2, 3) == b"ter"


def test_y145_memory_of_malloc_host(device):
    block = ok(acl.rt.malloc_host(4096))
    ok(acl.rt.memset(block, 4096, 0x3C, 4096))
    taken = acl.util.ptr_to_bytes(block, 4096)
    ok(acl.rt.free_host(block))
    assert taken == b"\x3c" * 4096, "it lives longer than the memory"


@pytest.mark.parametrize("size", [0, 1, 2, 100, 1 << 20])
def test_y145_address_zero(size):
    taken = acl.util.ptr_to_bytes(0, size)
    assert type(taken) is bytes and len(taken) == size
    assert len(acl.util.ptr_to_bytes(1 << 64, size)) == size, "2**64 is 0"


@pytest.mark.parametrize("size", [-1, 1 << 63, (1 << 64) - 1, -(1 << 63), (1 << 63) - 1])
def test_y145_sizes_beyond_the_largest_object(size):
    with pytest.raises(ValueError) as caught:
        acl.util.ptr_to_bytes(0, size)
    assert str(caught.value) == "convert c pointer to bytes failed"


def test_y145_no_memory(fresh):
    # A sanitizer would end the process instead of failing the allocation.
    quiet = os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1"
    run(fresh, """
        import acl
        for size in (1 << 62, (1 << 63) - 100, 1 << 60):
            try:
                acl.util.ptr_to_bytes(0, size)
            except ValueError as error:
                assert str(error) == "convert c pointer to bytes failed"
            else:
                raise AssertionError(size)
    """, env={"ASAN_OPTIONS": quiet})


def test_y145_arguments():
    name = "util.ptr_to_bytes"
    for args in ((), (0,), (0, 0, 0), (None, 1), (0, None), ("0", 1), (0, 1.0), (0, "1"), (b"", 1)):
        refused(name, *args)
    if sys.version_info < (3, 14):
        refused(name, Index(0), 0)
        refused(name, 0, Index(0))
    assert acl.util.ptr_to_bytes(False, True) is not None
    assert len(acl.util.ptr_to_bytes(0, (1 << 64) + 3)) == 3


TOUCH = """
    import acl
    assert acl.rt.set_device(0) == 0
    block, ret = acl.rt.malloc(4096, 2)
    assert ret == 0
    assert acl.rt.memset(block, 4096, 0x21, 4096) == 0
    data = acl.util.ptr_to_bytes(block, 4096)
    assert data == b"!" * 4096
    print("taken", flush=True)
"""


def test_y146_device_memory_is_not_for_the_host(fresh):
    done = fresh(textwrap.dedent(TOUCH))
    assert done.returncode != 0
    assert "taken" not in done.stdout
    words = done.stderr
    assert "device memory" in words or "device 0" in words, words
    assert "memcpy" in words.lower(), "and the remedy: " + words
    if "Traceback" not in words and "Sanitizer" not in words:
        assert done.returncode == -signal.SIGSEGV


@pytest.mark.parametrize("env", [{"BELAY_PRODUCT": "310B", "BELAY_FORM": "RC"},
                                 {"BELAY_HOST_ACCESS": "allow"}], ids=["RC", "allow"])
def test_y146_where_the_host_may_touch_it(fresh, env):
    assert "taken" in run(fresh, TOUCH, env=env)


def test_y143_y145_round_trip_through_both(device):
    data = os.urandom(1 << 16)
    block = ok(acl.rt.malloc(len(data), 2))
    fill(block, data)
    host = ok(acl.rt.malloc_host(len(data)))
    ok(acl.rt.memcpy(host, len(data), block, len(data), 2))
    assert acl.util.ptr_to_bytes(host, len(data)) == data == bytes_at(block, len(data))
    ok(acl.rt.free_host(host))
