"""A buffer that grows without moving, with the plain module ``acl``.

Addresses are reserved once. Physical memory has no address of its own; it is mapped into the reserved ones piece by
piece, and all pieces together are used as one block. The same file runs on belay and on a card.
"""

import sys

import acl

ACL_HBM_MEM = 1
ACL_HBM_MEM_HUGE = 4
ACL_MEM_LOCATION_TYPE_DEVICE = 1
ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2

MB = 1024 * 1024


def check(ret, call):
    """Codes raise no exceptions: every one must be checked."""
    if ret != 0:
        message = acl.get_recent_err_msg()  # None when there is none
        sys.exit(f"{call} returned {ret}\n{message or ''}")


class GrowingBuffer:
    def __init__(self, device, most):
        # A dict stands for the C structure aclrtPhysicalMemProp.
        self.property = {
            "handleType": 0,
            "allocationType": 0,
            "memAttr": ACL_HBM_MEM_HUGE,
            "location": {"id": device, "type": ACL_MEM_LOCATION_TYPE_DEVICE},
            "reserve": 0,
        }
        self.handles = []
        # Everything happens in multiples of this: sizes of memory, and places where it is mapped.
        self.step, ret = acl.rt.mem_get_allocation_granularity(self.property, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM)
        check(ret, "acl.rt.mem_get_allocation_granularity")
        # Size, alignment, wished address, flags: nothing is wished. Addresses cost no memory.
        self.start, ret = acl.rt.reserve_mem_address(most, 0, 0, 0)
        check(ret, "acl.rt.reserve_mem_address")

    @property
    def size(self):
        return len(self.handles) * self.step

    def resize(self, size):
        while self.size < size:
            handle, ret = acl.rt.malloc_physical(self.step, self.property, 0)
            check(ret, "acl.rt.malloc_physical")
            check(acl.rt.map_mem(self.start + self.size, self.step, 0, handle, 0), "acl.rt.map_mem")
            self.handles.append(handle)
        while self.size >= size + self.step:
            handle = self.handles.pop()
            check(acl.rt.unmap_mem(self.start + self.size), "acl.rt.unmap_mem")
            check(acl.rt.free_physical(handle), "acl.rt.free_physical")

    def close(self):
        self.resize(0)
        check(acl.rt.release_mem_address(self.start), "acl.rt.release_mem_address")


def free_memory():
    free, _total, ret = acl.rt.get_mem_info(ACL_HBM_MEM)
    check(ret, "acl.rt.get_mem_info")
    return free


def main():
    check(acl.init(), "acl.init")
    check(acl.rt.set_device(0), "acl.rt.set_device")
    before = free_memory()

    buffer = GrowingBuffer(0, 1024 * MB)
    print(f"1024 MB of addresses are reserved; memory used: {(before - free_memory()) // MB} MB")
    written = bytes((i * 13 + i // 251) % 256 for i in range(3 * MB))
    buffer.resize(len(written))
    check(acl.rt.memcpy(buffer.start, buffer.size, acl.util.bytes_to_ptr(written), len(written),
                        ACL_MEMCPY_HOST_TO_DEVICE), "acl.rt.memcpy")

    for wished in (3 * MB, 40 * MB, 300 * MB, 12 * MB):
        buffer.resize(wished)
        # One fill over all that was mapped in pieces.
        rest = wished - len(written)
        if rest:
            check(acl.rt.memset(buffer.start + len(written), rest, 0, rest), "acl.rt.memset")
        found = bytes(len(written))
        check(acl.rt.memcpy(acl.util.bytes_to_ptr(found), len(found), buffer.start, len(found),
                            ACL_MEMCPY_DEVICE_TO_HOST), "acl.rt.memcpy")
        if found != written:
            sys.exit("the contents are lost")
        print(f"{wished // MB:3} MB wished: {(before - free_memory()) // MB:3} MB used, same address, same contents")

    buffer.close()
    if free_memory() != before:
        sys.exit("some memory is missing")
    print("at the end all memory is given back")
    check(acl.rt.reset_device(0), "acl.rt.reset_device")
    check(acl.finalize(), "acl.finalize")


if __name__ == "__main__":
    main()
