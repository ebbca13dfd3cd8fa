"""A copy writes to a block that is freed."""

import acl
from program import BUG, BYTES, HOST_TO_DEVICE, HUGE_FIRST, Device, must


class Cache:
    def __init__(self):
        self.block = must(acl.rt.malloc(BYTES, HUGE_FIRST))

    def fill(self, data):
        return acl.rt.memcpy(self.block, BYTES, acl.util.bytes_to_ptr(data), BYTES, HOST_TO_DEVICE)

    def clear(self):
        must(acl.rt.free(self.block))


with Device():
    cache = Cache()
    must(cache.fill(bytes(BYTES)))
    cache.clear()
    if BUG:
        cache.fill(bytes(BYTES))
