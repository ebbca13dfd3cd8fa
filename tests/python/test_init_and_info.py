"""init, finalize, and what the module tells of itself (Y-48 to Y-56)."""

import json
import re
import textwrap

import pytest

import acl
from support import ok, on_bare_thread, run, run_here


@pytest.mark.parametrize("call", ["acl.init()", "acl.init('')"])
def test_y48_init_without_a_configuration(fresh, call):
    run(fresh, """
        import acl
        ret = %s
        assert type(ret) is int and ret == 0
        assert acl.finalize() == 0
        """ % call)


def test_y48_init_with_a_file(fresh, tmp_path):
    config = tmp_path / "acl.json"
    config.write_text("{}")
    run(fresh, """
        import acl
        assert acl.init(%r) == 0
        assert acl.finalize() == 0
        """ % str(config))


def test_y48_the_path_is_passed_on_as_utf8(fresh, tmp_path):
    config = tmp_path / "größe 大小.json"
    config.write_text(json.dumps({"defaultDevice": {"default_device": "1"}}))
    run(fresh, """
        import acl
        assert acl.init(%r) == 0
        assert acl.rt.get_device() == (1, 0)
        """ % str(config))


def test_y48_a_bad_path_is_a_number(fresh):
    run(fresh, """
        import acl
        assert acl.init("/no/such/file") == 100003
        assert acl.init() == 0
        """)


def test_y49_repeated_init_and_one_finalize(fresh):
    run(fresh, """
        import acl
        assert acl.init() == 0
        for _ in range(3):
            assert acl.init() == 100002
        assert acl.rt.set_device(0) == 0
        assert acl.rt.reset_device(0) == 0
        assert acl.finalize() == 0
        assert acl.finalize() == 100037
        assert acl.init() == 0
        assert acl.finalize() == 0
        """)


HELPER = """
    import os
    import acl

    class Resource:
        def __init__(self):
            self.acl = acl
            self.codes = [acl.init(), acl.rt.set_device(0)]
            self.context, ret = acl.rt.create_context(0)
            self.codes.append(ret)
            self.stream, ret = acl.rt.create_stream()
            self.codes.append(ret)
            self.write = os.write

        def __del__(self):
            codes = self.codes
            codes.append(self.acl.rt.destroy_stream(self.stream))
            codes.append(self.acl.rt.destroy_context(self.context))
            codes.append(self.acl.rt.reset_device(0))
            codes.append(self.acl.finalize())
            self.write(1, repr(codes).encode())

    resource = Resource()
    """


@pytest.mark.parametrize("ending", [
    "", "keep = [resource]; keep.append(keep); del resource", "import builtins; builtins.kept = resource",
    "import atexit; atexit.register(lambda kept=resource: None); del resource",
    "import sys; sys.exit(0)"],
    ids=["end", "cycle", "builtins", "atexit", "exit"])
