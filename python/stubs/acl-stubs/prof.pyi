"""acl.prof"""

# Written by make_stubs.py from the docstrings of the module; do not edit.

from typing import Tuple

def create_config(device_id_list: object, aicore_metrics: object, aicore_events: object, data_type_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_stamp() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_step_info() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_subscribe_config(time_info_switch: object, aicore_metrics: object, fd: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def destroy_config(profiler_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def destroy_stamp(stamp: object, /) -> object:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def destroy_step_info(step_info: object, /) -> object:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def destroy_subscribe_config(prof_subscribe_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def finalize() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_model_id(op_info: object, op_info_len: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_desc_size() -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_duration(op_info: object, op_info_len: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_end(op_info: object, op_info_len: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_name(op_info: object, op_info_len: object, index: object, op_name_len: object, /) -> Tuple[object, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_name_len(op_info: object, op_info_len: object, index: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_name_v2(op_info: object, op_info_len: object, index: object, /) -> Tuple[object, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_num(op_info: object, op_info_len: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_start(op_info: object, op_info_len: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_type(op_info: object, op_info_len: object, index: object, op_type_len: object, /) -> Tuple[object, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_type_len(op_info: object, op_info_len: object, index: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_op_type_v2(op_info: object, op_info_len: object, index: object, /) -> Tuple[object, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def get_step_timestamp(step_info: object, tag: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def init(profiler_result_path: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def mark(stamp: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def mark_ex(msg: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def model_subscribe(model_id: object, prof_subscribe_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def model_un_subscribe(model_id: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def model_unsubscribe(model_id: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def pop() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def push(stamp: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def range_start(stamp: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def range_stop(range_id: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_config(config_type: object, config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def set_stamp_trace_message(stamp: object, msg: object, msg_len: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def start(profiler_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def stop(profiler_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""
