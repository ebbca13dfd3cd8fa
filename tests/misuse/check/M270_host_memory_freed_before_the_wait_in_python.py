"""Pinned host memory is freed right after a copy from it is queued."""

import acl
from program import BUG, BYTES, HOST_TO_DEVICE, HUGE_FIRST, Device, must

with Device():
    block = must(acl.rt.malloc(BYTES, HUGE_FIRST))
    host = must(acl.rt.malloc_host(BYTES))
    stream = must(acl.rt.create_stream())
    must(acl.rt.memcpy_async(block, BYTES, host, BYTES, HOST_TO_DEVICE, stream))
    if not BUG:
        must(acl.rt.synchronize_stream(stream))
    must(acl.rt.free_host(host))
    must(acl.rt.destroy_stream(stream))
    must(acl.rt.free(block))
