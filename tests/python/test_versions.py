"""Versions of Python and numpy, and where the vendor's module is not followed or must be (Y-182 to Y-187)."""

import ctypes
import gc
import struct
import sys
import weakref

import pytest

import acl
from absent import ROWS as ABSENT
from arguments import refused
from call_table import CALLS
from reports import Reports
from support import bytes_at, fill, ok, run, run_here
from test_module_shape import SUBMODULES, UTIL, public
from vendor_names import RT_NAMES


def symbols_wanted(path):
    """Names that a 64-bit ELF file expects from others, weak ones left out."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:5] == b"\x7fELF\x02"
    order = "<" if data[5] == 1 else ">"
    (start,) = struct.unpack_from(order + "Q", data, 40)
    entry, count = struct.unpack_from(order + "HH", data, 58)
    sections = [struct.unpack_from(order + "IIQQQQIIQQ", data, start + i * entry) for i in range(count)]
    (symbols,) = [section for section in sections if section[1] == 11]  # SHT_DYNSYM
    names = sections[symbols[6]]
    wanted = set()
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        name, info, _, section = struct.unpack_from(order + "IBBH", data, at)
        if section == 0 and info >> 4 == 1:  # undefined and global
            begin = names[4] + name
            wanted.add(data[begin:data.index(b"\0", begin)].decode())
    return wanted


# Functions that came to the interpreter after 3.8.
TOO_NEW = set("""
    Py_NewRef Py_XNewRef Py_Is Py_IsNone Py_IsTrue Py_IsFalse PyObject_CallNoArgs PyObject_CallOneArg
    PyObject_Vectorcall PyObject_VectorcallMethod PyVectorcall_Call PyVectorcall_NARGS PyModule_AddObjectRef
    PyModule_AddType PyModule_Add PyModule_AddFunctions2 PyType_FromModuleAndSpec PyType_GetModule
    PyType_GetModuleState PyType_GetName PyType_GetQualName PyFrame_GetCode PyThreadState_GetFrame
    PyErr_GetRaisedException PyErr_SetRaisedException PyErr_DisplayException PyErr_GetHandledException
    PyErr_SetInterruptEx PyLong_AsInt PyDict_GetItemRef PyDict_GetItemStringRef PyList_GetItemRef
    PyImport_AddModuleRef PyUnicode_EqualToUTF8 PyUnicode_EqualToUTF8AndSize PyWeakref_GetRef
    PyObject_GetOptionalAttr PyMapping_GetOptionalItem PyThread_GetThreadNativeID Py_EnterRecursiveCall
    Py_LeaveRecursiveCall PyGC_Enable PyGC_Disable PyIter_Send Py_IsFinalizing PyThreadState_GetUnchecked
    PyCFunction_GetFunctionEx Py_REFCNT Py_TYPE Py_SIZE Py_SET_REFCNT _Py_IncRef _Py_DecRef
    _Py_SetRefcnt PyUnstable_Module_SetGIL Py_GetConstant Py_GetConstantBorrowed""".split())


def test_y182_y8_the_file_wants_nothing_that_python_3_8_lacks():
    wanted = symbols_wanted(acl.__file__)
    from_python = {name for name in wanted if name.startswith(("Py", "_Py"))}
    assert len(from_python) > 10
    assert not from_python & TOO_NEW
    # private names differ between versions, but for those of the stable interface
    private = {name for name in from_python if name.startswith("_Py")}
    assert private <= {"_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_Dealloc",
                       "_Py_EllipsisObject", "_Py_NotImplementedStruct", "_Py_BuildValue_SizeT",
                       "_PyArg_ParseTuple_SizeT", "_PyObject_CallFunction_SizeT", "_PyObject_CallMethod_SizeT"}


def test_y182_the_file_is_tied_to_no_libpython():
    with open(acl.__file__, "rb") as file:
        assert b"libpython" not in file.read()


def test_y183_the_file_knows_nothing_of_numpy_s_binary_interface():
    with open(acl.__file__, "rb") as file:
        data = file.read()
    assert b"_ARRAY_API" not in data and b"multiarray" not in data


def test_y185_addresses_from_everywhere(device):
    data = bytes(bytearray(range(64)))
    array = (ctypes.c_ubyte * 64)(*range(64))
    host = ok(acl.rt.malloc_host(128))
    ctypes.memmove(host, data, 64)
    ctypes.memmove(host + 64, data, 64)

    class Tensor:
        """What counts of a tensor of another library."""

        def data_ptr(self):
            return ctypes.addressof(array)

    block = ok(acl.rt.malloc(256, 2))
    for source in acl.util.bytes_to_ptr(data), ctypes.addressof(array), host, host + 64, Tensor().data_ptr():
        assert type(source) is int
        for target in block, block + 100:
            ok(acl.rt.memset(block, 256, 0, 256))
            ok(acl.rt.memcpy(target, 64, source, 64, 1))
            assert bytes_at(target, 64) == data
    ok(acl.rt.free(block))
    ok(acl.rt.free_host(host))


def test_y186_sigint_stays_as_it_was(fresh):
    run_here(fresh, """
        import os
        import signal
        import acl
        from waiting import let_time_pass
        before = signal.getsignal(signal.SIGINT)
        thread, err = acl.util.start_thread(lambda _: None, [])
        assert err == 0 and acl.util.stop_thread(thread) == 0
        assert signal.getsignal(signal.SIGINT) is before
        try:
            os.kill(os.getpid(), signal.SIGINT)
            let_time_pass(30)
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("no KeyboardInterrupt")
        """)


def test_y186_a_second_stop_thread_is_a_number():
    thread, err = acl.util.start_thread(lambda _: None, [])
    assert err == 0
    assert acl.util.stop_thread(thread) == 0
    assert acl.util.stop_thread(thread) == 3


class Thing:
    pass


@pytest.mark.parametrize("block_type", [0, 1, 9])
def test_y186_what_a_refused_callback_was_given_is_let_go(device, block_type):
    stream = ok(acl.rt.create_stream())
    given, function = Thing(), Thing()
    function.call = lambda _: None
    seen = weakref.ref(given), weakref.ref(function.call)
    assert acl.rt.launch_callback(function.call, given, block_type, stream) in (107015, 100000)
    del given, function
    gc.collect()
    assert [reference() for reference in seen] == [None, None]
    ok(acl.rt.destroy_stream(stream))


def test_y186_the_traceback_of_a_failing_callback_is_printed(fresh):
    done = fresh("""if True:
        import threading
        import acl
        def bad(_):
            raise LookupError("found nothing")
        assert acl.rt.set_device(0) == 0
        assert acl.rt.subscribe_report(threading.get_ident(), 0) == 0
        assert acl.rt.launch_callback(bad, None, 0, 0) == 0
        try:
            acl.rt.process_report(30000)
        except SystemError as error:
            assert isinstance(error.__cause__, LookupError), error.__cause__
        else:
            raise AssertionError
        """)
    assert done.returncode == 0, done.stderr
    assert "Traceback" in done.stderr and "LookupError: found nothing" in done.stderr


TOP = {call.name for call in CALLS if "." not in call.name} | {
    "float16_to_float", "float_to_float16", "create_tensor_desc", "destroy_tensor_desc",
    "get_tensor_desc_size", "set_tensor_const", "get_cann_version", "get_version_str", "get_cann_attribute",
    "get_cann_attribute_list", "get_device_capability"}


def test_y187_no_names_beyond_the_vendors():
    assert public(acl) - set(SUBMODULES) <= TOP
    assert public(acl.rt) <= set(RT_NAMES)
    assert public(acl.util) == set(UTIL)
    not_run = {name: {row[1] for row in ABSENT if row[0] == name} for name in SUBMODULES}
    assert public(acl.media) == not_run["media"] | {"dvpp_malloc", "dvpp_free", "dvpp_malloc_with_cfg"}
    assert public(acl.himpi) <= {"dvpp_malloc", "dvpp_free", "sys_init", "sys_exit"}
    for name in "mdl", "op", "blas", "prof", "fv":
        assert public(getattr(acl, name)) == not_run[name]


def test_y187_only_init_has_a_default(fresh):
    run(fresh, "import acl\nassert acl.init() == 0\n")
    for name, given in (("rt.malloc", (64,)), ("rt.memcpy", (0, 0, 0, 0)),
                        ("rt.memcpy_async", (0, 0, 0, 0, 1)),
                        ("rt.process_report", ()), ("rt.get_mem_info", ()), ("rt.set_device", ()),
                        ("rt.create_context", ()), ("rt.launch_callback", (print, None, 0)),
                        ("rt.synchronize_stream", ()), ("rt.host_get_device_pointer", (0,)),
                        ("util.ptr_to_bytes", (0,)), ("util.stop_thread", ())):
        refused(name, *given)


def test_y187_null_is_an_int_and_codes_do_not_raise(device):
    assert acl.rt.malloc(0, 0) == (0, 100000)
    assert acl.rt.malloc(1 << 50, 0) == (0, 207001)
    assert acl.get_data_buffer_addr(0) == 0


def test_y187_addresses_are_ints_and_nothing_else(device):
    block = ok(acl.rt.malloc(64, 0))
    stream, event, context = ok(acl.rt.create_stream()), ok(acl.rt.create_event()), ok(acl.rt.get_context())
    for handle in block, stream, event, context:
        assert type(handle) is int
    ok(acl.rt.destroy_event(event))
    ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.free(block))


def test_y187_bytes_to_ptr_does_not_copy(device):
    data = bytes(bytearray(4096))
    address = acl.util.bytes_to_ptr(data)
    assert acl.util.bytes_to_ptr(data) == address
    assert 0 < address - id(data) < sys.getsizeof(data)  # inside the object
    fill(address, b"written here")
    assert data.startswith(b"written here")


def test_y187_memcpy_takes_a_kind_that_does_not_fit(device):
    block = ok(acl.rt.malloc(64, 0))
    data = b"four by sixteen." * 4
    for kind in range(6):
        ok(acl.rt.memset(block, 64, 0, 64))
        ok(acl.rt.memcpy(block, 64, acl.util.bytes_to_ptr(data), 64, kind))
        assert bytes_at(block, 64) == data
    ok(acl.rt.free(block))


def test_y186_a_callback_may_hold_up_a_call_that_the_vendor_would_dead_lock_in(device):
    """destroy_stream waits for a callback that needs the interpreter."""
    stream = ok(acl.rt.create_stream())
    ran = []
    with Reports() as reports:
        ok(acl.rt.subscribe_report(reports.ident, stream))
        ok(acl.rt.launch_callback(ran.append, 1, 1, stream))
        ok(acl.rt.destroy_stream(stream))
    assert ran == [1]
