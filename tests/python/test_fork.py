"""Children of a process that has used the module: by os.fork, and by multiprocessing in all its ways."""

import os
import re
import textwrap
import uuid

import pytest

from reports import prelude
from support import run

SANITIZER = re.search("lib[at]san", os.environ.get("LD_PRELOAD", "")) is not None
# Threads of the runtime and of the program are there when a process forks. One of them may hold a lock of the sanitizer's
# allocator at that moment, which nobody lets go of in the child.
pytestmark = pytest.mark.skipif(SANITIZER, reason="the sanitizer's allocator does not survive a fork beside other threads")

HEAD = prelude() + """
import contextlib
import multiprocessing
import os
import threading
import time
import acl
import children
from reports import Reports
from waiting import let_time_pass, until

def finished(pid, patience=60):
    statuses = []
    def ended():
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            statuses.append(status)
        return done
    if until(ended, patience):
        return statuses[0]
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return "hangs"

def fork(act):
    # The child ends without the interpreter's own end, with 0 if act gave something true.
    pid = os.fork()
    if pid == 0:
        try:
            code = 0 if act() else 7
        except BaseException as error:
            print(type(error), error, flush=True)
            code = 8
        os._exit(code)
    return finished(pid)
"""
QUIET = {"PYTHONWARNINGS": "ignore", "BELAY_LEAKS": "off"}


def forked(fresh, code, **env):
    return run(fresh, HEAD + textwrap.dedent(code), timeout=150, env={**QUIET, **env})


def test_a_child_starts_anew(fresh):
    forked(fresh, """
        assert acl.init() == 0
        assert acl.rt.set_device(0) == 0
        stream, ret = acl.rt.create_stream()
        block, ret = acl.rt.malloc(4096, 2)
        assert acl.rt.memset(block, 4096, 5, 4096) == 0

        def child():
            assert acl.rt.get_context() == (0, 107002), acl.rt.get_context()
            assert acl.rt.get_device() == (0, 107002)
            assert acl.rt.synchronize_stream(stream) != 0
            assert acl.rt.free(block) == 107000
            assert acl.rt.set_device(0) == 0
            assert acl.rt.memset(block, 64, 1, 64) == 507899
            return children.use(0) == "fine"

        assert fork(child) == 0
        back = bytes(bytearray(4096))
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), 4096, block, 4096, 2) == 0
        assert back == bytes([5]) * 4096, "the parent's memory is untouched"
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.free(block) == 0
    """)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(fresh, method):
    forked(fresh, """
        assert children.use(0) == "fine"
        context = multiprocessing.get_context("%s")
        for _ in range(2):
            results = context.SimpleQueue()
            process = context.Process(target=children.answer, args=(results, 0))
            process.start()
            answer = results.get()
            process.join(60)
            assert answer == "fine", answer
            assert process.exitcode == 0, process.exitcode
        assert children.use(0) == "fine"
    """ % method)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_pool_of_processes(fresh, method):
    forked(fresh, """
        assert children.use(0) == "fine"
        with multiprocessing.get_context("%s").Pool(2) as pool:
            assert pool.map(children.use, [0, 1, 0, 1, 0, 1], chunksize=1) == ["fine"] * 6
        assert children.use(0) == "fine"
    """ % method)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_callbacks_and_threads_in_the_child(fresh, method):
    forked(fresh, """
        assert children.callbacks() == "fine"
        context = multiprocessing.get_context("%s")
        results = context.SimpleQueue()
        process = context.Process(target=children.answer_callbacks, args=(results,))
        process.start()
        answer = results.get()
        process.join(60)
        assert (answer, process.exitcode) == ("fine", 0), (answer, process.exitcode)
        assert children.callbacks() == "fine"
    """ % method)


def test_threads_of_the_parent_are_not_the_childs(fresh):
    forked(fresh, """
        assert acl.rt.set_device(0) == 0
        stream, ret = acl.rt.create_stream()
        with Reports("start_thread", timeout=100) as reports, reports.serve(stream):
            assert fork(lambda: acl.util.stop_thread(reports.ident) == 3) == 0
            assert fork(lambda: children.callbacks() == "fine") == 0
            seen = []
            assert acl.rt.launch_callback(seen.append, 1, 1, stream) == 0
            assert acl.rt.synchronize_stream(stream) == 0
            assert seen == [1]
    """)


def test_callbacks_of_the_parent_are_not_the_childs(fresh):
    forked(fresh, """
        assert acl.rt.set_device(0) == 0
        stream, ret = acl.rt.create_stream()
        assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
        seen = []
        assert acl.rt.launch_callback(seen.append, 1, 1, stream) == 0

        def child():
            assert acl.rt.process_report(100) == 107012
            return seen == []

        assert fork(child) == 0
        assert acl.rt.process_report(10000) == 0
        assert seen == [1]
    """)


# The allocator of a sanitizer stays locked in the child if another thread was inside it at the fork; with one of
# them, the other threads stand still outside any call meanwhile.


def test_forks_while_other_threads_are_inside(fresh):
    forked(fresh, """
        assert acl.rt.set_device(0) == 0
        over = threading.Event()
        still = threading.Lock() if %r else contextlib.nullcontext()

        def busy():
            acl.rt.set_device(0)
            size = 1 << 20
            stream, ret = acl.rt.create_stream()
            block, ret = acl.rt.malloc(size, 0)
            host = bytes(bytearray(size))
            address = acl.util.bytes_to_ptr(host)
            while not over.is_set():
                with still:
                    acl.rt.memcpy(block, size, address, size, 1)
                    acl.rt.memset_async(block, size, 1, size, stream)
                    acl.rt.synchronize_stream(stream)
                    acl.rt.free(acl.rt.malloc(4096, 2)[0])
                    ident, err = acl.util.start_thread(len, [])
                    acl.util.stop_thread(ident)
                let_time_pass(0)

        threads = [threading.Thread(target=busy) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(15):
                with still:
                    assert fork(lambda: children.use(0) == "fine") == 0
                let_time_pass(0.01)
        finally:
            over.set()
            for thread in threads:
                thread.join()
    """ % SANITIZER)


def test_grandchildren(fresh):
    forked(fresh, """
        assert children.use(0) == "fine"
        assert fork(lambda: children.use(0) == "fine" and fork(lambda: children.use(0) == "fine") == 0) == 0
    """)


def test_the_childs_own_end(fresh):
    """The child leaves as programs do, through the interpreter's end."""
    forked(fresh, """
        assert acl.rt.set_device(0) == 0
        stream, ret = acl.rt.create_stream()
        reports = Reports("start_thread", timeout=2000)
        assert acl.rt.subscribe_report(reports.ident, stream) == 0
        let_time_pass(0.3)  # the thread waits in its call: one that allocates would leave a sanitizer's locks to the child
        pid = os.fork()
        if pid == 0:
            code = 0 if children.use(0) == "fine" else 7
            sys.exit(code)
        assert finished(pid) == 0
        assert acl.rt.unsubscribe_report(reports.ident, stream) == 0
        reports.stop()
    """)


def test_machine_memory_of_a_child_comes_back(fresh):
    forked(fresh, """
        assert acl.rt.set_device(0) == 0
        before = acl.rt.get_mem_info(1)

        def child():
            assert acl.rt.set_device(0) == 0
            block, ret = acl.rt.malloc(64 << 20, 1)
            return ret == 0 and acl.rt.get_mem_info(1)[0] < before[0]

        assert fork(child) == 0
        assert acl.rt.get_mem_info(1) == before
    """, BELAY_MACHINE="pytest-" + uuid.uuid4().hex[:12])
