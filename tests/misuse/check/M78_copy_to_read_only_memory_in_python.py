"""A copy changes a block that was allocated read-only."""

import acl
from program import BUG, BYTES, HOST_TO_DEVICE, HUGE_FIRST, Device, must

READ_ONLY = 0x100000
with Device():
    block = must(acl.rt.malloc(BYTES, READ_ONLY if BUG else HUGE_FIRST))
    acl.rt.memcpy(block, BYTES, acl.util.bytes_to_ptr(bytes(BYTES)), BYTES, HOST_TO_DEVICE)
    must(acl.rt.free(block))
