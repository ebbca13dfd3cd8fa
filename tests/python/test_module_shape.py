"""What the module looks like from outside: files, submodules, names (Y-8 to Y-20)."""

import inspect
import os
import shutil
import subprocess
import sys
import types

import pytest

import acl
from arguments import function
from call_table import CALLS, TABLE, label, there
from offered import exported
from support import ok, run
from vendor_names import RT_NAMES

SUBMODULES = ["rt", "mdl", "media", "op", "blas", "util", "prof", "himpi", "fv"]
UTIL = ["numpy_to_ptr", "numpy_contiguous_to_ptr", "ptr_to_numpy", "bytes_to_ptr", "ptr_to_bytes",
        "start_thread", "stop_thread"]


def public(module):
    return {name for name in dir(module) if not name.startswith("_")}


def every_function():
    for module in [acl] + [getattr(acl, name) for name in SUBMODULES]:
        for name in sorted(public(module)):
            thing = getattr(module, name)
            if not isinstance(thing, types.ModuleType):
                yield module.__name__ + "." + name, thing


@pytest.mark.parametrize("call", CALLS, ids=label)
def test_y2_a_documented_name_is_there_exactly_with_its_c_function(call):
    where, _, name = call.name.rpartition(".")
    module = getattr(acl, where) if where else acl
    assert hasattr(module, name) == there(call)
    assert (name in dir(module)) == there(call)
    if there(call):
        assert callable(getattr(module, name))


def test_y8_one_file_without_a_version_tag():
    assert os.path.basename(acl.__file__) == "acl.so"
    assert os.path.isfile(acl.__file__)


def test_y8_found_through_pythonpath(fresh, tmp_path):
    os.symlink(acl.__file__, str(tmp_path / "acl.so"))
    out = run(fresh, "import acl; print(acl.__file__)", env={"PYTHONPATH": str(tmp_path)})
    assert out.strip() == str(tmp_path / "acl.so")


def starts(python):
    """A name on the path may be a stand-in for a Python that is not there."""
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # a sanitizer takes its time
    return subprocess.run([python, "-c", ""], stderr=subprocess.DEVNULL, env=plain).returncode == 0


def pythons():
    """Every Python of this machine that the module is for."""
    found = {}
    for minor in range(8, 20):
        path = shutil.which("python3.%d" % minor)
        if path and minor != sys.version_info[1] and starts(path):
            found["3.%d" % minor] = path
    found["3.%d" % sys.version_info[1]] = sys.executable
    return [pytest.param(name, path, id=name) for name, path in sorted(found.items())]


@pytest.mark.parametrize("version, python", pythons())
def test_y8_y182_the_same_file_serves_every_python_here(fresh, version, python):
    out = run(fresh, """
        import sys
        import acl
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        address, ret = acl.rt.malloc(4096, 0)
        assert ret == 0
        data, back = b"0123456789abcdef" * 256, bytes(bytearray(4096))
        assert acl.rt.memcpy(address, 4096, acl.util.bytes_to_ptr(data), 4096, 1) == 0
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), 4096, address, 4096, 2) == 0
        assert back == data
        assert acl.rt.free(address) == 0
        print("3.%d" % sys.version_info[1], acl.__file__)
        """, python=python)
    assert out.split() == [version, acl.__file__]


def test_y9_a_module_and_no_package_with_nine_submodules():
    assert isinstance(acl, types.ModuleType)
    assert not hasattr(acl, "__path__")
    modules = {name for name in public(acl) if isinstance(getattr(acl, name), types.ModuleType)}
    assert modules == set(SUBMODULES)
    for name in SUBMODULES:
        assert getattr(acl, name).__name__ == "acl." + name
        assert not hasattr(getattr(acl, name), "__path__")


@pytest.mark.parametrize("name", SUBMODULES)
def test_y10_submodules_are_entered_in_sys_modules(name):
    assert sys.modules["acl." + name] is getattr(acl, name)


def test_y10_they_are_entered_while_acl_is_imported(fresh):
    out = run(fresh, """
        import sys
        before = [name for name in sys.modules if name.split(".")[0] == "acl"]
        import acl
        after = sorted(name for name in sys.modules if name.split(".")[0] == "acl")
        print(len(before), *after)
        """)
    assert out.split() == ["0", "acl"] + sorted("acl." + name for name in SUBMODULES)


@pytest.mark.parametrize("first, then", [
    ("import acl.rt", "acl.rt.memcpy"),
    ("import acl.util as u", "u.bytes_to_ptr"),
    ("from acl import rt", "rt.memcpy"),
    ("from acl.rt import memcpy", "memcpy"),
    ("from acl.media import dvpp_malloc, dvpp_free", "dvpp_malloc"),
    ("import importlib; m = importlib.import_module('acl.himpi')", "m.dvpp_malloc"),
])
def test_y11_any_import_may_be_the_first(fresh, first, then):
    out = run(fresh, "%s\nprint(type(%s).__name__)\n" % (first, then))
    assert out.strip() == "builtin_function_or_method"


