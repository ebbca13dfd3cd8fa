"""A small block is allocated and freed in each step of a loop; without the mistake it is allocated before it.

ends: 0
"""

import acl
from program import BUG, BYTES, HUGE_FIRST, Device, must

with Device():
    if not BUG:
        block = must(acl.rt.malloc(BYTES, HUGE_FIRST))
    for _ in range(1500):
        if BUG:
            block = must(acl.rt.malloc(BYTES, HUGE_FIRST))
        must(acl.rt.memset(block, BYTES, 0, BYTES))
        if BUG:
            must(acl.rt.free(block))
    if not BUG:
        must(acl.rt.free(block))
