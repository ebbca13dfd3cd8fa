"""The source of a queued copy is changed before the program waited for the copy."""

import ctypes

import acl
from program import BUG, BYTES, HOST_TO_DEVICE, HUGE_FIRST, Device, must

with Device():
    block = must(acl.rt.malloc(BYTES, HUGE_FIRST))
    host = must(acl.rt.malloc_host(BYTES))
    stream = must(acl.rt.create_stream())
    ctypes.memset(host, 1, BYTES)
    must(acl.rt.memcpy_async(block, BYTES, host, BYTES, HOST_TO_DEVICE, stream))
    if not BUG:
        must(acl.rt.synchronize_stream(stream))
    ctypes.memset(host + BYTES - 1, 2, 1)
    must(acl.rt.synchronize_stream(stream))
    must(acl.rt.free_host(host))
    must(acl.rt.destroy_stream(stream))
    must(acl.rt.free(block))
