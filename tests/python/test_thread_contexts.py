"""Contexts belong to threads, waits leave the interpreter to others (Y-43 to Y-47)."""

import threading

import pytest

import acl
from reports import Reports
from support import Word, bytes_at, fill, ok, on_bare_thread, run_here

# A call that kept the interpreter lock would wait for ever: only another Python thread can release the word.
HELD_BY_A_WORD = """
    import threading
    import acl
    from support import Word, ok
    from waiting import let_time_pass

    ok(acl.init())
    ok(acl.rt.set_device(0))
    context = ok(acl.rt.get_context())
    stream = ok(acl.rt.create_stream())
    event = ok(acl.rt.create_event())
    device = ok(acl.rt.malloc(64, 2))
    plain = bytes(bytearray(64))
    word = Word()
    word.hold(stream)
    ok(acl.rt.record_event(event, stream))
    ticks, inside = [], threading.Event()

    def other():
        ok(acl.rt.set_context(context))
        inside.wait()
        for _ in range(20):
            ticks.append(1)
            let_time_pass(0.002)
        word.release()

    thread = threading.Thread(target=other)
    thread.start()
    inside.set()
    code = %s
    seen = len(ticks)
    thread.join()
    assert code == 0, code
    assert seen == 20, seen
    """


@pytest.mark.parametrize("call", [
    "acl.rt.synchronize_stream(stream)",
    "acl.rt.synchronize_stream_with_timeout(stream, -1)",
    "acl.rt.synchronize_stream_with_timeout(stream, 50000)",
    "acl.rt.synchronize_event(event)",
    "acl.rt.synchronize_event_with_timeout(event, -1)",
    "acl.rt.synchronize_event_with_timeout(event, 50000)",
    "acl.rt.synchronize_device()"])
def test_y43_other_threads_run_during_a_wait(fresh, call):
    run_here(fresh, HELD_BY_A_WORD % call)


@pytest.mark.parametrize("call", [
    "acl.rt.synchronize_device_with_timeout(-1)",
    "acl.rt.synchronize_device_with_timeout(50000)",
    "acl.rt.destroy_stream(stream)",
    "acl.rt.memcpy_async(device, 64, acl.util.bytes_to_ptr(plain), 64, 1, stream)",
    "acl.rt.memcpy_async_with_condition(device, 64, acl.util.bytes_to_ptr(plain), 64, 1, stream)",
    "acl.rt.memcpy2d_async(device, 8, acl.util.bytes_to_ptr(plain), 8, 8, 8, 1, stream)"])
def test_y44_y186_also_where_the_vendor_keeps_the_lock(fresh, call):
    run_here(fresh, HELD_BY_A_WORD % call)


def test_y43_stream_wait_event_is_the_streams_wait(device):
    first, second = ok(acl.rt.create_stream()), ok(acl.rt.create_stream())
    event = ok(acl.rt.create_event())
    word = Word()
    word.hold(first)
    ok(acl.rt.record_event(event, first))
    ok(acl.rt.stream_wait_event(second, event))  # comes back at once
    assert acl.rt.stream_query(second) == (1, 0) and word.read() == 0
    assert on_bare_thread(lambda: "ran") == "ran"
    word.release()
    ok(acl.rt.synchronize_stream(second))
    ok(acl.rt.destroy_event(event))
    ok(acl.rt.destroy_stream(first))
    ok(acl.rt.destroy_stream(second))
    ok(acl.rt.free(word.address))


BARE = [
    ("malloc", lambda: acl.rt.malloc(64, 0)[1]),
    ("malloc_host", lambda: acl.rt.malloc_host(64)[1]),
    ("create_stream", lambda: acl.rt.create_stream()[1]),
    ("get_context", lambda: acl.rt.get_context()[1]),
    ("get_device", lambda: acl.rt.get_device()[1]),
    ("get_mem_info", lambda: acl.rt.get_mem_info(1)[2]),
    ("synchronize_stream", lambda: acl.rt.synchronize_stream(0)),
    ("memcpy", lambda: acl.rt.memcpy(1, 1, 2, 1, 1)),
    ("memset", lambda: acl.rt.memset(1, 1, 0, 1)),
]


