"""acl.media"""

# Written by make_stubs.py from the docstrings of the module; do not edit.

from typing import Any, Dict, Tuple

def dvpp_free(ptr: int, /) -> int:
    """Frees a block of dvpp_malloc(). [Y-169]"""

def dvpp_malloc(size: int, /) -> Tuple[int, int]:
    """Device memory for media functions of version 1: its start a multiple of 128, `size` rounded up to 32 plus 32.
    [Y-169, Y-220]"""

def dvpp_malloc_with_cfg(size: int, policy: int, cfg: Dict[str, Any], /) -> Tuple[int, int]:
    """Like dvpp_malloc(); policy and attributes choose nothing. [Y-170]"""
