"""What child processes do in the tests of fork; a module, so that every start method can find it."""

import ctypes

import acl
from reports import Reports


def use(device):
    """Most of what a program does with memory; 'fine' if every answer is right."""
    try:
        assert acl.rt.set_device(device) == 0
        stream, ret = acl.rt.create_stream()
        assert ret == 0
        size = 1 << 16
        block, ret = acl.rt.malloc(size, 0)
        assert ret == 0
        host, ret = acl.rt.malloc_host(size)
        assert ret == 0
        ctypes.memset(host, 7, size)
        assert acl.rt.memcpy_async(block, size, host, size, 1, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        back = bytes(bytearray(size))
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), size, block, size, 2) == 0
        assert back == b"\7" * size
        ident, err = acl.util.start_thread(lambda args: args.append(1), [])
        assert err == 0 and acl.util.stop_thread(ident) == 0
        assert acl.rt.free(block) == 0
        assert acl.rt.free_host(host) == 0
        assert acl.rt.destroy_stream(stream) == 0
        assert acl.rt.reset_device(device) == 0
    except AssertionError as error:
        return "%r %s" % (error, acl.get_recent_err_msg())
    return "fine"


def callbacks():
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    seen = []
    for kind in Reports.KINDS:
        with Reports(kind) as reports, reports.serve(stream):
            assert acl.rt.launch_callback(seen.append, kind, 1, stream) == 0
            assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.reset_device(0) == 0
    return "fine" if seen == list(Reports.KINDS) else repr(seen)


def answer(results, device):
    results.put(use(device))


def answer_callbacks(results):
    results.put(callbacks())
