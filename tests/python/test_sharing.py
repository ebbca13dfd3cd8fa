"""Memory shared between processes."""

import os
import pickle
import uuid

import pytest

import acl
from arguments import check_arguments
from offered import offered

MiB = 1 << 20

HANDLES = {
    "rt.mem_export_to_shareable_handle": "aclrtMemExportToShareableHandle",
    "rt.mem_set_pid_to_shareable_handle": "aclrtMemSetPidToShareableHandle",
    "rt.mem_import_from_shareable_handle": "aclrtMemImportFromShareableHandle",
}
KEYS = {
    "rt.ipc_mem_get_export_key": "aclrtIpcMemGetExportKey",
    "rt.ipc_mem_set_import_pid": "aclrtIpcMemSetImportPid",
    "rt.ipc_mem_import_by_key": "aclrtIpcMemImportByKey",
    "rt.ipc_mem_close": "aclrtIpcMemClose",
}
ON_DEVICE = {"memAttr": 13, "location": {"id": 0, "type": 1}}

# Two processes on one machine: the code of the second is given to the first, which starts it.
TWO_PROCESSES = """
import subprocess, sys, os
import acl

def other(code, *args):
    return subprocess.Popen([sys.executable, "-c", code, *map(str, args)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)

def line(process):
    return process.stdout.readline().strip()

def tell(process, what):
    process.stdin.write(str(what) + "\\n")
    process.stdin.flush()

assert acl.rt.set_device(0) == 0
"""


def together():
    """Settings of a machine that the processes of one test share."""
    return {"BELAY_MACHINE": "pytest-" + uuid.uuid4().hex[:12], "BELAY_HBM": "4G"}


def wrong_lists(call):
    for no_list in ((1,), None, 1, {1}, "1"):
        with pytest.raises(ValueError) as caught:
            call(no_list)
        assert str(caught.value) == "argument 2 only support the format of list"
    for element in ("1", None, 1.5, 1 << 31, -(1 << 31) - 1, 1 << 64):
        with pytest.raises(ValueError) as caught:
            call([element])
        assert str(caught.value) == "get values from PyList failed"


def test_y131_exporting_a_handle(device):
    name = "rt.mem_export_to_shareable_handle"
    if not offered(name, HANDLES[name]):
        return
    check_arguments(name, "ptr i32 u64", (0, 0, 0))
    for flags in (0, 1):
        handle, ret = acl.rt.malloc_physical(2 * MiB, ON_DEVICE, 0)
        assert ret == 0
        shareable, ret = acl.rt.mem_export_to_shareable_handle(handle, 0, flags)
        assert ret == 0 and type(shareable) is int and 0 < shareable < 1 << 64
        assert acl.rt.mem_export_to_shareable_handle(handle, 0, flags)[1] == 507899, "once only"
        assert acl.rt.free_physical(handle) == 0
    assert acl.rt.mem_export_to_shareable_handle(0, 0, 0) == (0, 100000)


def test_y132_pids_of_a_handle(device):
    name = "rt.mem_set_pid_to_shareable_handle"
    if not offered(name, HANDLES[name]):
        return
    check_arguments(name, "u64 list", (0, [1]))
    wrong_lists(lambda pids: acl.rt.mem_set_pid_to_shareable_handle(0, pids))
    handle, ret = acl.rt.malloc_physical(2 * MiB, ON_DEVICE, 0)
    assert ret == 0
    shareable, ret = acl.rt.mem_export_to_shareable_handle(handle, 0, 0)
    assert ret == 0
    assert acl.rt.mem_set_pid_to_shareable_handle(shareable, [os.getpid(), 1]) == 0
    assert acl.rt.mem_set_pid_to_shareable_handle(shareable, []) == 100000, "the count is the length"
    assert acl.rt.mem_set_pid_to_shareable_handle(shareable, [1] * 65536) == 107000
    assert acl.rt.free_physical(handle) == 0


