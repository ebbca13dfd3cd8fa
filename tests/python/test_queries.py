"""Memory figures, attributes of addresses, cache calls, words that streams wait for (Y-112 to Y-118)."""

import ctypes

import pytest

import acl
from arguments import check_arguments
from offered import offered
from support import Word, free_bytes, ok, on_bare_thread, run

MB = 1 << 20


def test_y112_free_before_total(device):
    free, total, ret = acl.rt.get_mem_info(1)
    assert ret == 0 and 0 < free <= total
    address = ok(acl.rt.malloc(64 * MB, 1))
    less, same, ret = acl.rt.get_mem_info(1)
    assert ret == 0 and same == total and free - less == 66 * MB
    ok(acl.rt.free(address))
    assert acl.rt.get_mem_info(1) == (free, total, 0)


def test_y112_the_device_is_the_threads_current_one(device):
    before = free_bytes()
    address = ok(acl.rt.malloc(64 * MB, 1))

    def other():
        ok(acl.rt.set_device(1))
        left = free_bytes()
        ok(acl.rt.reset_device(1))
        return left

    assert on_bare_thread(other) == before
    assert free_bytes() == before - 66 * MB
    ok(acl.rt.free(address))


def test_y112_exact_figures(fresh):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        assert acl.rt.get_mem_info(1) == (6 << 30, 6 << 30, 0)
        """, env={"BELAY_HBM": "6G"})


@pytest.mark.parametrize("product", ["A2", "A3", "950", "910"])
def test_y113_products_without_ddr(fresh, product):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        assert acl.rt.get_mem_info(0) == (0, 0, 0)
        free, total, ret = acl.rt.get_mem_info(1)
        assert ret == 0 and 0 < free <= total
        """, env={"BELAY_PRODUCT": product})


@pytest.mark.parametrize("product", ["310P", "310B"])
def test_y113_products_without_hbm(fresh, product):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        ddr, hbm = acl.rt.get_mem_info(0), acl.rt.get_mem_info(1)
        assert ddr == hbm and ddr[2] == 0 and 0 < ddr[0] <= ddr[1]
        """, env={"BELAY_PRODUCT": product})


@pytest.mark.parametrize("attribute, answer", [
    (-2 ** 31, 107016), (-1, 107016), (2, 0), (5, 0), (7, 0), (17, 0), (18, 107016), (2 ** 31 - 1, 107016)])
def test_y114_a_device_number_is_an_attribute(device, attribute, answer):
    result = acl.rt.get_mem_info(attribute)
    assert len(result) == 3 and result[2] == answer
    if answer:
        assert result[:2] == (0, 0)


def test_y114_two_names_for_three_values_do_not_fit(device):
    with pytest.raises(ValueError):
        _, _ = acl.rt.get_mem_info(device)


@pytest.mark.parametrize("name", ["mem_flush", "mem_invalidate"])
def test_y115_cache_calls(device, name):
    call = getattr(acl.rt, name)
    address = ok(acl.rt.malloc(4096, 2))
    result = call(address, 4096)
    assert type(result) is int and result == 0
    ok(call(address + 100, 1))
    assert call(0, 4096) == 100000
    assert call(address, 0) == 100000
    assert on_bare_thread(lambda: call(address, 4096)) == 107002
    ok(acl.rt.free(address))


def attributes(number, kind, page):
    return {"location": {"id": number, "type": kind}, "page_size": page, "rsv": [0, 0, 0, 0]}


def test_y116_attributes_of_device_memory(device):
    for policy, page in ((2, 4096), (1, 2 * MB)):
        address = ok(acl.rt.malloc(4096, policy))
        assert acl.rt.pointer_get_attributes(address) == (attributes(0, 1, page), 0)
        assert acl.rt.pointer_get_attributes(address + 1000) == (attributes(0, 1, page), 0)
        ok(acl.rt.free(address))


def test_y116_the_number_of_the_device(device):
    ok(acl.rt.set_device(1))
    address = ok(acl.rt.malloc(64, 2))
    assert acl.rt.pointer_get_attributes(address) == (attributes(1, 1, 4096), 0)
    ok(acl.rt.free(address))
    ok(acl.rt.reset_device(1))


def test_y116_attributes_of_host_memory(device):
    host = ok(acl.rt.malloc_host(64))
    assert acl.rt.pointer_get_attributes(host) == (attributes(0, 0, 4096), 0)
    ok(acl.rt.free_host(host))
    data = b"sixteen bytes..."
    assert acl.rt.pointer_get_attributes(acl.util.bytes_to_ptr(data)) == (attributes(0, 2, 0), 0)


def test_y116_managed_memory(device):
    """The vendor's module has no function for it, but C has, and a program may mix both."""
    allocate = ctypes.CDLL("libascendcl.so").aclrtMemAllocManaged
    allocate.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint64, ctypes.c_uint32]
    managed = ctypes.c_void_p()
    assert allocate(ctypes.byref(managed), 2 * MB, 1) == 0
    address = managed.value
    assert acl.rt.pointer_get_attributes(address) == (attributes(0, 3, 2 * MB), 0)
    ok(acl.rt.memset(address, 64, 5, 64))
    assert ctypes.string_at(address, 64) == acl.util.ptr_to_bytes(address, 64) == b"\5" * 64
    ok(acl.rt.free(address))


