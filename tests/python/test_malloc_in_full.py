"""rt.malloc and rt.malloc_host, sentence by sentence."""

import ctypes
import os
import time

import pytest

import acl
from arguments import parse_text
from reports import held_stream
from support import bytes_at, fill, free_bytes, ok, run

KiB = 1 << 10
MiB = 1 << 20
GiB = 1 << 30
SIZE_MAX = (1 << 64) - 1


def up(number, unit):
    return (number + unit - 1) // unit * unit


def footprint(size, page, extra=32):
    return up(up(size, 32) + extra, page)


def took(size, policy, make=None):
    """What an allocation takes from the device, which then has it back."""
    before = free_bytes()
    block, ret = (make or acl.rt.malloc)(size, policy)
    assert ret == 0, (size, policy, ret)
    assert block % 64 == 0
    taken = before - free_bytes()
    assert acl.rt.free(block) == 0
    assert free_bytes() == before
    return taken


@pytest.mark.parametrize("size", [1, 31, 32, 33, 4063, 4064, 4065, 4096, 100_000, MiB - 33, MiB - 32, MiB])
def test_y216_small_blocks_of_huge_first(device, size):
    assert took(size, 0) == footprint(size, 4 * KiB)


@pytest.mark.parametrize("size", [MiB + 1, 2 * MiB - 33, 2 * MiB - 32, 2 * MiB - 31, 2 * MiB, 3 * MiB,
                                  64 * MiB])
def test_y216_large_blocks_of_huge_first(device, size):
    assert took(size, 0) == footprint(size, 2 * MiB)


@pytest.mark.parametrize("size", [1, MiB, 2 * MiB - 32, 2 * MiB - 31, 2 * MiB, GiB])
def test_y216_pages_by_policy(device, size):
    assert took(size, 1) == footprint(size, 2 * MiB)
    assert took(size, 2) == footprint(size, 4 * KiB)
    assert took(size, 3) == footprint(size, 2 * MiB)
    assert took(size, 4) == footprint(size, 2 * MiB)
    assert took(size, 5) == footprint(size, 4 * KiB)


@pytest.mark.parametrize("policy", [6, 7, 6 | 0x100, 7 | 0x1000, 6 | 0x1100])
@pytest.mark.parametrize("size", [1, GiB - 32, GiB, GiB + 1, 2 * GiB])
def test_y216_one_gib_pages_have_no_extra_bytes(device, policy, size):
    assert took(size, policy) == footprint(size, GiB, extra=0)


@pytest.mark.parametrize("flag", [0x100, 0x1000, 0x1100])
@pytest.mark.parametrize("base", range(6))
def test_y216_combined_policies(device, base, flag):
    for size in (1, MiB + 1, 2 * MiB):
        assert took(size, base | flag) == took(size, base)


def test_y216_read_only_blocks(device):
    for base in (0, 1, 2):
        block = ok(acl.rt.malloc(4096, base | 0x100000))
        assert acl.rt.memset(block, 4096, 0, 4096) == 507899
        assert acl.rt.free(block) == 0
    assert acl.rt.malloc(4096, 6 | 0x100000) == (0, 207000)


@pytest.mark.parametrize("policy", [0, 1, 2, 3, 4, 5, 6, 7, 8, -1, 0x100])
def test_y216_size_zero(device, policy):
    before = free_bytes()
    assert acl.rt.malloc(0, policy) == (0, 100000)
    assert acl.rt.malloc(1 << 64, policy) == (0, 100000), "2**64 is 0"
    assert free_bytes() == before


@pytest.mark.parametrize("size, code", [(SIZE_MAX, 100000), (SIZE_MAX - 62, 100000), (SIZE_MAX - 63, 100000),
                                        (SIZE_MAX - 64, 207001), (1 << 63, 207001), (1 << 48, 207001),
                                        (-1, 100000), (-65, 207001)])
def test_y216_sizes_that_cannot_be(device, size, code):
    before = free_bytes()
    assert acl.rt.malloc(size, 0) == (0, code)
    assert free_bytes() == before


def test_y216_the_same_in_c(device):
    malloc = ctypes.CDLL("libascendcl.so").aclrtMalloc
    malloc.argtypes = [ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint64, ctypes.c_int]

    def in_c(size, policy):
        block = ctypes.c_uint64(0)
        code = malloc(ctypes.byref(block), size, policy)
        return block.value, code

    for policy in list(range(-2, 12)) + [0x100, 0x101, 0x1002, 0x1100, 0x2000, 0x100000, 1 << 30]:
        for size in (0, 1, 4096, MiB, MiB + 1, 2 * MiB - 1, 2 * MiB, SIZE_MAX - 63, SIZE_MAX - 64, 1 << 50):
            assert acl.rt.malloc(size, policy)[1] == (code := in_c(size, policy)[1]), (size, policy)
            if code == 0:
                assert took(size, policy) == took(size, policy, in_c), (size, policy)


