"""acl.rt"""

# Written by make_stubs.py from the docstrings of the module; do not edit.

from typing import Any, Callable, Dict, List, Optional, Tuple

def cmo_async(src: int, size: int, cmo_type: int, stream: int, /) -> int:
    """Has the stream prefetch a range into the cache (type 0; 1 write back, 2 invalidate, 3 flush). No byte changes.
    [Y-117, V-355]"""

def create_context(dev: int, /) -> Tuple[int, int]:
    """Makes a context on a device and makes it current for this thread. [Y-67]"""

def create_event() -> Tuple[int, int]:
    """Makes an event: a point in the order of a stream, to wait for and to measure time with. [Y-81]"""

def create_event_ex_with_flag(flag: int, /) -> Tuple[int, int]:
    """With flags, for an event that may be recorded again and again. [Y-81]"""

def create_event_with_flag(flag: int, /) -> Tuple[int, int]:
    """With flags: 1 sync, 2 capture progress, 8 time line. [Y-81]"""

def create_notify(flag: int, /) -> Tuple[int, int]:
    """Makes a notify: a flag that one stream sets and another waits for and clears."""

def create_stream() -> Tuple[int, int]:
    """Makes a stream in the current context. Work on it runs in order, and independently of other streams. [Y-72]"""

def create_stream_with_config(priority: int, flag: int, /) -> Tuple[int, int]:
    """The same with a priority from 0 (most urgent) to 7, and flags. [Y-73]"""

def ctx_get_current_default_stream() -> Tuple[int, int]:
    """The stream that 0 means in the current context. [Y-69]"""

def ctx_get_sys_param_opt(opt: int, /) -> Tuple[int, int]:
    """An option of the current context."""

def ctx_set_sys_param_opt(opt: int, value: int, /) -> int:
    """Sets an option of the current context."""

def destroy_context(ctx: int, /) -> int:
    """Ends a context that create_context() made, with its streams; waits for their work. [Y-68, Y-71]"""

def destroy_event(event: int, /) -> int:
    """Ends an event. [Y-82]"""

def destroy_notify(notify: int, /) -> int:
    """Ends a notify."""

def destroy_stream(stream: int, /) -> int:
    """Waits for the work of the stream, then ends it. [Y-74]"""

def destroy_stream_force(stream: int, /) -> int:
    """Drops the work of the stream and ends it. [Y-74]"""

def device_can_access_peer(dev: int, peer: int, /) -> Tuple[int, int]:
    """Whether one device can reach the memory of another. [Y-141]"""

def device_disable_peer_access(peer: int, /) -> int:
    """Ends this access. [Y-141]"""

def device_enable_peer_access(peer: int, flags: int, /) -> int:
    """Lets the current device reach the memory of `peer`; `flags` is 0. [Y-141]"""

def device_get_bare_tgid() -> Tuple[int, int]:
    """The id of this process, for lists of processes that share memory or notifies. [Y-134]"""

def device_get_stream_priority_range() -> Tuple[int, int, int]:
    """The priorities that streams may have; smaller is more urgent. [Y-65]"""

def device_get_uuid(dev: int, /) -> Tuple[Dict[str, Any], int]:
    """{"bytes": [16 ints]}. [Y-64]"""

def device_peer_access_status(dev: int, peer: int, /) -> Tuple[int, int]:
    """0 off, 1 on. [Y-141]"""

def device_task_abort(dev: int, ms: int, /) -> int:
    """Stops and drops the work of a device; waits at most `ms` milliseconds for that, 0 for ever."""

def event_elapsed_time(start: int, end: int, /) -> Tuple[float, int]:
    """Milliseconds between two recorded events. [Y-88]"""

def event_get_timestamp(event: int, /) -> Tuple[int, int]:
    """When the event was reached, in microseconds. [Y-89]"""

def free(ptr: int, /) -> int:
    """Frees a block of any device allocator at once, without waiting for streams that may still use it. Only the start of a block can be freed. [Y-96]"""

def free_host(ptr: int, /) -> int:
    """Frees a block of malloc_host(), at once. [Y-97]"""

def free_physical(handle: int, /) -> int:
    """Gives physical memory back; while it is mapped it stays until unmap_mem. [Y-127, V-126]"""

