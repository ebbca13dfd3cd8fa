"""A copy goes one byte beyond what was asked for."""

import acl
from program import BUG, HOST_TO_DEVICE, HUGE_FIRST, Device, must

SIZE = 1001 if BUG else 1000
with Device():
    block = must(acl.rt.malloc(1000, HUGE_FIRST))
    must(acl.rt.memcpy(block, SIZE, acl.util.bytes_to_ptr(bytes(SIZE)), SIZE, HOST_TO_DEVICE))
    must(acl.rt.free(block))