def test_y216_fallback_and_shortage(fresh):
    run(fresh, """
        import acl
        MiB = 1 << 20
        assert acl.rt.set_device(0) == 0
        first, ret = acl.rt.malloc(6 * MiB, 1)
        assert ret == 0
        assert acl.rt.malloc(1, 1) == (0, 207001), "huge pages have run out"
        second, ret = acl.rt.malloc(2 * MiB, 0)
        assert ret == 0, "but normal ones are left"
        assert acl.rt.pointer_get_attributes(second)[0]["page_size"] == 4096
        third, ret = acl.rt.malloc(4 * MiB, 2)
        assert ret == 0
        before = acl.rt.get_mem_info(1)
        for policy in (0, 1, 2):
            assert acl.rt.malloc(4 * MiB, policy) == (0, 207001)
        assert acl.rt.get_mem_info(1) == before, "a shortage takes nothing"
        assert acl.rt.free(first) == 0
        assert acl.rt.malloc(4 * MiB, 1)[1] == 0
    """, env={"BELAY_HUGE": "8M", "BELAY_NORMAL": "8M", "BELAY_LEAKS": "off"})


@pytest.mark.parametrize("product, codes", [
    ("A2", [0, 0, 0, 0, 0, 0, 0, 0]), ("A3", [0, 0, 0, 0, 0, 0, 0, 0]), ("950", [0, 0, 0, 0, 0, 0, 0, 0]),
    ("310P", [0, 0, 0, 0, 0, 0, 207000, 207000]), ("910", [0, 0, 0, 0, 0, 0, 207000, 207000]),
    ("310B", [0, 0, 0, 207000, 207000, 207000, 207000, 207000]),
    ("IPV350", [0, 0, 0, 207000, 207000, 207000, 100000, 100000])])
def test_y216_products(fresh, product, codes):
    out = run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        print(*[acl.rt.malloc(64, policy)[1] for policy in range(8)])
    """, env={"BELAY_PRODUCT": product, "BELAY_LEAKS": "off"})
    assert [int(code) for code in out.split()] == codes


def test_y216_950_adds_nothing(fresh):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        for size in (4096, 2 << 20):
            before = acl.rt.get_mem_info(1)[0]
            block, ret = acl.rt.malloc(size, 2)
            assert ret == 0 and before - acl.rt.get_mem_info(1)[0] == size
    """, env={"BELAY_PRODUCT": "950", "BELAY_LEAKS": "off"})


def test_y216_contents_are_not_promised(device):
    """Nothing may rely on zeros: here fresh memory shows a pattern instead."""
    block = ok(acl.rt.malloc(4096, 2))
    assert bytes_at(block, 4096) != bytes(4096)


def test_y216_answers_at_once_whatever_streams_do(device):
    with held_stream() as (stream, hold):
        target = ok(acl.rt.malloc(64, 2))
        ok(acl.rt.memset_async(target, 64, 1, 64, stream))
        start = time.monotonic()
        block = ok(acl.rt.malloc(3 * MiB, 0))
        assert acl.rt.malloc(1 << 50, 0) == (0, 207001)
        host = ok(acl.rt.malloc_host(4096))
        ok(acl.rt.free(block))
        ok(acl.rt.free_host(host))
        assert time.monotonic() - start < 5
        assert not hold.over.is_set(), "the stream is held up still"


def test_y216_many_pairs_leave_nothing_behind(device):
    before = acl.rt.get_mem_info(1)
    for number in range(2000):
        block, ret = acl.rt.malloc(1 + number * 977 % (3 * MiB), number % 3)
        assert ret == 0
        assert acl.rt.free(block) == 0
    assert acl.rt.get_mem_info(1) == before


OUTSIDE = [8, 9, 10, 0xFF, 0x108, 0x200, 0x2000, 0x10000, 0x100008, 0x200000, 1 << 30, (1 << 31) - 1, -1, -2,
           -(1 << 31)]


@pytest.mark.parametrize("policy", OUTSIDE)
def test_y217_policies_outside_the_enumeration(device, policy):
    for size in (1, MiB, MiB + 1, 2 * MiB - 1):
        assert took(size, policy) == footprint(size, 4 * KiB), size
    for size in (2 * MiB, 2 * MiB + 1, 5 * MiB):
        assert took(size, policy) == footprint(size, 2 * MiB), size


@pytest.mark.parametrize("policy", [1 << 31, -(1 << 31) - 1, 1 << 32, (1 << 32) + 1, 1 << 63, 1 << 64,
                                    -(1 << 64)])
def test_y217_beyond_32_bits_never_reaches_c(device, policy):
    before = free_bytes()
    while acl.get_recent_err_msg() is not None:
        pass
    for function in ("malloc", "malloc_align32", "malloc_cached"):
        with pytest.raises(TypeError) as caught:
            getattr(acl.rt, function)(64, policy)
        assert str(caught.value) == parse_text("rt." + function)
    assert free_bytes() == before
    assert acl.get_recent_err_msg() is None


