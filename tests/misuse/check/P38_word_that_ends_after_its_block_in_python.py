"""A stream writes a word of eight bytes to the last four of a block."""

import acl
from program import BUG, HUGE_FIRST, Device, must

SIZE = 100
with Device():
    block = must(acl.rt.malloc(SIZE, HUGE_FIRST))
    stream = must(acl.rt.create_stream())
    must(acl.rt.value_write(block + (96 if BUG else 88), 1, 0, stream))
    must(acl.rt.synchronize_stream(stream))
    must(acl.rt.destroy_stream(stream))
    must(acl.rt.free(block))
