"""Signals of Python programs, with threads and waiting calls of the module."""

import textwrap

import pytest

from reports import prelude
from support import run

HEAD = prelude() + """
import os
import signal
import threading
import time
import acl
from reports import Reports, Hold
from waiting import let_time_pass, until

assert acl.init() == 0
assert acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
assert ret == 0
reports = Reports("start_thread")
assert acl.rt.subscribe_report(reports.ident, stream) == 0

def interrupt_in(seconds, number=signal.SIGINT):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), number))
    timer.daemon = True
    timer.start()
"""
TAIL = """
reports.stop()
"""


def program(fresh, code, tail=TAIL):
    return run(fresh, HEAD + textwrap.dedent(code) + tail, timeout=90, env={"BELAY_LEAKS": "off"})


def test_y154_ctrl_c_in_python_code(fresh):
    program(fresh, """
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        for _ in range(3):
            interrupt_in(0.1)
            try:
                let_time_pass(30)
            except KeyboardInterrupt:
                continue
            raise AssertionError("no KeyboardInterrupt")
    """)


@pytest.mark.parametrize("call", ["acl.rt.synchronize_stream(stream)", "acl.rt.synchronize_device()",
                                  "acl.rt.synchronize_stream_with_timeout(stream, 20000)",
                                  "acl.rt.process_report(400)", "acl.util.stop_thread(other)"])
def test_y154_ctrl_c_while_a_call_waits(fresh, call):
    """The exception comes when the call has returned, and nothing is lost."""
    program(fresh, """
        mine, ret = acl.rt.create_stream()
        assert acl.rt.subscribe_report(threading.get_ident(), mine) == 0
        other, err = acl.util.start_thread(let_time_pass, 0.4)
        hold = Hold(stream)
        hold.let_go_in(0.4)
        interrupt_in(0.2)
        start = time.monotonic()
        try:
            %s
            let_time_pass(5)
        except KeyboardInterrupt:
            assert time.monotonic() - start < 20
        else:
            raise AssertionError("no KeyboardInterrupt")
        hold.let_go()
        assert acl.rt.synchronize_stream(stream) == 0
    """ % call)


def test_other_handlers(fresh):
    program(fresh, """
        seen = []
        signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
        signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        hold = Hold(stream)
        hold.let_go_in(0.4)
        interrupt_in(0.1, signal.SIGUSR1)
        assert acl.rt.synchronize_stream(stream) == 0
        until(lambda: len(seen) >= 2, 20)
        assert sorted(seen) == sorted([signal.SIGUSR1, signal.SIGALRM])
    """)


def test_waits_are_not_cut_short(fresh):
    """A signal ends a system call early; a wait of the library goes on."""
    program(fresh, """
        signal.signal(signal.SIGALRM, lambda number, frame: None)
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        mine, ret = acl.rt.create_stream()
        assert acl.rt.subscribe_report(threading.get_ident(), mine) == 0
        start = time.monotonic()
        assert acl.rt.process_report(500) == 507012
        assert time.monotonic() - start >= 0.49
        hold = Hold(stream)
        hold.let_go_in(0.5)
        assert acl.rt.synchronize_stream_with_timeout(stream, 20000) == 0
        assert hold.over.is_set()
        other, err = acl.util.start_thread(let_time_pass, 0.3)
        assert acl.util.stop_thread(other) == 0
        signal.setitimer(signal.ITIMER_REAL, 0)
    """)


def test_a_thread_that_raises_keyboard_interrupt_harms_nobody(fresh):
    program(fresh, """
        def stop(args):
            raise KeyboardInterrupt

        ident, err = acl.util.start_thread(stop, [])
        try:
            acl.util.stop_thread(ident)
        except RuntimeError as error:
            assert "KeyboardInterrupt" in str(error)
        else:
            raise AssertionError
        let_time_pass(0.1)
    """)


def test_faulthandler_and_the_explanation_of_touches_live_together(fresh):
    done = fresh(textwrap.dedent("""
        import ctypes, faulthandler
        faulthandler.enable()
        import acl
        acl.rt.set_device(0)
        block, ret = acl.rt.malloc(64, 2)
        ctypes.string_at(block, 1)
    """), env={"BELAY_LEAKS": "off"})
    assert done.returncode != 0
    assert "device memory" in done.stderr, done.stderr
    if "Sanitizer" not in done.stderr:
        assert "Segmentation fault" in done.stderr and "string_at" in done.stderr, done.stderr
