"""Other Python threads run while a call waits or copies.

Where a call waits for a callback that needs the lock, holding it would be a dead end: such tests fail by
running into the time limit of their process.
"""

import textwrap

import pytest

from reports import prelude
from support import run

HEAD = prelude() + """
import threading
import time
import acl
from reports import Hold, Reports
from waiting import let_time_pass, until

assert acl.init() == 0
assert acl.rt.set_device(0) == 0
context, ret = acl.rt.get_context()
assert ret == 0
stream, ret = acl.rt.create_stream()
assert ret == 0

class Ticks:
    # Counts how often another thread gets on while a call is under way.
    def __init__(self):
        self.times = []
        self.before = None
        self.over = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        assert until(lambda: self.times)

    def run(self):
        while not self.over:
            self.times.append(time.monotonic())
            let_time_pass(0.005)

    def during(self, call, *args):
        start = time.monotonic()
        self.before = len(self.times)
        result = call(*args)
        end = time.monotonic()
        return result, end - start, sum(start < t < end for t in self.times)

    def enough(self):
        # Of them while the call is under way, with one to spare.
        return self.before is not None and len(self.times) >= self.before + 7
"""


def program(fresh, code, **env):
    return run(fresh, HEAD + textwrap.dedent(code), timeout=90, env={"BELAY_LEAKS": "off", **env})


WAITS = {
    "synchronize_stream": "acl.rt.synchronize_stream(stream)",
    "synchronize_stream_with_timeout": "acl.rt.synchronize_stream_with_timeout(stream, 30000)",
    "synchronize_stream_with_timeout for ever": "acl.rt.synchronize_stream_with_timeout(stream, -1)",
    "synchronize_device": "acl.rt.synchronize_device()",
    "synchronize_device_with_timeout": "acl.rt.synchronize_device_with_timeout(30000)",
    "synchronize_event": "acl.rt.synchronize_event(event)",
    "synchronize_event_with_timeout": "acl.rt.synchronize_event_with_timeout(event, 30000)",
    "destroy_stream": "acl.rt.destroy_stream(stream)",
    "memcpy_async from pageable memory": "acl.rt.memcpy_async(block, 64, address, 64, 1, stream)",
    "memcpy_async to pageable memory": "acl.rt.memcpy_async(address, 64, block, 64, 2, stream)",
    "memcpy_async_with_condition": "acl.rt.memcpy_async_with_condition(block, 64, address, 64, 1, stream)",
    "memcpy2d_async": "acl.rt.memcpy2d_async(block, 8, address, 8, 8, 8, 1, stream)",
    "reset_device": "acl.rt.reset_device(0)",
    "reset_device_force": "acl.rt.reset_device_force(0)",
}


@pytest.mark.parametrize("schedule", ["eager", "lazy"])
@pytest.mark.parametrize("name", WAITS)
def test_y43_y44_a_call_that_waits_for_a_callback(fresh, name, schedule):
    program(fresh, """
        block, ret = acl.rt.malloc(64, 2)
        data = bytes(bytearray(64))
        address = acl.util.bytes_to_ptr(data)
        event, ret = acl.rt.create_event()
        reports = Reports("start_thread")
        assert acl.rt.subscribe_report(reports.ident, stream) == 0
        hold = Hold(stream)
        assert acl.rt.record_event(event, stream) == 0
        ticks = Ticks()
        hold.let_go_when(ticks.enough)
        result, took, ticked = ticks.during(lambda: %s)
        assert result == 0, result
        assert hold.over.is_set(), "it came back before the callback was over"
        assert ticked >= 5, (took, ticked)
        reports.stop()
    """ % WAITS[name], BELAY_SCHEDULE=schedule)


def test_y44_destroying_a_context(fresh):
    program(fresh, """
        own, ret = acl.rt.create_context(0)
        assert ret == 0
        stream, ret = acl.rt.create_stream()
        reports = Reports("start_thread")
        assert acl.rt.subscribe_report(reports.ident, stream) == 0
        hold = Hold(stream)
        hold.let_go_in(0.05)
        assert acl.rt.destroy_context(own) == 0
        reports.stop()
    """)


