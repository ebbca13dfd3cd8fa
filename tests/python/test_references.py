"""No call keeps, loses or leaks Python objects."""

import gc
import os
import sys
import textwrap
import threading
import types

import pytest

import acl
from reports import Reports, prelude
from support import ok, run
from waiting import PATIENCE, until

MODULES = ["rt", "mdl", "media", "op", "blas", "util", "prof", "himpi", "fv"]


def functions():
    """(name, function) of everything in the module."""
    for where, module in [("", acl)] + [(name + ".", getattr(acl, name)) for name in MODULES]:
        for name in dir(module):
            found = getattr(module, name)
            if isinstance(found, types.BuiltinFunctionType) and not name.startswith("__"):
                yield where + name, found


class Thing:
    """Neither a number nor text nor callable: no function takes it."""


class Caller:
    """Something to call that can be counted."""

    def __init__(self, act=lambda data: None):
        self.act = act

    def __call__(self, *args):
        return self.act(*args)


@pytest.fixture(scope="module", autouse=True)
def only_what_is_new():
    """What was there before need not be looked through each time that garbage is collected."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def counts(*objects):
    gc.collect()
    return [sys.getrefcount(each) for each in objects]


@pytest.mark.parametrize("name", [name for name, _ in functions()])
def test_arguments_that_do_not_fit_are_given_back(name):
    call = dict(functions())[name]
    if name in ("rt.create_stream", "rt.create_event", "finalize", "finalize_reference"):
        return  # they take no arguments, so nothing is refused and something would be made: see below
    for thing in (Thing(), [Thing()], {"attrs": Thing()}, "some text that is nobody's " + name, 1 << 70):
        before = counts(thing)
        for count in range(1, 9):
            for _ in range(3):
                try:
                    call(*[thing] * count)
                except (TypeError, ValueError, KeyError, ImportError):
                    pass
        assert counts(thing) == before, thing


def test_functions_without_parameters_do_not_keep_what_they_ignore(device):
    thing = Thing()
    before = counts(thing)
    for call in (acl.rt.get_device, acl.rt.get_device_count, acl.rt.get_run_mode, acl.rt.get_context,
                 acl.get_version, acl.get_soc_name, acl.get_recent_err_msg, acl.rt.synchronize_device,
                 acl.rt.create_stream, acl.rt.create_event):
        call(thing, [thing])
    assert counts(thing) == before


@pytest.mark.parametrize("block_type", [0, 1])
def test_y158_after_the_callback_has_run(device, block_type):
    ran = []
    fn, data = Caller(lambda data: ran.append(type(data))), Thing()
    before = counts(fn, data)
    with Reports() as reports, reports.serve(0):
        for _ in range(50):
            ok(acl.rt.launch_callback(fn, data, block_type, 0))
        ok(acl.rt.synchronize_stream(0))
        assert until(lambda: len(ran) == 50)
    assert counts(fn, data) == before


def test_y158_a_callback_that_failed_to_launch(device):
    fn, data = Caller(), Thing()
    before = counts(fn, data)
    for _ in range(20):
        assert acl.rt.launch_callback(fn, data, 1, 0) == 107015
        assert acl.rt.launch_callback(fn, data, 7, 0) == 100000
        assert acl.rt.launch_callback(fn, data, 1, 12345) == 107017
        for wrong in ((data, fn, 1, 0), (fn, data, 1, None), (fn, data, "1", 0), (fn, data, 1 << 40, 0)):
            with pytest.raises(TypeError):
                acl.rt.launch_callback(*wrong)
        del wrong
    assert counts(fn, data) == before


def test_y162_a_callback_that_raised(device, capfd):
    def fail(data):
        raise KeyError(data)

    fn, data = Caller(fail), Thing()
    before = counts(fn, data)
    ok(acl.rt.subscribe_report(threading.get_ident(), 0))
    for _ in range(20):
        ok(acl.rt.launch_callback(fn, data, 1, 0))
        try:
            acl.rt.process_report(10000)
        except SystemError as error:
            assert error.__cause__.args[0] is data
        else:
            raise AssertionError("nothing was raised")
    ok(acl.rt.unsubscribe_report(threading.get_ident(), 0))
    assert counts(fn, data) == before


def test_y150_after_stop_thread():
    seen = []
    fn, args = Caller(lambda *given: seen.append(len(given))), Thing()
    before = counts(fn, args, None)[:2]
    for _ in range(20):
        ident = ok(acl.util.start_thread(fn, args))
        assert acl.util.stop_thread(ident) == 0
        assert counts(fn, args) == before
        ident = ok(acl.util.start_thread(fn, None))
        assert acl.util.stop_thread(ident) == 0
        assert counts(fn, args) == before
    assert seen == [1, 0] * 20


def test_y153_after_a_thread_that_raised(capfd):
    def fail(args):
        raise KeyError(args)

    fn, args = Caller(fail), Thing()
    before = counts(fn, args)
    for _ in range(20):
        ident = ok(acl.util.start_thread(fn, args))
        with pytest.raises(RuntimeError):
            acl.util.stop_thread(ident)
        assert "KeyError" in capfd.readouterr().err
    sys.exc_info()
    if hasattr(sys, "last_value"):  # whoever prints a traceback may remember it there
        for name in ("last_type", "last_value", "last_traceback", "last_exc"):
            if hasattr(sys, name):
                delattr(sys, name)
    assert counts(fn, args) == before


def test_y150_a_thread_that_runs_still_holds_them():
    over = threading.Event()
    fn, args = Caller(lambda given: over.wait(PATIENCE)), Thing()
    before = counts(fn, args)
    ident = ok(acl.util.start_thread(fn, args))
    assert all(now > was for now, was in zip(counts(fn, args), before))
    over.set()
    assert acl.util.stop_thread(ident) == 0
    assert counts(fn, args) == before


def test_y150_thread_functions_that_are_not_taken():
    fn, args = Caller(), Thing()
    before = counts(fn, args)
    for _ in range(20):
        for wrong in ((args, fn), (fn,), (fn, args, args), (1, args)):
            with pytest.raises(TypeError):
                acl.util.start_thread(*wrong)
        del wrong
    assert counts(fn, args) == before


# What each converter and each kind of result costs: many times the same, then nothing may have grown.
CALLS = """
    cfg = {"numAttrs": 1, "attrs": [{"attr": 1, "value": {"moduleId": 33}}]}
    reserved = {"numAttrs": 1, "attrs": [{"attr": 0, "value": {"rsv": [1, 2, 3]}}]}
    block = acl.rt.malloc(4096, 2)[0]
    stream = acl.rt.create_stream()[0]
    event = acl.rt.create_event()[0]
    acl.rt.record_event(event, stream)
    acl.rt.synchronize_stream(stream)
    data = bytes(bytearray(4096))
    me = threading.get_ident()
    assert acl.rt.subscribe_report(me, stream) == 0

    def refused(call, *args):
        try:
            call(*args)
        except (TypeError, ValueError, KeyError):
            return
        raise AssertionError((call, args))

    def pair(result, free):
        assert result[-1] == 0
        assert free(result[0]) == 0

    def callback():
        assert acl.rt.launch_callback(lambda x: [x], [1], 1, stream) == 0
        assert acl.rt.process_report(10000) == 0

    def thread():
        ident, err = acl.util.start_thread(lambda x: [x], [1])
        assert err == 0 and acl.util.stop_thread(ident) == 0

    def buffer():
        handle = acl.create_data_buffer(block, 1 << 40)
        acl.get_data_buffer_addr(handle)
        acl.get_data_buffer_size(handle), acl.get_data_buffer_size_v2(handle)
        assert acl.update_data_buffer(handle, 1 << 60, 5) == 0
        assert acl.destroy_data_buffer(handle) == 0

    CALLS = [
        lambda: pair(acl.rt.malloc(100, 2), acl.rt.free),
        lambda: pair(acl.rt.malloc_align32(100, 2), acl.rt.free),
        lambda: pair(acl.rt.malloc_with_cfg(100, 2, cfg), acl.rt.free),
        lambda: pair(acl.rt.malloc_with_cfg(100, 2, reserved), acl.rt.free),
        lambda: pair(acl.rt.malloc_host(100), acl.rt.free_host),
        lambda: pair(acl.rt.malloc_host_with_cfg(100, {}), acl.rt.free_host),
        lambda: pair(acl.media.dvpp_malloc(100), acl.media.dvpp_free),
        lambda: pair(acl.himpi.dvpp_malloc(0, 100), acl.himpi.dvpp_free),
        lambda: pair(acl.rt.create_event(), acl.rt.destroy_event),
        lambda: pair(acl.rt.create_stream(), acl.rt.destroy_stream),
        lambda: refused(acl.rt.malloc_with_cfg, 1, 2, None),
        lambda: refused(acl.rt.malloc_with_cfg, 1, 2, {"numAttrs": 1}),
        lambda: refused(acl.rt.malloc_with_cfg, 1, 2, {**cfg, "numAttrs": 2}),
        lambda: refused(acl.rt.malloc_with_cfg, 1, 2,
                        {"numAttrs": 1, "attrs": [{"attr": 1, "value": {"x": 1}}]}),
        lambda: refused(acl.rt.malloc_with_cfg, 1, 2,
                        {"numAttrs": 1, "attrs": [{"attr": 1, "value": {"moduleId": 1 << 70}}]}),
        lambda: acl.rt.memcpy(block, 4096, acl.util.bytes_to_ptr(data), 4096, 1),
        lambda: acl.rt.memcpy(block, 1 << 64, 1 << 70, -1, 1),
        lambda: acl.rt.memset(block, 4096, 1, 4096),
        lambda: acl.rt.memset_async(block, 4096, 1, 4096, stream),
        lambda: acl.rt.synchronize_stream(stream),
        lambda: acl.rt.get_mem_info(1),
        lambda: acl.rt.pointer_get_attributes(block),
        lambda: acl.rt.event_elapsed_time(event, event),
        lambda: acl.rt.query_event(event),
        lambda: acl.rt.get_device_utilization_rate(0),
        lambda: acl.rt.device_get_uuid(0),
        lambda: acl.rt.get_stream_attribute(stream, 1),
        lambda: refused(acl.rt.set_stream_attribute, stream, 1, None),
        lambda: acl.get_version(),
        lambda: acl.get_soc_name(),
        lambda: (acl.rt.free(0), acl.get_recent_err_msg()),
        lambda: acl.app_log(0, "not written at this level"),
        lambda: refused(acl.app_log, 0, b"no text"),
        lambda: refused(acl.init, None),
        lambda: acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(data), 1000),
        lambda: refused(acl.util.ptr_to_bytes, 0, -1),
        lambda: refused(acl.util.bytes_to_ptr, "no bytes"),
        lambda: refused(acl.rt.malloc, None, 0),
        lambda: refused(acl.rt.malloc, 1, 1 << 40),
        lambda: refused(acl.rt.launch_callback, 1, 1, 1, 1),
        lambda: acl.rt.launch_callback(print, data, 9, stream),
        buffer, callback, thread,
    ]
