"""The acceptance checks at the end of the chapter on the module."""

import ctypes
import json
import os
import sys

import pytest

import acl
import call_table
from support import ok, run

MODULES = ["rt", "mdl", "media", "op", "blas", "util", "prof", "himpi", "fv"]


def test_y200_a_submodule_first(fresh):
    run(fresh, """
        from acl.rt import memcpy
        import sys
        import acl
        assert acl.rt is sys.modules["acl.rt"]
        assert memcpy is acl.rt.memcpy
        assert callable(memcpy)
    """)


def test_y201_the_names_of_util():
    assert {name for name in dir(acl.util) if name[0] != "_"} == {
        "numpy_to_ptr", "numpy_contiguous_to_ptr", "ptr_to_numpy", "bytes_to_ptr", "ptr_to_bytes",
        "start_thread", "stop_thread"}


@pytest.mark.parametrize("module", [acl, acl.rt], ids=["acl", "acl.rt"])
def test_y202_no_constants(module):
    assert [name for name in dir(module) if isinstance(getattr(module, name), int)] == []


def present(call):
    return call_table.there(call)


ROWS = [call for call in call_table.TABLE if present(call)]


def function(call):
    found = acl
    for part in call.name.split("."):
        found = getattr(found, part)
    return found


def test_y203_the_table_is_the_module():
    for call in call_table.TABLE:
        where, _, name = call.name.rpartition(".")
        assert hasattr(getattr(acl, where) if where else acl, name) == present(call), call.name


@pytest.mark.parametrize("call", [call for call in ROWS if call.args and "[str]" not in call.args],
                         ids=call_table.label)
def test_y203_too_few_arguments(call):
    good = call_table.good_arguments(call)
    for count in range(len(good)):
        with pytest.raises(TypeError) as caught:
            function(call)(*good[:count])
        if call.name == "util.start_thread":
            assert str(caught.value) == "function takes exactly 2 arguments (%d given)" % count
        else:
            assert str(caught.value) == call_table.parse_error(call.name)


@pytest.mark.parametrize("call", ROWS, ids=call_table.label)
def test_y203_no_keyword_arguments(call):
    good = call_table.good_arguments(call)
    for named in ({"size": 1}, {"a": 1, "b": 2}):
        with pytest.raises(TypeError, match="takes no keyword arguments"):
            function(call)(**named)
        with pytest.raises(TypeError, match="takes no keyword arguments"):
            function(call)(*good, **named)


@pytest.mark.parametrize("call", [call for call in ROWS if {"ptr", "u64"} & set(call.args)],
                         ids=call_table.label)
def test_y203_none_is_no_pointer(call):
    arguments = call_table.good_arguments(call)
    first = next(i for i, kind in enumerate(call.args) if kind in ("ptr", "u64"))
    arguments[first] = None
    with pytest.raises(TypeError) as caught:
        function(call)(*arguments)
    assert str(caught.value) == call_table.parse_error(call.name)


# Calls that answer 0, by name; run in this order on one device.
SUCCESS = """
import acl
import threading
rt = acl.rt
results = {}

def call(name, *args):
    function = acl
    for part in name.split("."):
        function = getattr(function, part)
    result = function(*args)
    if isinstance(result, tuple):
        results.setdefault(name, []).append(result)
    return result

assert call("init") == 0
assert call("rt.get_device_count")[-1] == 0
assert call("get_version")[-1] == 0
assert call("rt.get_run_mode")[-1] == 0
assert call("rt.set_device", 0) == 0
assert call("rt.get_device")[-1] == 0
context, ret = call("rt.create_context", 0)
assert ret == 0 and call("rt.get_context") == (context, 0)
stream, ret = call("rt.create_stream")
assert ret == 0
spare, ret = call("rt.create_stream_with_config", 0, 0)
assert ret == 0
assert call("rt.stream_query", stream) == (0, 0)
event, ret = call("rt.create_event")
assert ret == 0
flagged, ret = call("rt.create_event_with_flag", 1)
assert ret == 0
ex, ret = call("rt.create_event_ex_with_flag", 8)
assert ret == 0
for each in (event, flagged, ex):
    assert rt.record_event(each, stream) == 0
assert rt.synchronize_stream(stream) == 0
assert call("rt.query_event", event) == (0, 0)
assert call("rt.query_event_status", event) == (1, 0)
assert call("rt.query_event_wait_status", event) == (0, 0)
assert call("rt.event_elapsed_time", event, event)[-1] == 0
for name, args in (("rt.malloc", (64, 0)), ("rt.malloc_align32", (64, 0)), ("rt.malloc_cached", (64, 0)),
                   ("rt.malloc_with_cfg", (64, 0, {})), ("rt.malloc_for_task_scheduler", (64, 0, {}))):
    block, ret = call(name, *args)
    assert ret == 0
assert call("rt.get_mem_info", 1)[-1] == 0
assert call("rt.pointer_get_attributes", block)[-1] == 0
assert call("rt.malloc_host_with_cfg", 64, {})[-1] == 0
host, ret = call("rt.malloc_host", 8192)
assert ret == 0
assert call("rt.host_register", host, 4096, 0)[-1] == 0
assert rt.host_unregister(host) == 0
assert rt.host_register_v2(host, 4096, 2) == 0
assert call("rt.host_get_device_pointer", host, 0)[-1] == 0
prop = {"memAttr": 13, "location": {"id": 0, "type": 1}}
assert call("rt.reserve_mem_address", 1 << 21, 0, 0, 0)[-1] == 0
handle, ret = call("rt.malloc_physical", 1 << 21, prop, 0)
assert ret == 0
value, ret = call("rt.mem_export_to_shareable_handle", handle, 0, 1)
assert ret == 0
assert call("rt.mem_import_from_shareable_handle", value, 1)[-1] == 0
key, ret = call("rt.ipc_mem_get_export_key", block, 64, 65, 1)
assert ret == 0
assert call("rt.ipc_mem_import_by_key", key, 0)[-1] == 0
assert call("rt.mem_get_allocation_granularity", prop, 0)[-1] == 0
assert call("rt.device_get_bare_tgid")[-1] == 0
assert call("rt.device_can_access_peer", 0, 1)[-1] == 0
assert call("rt.device_peer_access_status", 0, 1)[-1] == 0
assert call("media.dvpp_malloc", 64)[-1] == 0
assert call("himpi.dvpp_malloc", 0, 64)[-1] == 0
ident, err = call("util.start_thread", lambda args: None, [])
assert err == 0 and acl.util.stop_thread(ident) == 0
assert call("finalize_reference")[-1] == 0
"""

