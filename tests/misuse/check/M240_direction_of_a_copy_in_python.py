"""A copy to a device says that it goes to the host; the addresses decide, and it works."""

import acl
from program import BUG, BYTES, HOST_TO_DEVICE, HUGE_FIRST, Device, must

DEVICE_TO_HOST = 2
with Device():
    block = must(acl.rt.malloc(BYTES, HUGE_FIRST))
    kind = DEVICE_TO_HOST if BUG else HOST_TO_DEVICE
    must(acl.rt.memcpy(block, BYTES, acl.util.bytes_to_ptr(bytes(BYTES)), BYTES, kind))
    must(acl.rt.free(block))
