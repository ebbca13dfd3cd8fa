"""The end of the interpreter, with things alive and threads at work. Never a crash, never a hang."""

import textwrap

import pytest

from reports import prelude

HEAD = prelude() + """
import atexit
import threading
import time
import acl
from reports import Reports, Hold
from waiting import let_time_pass, until

def begin():
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    return stream

def wait(event):
    assert event.wait(30)
"""


def ends(fresh, code, exit_code=0, quiet=True, **how):
    """The code must end by itself with this exit code."""
    how.setdefault("env", {"BELAY_LEAKS": "off"})
    done = fresh(HEAD + textwrap.dedent(code), timeout=90, **how)
    told = "exit code %s\n%s\n%s" % (done.returncode, done.stdout, done.stderr)
    assert done.returncode == exit_code, told
    assert "Fatal" not in done.stderr and "terminate called" not in done.stderr, told
    if quiet:
        assert done.stderr == "", told
    return done


SCHEDULES = ["eager", "fifo", "lazy", "seed:3"]


def test_everything_alive(fresh):
    ends(fresh, """
        stream = begin()
        context, ret = acl.rt.create_context(0)
        event, ret = acl.rt.create_event()
        blocks = [acl.rt.malloc(4096, policy) for policy in range(3)]
        host = acl.rt.malloc_host(4096)
        buffer = acl.create_data_buffer(blocks[0][0], 64)
        media = acl.media.dvpp_malloc(64)
        print("end")
    """)


def test_only_imported(fresh):
    ends(fresh, "")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_work_that_nobody_waits_for(fresh, schedule):
    ends(fresh, """
        stream = begin()
        block, ret = acl.rt.malloc(1 << 20, 0)
        host, ret = acl.rt.malloc_host(1 << 20)
        for _ in range(50):
            assert acl.rt.memcpy_async(block, 1 << 20, host, 1 << 20, 1, stream) == 0
    """, env={"BELAY_SCHEDULE": schedule, "BELAY_LEAKS": "off"})


@pytest.mark.parametrize("way", ["threading", "start_thread"])
@pytest.mark.parametrize("schedule", ["eager", "lazy"])
def test_a_thread_inside_process_report_for_ever(fresh, way, schedule):
    ends(fresh, """
        stream = begin()
        inside = threading.Event()
        go = threading.Event()

        def process(args):
            wait(go)
            inside.set()
            acl.rt.process_report(-1)

        if "%s" == "threading":
            thread = threading.Thread(target=process, args=([],), daemon=True)
            thread.start()
            ident = thread.ident
        else:
            ident, err = acl.util.start_thread(process, [])
            assert err == 0
        assert acl.rt.subscribe_report(ident, stream) == 0
        go.set()
        wait(inside)
        let_time_pass(0.2)
        print("end")
    """ % way, env={"BELAY_SCHEDULE": schedule, "BELAY_LEAKS": "off"})


@pytest.mark.parametrize("what", ["sleeps", "computes", "calls"])
def test_a_thread_of_start_thread_that_never_ends(fresh, what):
    ends(fresh, """
        stream = begin()
        running = threading.Event()

        def work(args):
            acl.rt.set_device(0)
            running.set()
            while True:
                if "%s" == "sleeps":
                    let_time_pass(0.01)
                elif "%s" == "calls":
                    block, ret = acl.rt.malloc(4096, 2)
                    acl.rt.memset(block, 4096, 1, 4096)
                    acl.rt.synchronize_stream(0)
                    acl.rt.free(block)

        for _ in range(3):
            assert acl.util.start_thread(work, [])[1] == 0
        wait(running)
        let_time_pass(0.1)
        print("end")
    """ % (what, what))


