"""How results are packed, on success and on failure (Y-32 to Y-39)."""

import pytest

import acl
from arguments import function, shape
from call_table import PRESENT, expected_shape, good_arguments, label
from support import bytes_at, fill, ok, on_bare_thread, run

# Calls that fail, or succeed without a trace. What is not named gets zeros.
FAILING = {
    "init": ("/no/such/directory/acl.json",),
    "app_log": (-1, ""),
    "rt.set_device": (-1,), "rt.reset_device": (-1,), "rt.reset_device_force": (-1,),
    "rt.create_context": (-1,), "rt.get_mem_info": (99,), "rt.device_enable_peer_access": (0, 1),
    "rt.device_peer_access_status": (0, 999), "rt.query_device_status": (-1,),
    "rt.device_get_uuid": (-1,), "rt.get_primary_ctx_state": (-1,),
    "rt.get_device_info": (99, 0), "rt.get_device_capability": (0, 99),
    "rt.get_logic_dev_id_by_user_dev_id": (99,), "rt.get_user_dev_id_by_logic_dev_id": (99,),
    "rt.get_logic_dev_id_by_phy_dev_id": (99,), "rt.get_phy_dev_id_by_logic_dev_id": (99,),
    "rt.memset": (0, 1, 0, 1), "rt.memset_async": (0, 1, 0, 1, 0),
    "rt.memcpy": (0, 1, 0, 1, 1), "rt.memcpy_async": (0, 1, 0, 1, 1, 0),
    "rt.memcpy_async_with_condition": (0, 1, 0, 1, 1, 0),
    "rt.memcpy2d": (0, 1, 0, 1, 1, 1, 1), "rt.memcpy2d_async": (0, 1, 0, 1, 1, 1, 1, 0),
    "rt.get_memcpy_desc_size": (99,), "rt.set_op_wait_timeout": (0,),
    "rt.launch_callback": (print, None, 9, 0),
    "rt.peek_at_last_error": (9,), "rt.get_last_error": (9,),
}
# These have no way to fail in a process that has a device.
ALWAYS = {
    "finalize", "finalize_reference", "get_version", "rt.get_device_count", "rt.get_run_mode",
    "rt.device_get_bare_tgid", "rt.device_get_stream_priority_range", "rt.set_op_wait_timeout",
    "rt.get_device_utilization_rate", "himpi.sys_init", "himpi.sys_exit",
}
OTHERWISE = {"util.start_thread", "util.stop_thread", "util.numpy_to_ptr", "util.numpy_contiguous_to_ptr",
             "util.ptr_to_numpy", "get_soc_name", "get_recent_err_msg", "util.bytes_to_ptr",
             "create_data_buffer"}
CODED = [call for call in PRESENT if call.gives[-1] == "ret" and call.name not in OTHERWISE]


@pytest.mark.parametrize("call", CODED, ids=label)
def test_y32_y33_y35_y36_a_failure_has_the_shape_of_success(call):
    """On a thread without a context everything that needs one fails."""
    arguments = FAILING.get(call.name, good_arguments(call))
    result = on_bare_thread(lambda: function(call.name)(*arguments))
    assert shape(result) == expected_shape(call)
    if call.name not in ALWAYS:
        assert (result if isinstance(result, int) else result[-1]) != 0


def test_y32_success_is_the_int_0(device):
    address = ok(acl.rt.malloc(64, 2))
    for result in acl.rt.memset(address, 64, 0, 64), acl.rt.synchronize_device(), acl.rt.free(address):
        assert type(result) is int and result == 0


def test_y33_outputs_come_first_and_the_code_last(device):
    free, total, ret = acl.rt.get_mem_info(1)
    assert 0 < free <= total and ret == 0
    assert acl.get_version() == (1, 17, 0, 0)
    assert acl.rt.get_device() == (device, 0)
    assert acl.rt.device_get_stream_priority_range() == (7, 0, 0)


def test_y33_y70_primary_context_state_is_the_other_way_round(device):
    assert acl.rt.get_primary_ctx_state(device) == (1, 0, 0)  # active, then flags
    assert acl.rt.get_primary_ctx_state(device + 1) == (0, 0, 0)


