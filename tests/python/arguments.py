"""What a function does with wrong arguments: one check for every function (Y-21, Y-22, Y-24, Y-25, Y-26)."""

import ctypes
import sys

import pytest

import acl

# The functions whose text ends in "!" besides those of media and himpi.
SHOUTING = {
    "rt.malloc_with_cfg", "rt.malloc_for_task_scheduler", "rt.set_stream_attribute",
    "rt.get_stream_attribute", "rt.stream_query", "rt.set_stream_failure_mode",
    "rt.synchronize_event_with_timeout", "rt.synchronize_device_with_timeout", "rt.set_op_wait_timeout",
    "rt.peek_at_last_error", "rt.get_last_error", "rt.cmo_async", "rt.get_overflow_status",
    "rt.reset_overflow_status",
}
LESS_WORDS = {"rt.host_get_device_pointer", "rt.set_stream_res_limit", "rt.get_stream_res_limit",
              "rt.reset_stream_res_limit"}

MOD = {"ptr": 1 << 64, "u64": 1 << 64, "u32": 1 << 32}
NO_INTEGERS = (None, 1.5, "1", b"1", ctypes.c_void_p(0), ctypes.c_int(1), [], (1,), {})


class Index:
    """An object that is no int but may stand for one."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class SubInt(int):
    pass


def function(name):
    """'rt.malloc' -> acl.rt.malloc, 'init' -> acl.init"""
    found = acl
    for part in name.split("."):
        found = getattr(found, part)
    return found


def parse_text(name):
    words = "parse failed" if name in LESS_WORDS else "args parse failed"
    shout = "!" if name in SHOUTING or name.startswith(("media.", "himpi.")) else ""
    return "acl.%s %s%s" % (name, words, shout)


def refused(name, *args):
    """The call must raise TypeError with the text of its function."""
    with pytest.raises(TypeError) as caught:
        function(name)(*args)
    assert str(caught.value) == parse_text(name), args


def shape(result):
    if isinstance(result, tuple):
        return tuple(type(part) for part in result)
    return type(result)


def check_arguments(name, kinds, base, repeatable=True):
    """Counts, types and ranges of every argument.

    kinds: "ptr i32 u32 u64 str dict list any", one word an argument; base: arguments that parse and
    may be given to C any number of times. repeatable: the answer to base is the same each time.
    """
    kinds = kinds.split()
    base = tuple(base)
    assert len(kinds) == len(base)
    call = function(name)

    for count in range(len(base)):
        refused(name, *base[:count])
    refused(name, *base, 0)
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        call(*base[:-1], last=base[-1])
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        call(*base, more=1)

    first = call(*base)

    def accepted(i, value):
        answer = call(*base[:i], value, *base[i + 1:])
        assert shape(answer) == shape(first), (name, i, value)
        if repeatable:
            assert answer == first, (name, i, value)

    def bad(i, value):
        refused(name, *base[:i], value, *base[i + 1:])

    for i, kind in enumerate(kinds):
        if kind == "str":
            for value in (None, 1, b"text", "a\0b", "\ud800", bytearray(b"x"), ["x"]):
                bad(i, value)
            continue
        if kind in ("dict", "list", "any"):
            continue
        for value in NO_INTEGERS:
            bad(i, value)
        value = base[i]
        accepted(i, SubInt(value))
        if value in (0, 1):
            accepted(i, bool(value))
        if kind in MOD:
            for times in (1, -1, 3):
                accepted(i, value + times * MOD[kind])
        else:
            for far in (1 << 31, -(1 << 31) - 1, 1 << 32, 1 << 63, 1 << 64, -(1 << 64)):
                bad(i, far)
        if kind in ("i32", "u32"):
            accepted(i, Index(value))
        elif sys.version_info < (3, 14):
            bad(i, Index(value))
