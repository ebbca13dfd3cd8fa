"""acl.util: numpy arrays and addresses."""

import ctypes
import sys
import warnings

import pytest

import acl
from arguments import refused
from support import ok, run

np = pytest.importorskip("numpy")

TYPES = {0: "bool", 1: "int8", 2: "uint8", 3: "int16", 4: "uint16", 5: "int32", 6: "uint32", 7: "int64",
         8: "uint64", 9: "longlong", 10: "ulonglong", 11: "float32", 12: "float64", 23: "float16"}


def quiet(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)


def warned(function, *args):
    """(result, texts of the warnings); each must be a plain Warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args)
    assert all(w.category is Warning for w in caught), [w.category for w in caught]
    return result, [str(w.message) for w in caught]


def contiguous():
    whole = np.arange(24, dtype=np.int32)
    return [whole, whole.reshape(2, 3, 4), np.zeros((0, 3)), np.array(5.0), whole[5:],
            whole.reshape(6, 4)[2:], np.ones((1, 7, 1), dtype=np.uint8),
            np.frombuffer(bytes(16), dtype=np.uint8)]


def broken():
    whole = np.arange(24, dtype=np.int32).reshape(4, 6)
    return [whole.T, whole[:, 1:3], whole[::2], whole[::-1], np.asfortranarray(whole)]


@pytest.mark.parametrize("array", contiguous(), ids=lambda a: "x".join(map(str, a.shape)) or "scalar")
def test_y147_y192_address_and_one_warning(array):
    for _ in range(3):
        address, texts = warned(acl.util.numpy_to_ptr, array)
        assert type(address) is int
        assert address == array.ctypes.data
        assert len(texts) == 1, "on every call: %s" % texts
        assert "bytes_to_ptr" in texts[0] and "deprecated" in texts[0]


@pytest.mark.parametrize("array", broken(), ids=["turned", "columns", "rows", "backwards", "fortran"])
def test_y147_y191_a_second_warning_if_not_contiguous(array):
    for _ in range(2):
        address, texts = warned(acl.util.numpy_to_ptr, array)
        assert address == array.ctypes.data, "no copy all the same"
        assert len(texts) == 2 and texts[0] != texts[1]
        for text in texts:
            assert "bytes_to_ptr" in text
            assert "numpy_contiguous_to_ptr" not in text


def test_y147_y192_they_are_warnings_and_can_be_handled_as_such(capfd):
    array = np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert acl.util.numpy_to_ptr(array) == array.ctypes.data
    out, err = capfd.readouterr()
    assert (out, err) == ("", ""), "nothing is printed"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function, args in ((acl.util.numpy_to_ptr, (array,)),
                               (acl.util.numpy_contiguous_to_ptr, (array,)),
                               (acl.util.ptr_to_numpy, (array.ctypes.data, (3,), 12))):
            with pytest.raises(Warning):
                function(*args)


@pytest.mark.parametrize("name", ["util.numpy_to_ptr", "util.numpy_contiguous_to_ptr"])
def test_y147_y148_only_arrays(name):
    call = getattr(acl.util, name.split(".")[1])
    for other in (None, 1, [1, 2], b"abc", memoryview(b"abc"), np.float32(1), np.dtype("i4"), object()):
        with pytest.raises(ValueError) as caught:
            quiet(call, other)
        assert str(caught.value) == "needs an ndarray as argument"
    refused(name)
    refused(name, np.zeros(1), 1)


def test_y147_y148_subclasses_and_read_only_arrays():
    class Named(np.ndarray):
        pass

    array = np.arange(4).view(Named)
    array.flags.writeable = False
    assert quiet(acl.util.numpy_to_ptr, array) == array.ctypes.data
    address, same = quiet(acl.util.numpy_contiguous_to_ptr, array)
    assert address == array.ctypes.data and same is array


@pytest.mark.parametrize("array", contiguous(), ids=lambda a: "x".join(map(str, a.shape)) or "scalar")
def test_y148_contiguous_gives_the_same_object(array):
    before = sys.getrefcount(array)
    result, texts = warned(acl.util.numpy_contiguous_to_ptr, array)
    assert type(result) is tuple and len(result) == 2
    assert result[0] == array.ctypes.data and result[1] is array
    assert len(texts) == 1 and "bytes_to_ptr" in texts[0]
    del result
    assert sys.getrefcount(array) == before


@pytest.mark.parametrize("array", broken(), ids=["turned", "columns", "rows", "backwards", "fortran"])
def test_y148_otherwise_a_contiguous_copy(array):
    (address, copy), texts = warned(acl.util.numpy_contiguous_to_ptr, array)
    assert copy is not array and copy.flags.c_contiguous and not np.shares_memory(copy, array)
    assert address == copy.ctypes.data
    assert copy.dtype == array.dtype and copy.shape == array.shape and (copy == array).all()
    assert ctypes.string_at(address, copy.nbytes) == array.tobytes()
    assert len(texts) == 1
    before = sys.getrefcount(copy)
    array[0, 0] += 1
    assert copy[0, 0] != array[0, 0]
    assert sys.getrefcount(copy) == before == 2, "only the caller holds it"


def test_y148_the_pair_is_no_address(device):
    pair = quiet(acl.util.numpy_contiguous_to_ptr, np.zeros(16))
    with pytest.raises(TypeError) as caught:
        acl.rt.memcpy(pair, 16, 0, 16, 1)
    assert str(caught.value) == "acl.rt.memcpy args parse failed"


@pytest.mark.parametrize("number", sorted(TYPES))
def test_y149_type_numbers(number):
    dtype = np.dtype(TYPES[number])
    source = (np.arange(6) % 2 if number == 0 else np.arange(6)).astype(dtype)
    view, texts = warned(acl.util.ptr_to_numpy, source.ctypes.data, (2, 3), number)
    assert len(texts) == 1 and "deprecated" in texts[0]
    assert "bytes_to_ptr" in texts[0] or "ptr_to_bytes" in texts[0]
    assert isinstance(view, np.ndarray) and view.dtype == dtype and view.shape == (2, 3)
    assert view.ctypes.data == source.ctypes.data
    assert (view == source.reshape(2, 3)).all()


def test_y149_a_view_that_owns_nothing(device):
    block = ok(acl.rt.malloc_host(4096))
    ok(acl.rt.memset(block, 4096, 1, 4096))
    view = quiet(acl.util.ptr_to_numpy, block, (4096,), 2)
    assert view.flags.writeable and not view.flags.owndata and view.flags.c_contiguous
    assert (view == 1).all()
    view[:] = 9
    assert acl.util.ptr_to_bytes(block, 4096) == b"\x09" * 4096
    ctypes.memset(block, 3, 4096)
    assert (view == 3).all()
    other = quiet(acl.util.ptr_to_numpy, block + 64, (2, 8), 5)
    assert other[1, 7] == 0x03030303
    del view, other
    assert acl.util.ptr_to_bytes(block, 1) == b"\3", "the memory stays when its views go"
    view = quiet(acl.util.ptr_to_numpy, block, (4096,), 2)
    ok(acl.rt.free_host(block))
    assert view.shape == (4096,), "the array does not notice"


def test_y149_holds_no_reference():
    source = np.arange(100)
    before = sys.getrefcount(source)
    view = quiet(acl.util.ptr_to_numpy, source.ctypes.data, (100,), 7)
    assert sys.getrefcount(source) == before
    assert sys.getrefcount(view) == 2


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,) * 32, (100,), (True, 2)], ids=str)
def test_y149_shapes(shape):
    memory = np.zeros(100)
    view = quiet(acl.util.ptr_to_numpy, memory.ctypes.data, shape, 12)
    assert view.shape == shape


@pytest.mark.parametrize("shape", [[2, 3], 6, None, "23", {2}, np.zeros(2)], ids=lambda s: type(s).__name__)
def test_y149_the_shape_is_a_tuple(shape):
    memory = np.zeros(6)
    with pytest.raises(ValueError) as caught:
        quiet(acl.util.ptr_to_numpy, memory.ctypes.data, shape, 12)
    assert str(caught.value) == "shape is empty"


@pytest.mark.parametrize("element", [1.0, "1", None, (1,), np.int64(2)], ids=lambda s: type(s).__name__)
def test_y149_of_ints(element):
    memory = np.zeros(6)
    with pytest.raises(TypeError) as caught:
        quiet(acl.util.ptr_to_numpy, memory.ctypes.data, (1, element), 12)
    assert str(caught.value) == "the second argument is not list of int"


@pytest.mark.parametrize("shape, number", [((-1,), 2), ((1 << 70,), 2), ((1 << 62, 1 << 62), 2), ((2,), 999),
                                           ((2,), -1)], ids=str)
def test_y149_what_numpy_cannot_make_is_refused(shape, number):
    memory = np.zeros(6)
    with pytest.raises((TypeError, ValueError)):
        quiet(acl.util.ptr_to_numpy, memory.ctypes.data, shape, number)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,)], ids=str)
def test_y149_address_zero(shape):
    """Nothing is there to be seen: an array of that shape all the same, as with ptr_to_bytes, or words."""
    try:
        made = quiet(acl.util.ptr_to_numpy, 0, shape, 5)
    except ValueError:
        return
    assert made.shape == shape and made.dtype == np.int32


@pytest.mark.parametrize("dimensions", [33, 65, 70, 1000])
def test_y149_more_dimensions_than_numpy_has(fresh, dimensions):
    run(fresh, """
        import warnings
        warnings.simplefilter("ignore")
        import acl
        import numpy as np
        memory = np.zeros(6)
        try:
            view = acl.util.ptr_to_numpy(memory.ctypes.data, (1,) * %d, 12)
        except (TypeError, ValueError):
            pass
        else:
            assert view.shape == (1,) * %d, view.shape
    """ % (dimensions, dimensions))


def test_y149_arguments():
    name = "util.ptr_to_numpy"
    for args in ((), (0,), (0, (1,)), (0, (1,), 2, 3), (None, (1,), 2), (1.0, (1,), 2), (0, (1,), None),
                 (0, (1,), 1 << 31)):
        refused(name, *args)


def test_y149_strange_tuples():
    class Shape(tuple):
        pass

    class Evil(tuple):
        def __len__(self):
            return 50

    memory = np.zeros(6)
    assert quiet(acl.util.ptr_to_numpy, memory.ctypes.data, Shape((2, 3)), 12).shape == (2, 3)
    assert quiet(acl.util.ptr_to_numpy, memory.ctypes.data, Evil((2, 3)), 12).shape == (2, 3)


def test_y148_y149_to_the_device_and_back(device):
    source = np.random.default_rng(1).random((128, 64), dtype=np.float32)
    address, keep = quiet(acl.util.numpy_contiguous_to_ptr, source.T)
    size = keep.nbytes
    block = ok(acl.rt.malloc(size, 0))
    host = ok(acl.rt.malloc_host(size))
    ok(acl.rt.memcpy(block, size, address, size, 1))
    ok(acl.rt.memcpy(host, size, block, size, 2))
    view = quiet(acl.util.ptr_to_numpy, host, keep.shape, 11)
    assert (view == source.T).all()
    del view
    ok(acl.rt.free_host(host))


def test_y147_y148_y149_without_numpy(fresh):
    run(fresh, """
        import sys
        sys.modules["numpy"] = None  # what an import of a missing module does
        import acl
        for function, args in ((acl.util.numpy_to_ptr, (1,)), (acl.util.numpy_contiguous_to_ptr, (1,)),
                               (acl.util.ptr_to_numpy, (1, (1,), 2))):
            try:
                function(*args)
            except ImportError:
                continue
            raise AssertionError(function)
    """)


def test_y211_whatever_numpy_is_installed(fresh):
    out = run(fresh, """
        import warnings
        warnings.simplefilter("ignore")
        import acl
        import numpy as np
        array = np.arange(5, dtype=np.int16)
        assert acl.util.numpy_to_ptr(array) == array.ctypes.data
        assert acl.util.numpy_contiguous_to_ptr(array)[1] is array
        assert (acl.util.ptr_to_numpy(array.ctypes.data, (5,), 3) == array).all()
        print(np.__version__)
    """)
    assert int(out.split(".")[0]) in (1, 2)
