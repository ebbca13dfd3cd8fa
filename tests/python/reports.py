"""Threads that process reports, and streams that are held up by a callback."""

import contextlib
import os
import threading

import acl
from waiting import PATIENCE, let_time_pass, until


def prelude():
    """First lines for code that runs in a fresh process and uses this directory."""
    return "import sys\nsys.path.insert(0, %r)\n" % os.path.dirname(os.path.abspath(__file__))


def turn_until_over(state):
    """A thread function that ends when state["over"] is true. It knows nothing of the main module, so that a
    thread in it does not keep that module's objects alive."""
    while not state["over"]:
        let_time_pass(0.005)
        state["turns"] = state.get("turns", 0) + 1


class Reports:
    """A thread that processes reports until stop(); kind is 'start_thread' or 'threading'."""

    KINDS = ("start_thread", "threading")

    def __init__(self, kind="start_thread", timeout=20):
        self.codes = set()
        self.raised = []
        self._timeout = timeout
        self._over = False
        self._kind = kind
        ready = threading.Event()
        if kind == "start_thread":
            self.ident, err = acl.util.start_thread(self._loop, [ready])
            assert err == 0
        else:
            self._thread = threading.Thread(target=self._loop, args=([ready],))
            self._thread.start()
            self.ident = self._thread.ident
        assert ready.wait(PATIENCE)

    def _loop(self, args):
        args[0].set()
        while not self._over:
            try:
                code = acl.rt.process_report(self._timeout)
            except SystemError as error:
                self.raised.append(error)
                continue
            self.codes.add(code)
            if code == 107012:  # not subscribed: comes back at once
                let_time_pass(0.002)

    def stop(self):
        if self._over:
            return
        self._over = True
        if self._kind == "start_thread":
            assert acl.util.stop_thread(self.ident) == 0
        else:
            self._thread.join(PATIENCE)
            assert not self._thread.is_alive()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    @contextlib.contextmanager
    def serve(self, stream):
        assert acl.rt.subscribe_report(self.ident, stream) == 0
        try:
            yield self
        finally:
            assert acl.rt.unsubscribe_report(self.ident, stream) == 0


class Hold:
    """A blocking callback that holds up its stream until let_go()."""

    def __init__(self, stream):
        self.entered = threading.Event()
        self._leave = threading.Event()
        self.over = threading.Event()
        assert acl.rt.launch_callback(self._run, None, 1, stream) == 0
        assert self.entered.wait(PATIENCE), "nobody calls the callback"

    def _run(self, _):
        self.entered.set()
        self._leave.wait(PATIENCE)
        self.over.set()

    def let_go(self):
        self._leave.set()

    def let_go_when(self, condition):
        """From another thread: as long as nobody else may run, the callback stays."""
        def wait():
            if until(condition):
                self.let_go()

        threading.Thread(target=wait, daemon=True).start()

    def let_go_in(self, seconds):
        timer = threading.Timer(seconds, self.let_go)
        timer.daemon = True
        timer.start()
        return timer


@contextlib.contextmanager
def held_stream():
    """(stream, hold): a new stream of the current context with a callback in front of everything."""
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    with Reports() as reports:
        with reports.serve(stream):
            hold = Hold(stream)
            try:
                yield stream, hold
            finally:
                hold.let_go()
                assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_stream(stream) == 0
