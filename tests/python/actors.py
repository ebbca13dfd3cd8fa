"""Processes of their own (multiprocessing, spawn) that do what a test tells them, one call after the other."""

import contextlib
import multiprocessing
import os
import signal

SPAWN = multiprocessing.get_context("spawn")


def _act(pipe):
    import acl

    rooms = {"rt": acl.rt, "acl": acl, "util": acl.util}
    assert acl.rt.set_device(0) == 0
    pipe.send(os.getpid())
    while True:
        try:
            room, name, arguments = pipe.recv()
        except EOFError:
            return
        if name == "bytes":
            address, size = arguments
            data = bytearray(size)
            place = bytes(data)
            ret = acl.rt.memcpy(acl.util.bytes_to_ptr(place), size, address, size, 2)
            pipe.send((place, ret))
        else:
            pipe.send(getattr(rooms[room], name)(*arguments))


class Actor:
    """actor.rt.malloc(4096, 0) is acl.rt.malloc(4096, 0) in that process."""

    class _Room:
        def __init__(self, actor, room):
            self._actor, self._room = actor, room

        def __getattr__(self, name):
            return lambda *arguments: self._actor.call(self._room, name, arguments)

    def __init__(self):
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_act, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.pid = self.pipe.recv()
        self.rt, self.acl = self._Room(self, "rt"), self._Room(self, "acl")

    def start(self, room, name, *arguments):
        """Begins a call whose answer `answer` gives."""
        self.pipe.send((room, name, arguments))

    def answer(self):
        assert self.pipe.poll(120), "no answer"
        return self.pipe.recv()

    def call(self, room, name, arguments):
        self.start(room, name, *arguments)
        return self.answer()

    def ok(self, name, *arguments):
        """The outputs of a call of acl.rt that must answer 0."""
        given = self.call("rt", name, arguments)
        codes = given if isinstance(given, tuple) else (given,)
        assert codes[-1] == 0, "%s%r: %r: %s" % (name, arguments, given, self.acl.get_recent_err_msg())
        return codes[0] if len(codes) == 2 else codes[:-1] or None

    def read(self, address, size):
        """Bytes of device memory, or the code of the refusal."""
        data, ret = self.call("", "bytes", (address, size))
        return data if ret == 0 else ret

    def end(self):
        """Closes its input, which ends it in peace."""
        self.pipe.close()
        self.process.join(60)
        return self.process.exitcode

    def kill(self, number=signal.SIGKILL):
        os.kill(self.pid, number)
        self.process.join(60)


@contextlib.contextmanager
def actors(count):
    """So many of them, on the machine that the environment names; all are gone at the end."""
    made = []
    try:
        for _ in range(count):
            made.append(Actor())
        yield made
    finally:
        for each in made:
            if each.process.is_alive():
                each.process.kill()
            each.process.join(60)
