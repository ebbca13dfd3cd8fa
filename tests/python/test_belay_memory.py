"""belay.malloc() and belay.malloc_host()."""

import gc

import acl
import pytest

import belay
from belay._load import native

PATTERN = bytes(range(256)) * 16

# What goes wrong in a destructor is otherwise only printed.
pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def device():
    with belay.settings(machine="private", pin="best-effort"), belay.device() as npu:
        yield npu


@pytest.fixture(params=["device", "host"])
def make(request):
    """Both kinds of memory have the same methods."""
    return belay.malloc if request.param == "device" else belay.malloc_host


# -- life ---------------------------------------------------------------------------------------------------


def test_memory_is_an_address_and_a_size(make):
    with make(1000) as m:
        assert m.size == len(m) == 1000
        assert m.ptr == int(m) != 0
        assert acl.rt.memset(m.ptr, 1000, 0, 1000) == 0


def test_the_policy_reaches_acl():
    with belay.malloc(100, 1):
        assert [block.page_bytes for block in belay.blocks()] == [2 << 20]
    with belay.malloc(100, policy=2):
        assert [block.page_bytes for block in belay.blocks()] == [4096]


def test_leaving_the_block_frees(make):
    with make(1000):
        assert len(belay.blocks()) + len(belay.blocks(belay.HOST)) == 1
    assert belay.blocks() == belay.blocks(belay.HOST) == []


def test_free_ends_every_use(make):
    m = make(1000)
    part = m[10:20]
    m.free()
    assert m.gone and part.gone
    for use in (
        lambda: m.ptr,
        lambda: int(m),
        m.free,
        m.tobytes,
        part.tobytes,
        lambda: m.fill(0),
        lambda: m.copy_from(b"x"),
        lambda: m.copy_to(bytearray(1)),
        lambda: m[1:2],
        lambda: memoryview(m),
        lambda: part.ptr,
        m.__enter__,
    ):
        with pytest.raises(ValueError, match="this memory was freed"):
            use()


def test_freeing_inside_the_block_is_fine(make):
    with make(1000) as m:
        m.free()


def test_memory_that_cannot_be_had_is_an_error():
    with pytest.raises(belay.Error) as caught:
        belay.malloc(1 << 50)
    assert caught.value.code == 207001
    assert "acl.rt.malloc(1125899906842624, 0) returned 207001" in str(caught.value)
    with pytest.raises(belay.Error) as caught:
        belay.malloc_host(0)
    assert caught.value.code == 100000


def test_a_size_must_be_a_whole_number(make):
    with pytest.raises(TypeError):
        make(1.5)


def test_the_error_of_the_block_wins_over_a_free_that_fails():
    with pytest.raises(KeyError):
        with belay.malloc(1000) as m:
            assert acl.rt.free(m.ptr) == 0
            raise KeyError


def test_a_free_that_fails_is_told():
    with pytest.raises(belay.Error) as caught:
        with belay.malloc(1000) as m:
            assert acl.rt.free(m.ptr) == 0
    assert caught.value.code == 107000


def test_forgotten_memory_gives_a_warning_and_stays_allocated(make):
    m = make(3000)
    address = m.ptr
    with pytest.warns(ResourceWarning, match=f"{address:#x} \\(2.93 KB\\) was never freed"):
        del m
        gc.collect()
    assert [block.address for block in belay.blocks() + belay.blocks(belay.HOST)] == [address]


def test_freed_memory_and_slices_give_no_warning(make, recwarn):
    with make(1000) as m:
        part = m[:10]
        del part
        gc.collect()
    del m
    gc.collect()
    assert not recwarn.list


def free_of(m):
    return acl.rt.free if m.on_device else acl.rt.free_host


@pytest.mark.parametrize("others", [0, 300])
def test_memory_that_acl_freed_gives_no_warning(make, others, recwarn):
    held = [make(100) for _ in range(others)]
    m = make(1000)
    assert free_of(m)(m.ptr) == 0
    del m
    gc.collect()
    for one in held:
        one.free()
    assert not recwarn.list


def test_memory_that_acl_freed_is_not_taken_for_the_next_one_at_its_address(make, monkeypatch, recwarn):
    m = make(1000)
    (block,) = belay.blocks() + belay.blocks(belay.HOST)
    assert free_of(m)(m.ptr) == 0
    # An address comes again when the runtime likes, so let it say that another block of this size has it now.
    monkeypatch.setattr(native, "blocks", lambda place: [(*block[:4], block.serial + 1)])
    del m
    gc.collect()
    monkeypatch.undo()
    assert not recwarn.list


