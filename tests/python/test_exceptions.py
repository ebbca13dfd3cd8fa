"""What raises, and with which words; everything else is a number (Y-40 to Y-42)."""

import re

import pytest

import acl
from arguments import function
from call_table import PRESENT
from offered import exported
from reports import Reports
from support import free_bytes, ok, run, run_here

TEMPLATE = {"ptr": (0, 1, 8, 4096, 2 ** 63, 2 ** 64 - 1), "u64": (0, 1, 2 ** 64 - 1),
            "i32": (-2 ** 31, -1, 0, 1, 99, 2 ** 31 - 1), "u32": (0, 1, 2 ** 32 - 1)}
# Not called with wild numbers: they read or write where the number says, start something, or raise for a length.
NOT_WILD = {"rt.memcpy", "rt.memcpy_async", "rt.memcpy_async_with_condition", "rt.memcpy2d",
            "rt.memcpy2d_async", "rt.memset", "rt.memset_async", "util.ptr_to_bytes", "util.stop_thread",
            "destroy_data_buffer", "update_data_buffer", "get_data_buffer_addr", "get_data_buffer_size",
            "get_data_buffer_size_v2", "rt.process_report", "rt.host_register", "rt.host_register_v2",
            "rt.ipc_mem_get_export_key"}
WILD = [call for call in PRESENT
        if call.args and call.gives[-1] == "ret" and set(call.args) <= set(TEMPLATE)
        and call.name not in NOT_WILD]


def test_y40_wild_numbers_give_codes_and_never_raise(fresh):
    out = run_here(fresh, """
        import itertools
        import acl
        from arguments import function, shape
        from call_table import expected_shape
        from test_exceptions import TEMPLATE, WILD
        acl.init()
        for call in WILD:
            acl.rt.set_device(0)
            wild = itertools.product(*[TEMPLATE[word] for word in call.args])
            for arguments in itertools.islice(wild, 0, 3000, 11 if len(call.args) > 3 else 1):
                result = function(call.name)(*arguments)
                assert shape(result) == expected_shape(call), (call.name, arguments, result)
        print(len(WILD))
        """)
    assert int(out) == len(WILD) > 50


def test_y40_run_time_failures_are_numbers(device):
    address = ok(acl.rt.malloc(64, 2))
    ok(acl.rt.free(address))
    data = bytes(bytearray(64))
    assert acl.rt.free(address) == 107000
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), 64, address, 64, 2) == 507899
    assert acl.rt.malloc(2 ** 50, 0) == (0, 207001)
    assert acl.rt.destroy_stream(address) == 107017
    assert acl.rt.set_context(address) == 107000


def raises(error, text, call, *arguments):
    with pytest.raises(error) as caught:
        call(*arguments)
    assert type(caught.value) is error
    said = caught.value.args[0]
    assert said == text


KEYED = [("notify_get_export_key", "aclrtNotifyGetExportKey", (12345,)),
         ("ipc_mem_get_export_key", "aclrtIpcMemGetExportKey", (4096, 4096))]


@pytest.mark.parametrize("name, c_name, before", KEYED)
def test_y41_y42_length_of_an_export_key(name, c_name, before):
    assert hasattr(acl.rt, name) == exported(c_name)
    if not exported(c_name):
        return
    call = getattr(acl.rt, name)
    for length in 1024, 1025, 2 ** 32, 2 ** 64 - 1, -1:
        raises(ValueError, "key len should be less than 1024", call, *before, length, 0)
    for length in 0, 65, 1023:
        key, ret = call(*before, length, 0)
        assert key == "" and ret != 0


LISTED = [("ipc_mem_set_import_pid", "aclrtIpcMemSetImportPid", "key"),
          ("mem_set_pid_to_shareable_handle", "aclrtMemSetPidToShareableHandle", 1)]


@pytest.mark.parametrize("name, c_name, first", LISTED)
def test_y41_y42_pid_lists(name, c_name, first):
    assert hasattr(acl.rt, name) == exported(c_name)
    if not exported(c_name):
        return
    call = getattr(acl.rt, name)
    raises(ValueError, "argument 2 only support the format of list", call, first, (1,))
    for pids in ["1"], [None], [1.5], [1, "2"], [2 ** 31], [-2 ** 31 - 1], [2 ** 64]:
        raises(ValueError, "get values from PyList failed", call, first, pids)


@pytest.mark.parametrize("name, c_name, arguments", [
    ("malloc_physical", "aclrtMallocPhysical", lambda prop: (2 ** 21, prop, 0)),
    ("mem_get_allocation_granularity", "aclrtMemGetAllocationGranularity", lambda prop: (prop, 0))])
def test_y41_y42_properties_of_physical_memory(name, c_name, arguments):
    assert exported(c_name)
    call = getattr(acl.rt, name)
    for prop in None, [], 1, "x":
        raises(TypeError, "the aclrtPhysicalMemProp argument is not dict", call, *arguments(prop))
    for location in None, [], 1:
        raises(TypeError, "the aclrtMemLocation argument is not dict", call,
               *arguments({"location": location}))


