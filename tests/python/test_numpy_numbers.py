"""numpy's numbers and arrays as arguments (Y-23, Y-98, Y-103, Y-179, Y-183 to Y-185)."""

import ctypes
import sys

import pytest

import acl
from arguments import refused
from support import bytes_at, fill, ok, run

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.filterwarnings("ignore")

SCALARS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.intp,
           np.longlong]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="from 3.14 on the interpreter takes __index__ here")
@pytest.mark.parametrize("scalar", SCALARS, ids=lambda scalar: scalar.__name__)
def test_y23_a_numpy_integer_is_no_size_and_no_address(device, scalar):
    refused("rt.malloc", scalar(64), 0)
    refused("rt.malloc_host", scalar(64))
    refused("rt.memset", scalar(0), 0, 0, 0)
    refused("rt.memcpy", 0, 0, 0, scalar(0), 1)
    refused("rt.free", scalar(0))
    refused("rt.synchronize_stream", scalar(0))
    refused("rt.host_register_v2", scalar(0), 0, 0)
    refused("util.ptr_to_bytes", 0, scalar(0))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="from 3.14 on the interpreter takes __index__ here")
def test_y23_the_product_of_a_shape_needs_int(device):
    size = np.prod((2, 3, 4))
    refused("rt.malloc", size, 0)
    ok(acl.rt.free(ok(acl.rt.malloc(int(size), 0))))


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda scalar: scalar.__name__)
def test_y23_y22_a_numpy_integer_is_a_policy_a_kind_or_a_flag(device, scalar):
    address = ok(acl.rt.malloc(64, scalar(2)))
    data = bytes(bytearray(64))
    ok(acl.rt.memcpy(address, 64, acl.util.bytes_to_ptr(data), 64, scalar(1)))
    ok(acl.rt.memset(address, 64, scalar(7), 64))
    assert bytes_at(address, 64) == bytes([7]) * 64
    ok(acl.rt.destroy_event(ok(acl.rt.create_event_with_flag(scalar(8)))))
    ok(acl.rt.free(address))


@pytest.mark.parametrize("value", [
    np.float32(1), np.float64(1), np.bool_(True), np.array([1, 2]), np.array(1.0)])
def test_y24_other_things_of_numpy_are_no_numbers(device, value):
    refused("rt.malloc", value, 0)
    if not isinstance(value, np.bool_):
        refused("rt.malloc", 64, value)


def test_y98_numpy_views_of_host_memory(device):
    address = ok(acl.rt.malloc_host(64))
    view = acl.util.ptr_to_numpy(address, (16,), 5)
    view[:] = np.arange(16)
    assert acl.util.ptr_to_bytes(address, 64) == np.arange(16, dtype=np.int32).tobytes()
    other = np.ctypeslib.as_array((ctypes.c_int32 * 16).from_address(address))
    other[3] = 99
    assert view[3] == 99
    ok(acl.rt.memset(address, 64, 0, 64))
    assert not view.any()
    del view, other
    ok(acl.rt.free_host(address))


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8", "f2", "c16"])
def test_y103_y185_arrays_go_to_the_device_and_back(device, dtype):
    source = (np.arange(1000) % 100).astype(dtype)
    target = np.zeros_like(source)
    block = ok(acl.rt.malloc(source.nbytes, 0))
    ok(acl.rt.memcpy(block, source.nbytes, acl.util.numpy_to_ptr(source), source.nbytes, 1))
    ok(acl.rt.memcpy(target.ctypes.data, target.nbytes, block, target.nbytes, 2))
    assert (source == target).all()
    data = source.tobytes()
    fill(block, data)
    back = bytes(bytearray(len(data)))
    ok(acl.rt.memcpy(acl.util.bytes_to_ptr(back), len(back), block, len(back), 2))
    assert (np.frombuffer(back, dtype) == source).all()
    ok(acl.rt.free(block))


TYPES = [np.bool_, np.byte, np.ubyte, np.short, np.ushort, np.intc, np.uintc, np.int_, np.uint, np.longlong,
         np.ulonglong, np.float32, np.float64]


@pytest.mark.parametrize("number", list(range(13)) + [23])
def test_y179_y183_numpy_s_own_type_numbers(number):
    dtype = np.dtype(np.float16 if number == 23 else TYPES[number])
    if number in (7, 8):
        dtype = np.dtype("l" if number == 7 else "L")
    assert dtype.num == number
    data = bytes(bytearray(64))
    view = acl.util.ptr_to_numpy(acl.util.bytes_to_ptr(data), (2,), number)
    assert view.dtype == dtype and view.shape == (2,)


def test_y183_the_numpy_functions_with_the_numpy_that_is_here(fresh):
    out = run(fresh, """
        import warnings
        warnings.simplefilter("ignore")
        import acl
        import numpy as np
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        address = acl.util.numpy_to_ptr(array)
        assert address == array.ctypes.data
        assert acl.util.numpy_contiguous_to_ptr(array)[0] == address
        view = acl.util.ptr_to_numpy(address, (2, 3), 11)
        assert (view == array).all()
        view[1, 2] = 50
        assert array[1, 2] == 50
        print(np.__version__)
        """)
    assert tuple(map(int, out.split(".")[:2])) >= (1, 22)


def test_y184_addresses_come_from_the_array_interface():
    for array in (np.arange(10), np.arange(10)[3:], np.arange(12).reshape(3, 4)[:, 1:],
                  np.zeros((2, 2), order="F")):
        assert acl.util.numpy_to_ptr(array) == array.__array_interface__["data"][0]


def test_y184_a_view_has_a_base():
    data = bytes(bytearray(64))
    view = acl.util.ptr_to_numpy(acl.util.bytes_to_ptr(data), (8, 8), 2)
    assert view.base is not None
    assert view.flags.writeable and not view.flags.owndata and view.flags.c_contiguous
    assert view.__array_interface__["data"][0] == acl.util.bytes_to_ptr(data)