def test_y11_an_import_of_what_is_not_there_fails_as_usual(fresh):
    run(fresh, """
        for statement in "import acl.nothing", "from acl.rt import nothing", "from acl import nothing":
            try:
                exec(statement)
            except ImportError:
                continue
            raise AssertionError(statement)
        """)


def test_y12_a_function_imported_by_name_is_the_same_and_works(fresh):
    from acl.rt import memcpy
    assert memcpy is acl.rt.memcpy
    run(fresh, """
        from acl.rt import memcpy, set_device
        import acl
        assert set_device(0) == 0
        source, target = b"sixteen bytes...", bytes(bytearray(16))
        assert memcpy(acl.util.bytes_to_ptr(target), 16, acl.util.bytes_to_ptr(source), 16, 0) == 0
        assert target == source
        """)


def test_y13_functions_are_plain_built_ins():
    count = 0
    for name, thing in every_function():
        count += 1
        assert isinstance(thing, types.BuiltinFunctionType), name
        assert thing.__module__ is None, name
        assert thing.__self__ is None, name
        assert isinstance(thing.__doc__, str) and 0 < len(thing.__doc__) < 1000, name
        assert thing.__name__ == name.rpartition(".")[2]
        assert repr(thing).startswith("<built-in function"), name
        with pytest.raises(ValueError):
            inspect.signature(thing)
    assert count > 100


def test_y14_importing_needs_no_numpy(fresh):
    run(fresh, """
        import sys
        sys.modules["numpy"] = None  # importing it raises ImportError from now on
        import acl
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        address, ret = acl.rt.malloc_host(64)
        assert ret == 0 and len(acl.util.ptr_to_bytes(address, 64)) == 64
        for call, arguments in ((acl.util.numpy_to_ptr, (b"",)), (acl.util.numpy_contiguous_to_ptr, (b"",)),
                                (acl.util.ptr_to_numpy, (address, (1,), 2))):
            try:
                call(*arguments)
            except ImportError:
                continue
            raise AssertionError(call)
        assert acl.rt.free_host(address) == 0
        """)


def test_y14_importing_does_not_load_numpy(fresh):
    run(fresh, """
        import sys
        import acl
        acl.init()
        acl.rt.set_device(0)
        acl.util.bytes_to_ptr(b"abc")
        assert not [name for name in sys.modules if name.split(".")[0] == "numpy"]
        """)


def test_y15_y5_util_has_seven_names():
    assert sorted(public(acl.util)) == sorted(UTIL)
    for name in ("vector_to_ptr", "get_ptr", "ptr_to_vector"):
        with pytest.raises(AttributeError):
            getattr(acl.util, name)


@pytest.mark.parametrize("name", ["bytes_to_ptr", "ptr_to_bytes"])
def test_y5_scripts_look_for_the_bytes_functions_in_dir(name):
    assert name in dir(acl.util)


@pytest.mark.parametrize("name", [
    "MEMCPY_HOST_TO_DEVICE", "ACL_MEM_MALLOC_HUGE_FIRST", "ACL_MEMCPY_DEVICE_TO_HOST", "ACL_SUCCESS",
    "ACL_ERROR_NONE", "ACL_HBM_MEM", "ACL_HOST", "MALLOC_HUGE_FIRST", "ACL_EVENT_SYNC"])
def test_y16_there_are_no_constants(name):
    for module in [acl] + [getattr(acl, sub) for sub in SUBMODULES]:
        assert not hasattr(module, name)
        with pytest.raises(AttributeError):
            getattr(module, name)


def test_y16_the_modules_hold_functions_and_submodules_only():
    for module in [acl] + [getattr(acl, name) for name in SUBMODULES]:
        for name in public(module):
            thing = getattr(module, name)
            assert isinstance(thing, (types.BuiltinFunctionType, types.ModuleType)), "%s.%s" % (module, name)


def test_y17_importing_starts_nothing(fresh, tmp_path):
    run(fresh, """
        import os
        def threads():
            return sorted(os.listdir("/proc/self/task"))
        before = threads()
        import acl
        assert threads() == before
        assert os.listdir(%r) == []
        assert acl.rt.get_device_count()[1] == 0
        """ % str(tmp_path), env={"BELAY_MACHINE": "shape", "BELAY_MACHINES": str(tmp_path)})


