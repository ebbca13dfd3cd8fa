"""Random arguments for every function of the module; runs in a process of its own (see test_fuzz.py).

An answer must have the documented shape, or the exception must be one that the function documents.
Everything else, a crash and a hang included, is a failure. Only arguments with which C itself may crash or
wait for ever are kept within bounds; ROLES and the functions behind it say which, and why.
"""

import ctypes
import decimal
import enum
import fractions
import json
import math
import mmap
import os
import random
import re
import threading
import types
import warnings

import acl
import call_table

try:
    import numpy as np
except ImportError:
    np = None

MODULES = ["rt", "mdl", "media", "op", "blas", "util", "prof", "himpi", "fv"]
ROOM = 1 << 16  # bytes of each host buffer and device block of the play
REACH = 4096  # how far an offset into them and a length go at most
WORLD_LASTS = 400  # calls


def functions():
    found = {}
    for where, module in [("", acl)] + [(name + ".", getattr(acl, name)) for name in MODULES]:
        for name in dir(module):
            if isinstance(getattr(module, name), types.BuiltinFunctionType) and not name.startswith("__"):
                found[where + name] = getattr(module, name)
    return found


# --- objects that behave badly -------------------------------------------------------------------------

class Evil(ValueError):
    """Raised by the objects below."""


class Raises:
    def _raise(self, *_):
        raise Evil

    __index__ = __int__ = __float__ = __len__ = __iter__ = __bool__ = __str__ = _raise

    def __repr__(self):
        return "Raises()"


class Odd:
    """__index__ gives something that is no int."""

    def __index__(self):
        return "1"


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value

    def __repr__(self):
        return "Index(%r)" % self.value


class Clears:
    """Empties its list when it is asked for its number."""

    def __init__(self, container):
        self.container = container

    def __index__(self):
        self.container.clear()
        return 1

    def __repr__(self):
        return "Clears()"


class Key:
    """Meets the hash of a key and then refuses to be compared."""

    def __init__(self, like):
        self.like = like

    def __hash__(self):
        return hash(self.like)

    def __eq__(self, other):
        raise Evil

    def __repr__(self):
        return "Key(%r)" % self.like


class SubInt(int):
    pass


class SubStr(str):
    pass


class SubDict(dict):
    def __getitem__(self, key):
        raise Evil

    def get(self, *_):
        raise Evil


class SubList(list):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        raise Evil


class SubTuple(tuple):
    def __len__(self):
        return 1000


class Number(enum.IntEnum):
    ONE = 1


class Call:
    def __call__(self, *args):
        return args

    def __repr__(self):
        return "Call()"


def nothing(*args):
    return None


def fails(*args):
    raise Evil


def odd_objects():
    """None of these stands for a number, whatever the conversion."""
    odd = [None, 1.5, -0.0, math.nan, math.inf, 1e300, "", "text", "1", "\0", "\ud800", "ä" * 300,
           SubStr("sub"), b"", b"bytes", bytearray(b"array"), memoryview(b"view"), [], [1, 2], [None], (),
           (1, 2), ((), ()), {}, {"a": 1}, set(), frozenset([1]), object(), int, len, nothing, Call(),
           Raises(), Odd(), Ellipsis, NotImplemented, 1j, decimal.Decimal(1), fractions.Fraction(1, 2),
           ctypes.c_int(1), ctypes.c_void_p(1), range(3), iter([1]), SubDict(), SubList([1]), SubTuple((1,)),
           Exception("x"), acl, acl.rt.malloc]
    if np is not None:
        odd += [np.float32(1), np.zeros(3), np.zeros((2, 2)).T, np.str_("np")]
    return odd


def odd_integers():
    odd = [True, False, SubInt(3), SubInt(1 << 70), Number.ONE, Index(1), Index(1 << 40), Index(-1)]
    if np is not None:
        odd += [np.int64(1), np.int32(-1), np.uint64(7), np.bool_(True), np.array(5)]
    return odd


# --- the play ----------------------------------------------------------------------------------------------