CONFIGURED = [
    ("rt.malloc_with_cfg", lambda cfg: (64, 2, cfg)),
    ("rt.malloc_for_task_scheduler", lambda cfg: (64, 2, cfg)),
    ("rt.malloc_host_with_cfg", lambda cfg: (64, cfg)),
]
if exported("acldvppMallocWithCfg"):
    CONFIGURED.append(("media.dvpp_malloc_with_cfg", lambda cfg: (64, 2, cfg)))


@pytest.mark.parametrize("name, arguments", CONFIGURED)
def test_y41_y42_y94_configurations(device, name, arguments):
    call = function(name)
    before = free_bytes()
    one = {"attr": 1, "value": {"moduleId": 33}}
    for cfg in None, [], 1, "x", (("numAttrs", 0),):
        raises(TypeError, "pyCfg is not dict!", call, *arguments(cfg))
    for cfg in {"numAttrs": 1}, {"attr": [one]}, {"x": 1}:
        raises(TypeError, "the aclrtMallocAttrValue argument is not dict", call, *arguments(cfg))
    for cfg in ({"numAttrs": 2, "attrs": [one]}, {"numAttrs": 0, "attrs": [one]}, {"attrs": [one]},
                {"numAttrs": 1, "attrs": [one, one]}, {"numAttrs": 1, "attrs": []}):
        raises(KeyError, "The numAttrs inputed does not match the expected numAttrs", call, *arguments(cfg))
    for value in {}, {"vaFlag": 1}, {"moduleid": 33}, {1: 2}:
        cfg = {"numAttrs": 1, "attrs": [{"attr": 1, "value": value}]}
        raises(KeyError, "No valid key found in aclrtMallocAttrValue", call, *arguments(cfg))
    assert free_bytes() == before


@pytest.mark.parametrize("value", [None, 1, "text", bytearray(b"x"), memoryview(b"x"), [1]])
def test_y41_y42_bytes_to_ptr_wants_bytes(value):
    raises(ValueError, "needs an byte as argument", acl.util.bytes_to_ptr, value)


@pytest.mark.parametrize("size", [-1, 2 ** 63, 2 ** 64 - 1, 2 ** 63 - 1])
def test_y41_y42_ptr_to_bytes_of_more_than_there_can_be(size):
    data = b"something"
    raises(ValueError, "convert c pointer to bytes failed", acl.util.ptr_to_bytes,
           acl.util.bytes_to_ptr(data), size)


@pytest.mark.parametrize("value", [None, 1, "x", b"x", [], {}])
def test_y41_y42_only_what_can_be_called_is_a_function(device, value):
    raises(TypeError, "parameter must be callable", acl.util.start_thread, value, [])
    raises(TypeError, "parameter must be callable", acl.rt.launch_callback, value, None, 0, 0)


@pytest.mark.filterwarnings("ignore")
def test_y41_y42_shapes_and_arrays_that_are_none():
    pytest.importorskip("numpy")
    address = acl.util.bytes_to_ptr(b"12345678")
    for shape in None, [8], 8, "8":
        raises(ValueError, "shape is empty", acl.util.ptr_to_numpy, address, shape, 2)
    for shape in (8.0,), ("8",), (None,), (4, 2.0):
        raises(TypeError, "the second argument is not list of int", acl.util.ptr_to_numpy, address, shape, 2)
    for value in None, [1], b"x", 1:
        raises(ValueError, "needs an ndarray as argument", acl.util.numpy_to_ptr, value)
        raises(ValueError, "needs an ndarray as argument", acl.util.numpy_contiguous_to_ptr, value)


def test_y41_no_numpy_is_an_import_error(fresh):
    out = run(fresh, """
        import sys
        sys.modules["numpy"] = None
        import acl
        for name, arguments in (("numpy_to_ptr", ([],)), ("numpy_contiguous_to_ptr", ([],)),
                                ("ptr_to_numpy", (acl.util.bytes_to_ptr(b"12345678"), (8,), 2))):
            try:
                getattr(acl.util, name)(*arguments)
            except ImportError as error:
                print(type(error).__name__)
        """)
    assert re.fullmatch(r"((ImportError|ModuleNotFoundError)\n){3}", out)


def test_y41_text_that_is_not_utf8(fresh):
    """A message repeats the value of a setting; this one is no text in any language."""
    out = run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 507033
        try:
            acl.get_recent_err_msg()
        except UnicodeDecodeError:
            print("UnicodeDecodeError")
        """, env={"BELAY_PRODUCT": "A\udcff2"})
    assert out == "UnicodeDecodeError\n"


def test_y41_a_thread_function_that_raised(fresh):
    out = run(fresh, """
        import acl
        def body(_):
            raise LookupError("lost")
        thread, err = acl.util.start_thread(body, [])
        assert err == 0
        try:
            acl.util.stop_thread(thread)
        except RuntimeError as error:
            print(error)
        """)
    assert out == "exception=LookupError,msg=thread call failed;\n"


def test_y41_a_callback_that_raised(device):
    stream = ok(acl.rt.create_stream())
    with Reports() as reports:
        with reports.serve(stream):
            def bad(_):
                raise LookupError("lost")
            ok(acl.rt.launch_callback(bad, None, 1, stream))
            ok(acl.rt.synchronize_stream(stream))
    assert [type(error) for error in reports.raised] == [SystemError]
    ok(acl.rt.destroy_stream(stream))
