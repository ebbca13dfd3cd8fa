"""A model's memory sleeps and wakes, with the plain module ``acl``.

While a model sleeps, its weights are in host memory and it holds no device memory, but it keeps its addresses. When it
wakes, every pointer that the program has kept is valid again. The same file runs on belay and on a card.
"""

import sys

import acl

ACL_HBM_MEM = 1
ACL_HBM_MEM_HUGE = 4
ACL_MEM_LOCATION_TYPE_DEVICE = 1
ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0
ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2

MB = 1024 * 1024


def check(ret, call):
    """Codes raise no exceptions: every one must be checked."""
    if ret != 0:
        message = acl.get_recent_err_msg()  # None when there is none
        sys.exit(f"{call} returned {ret}\n{message or ''}")


def write(address, data):
    check(acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data), len(data), ACL_MEMCPY_HOST_TO_DEVICE),
          "acl.rt.memcpy")


def read(address, size):
    data = bytes(size)
    check(acl.rt.memcpy(acl.util.bytes_to_ptr(data), size, address, size, ACL_MEMCPY_DEVICE_TO_HOST), "acl.rt.memcpy")
    return data


class SleepingBlock:
    def __init__(self, device, size):
        # A dict stands for the C structure aclrtPhysicalMemProp; keys that are left out count as 0.
        self.property = {"memAttr": ACL_HBM_MEM_HUGE,
                         "location": {"id": device, "type": ACL_MEM_LOCATION_TYPE_DEVICE}}
        step, ret = acl.rt.mem_get_allocation_granularity(self.property, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM)
        check(ret, "acl.rt.mem_get_allocation_granularity")
        self.size = (size + step - 1) // step * step
        self.address, ret = acl.rt.reserve_mem_address(self.size, 0, 0, 0)
        check(ret, "acl.rt.reserve_mem_address")
        self.get_memory()

    def get_memory(self):
        self.handle, ret = acl.rt.malloc_physical(self.size, self.property, 0)
        check(ret, "acl.rt.malloc_physical")
        check(acl.rt.map_mem(self.address, self.size, 0, self.handle, 0), "acl.rt.map_mem")

    def give_memory_back(self):
        check(acl.rt.unmap_mem(self.address), "acl.rt.unmap_mem")
        check(acl.rt.free_physical(self.handle), "acl.rt.free_physical")

    def sleep(self):
        """Work that uses the block must be over: unmapping waits for no stream."""
        self.kept = read(self.address, self.size)
        self.give_memory_back()

    def wake(self):
        self.get_memory()
        write(self.address, self.kept)
        self.kept = None

    def close(self):
        self.give_memory_back()
        check(acl.rt.release_mem_address(self.address), "acl.rt.release_mem_address")


def free_memory():
    free, _total, ret = acl.rt.get_mem_info(ACL_HBM_MEM)
    check(ret, "acl.rt.get_mem_info")
    return free


def main():
    check(acl.init(), "acl.init")
    check(acl.rt.set_device(0), "acl.rt.set_device")
    before = free_memory()

    def used():
        return f"{(before - free_memory()) // MB} MB in use"

    weights = SleepingBlock(0, 100 * MB)
    numbers = bytes((i * 7 + i // 253) % 256 for i in range(MB))
    layer = weights.address + 30 * MB  # a pointer that the program keeps
    write(weights.address, bytes(weights.size))
    write(layer, numbers)
    print(f"the model is awake: {used()}")

    weights.sleep()
    print(f"it sleeps: {used()}")
    print("a fill at its addresses returns", acl.rt.memset(layer, 1, 0, 1), "meanwhile")

    other, ret = acl.rt.malloc(300 * MB, ACL_MEM_MALLOC_HUGE_FIRST)
    check(ret, "acl.rt.malloc")
    write(other, numbers)
    print(f"another model uses the device: {used()}")
    check(acl.rt.free(other), "acl.rt.free")

    weights.wake()
    same = read(layer, MB) == numbers
    print(f"it is awake again: {used()}, and the old pointer leads to {'the same numbers' if same else 'others'}")
    weights.close()
    good = same and free_memory() == before

    check(acl.rt.reset_device(0), "acl.rt.reset_device")
    check(acl.finalize(), "acl.finalize")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