# The same functions when they must fail: bad handles and numbers, and nothing set up.
FAILURE = """
import acl
results = {}

def call(name, *args):
    function = acl
    for part in name.split("."):
        function = getattr(function, part)
    result = function(*args)
    results.setdefault(name, []).append(result)
    assert result[-1] != 0, (name, result)

for name, args in (
        ("rt.get_device", ()), ("rt.create_context", (-1,)), ("rt.get_context", ()), ("rt.create_stream", ()),
        ("rt.create_stream_with_config", (0, 0)), ("rt.stream_query", (1,)), ("rt.create_event", ()),
        ("rt.create_event_with_flag", (0,)), ("rt.create_event_ex_with_flag", (0,)), ("rt.query_event", (0,)),
        ("rt.query_event_status", (0,)), ("rt.query_event_wait_status", (0,)),
        ("rt.event_elapsed_time", (0, 0)),
        ("rt.malloc", (0, 0)), ("rt.malloc_align32", (0, 0)), ("rt.malloc_cached", (64, 0)),
        ("rt.malloc_with_cfg", (0, 0, {})), ("rt.malloc_for_task_scheduler", (0, 0, {})),
        ("rt.malloc_host", (0,)),
        ("rt.malloc_host_with_cfg", (0, {})), ("rt.get_mem_info", (99,)), ("rt.pointer_get_attributes", (0,)),
        ("rt.host_register", (0, 0, 0)), ("rt.host_get_device_pointer", (0, 0)),
        ("rt.reserve_mem_address", (0, 0, 0, 0)), ("rt.malloc_physical", (0, {}, 0)),
        ("rt.mem_get_allocation_granularity", ({}, 0)),
        ("rt.mem_export_to_shareable_handle", (0, 0, 0)), ("rt.mem_import_from_shareable_handle", (0, 0)),
        ("rt.ipc_mem_get_export_key", (0, 0, 65, 0)), ("rt.ipc_mem_import_by_key", ("", 0)),
        ("rt.device_can_access_peer", (0, 0)), ("rt.device_peer_access_status", (0, 99)),
        ("media.dvpp_malloc", (64,)), ("himpi.dvpp_malloc", (0, 0))):
    call(name, *args)
assert acl.finalize() == 0
call("finalize_reference")
"""

PRINT = """
import json
print(json.dumps({name: [[type(part).__name__ for part in result] for result in all_of_it]
                  for name, all_of_it in results.items()}))
"""

NEVER_FAILS = {"rt.get_device_count", "get_version", "rt.get_run_mode", "rt.device_get_bare_tgid",
               "util.start_thread"}


@pytest.mark.parametrize("code, missing", [(SUCCESS, set()), (FAILURE, NEVER_FAILS)],
                         ids=["success", "failure"])
def test_y204_tuples_keep_their_length(fresh, code, missing):
    out = run(fresh, code + PRINT, env={"BELAY_LEAKS": "off"})
    seen = json.loads(out)
    for call in ROWS:
        if len(call.gives) < 2 or "array" in call.gives or call.name in missing:
            continue
        kinds = [call_table.TYPES[word].__name__ for word in call.gives]
        assert call.name in seen, "no case here for " + call.name
        assert all(result == kinds for result in seen[call.name]), (call.name, seen[call.name])