@pytest.mark.parametrize("name", ["destroy_stream_force", "stream_abort"])
def test_y44_dropping_the_work_of_a_stream(fresh, name):
    """Whether these wait for the callback or not, they must not stop it."""
    program(fresh, """
        reports = Reports("start_thread")
        assert acl.rt.subscribe_report(reports.ident, stream) == 0
        hold = Hold(stream)
        hold.let_go_in(0.3)
        assert acl.rt.%s(stream) == 0
        assert hold.over.wait(30)
        reports.stop()
    """ % name)


def test_y43_process_report(fresh):
    program(fresh, """
        assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
        ticks = Ticks()
        result, took, ticked = ticks.during(acl.rt.process_report, 400)
        assert result == 507012 and took >= 0.39 and ticked >= 5, (result, took, ticked)

        def launch():
            acl.rt.set_device(0)
            let_time_pass(0.3)
            assert acl.rt.launch_callback(seen.append, 1, 1, stream) == 0

        seen = []
        threading.Thread(target=launch, daemon=True).start()
        result, took, ticked = ticks.during(acl.rt.process_report, -1)
        assert result == 0 and seen == [1] and ticked >= 5, (result, took, ticked)
    """)


def test_y43_stop_thread(fresh):
    program(fresh, """
        ticks = Ticks()
        ident, err = acl.util.start_thread(lambda args: let_time_pass(0.4), [])
        result, took, ticked = ticks.during(acl.util.stop_thread, ident)
        assert result == 0 and ticked >= 5, (took, ticked)
    """)


def test_y43_start_thread(fresh):
    """The new thread may run before the call has returned; the call must not need it, nor wait for it."""
    program(fresh, """
        go = threading.Event()
        idents = []
        for _ in range(50):
            ident, err = acl.util.start_thread(lambda args: go.wait(30), [])
            assert err == 0
            idents.append(ident)
        go.set()
        assert [acl.util.stop_thread(ident) for ident in idents] == [0] * 50
    """)


COPIES = {
    "memcpy to the device": "acl.rt.memcpy(block, size, address, size, 1)",
    "memcpy from the device": "acl.rt.memcpy(address, size, block, size, 2)",
    "memcpy on the device": "acl.rt.memcpy(other, size, block, size, 3)",
    "memcpy2d": "acl.rt.memcpy2d(block, 4096, address, 4096, 4096, size // 4096, 1)",
    "memcpy_async of pageable memory": "acl.rt.memcpy_async(block, size, address, size, 1, stream)",
}


@pytest.mark.parametrize("name", COPIES)
def test_y44_a_large_copy(fresh, name):
    """At 60 MB/s a copy of 32 MiB takes more than half a second, whatever the machine."""
    program(fresh, """
        size = 32 << 20
        block, ret = acl.rt.malloc(size, 0)
        other, ret = acl.rt.malloc(size, 0)
        data = bytes(bytearray(size))
        address = acl.util.bytes_to_ptr(data)
        ticks = Ticks()
        result, took, ticked = ticks.during(lambda: %s)
        assert result == 0, (result, acl.get_recent_err_msg())
        assert took >= 0.4 and ticked >= 5, (took, ticked)
    """ % COPIES[name], BELAY_LINK="h2d:60MB/s,d2h:60MB/s,d2d:60MB/s")


def test_y44_many_threads_wait_at_once(fresh):
    program(fresh, """
        reports = Reports("threading")
        assert acl.rt.subscribe_report(reports.ident, stream) == 0
        hold = Hold(stream)
        done = []

        def wait(number):
            assert acl.rt.set_context(context) == 0
            done.append((number, acl.rt.synchronize_stream(stream), hold.over.is_set()))

        threads = [threading.Thread(target=wait, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        let_time_pass(0.2)
        assert done == []
        hold.let_go()
        for thread in threads:
            thread.join(30)
        assert sorted(done) == [(number, 0, True) for number in range(8)]
        reports.stop()
    """)