def get_context() -> Tuple[int, int]:
    """The context of this thread; 0 and 107002 without one. [Y-68]"""

def get_device() -> Tuple[int, int]:
    """The device of this thread. Without one `ret` is 107002 and `dev` 0. [Y-58]"""

def get_device_capability(dev: int, feature: int, /) -> Tuple[int, int]:
    """Whether a device has a feature. [Y-65]"""

def get_device_count() -> Tuple[int, int]:
    """How many devices this process sees; works before init(). Always a pair. [Y-59]"""

def get_device_id_from_exception_info(info: int, /) -> int:
    """The device of the task."""

def get_device_info(dev: int, attr: int, /) -> Tuple[int, int]:
    """An attribute of a device, in full 64 bits. [Y-61, Y-186]"""

def get_device_res_limit(dev: int, type: int, /) -> Tuple[int, int]:
    """How many cores of a type this process may use."""

def get_device_sat_mode() -> Tuple[int, int]:
    """What the device's numbers do on overflow."""

def get_device_utilization_rate(dev: int, /) -> Tuple[Dict[str, Any], int]:
    """Percentages with the keys cube_utilization, vector_utilization, aicpu_utilization, memory_utilization and
    utilization_extend. The code is unsigned. [Y-62]"""

def get_devices_topo(dev: int, other: int, /) -> Tuple[int, int]:
    """How two devices are connected. [Y-65]"""

def get_error_code_from_exception_info(info: int, /) -> int:
    """Why it failed."""

def get_event_avail_num() -> Tuple[int, int]:
    """How many events can still be made. [Y-89]"""

def get_event_id(event: int, /) -> Tuple[int, int]:
    """The number of the event. [Y-89, Y-27]"""

def get_last_error(level: int, /) -> int:
    """The last error of this thread; `level` is 0. It is cleared. [Y-66]"""

def get_logic_dev_id_by_phy_dev_id(id: int, /) -> Tuple[int, int]:
    """From the physical number. [Y-65]"""

def get_logic_dev_id_by_user_dev_id(id: int, /) -> Tuple[int, int]:
    """The device's number in the machine, from the number that this process sees. [Y-65]"""

def get_mem_info(attr: int, /) -> Tuple[int, int, int]:
    """Free and total bytes of the current device. `attr` is a kind of memory, not a device: 0 DDR, 1 HBM, 4 HBM huge
    pages, 5 HBM normal pages, ... [Y-112, Y-113]"""

def get_memcpy_desc_size(kind: int, /) -> Tuple[int, int]:
    """How much device memory a copy descriptor takes; kind 6 only. [Y-110]"""

def get_notify_id(notify: int, /) -> Tuple[int, int]:
    """The number of the notify."""

def get_op_execute_timeout() -> Tuple[int, int]:
    """How long an operator may run."""

def get_op_timeout_interval() -> Tuple[int, int]:
    """The steps in which that time can be set."""

def get_overflow_status(ptr: int, size: int, stream: int, /) -> int:
    """Has the stream write the overflow state into 64 bytes of device memory."""

def get_phy_dev_id_by_logic_dev_id(id: int, /) -> Tuple[int, int]:
    """To the physical number. [Y-65]"""

def get_primary_ctx_state(dev: int, /) -> Tuple[int, int, int]:
    """Whether the default context of a device is in use; `flags` is 0. [Y-70]"""

def get_res_in_current_thread(type: int, /) -> Tuple[int, int]:
    """How many cores of a type this thread may use."""

def get_run_mode() -> Tuple[int, int]:
    """1: the program runs on a host, and the device is a card in it. 0: it runs on the device (RC form). [Y-60]"""

def get_stream_attribute(stream: int, attr: int, /) -> Tuple[Dict[str, Any], int]:
    """An attribute, under the key that set_stream_attribute() takes. [Y-80]"""

def get_stream_available_num() -> Tuple[int, int]:
    """How many streams can still be made. [Y-79]"""

def get_stream_id_from_exception_info(info: int, /) -> int:
    """The stream of the task."""

def get_stream_overflow_switch(stream: int, /) -> Tuple[int, int]:
    """Whether overflows are looked for."""