class Play:
    def __init__(self, seed, log=None):
        self.random = random.Random(seed)
        self.log = log
        self.functions = functions()
        self.names = sorted(self.functions)
        self.known = {call.name: call for call in call_table.CALLS}
        self.host = [ctypes.create_string_buffer(ROOM) for _ in range(3)]
        self.mapped = mmap.mmap(-1, ROOM)
        self.pages = ctypes.addressof(ctypes.c_char.from_buffer(self.mapped))
        self.bytes = [bytes(bytearray(ROOM)) for _ in range(2)]
        self.addresses = [ctypes.addressof(each) for each in self.host] + [self.pages]
        self.addresses += [acl.util.bytes_to_ptr(each) for each in self.bytes]
        self.threads, self.contexts, self.buffers, self.tensors = [], [], [], []
        self.blocks, self.streams, self.events, self.gone = [], [], [], [12345]
        self.reports = None
        self.outcomes = {}
        self.odd = odd_objects()
        self.odd_integers = odd_integers()

    # The devices of the play, made anew now and then: what was left behind must not fill them up.
    def new_world(self):
        for context in self.contexts:
            acl.rt.destroy_context(context)
        self.contexts.clear()
        for number in range(acl.rt.get_device_count()[0]):
            acl.rt.reset_device_force(number)
        self.gone = (self.gone + self.blocks + self.streams + self.events)[-50:]
        must(acl.rt.set_device(0))
        self.blocks = [must(acl.rt.malloc(ROOM, policy)) for policy in (0, 1, 2)]
        self.streams = [must(acl.rt.create_stream()) for _ in range(3)]
        self.events = [must(acl.rt.create_event()) for _ in range(3)]
        self.reports = must(acl.rt.create_stream())  # for callbacks, and nobody waits for it
        for event in self.events:
            must(acl.rt.record_event(event, self.streams[0]))
        data = self.random.getrandbits(8 * 256).to_bytes(256, "little")
        back = bytes(bytearray(256))
        must(acl.rt.memcpy(self.blocks[0], 256, acl.util.bytes_to_ptr(data), 256, 1))
        must(acl.rt.memcpy(acl.util.bytes_to_ptr(back), 256, self.blocks[0], 256, 2))
        assert back == data, "the module does not work any more"

    # --- values ---

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *values):
        return self.random.choice(values)

    def wrapped(self, value):
        """The same number for C, in another dress."""
        dress = self.random.randrange(12)
        if dress == 0:
            return value + (1 << 64)
        if dress == 1:
            return value - (1 << 64)
        if dress == 2:
            return SubInt(value)
        return value

    def integer(self):
        way = self.random.randrange(6)
        if way == 0:
            return self.random.randrange(-4, 40)
        if way == 1:
            edge = 1 << self.pick(7, 8, 15, 16, 31, 32, 47, 48, 63, 64, 65, 127)
            return self.pick(1, -1) * (edge + self.random.randrange(-2, 3))
        if way == 2:
            return self.random.getrandbits(self.random.randrange(1, 140)) * self.pick(1, -1)
        if way == 3:
            return self.pick(*self.blocks, *self.streams, *self.events, *self.gone, threading.get_ident(), 0)
        if way == 4:
            return self.random.choice(self.odd_integers)
        return self.pick(0, 1, 2, -1)

    def no_integer(self):
        way = self.random.randrange(10)
        if way == 0:
            return self.dictionary()
        if way == 1:
            return self.list()
        return self.random.choice(self.odd)

    def anything(self):
        return self.integer() if self.chance(0.6) else self.no_integer()

    def list(self):
        made = [self.pick(1, 2, 255, 256, -1, 1 << 31, 1 << 70, None, "1", 1.5, True, Raises(), Index(1))
                for _ in range(self.random.randrange(12))]
        if self.chance(0.1):
            made.append(Clears(made))
        return self.pick(made, made, tuple(made), SubList(made))

    def dictionary(self):
        """Configurations and properties, some right, most not."""
        number = [0, 1, 2, 33, 65535, 65536, -1, 1 << 31, 1 << 40, 1 << 70, None, "1", 1.0, True, Raises(),
                  {}, []]
        value = {self.pick("moduleId", "deviceId", "rsv", "other", 5): self.pick(self.list(), *number)
                 for _ in range(self.random.randrange(3))}
        attrs = [{self.pick("attr", "attr", "x"): self.pick(*number),
                  "value": self.pick(value, value, *number)}
                 for _ in range(self.random.randrange(4))]
        if self.chance(0.2):
            attrs.append(self.pick(None, 1, [], "x", SubDict()))
        location = {key: self.pick(*number) for key in ("id", "type") if self.chance(0.8)}
        made = {"numAttrs": self.pick(len(attrs), len(attrs), *number), "attrs": attrs,
                "handleType": self.pick(*number), "allocationType": self.pick(*number),
                "memAttr": self.pick(*number), "location": self.pick(location, location, *number),
                "failureMode": self.pick(*number), "userCustomTag": self.pick(*number),
                "overflowSwitch": self.pick(*number), "reserved": self.pick(self.list(), *number)}
        if self.chance(0.5):
            some = self.random.sample(sorted(made), self.random.randrange(len(made)))
            made = {key: made[key] for key in some}
        if self.chance(0.05):
            like = self.pick("attrs", "numAttrs", "location", "memAttr")
            made.pop(like, None)
            made[Key(like)] = 1
        return self.pick(made, made, made, SubDict(made))

    def small(self):
        """For conversions that refuse what does not fit: mostly something that does."""
        if self.chance(0.25):
            return self.anything()
        return self.pick(self.random.randrange(-3, 20), self.random.getrandbits(31) * self.pick(1, -1),
                         (1 << 31) - 1, -(1 << 31), True, Index(1), SubInt(2))

    def number(self):
        return self.integer() if self.chance(0.85) else self.anything()

    # --- arguments that must stay within bounds ---

    def address(self):
        """C reads and writes there: host memory of ours, device memory, or nothing (others crash)."""
        if self.chance(0.2):
            return self.no_integer()
        base = self.pick(*self.addresses, *self.blocks)
        return self.wrapped(self.pick(0, base, base, base + self.random.randrange(REACH)))

    def host_address(self):
        """Python reads there, and the host may not read device memory."""
        if self.chance(0.2):
            return self.no_integer()
        return self.wrapped(self.pick(0, *self.addresses))

    def array_address(self):
        """With 0 numpy makes an array of its own, and takes the memory for it."""
        return self.no_integer() if self.chance(0.2) else self.wrapped(self.pick(*self.addresses))

    def page(self):
        """Memory to register: ours, in whole pages or not, never that of others."""
        if self.chance(0.2):
            return self.no_integer()
        return self.wrapped(self.pick(0, self.pages, self.pages + 4096, self.pages + 5, self.blocks[0]))

    def length(self):
        """How much C reads and writes at such an address."""
        return self.no_integer() if self.chance(0.15) else self.wrapped(self.random.randrange(REACH))

    def short(self):
        """Pitch, width and height: their product stays within our buffers."""
        return self.no_integer() if self.chance(0.15) else self.wrapped(self.random.randrange(64))

    def pinned_size(self):
        """Pinned memory is really locked: little, or more than there is."""
        if self.chance(0.15):
            return self.no_integer()
        return self.wrapped(self.pick(0, 1, 100, 4096, 1 << 16, 1 << 46, 1 << 63, (1 << 64) - 1))

    def object_size(self):
        """Sizes of bytes objects: little, or more than an object may have."""
        if self.chance(0.15):
            return self.no_integer()
        return self.pick(0, 1, 2, 100, ROOM, -1, 1 << 63, (1 << 64) - 1, (1 << 63) - 1, -(1 << 63))

    def wait(self):
        """Timeouts: short or wrong; for ever and long ones would keep their word."""
        if self.chance(0.2):
            return self.no_integer()
        return self.pick(0, 1, 2, 5, -2, -100, -(1 << 31), 1 << 31, 1 << 40, -(1 << 31) - 1, True, Index(1))

    def no_stream(self):
        """Not a live stream: what is queued behind this would wait for something that never comes."""
        return self.no_integer() if self.chance(0.3) else self.pick(1, 12345, *self.gone)

    def report_stream(self):
        return self.pick(self.reports, self.reports, self.no_stream())

    def no_block(self):
        """Not 1: nobody is there to fetch a callback that the stream waits for."""
        return self.pick(0, 0, False, 2, -1, 1 << 31, None, "1", Index(0))

    def me(self):
        return self.pick(threading.get_ident(), threading.get_ident(), self.no_integer())

    def zero(self):
        """Read without a check, or a wait that may never end: only nothing, or no number."""
        return self.no_integer() if self.chance(0.3) else self.pick(0, False, 1 << 64)

    def buffer(self):
        """The record behind the number is read; a number of no record crashes."""
        return self.no_integer() if self.chance(0.2) else self.wrapped(self.pick(0, *self.buffers))

    def tensor(self):
        return self.no_integer() if self.chance(0.2) else self.wrapped(self.pick(0, *self.tensors))

    def function(self):
        if self.chance(0.2):
            return self.anything() if self.chance(0.5) else None
        return fails if self.chance(0.05) else self.pick(nothing, nothing, nothing, len, Call(), list)

    def thread(self):
        return self.pick(*self.threads) if self.threads and self.chance(0.8) else self.anything()

    def config(self):
        return self.dictionary() if self.chance(0.8) else self.anything()

    def shape(self):
        if self.chance(0.3):
            return self.anything()
        sizes = [0, 1, 2, 3, 10, -1, 1 << 40, 1 << 70, None, 1.0, True, Raises()]
        count = self.pick(0, 1, 2, 3, 5, 32, 40, 70)
        return tuple(self.pick(1, 2, 3, self.pick(*sizes)) for _ in range(count))

    def array(self):
        if np is None or self.chance(0.4):
            return self.anything()
        whole = np.arange(24).reshape(4, 6)
        return self.pick(whole, whole.T, whole[::2], np.zeros(0), np.array(1.0), np.array(["a"]),
                         np.array([None, 1], dtype=object), np.zeros(3, dtype="i4,f8"), np.ma.array([1, 2]))

    def text(self):
        return self.pick("", "words", "%s%n", "no/such/file", SubStr("x"), "a\0b", "\ud800", self.anything())

    def arguments(self, name):
        """Mostly as many as the function takes."""
        roles = ROLES.get(name)
        call = self.known.get(name)
        if roles is not None:
            makers = [getattr(self, word, None) for word in roles.split()]
        elif call is not None:
            makers = [{"str": self.text, "[str]": self.text, "cfg": self.config, "prop": self.config,
                       "dict": self.config, "pids": self.list, "array": self.array, "fn": self.function,
                       "i32": self.small, "u32": self.number, "ptr": self.number, "u64": self.number}
                      .get(kind) for kind in call.args]
        else:
            makers = [None] * parameters(self.functions[name], self.random)
        makers = [make or self.anything for make in makers]
        if self.chance(0.9):
            return [make() for make in makers]
        count = self.random.randrange(10)
        if count == len(makers) or (name in ROLES and not makers):
            return [make() for make in makers]
        return [self.anything() for _ in range(count)]

    # --- what came of it ---

    def note(self, name, args):
        if self.log is not None:
            try:
                text = "acl.%s(%s)" % (name, ", ".join(map(shown, args)))
            except Exception as error:  # an object that cannot even be shown
                text = "acl.%s(...): %r" % (name, error)
            os.pwrite(self.log, text.encode("utf-8", "replace")[:3999].ljust(4000), 0)

    def one(self):
        name = self.random.choice(self.names)
        args = self.arguments(name)
        self.note(name, args)
        try:
            result = self.functions[name](*args)
        except Exception as error:
            problem = wrong_exception(name, args, error, self.known.get(name))
            outcome = type(error).__name__
        else:
            problem = wrong_result(name, result, self.known.get(name))
            outcome = "result"
            self.keep(name, args, result)
        if problem:
            raise AssertionError("acl.%s(%s): %s" % (name, ", ".join(map(shown, args)), problem))
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def keep(self, name, args, result):
        if name == "rt.create_context" and result[1] == 0:
            self.contexts.append(result[0])
        elif name == "create_data_buffer" and result:
            self.buffers.append(result)
        elif name == "destroy_data_buffer" and result == 0:
            self.buffers.remove(args[0] % (1 << 64))
        elif name == "create_tensor_desc" and result:
            self.tensors.append(result if isinstance(result, int) else result[0])
        elif name == "destroy_tensor_desc" and args and isinstance(args[0], int):
            self.tensors = [each for each in self.tensors if each != args[0] % (1 << 64)]
        elif name == "util.start_thread" and result[1] == 0:
            self.threads.append(result[0])
        elif name == "util.stop_thread" and result == 0:
            self.threads = [each for each in self.threads if each != args[0] % (1 << 64)]


