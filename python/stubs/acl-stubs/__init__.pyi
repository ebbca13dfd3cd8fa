"""AscendCL from Python."""

# Written by make_stubs.py from the docstrings of the module; do not edit.

from typing import Any, Dict, List, Optional, Tuple

from . import rt as rt, mdl as mdl, media as media, op as op, blas as blas, util as util, prof as prof, himpi as himpi, fv as fv

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