def get_stream_res_limit(stream: int, type: int, /) -> Tuple[int, int]:
    """How many cores of a type the stream may use."""

def get_sys_param_opt(opt: int, /) -> Tuple[int, int]:
    """An option of the process."""

def get_task_id_from_exception_info(info: int, /) -> int:
    """The task that failed."""

def get_thread_id_from_exception_info(info: int, /) -> int:
    """The thread that submitted the task."""

def get_thread_last_task_id() -> Tuple[int, int]:
    """The last task that this thread submitted."""

def get_user_dev_id_by_logic_dev_id(id: int, /) -> Tuple[int, int]:
    """The number that this process sees, from the device's number in the machine. [Y-65]"""

def host_get_device_pointer(ptr: int, flag: int, /) -> Tuple[int, int]:
    """The device address of registered memory; `flag` is 0. [Y-120]"""

def host_register(ptr: int, size: int, type: int, /) -> Tuple[int, int]:
    """Locks memory of the program and gives it an address on the device; its start must be a multiple of 4096.
    Types: 0 mapped, 4 I/O memory, 8 read only. [Y-119, Y-122]"""

def host_register_v2(ptr: int, size: int, flag: int, /) -> int:
    """Flags: 0x2 mapped, 0x4 I/O memory, 0x8 read only, 0x10000000 pinned. [Y-120]"""

def host_unregister(ptr: int, /) -> int:
    """Ends a registration. [Y-121]"""

def ipc_mem_close(key: str, /) -> int:
    """Ends one import of the key here, else the key itself where it was made. Importers close first. [Y-139, V-428]"""

def ipc_mem_get_export_key(ptr: int, size: int, len: int, flags: int, /) -> Tuple[str, int]:
    """A key by which other processes import these bytes of device memory, until ipc_mem_close. `ptr` is at the start of
    a page, `len` is 65; `flags` 0: only processes named with ipc_mem_set_import_pid, 1: any. [Y-135, V-382]"""

def ipc_mem_import_by_key(key: str, flags: int, /) -> Tuple[int, int]:
    """The memory of a key at an address of this process, on the current device; the same for each further import.
    `flags` 1 enables peer access. Close it with ipc_mem_close; do not free it. [Y-138, V-409]"""

def ipc_mem_set_import_pid(key: str, pids: List[Any], /) -> int:
    """Names up to 31 processes that may import it, by what device_get_bare_tgid gives in them, while they run. Calls
    add up. [Y-137, V-398]"""

def launch_callback(fn: Callable[..., object], user_data: object, block_type: int, stream: int, /) -> int:
    """Queues fn(user_data) on a stream. The thread that subscribed calls it inside process_report(). With `block_type` 1
    the stream waits until it has returned, with 0 it goes on. Both objects are kept until it has run. Without a
    subscribed thread: 107015. [Y-157, Y-158, Y-159]"""

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

def malloc_align32(size: int, policy: int, /) -> Tuple[int, int]:
    """Like malloc(), but `size` is only rounded up to 32; nothing is added. [Y-91]"""

def malloc_cached(size: int, policy: int, /) -> Tuple[int, int]:
    """Like malloc(), but knows the policies 0, 1, 2 and 6 only. [Y-92, M-62]"""

def malloc_for_task_scheduler(size: int, policy: int, cfg: Dict[str, Any], /) -> Tuple[int, int]:
    """Memory that the chip's task scheduler can reach. [Y-93]"""

def malloc_host(size: int, /) -> Tuple[int, int]:
    """Page-locked host memory, its start a multiple of 64, not cleared. Python may read and write it through
    acl.util.ptr_to_bytes, acl.util.ptr_to_numpy and ctypes. Free with acl.rt.free_host. [Y-97, Y-98]"""

def malloc_host_with_cfg(size: int, cfg: Dict[str, Any], /) -> Tuple[int, int]:
    """The same with attributes, see malloc_with_cfg(). [Y-93]"""

