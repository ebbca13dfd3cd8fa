"""Data transfer with the plain module ``acl``, as a program for hardware is written.

1 MB goes from host to device, to another block there, and back; every byte is checked. The same file runs on
belay and on a card.

    python3 data_transfer.py            host memory from acl.rt.malloc_host (page-locked)
    python3 data_transfer.py bytes      host memory of Python objects
"""

import sys

import acl

ACL_DEVICE = 0
ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2
ACL_MEMCPY_DEVICE_TO_DEVICE = 3

SIZE = 1024 * 1024
PATTERN = bytes((i * 31 + i // 251) % 256 for i in range(SIZE))


def check(ret, call):
    """Codes raise no exceptions: every one must be checked."""
    if ret != 0:
        message = acl.get_recent_err_msg()  # None when there is none
        sys.exit(f"{call} returned {ret}\n{message or ''}")


def transfer(to_device, to_host, pinned):
    source = target = None
    if pinned:
        source, ret = acl.rt.malloc_host(SIZE)
        check(ret, "acl.rt.malloc_host")
        target, ret = acl.rt.malloc_host(SIZE)
        check(ret, "acl.rt.malloc_host")
        check(acl.rt.memcpy(source, SIZE, acl.util.bytes_to_ptr(PATTERN), SIZE, 0), "acl.rt.memcpy")
    else:
        # The address is that of the object itself: it must live as long as the address is used.
        room = bytes(SIZE)
        source, target = acl.util.bytes_to_ptr(PATTERN), acl.util.bytes_to_ptr(room)

    first, ret = acl.rt.malloc(SIZE, ACL_MEM_MALLOC_HUGE_FIRST)
    check(ret, "acl.rt.malloc")
    second, ret = acl.rt.malloc(SIZE, ACL_MEM_MALLOC_HUGE_FIRST)
    check(ret, "acl.rt.malloc")

    check(acl.rt.memcpy(first, SIZE, source, SIZE, to_device), "acl.rt.memcpy")
    check(acl.rt.memcpy(second, SIZE, first, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE), "acl.rt.memcpy")
    check(acl.rt.memcpy(target, SIZE, second, SIZE, to_host), "acl.rt.memcpy")
    result = acl.util.ptr_to_bytes(target, SIZE)

    # Each block goes back to the function that goes with its allocation.
    check(acl.rt.free(second), "acl.rt.free")
    check(acl.rt.free(first), "acl.rt.free")
    if pinned:
        check(acl.rt.free_host(target), "acl.rt.free_host")
        check(acl.rt.free_host(source), "acl.rt.free_host")
    return result


def main():
    pinned = sys.argv[1:] != ["bytes"]
    check(acl.init(), "acl.init")
    check(acl.rt.set_device(0), "acl.rt.set_device")

    # One memory or two? A program that asks runs in both forms of a product.
    mode, ret = acl.rt.get_run_mode()
    check(ret, "acl.rt.get_run_mode")
    if mode == ACL_DEVICE:
        to_device = to_host = ACL_MEMCPY_DEVICE_TO_DEVICE
    else:
        to_device, to_host = ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST

    print(f"{acl.get_soc_name()}, host memory from {'acl.rt.malloc_host' if pinned else 'Python objects'}")
    result = transfer(to_device, to_host, pinned)

    check(acl.rt.reset_device(0), "acl.rt.reset_device")
    check(acl.finalize(), "acl.finalize")
    if result != PATTERN:
        sys.exit("the bytes that came back are different")
    print(f"{SIZE} bytes there and back, all as expected")


if __name__ == "__main__":
    main()