def must(result):
    code = result[-1] if isinstance(result, tuple) else result
    assert code == 0, "%r: %s" % (result, acl.get_recent_err_msg())
    return result[0] if isinstance(result, tuple) else None


def shown(value):
    text = repr(value)
    return text if len(text) < 300 else text[:300] + "..."


# Roles of the arguments that must stay within bounds; "any", "number", "small" and "text" are free. A
# function that is not here is free altogether.
ROLES = {
    "init": "text",
    "app_log": "small text",
    "destroy_data_buffer": "buffer",
    "get_data_buffer_addr": "buffer",
    "get_data_buffer_size": "buffer",
    "get_data_buffer_size_v2": "buffer",
    "update_data_buffer": "buffer number number",
    "destroy_tensor_desc": "tensor",
    "get_tensor_desc_size": "tensor",
    "set_tensor_const": "tensor address length",
    "util.ptr_to_bytes": "host_address object_size",
    "util.ptr_to_numpy": "array_address shape any",
    "util.start_thread": "function any",
    "util.stop_thread": "thread",
    "rt.launch_callback": "function any no_block report_stream",
    "rt.subscribe_report": "me report_stream",
    "rt.process_report": "wait",
    "rt.synchronize_stream_with_timeout": "number wait",
    "rt.synchronize_device_with_timeout": "wait",
    "rt.synchronize_event_with_timeout": "number wait",
    "rt.reset_event": "no_stream number",
    "rt.value_wait": "zero number number number",
    "rt.wait_and_reset_notify": "no_stream number number",
    "rt.memcpy": "address number address length small",
    "rt.memcpy_async": "address number address length small number",
    "rt.memcpy_async_with_condition": "address number address length small number",
    "rt.memset": "address number small length",
    "rt.memset_async": "address number small length number",
    "rt.memcpy2d": "address short address short short short small",
    "rt.memcpy2d_async": "address short address short short short small number",
    "rt.set_memcpy_desc": "address small address address length zero",
    "rt.memcpy_async_with_desc": "address small number",
    "rt.value_write": "address number number number",
    "rt.get_overflow_status": "address small number",
    "rt.malloc_host": "pinned_size",
    "rt.malloc_host_with_cfg": "pinned_size config",
    "rt.host_register": "page length small",
    "rt.host_register_v2": "page length small",
    "rt.set_exception_info_callback": "function",
    "rt.get_task_id_from_exception_info": "zero",
    "rt.get_stream_id_from_exception_info": "zero",
    "rt.get_thread_id_from_exception_info": "zero",
    "rt.get_device_id_from_exception_info": "zero",
    "rt.get_error_code_from_exception_info": "zero",
}