def test_y116_an_address_in_no_block(device):
    address = ok(acl.rt.malloc(64, 2))
    ok(acl.rt.free(address))
    assert acl.rt.pointer_get_attributes(address) == (attributes(0, 0, 0), 507899)


def test_y117_cmo_is_there_exactly_with_c():
    assert offered("rt.cmo_async", "aclrtCmoAsync")
    check_arguments("rt.cmo_async", "ptr ptr i32 ptr", (0, 64, 0, 0))


def test_y117_cache_operations(device):
    address = ok(acl.rt.malloc(4096, 2))
    made = ok(acl.rt.create_stream())
    ok(acl.rt.memset(address, 4096, 7, 4096))
    for stream in 0, made:
        for kind in range(4):
            assert acl.rt.cmo_async(address, 4096, kind, stream) == 0
        ok(acl.rt.synchronize_stream(stream))
    assert acl.rt.cmo_async(address, 4096, 4, 0) == 207000
    assert acl.rt.cmo_async(address, 0, 0, 0) == acl.rt.cmo_async(0, 4096, 0, 0) == 100000
    back = bytes(4096)
    ok(acl.rt.memcpy(acl.util.bytes_to_ptr(back), 4096, address, 4096, 2))
    assert back == b"\7" * 4096, "no byte changes"
    ok(acl.rt.destroy_stream(made))
    assert acl.rt.cmo_async(address, 4096, 0, made) == 107017
    ok(acl.rt.free(address))


@pytest.fixture
def word(device):
    made = Word()
    yield made
    ok(acl.rt.free(made.address))


@pytest.fixture
def stream(device):
    made = ok(acl.rt.create_stream())
    yield made
    ok(acl.rt.destroy_stream_force(made))


@pytest.mark.parametrize("value", [0, 1, 2 ** 32, 2 ** 63, 2 ** 64 - 1, -1, 2 ** 64 + 5])
def test_y118_write(word, stream, value):
    for where in 0, stream:
        word.write(77)
        result = acl.rt.value_write(word.address, value, 0, where)
        assert type(result) is int and result == 0
        ok(acl.rt.synchronize_stream(where))
        assert word.read() == value % 2 ** 64


@pytest.mark.parametrize("flag, value, holds, not_yet", [
    (0, 5, [5, 6, 5 + 2 ** 63 - 1], [0, 4]),
    (1, 5, [5], [4, 6, 0]),
    (2, 6, [2, 4, 6, 7], [0, 1, 8]),
    (3, 2 ** 64 - 2, [0, 2 ** 64 - 2], [1, 2 ** 64 - 1])])
def test_y118_wait(word, stream, flag, value, holds, not_yet):
    for number in not_yet:
        word.write(number)
        result = acl.rt.value_wait(word.address, value, flag + 2 ** 32, stream)
        assert type(result) is int and result == 0
        assert acl.rt.synchronize_stream_with_timeout(stream, 20) == 507046
        word.write(holds[0])
        ok(acl.rt.synchronize_stream(stream))
    for number in holds:
        word.write(number)
        ok(acl.rt.value_wait(word.address, value, flag, stream))
        ok(acl.rt.value_wait(word.address, value, flag, 0))
        ok(acl.rt.synchronize_device())


def test_y118_a_stream_waits_for_another(word, stream):
    ok(acl.rt.value_wait(word.address, 9, 1, stream))
    assert acl.rt.stream_query(stream) == (1, 0)
    ok(acl.rt.value_write(word.address, 9, 0, 0))
    ok(acl.rt.synchronize_stream(stream))


@pytest.mark.parametrize("offset", [1, 2, 4, 7])
def test_y118_the_address_is_a_multiple_of_8(device, stream, offset):
    address = ok(acl.rt.malloc(64, 2))
    assert acl.rt.value_write(address + offset, 0, 0, stream) == 107000
    assert acl.rt.value_wait(address + offset, 0, 0, stream) == 107000
    ok(acl.rt.value_write(address + 8, 0, 0, stream))
    ok(acl.rt.synchronize_stream(stream))
    ok(acl.rt.free(address))


def test_y118_flags_that_are_none(word, stream):
    for flag in 1, 2 ** 32 - 1, -1:
        assert acl.rt.value_write(word.address, 0, flag, stream) == 107000
    for flag in 4, 2 ** 32 - 1, -1:
        assert acl.rt.value_wait(word.address, 0, flag, stream) == 107000
    assert acl.rt.value_write(0, 0, 0, stream) == 100000
    assert acl.rt.value_wait(0, 0, 0, stream) == 100000
