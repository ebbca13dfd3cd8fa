"""acl.util"""

# Written by make_stubs.py from the docstrings of the module; do not edit.

from typing import Callable, Tuple

import numpy

def bytes_to_ptr(data: bytes, /) -> int:
    """The address of the object's own bytes; nothing is copied. Keep `data` as long as the address is used. A copy into it
    changes `data`, which is how results come back; never do that to an empty or one-byte object, which the whole
    interpreter shares. [Y-142, Y-143, Y-144]"""

def numpy_contiguous_to_ptr(arr: numpy.ndarray, /) -> Tuple[int, numpy.ndarray]:
    """The address of the array, and the array to keep: `arr` itself if it is C-contiguous, else a copy that is. [Y-148]"""

def numpy_to_ptr(arr: numpy.ndarray, /) -> int:
    """The address of the array's first element; nothing is copied. Warns: use bytes_to_ptr(arr.tobytes()). [Y-147]"""

def ptr_to_bytes(ptr: int, size: int, /) -> bytes:
    """A copy of `size` bytes of host memory. Device memory must be copied to the host first: ValueError. [Y-145, Y-146]"""

def ptr_to_numpy(ptr: int, shape: Tuple[int, ...], npy_type: int, /) -> numpy.ndarray:
    """An array over that memory: writable, not its owner. It does not notice when the memory is freed. Types by numpy's
    numbers: 0 bool, 1 int8, 2 uint8, 3 int16, 4 uint16, 5 int32, 6 uint32, 7 int64, 8 uint64, 11 float32, 12 float64,
    23 float16. [Y-149]"""

def start_thread(fn: Callable[..., object], args: object, /) -> Tuple[int, int]:
    """Starts a thread that calls fn(args), with the one object, or fn() if it is None. The number is that of
    threading.get_ident() inside it. The thread has no context: call acl.rt.set_context in it. `err` is 0 or an errno
    value. [Y-150, Y-151]"""

def stop_thread(thread_id: int, /) -> int:
    """Waits until the thread has ended; it does not stop it. RuntimeError if its function raised, 3 if there is no such
    thread (any more). [Y-152, Y-153, Y-155]"""
