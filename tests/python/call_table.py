"""The functions of the acl module: names, conversions of the arguments, parts of the result."""

import collections
import textwrap

from arguments import parse_text
from offered import exported

# One row for each function of the chapter. `args` are the conversions of its
# parameters (Y-22; `obj` takes anything), `gives` the parts of its result,
# `c` the C function behind it ("" where there is none).
Call = collections.namedtuple("Call", "name args gives c")


def camel(name):
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _rows(text):
    odd = {
        "get_version": "aclrtGetVersion",
        "get_soc_name": "aclrtGetSocName",
        "rt.set_context": "aclrtSetCurrentContext",
        "rt.get_context": "aclrtGetCurrentContext",
        "rt.unsubscribe_report": "aclrtUnSubscribeReport",
        "rt.get_op_timeout_interval": "aclrtGetOpTimeOutInterval",
        "rt.set_op_execute_timeout_v2": "aclrtSetOpExecuteTimeOutV2",
        "media.dvpp_malloc_with_cfg": "",
        "himpi.sys_init": "",
        "himpi.sys_exit": "",
    }
    prefix = {"": "acl", "rt": "aclrt"}
    for line in textwrap.dedent(text).strip().splitlines():
        call, gives = line.split("->")
        words = call.split()
        where, _, name = words[0].rpartition(".")
        if words[0] in odd:
            c = odd[words[0]]
        elif where == "util":
            c = ""
        elif where == "himpi":
            c = "hi_mpi_" + name
        elif where == "media":
            c = "acl" + name.split("_")[0] + camel(name.split("_", 1)[1])
        else:
            c = prefix[where] + camel(name)
        yield Call(words[0], tuple(words[1:]), tuple(gives.split()), c)


# The one-page table of the module.
TABLE = list(_rows("""
    init [str] -> ret
    finalize -> ret
    finalize_reference -> int ret
    get_version -> int int int ret
    get_soc_name -> str
    get_recent_err_msg -> str
    app_log i32 str -> none
    create_data_buffer ptr ptr -> int
    destroy_data_buffer ptr -> ret
    get_data_buffer_addr ptr -> int
    get_data_buffer_size ptr -> int
    get_data_buffer_size_v2 ptr -> int
    update_data_buffer ptr ptr ptr -> ret
    rt.set_device i32 -> ret
    rt.reset_device i32 -> ret
    rt.reset_device_force i32 -> ret
    rt.get_device -> int ret
    rt.get_device_count -> int ret
    rt.get_run_mode -> int ret
    rt.create_context i32 -> int ret
    rt.destroy_context ptr -> ret
    rt.set_context ptr -> ret
    rt.get_context -> int ret
    rt.create_stream -> int ret
    rt.create_stream_with_config i32 i32 -> int ret
    rt.destroy_stream ptr -> ret
    rt.destroy_stream_force ptr -> ret
    rt.synchronize_stream ptr -> ret
    rt.synchronize_stream_with_timeout ptr i32 -> ret
    rt.synchronize_device -> ret
    rt.synchronize_device_with_timeout i32 -> ret
    rt.stream_query ptr -> int ret
    rt.create_event -> int ret
    rt.create_event_with_flag u32 -> int ret
    rt.create_event_ex_with_flag u32 -> int ret
    rt.destroy_event ptr -> ret
    rt.record_event ptr ptr -> ret
    rt.reset_event ptr ptr -> ret
    rt.stream_wait_event ptr ptr -> ret
    rt.synchronize_event ptr -> ret
    rt.synchronize_event_with_timeout ptr i32 -> ret
    rt.query_event ptr -> int ret
    rt.query_event_status ptr -> int ret
    rt.query_event_wait_status ptr -> int ret
    rt.event_elapsed_time ptr ptr -> float ret
    rt.malloc ptr i32 -> int ret
    rt.malloc_align32 ptr i32 -> int ret
    rt.malloc_cached ptr i32 -> int ret
    rt.malloc_with_cfg ptr i32 cfg -> int ret
    rt.malloc_for_task_scheduler ptr i32 cfg -> int ret
    rt.free ptr -> ret
    rt.malloc_host ptr -> int ret
    rt.malloc_host_with_cfg ptr cfg -> int ret
    rt.free_host ptr -> ret
    rt.memcpy ptr ptr ptr ptr i32 -> ret
    rt.memcpy_async ptr ptr ptr ptr i32 ptr -> ret
    rt.memset ptr ptr i32 ptr -> ret
    rt.memset_async ptr ptr i32 ptr ptr -> ret
    rt.memcpy2d ptr ptr ptr ptr ptr ptr i32 -> ret
    rt.memcpy2d_async ptr ptr ptr ptr ptr ptr i32 ptr -> ret
    rt.get_mem_info i32 -> int int ret
    rt.mem_flush ptr ptr -> ret
    rt.mem_invalidate ptr ptr -> ret
    rt.pointer_get_attributes ptr -> dict ret
    rt.host_register ptr ptr i32 -> int ret
    rt.host_register_v2 u64 u64 u32 -> ret
    rt.host_unregister ptr -> ret
    rt.host_get_device_pointer u64 u32 -> int ret
    rt.reserve_mem_address ptr ptr ptr u64 -> int ret
    rt.release_mem_address ptr -> ret
    rt.unmap_mem ptr -> ret
    rt.free_physical ptr -> ret
    rt.malloc_physical ptr prop u64 -> int ret
    rt.map_mem ptr ptr ptr ptr u64 -> ret
    rt.mem_get_allocation_granularity prop i32 -> int ret
    rt.mem_export_to_shareable_handle ptr i32 u64 -> int ret
    rt.mem_set_pid_to_shareable_handle u64 pids -> ret
    rt.mem_import_from_shareable_handle u64 i32 -> int ret
    rt.device_get_bare_tgid -> int ret
    rt.ipc_mem_get_export_key ptr ptr ptr u64 -> str ret
    rt.ipc_mem_set_import_pid str pids -> ret
    rt.ipc_mem_close str -> ret
    rt.ipc_mem_import_by_key str u64 -> int ret
    rt.device_can_access_peer i32 i32 -> int ret
    rt.device_enable_peer_access i32 u32 -> ret
    rt.device_disable_peer_access i32 -> ret
    rt.device_peer_access_status i32 i32 -> int ret
    rt.subscribe_report u64 ptr -> ret
    rt.unsubscribe_report u64 ptr -> ret
    rt.launch_callback fn obj i32 ptr -> ret
    rt.process_report i32 -> ret
    util.bytes_to_ptr bytes -> int
    util.ptr_to_bytes ptr ptr -> bytes
    util.numpy_to_ptr array -> int
    util.numpy_contiguous_to_ptr array -> int array
    util.ptr_to_numpy ptr shape i32 -> array
    util.start_thread fn obj -> int ret
    util.stop_thread u64 -> ret
    media.dvpp_malloc ptr -> int ret
    media.dvpp_free ptr -> ret
    himpi.dvpp_malloc i32 ptr -> int ret
    himpi.dvpp_free ptr -> ret
"""))

