"""Events (Y-81 to Y-89)."""

import struct

import pytest

import acl
from support import Word, ok
from test_stream import released_soon
from waiting import let_time_pass

MAKERS = [acl.rt.create_event, lambda: acl.rt.create_event_with_flag(9),
          lambda: acl.rt.create_event_ex_with_flag(9)]
NAMES = ["plain", "flagged", "ex"]


@pytest.fixture(params=MAKERS, ids=NAMES)
def event(device, request):
    made = ok(request.param())
    yield made
    ok(acl.rt.destroy_event(made))


@pytest.fixture
def held(device):
    stream, word = ok(acl.rt.create_stream()), Word()
    word.hold(stream)
    yield stream, word
    word.release()
    ok(acl.rt.synchronize_stream(stream))
    ok(acl.rt.destroy_stream(stream))


@pytest.mark.parametrize("flag", [1, 2, 8, 1 | 2, 1 | 8, 2 | 8, 1 | 2 | 8])
def test_y81_flags(device, flag):
    for create in acl.rt.create_event_with_flag, acl.rt.create_event_ex_with_flag:
        for given in flag, flag + 2 ** 32, flag - 2 ** 32:
            made = ok(create(given))
            assert type(made) is int and made != 0
            ok(acl.rt.destroy_event(made))


@pytest.mark.parametrize("flag", [0, 0x100, 0x81, 2 ** 32, 2 ** 32 - 1])
def test_y81_flags_that_are_none(device, flag):
    for create in acl.rt.create_event_with_flag, acl.rt.create_event_ex_with_flag:
        assert create(flag) == (0, 107000)


def test_y82_destroy(event):
    extra = ok(acl.rt.create_event())
    result = acl.rt.destroy_event(extra)
    assert type(result) is int and result == 0
    assert acl.rt.destroy_event(extra) == 107017
    assert acl.rt.destroy_event(0) == 100000


def test_y83_record(event):
    stream = ok(acl.rt.create_stream())
    for where in 0, stream, ok(acl.rt.ctx_get_current_default_stream()):
        ok(acl.rt.record_event(event, where))
        ok(acl.rt.synchronize_event(event))
        assert acl.rt.query_event_status(event) == (1, 0)
    assert acl.rt.record_event(0, 0) == 100000
    ok(acl.rt.destroy_stream(stream))
    assert acl.rt.record_event(event, stream) == 107017


def test_y84_reset(device):
    event = ok(acl.rt.create_event_with_flag(1))
    ok(acl.rt.record_event(event, 0))
    ok(acl.rt.reset_event(event, 0))
    ok(acl.rt.synchronize_stream(0))
    assert acl.rt.query_event_status(event) == (0, 0)  # as if never recorded
    ok(acl.rt.destroy_event(event))


@pytest.mark.parametrize("create, flag", [("create_event_with_flag", 8), ("create_event_ex_with_flag", 1)])
def test_y84_reset_needs_the_sync_flag(device, create, flag):
    event = ok(getattr(acl.rt, create)(flag))
    assert acl.rt.reset_event(event, 0) == 207000
    ok(acl.rt.destroy_event(event))


def test_y85_order_of_stream_and_event(held, event):
    first, word = held
    second = ok(acl.rt.create_stream())
    ok(acl.rt.record_event(event, first))
    ok(acl.rt.stream_wait_event(second, event))
    assert acl.rt.stream_query(second) == (1, 0)
    # the other way round neither handle is what it should be
    assert acl.rt.stream_wait_event(event, second) == 107017
    assert acl.rt.record_event(first, event) == 107017
    assert acl.rt.reset_event(first, event) == 107017
    word.release()
    ok(acl.rt.synchronize_stream(second))
    ok(acl.rt.destroy_stream(second))


@pytest.mark.parametrize("create", MAKERS[:2], ids=NAMES[:2])
def test_y86_three_queries(held, create):
    stream, word = held
    waiter = ok(acl.rt.create_stream())
    event = ok(create())
    ok(acl.rt.record_event(event, stream))
    ok(acl.rt.stream_wait_event(waiter, event))
    assert acl.rt.query_event(event) == (1, 0)
    assert acl.rt.query_event_status(event) == (0, 0)
    assert acl.rt.query_event_wait_status(event) == (1, 0)
    word.release()
    ok(acl.rt.synchronize_stream(waiter))
    assert acl.rt.query_event(event) == (0, 0)
    assert acl.rt.query_event_status(event) == (1, 0)
    assert acl.rt.query_event_wait_status(event) == (0, 0)
    ok(acl.rt.destroy_event(event))
    ok(acl.rt.destroy_stream(waiter))


