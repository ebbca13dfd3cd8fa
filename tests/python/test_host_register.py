"""Registering memory of the program (Y-119 to Y-122)."""

import ctypes
import mmap
import os

import pytest

import acl
from support import ok, run

PAGE = 4096


class Mapping:
    """Pages of the process; `protection` as of mmap."""

    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                          ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

    def __init__(self, size, protection=mmap.PROT_READ | mmap.PROT_WRITE, file=None, shared=False):
        self.size = size
        flags = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
        if file is None:
            flags |= mmap.MAP_ANONYMOUS
        self.address = self.libc.mmap(None, size, protection, flags, -1 if file is None else file, 0)
        assert self.address != ctypes.c_void_p(-1).value

    def __enter__(self):
        return self

    def __exit__(self, *_):
        assert self.libc.munmap(self.address, self.size) == 0


@pytest.fixture
def memory(device):
    with Mapping(4 * PAGE) as mapping:
        yield mapping.address


def kind_of(address):
    return ok(acl.rt.pointer_get_attributes(address))["location"]["type"]


def test_y119_register(memory):
    dev_ptr, ret = acl.rt.host_register(memory, 2 * PAGE, 0)
    assert ret == 0 and type(dev_ptr) is int and dev_ptr != 0
    assert kind_of(memory) == 0 and kind_of(memory + 2 * PAGE) == 2
    ctypes.memset(memory, 7, 2 * PAGE)
    assert acl.rt.host_register(memory, 2 * PAGE, 0) == (0, 507910)
    ok(acl.rt.host_unregister(memory))
    assert kind_of(memory) == 2
    assert ctypes.string_at(memory, 2 * PAGE) == bytes([7]) * 2 * PAGE


def test_y119_registered_memory_is_copied_in_the_stream(memory):
    ok(acl.rt.host_register(memory, PAGE, 0))
    block = ok(acl.rt.malloc(PAGE, 2))
    ctypes.memset(memory, 9, PAGE)
    ok(acl.rt.memcpy_async(block, PAGE, memory, PAGE, 1, 0))
    ok(acl.rt.synchronize_stream(0))
    back = bytes(bytearray(PAGE))
    ok(acl.rt.memcpy(acl.util.bytes_to_ptr(back), PAGE, block, PAGE, 2))
    assert back == bytes([9]) * PAGE
    ok(acl.rt.free(block))
    ok(acl.rt.host_unregister(memory))


@pytest.mark.parametrize("kind", [1, 2, 3, 4, 8, 12, 16, -1, 2 ** 31 - 1])
def test_y119_other_types_answer_207000(memory, kind):
    assert acl.rt.host_register(memory, PAGE, kind) == (0, 207000)
    assert kind_of(memory) == 2


def test_y119_nothing_to_register(memory):
    assert acl.rt.host_register(0, PAGE, 0) == (0, 100000)
    assert acl.rt.host_register(memory, 0, 0) == (0, 100000)


def test_y119_products_without_registration(fresh):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        assert acl.rt.host_register(4096, 4096, 0) == (0, 207000)
        assert acl.rt.host_register_v2(4096, 4096, 2) == 207000
        assert acl.rt.host_get_device_pointer(4096, 0) == (0, 207000)
        assert acl.rt.host_unregister(4096) == 207000
        """, env={"BELAY_PRODUCT": "310P"})


@pytest.mark.parametrize("flag", [2, 0x10000000, 0x10000002, 2 ** 32 + 2])
def test_y120_register_v2(memory, flag):
    result = acl.rt.host_register_v2(memory, PAGE, flag)
    assert type(result) is int and result == 0
    assert kind_of(memory) == 0
    mapped = flag & 2
    dev_ptr, ret = acl.rt.host_get_device_pointer(memory, 0)
    assert (dev_ptr != 0, ret) == (bool(mapped), 0 if mapped else 107000)
    ok(acl.rt.host_unregister(memory))


@pytest.mark.parametrize("flag, answer", [
    (0, 107000), (1, 107000), (0x40, 107000), (4, 207000), (8, 207000), (6, 207000), (2 ** 32, 107000)])
def test_y120_flags_that_are_refused(memory, flag, answer):
    assert acl.rt.host_register_v2(memory, PAGE, flag) == answer
    assert kind_of(memory) == 2


def test_y120_the_device_pointer(memory):
    assert acl.rt.host_get_device_pointer(memory, 0) == (0, 107000)
    ok(acl.rt.host_register_v2(memory, 2 * PAGE, 2))
    dev_ptr = ok(acl.rt.host_get_device_pointer(memory, 0))
    assert type(dev_ptr) is int and dev_ptr != 0
    assert acl.rt.host_get_device_pointer(memory, 2 ** 32) == (dev_ptr, 0)  # u32: 0
    assert acl.rt.host_get_device_pointer(memory, 1) == (0, 100000)
    assert acl.rt.host_get_device_pointer(0, 0) == (0, 100000)
    assert acl.rt.host_get_device_pointer(memory + PAGE, 0) == (0, 107000)  # not its start
    ok(acl.rt.host_unregister(memory))
    assert acl.rt.host_get_device_pointer(memory, 0) == (0, 107000)


def test_y121_unregister(memory):
    ok(acl.rt.host_register(memory, PAGE, 0))
    assert acl.rt.host_unregister(memory + 8) == 507911
    result = acl.rt.host_unregister(memory)
    assert type(result) is int and result == 0
    assert acl.rt.host_unregister(memory) == 507911
    assert acl.rt.host_unregister(0) == 100000


@pytest.mark.parametrize("offset", [1, 64, 2048, 4095])
def test_y122_the_address_is_a_multiple_of_a_page(memory, offset):
    assert acl.rt.host_register(memory + offset, PAGE, 0) == (0, 507899)
    assert acl.rt.host_register_v2(memory + offset, PAGE, 2) == 507899
    ok(acl.rt.host_register(memory + PAGE, PAGE, 0))
    ok(acl.rt.host_unregister(memory + PAGE))


def test_y122_a_size_that_is_no_multiple_of_a_page_is_fine(memory):
    ok(acl.rt.host_register(memory, 100, 0))
    ok(acl.rt.host_unregister(memory))


@pytest.mark.parametrize("shared", [False, True], ids=["private", "shared"])
def test_y122_a_file_mapped_without_write_permission_is_refused(device, tmp_path, shared):
    path = tmp_path / "weights"
    path.write_bytes(bytes(range(256)) * 32)
    file = os.open(str(path), os.O_RDONLY)
    try:
        with Mapping(2 * PAGE, mmap.PROT_READ, file, shared) as mapping:
            answers = []
            for register in (lambda: acl.rt.host_register(mapping.address, 2 * PAGE, 0)[1],
                             lambda: acl.rt.host_register_v2(mapping.address, 2 * PAGE, 2)):
                answers.append(register())
                acl.rt.host_unregister(mapping.address)  # a broken build must not spoil other tests
            assert answers == [507899, 507899]
            assert kind_of(mapping.address) == 2
    finally:
        os.close(file)
