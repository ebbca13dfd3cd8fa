"""acl.himpi"""

# Written by make_stubs.py from the docstrings of the module; do not edit.

from typing import Tuple

def dvpp_free(ptr: int, /) -> int:
    """Frees a block of dvpp_malloc(). [Y-172]"""

def dvpp_malloc(dev: int, size: int, /) -> Tuple[int, int]:
    """Device memory for media functions of version 2: its start a multiple of 128. `dev` is ignored; the current device
    is used. The code is unsigned. [Y-172, Y-220]"""

def sys_exit() -> int:
    """Accepted; there is nothing to end. [Y-173]"""

def sys_init() -> int:
    """Accepted; there is nothing to start. [Y-173]"""
