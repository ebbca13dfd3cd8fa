"""Contexts (Y-67 to Y-71)."""

import acl
from support import ok, on_bare_thread, run


def test_y67_a_new_context_is_current(device):
    default = ok(acl.rt.get_context())
    context = ok(acl.rt.create_context(1))
    assert context not in (0, default)
    assert acl.rt.get_context() == (context, 0)
    assert acl.rt.get_device() == (1, 0)
    ok(acl.rt.destroy_context(context))
    assert acl.rt.get_context() == (0, 107002)
    assert acl.rt.create_context(-1) == (0, 107001)
    ok(acl.rt.set_context(default))


def test_y67_of_the_calling_thread_only(device):
    default = ok(acl.rt.get_context())
    context = on_bare_thread(lambda: ok(acl.rt.create_context(0)))
    assert ok(acl.rt.get_context()) == default
    ok(acl.rt.destroy_context(context))


def test_y68_set_get_and_destroy(device):
    default = ok(acl.rt.get_context())
    first, second = ok(acl.rt.create_context(0)), ok(acl.rt.create_context(0))
    for context in first, second, default, first:
        result = acl.rt.set_context(context)
        assert type(result) is int and result == 0
        assert acl.rt.get_context() == (context, 0)
    assert acl.rt.set_context(0) == 100000
    assert acl.rt.set_context(12345) == 107000
    assert acl.rt.destroy_context(0) == 100000
    assert acl.rt.destroy_context(default) == 107002
    for context in first, second:
        ok(acl.rt.destroy_context(context))
        assert acl.rt.destroy_context(context) == 107002
        assert acl.rt.set_context(context) == 107000
    ok(acl.rt.set_context(default))


def test_y68_names_without_current():
    for name in "set_current_context", "get_current_context":
        assert not hasattr(acl.rt, name)


def test_y69_default_stream(device):
    stream = ok(acl.rt.ctx_get_current_default_stream())
    assert stream != 0 and ok(acl.rt.ctx_get_current_default_stream()) == stream
    ok(acl.rt.synchronize_stream(stream))
    context = ok(acl.rt.create_context(0))
    assert ok(acl.rt.ctx_get_current_default_stream()) != stream
    ok(acl.rt.destroy_context(context))
    assert acl.rt.ctx_get_current_default_stream() == (0, 107002)


def test_y70_state_of_a_primary_context(fresh):
    run(fresh, """
        import acl
        assert acl.rt.get_primary_ctx_state(0) == (0, 0, 0)
        assert acl.rt.set_device(0) == 0
        assert acl.rt.get_primary_ctx_state(0) == (1, 0, 0)
        assert acl.rt.get_primary_ctx_state(1) == (0, 0, 0)
        assert acl.rt.reset_device(0) == 0
        assert acl.rt.get_primary_ctx_state(0) == (0, 0, 0)
        assert acl.rt.get_primary_ctx_state(-1) == (0, 0, 107001)
        """)


def test_y71_contexts_and_devices_may_end_before_their_streams(fresh):
    done = fresh("""if True:
        import acl
        assert acl.init() == 0
        for _ in range(5):
            assert acl.rt.set_device(0) == 0
            free = acl.rt.get_stream_available_num()
            context, ret = acl.rt.create_context(0)
            assert ret == 0
            host, ret = acl.rt.malloc_host(64)
            assert ret == 0
            for _ in range(10):
                stream, ret = acl.rt.create_stream()
                assert ret == 0
                assert acl.rt.memset_async(host, 64, 0, 64, stream) == 0
            assert acl.rt.free_host(host) == 0
            assert acl.rt.destroy_context(context) == 0
            assert acl.rt.synchronize_stream(stream) in (107002, 107017)
            assert acl.rt.set_device(0) == 0
            assert acl.rt.get_stream_available_num() == free  # none has leaked
            stream, ret = acl.rt.create_stream()
            assert ret == 0
            assert acl.rt.reset_device(0) == 0 and acl.rt.reset_device(0) == 0
        assert acl.finalize() == 0
        """)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("11 streams (aclrtDestroyStream)") == 5, done.stderr  # never destroyed
