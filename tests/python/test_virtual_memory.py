"""Virtual memory: addresses, physical memory, and mapping one to the other (Y-123 to Y-130)."""

import ctypes

import pytest

import acl
from arguments import check_arguments
from offered import offered

MiB = 1 << 20
GiB = 1 << 30
HUGE = 13  # ACL_MEM_HUGE
HUGE1G = 14  # ACL_MEM_HUGE1G

ALL = {
    "rt.reserve_mem_address": "aclrtReserveMemAddress",
    "rt.release_mem_address": "aclrtReleaseMemAddress",
    "rt.malloc_physical": "aclrtMallocPhysical",
    "rt.free_physical": "aclrtFreePhysical",
    "rt.map_mem": "aclrtMapMem",
    "rt.unmap_mem": "aclrtUnmapMem",
    "rt.mem_get_allocation_granularity": "aclrtMemGetAllocationGranularity",
}


def on_device(device=0, attr=HUGE):
    return {"handleType": 0, "allocationType": 0, "memAttr": attr, "location": {"id": device, "type": 1},
            "reserve": 0}


@pytest.mark.parametrize("name", sorted(ALL))
def test_y18_the_names_are_there_with_their_c_functions(name):
    assert offered(name, ALL[name])


def test_y123_reserving_addresses(device):
    check_arguments("rt.reserve_mem_address", "ptr ptr ptr u64", (0, 0, 0, 0))
    assert acl.rt.reserve_mem_address(0, 0, 0, 0) == (0, 100000)
    va, ret = acl.rt.reserve_mem_address(2 * MiB, 0, 0, 0)
    assert ret == 0 and va % (2 * MiB) == 0 and va > 0
    # The order of C without its output: size, alignment, wished address, flags.
    assert acl.rt.reserve_mem_address(2 * MiB, 1, 0, 0) == (0, 107000)
    assert acl.rt.reserve_mem_address(2 * MiB, 0, va, 0)[1] == 507899, "taken"
    assert acl.rt.reserve_mem_address(2 * MiB, 0, 0, 2) == (0, 100000)
    assert acl.rt.release_mem_address(va) == 0
    assert acl.rt.reserve_mem_address(2 * MiB, 0, va, 0) == (va, 0), "free again, and the wish is obeyed"
    assert acl.rt.release_mem_address(va) == 0


def test_y123_no_wished_address_on_950(fresh):
    run = fresh("""
import acl
acl.rt.set_device(0)
va, ret = acl.rt.reserve_mem_address(1 << 21, 0, 0, 0)
assert ret == 0
assert acl.rt.release_mem_address(va) == 0
assert acl.rt.reserve_mem_address(1 << 21, 0, va, 0) == (0, 207000)
""", env={"BELAY_PRODUCT": "950"})
    assert run.returncode == 0, run.stderr


def test_y124_releasing_addresses(device):
    check_arguments("rt.release_mem_address", "ptr", (0,))
    assert acl.rt.release_mem_address(0) == 100000
    va, ret = acl.rt.reserve_mem_address(4 * MiB, 0, 0, 0)
    assert ret == 0
    assert acl.rt.release_mem_address(va + 2 * MiB) == 107000
    assert acl.rt.release_mem_address(va) == 0
    assert acl.rt.release_mem_address(va) == 107000


def test_y125_physical_memory_and_its_dict(device):
    check_arguments("rt.malloc_physical", "ptr dict u64", (0, {}, 0))
    for no_dict in (None, [], (), 1, "x"):
        with pytest.raises(TypeError) as caught:
            acl.rt.malloc_physical(2 * MiB, no_dict, 0)
        assert str(caught.value) == "the aclrtPhysicalMemProp argument is not dict"
    for no_dict in (None, [], (0, 1), 1):
        with pytest.raises(TypeError) as caught:
            acl.rt.malloc_physical(2 * MiB, {"memAttr": HUGE, "location": no_dict}, 0)
        assert str(caught.value) == "the aclrtMemLocation argument is not dict"
    handle, ret = acl.rt.malloc_physical(2 * MiB, on_device(), 0)
    assert ret == 0 and handle > 0
    assert acl.rt.free_physical(handle) == 0
    # Every key reaches C: each of these values is refused there, with the number of its own check.
    for change, code in (({"handleType": 2}, 100000), ({"allocationType": 1}, 100000),
                         ({"memAttr": 1}, 100000), ({"reserve": 1}, 107000),
                         ({"location": {"id": 64, "type": 1}}, 107001),
                         ({"location": {"id": 0, "type": 3}}, 100000)):
        assert acl.rt.malloc_physical(2 * MiB, {**on_device(), **change}, 0) == (0, code), change
    assert acl.rt.malloc_physical(0, on_device(), 0) == (0, 100000)
    assert acl.rt.malloc_physical(2 * MiB, on_device(), 1) == (0, 100000)


