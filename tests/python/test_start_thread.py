"""acl.util: start_thread and stop_thread."""

import errno
import functools
import signal
import sys
import threading
import time

import pytest

import acl
from arguments import Index
from support import ok, run, run_here
from waiting import PATIENCE, let_time_pass, until

NO_SUCH_THREAD = 3


def done(fn, args):
    """Run fn in a thread and wait for it."""
    ident, err = acl.util.start_thread(fn, args)
    assert err == 0
    assert acl.util.stop_thread(ident) == 0
    return ident


@pytest.mark.parametrize("args", [[], [1, "two"], (), (1, 2), {}, {"a": 1}, 0, 5, "text", "", False,
                                  object()], ids=repr)
def test_y150_one_argument_the_object_itself(args):
    seen = []
    done(lambda *given, **named: seen.append((given, named)), args)
    (given, named), = seen
    assert len(given) == 1 and given[0] is args and named == {}


def test_y150_none_means_no_argument():
    seen = []
    done(lambda *given: seen.append(given), None)
    assert seen == [()]


def test_y150_every_kind_of_callable():
    class Kind:
        def __init__(self, note=None):
            self.notes = []
            if note is not None:
                note.append("class")

        def method(self, args):
            self.notes.append(args)

        @classmethod
        def of_class(cls, args):
            args.append("of_class")

        @staticmethod
        def of_none(args):
            args.append("of_none")

        def __call__(self, args):
            self.notes.append(("called", args))

    kind = Kind()
    done(kind.method, [7])
    done(kind, [8])
    assert kind.notes == [[7], ("called", [8])]
    notes = []
    done(Kind.of_class, notes)
    done(Kind.of_none, notes)
    done(Kind, notes)
    done(functools.partial(lambda a, b: b.append(a), "partial"), notes)
    done(notes.append, "builtin")
    assert notes == ["of_class", "of_none", "class", "partial", "builtin"]


def test_y150_the_result_is_a_pair():
    result = acl.util.start_thread(lambda args: None, [])
    assert type(result) is tuple and len(result) == 2
    ident, err = result
    assert type(ident) is int and 0 < ident < 1 << 64 and type(err) is int and err == 0
    assert acl.util.stop_thread(ident) == 0


@pytest.mark.parametrize("thing", [None, 1, "print", [], object()], ids=repr)
def test_y150_only_callables(thing):
    with pytest.raises(TypeError) as caught:
        acl.util.start_thread(thing, [])
    assert str(caught.value) == "parameter must be callable"


def test_y150_the_interpreters_own_words_for_a_wrong_count():
    for args in ((), (print,), (print, [], 1)):
        with pytest.raises(TypeError) as caught:
            acl.util.start_thread(*args)
        assert str(caught.value) == "function takes exactly 2 arguments (%d given)" % len(args)
    with pytest.raises(TypeError):
        acl.util.start_thread(fn=print, args=[])


def test_y151_the_number_is_the_threads_own():
    seen = []
    ident = done(lambda args: args.append(threading.get_ident()), seen)
    assert seen == [ident]


def test_y151_two_threads_have_two_numbers():
    gate = threading.Event()
    seen = []

    def wait(args):
        gate.wait(PATIENCE)
        seen.append(threading.get_ident())

    idents = [ok(acl.util.start_thread(wait, [])) for _ in range(5)]
    gate.set()
    for ident in idents:
        assert acl.util.stop_thread(ident) == 0
    assert len(set(idents)) == 5 and sorted(seen) == sorted(idents)


def test_y151_both_kinds_of_thread_can_be_subscribed(device):
    over = threading.Event()
    stream = ok(acl.rt.create_stream())
    ours = ok(acl.util.start_thread(lambda args: over.wait(PATIENCE), []))
    pythons = threading.Thread(target=over.wait, args=(PATIENCE,))
    pythons.start()
    try:
        for ident in (ours, pythons.ident):
            assert acl.rt.subscribe_report(ident, stream) == 0
            assert acl.rt.unsubscribe_report(ident, stream) == 0
    finally:
        over.set()
        assert acl.util.stop_thread(ours) == 0
        pythons.join()
    ok(acl.rt.destroy_stream(stream))


