"""The functions of the vendor's acl.rt, each with the C function behind it."""

from call_table import camel

_NAMES = """
    set_device reset_device reset_device_force get_device get_device_count get_run_mode get_device_info
    get_device_capability get_device_utilization_rate query_device_status device_get_uuid get_devices_topo
    device_get_stream_priority_range device_get_bare_tgid device_can_access_peer device_enable_peer_access
    device_disable_peer_access device_peer_access_status get_logic_dev_id_by_user_dev_id
    get_user_dev_id_by_logic_dev_id get_logic_dev_id_by_phy_dev_id get_phy_dev_id_by_logic_dev_id
    create_context destroy_context set_context get_context ctx_get_current_default_stream
    get_primary_ctx_state create_stream create_stream_with_config destroy_stream destroy_stream_force
    stream_query stream_get_id stream_abort get_stream_available_num set_stream_failure_mode
    set_stream_attribute get_stream_attribute synchronize_stream synchronize_stream_with_timeout
    synchronize_device synchronize_device_with_timeout create_event create_event_with_flag
    create_event_ex_with_flag destroy_event record_event reset_event query_event query_event_status
    query_event_wait_status synchronize_event synchronize_event_with_timeout event_elapsed_time
    event_get_timestamp get_event_id get_event_avail_num stream_wait_event set_op_wait_timeout
    process_report subscribe_report unsubscribe_report launch_callback malloc malloc_align32 malloc_cached
    malloc_with_cfg malloc_for_task_scheduler free malloc_host malloc_host_with_cfg free_host host_register
    host_register_v2 host_unregister host_get_device_pointer get_mem_info mem_flush mem_invalidate memcpy
    memcpy_async memcpy_async_with_condition get_memcpy_desc_size set_memcpy_desc memcpy_async_with_desc
    memcpy2d memcpy2d_async memset memset_async reserve_mem_address release_mem_address malloc_physical
    free_physical map_mem unmap_mem mem_export_to_shareable_handle mem_set_pid_to_shareable_handle
    mem_import_from_shareable_handle mem_get_allocation_granularity pointer_get_attributes
    ipc_mem_get_export_key ipc_mem_set_import_pid ipc_mem_import_by_key ipc_mem_close value_write value_wait
    cmo_async reduce_async peek_at_last_error get_last_error
    binary_load_from_file binary_load_from_data get_function_addr get_function_name register_cpu_func
    create_binary destroy_binary binary_load binary_unload binary_get_function launch_kernel
    launch_kernel_with_config kernel_args_init kernel_args_init_by_user_mem kernel_args_get_mem_size
    kernel_args_get_handle_mem_size kernel_args_append kernel_args_append_place_holder
    kernel_args_get_place_holder_buffer kernel_args_para_update kernel_args_finalize set_device_sat_mode
    get_device_sat_mode set_ts_device get_overflow_status reset_overflow_status set_stream_overflow_switch
    get_stream_overflow_switch get_thread_last_task_id set_exception_info_callback
    get_error_code_from_exception_info get_task_id_from_exception_info get_stream_id_from_exception_info
    get_thread_id_from_exception_info get_device_id_from_exception_info set_op_execute_time_out
    set_op_execute_timeout_v2 get_op_timeout_interval get_op_execute_timeout ctx_set_sys_param_opt
    ctx_get_sys_param_opt set_sys_param_opt get_sys_param_opt device_task_abort
    allocator_create_desc allocator_destroy_desc allocator_set_obj_to_desc allocator_set_alloc_func_to_desc
    allocator_set_free_func_to_desc allocator_set_alloc_advise_func_to_desc
    allocator_set_get_addr_from_block_func_to_desc allocator_register allocator_unregister
    create_notify destroy_notify record_notify wait_and_reset_notify get_notify_id notify_batch_reset
    notify_get_export_key notify_set_import_pid notify_import_by_key
    get_device_res_limit set_device_res_limit reset_device_res_limit get_stream_res_limit
    set_stream_res_limit reset_stream_res_limit use_stream_res_in_current_thread
    unuse_stream_res_in_current_thread get_res_in_current_thread
""".split()

_ODD = {
    "set_context": "aclrtSetCurrentContext",
    "get_context": "aclrtGetCurrentContext",
    "unsubscribe_report": "aclrtUnSubscribeReport",
    "set_op_execute_timeout_v2": "aclrtSetOpExecuteTimeOutV2",
    "get_op_timeout_interval": "aclrtGetOpTimeOutInterval",
    "allocator_set_get_addr_from_block_func_to_desc": "aclrtAllocatorSetGetAddrFromBlockFuncToDesc",
}

# name in acl.rt -> name in C
RT_NAMES = {name: _ODD.get(name, "aclrt" + camel(name)) for name in _NAMES}
