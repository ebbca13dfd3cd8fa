"""Device memory and pinned host memory, as objects."""

from __future__ import annotations

import ctypes
import operator
import sys
import warnings
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Protocol, TypeVar, Union, cast

from ._accounts import HOST
from ._errors import check
from ._load import acl, native
from ._makers import lost, maker
from ._streams import Stream
from ._words import amount, counted

_READ_ONLY_POLICY = 0x100000  # ACL_MEM_ACCESS_USER_SPACE_READONLY
_NO_TOUCH = (
    "host code cannot touch device memory; copy it with copy_to() or tobytes(), "
    "or run with BELAY_HOST_ACCESS=allow (belay.settings(host_access='allow'))"
)
# Copy kinds of acl by where the bytes are: (from the device, to the device).
_KINDS = {(False, False): 0, (False, True): 1, (True, False): 2, (True, True): 3}

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

    class Array(Protocol):
        """An array of numpy, or of something that looks like it. Type checkers do not know its buffer."""

        @property
        def __array_interface__(self) -> dict[str, Any]: ...

    Source = Union["Memory", ReadableBuffer, Array]
    Target = Union["Memory", WriteableBuffer, Array]
else:
    Source = Target = Any  # so that typing.get_type_hints() works too

Self = TypeVar("Self", bound="Memory")

# Up to so many living blocks the serial number of a new one is looked up: a look goes through all of them.
_FEW = 256

_owners: weakref.WeakSet[Memory] = weakref.WeakSet()