def test_daemon_threads_inside_every_call_that_waits(fresh):
    ends(fresh, """
        stream = begin()
        reports = Reports("start_thread")
        assert acl.rt.subscribe_report(reports.ident, stream) == 0
        hold = Hold(stream)
        event, ret = acl.rt.create_event()
        assert acl.rt.record_event(event, stream) == 0
        inside = []

        def run(call, *args):
            acl.rt.set_device(0)
            inside.append(call)
            call(*args)

        for call, *args in ((acl.rt.synchronize_stream, stream), (acl.rt.synchronize_event, event),
                            (acl.rt.synchronize_device,), (acl.rt.synchronize_device_with_timeout, -1),
                            (acl.rt.synchronize_stream_with_timeout, stream, -1),
                            (acl.rt.synchronize_event_with_timeout, event, -1),
                            (acl.util.stop_thread, reports.ident), (acl.rt.destroy_stream, stream)):
            threading.Thread(target=run, args=(call, *args), daemon=True).start()
        assert until(lambda: len(inside) >= 8)
        let_time_pass(0.2)
        print("end", flush=True)
    """)


@pytest.mark.parametrize("block_type", [0, 1])
def test_callbacks_that_nobody_has_fetched(fresh, block_type):
    ends(fresh, """
        stream = begin()
        assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0

        class Data:
            def __del__(self):
                acl.rt.get_device_count()

        for _ in range(20):
            assert acl.rt.launch_callback(lambda data: None, Data(), %d, stream) == 0
        print("end")
    """ % block_type)


def test_inside_a_callback(fresh):
    ends(fresh, """
        stream = begin()
        inside = threading.Event()

        def stay(data):
            inside.set()
            while True:
                let_time_pass(0.01)

        def process(args):
            wait(subscribed)
            acl.rt.process_report(-1)

        subscribed = threading.Event()
        ident, err = acl.util.start_thread(process, [])
        assert acl.rt.subscribe_report(ident, stream) == 0
        subscribed.set()
        assert acl.rt.launch_callback(stay, None, 1, stream) == 0
        wait(inside)
        print("end")
    """)


def test_a_callback_that_becomes_due_at_the_end(fresh):
    """Its stream is let go while the interpreter ends; the report thread must not run Python code then."""
    ends(fresh, """
        stream = begin()
        word, ret = acl.rt.malloc(8, 2)
        assert acl.rt.memset(word, 8, 0, 8) == 0

        def process(args):
            wait(subscribed)
            while True:
                acl.rt.process_report(-1)

        subscribed = threading.Event()
        ident, err = acl.util.start_thread(process, [])
        assert acl.rt.subscribe_report(ident, stream) == 0
        subscribed.set()
        assert acl.rt.value_wait(word, 1, 1, stream) == 0
        for _ in range(10):
            assert acl.rt.launch_callback(lambda data: None, None, 1, stream) == 0

        class Last:
            one = (1).to_bytes(8, "little")

            def __del__(self, memcpy=acl.rt.memcpy, address=acl.util.bytes_to_ptr(one), word=word, one=one):
                memcpy(word, 8, address, 8, 1)

        keep = Last()
        let_time_pass(0.1)
    """)


def test_objects_that_clean_up_in_del(fresh):
    done = ends(fresh, """
        class Helper:
            def __init__(self):
                self.stream = begin()
                self.context, ret = acl.rt.get_context()
                self.over = False
                self.ident, err = acl.util.start_thread(self.process, [])
                assert err == 0 and acl.rt.subscribe_report(self.ident, self.stream) == 0
                self.called = 0
                assert acl.rt.launch_callback(self.note, None, 1, self.stream) == 0
                assert acl.rt.synchronize_stream(self.stream) == 0
                assert self.called == 1

            def note(self, data):
                self.called += 1

            def process(self, args):
                acl.rt.set_context(self.context)
                while not self.over:
                    acl.rt.process_report(20)

            def __del__(self):
                self.over = True
                print("stop", acl.util.stop_thread(self.ident) in (0, 3), flush=True)
                print("unsubscribe", acl.rt.unsubscribe_report(self.ident, self.stream))
                print("stream", acl.rt.destroy_stream(self.stream))
                print("device", acl.rt.reset_device(0))
                print("finalize", acl.finalize(), flush=True)

        helper = Helper()
        print("end", flush=True)
    """, quiet=False)
    # The thread holds the object through its bound method; __del__ comes at the very end or not at all.
    assert done.stdout.splitlines()[0] == "end"