def test_y217_combined_policies_are_numbers(device):
    assert took(1, 1 | 0x1000) == 2 * MiB
    assert took(1, 2 | 0x100) == 4 * KiB
    assert took(2 * MiB, 1 + 0x1000) == 4 * MiB


@pytest.mark.parametrize("size", [1, 31, 64, 4095, 4096, MiB, MiB + 1, 2 * MiB, 5 * MiB + 3])
@pytest.mark.parametrize("policy", [0, 1, 2])
def test_y218_device_memory(device, size, policy):
    block = ok(acl.rt.malloc(size, policy))
    assert acl.rt.memset(block, size, 0, size) == 0, "exactly its size, straight away"
    assert bytes_at(block, size) == bytes(size)
    data = os.urandom(size)
    fill(block, data)
    assert bytes_at(block, size) == data
    assert acl.rt.free(block) == 0


@pytest.mark.parametrize("size", [1, 31, 64, 4095, 4096, MiB, MiB + 1])
def test_y218_host_memory(device, size):
    block = ok(acl.rt.malloc_host(size))
    assert block % 64 == 0
    assert acl.rt.memset(block, size, 0, size) == 0
    assert ctypes.string_at(block, size) == bytes(size)
    data = os.urandom(size)
    ctypes.memmove(block, data, size)
    assert acl.util.ptr_to_bytes(block, size) == data
    assert acl.rt.free_host(block) == 0
    assert acl.rt.free_host(block) == 107000


def plan(lengths):
    """Offsets of segments, and the bytes that all of them need."""
    offset, offsets = 0, []
    for length in lengths:
        m = ((length - 1) // 32 + 1) * 32 + 32
        offsets.append(offset)
        end = offset + m
        offset += ((m - 1) // 64 + 1) * 64
    return offsets, end


def test_y219_the_arithmetic():
    assert plan([100, 100]) == ([0, 192], 192 + 160)
    assert plan([1]) == ([0], 64)
    assert plan([32, 33, 1]) == ([0, 64, 192], 256)


LENGTHS = [1, 31, 32, 33, 64, 100, 4095, 4096, 4097, 100_000]


@pytest.mark.parametrize("maker", ["malloc", "malloc_align32"])
def test_y219_segments_do_not_touch_each_other(device, maker):
    offsets, total = plan(LENGTHS)
    base = ok(getattr(acl.rt, maker)(total, 2))
    parts = [os.urandom(length) for length in LENGTHS]
    for offset, part in zip(offsets, parts):
        assert (base + offset) % 64 == 0
        assert acl.rt.memcpy(base + offset, len(part), acl.util.bytes_to_ptr(part), len(part), 1) == 0
    for offset, part in zip(offsets, parts):
        assert bytes_at(base + offset, len(part)) == part
    for offset in offsets[1:]:
        assert acl.rt.free(base + offset) == 107000, "an address inside cannot be freed"
    assert acl.rt.free(base) == 0


def test_y219_addresses_inside_are_good_everywhere(device):
    base = ok(acl.rt.malloc(64 * KiB, 2))
    inside = base + 192
    stream = ok(acl.rt.create_stream())
    host = ok(acl.rt.malloc_host(4096))
    assert acl.rt.memset(inside, 64, 3, 64) == 0
    assert acl.rt.memset_async(inside + 64, 64, 4, 64, stream) == 0
    assert acl.rt.memcpy_async(host + 64, 128, inside, 128, 2, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert ctypes.string_at(host + 64, 128) == b"\3" * 64 + b"\4" * 64
    assert acl.rt.pointer_get_attributes(inside)[1] == 0
    buffer = acl.create_data_buffer(inside, 64)
    assert acl.get_data_buffer_addr(buffer) == inside
    assert acl.destroy_data_buffer(buffer) == 0
    assert acl.rt.free_host(host + 64) == 107000
    ok(acl.rt.free_host(host))
    ok(acl.rt.free(base))
    ok(acl.rt.destroy_stream(stream))


@pytest.mark.parametrize("form", ["RC", "OPEN_CTRL_CPU"])
def test_y219_host_memory_of_shared_boards(fresh, form):
    run(fresh, """
        import ctypes
        import acl
        assert acl.rt.set_device(0) == 0
        base, ret = acl.rt.malloc_host(100_000)
        assert ret == 0
        offset = 0
        for length in (1, 33, 100, 4097):
            m = ((length - 1) // 32 + 1) * 32 + 32
            ctypes.memset(base + offset, length % 251, length)
            assert acl.rt.memset(base + offset, length, length % 251, length) == 0
            assert acl.util.ptr_to_bytes(base + offset, length) == bytes([length % 251]) * length
            if offset:
                assert acl.rt.free_host(base + offset) == 107000
            offset += ((m - 1) // 64 + 1) * 64
        assert acl.rt.free_host(base) == 0
    """, env={"BELAY_PRODUCT": "310P", "BELAY_FORM": form})