class Memory(native.Buffer):
    """What :class:`DeviceMemory` and :class:`HostMemory` have in common: a range of bytes at an address.

    A slice with step 1 (``m[16:64]``) is a view of some of the bytes. It does not own them and cannot free
    them.
    """

    size: int
    on_device = False
    _free_call = ""
    _word = "memory"
    _ptr = 0  # until there is memory, and so for good where the allocation failed
    _owner: Optional[Memory] = None
    _read_only = False
    _home = HOST  # where the block is: a device, or HOST
    _serial: Optional[int] = None  # of the block, if it was looked up

    def __init__(self, ptr: int, size: int, owner: Optional[Memory] = None) -> None:
        self.size = size
        self._owner = owner
        self._generation = native.generation()
        self._maker = maker()
        self._freed = False
        self._views: weakref.WeakSet[Memory] = weakref.WeakSet()
        self._ptr = ptr
        if owner is None:
            _owners.add(self)
            block = self._block() if native.use(self._home)[0] <= _FEW else None
            self._serial = block[1] if block else None
        else:
            owner._views.add(self)

    # -- the range ------------------------------------------------------------------------------------------

    @property
    def ptr(self) -> int:
        """The address, for functions of ``acl``."""
        self._refuse_if_gone()
        return self._ptr

    @property
    def gone(self) -> bool:
        """Whether the memory was freed through this object, or ended by a restart or a fork."""
        root = self._root
        return root._freed or root._generation != native.generation()

    def __int__(self) -> int:
        return self.ptr

    def __len__(self) -> int:
        return self.size

    def __getitem__(self: Self, part: slice) -> Self:
        if not isinstance(part, slice):
            raise TypeError("memory is cut by slices (m[16:64]); for single bytes use tobytes(offset, 1)")
        start, stop, step = part.indices(self.size)
        if step != 1:
            raise ValueError(f"a slice of memory must have step 1, not {step}: its bytes are contiguous")
        view = type(self).__new__(type(self))
        Memory.__init__(view, self.ptr + start, max(stop - start, 0), self._root)
        view._read_only = self._read_only
        return view

    # A sequence of its bytes would read device memory one call at a time.
    __iter__ = None

    def __repr__(self) -> str:
        state = "lost in a restart or fork" if self.gone else f"at {self._ptr:#x}"
        if self._root._freed:
            state = "freed"
        view = "" if self._owner is None else ", a view"
        return f"<belay.{type(self).__name__} {counted(self.size, 'byte')} {state}{view}>"

    # -- life -----------------------------------------------------------------------------------------------

    def free(self) -> None:
        """Free the memory. Refused while a ``memoryview`` or array of it exists, which would dangle."""
        if self._owner is not None:
            raise ValueError("a slice does not own its memory; free the whole block")
        self._refuse_if_gone()
        alive = self._live_exports()
        if alive:
            raise BufferError(
                f"{counted(alive, 'view')} (memoryview or array) of this memory still alive; "
                "delete or release() them first"
            )
        check(getattr(acl.rt, self._free_call)(self._ptr), f"acl.rt.{self._free_call}")
        self._freed = True
        _owners.discard(self)

    def __enter__(self: Self) -> Self:
        self._refuse_if_gone()
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if self._owner is not None or self.gone:
            return
        try:
            self.free()
        except Exception:
            if error is None:
                raise

    def __del__(self) -> None:
        # Like a file that was never closed, but without closing it: hardware would not free it either, and a
        # program that relies on it leaks there.
        if not self._ptr or self._owner is not None or sys.is_finalizing() or self.gone:
            return
        if not self._lives():
            return  # acl.rt.free had it, or it ended with its device
        warnings.warn(
            f"{self._word} at {self._ptr:#x} ({amount(self.size)}) was never freed",
            ResourceWarning,
            stacklevel=2,
            source=self,
        )

    # -- contents -------------------------------------------------------------------------------------------

    def fill(self, value: int, stream: Union[Stream, int, None] = None) -> None:
        """Set every byte. With a stream the work is queued there."""
        value = operator.index(value)
        if not 0 <= value <= 255:
            raise ValueError(f"a byte is 0 to 255, not {value}")
        if self.size == 0:
            return
        if stream is None:
            check(acl.rt.memset(self.ptr, self.size, value, self.size), "acl.rt.memset")
        else:
            ret = acl.rt.memset_async(self.ptr, self.size, value, self.size, int(stream))
            check(ret, "acl.rt.memset_async")

    def copy_from(
        self, source: Source, *, offset: int = 0, stream: Union[Stream, int, None] = None
    ) -> None:
        """Copy all bytes of ``source`` to here, from byte ``offset`` on.

        ``source`` is memory of belay, or anything with a buffer: bytes, bytearray, memoryview, a numpy array.
        With a stream the copy is queued; only copies with pinned memory (:func:`malloc_host`) really run
        later. A :class:`Stream` keeps ``source`` alive until it is synchronised; with a bare handle you must
        do that.
        """
        other = _end(source, for_writing=False)
        at = self._place(offset, other.size, "source")
        _copy(at, self.on_device, other.ptr, other.on_device, other.size, stream, (self, other.keep))

    def copy_to(self, target: Target, *, offset: int = 0, stream: Union[Stream, int, None] = None) -> None:
        """Fill all of ``target`` with bytes from here, from byte ``offset`` on.

        ``target`` is memory of belay, or anything with a writable buffer. The rest is as in
        :meth:`copy_from`.
        """
        other = _end(target, for_writing=True)
        at = self._place(offset, other.size, "target")
        _copy(other.ptr, other.on_device, at, self.on_device, other.size, stream, (self, other.keep))

    def tobytes(self, offset: int = 0, size: Optional[int] = None) -> bytes:
        """A copy of the bytes, wherever the memory is."""
        offset = operator.index(offset)
        size = max(self.size - offset, 0) if size is None else operator.index(size)
        if offset < 0 or offset + size > self.size:
            raise ValueError(
                f"this memory has {counted(self.size, 'byte')}; {counted(size, 'byte')} cannot be read "
                f"from offset {offset}"
            )
        room = bytearray(size)
        self.copy_to(room, offset=offset)
        return bytes(room)

    # -- the host's view ------------------------------------------------------------------------------------

    def _host_bytes(self) -> tuple[int, int, bool]:
        self._refuse_if_gone()
        if not self._host_may_touch():
            raise BufferError(_NO_TOUCH)
        return self._ptr, self.size, self._read_only

    @property
    def __array_interface__(self) -> dict[str, Any]:
        # hasattr() and numpy take an AttributeError as "has none"; numpy then calls __array__ below, which
        # tells the reason. free() does not know of arrays made from this dictionary, only of those made
        # through the buffer protocol, which numpy prefers.
        self._refuse_if_gone()
        if not self._host_may_touch():
            raise AttributeError(_NO_TOUCH)
        return {
            "version": 3,
            "shape": (self.size,),
            "typestr": "|u1",
            "data": (self._ptr, self._read_only),
        }

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        # numpy swallows the error of a buffer and of an array interface, but not of this function.
        view = memoryview(cast(Any, self))  # type checkers cannot see the buffer of the extension
        import numpy

        array = numpy.asarray(view)
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"{array.dtype} cannot become {dtype} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    # -- inside ---------------------------------------------------------------------------------------------

    @property
    def _root(self) -> Memory:
        return self if self._owner is None else self._owner

    def _host_may_touch(self) -> bool:
        return True

    def _block(self) -> Optional[tuple[int, int]]:
        """Size and serial number of the living block that begins here, whoever made it."""
        for address, asked, _, _, serial in native.blocks(self._home):
            if address == self._ptr:
                return asked, serial
        return None

    def _lives(self) -> bool:
        """Whether the block still lives. Its address may have gone to another block by now."""
        block = self._block()
        if block is None:
            return False
        asked, serial = block
        return asked == self.size if self._serial is None else serial == self._serial

    def _live_exports(self) -> int:
        return self._exports + sum(view._exports for view in list(self._views))

    def _refuse_if_gone(self) -> None:
        if self._root._generation != native.generation():
            raise ValueError(f"this memory was allocated {lost(self._root._maker, 'allocate it again')}")
        if self._root._freed:
            raise ValueError("this memory was freed")

    def _place(self, offset: int, size: int, what: str) -> int:
        offset = operator.index(offset)
        if offset < 0 or offset + size > self.size:
            _does_not_fit(self.size, offset, size, what)
        return self.ptr + offset