def test_y34_a_c_function_that_gives_an_address_gives_a_plain_int():
    handle = acl.create_data_buffer(4096, 64)
    assert type(handle) is int and handle > 0
    assert acl.get_data_buffer_addr(handle) == 4096
    ok(acl.destroy_data_buffer(handle))
    assert acl.get_data_buffer_addr(0) == 0


def test_y34_a_c_function_that_gives_text_gives_str_or_none():
    assert type(acl.get_soc_name()) is str
    acl.rt.free(0)
    assert type(acl.get_recent_err_msg()) is str
    assert acl.get_recent_err_msg() is None


# call, arguments, what comes back on a thread without a context
UNWRITTEN = [
    ("rt.malloc", (64, 0), (0, 107002)),
    ("rt.malloc", (0, 0), (0, 100000)),
    ("rt.malloc_align32", (64, 0), (0, 107002)),
    ("rt.malloc_cached", (64, 0), (0, 107002)),
    ("rt.malloc_with_cfg", (64, 0, {}), (0, 107002)),
    ("rt.malloc_for_task_scheduler", (64, 0, {}), (0, 107002)),
    ("rt.malloc_host", (64,), (0, 107002)),
    ("rt.malloc_host_with_cfg", (64, {}), (0, 107002)),
    ("media.dvpp_malloc", (64,), (0, 107002)),
    ("rt.host_register", (4096, 4096, 0), (0, 107002)),
    ("rt.host_get_device_pointer", (4096, 0), (0, 107002)),
    ("rt.create_context", (-1,), (0, 107001)),
    ("rt.create_stream", (), (0, 107002)),
    ("rt.create_stream_with_config", (0, 0), (0, 107002)),
    ("rt.create_event", (), (0, 107002)),
    ("rt.create_event_with_flag", (8,), (0, 107002)),
    ("rt.create_event_ex_with_flag", (8,), (0, 107002)),
    ("rt.get_context", (), (0, 107002)),
    ("rt.ctx_get_current_default_stream", (), (0, 107002)),
    ("rt.get_device", (), (0, 107002)),
    ("rt.get_mem_info", (1,), (0, 0, 107002)),
    ("rt.get_mem_info", (18,), (0, 0, 107016)),
    ("rt.get_primary_ctx_state", (-1,), (0, 0, 107001)),
    ("rt.get_stream_available_num", (), (0, 107002)),
    ("rt.get_event_avail_num", (), (0, 107002)),
    ("rt.query_device_status", (-1,), (65535, 107001)),
    ("rt.stream_query", (12345,), (65535, 107017)),
    ("rt.query_event", (0,), (0, 100000)),
    ("rt.query_event_status", (0,), (0, 100000)),
    ("rt.query_event_wait_status", (0,), (0, 100000)),
    ("rt.event_elapsed_time", (0, 0), (0.0, 100000)),
    ("rt.event_get_timestamp", (0,), (0, 100000)),
    ("rt.get_event_id", (0,), (0, 100000)),
    ("rt.stream_get_id", (12345,), (0, 107017)),
    ("rt.get_device_info", (2 ** 31, 301), (0, 107000)),
    ("rt.get_devices_topo", (0, 0), (0, 107000)),
    ("rt.get_device_capability", (0, 99), (0, 107000)),
    ("rt.get_logic_dev_id_by_user_dev_id", (-1,), (0, 107000)),
    ("rt.get_memcpy_desc_size", (99,), (0, 100000)),
    ("rt.pointer_get_attributes", (0,),
     ({"location": {"id": 0, "type": 0}, "page_size": 0, "rsv": [0, 0, 0, 0]}, 100000)),
    ("rt.device_get_uuid", (-1,), ({"bytes": [0] * 16}, 107001)),
    ("rt.device_can_access_peer", (0, 0), (0, 100000)),
    ("rt.device_peer_access_status", (0, 999), (0, 107000)),
    ("rt.notify_get_export_key", (12345, 65, 0), ("", 107017)),
]


