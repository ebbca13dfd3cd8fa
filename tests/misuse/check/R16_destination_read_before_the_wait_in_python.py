"""Bytes that a queued copy brings are read before the wait.

options: --watch-host
environment: BELAY_SCHEDULE=lazy
"""

import ctypes

import acl
from program import BUG, BYTES, HUGE_FIRST, Device, must

DEVICE_TO_HOST = 2

with Device():
    block = must(acl.rt.malloc(BYTES, HUGE_FIRST))
    must(acl.rt.memset(block, BYTES, 7, BYTES))
    host = must(acl.rt.malloc_host(BYTES))
    stream = must(acl.rt.create_stream())
    must(acl.rt.memcpy_async(host, BYTES, block, BYTES, DEVICE_TO_HOST, stream))
    if not BUG:
        must(acl.rt.synchronize_stream(stream))
    byte = ctypes.c_ubyte.from_address(host + 100)
    found = byte.value
    must(acl.rt.synchronize_stream(stream))
    must(byte.value - 7)
    must(acl.rt.free_host(host))
    must(acl.rt.destroy_stream(stream))
    must(acl.rt.free(block))