class DeviceMemory(Memory):
    """A block of device memory. Made by :func:`malloc`.

    Host code sees its bytes (``memoryview(m)``, ``numpy.asarray(m)``) only where it may touch device memory:
    with ``BELAY_HOST_ACCESS=allow``, and in the forms where host and device are one. Elsewhere that raises
    ``BufferError``; on hardware the process would crash.
    """

    on_device = True
    _free_call = "free"
    _word = "device memory"

    def __init__(self, size: int, policy: int = 0) -> None:
        size = operator.index(size)
        ptr = check(acl.rt.malloc(size, policy), f"acl.rt.malloc({size}, {policy})")
        self._home = check(acl.rt.get_device(), "acl.rt.get_device")
        super().__init__(ptr, size)
        self._read_only = bool(policy & _READ_ONLY_POLICY)

    def _host_may_touch(self) -> bool:
        return native.host_may_touch()


class HostMemory(Memory):
    """A block of pinned host memory. Made by :func:`malloc_host`. Host code may always touch it."""

    _free_call = "free_host"
    _word = "pinned host memory"

    def __init__(self, size: int) -> None:
        size = operator.index(size)
        ptr = check(acl.rt.malloc_host(size), f"acl.rt.malloc_host({size})")
        super().__init__(ptr, size)


def malloc(size: int, policy: int = 0) -> DeviceMemory:
    """Allocate device memory on the current device::

        with belay.malloc(4096) as block:
            block.fill(0)

    ``policy`` is the number of the page policy: 0 huge pages first, 1 huge only, 2 normal only, and so on.
    The contents are not initialised. Only ``free()`` or the ``with`` block frees it; a forgotten block
    causes a ``ResourceWarning`` and stays allocated.
    """
    return DeviceMemory(size, policy)


def malloc_host(size: int) -> HostMemory:
    """Allocate pinned host memory; copies between it and the device can be queued::

        with belay.malloc_host(4096) as pinned:
            numpy.asarray(pinned)[:] = 7
    """
    return HostMemory(size)


def live_views() -> int:
    """How many memoryviews and arrays of living blocks there are."""
    return sum(owner._live_exports() for owner in list(_owners) if not owner.gone)


class _End:
    """One end of a copy: where, how much, and what must stay alive meanwhile."""

    def __init__(self, ptr: int, size: int, on_device: bool, keep: object) -> None:
        self.ptr = ptr
        self.size = size
        self.on_device = on_device
        self.keep = keep


def _end(thing: Any, for_writing: bool) -> _End:
    if isinstance(thing, Memory):
        return _End(thing.ptr, thing.size, thing.on_device, thing)
    try:
        view = memoryview(thing)
    except TypeError:
        name = type(thing).__name__
        raise TypeError(f"{name} has no buffer; pass bytes, an array or memory of belay") from None
    if not view.c_contiguous:
        raise BufferError("the bytes are not contiguous; copy them first (numpy.ascontiguousarray)")
    if for_writing and view.readonly:
        raise BufferError(f"{type(thing).__name__} cannot be written; use a bytearray or array, or tobytes()")
    if view.nbytes == 0:
        return _End(0, 0, False, view)
    if not view.readonly:
        # The exported view stops a bytearray from moving as long as it lives.
        exported = (ctypes.c_char * view.nbytes).from_buffer(view)
        return _End(ctypes.addressof(exported), view.nbytes, False, exported)
    # Python gives no address of a buffer that may only be read, except for bytes.
    data = thing if type(thing) is bytes else view.tobytes()
    return _End(acl.util.bytes_to_ptr(data), view.nbytes, False, data)


def _copy(
    to: int,
    to_device: bool,
    source: int,
    from_device: bool,
    size: int,
    stream: Union[Stream, int, None],
    keep: tuple[object, ...],
) -> None:
    if size == 0:
        return
    kind = _KINDS[from_device, to_device]
    if stream is None:
        check(acl.rt.memcpy(to, size, source, size, kind), "acl.rt.memcpy")
        return
    check(acl.rt.memcpy_async(to, size, source, size, kind, int(stream)), "acl.rt.memcpy_async")
    if isinstance(stream, Stream):
        stream._keep(keep)


def _does_not_fit(room: int, offset: int, size: int, what: str) -> NoReturn:
    raise ValueError(
        f"the {what} has {counted(size, 'byte')}, which do not fit at offset {offset} "
        f"of {counted(room, 'byte')}; cut it with a slice"
    )
