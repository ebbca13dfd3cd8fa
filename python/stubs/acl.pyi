"""AscendCL from Python."""

# Written by make_stubs.py from the docstrings of the module; do not edit.

from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy

def app_log(level: int, text: str, /) -> None:
    """Writes a line of the program's own to the log. Levels: 0 debug, 1 info, 2 warning, 3 error. [Y-55]"""

def create_data_buffer(ptr: int, size: int, /) -> int:
    """Records an address and a size; copies nothing and owns nothing. 0 on failure, never None. [Y-164]"""

def create_tensor_desc(type: int, dims: List[Any], format: int, /) -> int:
    """Describes a tensor; memory programs use it to ask for its size. [Y-56]"""

def data_type_size(type: int, /) -> int:
    """Bytes of one element of a data type. [Y-56]"""

def destroy_data_buffer(handle: int, /) -> int:
    """Frees the record, not the memory. [Y-165]"""

def destroy_tensor_desc(handle: int, /) -> None:
    """Frees the description. [Y-56]"""

def finalize() -> int:
    """Undoes init(). Devices should be reset before. Safe at interpreter shutdown, also from __del__. A second call
    returns 100037. [Y-50]"""

def finalize_reference() -> Tuple[int, int]:
    """Decreases the count of init() by one, and finalizes at zero. `count` is what is left. [Y-51]"""

def float16_to_float(bits: int, /) -> float:
    """The number that 16 bits of half precision mean. [Y-56]"""

def float_to_float16(value: float, /) -> int:
    """The 16 bits of the nearest number of half precision. [Y-56]"""

def get_cann_attribute(attr: int, /) -> Tuple[int, int]:
    """Whether the software has a feature."""

def get_cann_attribute_list() -> Tuple[List[Any], int, int]:
    """All features that get_cann_attribute() knows."""

def get_cann_version(name: int, /) -> Tuple[Dict[str, Any], int]:
    """The version of a package by its number (0 is CANN), with the keys version, major_version, minor_version,
    release_version, patch_version and reserved. The code is unsigned. [Y-37]"""

def get_data_buffer_addr(handle: int, /) -> int:
    """The address in the record. [Y-166]"""

def get_data_buffer_size(handle: int, /) -> int:
    """The size modulo 2**32; use get_data_buffer_size_v2(). [Y-167]"""

def get_data_buffer_size_v2(handle: int, /) -> int:
    """The size in the record. [Y-167]"""

def get_device_capability(dev: int, info: int, /) -> Tuple[int, int]:
    """How much of something, such as cores, a device has."""

def get_recent_err_msg() -> Optional[str]:
    """What went wrong in the last failed calls of this thread: the values, the rule, what to do. None when
    nothing is pending. Reading clears it. [Y-54]"""

def get_soc_name() -> Optional[str]:
    """The name of the chip, such as "Ascend910B1"; None if there is none. It is here, not in acl.rt. [Y-53]"""

def get_tensor_desc_size(handle: int, /) -> int:
    """Bytes that the tensor takes; 0 where a dimension is not known. [Y-56]"""

def get_version() -> Tuple[int, int, int, int]:
    """The version of the interface. [Y-52]"""

def get_version_str(package: str, /) -> Tuple[str, int]:
    """The version of an installed package such as "runtime"; "" and a code if it is not installed."""

def init(config_path: str = ..., /) -> int:
    """Initialises the runtime of this process, once, before anything else. `config_path` names a JSON file; without
    it, or with "", the defaults apply. None is refused. A second call returns 100002, which may be ignored; one
    finalize() undoes any number of them. [Y-48, Y-49]"""

def set_tensor_const(handle: int, ptr: int, length: int, /) -> int:
    """Says that the tensor is constant and where its data is. Accepted; no operator runs here that would use it."""

def update_data_buffer(handle: int, ptr: int, size: int, /) -> int:
    """Puts another address and size into the record. [Y-168]"""

