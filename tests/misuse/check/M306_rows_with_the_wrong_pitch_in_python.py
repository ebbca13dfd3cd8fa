"""Rows are copied with a pitch that the destination does not have: the last ones leave it."""

import acl
from program import BUG, HOST_TO_DEVICE, HUGE_FIRST, Device, must

WIDTH, PITCH, HEIGHT = 100, 128, 10
with Device():
    block = must(acl.rt.malloc(PITCH * HEIGHT, HUGE_FIRST))
    source = acl.util.bytes_to_ptr(bytes(WIDTH * HEIGHT))
    must(acl.rt.memcpy2d(block, 144 if BUG else PITCH, source, WIDTH, WIDTH, HEIGHT, HOST_TO_DEVICE))
    must(acl.rt.free(block))