def test_forgotten_memory_among_many_blocks_gives_a_warning(make):
    held = [make(100) for _ in range(300)]
    m = make(3000)
    with pytest.warns(ResourceWarning, match="was never freed"):
        del m
        gc.collect()
    for one in held:
        one.free()


def test_an_allocation_that_fails_gives_no_warning(make, recwarn):
    with pytest.raises(belay.Error):
        make(0)
    gc.collect()
    assert not recwarn.list


def test_memory_that_lives_at_the_end_of_the_process_is_told_by_the_library_alone(fresh):
    done = fresh(
        "import belay, warnings\n"
        "warnings.simplefilter('always')\n"
        "device = belay.device(0).__enter__()\n"
        "block, pinned = belay.malloc(5000), belay.malloc_host(100)\n"
        "view, stream = memoryview(pinned), belay.stream()\n"
    )
    assert done.returncode == 0
    assert "5000 bytes" in done.stderr
    assert all(line.startswith("belay: ") for line in done.stderr.splitlines())


def test_memory_from_before_a_restart_is_gone_and_frees_nothing(make, recwarn):
    with make(1000) as old:
        part = old[:10]
        belay.restart()
        with belay.device(), make(1000) as new:
            assert old.gone and part.gone and not new.gone
            for use in (old.free, old.tobytes, part.tobytes, lambda: old.ptr, lambda: memoryview(old)):
                with pytest.raises(ValueError, match="before a restart"):
                    use()
            assert "lost in a restart" in repr(old)
            new.fill(7)
            assert new.tobytes() == b"\7" * 1000
    del old, part, use
    gc.collect()
    assert not recwarn.list


def test_repr_tells_what_and_where(make):
    m = make(1000)
    name = type(m).__name__
    assert repr(m) == f"<belay.{name} 1000 bytes at {m.ptr:#x}>"
    assert repr(m[1:2]) == f"<belay.{name} 1 byte at {m.ptr + 1:#x}, a view>"
    m.free()
    assert repr(m) == f"<belay.{name} 1000 bytes freed>"


# -- slices -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [slice(16, 64), slice(None), slice(-10, None), slice(5, 5), slice(9, 3)])
def test_a_slice_is_that_part_of_the_bytes(make, part):
    with make(len(PATTERN)) as m:
        m.copy_from(PATTERN)
        view = m[part]
        assert type(view) is type(m)
        assert len(view) == len(PATTERN[part])
        assert view.ptr == m.ptr + part.indices(len(PATTERN))[0]
        assert view.tobytes() == PATTERN[part]


def test_slices_of_slices_and_writing_through_them(make):
    with make(256) as m:
        m.fill(0)
        m[64:128][8:16].fill(9)
        assert m.tobytes() == bytes(72) + b"\11" * 8 + bytes(176)


def test_a_slice_owns_nothing(make):
    with make(256) as m:
        with pytest.raises(ValueError, match="does not own"):
            m[0:16].free()
        with m[0:16]:
            pass
        m.fill(1)  # still there


def test_a_slice_keeps_its_block_object(make):
    part = make(256)[0:16]
    gc.collect()
    part.fill(3)
    assert part.tobytes() == b"\3" * 16
    part._owner.free()


def test_other_indexing_is_refused_in_words(make):
    with make(256) as m:
        with pytest.raises(TypeError, match="tobytes"):
            m[3]
        with pytest.raises(ValueError, match="step 1"):
            m[::2]
        with pytest.raises(TypeError):
            iter(m)


# -- contents -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda data: memoryview(bytearray(data))])
def test_bytes_go_there_and_come_back(make, kind):
    with make(len(PATTERN)) as m:
        m.copy_from(kind(PATTERN))
        assert m.tobytes() == PATTERN


def test_copies_have_an_offset(make):
    with make(16) as m:
        m.fill(0)
        m.copy_from(b"abc", offset=13)
        assert m.tobytes() == bytes(13) + b"abc"
        out = bytearray(4)
        m.copy_to(out, offset=12)
        assert out == b"\0abc"
        assert m.tobytes(14) == b"bc"
        assert m.tobytes(13, 2) == b"ab"
        assert m.tobytes(16) == b""


@pytest.mark.parametrize("target", ["device", "host"])
def test_memory_is_copied_to_memory(make, target):
    with make(100) as m, (belay.malloc if target == "device" else belay.malloc_host)(100) as other:
        m.copy_from(PATTERN[:100])
        other.fill(0)
        m.copy_to(other)
        assert other.tobytes() == PATTERN[:100]
        other[:50].fill(0)
        m[50:].copy_from(other[:50])
        assert m.tobytes() == PATTERN[:50] + bytes(50)