def test_stop_thread_in_del_at_the_very_end(fresh):
    """By then the interpreter lets no other thread run, so the thread can never end by its own."""
    done = ends(fresh, """
        from reports import turn_until_over

        class Keeper:
            def __init__(self):
                self.state = {"over": False}
                self.ident, err = acl.util.start_thread(turn_until_over, self.state)
                assert err == 0

            def __del__(self, stop=acl.util.stop_thread, write=print):
                self.state["over"] = True
                write("before", flush=True)
                write("answer", stop(self.ident), flush=True)

        keeper = Keeper()
        assert until(lambda: "turns" in keeper.state)
    """)
    assert done.stdout.splitlines()[0] == "before", done.stdout


def test_stop_thread_and_all_the_rest_in_atexit(fresh):
    done = ends(fresh, """
        stream = begin()
        reports = Reports("start_thread")
        assert acl.rt.subscribe_report(reports.ident, stream) == 0
        ran = []

        def close():
            assert acl.rt.launch_callback(ran.append, 1, 1, stream) == 0
            assert acl.rt.synchronize_stream(stream) == 0
            reports.stop()
            print(ran, acl.rt.unsubscribe_report(reports.ident, stream), acl.rt.destroy_stream(stream),
                  acl.rt.reset_device(0), acl.finalize())

        atexit.register(close)
    """)
    assert done.stdout.strip() == "[1] 0 0 0 0"


def test_starting_a_thread_at_the_very_end(fresh):
    ends(fresh, """
        import sys

        class Late:
            def __del__(self, start=acl.util.start_thread, stop=acl.util.stop_thread):
                ident, err = start(print, "late")
                stop(ident)

        late = Late()
        sys.late = late
        atexit.register(lambda: acl.util.start_thread(let_time_pass, 100))
    """, quiet=False)


@pytest.mark.parametrize("code, exit_code", [("raise SystemExit(3)", 3), ("raise ValueError('words')", 1),
                                             ("import os; os._exit(4)", 4), ("sys.exit('words')", 1)])
def test_exit_codes_are_the_programs(fresh, code, exit_code):
    ends(fresh, """
        stream = begin()
        reports = Reports("start_thread")
        assert acl.rt.subscribe_report(reports.ident, stream) == 0
        hold = Hold(stream)
        %s
    """ % code, exit_code=exit_code, quiet=False)


def test_an_exception_in_a_thread_nobody_waits_for(fresh):
    done = ends(fresh, """
        def fail(args):
            raise ValueError("nobody asks")

        ident, err = acl.util.start_thread(fail, [])
        let_time_pass(0.3)
    """, quiet=False)
    assert "ValueError: nobody asks" in done.stderr


def test_without_the_module_in_sys_modules(fresh):
    ends(fresh, """
        import gc
        stream = begin()
        for name in [name for name in sys.modules if name.partition(".")[0] == "acl"]:
            del sys.modules[name]
        rt = acl.rt
        del acl
        gc.collect()
        assert rt.synchronize_stream(stream) == 0
    """)


def test_imported_again_after_that(fresh):
    ends(fresh, """
        stream = begin()
        old = acl.rt.malloc
        for name in [name for name in sys.modules if name.partition(".")[0] == "acl"]:
            del sys.modules[name]
        import acl
        block, ret = acl.rt.malloc(64, 2)
        assert ret == 0
        assert acl.rt.free(old(64, 2)[0]) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    """)


RACE = """
import acl
acl.rt.set_device(0)
stream, ret = acl.rt.create_stream()
def process(args):
    while True:
        acl.rt.process_report(1)
def busy(args):
    while True:
        acl.rt.get_device_count()
        acl.rt.synchronize_stream(0)
idents = [acl.util.start_thread(f, [])[0] for f in (process, process, busy, busy)]
assert acl.rt.subscribe_report(idents[0], stream) == 0
for _ in range(20):
    acl.rt.launch_callback(len, [], 0, stream)
"""


def test_many_ends_with_threads_in_flight(fresh):
    """What goes wrong only sometimes."""
    for number in range(10):
        done = fresh(RACE, env={"BELAY_LEAKS": "off"})
        assert done.returncode == 0 and done.stderr == "", (number, done)
