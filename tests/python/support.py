"""What the tests of the acl module share."""

import textwrap
import threading

import acl
from reports import prelude


def ok(result):
    """The outputs of a call that must have answered 0: a value, a tuple, or None if there are none."""
    if isinstance(result, tuple):
        assert result[-1] == 0, "%r: %s" % (result, acl.get_recent_err_msg())
        return result[0] if len(result) == 2 else result[:-1]
    assert result == 0, "%r: %s" % (result, acl.get_recent_err_msg())
    return None


def run(fresh, code, **how):
    """Code in a new process; it must end with 0. Gives what it printed."""
    done = fresh(textwrap.dedent(code), **how)
    assert done.returncode == 0, "exit code %s\n%s\n%s" % (done.returncode, done.stdout, done.stderr)
    return done.stdout


def run_here(fresh, code, **how):
    """The same; the code may import the modules of this directory."""
    return run(fresh, prelude() + textwrap.dedent(code), **how)


def on_bare_thread(body):
    """Run on a new thread, which has neither device nor context. Gives what body gives."""
    given, raised = [], []

    def guarded():
        try:
            given.append(body())
        except BaseException as error:  # carried to the thread that reports it
            raised.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return given[0]


class Word:
    """Eight bytes of device memory that hold up a stream until they are 1."""

    def __init__(self):
        self.address = ok(acl.rt.malloc(8, 2))
        self.write(0)

    def write(self, number):
        data = number.to_bytes(8, "little")
        ok(acl.rt.memcpy(self.address, 8, acl.util.bytes_to_ptr(data), 8, 1))

    def read(self):
        data = bytes(bytearray(8))
        ok(acl.rt.memcpy(acl.util.bytes_to_ptr(data), 8, self.address, 8, 2))
        return int.from_bytes(data, "little")

    def hold(self, stream):
        ok(acl.rt.value_wait(self.address, 1, 1, stream))

    def release(self):
        self.write(1)


def fill(address, data):
    """Python bytes into memory of either side."""
    ok(acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data), len(data), 4))


def bytes_at(address, size):
    """Memory of either side as Python bytes."""
    data = bytes(bytearray(size + 8))  # never one of the small objects that the interpreter shares
    ok(acl.rt.memcpy(acl.util.bytes_to_ptr(data), size, address, size, 4))
    return data[:size]


def free_bytes():
    """What the current device has left."""
    return ok(acl.rt.get_mem_info(1))[0]
