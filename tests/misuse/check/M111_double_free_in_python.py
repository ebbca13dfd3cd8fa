"""A block is freed by the one who made it, and again by the one who used it."""

import acl
from program import BUG, BYTES, HUGE_FIRST, Device, must


def make():
    return must(acl.rt.malloc(BYTES, HUGE_FIRST))


def drop(block):
    must(acl.rt.free(block))


with Device():
    block = make()
    drop(block)
    if BUG:
        acl.rt.free(block)