@pytest.mark.parametrize("offset, size", [(0, 17), (1, 16), (16, 1), (17, 0), (-1, 1)])
def test_what_does_not_fit_is_refused_and_nothing_is_copied(make, offset, size):
    with make(16) as m:
        m.fill(5)
        with pytest.raises(ValueError, match="do not fit"):
            m.copy_from(bytes(size), offset=offset)
        with pytest.raises(ValueError, match="do not fit"):
            m.copy_to(bytearray(size), offset=offset)
        with pytest.raises(ValueError, match="this memory has 16 bytes"):
            m.tobytes(offset, size)
        assert m.tobytes() == b"\5" * 16


def test_tobytes_says_what_is_there(make):
    with make(64) as m:
        with pytest.raises(ValueError, match="^this memory has 64 bytes; 0 bytes .* from offset 70$"):
            m.tobytes(70)
        with pytest.raises(ValueError, match="^this memory has 64 bytes; 5 bytes .* from offset 60$"):
            m.tobytes(60, 5)


def test_nothing_is_copied_from_nothing(make):
    with make(16) as m:
        m.fill(5)
        m.copy_from(b"", offset=16)
        m.copy_to(bytearray(0))
        m[3:3].fill(9)
        assert m.tobytes() == b"\5" * 16


def test_what_cannot_be_copied_is_told(make):
    with make(16) as m:
        with pytest.raises(TypeError, match="str has no buffer"):
            m.copy_from("text")
        with pytest.raises(TypeError, match="int has no buffer"):
            m.copy_to(5)
        with pytest.raises(BufferError, match="cannot be written"):
            m.copy_to(b"0123")
        with pytest.raises(BufferError, match="not contiguous"):
            m.copy_from(memoryview(b"0123456789")[::2])
        with pytest.raises(BufferError, match="not contiguous"):
            m.copy_to(memoryview(bytearray(10))[::-1])


@pytest.mark.parametrize("value", [0, 1, 255])
def test_fill_sets_every_byte(make, value):
    with make(100) as m:
        m.fill(value)
        assert m.tobytes() == bytes([value]) * 100


@pytest.mark.parametrize("value", [-1, 256])
def test_fill_takes_bytes_only(make, value):
    with make(100) as m:
        with pytest.raises(ValueError, match="0 to 255"):
            m.fill(value)
        with pytest.raises(TypeError):
            m.fill(1.5)


def test_with_a_stream_copies_and_fills_are_queued():
    with belay.settings(machine="private", schedule="lazy", pin="best-effort"), belay.device():
        with belay.malloc(64) as block, belay.malloc_host(64) as pinned, belay.stream() as s:
            pinned.fill(0)
            block.fill(1)
            block.fill(7, stream=s)
            block.copy_to(pinned, stream=s)
            pinned_before = pinned.tobytes()
            s.synchronize()
            assert pinned_before == bytes(64)
            assert pinned.tobytes() == b"\7" * 64


def test_a_bare_handle_is_a_stream_too(make):
    with make(64) as m:
        m.fill(7, stream=0)
        assert acl.rt.synchronize_stream(0) == 0
        assert m.tobytes() == b"\7" * 64


def test_queued_copies_with_ordinary_objects_are_done_at_once():
    with belay.settings(machine="private", schedule="lazy"), belay.device():
        with belay.malloc(64) as block, belay.stream() as s:
            block.copy_from(b"a" * 64, stream=s)
            out = bytearray(64)
            block.copy_to(out, stream=s)
            assert out == b"a" * 64


# -- the host's view ----------------------------------------------------------------------------------------


def test_host_memory_is_a_buffer():
    with belay.malloc_host(16) as m:
        with memoryview(m) as view:
            assert (view.format, view.itemsize, view.ndim) == ("B", 1, 1)
            assert (view.nbytes, view.readonly) == (16, False)
            view[:] = b"0123456789abcdef"
            assert m.tobytes() == b"0123456789abcdef"
            m.fill(1)
            assert view.tobytes() == b"\1" * 16
        assert bytes(m[3:5]) == b"\1\1"
        assert bytes(m[3:3]) == b""


def test_host_memory_can_be_read_into(tmp_path):
    (tmp_path / "data").write_bytes(PATTERN)
    with belay.malloc_host(len(PATTERN)) as m, open(tmp_path / "data", "rb") as file:
        assert file.readinto(m) == len(PATTERN)
        assert m.tobytes() == PATTERN