def malloc_physical(size: int, prop: Dict[str, Any], flags: int, /) -> Tuple[int, int]:
    """Physical memory without an address, in whole pages of 2 MB or 1 GB; `flags` is 0. `prop`, for 2 MB pages of
    device 0: {"handleType": 0, "allocationType": 0, "memAttr": 13, "location": {"id": 0, "type": 1}, "reserve": 0}.
    What is missing is 0, and a misspelled key is missing: without "location" it is host memory.
    [Y-125, Y-126, V-99]"""

def malloc_with_cfg(size: int, policy: int, cfg: Dict[str, Any], /) -> Tuple[int, int]:
    """Like malloc_align32(), with attributes; {} is none:
    {"numAttrs": 1, "attrs": [{"attr": 1, "value": {"moduleId": 33}}]}. A misspelled key is ignored.
    [Y-93, Y-94, Y-95]"""

def map_mem(va: int, size: int, offset: int, handle: int, flags: int, /) -> int:
    """Makes reserved addresses lead to physical memory: `size` is all of it, `offset` and `flags` are 0. Its device,
    or the host, may use it at once. [Y-128, V-132]"""

def mem_export_to_shareable_handle(handle: int, handle_type: int, flags: int, /) -> Tuple[int, int]:
    """A number by which other processes import physical memory; once for each handle. `handle_type` is 0; `flags` 0:
    only processes named with mem_set_pid_to_shareable_handle, 1: any. [Y-131, V-215]"""

def mem_flush(ptr: int, size: int, /) -> int:
    """Checks its arguments; caches need no flushing. [Y-115]"""

def mem_get_allocation_granularity(prop: Dict[str, Any], option: int, /) -> Tuple[int, int]:
    """Of what sizes and addresses must be multiples: 2 MB, or 1 GB for 1 GB pages. `prop` as in malloc_physical;
    `option` is 0 (minimum) or 1 (recommended), which give the same. [Y-129, V-53]"""

def mem_import_from_shareable_handle(shareable: int, device: int, /) -> Tuple[int, int]:
    """A handle of this process to memory of another; map it, and give it back with free_physical. The memory stays as
    long as any process holds it. [Y-133, V-243]"""

def mem_invalidate(ptr: int, size: int, /) -> int:
    """Checks its arguments; caches need no invalidating. [Y-115]"""

def mem_set_pid_to_shareable_handle(shareable: int, pids: List[Any], /) -> int:
    """Names processes that may import it, by what device_get_bare_tgid gives in them, while they run. Calls add up.
    [Y-132, V-232]"""

def memcpy(dst: int, dest_max: int, src: int, count: int, kind: int, /) -> int:
    """Copies `count` bytes and returns when they are there. Kinds: 0 host to host, 1 host to device, 2 device to host,
    3 device to device; the two addresses decide, and a kind that does not fit them does no harm. `dest_max` is only
    compared with `count`. Addresses that the runtime never saw (bytes, numpy, ctypes) are host memory.
    [Y-100, Y-101, Y-102, Y-103]"""

def memcpy2d(dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int, /) -> int:
    """Copies `height` rows of `width` bytes; rows are a pitch apart. Kinds 1, 2 and 4 only. [Y-108, Y-109]"""

def memcpy2d_async(dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int, stream: int, /) -> int:
    """Queues such a copy on a stream. On 950, A3 and A2 kind 3 works, too. [Y-108, Y-109]"""

def memcpy_async(dst: int, dest_max: int, src: int, count: int, kind: int, stream: int, /) -> int:
    """Queues a copy on a stream. Keep both sides alive until the stream was synchronised. With host memory that is not
    page-locked the call returns when the copy is done. Host to host is refused with 207000. [Y-104]"""

def memcpy_async_with_condition(dst: int, dest_max: int, src: int, count: int, kind: int, stream: int, /) -> int:
    """Deprecated; use memcpy_async(). [Y-105]"""

def memcpy_async_with_desc(desc: int, kind: int, stream: int, /) -> int:
    """Queues the copy that a descriptor describes. [Y-110]"""

def memset(ptr: int, max_count: int, value: int, count: int, /) -> int:
    """Fills `count` bytes with the low byte of `value`. [Y-106, Y-107]"""

def memset_async(ptr: int, max_count: int, value: int, count: int, stream: int, /) -> int:
    """Queues a fill on a stream. [Y-106]"""

