"""acl.op"""

# Written by make_stubs.py from the docstrings of the module; do not edit.

from typing import Tuple

def cast(src_desc: object, src_buffer: object, dst_desc: object, dst_buffer: object, truncate: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_attr() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_handle(op_type: object, input_desc: object, output_desc: object, op_attr: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_handle_for_cast(src_desc: object, dst_desc: object, truncate: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_kernel(op_type: object, kernel_id: object, kernel_name: object, bin_data: object, bin_size: object, engine_type: object, deallocator: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def destroy_attr(attr: object, /) -> object:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def destroy_handle(handle: object, /) -> object:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def execute(op_type: object, input_desc: object, inputs: object, output_desc: object, outputs: object, attr: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def execute_v2(op_type: object, input_desc: object, inputs: object, output_desc: object, outputs: object, attr: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def execute_with_handle(handle: object, inputs: object, outputs: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def infer_shape(op_type: object, input_desc: object, inputs: object, num_outputs: object, output_desc: object, attr: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def load(model: object, model_size: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def register_compile_func(op_type: object, func: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_attr_bool(attr: object, attr_name: object, attr_value: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_attr_data_type(attr: object, attr_name: object, attr_value: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_attr_float(attr: object, attr_name: object, attr_value: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_attr_int(attr: object, attr_name: object, attr_value: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_attr_list_bool(attr: object, attr_name: object, values: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_attr_list_data_type(attr: object, attr_name: object, values: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_attr_list_float(attr: object, attr_name: object, values: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_attr_list_int(attr: object, attr_name: object, values: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_attr_list_list_int(attr: object, attr_name: object, values: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_attr_list_string(attr: object, attr_name: object, values: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_attr_string(attr: object, attr_name: object, attr_value: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_kernel_args(kernel_desc: object, kernel_id: object, block_dim: object, args: object, arg_size: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_kernel_workspace_sizes(kernel_desc: object, num_workspaces: object, workspace_sizes: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_max_op_queue_num(max_op_num: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_model_dir(model_dir: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def start_dump_args(dump_type: object, path: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def stop_dump_args(dump_type: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def unregister_compile_func(op_type: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def update_params(op_type: object, input_desc: object, output_desc: object, attr: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""