def test_y152_stop_waits_and_only_waits():
    gate = threading.Event()
    ended = []

    def wait(args):
        gate.wait(PATIENCE)
        let_time_pass(0.1)
        ended.append(True)

    ident = ok(acl.util.start_thread(wait, []))
    let_time_pass(0.1)
    assert not ended, "nothing stops it"
    timer = threading.Timer(0.2, gate.set)
    timer.start()
    start = time.monotonic()
    assert acl.util.stop_thread(ident) == 0
    assert ended and time.monotonic() - start >= 0.25
    timer.join()


def test_y152_a_thread_that_has_ended_can_be_waited_for():
    over = threading.Event()
    ident = ok(acl.util.start_thread(lambda args: over.set(), []))
    assert over.wait(PATIENCE)
    let_time_pass(0.05)
    assert acl.util.stop_thread(ident) == 0


def test_y152_arguments():
    for args in ((), (None,), ("1",), (1.0,), (1, 2), ([],)):
        with pytest.raises(TypeError) as caught:
            acl.util.stop_thread(*args)
        assert str(caught.value) == "acl.util.stop_thread args parse failed"
    if sys.version_info < (3, 14):
        with pytest.raises(TypeError):
            acl.util.stop_thread(Index(1))
    over = threading.Event()
    ident = ok(acl.util.start_thread(lambda args: over.wait(PATIENCE), []))
    over.set()
    assert acl.util.stop_thread(ident + (1 << 64)) == 0, "64 bits of the number count"


class Boom(Exception):
    pass


@pytest.mark.parametrize("error", [ValueError("some words"), Boom("own"), KeyError("k"), SystemExit(9),
                                   KeyboardInterrupt(), StopIteration()], ids=lambda e: type(e).__name__)
def test_y153_stop_thread_tells_of_an_exception(capfd, error):
    def fail(args):
        raise error

    ident = ok(acl.util.start_thread(fail, []))
    with pytest.raises(RuntimeError) as caught:
        acl.util.stop_thread(ident)
    assert str(caught.value) == "exception=%s,msg=thread call failed;" % type(error).__name__
    assert type(error).__name__ in capfd.readouterr().err
    assert acl.util.stop_thread(ident) == NO_SUCH_THREAD, "it is told once"


def test_y153_the_traceback_comes_at_that_moment(tmp_path, monkeypatch, capfd):
    def fail_here_42(args):
        raise ValueError("some words")

    # A file that can be looked at meanwhile: capfd loses what is written while it reads.
    path = tmp_path / "stderr"
    with open(path, "w", buffering=1) as file, monkeypatch.context() as for_now:
        for_now.setattr(sys, "stderr", file)
        ident = ok(acl.util.start_thread(fail_here_42, []))
        assert until(lambda: "ValueError: some words\n" in path.read_text())
    text = path.read_text()
    assert "Traceback" in text and "ValueError: some words" in text and "fail_here_42" in text
    with pytest.raises(RuntimeError):
        acl.util.stop_thread(ident)
    assert "Traceback" not in capfd.readouterr().err


def test_y153_a_wrong_signature_is_an_exception_of_the_thread(capfd):
    for fn, args in ((lambda: None, []), (lambda one, two: None, []), (lambda one: None, None)):
        ident = ok(acl.util.start_thread(fn, args))
        with pytest.raises(RuntimeError) as caught:
            acl.util.stop_thread(ident)
        assert str(caught.value) == "exception=TypeError,msg=thread call failed;"
    assert capfd.readouterr().err.count("TypeError") >= 3


def test_y153_one_failure_does_not_stick_to_the_next_thread(capfd):
    ident = ok(acl.util.start_thread(lambda args: 1 / 0, []))
    with pytest.raises(RuntimeError):
        acl.util.stop_thread(ident)
    for _ in range(10):
        done(lambda args: None, [])
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_y153_exceptions_inside_that_are_caught_do_not_count():
    def careful(args):
        try:
            raise ValueError
        except ValueError:
            args.append("caught")

    seen = []
    done(careful, seen)
    assert seen == ["caught"]


def test_y154_the_handler_of_sigint_stays():
    before = signal.getsignal(signal.SIGINT)
    done(lambda args: None, [])
    assert signal.getsignal(signal.SIGINT) is before


def test_y154_keyboard_interrupt_after_start_thread(fresh):
    run_here(fresh, """
        import os, signal, threading
        import acl
        from waiting import let_time_pass
        over = threading.Event()
        ident, err = acl.util.start_thread(lambda args: over.wait(60), [])
        assert err == 0
        try:
            os.kill(os.getpid(), signal.SIGINT)
            let_time_pass(30)
        except KeyboardInterrupt:
            print("interrupted")
        else:
            raise AssertionError("no KeyboardInterrupt")
        over.set()
        assert acl.util.stop_thread(ident) == 0
    """)