@pytest.mark.parametrize("name, arguments, result", UNWRITTEN,
                         ids=["%s-%s" % (row[0], row[2][-1]) for row in UNWRITTEN])
def test_y35_y36_outputs_that_c_did_not_write(name, arguments, result):
    got = on_bare_thread(lambda: function(name)(*arguments))
    assert got == result
    assert shape(got) == shape(result)


def test_y35_a_forced_failure_of_an_allocation(device):
    assert acl.rt.malloc(2 ** 60, 0) == (0, 207001)
    assert acl.rt.malloc_host(2 ** 60) == (0, 207001)
    assert acl.media.dvpp_malloc(2 ** 60) == (0, 207001)


def test_y36_null_is_0_and_never_none(device):
    for pointer in acl.rt.malloc(0, 0)[0], acl.rt.create_context(-1)[0], acl.get_data_buffer_addr(0):
        assert type(pointer) is int and pointer == 0


def test_y37_codes_are_signed_ints(device):
    for code in acl.rt.free(0), acl.rt.set_device(-1), acl.media.dvpp_free(0):
        assert 100000 <= code < 600000


def test_y37_codes_of_himpi_are_unsigned(device):
    assert acl.himpi.dvpp_malloc(0, 0) == (0, 0xA0028003)
    assert acl.himpi.dvpp_free(0) == 0xA0028006
    assert acl.himpi.dvpp_free(12345) == 0xA0028003


def test_y37_the_code_of_the_utilization_rate_is_not_negative(device):
    for dev in -1, 0, 2 ** 31 - 1:
        assert 0 <= acl.rt.get_device_utilization_rate(dev)[1] < 2 ** 32


def test_y38_addresses_are_true_ints(device):
    base = ok(acl.rt.malloc(4096, 2))
    host = ok(acl.rt.malloc_host(4096))
    for address in base, host:
        assert type(address) is int and 0 < address < 2 ** 64
        assert bool(address) and int("%#x" % address, 16) == address and {address: 1}[address] == 1
    stride = 1000
    for i in range(4):
        fill(base + i * stride, bytes([i]) * stride)
    assert bytes_at(base, 4000) == b"".join(bytes([i]) * stride for i in range(4))
    ok(acl.rt.memcpy(host + 7, 4000, base + 1001, 100, 2))
    assert acl.util.ptr_to_bytes(host + 7, 100) == bytes([1]) * 100
    assert ok(acl.rt.pointer_get_attributes(base + 17))["location"] == {"id": device, "type": 1}
    ok(acl.rt.free_host(host))
    ok(acl.rt.free(base))


def test_y38_addresses_up_to_the_last_are_not_negative():
    handle = acl.create_data_buffer(2 ** 64 - 1, 2 ** 64 - 1)
    assert acl.get_data_buffer_addr(handle) == 2 ** 64 - 1
    assert acl.get_data_buffer_size_v2(handle) == 2 ** 64 - 1
    ok(acl.destroy_data_buffer(handle))


def test_y39_y186_device_info_has_all_64_bits(fresh):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        total = acl.rt.get_mem_info(1)[1]
        assert total == 40 * 2 ** 30
        assert acl.rt.get_device_info(0, 301) == (total, 0)
        """, env={"BELAY_HBM": "40G"})


def test_y39_y186_the_topology_mask_is_not_cut(device):
    assert acl.rt.get_devices_topo(0, 1) == (1, 0)


@pytest.mark.parametrize("size", [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 5, 2 ** 63,
                                  2 ** 64 - 1])
def test_y39_the_size_of_a_data_buffer_has_32_bits(size):
    handle = acl.create_data_buffer(0, size)
    assert acl.get_data_buffer_size(handle) == size % 2 ** 32
    ok(acl.destroy_data_buffer(handle))


@pytest.mark.parametrize("call", [call for call in PRESENT if call.gives == ("none",)], ids=label)
def test_y32_a_c_function_without_a_result_gives_none(call):
    assert function(call.name)(3, "said once") is None
    assert expected_shape(call) is type(None)