def notify_batch_reset(notifies: List[Any], /) -> int:
    """Clears all notifies of a list."""

def notify_get_export_key(notify: int, len: int, flags: int, /) -> Tuple[str, int]:
    """A key for other processes; `len` is 65. [Y-41]"""

def notify_import_by_key(key: str, flags: int, /) -> Tuple[int, int]:
    """The notify of another process, by its key."""

def notify_set_import_pid(notify: int, pids: List[Any], /) -> int:
    """Which processes may use the key."""

def peek_at_last_error(level: int, /) -> int:
    """The last error of this thread; `level` is 0. It stays. [Y-66]"""

def pointer_get_attributes(ptr: int, /) -> Tuple[Dict[str, Any], int]:
    """Where an address is: {"location": {"id", "type"}, "page_size", "rsv"}. Types: 0 host, 1 device,
    2 unregistered, 3 managed, 4 host NUMA. [Y-116]"""

def process_report(ms: int, /) -> int:
    """Calls the callbacks that are due on this thread; waits for one at most `ms` milliseconds, -1 for ever.
    507012: none came. 107012: this thread has subscribed to nothing. If a callback raises, its traceback is printed and
    SystemError raised here. Other Python threads run meanwhile. [Y-160, Y-162]"""

def query_device_status(dev: int, /) -> Tuple[int, int]:
    """0 normal, 1 abnormal, 65535 unknown. [Y-63]"""

def query_event(event: int, /) -> Tuple[int, int]:
    """0 complete, 1 not ready. [Y-86]"""

def query_event_status(event: int, /) -> Tuple[int, int]:
    """The other way round: 0 not ready, 1 complete. [Y-86]"""

def query_event_wait_status(event: int, /) -> Tuple[int, int]:
    """Whether all waits for the event are over: 0 complete, 1 not ready. [Y-86]"""

def record_event(event: int, stream: int, /) -> int:
    """Records the event on a stream: it is complete when all work before it is. The event comes first. [Y-83]"""

def record_notify(notify: int, stream: int, /) -> int:
    """Has the stream set the notify."""

def release_mem_address(va: int, /) -> int:
    """Gives a reservation back, by its start; nothing may be mapped in it any more. [Y-124, V-93]"""

def reserve_mem_address(size: int, alignment: int, expect_ptr: int, flags: int, /) -> Tuple[int, int]:
    """Reserves addresses, and no memory. `alignment` and `flags` are 0; `expect_ptr` demands an address, 0 lets the
    runtime choose. Give it back with release_mem_address. [Y-123, V-66]"""

def reset_device(dev: int, /) -> int:
    """Undoes one set_device. The last one waits for the work of the device's default context and frees every block of
    memory that is still allocated. [Y-57]"""

def reset_device_force(dev: int, /) -> int:
    """Resets the device however often it was set. [Y-57]"""

def reset_device_res_limit(dev: int, /) -> int:
    """Allows all cores again."""

def reset_event(event: int, stream: int, /) -> int:
    """Queues a reset: the event is not complete any more; for events with the sync flag. [Y-84]"""

def reset_overflow_status(stream: int, /) -> int:
    """Has the stream clear the overflow state."""

def reset_stream_res_limit(stream: int, /) -> int:
    """Restores the limits of the device."""

def set_context(ctx: int, /) -> int:
    """Makes a context current for this thread. A thread begins without one. [Y-68, Y-45]"""

def set_device(dev: int, /) -> int:
    """Chooses the device that this thread works on and makes its default context current. Counted: each set_device
    needs a reset_device. Other threads choose for themselves. [Y-57, Y-45]"""

def set_device_res_limit(dev: int, type: int, value: int, /) -> int:
    """Sets how many cores of a type this process may use."""

def set_device_sat_mode(mode: int, /) -> int:
    """What the device's numbers do on overflow: 0 saturate, 1 become infinity or NaN."""

def set_exception_info_callback(fn: Optional[Callable[..., object]] = ..., /) -> int:
    """Sets a function fn(info) that is called when a task fails; inside it, pass `info` to the functions below.
    None removes it."""