def parameters(function, random_numbers):
    """How many a function takes, as its help says; a guess where it does not."""
    match = re.match(r"\((.*?)\)( ->|$)", (function.__doc__ or "").split("\n")[0])
    if match is None:
        return random_numbers.randrange(8)
    return len([part for part in match.group(1).split(",") if ":" in part])


VALUE_ERRORS = {
    "util.bytes_to_ptr": "needs an byte as argument",
    "util.ptr_to_bytes": "convert c pointer to bytes failed",
    "util.numpy_to_ptr": "needs an ndarray as argument",
    "util.numpy_contiguous_to_ptr": "needs an ndarray as argument",
}
CFG_TYPE_ERRORS = ("pyCfg is not dict!", "the aclrtMallocAttrValue argument is not dict",
                   "the aclrtPhysicalMemProp argument is not dict",
                   "the aclrtMemLocation argument is not dict")
OWN_WORDS = {"util.start_thread", "rt.get_event_id"}  # the interpreter's own message comes through


def wrong_exception(name, args, error, call):
    """None, or what is wrong with it."""
    text = str(error)
    kinds = set(call.args) if call else {"?"}
    if type(error) is TypeError:
        if name in OWN_WORDS or text == call_table.parse_error(name) or "?" in kinds:
            return None
        if kinds & {"cfg", "prop", "dict"} and (text in CFG_TYPE_ERRORS or "dict" in text or "list" in text):
            return None
        if "fn" in kinds and text == "parameter must be callable":
            return None
        if name == "util.ptr_to_numpy" and text == "the second argument is not list of int":
            return None
    elif isinstance(error, ImportError) and np is None and name.startswith("util."):
        return None
    elif type(error) is RuntimeError and name == "util.stop_thread":
        if re.fullmatch(r"exception=\w+,msg=thread call failed;", text):
            return None
    elif type(error) is SystemError and name == "rt.process_report":
        if isinstance(error.__cause__, Exception):
            return None
    elif type(error) is KeyError and kinds & {"cfg", "?"}:
        return None
    elif isinstance(error, ValueError):
        if kinds & {"cfg", "prop", "dict", "pids", "?"}:
            return None
        if name in ("util.ptr_to_numpy", "rt.ipc_mem_get_export_key"):
            return None
        if VALUE_ERRORS.get(name) is not None and text.startswith(VALUE_ERRORS[name]):
            return None
    return "%s: %s" % (type(error).__name__, text)