def test_y125_values_that_do_not_fit(device):
    for key in ("handleType", "allocationType", "memAttr", "reserve"):
        with pytest.raises(ValueError, match="PyLong_As(Unsigned)?Long failed"):
            acl.rt.malloc_physical(2 * MiB, {**on_device(), key: 1 << 64}, 0)
    for key in ("id", "type"):
        with pytest.raises(ValueError, match="PyLong_As(Unsigned)?Long failed"):
            acl.rt.malloc_physical(2 * MiB, {"memAttr": HUGE, "location": {key: 1 << 64}}, 0)


@pytest.mark.parametrize("key, most", [("handleType", 2 ** 31 - 1), ("allocationType", 2 ** 31 - 1),
                                       ("memAttr", 2 ** 31 - 1), ("reserve", 2 ** 64 - 1)])
def test_y125_y30_the_last_value_that_fits(device, key, most):
    assert acl.rt.malloc_physical(2 * MiB, {**on_device(), key: most}, 0)[1] in (100000, 107000)
    for value in most + 1, -1:
        with pytest.raises(ValueError, match="PyLong_As(Unsigned)?Long failed"):
            acl.rt.malloc_physical(2 * MiB, {**on_device(), key: value}, 0)


def test_y125_y30_the_ends_of_a_location(device):
    assert acl.rt.malloc_physical(2 * MiB, on_device(2 ** 32 - 1), 0) == (0, 107001), "all 32 bits are passed on"
    for location in {"id": 2 ** 32, "type": 1}, {"id": -1, "type": 1}, {"id": 0, "type": 2 ** 31}:
        with pytest.raises(ValueError, match="PyLong_As(Unsigned)?Long failed"):
            acl.rt.malloc_physical(2 * MiB, {**on_device(), "location": location}, 0)
    # A node of the host: every bit set stands for any of them.
    node = {"memAttr": HUGE, "location": {"id": 2 ** 32 - 1, "type": 4}}
    handle, ret = acl.rt.malloc_physical(2 * MiB, node, 0)
    assert ret == 0
    assert acl.rt.free_physical(handle) == 0


def test_y125_the_dict_stays_as_it_is(device):
    prop = on_device()
    handle, ret = acl.rt.malloc_physical(2 * MiB, prop, 0)
    assert ret == 0
    assert acl.rt.mem_get_allocation_granularity(prop, 0) == (2 * MiB, 0)
    assert prop == on_device()
    assert acl.rt.free_physical(handle) == 0


def test_y126_missing_keys_count_as_zero(device):
    assert acl.rt.malloc_physical(2 * MiB, {}, 0) == (0, 100000), "attribute 0 is refused"
    misspelled = {"mem_attr": HUGE, "location": {"id": 0, "type": 1}}
    assert acl.rt.malloc_physical(2 * MiB, misspelled, 0) == (0, 100000)
    half = {"memAttr": HUGE, "location": {"id": 64, "type": "1"}}
    assert acl.rt.malloc_physical(2 * MiB, half, 0) == (0, 207000), "type 0 is the host, which has no number 64"
    no_int = {"memAttr": "13", "location": {"id": 0, "type": 1}}
    assert acl.rt.malloc_physical(2 * MiB, no_int, 0) == (0, 100000)
    # Without a place it is host memory.
    handle, ret = acl.rt.malloc_physical(2 * MiB, {"memAttr": HUGE}, 0)
    assert ret == 0
    va, ret = acl.rt.reserve_mem_address(2 * MiB, 0, 0, 0)
    assert ret == 0
    assert acl.rt.map_mem(va, 2 * MiB, 0, handle, 0) == 0
    attrs, ret = acl.rt.pointer_get_attributes(va)
    assert ret == 0 and attrs["location"]["type"] == 0
    ctypes.memset(va, 5, 2 * MiB)
    assert ctypes.string_at(va + 2 * MiB - 1, 1) == b"\5"
    assert acl.rt.unmap_mem(va) == 0
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.release_mem_address(va) == 0