def set_memcpy_desc(desc: int, kind: int, src: int, dst: int, count: int, config: int, /) -> Tuple[int, int]:
    """Writes a copy descriptor into device memory. The source comes before the destination here. [Y-110]"""

def set_op_execute_time_out(seconds: int, /) -> int:
    """How long an operator may run. Stored; no operator runs here."""

def set_op_execute_timeout_v2(us: int, /) -> Tuple[int, int]:
    """The same in microseconds; `actual` is the value in effect."""

def set_op_wait_timeout(seconds: int, /) -> int:
    """How long a stream waits for an event at most; 0 for ever. [Y-89]"""

def set_stream_attribute(stream: int, attr: int, value: Dict[str, Any], /) -> int:
    """Sets an attribute. `value` has one key: failureMode, overflowSwitch, userCustomTag, or reserved (a list).
    [Y-80]"""

def set_stream_failure_mode(stream: int, mode: int, /) -> int:
    """0: go on after a failed task. 1: stop all streams of the context. [Y-74]"""

def set_stream_overflow_switch(stream: int, flag: int, /) -> int:
    """1: look for overflows in work that comes from now on."""

def set_stream_res_limit(stream: int, type: int, value: int, /) -> int:
    """Sets how many cores of a type the stream may use."""

def set_sys_param_opt(opt: int, value: int, /) -> int:
    """Sets an option of the process."""

def set_ts_device(ts_id: int, /) -> int:
    """Chooses the task scheduler of the device."""

def stream_abort(stream: int, /) -> int:
    """Drops the work of the stream; the stream stays. [Y-74]"""

def stream_get_id(stream: int, /) -> Tuple[int, int]:
    """The number of the stream. [Y-79]"""

def stream_query(stream: int, /) -> Tuple[int, int]:
    """0 all done, 1 not yet; never waits. [Y-78]"""

def stream_wait_event(stream: int, event: int, /) -> int:
    """Has the stream wait for the event. Here the stream comes first. [Y-85]"""

def subscribe_report(thread_id: int, stream: int, /) -> int:
    """Sets the thread that calls the callbacks of a stream: one of acl.util.start_thread, or threading.get_ident().
    A thread may serve several streams of one device, a stream has one thread. [Y-156]"""

def synchronize_device() -> int:
    """Waits for all work of the current context's device. [Y-77]"""

def synchronize_device_with_timeout(ms: int, /) -> int:
    """The same for at most `ms` milliseconds, -1 for ever; then 507046. [Y-77]"""

def synchronize_event(event: int, /) -> int:
    """Waits until the event is complete. [Y-87]"""

def synchronize_event_with_timeout(event: int, ms: int, /) -> int:
    """The same for at most `ms` milliseconds, -1 for ever. [Y-87]"""

def synchronize_stream(stream: int, /) -> int:
    """Waits until all work of the stream is done; 0 is the default stream of the current context. Other Python
    threads run meanwhile. [Y-75, Y-43]"""

def synchronize_stream_with_timeout(stream: int, ms: int, /) -> int:
    """The same for at most `ms` milliseconds, -1 for ever; then 507046, and the work goes on. [Y-76]"""

def unmap_mem(va: int, /) -> int:
    """Ends one mapping, by its start. It waits for no stream: synchronise before. [Y-128, V-161]"""

def unsubscribe_report(thread_id: int, stream: int, /) -> int:
    """Ends the subscription; also after the thread has ended. [Y-156, Y-163]"""

def unuse_stream_res_in_current_thread(stream: int, /) -> int:
    """Ends the use of these limits."""

def use_stream_res_in_current_thread(stream: int, /) -> int:
    """This thread uses the core limits of a stream."""

def value_wait(ptr: int, value: int, flag: int, stream: int, /) -> int:
    """Has the stream wait for 64 bits of device memory: 0 at least, 1 equal, 2 a bit in common, 3 nor. [Y-118]"""

def value_write(ptr: int, value: int, flag: int, stream: int, /) -> int:
    """Has the stream write 64 bits to device memory. [Y-118]"""

def wait_and_reset_notify(notify: int, stream: int, seconds: int, /) -> int:
    """Has the stream wait for the notify and clear it; 0 waits for ever."""