def wrong_result(name, result, call):
    if call is None:
        parts = result if isinstance(result, tuple) else (result,)
        if all(isinstance(part, (int, float, str, bytes, dict, list, type(None))) for part in parts):
            return None
        return "gave %s" % shown(result)
    parts = result if len(call.gives) > 1 else (result,)
    if not isinstance(parts, tuple) or len(parts) != len(call.gives):
        return "gave %s" % shown(result)
    for part, word in zip(parts, call.gives):
        if word == "none":
            fits = part is None
        elif word == "array":
            fits = isinstance(part, np.ndarray)
        elif word == "str":
            fits = part is None or type(part) is str
        else:
            fits = type(part) is call_table.TYPES[word]
        if not fits:
            return "gave %s" % shown(result)
        address = word == "int" and name.endswith(("malloc", "malloc_host", "ptr", "addr"))
        if address and not 0 <= part < 1 << 64:
            return "gave %s, which is no address" % shown(result)
    return None


def main(seed, calls, log_path):
    """Plays `calls` random calls; prints what came of them."""
    warnings.simplefilter("ignore")
    log = os.open(log_path, os.O_RDWR | os.O_CREAT)
    play = Play(seed, log)
    for number in range(calls):
        if number % WORLD_LASTS == 0:
            os.pwrite(log, b"making a new world".ljust(4000), 0)
            play.new_world()
        play.one()
    for ident in play.threads:
        try:
            acl.util.stop_thread(ident)
        except RuntimeError:
            pass
    play.new_world()
    os.pwrite(log, b"all calls are done".ljust(4000), 0)
    print(json.dumps(play.outcomes))
