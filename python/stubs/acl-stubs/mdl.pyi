"""acl.mdl"""

# Written by make_stubs.py from the docstrings of the module; do not edit.

from typing import Any, Dict, List, Tuple

def add_dataset_buffer(dataset: object, data_buffer: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def bundle_get_model_id(bundle_id: object, index: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def bundle_get_model_num(bundle_id: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def bundle_load_from_file(model_path: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def bundle_load_from_mem(model: object, model_size: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def bundle_unload(bundle_id: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_aipp(batch_size: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_and_get_op_desc(device_id: object, stream_id: object, task_id: object, op_name_len: object, /) -> Tuple[object, int, int, int, int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_config_handle() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_dataset() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_desc() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_exec_config_handle() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def destroy_aipp(aipp_parms_set: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def destroy_config_handle(handle: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def destroy_dataset(dataset: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def destroy_desc(model_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def destroy_exec_config_handle(handle: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dump_reg_callback(callback: object, flag: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dump_unreg_callback() -> object:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def execute(model_id: object, input: object, output: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def execute_async(model_id: object, input: object, output: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def execute_v2(model_id: object, input: object, output: object, stream: object, handle: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def finalize_dump() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_aipp_data_size(batch_size: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_aipp_type(model_id: object, index: object, /) -> Tuple[int, int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_cur_output_dims(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_dataset_buffer(dataset: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_dataset_num_buffers(dataset: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_dataset_tensor_desc(dataset: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_desc(model_desc: object, model_id: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_desc_from_file(model_desc: object, model_path: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_desc_from_mem(model_desc: object, model: object, model_size: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_dynamic_batch(model_desc: object, /) -> Tuple[Dict[str, Any], int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_dynamic_hw(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_first_aipp_info(model_id: object, index: object, /) -> Tuple[Dict[str, Any], int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_input_data_type(model_desc: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_input_dims(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_input_dims_range(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_input_dims_v2(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_input_dynamic_dims(model_desc: object, index: object, gear_count: object, /) -> Tuple[List[Any], int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_input_dynamic_gear_count(model_desc: object, index: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_input_format(model_desc: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_input_index_by_name(model_desc: object, name: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_input_name_by_index(model_desc: object, index: object, /) -> object:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_input_size_by_index(model_desc: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_num_inputs(model_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_num_outputs(model_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_attr(model_desc: object, op_name: object, attr: object, /) -> object:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_output_data_type(model_desc: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_output_dims(model_desc: object, index: object, /) -> Tuple[Dict[str, Any], int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_output_format(model_desc: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_output_index_by_name(model_desc: object, name: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_output_name_by_index(model_desc: object, index: object, /) -> object:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_output_size_by_index(model_desc: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_tensor_real_name(model_desc: object, name: object, /) -> object:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def init_dump() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def load_from_file(model_path: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def load_from_file_with_mem(model_path: object, work_ptr: object, work_size: object, weight_ptr: object, weight_size: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def load_from_file_with_q(model_path: object, input_q: object, input_q_num: object, output_q: object, output_q_num: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def load_from_mem(model: object, model_size: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def load_from_mem_with_mem(model: object, model_size: object, work_ptr: object, work_size: object, weight_ptr: object, weight_size: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def load_from_mem_with_q(model: object, model_size: object, input_q: object, input_q_num: object, output_q: object, output_q_num: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def load_with_config(handle: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def query_size(file_name: object, /) -> Tuple[int, int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def query_size_from_mem(model: object, model_size: object, /) -> Tuple[int, int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_ax_swap_switch(aipp_parms_set: object, ax_swap_switch: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_by_input_index(model_id: object, dataset: object, index: object, aipp_parms_set: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_crop_params(aipp_parms_set: object, crop_switch: object, start_w: object, start_h: object, size_w: object, size_h: object, batch_index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_csc_params(aipp_parms_set: object, csc_switch: object, nine: object, output_bias_r0: object, input_bias_r0: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_dtc_pixel_mean(aipp_parms_set: object, chn0: object, chn1: object, chn2: object, chn3: object, batch_index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_dtc_pixel_min(aipp_parms_set: object, chn0: object, chn1: object, chn2: object, chn3: object, batch_index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_input_format(aipp_parms_set: object, input_format: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_padding_params(aipp_parms_set: object, padding_switch: object, top: object, bottom: object, left: object, right: object, batch_index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_pixel_var_reci(aipp_parms_set: object, chn0: object, chn1: object, chn2: object, chn3: object, batch_index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_rbuv_swap_switch(aipp_parms_set: object, rbuv_swap_switch: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_scf_params(aipp_parms_set: object, scf_switch: object, input_w: object, input_h: object, output_w: object, output_h: object, batch_index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_aipp_src_image_size(aipp_parms_set: object, src_image_size_w: object, src_image_size_h: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_config_opt(handle: object, attr: object, attr_value: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_dataset_tensor_desc(dataset: object, tensor_desc: object, index: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_dump(dump_cfg_path: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_dynamic_batch_size(model_id: object, dataset: object, index: object, batch_size: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_dynamic_hw_size(model_id: object, dataset: object, index: object, height: object, width: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_exec_config_opt(handle: object, attr: object, attr_value: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_input_aipp(model_id: object, dataset: object, index: object, aipp_parms_set: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_input_dynamic_dims(model_id: object, dataset: object, index: object, dims: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def unload(model_id: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""