def test_y204_no_device_at_all(fresh):
    run(fresh, """
        import acl
        count = acl.rt.get_device_count()
        assert count == (0, 207004), count
    """, env={"ASCEND_RT_VISIBLE_DEVICES": "none"})


TEN = 10 << 20


@pytest.mark.parametrize("maker", ["host", "device", "media"])
@pytest.mark.parametrize("kind", [4, 2])
def test_y205_round_trip_of_10_mib(fresh, maker, kind):
    run(fresh, """
        import acl
        TEN = 10 << 20
        assert acl.rt.set_device(0) == 0
        make = {"host": lambda: acl.rt.malloc_host(TEN), "device": lambda: acl.rt.malloc(TEN, 0),
                "media": lambda: acl.media.dvpp_malloc(TEN)}["%s"]
        block, ret = make()
        assert ret == 0
        assert acl.rt.memset(block, TEN, 7, TEN) == 0
        back = bytes(TEN)
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), TEN, block, TEN, %d) == 0
        assert back.count(7) == TEN
        try:
            import numpy as np
        except ImportError:
            pass
        else:
            assert (np.frombuffer(back, dtype=np.uint8) == 7).all()
    """ % (maker, kind), env={"BELAY_PIN": "best-effort"})


def test_y205_y206_numpy_and_an_address_as_dest_max(device):
    np = pytest.importorskip("numpy")
    size = 1 << 16
    block = ok(acl.rt.malloc(size, 0))
    ok(acl.rt.memset(block, size, 7, size))
    array = np.zeros(size, dtype=np.uint8)
    assert acl.rt.memcpy(array.ctypes.data, array.ctypes.data + 2 * size, block, size, 2) == 0
    assert (array == 7).all()


@pytest.mark.parametrize("size", [1, 64, 4096, 3 << 20])
def test_y206_dest_max(device, size):
    block = ok(acl.rt.malloc(size, 0))
    data = os.urandom(size + 1)
    source = acl.util.bytes_to_ptr(data)
    assert acl.rt.memcpy(block, block + 2 * size, source, size, 1) == 0
    ok(acl.rt.memset(block, size, 0, size))
    assert acl.rt.memcpy(block, size - 1, source, size, 1) == 107000
    back = ctypes.create_string_buffer(size)
    ok(acl.rt.memcpy(ctypes.addressof(back), size, block, size, 2))
    assert back.raw == bytes(size), "and copies nothing"


def test_y209_both_kinds_of_memory(fresh):
    for product in ("A2", "A3", "950", "310P", "910", "310B", "IPV350"):
        run(fresh, """
            import acl
            assert acl.rt.set_device(0) == 0
            for attr in (0, 1):
                free, total, ret = acl.rt.get_mem_info(attr)
                assert ret == 0 and 0 <= free <= total, (attr, free, total, ret)
            assert max(acl.rt.get_mem_info(0)[1], acl.rt.get_mem_info(1)[1]) > 0
        """, env={"BELAY_PRODUCT": product})


RESOURCES = """
import acl

class Resource:
    def __init__(self):
        assert acl.init() == 0
        assert acl.rt.set_device(0) == 0
        self.context, ret = acl.rt.create_context(0)
        assert ret == 0
        self.stream, ret = acl.rt.create_stream()
        assert ret == 0
        self.leaked = [acl.rt.malloc_host(4096)[0] for _ in range(5)]
        self.blocks = [acl.rt.malloc(4096, 0)[0] for _ in range(5)]
        self.answers = print

    def close(self):
        codes = [acl.rt.destroy_context(self.context), acl.rt.reset_device(0), acl.finalize()]
        self.answers(codes, flush=True)
"""
WAYS = {
    "plainly": "it = Resource()\nit.close()\n",
    "__del__": "Resource.__del__ = Resource.close\nit = Resource()\n",
    "__del__ of a cycle": "Resource.__del__ = Resource.close\nit = Resource()\nit.self = it\n",
    "atexit": "import atexit\nit = Resource()\natexit.register(it.close)\n",
    "with work queued": "it = Resource()\nfor block in it.blocks:\n"
                        "    acl.rt.memset_async(block, 4096, 1, 4096, it.stream)\nit.close()\n",
    "__del__ after an exception": "Resource.__del__ = Resource.close\nit = Resource()\n"
                                  "try:\n    raise ValueError\nexcept ValueError:\n    pass\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_y210_context_device_finalize(fresh, way):
    done = fresh(RESOURCES + WAYS[way], env={"BELAY_LEAKS": "off"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[0, 0, 0]", done.stdout + done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr


def test_y210_leaks_are_only_told(fresh):
    done = fresh(RESOURCES + WAYS["__del__"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[0] == "[0, 0, 0]"


def test_y200_y202_every_submodule_is_there():
    for name in MODULES:
        module = getattr(acl, name)
        assert sys.modules["acl." + name] is module
        assert [n for n in dir(module) if isinstance(getattr(module, n), int)] == []
