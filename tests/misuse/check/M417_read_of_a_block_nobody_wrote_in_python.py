"""A block is read right after it was allocated."""

import acl
from program import BUG, BYTES, HUGE_FIRST, Device, must

DEVICE_TO_HOST = 2

with Device():
    block = must(acl.rt.malloc(BYTES, HUGE_FIRST))
    host = must(acl.rt.malloc_host(BYTES))
    if not BUG:
        must(acl.rt.memset(block, BYTES, 0, BYTES))
    must(acl.rt.memcpy(host, BYTES, block, BYTES, DEVICE_TO_HOST))
    must(acl.rt.free_host(host))
    must(acl.rt.free(block))