@pytest.mark.parametrize("name, call", BARE, ids=[row[0] for row in BARE])
def test_y45_a_thread_starts_without_a_context(device, name, call):
    assert on_bare_thread(call) == 107002
    codes = []
    thread, err = acl.util.start_thread(lambda _: codes.append(call()), [])
    assert err == 0 and acl.util.stop_thread(thread) == 0
    assert codes == [107002]


def work():
    address = ok(acl.rt.malloc(64, 2))
    fill(address, bytes(range(64)))
    got = bytes_at(address, 64)
    ok(acl.rt.free(address))
    return got


@pytest.mark.parametrize("kind", ["threading", "start_thread"])
@pytest.mark.parametrize("choose", ["set_context", "set_device"])
def test_y45_it_works_once_it_has_chosen(device, kind, choose):
    context = ok(acl.rt.get_context())
    got = []

    def body(_=None):
        ok(acl.rt.set_context(context) if choose == "set_context" else acl.rt.set_device(0))
        got.append((ok(acl.rt.get_device()), work()))

    if kind == "threading":
        on_bare_thread(body)
    else:
        thread, err = acl.util.start_thread(body, [])
        assert err == 0 and acl.util.stop_thread(thread) == 0
    assert got == [(0, bytes(range(64)))]


def test_y45_a_choice_is_the_threads_own(device):
    def body():
        ok(acl.rt.set_device(1))
        chosen = ok(acl.rt.get_device())
        ok(acl.rt.reset_device(1))
        return chosen

    assert on_bare_thread(body) == 1
    assert ok(acl.rt.get_device()) == 0


@pytest.mark.parametrize("kind", Reports.KINDS)
def test_y46_process_report_needs_no_context(device, kind):
    """The loop of Reports never selects a device."""
    stream = ok(acl.rt.create_stream())
    where = []
    with Reports(kind) as reports:
        with reports.serve(stream):
            ok(acl.rt.launch_callback(lambda _: where.append(threading.get_ident()), None, 1, stream))
            ok(acl.rt.synchronize_stream(stream))
    assert where == [reports.ident]
    assert 0 in reports.codes
    ok(acl.rt.destroy_stream(stream))


def test_y47_many_threads_at_once(device):
    context = ok(acl.rt.get_context())
    everyone, failed = threading.Barrier(6), []

    def body(number):
        try:
            ok(acl.rt.set_context(context))
            stream = ok(acl.rt.create_stream())
            host = ok(acl.rt.malloc_host(4096))
            everyone.wait(60)
            for i in range(40):
                address = ok(acl.rt.malloc(4096, 2))
                ok(acl.rt.memset(host, 4096, number * 40 + i, 4096))
                ok(acl.rt.memcpy_async(address, 4096, host, 4096, 1, stream))
                ok(acl.rt.synchronize_stream(stream))
                assert bytes_at(address, 4096) == bytes([number * 40 + i & 0xFF]) * 4096
                ok(acl.rt.free(address))
            ok(acl.rt.free_host(host))
            ok(acl.rt.destroy_stream(stream))
        except BaseException as error:  # looked at below
            failed.append(error)

    threads = [threading.Thread(target=body, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_y47_handles_pass_between_threads(device):
    context = ok(acl.rt.get_context())
    stream, event = ok(acl.rt.create_stream()), ok(acl.rt.create_event())
    address = ok(acl.rt.malloc(64, 2))

    def body():
        ok(acl.rt.set_context(context))
        ok(acl.rt.memset_async(address, 64, 3, 64, stream))
        ok(acl.rt.record_event(event, stream))
        return ok(acl.rt.create_stream())

    theirs = on_bare_thread(body)
    ok(acl.rt.synchronize_event(event))
    assert bytes_at(address, 64) == bytes([3]) * 64
    for thing, destroy in ((theirs, acl.rt.destroy_stream), (stream, acl.rt.destroy_stream),
                           (event, acl.rt.destroy_event)):
        ok(destroy(thing))
    on_bare_thread(lambda: ok(acl.rt.free(address)))  # freeing needs no context