def test_y17_a_setting_that_does_not_fit_is_no_matter_for_the_import(fresh):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 507033
        """, env={"BELAY_HBM": "plenty"})


def test_y17_devices_work_without_init(fresh):
    run(fresh, """
        import acl
        count, ret = acl.rt.get_device_count()
        assert ret == 0 and count >= 1
        for device in range(count):
            assert acl.rt.set_device(device) == 0
            assert acl.rt.query_device_status(device) == (0, 0)
            assert acl.rt.reset_device(device) == 0
        """)


@pytest.mark.parametrize("name", sorted(RT_NAMES))
def test_y18_a_vendor_name_is_there_exactly_with_its_c_function(name):
    assert hasattr(acl.rt, name) == exported(RT_NAMES[name])


def test_y18_y187_rt_has_no_names_beyond_the_vendors():
    assert public(acl.rt) <= set(RT_NAMES)


def test_y18_a_function_the_product_lacks_answers_207000(fresh):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        assert acl.rt.host_register(4096, 4096, 0) == (0, 207000)
        assert acl.rt.device_get_uuid(0)[1] == 207000
        """, env={"BELAY_PRODUCT": "310P"})


@pytest.mark.parametrize("name", [
    "set_group", "get_group_count", "create_group_info", "destroy_group_info", "get_all_group_info",
    "get_group_info_detail", "get_mem_uce_info", "mem_uce_repair", "launch_kernel_with_host_args"])
def test_y19_names_of_some_builds_only_are_left_out(name):
    assert not hasattr(acl.rt, name)
    assert name not in dir(acl.rt)


@pytest.mark.parametrize("name", """
    free_with_dev_sync free_host_with_dev_sync memcpy_batch memcpy_batch_async memcpy_batch_v2
    memcpy_batch_async_v2 memcpy_async_with_offset memcpy_to_symbol memcpy_to_symbol_async
    memcpy_from_symbol memcpy_from_symbol_async memset_d32 memset_d32_async memsetd32 mem_alloc_managed
    mem_managed_advise mem_managed_prefetch_async mem_pool_create mem_pool_destroy mem_pool_malloc_async
    mem_set_access mem_get_access mem_get_address_range mem_map_selected_link mem_map_set_link
    cmo_async_with_barrier cmo_wait_barrier cmo_get_desc_size cmo_set_desc cmo_async_with_desc
    allocator_get_by_stream get_symbol_address get_symbol_size mem_retain_allocation_handle
    mem_get_allocation_properties_from_handle mem_p2p_map mem_map_no_access
    reserve_mem_address_no_uc_memory mem_export_to_shareable_handle_v2
    mem_import_from_shareable_handle_v2 mem_set_pid_to_shareable_handle_v2 ipc_mem_set_attr
    ipc_mem_import_pid_inter_server ipc_get_event_handle ipc_open_event_handle get_mem_usage_info
    check_mem_type host_mem_map_capabilities launch_host_func subscribe_host_func process_host_func
    un_subscribe_host_func unsubscribe_host_func""".split())
def test_y20_what_the_vendor_keeps_to_c_has_no_python_name(name):
    assert not hasattr(acl.rt, name)


RANKED = """
    rt.memcpy media.dvpp_malloc util.bytes_to_ptr rt.synchronize_stream util.numpy_to_ptr rt.malloc rt.free
    destroy_data_buffer create_data_buffer media.dvpp_free rt.get_run_mode rt.free_host rt.malloc_host
    rt.create_context get_data_buffer_addr rt.create_stream init rt.destroy_context app_log rt.set_device
    rt.reset_device finalize rt.set_context util.start_thread util.ptr_to_bytes rt.destroy_stream
    util.ptr_to_numpy get_data_buffer_size rt.process_report util.stop_thread rt.get_context rt.get_mem_info
    get_soc_name get_data_buffer_size_v2 rt.memset rt.memcpy_async util.numpy_contiguous_to_ptr
    rt.subscribe_report rt.unsubscribe_report rt.launch_callback data_type_size rt.memset_async
    create_tensor_desc get_tensor_desc_size destroy_tensor_desc""".split()


@pytest.mark.parametrize("name", RANKED)
def test_y3_what_scripts_call_is_there(name):
    assert callable(function(name))


@pytest.mark.parametrize("name", ["rt", "media", "mdl", "util", "op"])
def test_y3_the_submodules_that_scripts_use(name):
    assert isinstance(getattr(acl, name), types.ModuleType)


