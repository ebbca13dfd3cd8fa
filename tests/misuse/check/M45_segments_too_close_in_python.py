"""A plan of segments leaves out the 32 bytes between them."""

import acl
import belay
from program import BUG, BYTES, HUGE_FIRST, Device, must

with Device():
    block = must(acl.rt.malloc(BYTES, HUGE_FIRST))
    try:
        belay.check_segments(block, [(0, 1000), (1024 if BUG else 1088, 1000)])
    except belay.Error:
        pass
    must(acl.rt.free(block))
