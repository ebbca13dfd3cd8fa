"""Allocating and freeing (Y-90 to Y-99, M-415)."""

import ctypes
import gc
import os
import re
import resource

import pytest

import acl
from arguments import refused
from support import Word, bytes_at, fill, free_bytes, ok, run

MB = 1 << 20
HUGE_ONLY, NORMAL_ONLY = 1, 2


def footprint(call, *arguments):
    """What a block takes of the device, by the books."""
    before = free_bytes()
    address = ok(call(*arguments))
    taken = before - free_bytes()
    ok(acl.rt.free(address))
    assert free_bytes() == before
    return taken


def usage():
    """What aclrtGetMemUsageInfo knows: {module: bytes}."""
    class Info(ctypes.Structure):
        _fields_ = [("name", ctypes.c_char * 32), ("size", ctypes.c_uint64), ("peak", ctypes.c_uint64),
                    ("reserved", ctypes.c_size_t * 8)]

    rows, filled = (Info * 100)(), ctypes.c_size_t(0)
    library = ctypes.CDLL("libascendcl.so")
    assert library.aclrtGetMemUsageInfo(0, rows, ctypes.c_size_t(100), ctypes.byref(filled)) == 0
    return {row.name.decode(): row.size for row in rows[:filled.value]}


def test_m415_five_python_names(device):
    for call, arguments, free in (
            (acl.rt.malloc, (64, 0), acl.rt.free),
            (acl.media.dvpp_malloc, (64,), acl.media.dvpp_free),
            (acl.himpi.dvpp_malloc, (device, 64), acl.himpi.dvpp_free)):
        dev_ptr, ret = call(*arguments)
        assert type(dev_ptr) is int and dev_ptr > 0 and ret == 0
        assert free(dev_ptr) == 0
        assert free(dev_ptr) != 0


def test_m415_on_failure_the_address_is_0(device):
    assert acl.rt.malloc(2 ** 60, 0) == (0, 207001)
    assert acl.media.dvpp_malloc(2 ** 60) == (0, 207001)
    assert acl.himpi.dvpp_malloc(device, 2 ** 60) == (0, 0xA002800C)


def test_m415_the_number_is_that_of_c(device):
    library = ctypes.CDLL("libascendcl.so")
    out = ctypes.c_void_p()
    for size, policy in ((0, 0), (2 ** 60, 0), (2 ** 64 - 1, 1), (64, 0)):
        code = library.aclrtMalloc(ctypes.byref(out), ctypes.c_size_t(size), policy)
        address, ret = acl.rt.malloc(size, policy)
        assert ret == code
        if ret == 0:
            ok(acl.rt.free(address))
            assert library.aclrtFree(out) == 0


def test_y90_y32_malloc_gives_an_address_and_a_code(device):
    address, ret = acl.rt.malloc(100, 0)
    assert ret == 0 and type(address) is int and address % 64 == 0
    fill(address, bytes(range(100)))
    assert bytes_at(address, 100) == bytes(range(100))
    result = acl.rt.free(address)
    assert type(result) is int and result == 0


def test_y90_the_policy_has_no_default(device):
    refused("rt.malloc", 64)
    refused("rt.malloc_align32", 64)
    refused("rt.malloc_cached", 64)
    refused("rt.malloc_with_cfg", 64, 0)


def test_y90_y91_y92_bytes_taken(device):
    """2 MB cost one huge page, or two with the extra 32 bytes."""
    assert footprint(acl.rt.malloc, 2 * MB, HUGE_ONLY) == 4 * MB
    assert footprint(acl.rt.malloc, 2 * MB - 32, HUGE_ONLY) == 2 * MB
    assert footprint(acl.rt.malloc_align32, 2 * MB, HUGE_ONLY) == 2 * MB
    assert footprint(acl.rt.malloc_align32, 2 * MB + 1, HUGE_ONLY) == 4 * MB
    assert footprint(acl.rt.malloc_cached, 2 * MB, HUGE_ONLY) == 4 * MB
    assert footprint(acl.rt.malloc_cached, 2 * MB - 32, HUGE_ONLY) == 2 * MB


def test_y92_cached_memory_is_as_good_as_any(device):
    address = ok(acl.rt.malloc_cached(4096, 0))
    fill(address, bytes([8]) * 4096)
    assert bytes_at(address, 4096) == bytes([8]) * 4096
    assert ok(acl.rt.pointer_get_attributes(address))["location"] == {"id": 0, "type": 1}
    ok(acl.rt.free(address))


@pytest.mark.parametrize("config", [{}, {"numAttrs": 1, "attrs": [{"attr": 1, "value": {"moduleId": 33}}]}])
def test_y93_with_a_configuration(device, config):
    assert footprint(acl.rt.malloc_with_cfg, 2 * MB, HUGE_ONLY, config) == 2 * MB
    assert footprint(acl.rt.malloc_for_task_scheduler, 2 * MB, HUGE_ONLY, config) == 2 * MB
    address = ok(acl.rt.malloc_host_with_cfg(4096, config))
    ctypes.memset(address, 1, 4096)
    ok(acl.rt.free_host(address))