def test_y50_everything_may_be_ended_from_del_at_shutdown(fresh, ending):
    done = fresh(textwrap.dedent(HELPER) + ending + "\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[0, 0, 0, 0, 0, 0, 0, 0]"
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


def test_y50_finalize_does_not_wait_for_logs(fresh):
    """The vendor's may take two seconds; ten of them here take a moment."""
    run(fresh, """
        import time
        import acl
        start = time.monotonic()
        for _ in range(10):
            assert acl.init() == 0 and acl.finalize() == 0
        assert time.monotonic() - start < 10
        """)


def test_y50_acl_calls_from_a_daemon_thread_at_shutdown(fresh):
    run_here(fresh, """
        import threading
        import acl
        from support import Word, ok
        from waiting import let_time_pass
        ok(acl.rt.set_device(0))
        context = ok(acl.rt.get_context())
        stream = ok(acl.rt.create_stream())
        word = Word()
        word.hold(stream)
        inside = threading.Event()

        def wait():
            ok(acl.rt.set_context(context))
            inside.set()
            acl.rt.synchronize_stream(stream)

        threading.Thread(target=wait, daemon=True).start()
        inside.wait()
        let_time_pass(0.05)  # it is inside the call now, and stays there
        """)


def test_y51_finalize_reference_counts(fresh):
    run(fresh, """
        import acl
        assert acl.init() == 0 and acl.init() == 100002 and acl.init() == 100002
        assert acl.finalize_reference() == (2, 0)
        assert acl.finalize_reference() == (1, 0)
        assert acl.finalize_reference() == (0, 0)
        assert acl.finalize_reference() == (0, 100037)
        assert acl.init() == 0
        assert acl.finalize() == 0
        """)


def test_y52_version():
    assert acl.get_version() == (1, 17, 0, 0)
    assert [type(part) for part in acl.get_version()] == [int] * 4


@pytest.mark.parametrize("product, name", [
    ("A2", "Ascend910B3"), ("A3", "Ascend910_9391"), ("310P", "Ascend310P3"), ("950", "Ascend950PR_9599"),
    ("Ascend910B4", "Ascend910B4")])
def test_y53_soc_name(fresh, product, name):
    out = run(fresh, "import acl\nprint(acl.get_soc_name())\n", env={"BELAY_PRODUCT": product})
    assert out.strip() == name


def test_y53_soc_name_is_at_top_level_only():
    assert type(acl.get_soc_name()) is str
    assert not hasattr(acl.rt, "get_soc_name")


def test_y54_a_message_is_fetched_once(device):
    acl.get_recent_err_msg()
    assert acl.get_recent_err_msg() is None
    assert acl.rt.free(0) == 100000
    text = acl.get_recent_err_msg()
    assert type(text) is str and "aclrtFree" in text and "EH0002" in text
    assert acl.get_recent_err_msg() is None


def test_y54_the_text_is_a_copy(device):
    acl.get_recent_err_msg()
    acl.rt.free(0)
    first = acl.get_recent_err_msg()
    kept = "".join(first)
    acl.rt.set_device(-1)
    second = acl.get_recent_err_msg()
    assert first == kept and first != second


def test_y54_messages_belong_to_the_thread(device):
    acl.get_recent_err_msg()

    def body():
        acl.rt.free(0)
        return acl.get_recent_err_msg()

    on_bare_thread(lambda: acl.rt.free(0))
    assert acl.get_recent_err_msg() is None
    assert "aclrtFree" in on_bare_thread(body)


@pytest.mark.parametrize("mode, seen", [("0", False), ("1", True)])
def test_y54_the_init_file_makes_them_the_process_s(fresh, tmp_path, mode, seen):
    config = tmp_path / "acl.json"
    config.write_text(json.dumps({"err_msg_mode": mode}))
    out = run_here(fresh, """
        import acl
        from support import on_bare_thread
        assert acl.init(%r) == 0
        on_bare_thread(lambda: acl.rt.free(0))
        text = acl.get_recent_err_msg()
        print(text is not None and "aclrtFree" in text)
        """ % str(config))
    assert out.strip() == str(seen)


LEVELS = {0: "DEBUG", 1: "INFO", 2: "WARNING", 3: "ERROR"}


@pytest.mark.parametrize("active", [0, 1, 2, 3, 4])
def test_y55_app_log_levels(fresh, active):
    out = run(fresh, """
        import acl
        for level in -2, -1, 0, 1, 2, 3, 4, 5:
            assert acl.app_log(level, "at level <%d>" % level) is None
        """, env={"ASCEND_GLOBAL_LOG_LEVEL": str(active), "ASCEND_LOG_PRINT_TO_STDOUT": "1"})
    lines = [line for line in out.splitlines() if "at level" in line]
    levels = [int(re.search(r"<(-?\d+)>", line).group(1)) for line in lines]
    assert levels == [level for level in LEVELS if level >= active]
    for level, line in zip(levels, lines):
        assert line.startswith("[%s] APP(" % LEVELS[level])


@pytest.mark.parametrize("text", ["%s %d %n %x", "100%", "%", "%%", "größe 大小", "", "a\\nb", "{} %(x)s"])
def test_y55_the_text_is_no_format(fresh, text):
    out = run(fresh, "import acl\nacl.app_log(3, %r)\n" % ("<<" + text + ">>"),
              env={"ASCEND_LOG_PRINT_TO_STDOUT": "1"})
    assert "<<" + text + ">>" in out


def test_y55_app_log_needs_no_init(fresh):
    out = run(fresh, "import acl\nacl.app_log(3, 'before anything')\n",
              env={"ASCEND_LOG_PRINT_TO_STDOUT": "1"})
    assert "before anything" in out


@pytest.mark.parametrize("number, size", [
    (-1, 0), (0, 4), (1, 2), (2, 1), (3, 4), (4, 1), (6, 2), (7, 2), (8, 4), (9, 8), (10, 8), (11, 8),
    (12, 1), (13, 0), (16, 8), (17, 16), (27, 2), (33, 4), (34, 1)])
def test_y56_data_type_size(number, size):
    assert acl.data_type_size(number) == size


@pytest.mark.parametrize("bits, number", [
    (0x0000, 0.0), (0x3C00, 1.0), (0xBC00, -1.0), (0x3E00, 1.5), (0x7BFF, 65504.0), (0x0001, 2.0 ** -24),
    (0xC000, -2.0)])
def test_y56_half_precision_both_ways(bits, number):
    got = acl.float16_to_float(bits)
    assert type(got) is float and got == number
    back = acl.float_to_float16(number)
    assert type(back) is int and back == bits


def test_y56_half_precision_beyond_the_range():
    assert acl.float_to_float16(1e9) == 0x7BFF
    assert acl.float_to_float16(-1e9) == 0xFBFF
    assert acl.float_to_float16(float("inf")) == 0x7BFF
    assert acl.float16_to_float(0x7C00) == 65536.0


def test_y56_tensor_descriptions():
    for kind, dims, size in ((0, [2, 3], 24), (1, [4], 8), (9, [2, 2, 2], 64), (2, [1000, 1000], 10 ** 6)):
        handle = acl.create_tensor_desc(kind, dims, 2)
        assert type(handle) is int and handle != 0
        assert acl.get_tensor_desc_size(handle) == size
        assert acl.destroy_tensor_desc(handle) is None


def test_y48_y50_init_and_finalize_give_plain_ints(device):
    assert acl.init() == 100002
    ok(acl.finalize())
    ok(acl.init())