# Functions that the chapter describes further on.
FURTHER = list(_rows("""
    data_type_size i32 -> int
    rt.get_device_info u32 u32 -> int ret
    rt.get_device_utilization_rate i32 -> dict ret
    rt.query_device_status i32 -> int ret
    rt.device_get_uuid i32 -> dict ret
    rt.get_devices_topo u32 u32 -> int ret
    rt.device_get_stream_priority_range -> int int ret
    rt.get_device_capability i32 u32 -> int ret
    rt.get_logic_dev_id_by_user_dev_id i32 -> int ret
    rt.get_user_dev_id_by_logic_dev_id i32 -> int ret
    rt.get_logic_dev_id_by_phy_dev_id i32 -> int ret
    rt.get_phy_dev_id_by_logic_dev_id i32 -> int ret
    rt.peek_at_last_error i32 -> ret
    rt.get_last_error i32 -> ret
    rt.ctx_get_current_default_stream -> int ret
    rt.get_primary_ctx_state i32 -> int int ret
    rt.stream_abort ptr -> ret
    rt.set_stream_failure_mode ptr u32 -> ret
    rt.stream_get_id ptr -> int ret
    rt.get_stream_available_num -> int ret
    rt.set_stream_attribute ptr i32 dict -> ret
    rt.get_stream_attribute ptr i32 -> dict ret
    rt.event_get_timestamp ptr -> int ret
    rt.get_event_id ptr -> int ret
    rt.get_event_avail_num -> int ret
    rt.set_op_wait_timeout u32 -> ret
    rt.memcpy_async_with_condition ptr ptr ptr ptr i32 ptr -> ret
    rt.get_memcpy_desc_size i32 -> int ret
    rt.set_memcpy_desc ptr i32 ptr ptr ptr ptr -> int ret
    rt.memcpy_async_with_desc ptr i32 ptr -> ret
    rt.cmo_async ptr ptr i32 ptr -> ret
    rt.value_write ptr ptr u32 ptr -> ret
    rt.value_wait ptr ptr u32 ptr -> ret
    media.dvpp_malloc_with_cfg ptr i32 cfg -> int ret
    himpi.sys_init -> ret
    himpi.sys_exit -> ret
"""))

CALLS = TABLE + FURTHER

# Y-28: no parameters, and positional arguments are ignored.
NO_PARAMETERS = [call for call in CALLS if not call.args]

# An argument that converts, for each conversion. What C says to it is another matter.
GOOD = {
    "ptr": 0, "u64": 0, "i32": 0, "u32": 0, "str": "", "[str]": "", "cfg": {}, "prop": {}, "dict": {},
    "pids": [], "fn": print, "obj": None, "bytes": b"", "array": None, "shape": (1,),
}

TYPES = {"none": type(None), "int": int, "ret": int, "float": float, "str": str, "dict": dict, "bytes": bytes}


def there(call):
    """Whether the module must have this function."""
    return not call.c or exported(call.c)


PRESENT = [call for call in CALLS if there(call)]


def label(call):
    """The name of a parametrised test."""
    return call.name


def parse_error(name):
    """The text of the TypeError for arguments that do not fit (Y-26)."""
    return parse_text("rt.reset_device_res_limit" if name == "rt.get_devices_topo" else name)


def good_arguments(call):
    """Arguments that convert. What C says to them is another matter."""
    return [GOOD[word] for word in call.args]


def expected_shape(call):
    kinds = tuple(TYPES[word] for word in call.gives)
    return kinds if len(kinds) > 1 else kinds[0]