def with_device(value):
    """The answer to an attribute of type device id, where C takes only 0, the current one."""
    entry = {"attr": 2}
    if value is not None:
        entry["value"] = value
    address, ret = acl.rt.malloc_with_cfg(64, NORMAL_ONLY, {"numAttrs": 1, "attrs": [entry]})
    if ret == 0:
        ok(acl.rt.free(address))
    else:
        assert address == 0
    return ret


def test_y94_y95_the_value_of_an_attribute(device):
    assert with_device({"deviceId": 0}) == 0
    assert with_device({"deviceId": 1}) == 107000
    assert with_device({"deviceId": 999}) == 107000
    assert with_device({"deviceId": 2 ** 32 - 1}) == 107000
    assert with_device(None) == 0  # no value: zeros
    assert with_device({"rsv": [0] * 8}) == 0
    assert with_device({"rsv": []}) == 0
    assert with_device({"rsv": [1]}) == 107000  # the lowest byte of the number
    assert with_device({"rsv": [0, 0, 0, 1]}) == 107000
    assert with_device({"rsv": [0, 0, 0, 0, 9, 9, 9, 9]}) == 0


def test_y94_the_first_known_key_counts(device):
    assert with_device({"moduleId": 0, "deviceId": 1}) == 0
    assert with_device({"deviceId": 1, "moduleId": 0}) == 0
    assert with_device({"deviceId": 1, "rsv": [0]}) == 107000
    assert with_device({"rsv": [1], "deviceId": 0}) == 0
    assert with_device({"moduleId": 1, "rsv": [0]}) == 107000


def test_y94_several_attributes(device):
    attributes = [{"attr": 0, "value": {"rsv": [1, 2, 3]}}, {"attr": 2, "value": {"deviceId": 5}},
                  {"attr": 1, "value": {"moduleId": 33}}, {"attr": 2, "value": {"deviceId": 0}}]
    address = ok(acl.rt.malloc_with_cfg(64, NORMAL_ONLY, {"numAttrs": 4, "attrs": attributes}))
    ok(acl.rt.free(address))
    many = {"numAttrs": 100, "attrs": [{"attr": 1, "value": {"moduleId": 33}}] * 100}
    ok(acl.rt.free(ok(acl.rt.malloc_with_cfg(64, NORMAL_ONLY, many))))


def test_y94_an_attribute_type_that_c_does_not_take(device):
    def answer(call, *arguments):
        return call(*arguments)[1]

    va_flag = {"numAttrs": 1, "attrs": [{"attr": 3, "value": {"moduleId": 0}}]}
    unknown = {"numAttrs": 1, "attrs": [{"attr": 9, "value": {"moduleId": 0}}]}
    own_device = {"numAttrs": 1, "attrs": [{"attr": 2, "value": {"deviceId": 0}}]}
    assert answer(acl.rt.malloc_with_cfg, 64, 0, va_flag) == 107000
    assert answer(acl.rt.malloc_with_cfg, 64, 0, unknown) == 107000
    assert answer(acl.rt.malloc_host_with_cfg, 64, unknown) == 107000
    assert answer(acl.rt.malloc_host_with_cfg, 64, own_device) == 107000


def test_y94_none_is_no_empty_configuration(device):
    for call, arguments in ((acl.rt.malloc_with_cfg, (64, 0)), (acl.rt.malloc_for_task_scheduler, (64, 0)),
                            (acl.rt.malloc_host_with_cfg, (64,))):
        with pytest.raises(TypeError):
            call(*arguments, None)


def test_y94_y95_the_module_id_reaches_the_books(device):
    before = usage()
    config = {"numAttrs": 1, "attrs": [{"attr": 1, "value": {"moduleId": 3}}]}
    address = ok(acl.rt.malloc_with_cfg(MB, NORMAL_ONLY, config))
    assert usage().get("HCCL", 0) - before.get("HCCL", 0) == MB
    ok(acl.rt.free(address))
    config["attrs"][0]["value"]["moduleId"] = 33
    address = ok(acl.rt.malloc_with_cfg(MB, NORMAL_ONLY, config))
    assert usage().get("APP", 0) - before.get("APP", 0) == MB
    ok(acl.rt.free(address))


def test_y94_the_configuration_is_not_changed(device):
    config = {"numAttrs": 2, "attrs": [{"attr": 1, "value": {"moduleId": 33}}, {"attr": 0}]}
    copy = {"numAttrs": 2, "attrs": [{"attr": 1, "value": {"moduleId": 33}}, {"attr": 0}]}
    ok(acl.rt.free(ok(acl.rt.malloc_with_cfg(64, 0, config))))
    assert config == copy