def test_y86_the_second_query_takes_every_kind(device):
    event = ok(acl.rt.create_event_ex_with_flag(1))
    assert acl.rt.query_event_status(event) == (1, 0)
    assert acl.rt.query_event(event) == (0, 207000)
    assert acl.rt.query_event_wait_status(event) == (0, 207000)
    ok(acl.rt.destroy_event(event))


def test_y87_synchronize(held, event):
    stream, word = held
    ok(acl.rt.synchronize_event(event))  # never recorded
    ok(acl.rt.record_event(event, stream))
    assert acl.rt.synchronize_event_with_timeout(event, 20) == 507047
    for ms in 0, -2, -2 ** 31:
        assert acl.rt.synchronize_event_with_timeout(event, ms) == 107000
    timer = released_soon(word)
    ok(acl.rt.synchronize_event(event))
    assert word.read() == 1
    timer.join()
    ok(acl.rt.synchronize_event_with_timeout(event, -1))
    ok(acl.rt.synchronize_event_with_timeout(event, 2 ** 31 - 1))
    assert acl.rt.synchronize_event(0) == 100000


def test_y88_elapsed_time(device):
    start, end = ok(acl.rt.create_event()), ok(acl.rt.create_event())
    assert acl.rt.event_elapsed_time(start, end) == (0.0, 507000)  # never recorded
    ok(acl.rt.record_event(start, 0))
    ok(acl.rt.synchronize_event(start))
    let_time_pass(0.05)
    ok(acl.rt.record_event(end, 0))
    ok(acl.rt.synchronize_event(end))
    ms, ret = acl.rt.event_elapsed_time(start, end)
    assert ret == 0 and type(ms) is float
    assert 45 <= ms <= 20000
    assert struct.unpack("f", struct.pack("f", ms))[0] == ms  # a C float
    assert acl.rt.event_elapsed_time(end, start) == (-ms, 0)
    ok(acl.rt.destroy_event(start))
    ok(acl.rt.destroy_event(end))


def test_y88_elapsed_time_needs_the_time_line_flag(device):
    first, second = ok(acl.rt.create_event_with_flag(1)), ok(acl.rt.create_event_with_flag(1))
    for event in first, second:
        ok(acl.rt.record_event(event, 0))
        ok(acl.rt.synchronize_event(event))
    assert acl.rt.event_elapsed_time(first, second) == (0.0, 107006)
    ok(acl.rt.destroy_event(first))
    ok(acl.rt.destroy_event(second))


def test_y89_timestamps(event):
    assert acl.rt.event_get_timestamp(event) == (0, 507000)
    stamps = []
    for _ in range(2):
        ok(acl.rt.record_event(event, 0))
        ok(acl.rt.synchronize_event(event))
        stamps.append(ok(acl.rt.event_get_timestamp(event)))
        let_time_pass(0.01)
    assert all(type(stamp) is int for stamp in stamps)
    assert 9000 <= stamps[1] - stamps[0] <= 60 * 10 ** 6  # microseconds


def test_y89_ids_and_how_many_are_left(device):
    before = ok(acl.rt.get_event_avail_num())
    event = ok(acl.rt.create_event_with_flag(1))
    assert ok(acl.rt.get_event_avail_num()) == before - 1
    other = ok(acl.rt.create_event_with_flag(1))
    assert ok(acl.rt.get_event_id(event)) != ok(acl.rt.get_event_id(other))
    ok(acl.rt.destroy_event(other))
    ok(acl.rt.destroy_event(event))
    assert ok(acl.rt.get_event_avail_num()) == before
    assert acl.rt.get_event_id(event) == (0, 107017)


def test_y89_wait_timeout(device):
    """A flagged event that nobody records: the wait is given up after a second."""
    event, stream = ok(acl.rt.create_event_with_flag(1)), ok(acl.rt.create_stream())
    ok(acl.rt.set_op_wait_timeout(2 ** 32 + 1))  # u32: 1
    try:
        ok(acl.rt.stream_wait_event(stream, event))
        assert acl.rt.synchronize_stream(stream) == 107020
    finally:
        ok(acl.rt.set_op_wait_timeout(0))
    ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.destroy_event(event))
