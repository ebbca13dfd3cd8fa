"""A reservation is released before its mapping is ended."""

import acl
from program import BUG, Device, must

SIZE = 2 << 20  # one page
HBM_MEM_HUGE, ON_A_DEVICE = 4, 1
with Device():
    prop = {"memAttr": HBM_MEM_HUGE, "location": {"id": 0, "type": ON_A_DEVICE}}
    place = must(acl.rt.reserve_mem_address(SIZE, 0, 0, 0))
    handle = must(acl.rt.malloc_physical(SIZE, prop, 0))
    must(acl.rt.map_mem(place, SIZE, 0, handle, 0))
    if BUG:
        acl.rt.release_mem_address(place)
    must(acl.rt.unmap_mem(place))
    must(acl.rt.free_physical(handle))
    must(acl.rt.release_mem_address(place))