def test_y96_one_free_for_all_device_allocators(device):
    before = free_bytes()
    for address in (ok(acl.rt.malloc(MB, 0)), ok(acl.rt.malloc_align32(MB, 0)),
                    ok(acl.rt.malloc_cached(MB, 0)), ok(acl.rt.malloc_with_cfg(MB, 0, {})),
                    ok(acl.rt.malloc_for_task_scheduler(MB, 0, {}))):
        ok(acl.rt.free(address))
        assert acl.rt.free(address) == 107000
    assert free_bytes() == before
    assert acl.rt.free(0) == 100000


def test_y96_free_does_not_wait_for_streams(device):
    stream, word = ok(acl.rt.create_stream()), Word()
    word.hold(stream)
    address = ok(acl.rt.malloc(64, NORMAL_ONLY))
    before = free_bytes()
    ok(acl.rt.free(address))
    assert free_bytes() > before
    assert acl.rt.stream_query(stream) == (1, 0) and word.read() == 0
    word.release()
    ok(acl.rt.synchronize_stream(stream))
    ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.free(word.address))


def locked():
    """Kilobytes of this process that the system has locked."""
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmLck")).split()[1])


@pytest.mark.parametrize("size", [1, 63, 64, 4096, 4097, 1 << 16])
def test_y97_host_memory(device, size):
    address, ret = acl.rt.malloc_host(size)
    assert ret == 0 and address % 64 == 0
    ctypes.memset(address, 0x5A, size)
    assert ctypes.string_at(address, size) == b"\x5A" * size
    result = acl.rt.free_host(address)
    assert type(result) is int and result == 0
    assert acl.rt.free_host(address) == 107000
    assert acl.rt.free_host(0) == 100000


def lockable():
    """Whether 32 KB more can be locked here. Sanitizers turn mlock into nothing."""
    with open("/proc/self/maps") as maps:
        if re.search(r"lib[at]san", maps.read()):
            return False
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    return os.geteuid() == 0 or limit == resource.RLIM_INFINITY or limit >= (locked() + 32) * 1024


def test_y97_host_memory_is_locked(device):
    """As far as the system lets this process: the tests run with BELAY_PIN=best-effort."""
    expected = 32 if lockable() else 0
    before = locked()
    address = ok(acl.rt.malloc_host(1 << 15))
    assert locked() - before == expected
    ok(acl.rt.free_host(address))
    assert locked() == before


def test_y97_where_host_and_device_are_one(fresh):
    run(fresh, """
        import ctypes
        import acl
        assert acl.rt.set_device(0) == 0
        before = acl.rt.get_mem_info(0)[0]
        host, ret = acl.rt.malloc_host(4096)
        assert ret == 0
        assert before - acl.rt.get_mem_info(0)[0] == 4096  # it is memory of the device
        ctypes.memset(host, 1, 4096)
        assert acl.util.ptr_to_bytes(host, 4096) == bytes([1]) * 4096
        assert acl.rt.free_host(host) == 0
        """, env={"BELAY_PRODUCT": "310B", "BELAY_FORM": "RC"})


def test_y98_python_reads_and_writes_host_memory(device):
    address = ok(acl.rt.malloc_host(256))
    data = bytes(range(256))
    ctypes.memmove(address, data, 256)
    assert ctypes.string_at(address, 256) == data
    assert acl.util.ptr_to_bytes(address, 256) == data
    view = (ctypes.c_ubyte * 256).from_address(address)
    view[3] = 99
    assert acl.util.ptr_to_bytes(address, 4) == bytes([0, 1, 2, 99])
    memory = memoryview(view).cast("B")
    memory[4:8] = b"view"
    assert ctypes.string_at(address + 4, 4) == b"view"
    ok(acl.rt.free_host(address))


def test_y99_nothing_is_freed_behind_the_back_of_the_program(device):
    before = free_bytes()
    kept = []

    def leak():
        address = ok(acl.rt.malloc(4 * MB, HUGE_ONLY))
        kept.append("%x" % address)  # not the object, only what it said
        raise LookupError

    with pytest.raises(LookupError):
        leak()
    gc.collect()
    assert before - free_bytes() == 6 * MB
    ok(acl.rt.free(int(kept[0], 16)))
    assert free_bytes() == before


def test_y99_leaks_are_the_programs_and_end_with_the_process(fresh):
    done = fresh("""if True:
        import sys
        import acl
        assert acl.rt.set_device(0) == 0
        address, ret = acl.rt.malloc(4096, 2)
        assert ret == 0
        acl = None
        del sys.modules["acl"]
        """, env={"BELAY_LEAKS": "report"})
    assert done.returncode == 0
    assert "4096" in done.stderr or "4,096" in done.stderr  # the report at exit names the block
