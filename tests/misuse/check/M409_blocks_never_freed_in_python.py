"""Three blocks are lost; all come from one line."""

import acl
from program import BUG, BYTES, HUGE_FIRST, Device, must

with Device():
    for _ in range(3):
        block = must(acl.rt.malloc(BYTES, HUGE_FIRST))
        if not BUG:
            must(acl.rt.free(block))