class rt:
    @staticmethod
    def cmo_async(src: int, size: int, cmo_type: int, stream: int, /) -> int:
        """Has the stream prefetch a range into the cache (type 0; 1 write back, 2 invalidate, 3 flush). No byte changes.
        [Y-117, V-355]"""

    @staticmethod
    def create_context(dev: int, /) -> Tuple[int, int]:
        """Makes a context on a device and makes it current for this thread. [Y-67]"""

    @staticmethod
    def create_event() -> Tuple[int, int]:
        """Makes an event: a point in the order of a stream, to wait for and to measure time with. [Y-81]"""

    @staticmethod
    def create_event_ex_with_flag(flag: int, /) -> Tuple[int, int]:
        """With flags, for an event that may be recorded again and again. [Y-81]"""

    @staticmethod
    def create_event_with_flag(flag: int, /) -> Tuple[int, int]:
        """With flags: 1 sync, 2 capture progress, 8 time line. [Y-81]"""

    @staticmethod
    def create_notify(flag: int, /) -> Tuple[int, int]:
        """Makes a notify: a flag that one stream sets and another waits for and clears."""

    @staticmethod
    def create_stream() -> Tuple[int, int]:
        """Makes a stream in the current context. Work on it runs in order, and independently of other streams. [Y-72]"""

    @staticmethod
    def create_stream_with_config(priority: int, flag: int, /) -> Tuple[int, int]:
        """The same with a priority from 0 (most urgent) to 7, and flags. [Y-73]"""

    @staticmethod
    def ctx_get_current_default_stream() -> Tuple[int, int]:
        """The stream that 0 means in the current context. [Y-69]"""

    @staticmethod
    def ctx_get_sys_param_opt(opt: int, /) -> Tuple[int, int]:
        """An option of the current context."""

    @staticmethod
    def ctx_set_sys_param_opt(opt: int, value: int, /) -> int:
        """Sets an option of the current context."""

    @staticmethod
    def destroy_context(ctx: int, /) -> int:
        """Ends a context that create_context() made, with its streams; waits for their work. [Y-68, Y-71]"""

    @staticmethod
    def destroy_event(event: int, /) -> int:
        """Ends an event. [Y-82]"""

    @staticmethod
    def destroy_notify(notify: int, /) -> int:
        """Ends a notify."""

    @staticmethod
    def destroy_stream(stream: int, /) -> int:
        """Waits for the work of the stream, then ends it. [Y-74]"""

    @staticmethod
    def destroy_stream_force(stream: int, /) -> int:
        """Drops the work of the stream and ends it. [Y-74]"""

    @staticmethod
    def device_can_access_peer(dev: int, peer: int, /) -> Tuple[int, int]:
        """Whether one device can reach the memory of another. [Y-141]"""

    @staticmethod
    def device_disable_peer_access(peer: int, /) -> int:
        """Ends this access. [Y-141]"""

    @staticmethod
    def device_enable_peer_access(peer: int, flags: int, /) -> int:
        """Lets the current device reach the memory of `peer`; `flags` is 0. [Y-141]"""

    @staticmethod
    def device_get_bare_tgid() -> Tuple[int, int]:
        """The id of this process, for lists of processes that share memory or notifies. [Y-134]"""

    @staticmethod
    def device_get_stream_priority_range() -> Tuple[int, int, int]:
        """The priorities that streams may have; smaller is more urgent. [Y-65]"""

    @staticmethod
    def device_get_uuid(dev: int, /) -> Tuple[Dict[str, Any], int]:
        """{"bytes": [16 ints]}. [Y-64]"""

    @staticmethod
    def device_peer_access_status(dev: int, peer: int, /) -> Tuple[int, int]:
        """0 off, 1 on. [Y-141]"""

    @staticmethod
    def device_task_abort(dev: int, ms: int, /) -> int:
        """Stops and drops the work of a device; waits at most `ms` milliseconds for that, 0 for ever."""

    @staticmethod
    def event_elapsed_time(start: int, end: int, /) -> Tuple[float, int]:
        """Milliseconds between two recorded events. [Y-88]"""

    @staticmethod
    def event_get_timestamp(event: int, /) -> Tuple[int, int]:
        """When the event was reached, in microseconds. [Y-89]"""

    @staticmethod
    def free(ptr: int, /) -> int:
        """Frees a block of any device allocator at once, without waiting for streams that may still use it. Only the start of a block can be freed. [Y-96]"""

    @staticmethod
    def free_host(ptr: int, /) -> int:
        """Frees a block of malloc_host(), at once. [Y-97]"""

    @staticmethod
    def free_physical(handle: int, /) -> int:
        """Gives physical memory back; while it is mapped it stays until unmap_mem. [Y-127, V-126]"""

    @staticmethod
    def get_context() -> Tuple[int, int]:
        """The context of this thread; 0 and 107002 without one. [Y-68]"""

    @staticmethod
    def get_device() -> Tuple[int, int]:
        """The device of this thread. Without one `ret` is 107002 and `dev` 0. [Y-58]"""

    @staticmethod
    def get_device_capability(dev: int, feature: int, /) -> Tuple[int, int]:
        """Whether a device has a feature. [Y-65]"""

    @staticmethod
    def get_device_count() -> Tuple[int, int]:
        """How many devices this process sees; works before init(). Always a pair. [Y-59]"""

    @staticmethod
    def get_device_id_from_exception_info(info: int, /) -> int:
        """The device of the task."""

    @staticmethod
    def get_device_info(dev: int, attr: int, /) -> Tuple[int, int]:
        """An attribute of a device, in full 64 bits. [Y-61, Y-186]"""

    @staticmethod
    def get_device_res_limit(dev: int, type: int, /) -> Tuple[int, int]:
        """How many cores of a type this process may use."""

    @staticmethod
    def get_device_sat_mode() -> Tuple[int, int]:
        """What the device's numbers do on overflow."""

    @staticmethod
    def get_device_utilization_rate(dev: int, /) -> Tuple[Dict[str, Any], int]:
        """Percentages with the keys cube_utilization, vector_utilization, aicpu_utilization, memory_utilization and
        utilization_extend. The code is unsigned. [Y-62]"""

    @staticmethod
    def get_devices_topo(dev: int, other: int, /) -> Tuple[int, int]:
        """How two devices are connected. [Y-65]"""

    @staticmethod
    def get_error_code_from_exception_info(info: int, /) -> int:
        """Why it failed."""

    @staticmethod
    def get_event_avail_num() -> Tuple[int, int]:
        """How many events can still be made. [Y-89]"""

    @staticmethod
    def get_event_id(event: int, /) -> Tuple[int, int]:
        """The number of the event. [Y-89, Y-27]"""

    @staticmethod
    def get_last_error(level: int, /) -> int:
        """The last error of this thread; `level` is 0. It is cleared. [Y-66]"""

    @staticmethod
    def get_logic_dev_id_by_phy_dev_id(id: int, /) -> Tuple[int, int]:
        """From the physical number. [Y-65]"""

    @staticmethod
    def get_logic_dev_id_by_user_dev_id(id: int, /) -> Tuple[int, int]:
        """The device's number in the machine, from the number that this process sees. [Y-65]"""

    @staticmethod
    def get_mem_info(attr: int, /) -> Tuple[int, int, int]:
        """Free and total bytes of the current device. `attr` is a kind of memory, not a device: 0 DDR, 1 HBM, 4 HBM huge
        pages, 5 HBM normal pages, ... [Y-112, Y-113]"""

    @staticmethod
    def get_memcpy_desc_size(kind: int, /) -> Tuple[int, int]:
        """How much device memory a copy descriptor takes; kind 6 only. [Y-110]"""

    @staticmethod
    def get_notify_id(notify: int, /) -> Tuple[int, int]:
        """The number of the notify."""

    @staticmethod
    def get_op_execute_timeout() -> Tuple[int, int]:
        """How long an operator may run."""

    @staticmethod
    def get_op_timeout_interval() -> Tuple[int, int]:
        """The steps in which that time can be set."""

    @staticmethod
    def get_overflow_status(ptr: int, size: int, stream: int, /) -> int:
        """Has the stream write the overflow state into 64 bytes of device memory."""

    @staticmethod
    def get_phy_dev_id_by_logic_dev_id(id: int, /) -> Tuple[int, int]:
        """To the physical number. [Y-65]"""

    @staticmethod
    def get_primary_ctx_state(dev: int, /) -> Tuple[int, int, int]:
        """Whether the default context of a device is in use; `flags` is 0. [Y-70]"""

    @staticmethod
    def get_res_in_current_thread(type: int, /) -> Tuple[int, int]:
        """How many cores of a type this thread may use."""

    @staticmethod
    def get_run_mode() -> Tuple[int, int]:
        """1: the program runs on a host, and the device is a card in it. 0: it runs on the device (RC form). [Y-60]"""

    @staticmethod
    def get_stream_attribute(stream: int, attr: int, /) -> Tuple[Dict[str, Any], int]:
        """An attribute, under the key that set_stream_attribute() takes. [Y-80]"""

    @staticmethod
    def get_stream_available_num() -> Tuple[int, int]:
        """How many streams can still be made. [Y-79]"""

    @staticmethod
    def get_stream_id_from_exception_info(info: int, /) -> int:
        """The stream of the task."""

    @staticmethod
    def get_stream_overflow_switch(stream: int, /) -> Tuple[int, int]:
        """Whether overflows are looked for."""

    @staticmethod
    def get_stream_res_limit(stream: int, type: int, /) -> Tuple[int, int]:
        """How many cores of a type the stream may use."""

    @staticmethod
    def get_sys_param_opt(opt: int, /) -> Tuple[int, int]:
        """An option of the process."""

    @staticmethod
    def get_task_id_from_exception_info(info: int, /) -> int:
        """The task that failed."""

    @staticmethod
    def get_thread_id_from_exception_info(info: int, /) -> int:
        """The thread that submitted the task."""

    @staticmethod
    def get_thread_last_task_id() -> Tuple[int, int]:
        """The last task that this thread submitted."""

    @staticmethod
    def get_user_dev_id_by_logic_dev_id(id: int, /) -> Tuple[int, int]:
        """The number that this process sees, from the device's number in the machine. [Y-65]"""

    @staticmethod
    def host_get_device_pointer(ptr: int, flag: int, /) -> Tuple[int, int]:
        """The device address of registered memory; `flag` is 0. [Y-120]"""

    @staticmethod
    def host_register(ptr: int, size: int, type: int, /) -> Tuple[int, int]:
        """Locks memory of the program and gives it an address on the device; its start must be a multiple of 4096.
        Types: 0 mapped, 4 I/O memory, 8 read only. [Y-119, Y-122]"""

    @staticmethod
    def host_register_v2(ptr: int, size: int, flag: int, /) -> int:
        """Flags: 0x2 mapped, 0x4 I/O memory, 0x8 read only, 0x10000000 pinned. [Y-120]"""

    @staticmethod
    def host_unregister(ptr: int, /) -> int:
        """Ends a registration. [Y-121]"""

    @staticmethod
    def ipc_mem_close(key: str, /) -> int:
        """Ends one import of the key here, else the key itself where it was made. Importers close first. [Y-139, V-428]"""

    @staticmethod
    def ipc_mem_get_export_key(ptr: int, size: int, len: int, flags: int, /) -> Tuple[str, int]:
        """A key by which other processes import these bytes of device memory, until ipc_mem_close. `ptr` is at the start of
        a page, `len` is 65; `flags` 0: only processes named with ipc_mem_set_import_pid, 1: any. [Y-135, V-382]"""

    @staticmethod
    def ipc_mem_import_by_key(key: str, flags: int, /) -> Tuple[int, int]:
        """The memory of a key at an address of this process, on the current device; the same for each further import.
        `flags` 1 enables peer access. Close it with ipc_mem_close; do not free it. [Y-138, V-409]"""

    @staticmethod
    def ipc_mem_set_import_pid(key: str, pids: List[Any], /) -> int:
        """Names up to 31 processes that may import it, by what device_get_bare_tgid gives in them, while they run. Calls
        add up. [Y-137, V-398]"""

    @staticmethod
    def launch_callback(fn: Callable[..., object], user_data: object, block_type: int, stream: int, /) -> int:
        """Queues fn(user_data) on a stream. The thread that subscribed calls it inside process_report(). With `block_type` 1
        the stream waits until it has returned, with 0 it goes on. Both objects are kept until it has run. Without a
        subscribed thread: 107015. [Y-157, Y-158, Y-159]"""

    @staticmethod
    def malloc(size: int, policy: int, /) -> Tuple[int, int]:
        """Allocates device memory: linear, its start a multiple of 64, contents not initialised (use memset).
        `size` is rounded up to a multiple of 32, and 32 bytes are added, but not with a 1 GB policy. 0 is refused
        with (0, 100000). On failure `ptr` is 0 and `ret` says why; nothing is raised.

        policy  0  huge pages (2 MB) first, normal ones (4 KB) if there are none; up to 1 MB always normal ones
                1  huge pages only           2  normal pages only
                3, 4, 5  the same for memory that another device may reach (P2P)
                6, 7     1 GB pages only, ordinary and P2P
        A number outside these takes huge pages from 2 MB on and normal ones below. Pass int(...): a numpy integer is
        not accepted as a size. Allocating often is slow on hardware; allocate ahead and cut blocks yourself. Free with
        acl.rt.free. [Y-90, Y-216, Y-217, M-34]"""

    @staticmethod
    def malloc_align32(size: int, policy: int, /) -> Tuple[int, int]:
        """Like malloc(), but `size` is only rounded up to 32; nothing is added. [Y-91]"""

    @staticmethod
    def malloc_cached(size: int, policy: int, /) -> Tuple[int, int]:
        """Like malloc(), but knows the policies 0, 1, 2 and 6 only. [Y-92, M-62]"""

    @staticmethod
    def malloc_for_task_scheduler(size: int, policy: int, cfg: Dict[str, Any], /) -> Tuple[int, int]:
        """Memory that the chip's task scheduler can reach. [Y-93]"""

    @staticmethod
    def malloc_host(size: int, /) -> Tuple[int, int]:
        """Page-locked host memory, its start a multiple of 64, not cleared. Python may read and write it through
        acl.util.ptr_to_bytes, acl.util.ptr_to_numpy and ctypes. Free with acl.rt.free_host. [Y-97, Y-98]"""

    @staticmethod
    def malloc_host_with_cfg(size: int, cfg: Dict[str, Any], /) -> Tuple[int, int]:
        """The same with attributes, see malloc_with_cfg(). [Y-93]"""

    @staticmethod
    def malloc_physical(size: int, prop: Dict[str, Any], flags: int, /) -> Tuple[int, int]:
        """Physical memory without an address, in whole pages of 2 MB or 1 GB; `flags` is 0. `prop`, for 2 MB pages of
        device 0: {"handleType": 0, "allocationType": 0, "memAttr": 13, "location": {"id": 0, "type": 1}, "reserve": 0}.
        What is missing is 0, and a misspelled key is missing: without "location" it is host memory.
        [Y-125, Y-126, V-99]"""

    @staticmethod
    def malloc_with_cfg(size: int, policy: int, cfg: Dict[str, Any], /) -> Tuple[int, int]:
        """Like malloc_align32(), with attributes; {} is none:
        {"numAttrs": 1, "attrs": [{"attr": 1, "value": {"moduleId": 33}}]}. A misspelled key is ignored.
        [Y-93, Y-94, Y-95]"""

    @staticmethod
    def map_mem(va: int, size: int, offset: int, handle: int, flags: int, /) -> int:
        """Makes reserved addresses lead to physical memory: `size` is all of it, `offset` and `flags` are 0. Its device,
        or the host, may use it at once. [Y-128, V-132]"""

    @staticmethod
    def mem_export_to_shareable_handle(handle: int, handle_type: int, flags: int, /) -> Tuple[int, int]:
        """A number by which other processes import physical memory; once for each handle. `handle_type` is 0; `flags` 0:
        only processes named with mem_set_pid_to_shareable_handle, 1: any. [Y-131, V-215]"""

    @staticmethod
    def mem_flush(ptr: int, size: int, /) -> int:
        """Checks its arguments; caches need no flushing. [Y-115]"""

    @staticmethod
    def mem_get_allocation_granularity(prop: Dict[str, Any], option: int, /) -> Tuple[int, int]:
        """Of what sizes and addresses must be multiples: 2 MB, or 1 GB for 1 GB pages. `prop` as in malloc_physical;
        `option` is 0 (minimum) or 1 (recommended), which give the same. [Y-129, V-53]"""

    @staticmethod
    def mem_import_from_shareable_handle(shareable: int, device: int, /) -> Tuple[int, int]:
        """A handle of this process to memory of another; map it, and give it back with free_physical. The memory stays as
        long as any process holds it. [Y-133, V-243]"""

    @staticmethod
    def mem_invalidate(ptr: int, size: int, /) -> int:
        """Checks its arguments; caches need no invalidating. [Y-115]"""

    @staticmethod
    def mem_set_pid_to_shareable_handle(shareable: int, pids: List[Any], /) -> int:
        """Names processes that may import it, by what device_get_bare_tgid gives in them, while they run. Calls add up.
        [Y-132, V-232]"""

    @staticmethod
    def memcpy(dst: int, dest_max: int, src: int, count: int, kind: int, /) -> int:
        """Copies `count` bytes and returns when they are there. Kinds: 0 host to host, 1 host to device, 2 device to host,
        3 device to device; the two addresses decide, and a kind that does not fit them does no harm. `dest_max` is only
        compared with `count`. Addresses that the runtime never saw (bytes, numpy, ctypes) are host memory.
        [Y-100, Y-101, Y-102, Y-103]"""

    @staticmethod
    def memcpy2d(dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int, /) -> int:
        """Copies `height` rows of `width` bytes; rows are a pitch apart. Kinds 1, 2 and 4 only. [Y-108, Y-109]"""

    @staticmethod
    def memcpy2d_async(dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int, stream: int, /) -> int:
        """Queues such a copy on a stream. On 950, A3 and A2 kind 3 works, too. [Y-108, Y-109]"""

    @staticmethod
    def memcpy_async(dst: int, dest_max: int, src: int, count: int, kind: int, stream: int, /) -> int:
        """Queues a copy on a stream. Keep both sides alive until the stream was synchronised. With host memory that is not
        page-locked the call returns when the copy is done. Host to host is refused with 207000. [Y-104]"""

    @staticmethod
    def memcpy_async_with_condition(dst: int, dest_max: int, src: int, count: int, kind: int, stream: int, /) -> int:
        """Deprecated; use memcpy_async(). [Y-105]"""

    @staticmethod
    def memcpy_async_with_desc(desc: int, kind: int, stream: int, /) -> int:
        """Queues the copy that a descriptor describes. [Y-110]"""

    @staticmethod
    def memset(ptr: int, max_count: int, value: int, count: int, /) -> int:
        """Fills `count` bytes with the low byte of `value`. [Y-106, Y-107]"""

    @staticmethod
    def memset_async(ptr: int, max_count: int, value: int, count: int, stream: int, /) -> int:
        """Queues a fill on a stream. [Y-106]"""

    @staticmethod
    def notify_batch_reset(notifies: List[Any], /) -> int:
        """Clears all notifies of a list."""

    @staticmethod
    def notify_get_export_key(notify: int, len: int, flags: int, /) -> Tuple[str, int]:
        """A key for other processes; `len` is 65. [Y-41]"""

    @staticmethod
    def notify_import_by_key(key: str, flags: int, /) -> Tuple[int, int]:
        """The notify of another process, by its key."""

    @staticmethod
    def notify_set_import_pid(notify: int, pids: List[Any], /) -> int:
        """Which processes may use the key."""

    @staticmethod
    def peek_at_last_error(level: int, /) -> int:
        """The last error of this thread; `level` is 0. It stays. [Y-66]"""

    @staticmethod
    def pointer_get_attributes(ptr: int, /) -> Tuple[Dict[str, Any], int]:
        """Where an address is: {"location": {"id", "type"}, "page_size", "rsv"}. Types: 0 host, 1 device,
        2 unregistered, 3 managed, 4 host NUMA. [Y-116]"""

    @staticmethod
    def process_report(ms: int, /) -> int:
        """Calls the callbacks that are due on this thread; waits for one at most `ms` milliseconds, -1 for ever.
        507012: none came. 107012: this thread has subscribed to nothing. If a callback raises, its traceback is printed and
        SystemError raised here. Other Python threads run meanwhile. [Y-160, Y-162]"""

    @staticmethod
    def query_device_status(dev: int, /) -> Tuple[int, int]:
        """0 normal, 1 abnormal, 65535 unknown. [Y-63]"""

    @staticmethod
    def query_event(event: int, /) -> Tuple[int, int]:
        """0 complete, 1 not ready. [Y-86]"""

    @staticmethod
    def query_event_status(event: int, /) -> Tuple[int, int]:
        """The other way round: 0 not ready, 1 complete. [Y-86]"""

    @staticmethod
    def query_event_wait_status(event: int, /) -> Tuple[int, int]:
        """Whether all waits for the event are over: 0 complete, 1 not ready. [Y-86]"""

    @staticmethod
    def record_event(event: int, stream: int, /) -> int:
        """Records the event on a stream: it is complete when all work before it is. The event comes first. [Y-83]"""

    @staticmethod
    def record_notify(notify: int, stream: int, /) -> int:
        """Has the stream set the notify."""

    @staticmethod
    def release_mem_address(va: int, /) -> int:
        """Gives a reservation back, by its start; nothing may be mapped in it any more. [Y-124, V-93]"""

    @staticmethod
    def reserve_mem_address(size: int, alignment: int, expect_ptr: int, flags: int, /) -> Tuple[int, int]:
        """Reserves addresses, and no memory. `alignment` and `flags` are 0; `expect_ptr` demands an address, 0 lets the
        runtime choose. Give it back with release_mem_address. [Y-123, V-66]"""

    @staticmethod
    def reset_device(dev: int, /) -> int:
        """Undoes one set_device. The last one waits for the work of the device's default context and frees every block of
        memory that is still allocated. [Y-57]"""

    @staticmethod
    def reset_device_force(dev: int, /) -> int:
        """Resets the device however often it was set. [Y-57]"""

    @staticmethod
    def reset_device_res_limit(dev: int, /) -> int:
        """Allows all cores again."""

    @staticmethod
    def reset_event(event: int, stream: int, /) -> int:
        """Queues a reset: the event is not complete any more; for events with the sync flag. [Y-84]"""

    @staticmethod
    def reset_overflow_status(stream: int, /) -> int:
        """Has the stream clear the overflow state."""

    @staticmethod
    def reset_stream_res_limit(stream: int, /) -> int:
        """Restores the limits of the device."""

    @staticmethod
    def set_context(ctx: int, /) -> int:
        """Makes a context current for this thread. A thread begins without one. [Y-68, Y-45]"""

    @staticmethod
    def set_device(dev: int, /) -> int:
        """Chooses the device that this thread works on and makes its default context current. Counted: each set_device
        needs a reset_device. Other threads choose for themselves. [Y-57, Y-45]"""

    @staticmethod
    def set_device_res_limit(dev: int, type: int, value: int, /) -> int:
        """Sets how many cores of a type this process may use."""

    @staticmethod
    def set_device_sat_mode(mode: int, /) -> int:
        """What the device's numbers do on overflow: 0 saturate, 1 become infinity or NaN."""

    @staticmethod
    def set_exception_info_callback(fn: Optional[Callable[..., object]] = ..., /) -> int:
        """Sets a function fn(info) that is called when a task fails; inside it, pass `info` to the functions below.
        None removes it."""

    @staticmethod
    def set_memcpy_desc(desc: int, kind: int, src: int, dst: int, count: int, config: int, /) -> Tuple[int, int]:
        """Writes a copy descriptor into device memory. The source comes before the destination here. [Y-110]"""

    @staticmethod
    def set_op_execute_time_out(seconds: int, /) -> int:
        """How long an operator may run. Stored; no operator runs here."""

    @staticmethod
    def set_op_execute_timeout_v2(us: int, /) -> Tuple[int, int]:
        """The same in microseconds; `actual` is the value in effect."""

    @staticmethod
    def set_op_wait_timeout(seconds: int, /) -> int:
        """How long a stream waits for an event at most; 0 for ever. [Y-89]"""

    @staticmethod
    def set_stream_attribute(stream: int, attr: int, value: Dict[str, Any], /) -> int:
        """Sets an attribute. `value` has one key: failureMode, overflowSwitch, userCustomTag, or reserved (a list).
        [Y-80]"""

    @staticmethod
    def set_stream_failure_mode(stream: int, mode: int, /) -> int:
        """0: go on after a failed task. 1: stop all streams of the context. [Y-74]"""

    @staticmethod
    def set_stream_overflow_switch(stream: int, flag: int, /) -> int:
        """1: look for overflows in work that comes from now on."""

    @staticmethod
    def set_stream_res_limit(stream: int, type: int, value: int, /) -> int:
        """Sets how many cores of a type the stream may use."""

    @staticmethod
    def set_sys_param_opt(opt: int, value: int, /) -> int:
        """Sets an option of the process."""

    @staticmethod
    def set_ts_device(ts_id: int, /) -> int:
        """Chooses the task scheduler of the device."""

    @staticmethod
    def stream_abort(stream: int, /) -> int:
        """Drops the work of the stream; the stream stays. [Y-74]"""

    @staticmethod
    def stream_get_id(stream: int, /) -> Tuple[int, int]:
        """The number of the stream. [Y-79]"""

    @staticmethod
    def stream_query(stream: int, /) -> Tuple[int, int]:
        """0 all done, 1 not yet; never waits. [Y-78]"""

    @staticmethod
    def stream_wait_event(stream: int, event: int, /) -> int:
        """Has the stream wait for the event. Here the stream comes first. [Y-85]"""

    @staticmethod
    def subscribe_report(thread_id: int, stream: int, /) -> int:
        """Sets the thread that calls the callbacks of a stream: one of acl.util.start_thread, or threading.get_ident().
        A thread may serve several streams of one device, a stream has one thread. [Y-156]"""

    @staticmethod
    def synchronize_device() -> int:
        """Waits for all work of the current context's device. [Y-77]"""

    @staticmethod
    def synchronize_device_with_timeout(ms: int, /) -> int:
        """The same for at most `ms` milliseconds, -1 for ever; then 507046. [Y-77]"""

    @staticmethod
    def synchronize_event(event: int, /) -> int:
        """Waits until the event is complete. [Y-87]"""

    @staticmethod
    def synchronize_event_with_timeout(event: int, ms: int, /) -> int:
        """The same for at most `ms` milliseconds, -1 for ever. [Y-87]"""

    @staticmethod
    def synchronize_stream(stream: int, /) -> int:
        """Waits until all work of the stream is done; 0 is the default stream of the current context. Other Python
        threads run meanwhile. [Y-75, Y-43]"""

    @staticmethod
    def synchronize_stream_with_timeout(stream: int, ms: int, /) -> int:
        """The same for at most `ms` milliseconds, -1 for ever; then 507046, and the work goes on. [Y-76]"""

    @staticmethod
    def unmap_mem(va: int, /) -> int:
        """Ends one mapping, by its start. It waits for no stream: synchronise before. [Y-128, V-161]"""

    @staticmethod
    def unsubscribe_report(thread_id: int, stream: int, /) -> int:
        """Ends the subscription; also after the thread has ended. [Y-156, Y-163]"""

    @staticmethod
    def unuse_stream_res_in_current_thread(stream: int, /) -> int:
        """Ends the use of these limits."""

    @staticmethod
    def use_stream_res_in_current_thread(stream: int, /) -> int:
        """This thread uses the core limits of a stream."""

    @staticmethod
    def value_wait(ptr: int, value: int, flag: int, stream: int, /) -> int:
        """Has the stream wait for 64 bits of device memory: 0 at least, 1 equal, 2 a bit in common, 3 nor. [Y-118]"""

    @staticmethod
    def value_write(ptr: int, value: int, flag: int, stream: int, /) -> int:
        """Has the stream write 64 bits to device memory. [Y-118]"""

    @staticmethod
    def wait_and_reset_notify(notify: int, stream: int, seconds: int, /) -> int:
        """Has the stream wait for the notify and clear it; 0 waits for ever."""