def test_y127_physical_memory_stays_while_it_is_mapped(device):
    check_arguments("rt.free_physical", "ptr", (0,))
    assert acl.rt.free_physical(0) == 100000
    before = acl.rt.get_mem_info(1)[0]
    handle, ret = acl.rt.malloc_physical(2 * MiB, on_device(), 0)
    assert ret == 0
    va, ret = acl.rt.reserve_mem_address(2 * MiB, 0, 0, 0)
    assert ret == 0
    assert acl.rt.map_mem(va, 2 * MiB, 0, handle, 0) == 0
    assert acl.rt.memset(va, 64, 9, 64) == 0
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.get_mem_info(1)[0] == before - 2 * MiB
    back = bytes(64)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), 64, va, 64, 2) == 0
    assert back == b"\x09" * 64
    assert acl.rt.unmap_mem(va) == 0
    assert acl.rt.get_mem_info(1)[0] == before
    assert acl.rt.release_mem_address(va) == 0


def test_y128_mapping(device):
    check_arguments("rt.map_mem", "ptr ptr ptr ptr u64", (0, 0, 0, 0, 0))
    check_arguments("rt.unmap_mem", "ptr", (0,))
    handle, ret = acl.rt.malloc_physical(4 * MiB, on_device(), 0)
    assert ret == 0
    va, ret = acl.rt.reserve_mem_address(8 * MiB, 0, 0, 0)
    assert ret == 0
    assert acl.rt.map_mem(va, 4 * MiB, 2 * MiB, handle, 0) == 107000, "offset"
    assert acl.rt.map_mem(va, 4 * MiB, 0, handle, 1) == 100000, "flags"
    assert acl.rt.map_mem(va, 2 * MiB, 0, handle, 0) == 107000, "less than the physical size"
    assert acl.rt.map_mem(va, 8 * MiB, 0, handle, 0) == 107000, "more than the physical size"
    assert acl.rt.map_mem(0, 4 * MiB, 0, handle, 0) == 100000
    assert acl.rt.map_mem(va, 4 * MiB, 0, 0, 0) == 100000
    assert acl.rt.map_mem(va, 4 * MiB, 0, handle, 0) == 0
    assert acl.rt.unmap_mem(va + 2 * MiB) == 507899
    assert acl.rt.unmap_mem(va) == 0
    assert acl.rt.unmap_mem(va) == 507899
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.release_mem_address(va) == 0


@pytest.mark.parametrize("option", [0, 1])
def test_y129_granularity(device, option):
    check_arguments("rt.mem_get_allocation_granularity", "dict i32", ({}, option))
    assert acl.rt.mem_get_allocation_granularity(on_device(), option) == (2 * MiB, 0)
    assert acl.rt.mem_get_allocation_granularity(on_device(attr=HUGE1G), option) == (GiB, 0)
    assert acl.rt.mem_get_allocation_granularity(on_device(), 2 + option) == (0, 207000)
    with pytest.raises(TypeError) as caught:
        acl.rt.mem_get_allocation_granularity(None, option)
    assert str(caught.value) == "the aclrtPhysicalMemProp argument is not dict"
    with pytest.raises(TypeError) as caught:
        acl.rt.mem_get_allocation_granularity({"location": 1}, option)
    assert str(caught.value) == "the aclrtMemLocation argument is not dict"


def test_y130_the_documented_order(device):
    size = 4 * MiB
    va, ret = acl.rt.reserve_mem_address(size, 0, 0, 0)
    assert ret == 0
    handle, ret = acl.rt.malloc_physical(size, on_device(), 0)
    assert ret == 0
    assert acl.rt.map_mem(va, size, 0, handle, 0) == 0
    data = bytes(range(256)) * 16
    assert acl.rt.memcpy(va + size - len(data), len(data), acl.util.bytes_to_ptr(data), len(data), 1) == 0
    back = bytes(len(data))
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), len(back), va + size - len(data), len(back), 2) == 0
    assert back == data
    assert acl.rt.unmap_mem(va) == 0
    assert acl.rt.memset(va, 64, 0, 64) == 507899, "nothing is mapped there any more"
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.release_mem_address(va) == 0