def test_y133_y131_y132_another_process_imports_a_handle(device, fresh):
    name = "rt.mem_import_from_shareable_handle"
    if not offered(name, HANDLES[name]):
        return
    check_arguments(name, "u64 i32", (0, 0))
    assert acl.rt.mem_import_from_shareable_handle(0, 0) == (0, 107017)
    run = fresh(TWO_PROCESSES + """
MiB = 1 << 20
importer = other('''
import acl
assert acl.rt.set_device(0) == 0
pid, ret = acl.rt.device_get_bare_tgid()
assert ret == 0
print(pid, flush=True)
shareable = int(input())
handle, ret = acl.rt.mem_import_from_shareable_handle(shareable, 0)
assert ret == 0
va, ret = acl.rt.reserve_mem_address(2 << 20, 0, 0, 0)
assert ret == 0
assert acl.rt.map_mem(va, 2 << 20, 0, handle, 0) == 0
back = bytes(16)
assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), 16, va, 16, 2) == 0
print(back.hex(), flush=True)
assert acl.rt.unmap_mem(va) == 0
assert acl.rt.free_physical(handle) == 0
assert acl.rt.release_mem_address(va) == 0
''')
handle, ret = acl.rt.malloc_physical(2 * MiB, {"memAttr": 13, "location": {"id": 0, "type": 1}}, 0)
assert ret == 0
va, ret = acl.rt.reserve_mem_address(2 * MiB, 0, 0, 0)
assert ret == 0
assert acl.rt.map_mem(va, 2 * MiB, 0, handle, 0) == 0
assert acl.rt.memset(va, 16, 0xA5, 16) == 0
shareable, ret = acl.rt.mem_export_to_shareable_handle(handle, 0, 0)
assert ret == 0
assert acl.rt.mem_set_pid_to_shareable_handle(shareable, [int(line(importer))]) == 0
tell(importer, shareable)
assert line(importer) == "a5" * 16
assert importer.wait(60) == 0
""", env=together())
    assert run.returncode == 0, run.stderr


def test_y134_the_process_number(device, fresh):
    check_tgid = acl.rt.device_get_bare_tgid
    assert check_tgid() == (os.getpid(), 0)
    assert check_tgid(1, "ignored") == (os.getpid(), 0)
    with pytest.raises(TypeError):
        check_tgid(pid=1)
    run = fresh("""
import os
import acl
parent = acl.rt.device_get_bare_tgid()
assert parent == (os.getpid(), 0)
child = os.fork()
if child == 0:
    os._exit(0 if acl.rt.device_get_bare_tgid() == (os.getpid(), 0) else 1)
assert os.waitpid(child, 0)[1] == 0
""")
    assert run.returncode == 0, run.stderr


def test_y135_export_keys(device):
    name = "rt.ipc_mem_get_export_key"
    if not offered(name, KEYS[name]):
        return
    check_arguments(name, "ptr ptr ptr u64", (0, 0, 65, 0))
    assert acl.rt.ipc_mem_get_export_key(0, 0, 65, 0) == ("", 100000)
    block, ret = acl.rt.malloc(2 * MiB, 0)
    assert ret == 0
    key, ret = acl.rt.ipc_mem_get_export_key(block, 2 * MiB, 65, 0)
    assert ret == 0 and type(key) is str and "\0" not in key
    for length in (1024, 1025, 1 << 32, (1 << 64) - 1, -1):
        with pytest.raises(ValueError) as caught:
            acl.rt.ipc_mem_get_export_key(block, 2 * MiB, length, 0)
        assert str(caught.value) == "key len should be less than 1024"
    longer, ret = acl.rt.ipc_mem_get_export_key(block, 2 * MiB, 1023, 0)
    assert ret == 0 and len(longer) == len(key)
    assert acl.rt.ipc_mem_get_export_key(block, 2 * MiB, 64, 0) == ("", 107000)
    assert acl.rt.ipc_mem_close(key) == 0
    assert acl.rt.ipc_mem_close(longer) == 0


def test_y136_keys_are_short_plain_text(device):
    if not offered("rt.ipc_mem_get_export_key", KEYS["rt.ipc_mem_get_export_key"]):
        return
    keys = []
    for _ in range(20):
        block, ret = acl.rt.malloc(2 * MiB, 0)
        assert ret == 0
        key, ret = acl.rt.ipc_mem_get_export_key(block, 2 * MiB, 65, 1)
        assert ret == 0
        assert 1 <= len(key) <= 64 and key.isascii() and key.isprintable()
        assert pickle.loads(pickle.dumps(key)) == key
        keys.append(key)
    assert len(dict.fromkeys(keys)) == 20, "no two alike"
    for key in keys:
        assert acl.rt.ipc_mem_close(key) == 0