class mdl:
    @staticmethod
    def add_dataset_buffer(dataset: object, data_buffer: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def bundle_get_model_id(bundle_id: object, index: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def bundle_get_model_num(bundle_id: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def bundle_load_from_file(model_path: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def bundle_load_from_mem(model: object, model_size: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def bundle_unload(bundle_id: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_aipp(batch_size: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_and_get_op_desc(device_id: object, stream_id: object, task_id: object, op_name_len: object, /) -> Tuple[object, int, int, int, int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_config_handle() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_dataset() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_desc() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_exec_config_handle() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def destroy_aipp(aipp_parms_set: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def destroy_config_handle(handle: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def destroy_dataset(dataset: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def destroy_desc(model_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def destroy_exec_config_handle(handle: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dump_reg_callback(callback: object, flag: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dump_unreg_callback() -> object:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def execute(model_id: object, input: object, output: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def execute_async(model_id: object, input: object, output: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def execute_v2(model_id: object, input: object, output: object, stream: object, handle: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def finalize_dump() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_aipp_data_size(batch_size: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_aipp_type(model_id: object, index: object, /) -> Tuple[int, int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_cur_output_dims(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_dataset_buffer(dataset: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_dataset_num_buffers(dataset: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_dataset_tensor_desc(dataset: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_desc(model_desc: object, model_id: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_desc_from_file(model_desc: object, model_path: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_desc_from_mem(model_desc: object, model: object, model_size: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_dynamic_batch(model_desc: object, /) -> Tuple[Dict[str, Any], int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_dynamic_hw(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_first_aipp_info(model_id: object, index: object, /) -> Tuple[Dict[str, Any], int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_input_data_type(model_desc: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_input_dims(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_input_dims_range(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_input_dims_v2(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_input_dynamic_dims(model_desc: object, index: object, gear_count: object, /) -> Tuple[List[Any], int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_input_dynamic_gear_count(model_desc: object, index: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_input_format(model_desc: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_input_index_by_name(model_desc: object, name: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_input_name_by_index(model_desc: object, index: object, /) -> object:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_input_size_by_index(model_desc: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_num_inputs(model_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_num_outputs(model_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_attr(model_desc: object, op_name: object, attr: object, /) -> object:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_output_data_type(model_desc: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_output_dims(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_output_format(model_desc: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_output_index_by_name(model_desc: object, name: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_output_name_by_index(model_desc: object, index: object, /) -> object:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_output_size_by_index(model_desc: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_tensor_real_name(model_desc: object, name: object, /) -> object:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def init_dump() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def load_from_file(model_path: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def load_from_file_with_mem(model_path: object, work_ptr: object, work_size: object, weight_ptr: object, weight_size: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def load_from_file_with_q(model_path: object, input_q: object, input_q_num: object, output_q: object, output_q_num: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def load_from_mem(model: object, model_size: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def load_from_mem_with_mem(model: object, model_size: object, work_ptr: object, work_size: object, weight_ptr: object, weight_size: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def load_from_mem_with_q(model: object, model_size: object, input_q: object, input_q_num: object, output_q: object, output_q_num: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def load_with_config(handle: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def query_size(file_name: object, /) -> Tuple[int, int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def query_size_from_mem(model: object, model_size: object, /) -> Tuple[int, int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_ax_swap_switch(aipp_parms_set: object, ax_swap_switch: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_by_input_index(model_id: object, dataset: object, index: object, aipp_parms_set: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_crop_params(aipp_parms_set: object, crop_switch: object, start_w: object, start_h: object, size_w: object, size_h: object, batch_index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_csc_params(aipp_parms_set: object, csc_switch: object, nine: object, output_bias_r0: object, input_bias_r0: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_dtc_pixel_mean(aipp_parms_set: object, chn0: object, chn1: object, chn2: object, chn3: object, batch_index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_dtc_pixel_min(aipp_parms_set: object, chn0: object, chn1: object, chn2: object, chn3: object, batch_index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_input_format(aipp_parms_set: object, input_format: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_padding_params(aipp_parms_set: object, padding_switch: object, top: object, bottom: object, left: object, right: object, batch_index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_pixel_var_reci(aipp_parms_set: object, chn0: object, chn1: object, chn2: object, chn3: object, batch_index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_rbuv_swap_switch(aipp_parms_set: object, rbuv_swap_switch: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_scf_params(aipp_parms_set: object, scf_switch: object, input_w: object, input_h: object, output_w: object, output_h: object, batch_index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_aipp_src_image_size(aipp_parms_set: object, src_image_size_w: object, src_image_size_h: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_config_opt(handle: object, attr: object, attr_value: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_dataset_tensor_desc(dataset: object, tensor_desc: object, index: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_dump(dump_cfg_path: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_dynamic_batch_size(model_id: object, dataset: object, index: object, batch_size: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_dynamic_hw_size(model_id: object, dataset: object, index: object, height: object, width: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_exec_config_opt(handle: object, attr: object, attr_value: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_input_aipp(model_id: object, dataset: object, index: object, aipp_parms_set: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_input_dynamic_dims(model_id: object, dataset: object, index: object, dims: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def unload(model_id: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

class media:
    @staticmethod
    def dvpp_clear_hist(hist: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_create_batch_pic_desc(batch_size: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_create_border_config() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_create_channel(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_create_channel_desc() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_create_hist() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_create_jpege_config() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_create_lut_map() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_create_pic_desc() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_create_resize_config() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_create_roi_config(left: object, right: object, top: object, bottom: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_create_stream_desc() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_destroy_batch_pic_desc(batch_pic_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_destroy_border_config(border_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_destroy_channel(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_destroy_channel_desc(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_destroy_hist(hist: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_destroy_jpege_config(jpege_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_destroy_lut_map(lut_map: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_destroy_pic_desc(pic_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_destroy_resize_config(resize_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_destroy_roi_config(roi_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_destroy_stream_desc(stream_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_free(ptr: int, /) -> int:
        """Frees a block of dvpp_malloc(). [Y-169]"""

    @staticmethod
    def dvpp_get_border_config_border_type(border_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_border_config_bottom(border_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_border_config_left(border_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_border_config_right(border_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_border_config_top(border_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_border_config_value(border_config: object, index: object, /) -> float:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_channel_desc_channel_id(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_channel_desc_param(channel_desc: object, param_type: object, /) -> Tuple[int, int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_hist_data(hist: object, dim: object, /) -> Tuple[int, int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_hist_dims(hist: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_hist_ret_code(hist: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_jpege_config_level(jpege_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_lut_map_data(lut_map: object, dim: object, /) -> Tuple[int, int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_lut_map_dims(lut_map: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_pic_desc(batch_pic_desc: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_pic_desc_data(pic_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_pic_desc_format(pic_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_pic_desc_height(pic_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_pic_desc_height_stride(pic_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_pic_desc_ret_code(pic_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_pic_desc_size(pic_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_pic_desc_width(pic_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_pic_desc_width_stride(pic_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_resize_config_interpolation(resize_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_stream_desc_data(stream_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_stream_desc_eos(stream_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_stream_desc_format(stream_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_stream_desc_ret_code(stream_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_stream_desc_size(stream_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_get_stream_desc_timestamp(stream_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_jpeg_decode_async(channel_desc: object, data: object, size: object, output_desc: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_jpeg_encode_async(channel_desc: object, input_desc: object, data: object, size: object, config: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_jpeg_get_image_info(data: object, size: object, /) -> Tuple[int, int, int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_jpeg_get_image_info_v2(data: object, size: object, /) -> Tuple[int, int, int, int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_jpeg_predict_dec_size(data: object, data_size: object, output_pixel_format: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_jpeg_predict_enc_size(input_desc: object, config: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_malloc(size: int, /) -> Tuple[int, int]:
        """Device memory for media functions of version 1: its start a multiple of 128, `size` rounded up to 32 plus 32.
        [Y-169, Y-220]"""

    @staticmethod
    def dvpp_malloc_with_cfg(size: int, policy: int, cfg: Dict[str, Any], /) -> Tuple[int, int]:
        """Like dvpp_malloc(); policy and attributes have no effect. [Y-170]"""

    @staticmethod
    def dvpp_png_decode_async(channel_desc: object, data: object, size: object, output_desc: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_png_get_image_info(data: object, size: object, /) -> Tuple[int, int, int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_png_predict_dec_size(data: object, data_size: object, output_pixel_format: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_border_config_border_type(border_config: object, border_type: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_border_config_bottom(border_config: object, bottom: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_border_config_left(border_config: object, left: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_border_config_right(border_config: object, right: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_border_config_top(border_config: object, top: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_border_config_value(border_config: object, index: object, value: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_channel_desc_mode(channel_desc: object, mode: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_channel_desc_param(channel_desc: object, param_type: object, param: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_jpege_config_level(jpege_config: object, level: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_pic_desc_data(pic_desc: object, data_dev: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_pic_desc_format(pic_desc: object, format: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_pic_desc_height(pic_desc: object, height: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_pic_desc_height_stride(pic_desc: object, height_stride: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_pic_desc_ret_code(pic_desc: object, ret_code: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_pic_desc_size(pic_desc: object, size: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_pic_desc_width(pic_desc: object, width: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_pic_desc_width_stride(pic_desc: object, width_stride: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_resize_config_interpolation(resize_config: object, interpolation: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_roi_config(config: object, left: object, right: object, top: object, bottom: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_roi_config_bottom(config: object, bottom: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_roi_config_left(config: object, left: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_roi_config_right(config: object, right: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_roi_config_top(config: object, top: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_stream_desc_data(stream_desc: object, data_dev: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_stream_desc_eos(stream_desc: object, eos: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_stream_desc_format(stream_desc: object, format: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_stream_desc_ret_code(stream_desc: object, ret_code: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_stream_desc_size(stream_desc: object, size: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_set_stream_desc_timestamp(stream_desc: object, timestamp: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_batch_crop_and_paste_async(channel_desc: object, src_batch_pic_desc: object, roi_nums: object, dst_batch_pic_desc: object, crop_areas: object, paste_areas: object, stream: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_batch_crop_async(channel_desc: object, src_batch_pic_desc: object, roi_nums: object, dst_batch_pic_desc: object, crop_areas: object, stream: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_batch_crop_resize_async(channel_desc: object, src_batch_pic_desc: object, roi_nums: object, dst_batch_pic_desc: object, crop_areas: object, resize_config: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_batch_crop_resize_make_border_async(channel_desc: object, src_batch_pic_desc: object, roi_nums: object, dst_batch_pic_desc: object, crop_areas: object, border_cfgs: object, resize_config: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_batch_crop_resize_paste_async(channel_desc: object, src_batch_pic_desc: object, roi_nums: object, dst_batch_pic_desc: object, crop_areas: object, paste_areas: object, resize_config: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_calc_hist_async(channel_desc: object, src_pic_desc: object, hist: object, reserve: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_convert_color_async(channel_desc: object, input_desc: object, output_desc: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_crop_and_paste_async(channel_desc: object, input_desc: object, output_desc: object, crop_area: object, paste_area: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_crop_async(channel_desc: object, input_desc: object, output_desc: object, crop_area: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_crop_resize_async(channel_desc: object, input_desc: object, output_desc: object, crop_area: object, resize_config: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_crop_resize_paste_async(channel_desc: object, input_desc: object, output_desc: object, crop_area: object, paste_area: object, resize_config: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_equalize_hist_async(channel_desc: object, input_desc: object, output_desc: object, lut_map: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_make_border_async(channel_desc: object, input_desc: object, output_desc: object, border_config: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_pyr_down_async(channel_desc: object, input_desc: object, output_desc: object, reserve: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def dvpp_vpc_resize_async(channel_desc: object, input_desc: object, output_desc: object, resize_config: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_create_channel(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_create_channel_desc() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_create_frame_config() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_destroy_channel(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_destroy_channel_desc(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_destroy_frame_config(frame_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_get_channel_desc_bit_depth(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_get_channel_desc_callback(channel_desc: object, /) -> object:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_get_channel_desc_channel_id(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_get_channel_desc_entype(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_get_channel_desc_out_mode(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_get_channel_desc_out_pic_format(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_get_channel_desc_out_pic_height(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_get_channel_desc_out_pic_width(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_get_channel_desc_param(channel_desc: object, param_type: object, /) -> Tuple[int, int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_get_channel_desc_ref_frame_num(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_get_channel_desc_thread_id(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_send_frame(channel_desc: object, input: object, output: object, config: object, user_data: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_send_skipped_frame(channel_desc: object, input: object, config: object, user_data: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_set_channel_desc_bit_depth(channel_desc: object, bit_depth: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_set_channel_desc_callback(channel_desc: object, callback: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_set_channel_desc_channel_id(channel_desc: object, channel_id: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_set_channel_desc_entype(channel_desc: object, en_type: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_set_channel_desc_out_mode(channel_desc: object, out_mode: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_set_channel_desc_out_pic_format(channel_desc: object, out_pic_format: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_set_channel_desc_out_pic_height(channel_desc: object, out_pic_height: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_set_channel_desc_out_pic_width(channel_desc: object, out_pic_width: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_set_channel_desc_param(channel_desc: object, param_type: object, param: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_set_channel_desc_ref_frame_num(channel_desc: object, ref_frame_num: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def vdec_set_channel_desc_thread_id(channel_desc: object, thread_id: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_create_channel(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_create_channel_desc() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_create_frame_config() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_destroy_channel(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_destroy_channel_desc(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_destroy_frame_config(frame_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_buf_addr(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_buf_size(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_callback(channel_desc: object, /) -> object:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_channel_id(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_entype(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_key_frame_interval(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_max_bit_rate(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_param(channel_desc: object, param_type: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_pic_format(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_pic_height(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_pic_width(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_rc_mode(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_src_rate(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_channel_desc_thread_id(channel_desc: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_frame_config_eos(config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_get_frame_config_force_i_frame(config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_send_frame(channel_desc: object, input: object, reserve: object, config: object, user_data: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_buf_addr(channel_desc: object, buf_addr: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_buf_size(channel_desc: object, buf_size: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_callback(channel_desc: object, callback: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_entype(channel_desc: object, en_type: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_key_frame_interval(channel_desc: object, key_frame_interval: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_max_bit_rate(channel_desc: object, max_bit_rate: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_param(channel_desc: object, param_type: object, param: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_pic_format(channel_desc: object, pic_format: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_pic_height(channel_desc: object, pic_height: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_pic_width(channel_desc: object, pic_width: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_rc_mode(channel_desc: object, rc_mode: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_src_rate(channel_desc: object, src_rate: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_channel_desc_thread_id(channel_desc: object, thread_id: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_frame_config_eos(config: object, eos: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def venc_set_frame_config_force_i_frame(config: object, force_i_frame: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

class op:
    @staticmethod
    def cast(src_desc: object, src_buffer: object, dst_desc: object, dst_buffer: object, truncate: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_attr() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_handle(op_type: object, input_desc: object, output_desc: object, op_attr: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_handle_for_cast(src_desc: object, dst_desc: object, truncate: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_kernel(op_type: object, kernel_id: object, kernel_name: object, bin_data: object, bin_size: object, engine_type: object, deallocator: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def destroy_attr(attr: object, /) -> object:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def destroy_handle(handle: object, /) -> object:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def execute(op_type: object, input_desc: object, inputs: object, output_desc: object, outputs: object, attr: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def execute_v2(op_type: object, input_desc: object, inputs: object, output_desc: object, outputs: object, attr: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def execute_with_handle(handle: object, inputs: object, outputs: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def infer_shape(op_type: object, input_desc: object, inputs: object, num_outputs: object, output_desc: object, attr: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def load(model: object, model_size: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def register_compile_func(op_type: object, func: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_attr_bool(attr: object, attr_name: object, attr_value: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_attr_data_type(attr: object, attr_name: object, attr_value: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_attr_float(attr: object, attr_name: object, attr_value: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_attr_int(attr: object, attr_name: object, attr_value: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_attr_list_bool(attr: object, attr_name: object, values: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_attr_list_data_type(attr: object, attr_name: object, values: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_attr_list_float(attr: object, attr_name: object, values: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_attr_list_int(attr: object, attr_name: object, values: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_attr_list_list_int(attr: object, attr_name: object, values: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_attr_list_string(attr: object, attr_name: object, values: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_attr_string(attr: object, attr_name: object, attr_value: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_kernel_args(kernel_desc: object, kernel_id: object, block_dim: object, args: object, arg_size: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_kernel_workspace_sizes(kernel_desc: object, num_workspaces: object, workspace_sizes: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_max_op_queue_num(max_op_num: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_model_dir(model_dir: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def start_dump_args(dump_type: object, path: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def stop_dump_args(dump_type: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def unregister_compile_func(op_type: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def update_params(op_type: object, input_desc: object, output_desc: object, attr: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

class blas:
    @staticmethod
    def create_handle_for_gemm_ex(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, data_type_a: object, data_type_b: object, data_type_c: object, type: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_handle_for_gemv_ex(trans_a: object, m: object, n: object, data_type_a: object, data_type_x: object, data_type_y: object, type: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_handle_for_hgemm(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, type: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_handle_for_hgemv(trans_a: object, m: object, n: object, type: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_handle_for_s8gemm(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, type: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_handle_for_s8gemv(trans_a: object, m: object, n: object, type: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def gemm_ex(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, alpha: object, matrix_a: object, lda: object, data_type_a: object, matrix_b: object, ldb: object, data_type_b: object, beta: object, matrix_c: object, ldc: object, data_type_c: object, type: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def gemv_ex(trans_a: object, m: object, n: object, alpha: object, a: object, lda: object, data_type_a: object, x: object, incx: object, data_type_x: object, beta: object, y: object, incy: object, data_type_y: object, type: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def hgemm(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, alpha: object, matrix_a: object, lda: object, matrix_b: object, ldb: object, beta: object, matrix_c: object, ldc: object, type: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def hgemv(trans_a: object, m: object, n: object, alpha: object, a: object, lda: object, x: object, incx: object, beta: object, y: object, incy: object, type: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def s8gemm(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, alpha: object, matrix_a: object, lda: object, matrix_b: object, ldb: object, beta: object, matrix_c: object, ldc: object, type: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def s8gemv(trans_a: object, m: object, n: object, alpha: object, a: object, lda: object, x: object, incx: object, beta: object, y: object, incy: object, type: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

class util:
    @staticmethod
    def bytes_to_ptr(data: bytes, /) -> int:
        """The address of the object's own bytes; nothing is copied. Keep `data` as long as the address is used. A copy into it
        changes `data`, which is how results come back; never do that to an empty or one-byte object, which the whole
        interpreter shares. [Y-142, Y-143, Y-144]"""

    @staticmethod
    def numpy_contiguous_to_ptr(arr: numpy.ndarray, /) -> Tuple[int, numpy.ndarray]:
        """The address of the array, and the array to keep: `arr` itself if it is C-contiguous, else a copy that is. [Y-148]"""

    @staticmethod
    def numpy_to_ptr(arr: numpy.ndarray, /) -> int:
        """The address of the array's first element; nothing is copied. Warns: use bytes_to_ptr(arr.tobytes()). [Y-147]"""

    @staticmethod
    def ptr_to_bytes(ptr: int, size: int, /) -> bytes:
        """A copy of `size` bytes of host memory. Device memory must be copied to the host first: ValueError. [Y-145, Y-146]"""

    @staticmethod
    def ptr_to_numpy(ptr: int, shape: Tuple[int, ...], npy_type: int, /) -> numpy.ndarray:
        """An array over that memory: writable, not its owner. It does not notice when the memory is freed. Types by numpy's
        numbers: 0 bool, 1 int8, 2 uint8, 3 int16, 4 uint16, 5 int32, 6 uint32, 7 int64, 8 uint64, 11 float32, 12 float64,
        23 float16. [Y-149]"""

    @staticmethod
    def start_thread(fn: Callable[..., object], args: object, /) -> Tuple[int, int]:
        """Starts a thread that calls fn(args), with the one object, or fn() if it is None. The number is that of
        threading.get_ident() inside it. The thread has no context: call acl.rt.set_context in it. `err` is 0 or an errno
        value. [Y-150, Y-151]"""

    @staticmethod
    def stop_thread(thread_id: int, /) -> int:
        """Waits until the thread has ended; it does not stop it. RuntimeError if its function raised, 3 if there is no such
        thread (any more). [Y-152, Y-153, Y-155]"""

class prof:
    @staticmethod
    def create_config(device_id_list: object, aicore_metrics: object, aicore_events: object, data_type_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_stamp() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_step_info() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def create_subscribe_config(time_info_switch: object, aicore_metrics: object, fd: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def destroy_config(profiler_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def destroy_stamp(stamp: object, /) -> object:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def destroy_step_info(step_info: object, /) -> object:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def destroy_subscribe_config(prof_subscribe_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def finalize() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_model_id(op_info: object, op_info_len: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_desc_size() -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_duration(op_info: object, op_info_len: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_end(op_info: object, op_info_len: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_name(op_info: object, op_info_len: object, index: object, op_name_len: object, /) -> Tuple[object, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_name_len(op_info: object, op_info_len: object, index: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_name_v2(op_info: object, op_info_len: object, index: object, /) -> Tuple[object, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_num(op_info: object, op_info_len: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_start(op_info: object, op_info_len: object, index: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_type(op_info: object, op_info_len: object, index: object, op_type_len: object, /) -> Tuple[object, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_type_len(op_info: object, op_info_len: object, index: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_op_type_v2(op_info: object, op_info_len: object, index: object, /) -> Tuple[object, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def get_step_timestamp(step_info: object, tag: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def init(profiler_result_path: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def mark(stamp: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def mark_ex(msg: object, stream: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def model_subscribe(model_id: object, prof_subscribe_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def model_un_subscribe(model_id: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def model_unsubscribe(model_id: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def pop() -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def push(stamp: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def range_start(stamp: object, /) -> Tuple[int, int]:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def range_stop(range_id: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_config(config_type: object, config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def set_stamp_trace_message(stamp: object, msg: object, msg_len: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def start(profiler_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

    @staticmethod
    def stop(profiler_config: object, /) -> int:
        """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

class himpi:
    @staticmethod
    def dvpp_free(ptr: int, /) -> int:
        """Frees a block of dvpp_malloc(). [Y-172]"""

    @staticmethod
    def dvpp_malloc(dev: int, size: int, /) -> Tuple[int, int]:
        """Device memory for media functions of version 2: its start a multiple of 128. `dev` is ignored; the current device
        is used. The code is unsigned. [Y-172, Y-220]"""

    @staticmethod
    def sys_exit() -> int:
        """Accepted; there is nothing to end. [Y-173]"""

    @staticmethod
    def sys_init() -> int:
        """Accepted; there is nothing to start. [Y-173]"""

class fv:
    ...
