"""What the chapter leaves open: here stands what the module does."""

import ctypes
import os

import pytest

import acl
from offered import exported, offered
from support import ok, run

LATER_NAMES = {
    "rt.malloc_with_cfg": "aclrtMallocWithCfg", "rt.malloc_host_with_cfg": "aclrtMallocHostWithCfg",
    "rt.malloc_align32": "aclrtMallocAlign32", "rt.host_register": "aclrtHostRegister",
    "rt.host_register_v2": "aclrtHostRegisterV2", "rt.host_unregister": "aclrtHostUnregister",
    "rt.host_get_device_pointer": "aclrtHostGetDevicePointer",
    "rt.ipc_mem_get_export_key": "aclrtIpcMemGetExportKey",
    "rt.ipc_mem_set_import_pid": "aclrtIpcMemSetImportPid",
    "rt.ipc_mem_import_by_key": "aclrtIpcMemImportByKey", "rt.ipc_mem_close": "aclrtIpcMemClose",
}


@pytest.mark.parametrize("name", sorted(LATER_NAMES))
def test_y212_names_that_older_releases_lack(name):
    offered(name, LATER_NAMES[name])  # there with their C function, whatever a release had


def in_c():
    library = ctypes.CDLL("libascendcl.so")
    copy = library.aclrtMemcpy
    copy.argtypes = [ctypes.c_uint64] * 4 + [ctypes.c_int]
    copy.restype = ctypes.c_int
    return copy


def test_y213_memcpy_answers_as_in_c(device):
    a, b = ok(acl.rt.malloc(4096, 2)), ok(acl.rt.malloc(4096, 2))
    data = os.urandom(4096)
    host = acl.util.bytes_to_ptr(data)
    answers = {}
    for label, args in {
            "dest_max below count": (a, 63, host, 64, 1), "dest_max 0": (a, 0, host, 64, 1),
            "count 0": (a, 64, host, 0, 1), "count 0, nothing else right": (0, 0, 0, 0, 99),
            "the same address": (a, 64, a, 64, 3), "the same host address": (host, 64, host, 64, 0),
            "null destination": (0, 64, host, 64, 1), "null source": (a, 64, 0, 64, 1),
            "kind 6": (a, 64, host, 64, 6), "kind -1": (a, 64, host, 64, -1),
            "wrong kind": (a, 64, host, 64, 2),
            "beyond the block": (a, 8192, b, 8192, 3), "plain": (a, 4096, b, 4096, 3)}.items():
        answers[label] = acl.rt.memcpy(*args)
        assert answers[label] == in_c()(*args), label
    assert answers["dest_max below count"] == answers["dest_max 0"] == 107000
    assert answers["count 0"] == answers["count 0, nothing else right"] == 0
    assert answers["the same address"] == answers["the same host address"] == 0


def test_y214_device_limits(device):
    names = ("device_set_limit", "device_get_limit")
    assert len({hasattr(acl.rt, name) for name in names}) == 1, "both or none"
    if not hasattr(acl.rt, "device_get_limit"):
        return
    assert exported("aclrtDeviceGetLimit") and exported("aclrtDeviceSetLimit")
    result = acl.rt.device_get_limit(2)
    assert type(result) is tuple and len(result) == 2
    assert result == (32768, 0)
    assert acl.rt.device_get_limit(99) == (0, 100000)


@pytest.mark.parametrize("product, lacking, main", [("A2", 0, 1), ("A3", 0, 1), ("310P", 1, 0),
                                                    ("310B", 1, 0)])
def test_y215_memory_that_the_device_lacks(fresh, product, lacking, main):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        lacking, main = acl.rt.get_mem_info(%d), acl.rt.get_mem_info(%d)
        assert main[2] == 0 and main[1] > 0, main
        assert lacking in ((0, 0, 0), main), lacking
    """ % (lacking, main), env={"BELAY_PRODUCT": product})


def test_y215_which_of_the_two(fresh):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        assert acl.rt.get_mem_info(0) == (0, 0, 0), "no DDR on an HBM chip"
    """)
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        assert acl.rt.get_mem_info(1) == acl.rt.get_mem_info(0), "HBM is answered with DDR"
    """, env={"BELAY_PRODUCT": "310P"})