def test_y137_pids_of_a_key(device):
    name = "rt.ipc_mem_set_import_pid"
    if not offered(name, KEYS[name]):
        return
    check_arguments(name, "str list", ("no key", [1]))
    wrong_lists(lambda pids: acl.rt.ipc_mem_set_import_pid("no key", pids))
    block, ret = acl.rt.malloc(2 * MiB, 0)
    assert ret == 0
    key, ret = acl.rt.ipc_mem_get_export_key(block, 2 * MiB, 65, 0)
    assert ret == 0
    assert acl.rt.ipc_mem_set_import_pid(key, [1]) == 0
    assert acl.rt.ipc_mem_set_import_pid(key, list(range(1, 32))) == 0
    assert acl.rt.ipc_mem_set_import_pid(key, list(range(1, 33))) == 107000
    assert acl.rt.ipc_mem_set_import_pid(key, []) == 107000
    assert acl.rt.ipc_mem_close(key) == 0


def test_y138_importing_by_key(device):
    name = "rt.ipc_mem_import_by_key"
    if not offered(name, KEYS[name]):
        return
    check_arguments(name, "str u64", ("no key", 0))
    for flags in (0, 1):
        assert acl.rt.ipc_mem_import_by_key("no key", flags) == (0, 507899)
    assert acl.rt.ipc_mem_import_by_key("no key", 2) == (0, 107000)
    assert acl.rt.ipc_mem_import_by_key("", 0) == (0, 107000)


def test_y139_closing_takes_the_key(device):
    name = "rt.ipc_mem_close"
    if not offered(name, KEYS[name]):
        return
    check_arguments(name, "str", ("no key",))
    assert acl.rt.ipc_mem_close("no key") == 507899
    block, ret = acl.rt.malloc(2 * MiB, 0)
    assert ret == 0
    key, ret = acl.rt.ipc_mem_get_export_key(block, 2 * MiB, 65, 1)
    assert ret == 0
    with pytest.raises(TypeError):
        acl.rt.ipc_mem_close(block)
    assert acl.rt.ipc_mem_close(key) == 0
    assert acl.rt.ipc_mem_close(key) == 507899
    assert acl.rt.free(block) == 0


@pytest.mark.parametrize("flags", [0, 1])
def test_y140_y139_y138_y137_as_programs_share(fresh, flags):
    there = [offered(name, c_name) for name, c_name in KEYS.items()]
    if not all(there):
        return
    run = fresh(TWO_PROCESSES + """
FLAGS = %d
importer = other('''
import acl
assert acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
assert ret == 0
pid, ret = acl.rt.device_get_bare_tgid()
assert ret == 0
print(pid, flush=True)
key = input()
theirs, ret = acl.rt.ipc_mem_import_by_key(key, 0)
assert ret == 0
mine, ret = acl.rt.malloc(1 << 20, 0)
assert ret == 0
assert acl.rt.memcpy_async(mine, 1 << 20, theirs, 1 << 20, 3, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
back = bytes(1 << 20)
assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), len(back), mine, len(back), 2) == 0
print(back == b"\\x5a" * len(back), flush=True)
assert acl.rt.ipc_mem_close(key) == 0
assert acl.rt.ipc_mem_close(key) == 507899
''')
block, ret = acl.rt.malloc(2 << 20, 0)
assert ret == 0
assert acl.rt.memset(block, 2 << 20, 0x5A, 2 << 20) == 0
key, ret = acl.rt.ipc_mem_get_export_key(block, 2 << 20, 65, FLAGS)
assert ret == 0
pid = int(line(importer))
if FLAGS == 0:
    assert acl.rt.ipc_mem_set_import_pid(key, [pid]) == 0
else:
    assert acl.rt.ipc_mem_set_import_pid(key, [pid]) == 207006
tell(importer, key)
assert line(importer) == "True"
assert importer.wait(60) == 0
assert acl.rt.ipc_mem_close(key) == 0
assert acl.rt.free(block) == 0
""" % flags, env=together())
    assert run.returncode == 0, run.stderr