def test_y4_y7_a_script_as_samples_write_them(fresh):
    out = run(fresh, """
        import acl

        ACL_MEM_MALLOC_HUGE_FIRST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 0, 1, 2, 3

        def check(ret):
            if ret != 0:
                raise Exception("acl call failed", ret, acl.get_recent_err_msg())

        check(acl.init())
        check(acl.rt.set_device(0))
        context, ret = acl.rt.create_context(0)
        check(ret)
        check(acl.rt.set_context(context))
        stream, ret = acl.rt.create_stream()
        check(ret)
        mode, ret = acl.rt.get_run_mode()
        check(ret)
        acl.app_log(1, "mode %s" % mode)
        for attribute in 0, 1:
            free, total, ret = acl.rt.get_mem_info(attribute)
            check(ret)

        size = 4096
        host, ret = acl.rt.malloc_host(size)
        check(ret)
        check(acl.rt.memset(host, size, 7, size))
        device, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST)
        check(ret)
        media, ret = acl.media.dvpp_malloc(size)
        check(ret)
        check(acl.rt.memcpy(device, size, host, size, HOST_TO_DEVICE))
        check(acl.rt.memcpy_async(media, size, device, size, DEVICE_TO_DEVICE, stream))
        check(acl.rt.synchronize_stream(stream))
        result = bytes(bytearray(size))
        check(acl.rt.memcpy(acl.util.bytes_to_ptr(result), size, media, size, DEVICE_TO_HOST))
        assert result == bytes([7]) * size
        assert acl.util.ptr_to_bytes(host, size) == result

        data = acl.create_data_buffer(device, size)
        assert data and acl.get_data_buffer_addr(data) == device and acl.get_data_buffer_size(data) == size
        check(acl.destroy_data_buffer(data))

        seen = []
        thread, err = acl.util.start_thread(lambda given: seen.append(given), [1, 2])
        check(err)
        check(acl.util.stop_thread(thread))
        assert seen == [[1, 2]]

        check(acl.media.dvpp_free(media))
        check(acl.rt.free(device))
        check(acl.rt.free_host(host))
        check(acl.rt.destroy_stream(stream))
        check(acl.rt.destroy_context(context))
        check(acl.rt.reset_device(0))
        check(acl.finalize())
        print("mode", mode)
        """)
    assert out == "mode 1\n"


@pytest.mark.parametrize("name, c_name", [
    ("ipc_mem_get_export_key", "aclrtIpcMemGetExportKey"),
    ("ipc_mem_set_import_pid", "aclrtIpcMemSetImportPid"),
    ("ipc_mem_import_by_key", "aclrtIpcMemImportByKey"),
    ("ipc_mem_close", "aclrtIpcMemClose"),
    ("device_get_bare_tgid", "aclrtDeviceGetBareTgid"),
    ("host_register", "aclrtHostRegister"),
    ("create_event", "aclrtCreateEvent"),
    ("record_event", "aclrtRecordEvent"),
    ("event_elapsed_time", "aclrtEventElapsedTime"),
    ("stream_wait_event", "aclrtStreamWaitEvent"),
    ("get_device", "aclrtGetDevice"),
    ("synchronize_device", "aclrtSynchronizeDevice")])
def test_y6_what_other_programs_use_is_there_exactly_with_c(name, c_name):
    assert hasattr(acl.rt, name) == exported(c_name)


def test_y6_other_programs_measure_with_events_and_ask_for_errors(device):
    first, second = ok(acl.rt.create_event()), ok(acl.rt.create_event())
    ok(acl.rt.record_event(first, 0))
    ok(acl.rt.record_event(second, 0))
    ok(acl.rt.synchronize_device())
    assert ok(acl.rt.event_elapsed_time(first, second)) >= 0
    stream = ok(acl.rt.create_stream())
    ok(acl.rt.stream_wait_event(stream, second))
    ok(acl.rt.synchronize_stream(stream))
    assert ok(acl.rt.get_device()) == device
    assert ok(acl.rt.device_get_bare_tgid()) == os.getpid()
    assert acl.rt.set_device(-1) != 0 and acl.get_recent_err_msg()
    assert acl.get_version()[-1] == 0
    for thing, destroy in ((first, acl.rt.destroy_event), (second, acl.rt.destroy_event),
                           (stream, acl.rt.destroy_stream)):
        ok(destroy(thing))


def test_y1_what_programs_observe_wins_over_documents(device):
    address = ok(acl.rt.malloc(64, 2))
    attributes = ok(acl.rt.pointer_get_attributes(address))
    assert "page_size" in attributes  # documents print pageSize
    ok(acl.rt.free(address))
    event = ok(acl.rt.create_event())
    ok(acl.rt.record_event(event, 0))
    ok(acl.rt.synchronize_device())
    assert acl.rt.query_event(event) == (0, 0)  # documents say 1 is complete
    ok(acl.rt.destroy_event(event))
    acl.rt.free(0)
    assert isinstance(acl.get_recent_err_msg(), str)  # documents say it is a number


def test_y2_the_table_names_each_function_once():
    names = [call.name for call in TABLE]
    assert len(names) == len(set(names)) == 102
    for call in TABLE:
        if there(call):
            assert callable(function(call.name))