def test_free_is_refused_while_a_view_lives(make):
    with belay.settings(machine="private", host_access="allow", pin="best-effort"), belay.device():
        m = make(16)
        view, part = memoryview(m), memoryview(m[4:8])
        with pytest.raises(BufferError, match="2 views"):
            m.free()
        view.release()
        with pytest.raises(BufferError, match="1 view"):
            m.free()
        del part
        m.free()


def test_device_memory_refuses_the_host_in_words():
    with belay.malloc(16) as m:
        for touch in (memoryview, bytes, bytearray, lambda m: memoryview(m[1:3])):
            with pytest.raises(BufferError, match="cannot touch device memory.*BELAY_HOST_ACCESS=allow"):
                touch(m)
        assert not hasattr(m, "__array_interface__")
        with pytest.raises(AttributeError, match="host code cannot touch device memory"):
            m.__array_interface__


def test_device_memory_is_a_buffer_where_the_host_may_touch_it():
    with belay.settings(machine="private", host_access="allow"), belay.device(), belay.malloc(16) as m:
        m.fill(3)
        with memoryview(m) as view:
            assert view.tobytes() == b"\3" * 16
            view[0] = 9
        assert m.tobytes() == b"\t" + b"\3" * 15
        assert m[1:].__array_interface__ == {
            "version": 3,
            "shape": (15,),
            "typestr": "|u1",
            "data": (m.ptr + 1, False),
        }


def test_device_memory_is_a_buffer_where_host_and_device_are_one():
    with belay.settings(machine="private", product="310B", form="RC"), belay.device(), belay.malloc(16) as m:
        m.fill(3)
        assert bytes(m) == b"\3" * 16


def test_a_read_only_block_shows_a_read_only_buffer():
    with belay.settings(machine="private", host_access="allow"), belay.device():
        with belay.malloc(16, 0x100000) as m, memoryview(m[2:]) as view:
            assert view.readonly
            assert m.__array_interface__["data"] == (m.ptr, True)


# -- numpy --------------------------------------------------------------------------------------------------


@pytest.fixture
def np():
    return pytest.importorskip("numpy")


def test_numpy_arrays_go_there_and_come_back(make, np):
    numbers = np.arange(100, dtype=np.float32).reshape(10, 10)
    with make(numbers.nbytes) as m:
        m.copy_from(numbers)
        back = np.zeros_like(numbers)
        m.copy_to(back)
        assert (back == numbers).all()
        assert m.tobytes() == numbers.tobytes()


def test_read_only_arrays_can_be_copied_from_but_not_to(make, np):
    numbers = np.arange(100, dtype=np.int16)
    numbers.flags.writeable = False
    with make(numbers.nbytes) as m:
        m.copy_from(numbers)
        assert m.tobytes() == numbers.tobytes()
        with pytest.raises(BufferError, match="cannot be written"):
            m.copy_to(numbers)


def test_arrays_with_gaps_are_refused(make, np):
    with make(1000) as m:
        for array in (np.zeros((10, 10))[:, ::2], np.zeros((10, 10)).T):
            with pytest.raises(BufferError, match="numpy.ascontiguousarray"):
                m.copy_from(array)
            with pytest.raises(BufferError, match="not contiguous"):
                m.copy_to(array)


def test_numpy_sees_host_memory_without_a_copy(np):
    with belay.malloc_host(64) as m:
        array = np.asarray(m)
        assert (array.dtype, array.shape) == (np.uint8, (64,))
        array[:] = 5
        np.frombuffer(m, dtype=np.int32)[0] = 0
        assert m.tobytes() == bytes(4) + b"\5" * 60
        with pytest.raises(BufferError):
            m.free()
        del array
        gc.collect()


def test_numpy_gets_the_reason_why_it_may_not_see_device_memory(np):
    with belay.malloc(64) as m:
        for make_array in (np.asarray, np.array, np.frombuffer, lambda m: np.asarray(m, dtype=np.float32)):
            with pytest.raises(BufferError, match="host code cannot touch device memory"):
                make_array(m)


def test_array_follows_the_protocol_of_numpy(np):
    with belay.malloc_host(4) as m:
        m.fill(2)
        assert m.__array__().tolist() == [2, 2, 2, 2]
        assert m.__array__(np.float32).dtype == np.float32
        copied = m.__array__(copy=True)
        m.fill(3)
        assert copied.tolist() == [2, 2, 2, 2]
        with pytest.raises(ValueError, match="without a copy"):
            m.__array__(np.float32, copy=False)
        gc.collect()