"""
NUMPY = """
    import warnings
    warnings.simplefilter("ignore")
    import numpy as np
    array = np.arange(100, dtype=np.int32)
    turned = array.reshape(10, 10).T
    CALLS += [
        lambda: acl.util.numpy_to_ptr(array),
        lambda: acl.util.numpy_to_ptr(turned),
        lambda: acl.util.numpy_contiguous_to_ptr(array),
        lambda: acl.util.numpy_contiguous_to_ptr(turned),
        lambda: acl.util.ptr_to_numpy(array.ctypes.data, (10, 10), 5),
        lambda: refused(acl.util.ptr_to_numpy, array.ctypes.data, [10], 5),
        lambda: refused(acl.util.ptr_to_numpy, array.ctypes.data, (10, "x"), 5),
        lambda: refused(acl.util.numpy_to_ptr, [1]),
        lambda: refused(acl.util.numpy_contiguous_to_ptr, [1]),
    ]
"""
MEASURE = """
    import gc
    from slices import slice_of

    gc.collect()
    gc.freeze()

    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * 4096

    def rounds(call, times):
        for _ in range(times):
            call()

    def blocks_more(call, times):
        gc.collect()
        before = sys.getallocatedblocks()
        rounds(call, times)
        gc.collect()
        return sys.getallocatedblocks() - before

    for number, call in enumerate(CALLS):
        rounds(call, 20)
        grown = min(blocks_more(call, 300) for _ in range(4))  # caches fill up once, a leak goes on
        assert grown < 60, "call %d keeps objects: %d more" % (number, grown)
    for call in CALLS:
        rounds(call, 300)
    gc.collect()
    before = resident()
    for call in CALLS:
        rounds(call, slice_of(1500, 10000))
    gc.collect()
    grown = resident() - before
    assert grown < (12 << 20), "%d bytes more" % grown
"""
START = """
    import threading
    import acl
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
"""


def measured(fresh, *parts):
    # A sanitizer keeps freed memory for a while; a little of it is enough here.
    small = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
    code = "".join(textwrap.dedent(part) for part in parts)
    run(fresh, prelude() + code, timeout=240, env={"ASAN_OPTIONS": small, "BELAY_LEAKS": "off"})


def test_nothing_grows(fresh):
    measured(fresh, START, CALLS, MEASURE)


def test_nothing_grows_with_numpy(fresh):
    pytest.importorskip("numpy")
    measured(fresh, START, CALLS, "CALLS = []\n", NUMPY, MEASURE)