@pytest.mark.parametrize("ident", [0, 1, 12345, (1 << 64) - 1, -1])
def test_y155_nobody_has_that_number(ident):
    assert acl.util.stop_thread(ident) == NO_SUCH_THREAD


def test_y155_waiting_twice():
    ident = done(lambda args: None, [])
    for _ in range(3):
        assert acl.util.stop_thread(ident) == NO_SUCH_THREAD


def test_y155_threads_of_python_are_not_ours():
    over = threading.Event()
    thread = threading.Thread(target=over.wait, args=(PATIENCE,))
    thread.start()
    assert acl.util.stop_thread(thread.ident) == NO_SUCH_THREAD
    assert acl.util.stop_thread(threading.get_ident()) == NO_SUCH_THREAD
    assert thread.is_alive()
    over.set()
    thread.join()


def test_y155_two_at_once():
    gate = threading.Event()
    ident = ok(acl.util.start_thread(lambda args: gate.wait(PATIENCE), []))
    answers = []
    waiting = [threading.Thread(target=lambda: answers.append(acl.util.stop_thread(ident))) for _ in range(4)]
    for thread in waiting:
        thread.start()
    let_time_pass(0.1)
    gate.set()
    for thread in waiting:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert sorted(answers) == [0] + [NO_SUCH_THREAD] * 3


def test_y155_a_thread_that_waits_for_itself(fresh):
    run(fresh, """
        import threading
        import acl
        answers = []
        known = threading.Event()
        numbers = []

        def alone(args):
            known.wait(30)
            answers.append(acl.util.stop_thread(numbers[0]))

        ident, err = acl.util.start_thread(alone, [])
        assert err == 0
        numbers.append(ident)
        known.set()
        last = acl.util.stop_thread(ident)
        assert last in (0, 3), last
        for _ in range(1000):
            if answers:
                break
            threading.Event().wait(0.01)
        assert len(answers) == 1 and answers[0] != 0, answers
    """)


def test_y194_the_error_is_an_errno(fresh):
    out = run(fresh, """
        import ctypes
        import acl
        libc = ctypes.CDLL(None)
        attr = ctypes.create_string_buffer(256)
        assert libc.pthread_attr_init(attr) == 0
        assert libc.pthread_attr_setstacksize(attr, ctypes.c_size_t(1 << 50)) == 0
        assert libc.pthread_setattr_default_np(attr) == 0  # no machine has that much: threads cannot be made
        called = []
        ident, err = acl.util.start_thread(called.append, [])
        print(ident, err)
        assert acl.util.stop_thread(ident) == 3
        assert libc.pthread_attr_setstacksize(attr, ctypes.c_size_t(1 << 20)) == 0
        assert libc.pthread_setattr_default_np(attr) == 0
        ident, err = acl.util.start_thread(called.append, "now")
        assert err == 0 and acl.util.stop_thread(ident) == 0
        assert called == ["now"]
    """)
    assert out.split() == ["0", str(errno.EAGAIN)]


def test_y150_y151_a_thread_that_starts_threads():
    seen = []

    def outer(args):
        inner = [ok(acl.util.start_thread(seen.append, number)) for number in range(5)]
        for ident in inner:
            assert acl.util.stop_thread(ident) == 0
        seen.append("outer")

    done(outer, [])
    assert sorted(seen[:5]) == [0, 1, 2, 3, 4] and seen[5] == "outer"


def test_y150_y152_another_thread_may_wait():
    ident = ok(acl.util.start_thread(lambda args: let_time_pass(0.05), []))
    answers = []
    thread = threading.Thread(target=lambda: answers.append(acl.util.stop_thread(ident)))
    thread.start()
    thread.join(PATIENCE)
    assert answers == [0]


def test_y150_many_threads_one_after_the_other():
    total = []
    for number in range(300):
        done(total.append, number)
    assert total == list(range(300))


def test_y150_thread_local_data_of_python_works():
    local = threading.local()
    seen = []

    def work(args):
        local.value = args
        let_time_pass(0.01)
        seen.append(local.value)
        seen.append(threading.current_thread().name)

    a = ok(acl.util.start_thread(work, 1))
    b = ok(acl.util.start_thread(work, 2))
    assert acl.util.stop_thread(a) == 0 and acl.util.stop_thread(b) == 0
    assert {1, 2} <= set(seen)
