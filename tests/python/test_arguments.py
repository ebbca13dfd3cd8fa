"""How arguments are converted, and what happens to those that cannot be (Y-21 to Y-31)."""

import ctypes

import pytest

import acl
from arguments import Index, SubInt, check_arguments, function, refused, shape
from call_table import NO_PARAMETERS, PRESENT, expected_shape, good_arguments, label, parse_error
from offered import exported
from support import bytes_at, fill, free_bytes, ok, on_bare_thread

OWN_TEXT = {"util.start_thread", "rt.get_event_id"}  # Y-27
NEEDS_NUMPY = {"util.numpy_to_ptr", "util.numpy_contiguous_to_ptr", "util.ptr_to_numpy"}
WITH_PARAMETERS = [call for call in PRESENT if call.args]


@pytest.mark.parametrize("call", WITH_PARAMETERS, ids=label)
def test_y26_y187_every_count_of_arguments_but_the_right_one_raises(call):
    given = good_arguments(call)
    least = 0 if call.args[0] == "[str]" else len(given)
    for arguments in [given[:count] for count in range(least)] + [given + [0], given + [0, 0]]:
        with pytest.raises(TypeError) as caught:
            function(call.name)(*arguments)
        if call.name in OWN_TEXT:
            assert "function takes" in str(caught.value)
        else:
            assert str(caught.value) == parse_error(call.name)


@pytest.mark.parametrize("call", PRESENT, ids=label)
def test_y21_y28_keywords_raise_everywhere(call):
    text = "%s() takes no keyword arguments" % call.name.rpartition(".")[2]
    given = good_arguments(call)
    for count in {0, len(given), max(len(given) - 1, 0)}:
        with pytest.raises(TypeError) as caught:
            function(call.name)(*given[:count], size=1)
        assert str(caught.value) == text


def test_y21_an_empty_set_of_keywords_is_none(device):
    address = ok(acl.rt.malloc(*(64, 2), **{}))
    ok(acl.rt.free(address))


KINDS = {"cfg": "dict", "prop": "dict", "dict": "dict", "pids": "list", "fn": "any", "obj": "any",
         "bytes": "any", "shape": "any", "array": "any"}
# Arguments that C refuses without further ado, where zeros would do something.
BASE = {
    "rt.set_device": (-1,), "rt.reset_device": (-1,), "rt.reset_device_force": (-1,),
    "rt.create_context": (-1,), "rt.get_mem_info": (-1,), "rt.device_enable_peer_access": (0, 1),
    "rt.query_device_status": (-1,), "rt.get_device_utilization_rate": (-1,), "rt.device_get_uuid": (-1,),
    "rt.get_primary_ctx_state": (-1,), "app_log": (0, "text"),
}
SWEPT = [call for call in WITH_PARAMETERS
         if call.name not in OWN_TEXT | NEEDS_NUMPY
         and call.name not in ("init", "create_data_buffer", "rt.get_devices_topo")]


@pytest.mark.parametrize("call", SWEPT, ids=label)
def test_y22_y24_y25_y26_every_argument_of_every_function(call):
    """Counts, types and ranges; on a thread without a context, so that C makes short work of the calls."""
    kinds = " ".join(KINDS.get(word, word) for word in call.args)
    base = BASE.get(call.name, tuple(good_arguments(call)))
    repeatable = call.name != "rt.get_last_error"
    on_bare_thread(lambda: check_arguments(call.name, kinds, base, repeatable))


def test_y22_ptr_wraps_at_64_bits(device):
    before = free_bytes()
    address = ok(acl.rt.malloc(2 ** 64 + 4096, 2))
    assert before - free_bytes() == 8192
    ok(acl.rt.memset(address - 2 ** 64, 2 ** 64 + 4096, 5, 4096 - 2 ** 64))
    assert bytes_at(address, 4096) == bytes([5]) * 4096
    assert acl.rt.malloc(2 ** 64, 0) == (0, 100000)  # size 0
    assert acl.rt.malloc(-1, 0) == (0, 100000)  # 2^64 - 1 wraps when rounded
    assert acl.rt.memcpy(0, -1, 0, 2 ** 64, 1) == 0  # count 0
    ok(acl.rt.free(address + 2 ** 65))


@pytest.mark.parametrize("policy", [-2 ** 31, -1, 0, 2 ** 31 - 1])
def test_y22_i32_takes_what_fits_32_signed_bits(device, policy):
    ok(acl.rt.free(ok(acl.rt.malloc(64, policy))))
    ok(acl.rt.free(ok(acl.rt.malloc(64, Index(policy)))))


@pytest.mark.parametrize("policy", [-2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 63 - 1, 2 ** 63,
                                    2 ** 64, 2 ** 100, -2 ** 100])
def test_y22_y26_i32_refuses_the_rest(device, policy):
    before = free_bytes()
    for value in policy, Index(policy):
        refused("rt.malloc", 64, value)
        refused("rt.memset", 0, 0, value, 0)
        refused("rt.set_device", value)
    assert free_bytes() == before


@pytest.mark.parametrize("more", [0, 2 ** 32, -2 ** 32, 2 ** 63, 2 ** 64, 2 ** 32 * 12345])
def test_y22_u32_wraps_at_32_bits(device, more):
    event = ok(acl.rt.create_event_with_flag(8 + more))
    ok(acl.rt.destroy_event(event))
    event = ok(acl.rt.create_event_with_flag(Index(8 + more)))
    ok(acl.rt.destroy_event(event))
    assert acl.rt.create_event_with_flag(more) == (0, 107000)  # flag 0


@pytest.mark.parametrize("more", [0, 2 ** 64, -2 ** 64, 2 ** 100])
def test_y22_u64_wraps_at_64_bits(device, more):
    host = ok(acl.rt.malloc_host(4096))
    ok(acl.rt.host_register_v2(host + more, 4096 + more, 2))
    assert ok(acl.rt.host_get_device_pointer(host + more, 0)) != 0
    ok(acl.rt.host_unregister(host))
    ok(acl.rt.free_host(host))


def test_y22_bool_and_subclasses_are_ints(device):
    address = ok(acl.rt.malloc(True, False))  # one byte, huge first
    ok(acl.rt.free(SubInt(address)))
    address = ok(acl.rt.malloc(SubInt(4096), SubInt(2)))
    ok(acl.rt.free(address))


class Raises:
    def __index__(self):
        raise RuntimeError("not this way")


class Wrong:
    def __index__(self):
        return "3"


@pytest.mark.parametrize("value", [Raises(), Wrong()], ids=["raises", "wrong"])
def test_y22_y26_an_index_that_fails_is_replaced_by_the_usual_text(value):
    refused("rt.set_device", value)
    refused("rt.create_event_with_flag", value)


NO_NUMBERS = [None, 0.0, 1.0, float("inf"), "0", b"0", 1j, (), [], {}, object(), ctypes.c_void_p(0),
              ctypes.c_int(0), ctypes.pointer(ctypes.c_int(0))]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: type(value).__name__)
def test_y24_none_floats_texts_and_ctypes_are_no_numbers(device, value):
    refused("rt.synchronize_stream", value)
    refused("rt.memcpy_async", 0, 0, 0, 0, 1, value)
    refused("rt.record_event", 0, value)
    refused("rt.malloc", value, 0)
    refused("rt.malloc", 64, value)
    refused("rt.create_event_with_flag", value)
    refused("rt.host_register_v2", value, 0, 0)
    refused("rt.host_register_v2", 0, 0, value)


def test_y24_the_default_stream_is_0_and_never_none(device):
    ok(acl.rt.synchronize_stream(0))
    refused("rt.synchronize_stream", None)


@pytest.mark.parametrize("value", [None, 0, b"", b"/etc", bytearray(b"x"), ["x"], "a\0b", "\0", "x\0"])
def test_y25_texts_are_str_without_nul(value):
    refused("init", value)
    refused("app_log", 0, value)


def test_y25_init_takes_no_none(fresh):
    done = fresh("import acl\nassert acl.init() == 0\nacl.init(None)\n")
    assert done.returncode == 1
    assert "TypeError: acl.init args parse failed" in done.stderr.splitlines()


def test_y26_text_of_init_that_gets_too_much():
    with pytest.raises(TypeError, match=r"^acl\.init args parse failed$"):
        acl.init("", "")


@pytest.mark.parametrize("name, text", [
    ("rt.malloc", "acl.rt.malloc args parse failed"),
    ("app_log", "acl.app_log args parse failed"),
    ("create_data_buffer", "acl.create_data_buffer args parse failed"),
    ("util.bytes_to_ptr", "acl.util.bytes_to_ptr args parse failed"),
    ("util.stop_thread", "acl.util.stop_thread args parse failed"),
    ("media.dvpp_malloc", "acl.media.dvpp_malloc args parse failed!"),
    ("himpi.dvpp_free", "acl.himpi.dvpp_free args parse failed!"),
    ("rt.stream_query", "acl.rt.stream_query args parse failed!"),
    ("rt.malloc_with_cfg", "acl.rt.malloc_with_cfg args parse failed!"),
    ("rt.malloc_host_with_cfg", "acl.rt.malloc_host_with_cfg args parse failed"),
    ("rt.host_get_device_pointer", "acl.rt.host_get_device_pointer parse failed"),
    ("rt.set_stream_res_limit", "acl.rt.set_stream_res_limit parse failed"),
    ("rt.get_overflow_status", "acl.rt.get_overflow_status args parse failed!"),
    ("rt.get_devices_topo", "acl.rt.reset_device_res_limit args parse failed")])
def test_y26_texts_in_full(name, text):
    with pytest.raises(TypeError) as caught:
        function(name)()
    assert str(caught.value) == text


class Stranger:
    def __repr__(self):
        raise RuntimeError("not asked for this")


@pytest.mark.parametrize("name, arguments, note", [
    ("rt.malloc", ("12", 0), "argument 1 (size) takes an int; '12' (str) was given"),
    ("rt.malloc", (64, 2 ** 40),
     "argument 2 (policy) takes an int that fits 32 signed bits; 1099511627776 was given"),
    ("rt.malloc", (64, 10 ** 9999),
     "argument 2 (policy) takes an int that fits 32 signed bits; an int of more than 63 bits was given"),
    ("rt.malloc", (None, "both"), "argument 1 (size) takes an int; None was given"),
    ("rt.malloc", (64,), "takes 2 arguments (size, policy); 1 was given"),
    ("rt.free", (1, 2, 3), "takes 1 argument (ptr); 3 were given"),
    ("rt.free", (Stranger(),), "argument 1 (ptr) takes an int; an object of type Stranger was given"),
    ("rt.free", ("x" * 1000,), "argument 1 (ptr) takes an int; an object of type str was given"),
    ("rt.memcpy", (0, 0, b"ab", 0, 0), "argument 3 (src) takes an int; b'ab' (bytes) was given"),
    ("rt.get_devices_topo", (0, 1.5), "argument 2 (other) takes an int; 1.5 (float) was given"),
    ("media.dvpp_malloc", (2.5,), "argument 1 (size) takes an int; 2.5 (float) was given"),
    ("init", ("a\0b",), "argument 1 (config_path) takes a str without NUL; 'a\\x00b' (str) was given"),
    ("init", ("a", "b"), "takes at most 1 argument (config_path); 2 were given"),
    ("create_tensor_desc", (0, (), 0),
     "argument 2 (dims) takes a list of ints; an object of type tuple was given")])
def test_y26_a_note_tells_which_argument_was_wrong(name, arguments, note):
    with pytest.raises(TypeError) as caught:
        function(name)(*arguments)
    assert caught.value.__notes__ == [note]


@pytest.mark.parametrize("call", [call for call in WITH_PARAMETERS if call.name not in OWN_TEXT], ids=label)
def test_y26_the_note_of_every_function_names_as_many_arguments_as_it_takes(call):
    given = good_arguments(call)
    with pytest.raises(TypeError) as caught:
        function(call.name)(*given, 0)
    takes, _, names = caught.value.__notes__[0].partition(" (")
    names = names.partition(")")[0].split(", ")
    most = "at most " if call.args[0] == "[str]" else ""
    assert takes == "takes %s%d argument%s" % (most, len(names), "" if len(names) == 1 else "s")
    assert len(names) == len(call.args) and all(each.isidentifier() for each in names)


def test_y26_a_refused_call_leaves_no_message_and_no_error():
    acl.rt.get_last_error(0)
    acl.get_recent_err_msg()
    refused("rt.set_device", None)
    refused("rt.malloc", 2 ** 64, 2 ** 64)
    assert acl.get_recent_err_msg() is None
    assert acl.rt.peek_at_last_error(0) == 0


def test_y27_start_thread_and_get_event_id_speak_with_the_interpreters_words():
    for arguments in (), (print,), (print, [], 1):
        with pytest.raises(TypeError) as caught:
            acl.util.start_thread(*arguments)
        assert str(caught.value) == "function takes exactly 2 arguments (%d given)" % len(arguments)
    for arguments in (), (1, 2):
        with pytest.raises(TypeError) as caught:
            acl.rt.get_event_id(*arguments)
        assert str(caught.value) == "function takes exactly 1 argument (%d given)" % len(arguments)
    for value in None, 1.5, "1":
        with pytest.raises(TypeError) as caught:
            acl.rt.get_event_id(value)
        assert "parse failed" not in str(caught.value)


def test_y28_the_functions_without_parameters():
    named = """finalize finalize_reference get_version get_soc_name get_recent_err_msg rt.get_device
        rt.get_run_mode rt.get_device_count rt.get_context rt.ctx_get_current_default_stream
        rt.create_stream rt.get_stream_available_num rt.create_event rt.get_event_avail_num
        rt.synchronize_device rt.device_get_bare_tgid rt.device_get_stream_priority_range himpi.sys_init
        himpi.sys_exit"""
    assert sorted(call.name for call in NO_PARAMETERS) == sorted(named.split())


@pytest.mark.parametrize("call", NO_PARAMETERS, ids=label)
def test_y28_positional_arguments_are_ignored(device, call):
    thing = function(call.name)
    for arguments in (), (1,), (None, "x", 2.5), tuple(range(40)):
        result = thing(*arguments)
        if call.gives == ("str",):
            assert result is None or isinstance(result, str)
        else:
            assert shape(result) == expected_shape(call)
        if call.name == "rt.create_stream":
            ok(acl.rt.destroy_stream(ok(result)))
        if call.name == "rt.create_event":
            ok(acl.rt.destroy_event(ok(result)))
        if call.name in ("finalize", "finalize_reference"):
            assert acl.init() in (0, 100002)


def test_y29_what_c_has_to_judge_goes_to_c(device):
    assert acl.rt.malloc(0, 0) == (0, 100000)
    assert acl.rt.free(0) == 100000
    assert acl.rt.free_host(1) == 107000
    assert acl.rt.memcpy(0, 16, 0, 16, 1) == 100000
    address = ok(acl.rt.malloc(16, 99))  # no such policy, and no error
    data = b"sixteen bytes..."
    source = acl.util.bytes_to_ptr(data)
    for kind in -1, 6, 7, 8, 99, -2 ** 31, 2 ** 31 - 1:
        assert acl.rt.memcpy(address, 16, source, 16, kind) == 100000
    assert acl.rt.memset(address, 8, 0, 9) == 107000
    assert acl.rt.synchronize_stream(12345) == 107017
    assert acl.rt.set_device(-1) == 107001
    assert acl.rt.set_device(2 ** 31 - 1) == 107001
    ok(acl.rt.free(address))


class MyDict(dict):
    pass


@pytest.mark.parametrize("value", [None, [], 1, (("failureMode", 1),), "failureMode"])
def test_y30_a_dictionary_must_be_a_dict(device, value):
    stream = ok(acl.rt.create_stream())
    with pytest.raises((TypeError, ValueError)):
        acl.rt.set_stream_attribute(stream, 1, value)
    assert acl.rt.get_stream_attribute(stream, 1) == ({"failureMode": 0}, 0)
    with pytest.raises(TypeError):
        acl.rt.malloc_with_cfg(64, 0, value)
    ok(acl.rt.destroy_stream(stream))


def device_of(value):
    """malloc_with_cfg with a device id of `value`: the id must be that of the current device, 0."""
    address, ret = acl.rt.malloc_with_cfg(64, 2, {"numAttrs": 1, "attrs": [{"attr": 2, "value": value}]})
    if ret == 0:
        ok(acl.rt.free(address))
    return ret


@pytest.mark.parametrize("value", [None, "1", 1.0, b"1", [1], {}])
def test_y30_a_value_that_is_no_int_leaves_the_field_0(device, value):
    assert device_of({"deviceId": 1}) == 107000
    assert device_of({"deviceId": value}) == 0
    stream = ok(acl.rt.create_stream())
    ok(acl.rt.set_stream_attribute(stream, 3, {"userCustomTag": 9}))
    ok(acl.rt.set_stream_attribute(stream, 3, {"userCustomTag": value}))
    assert acl.rt.get_stream_attribute(stream, 3) == ({"userCustomTag": 0}, 0)
    ok(acl.rt.destroy_stream(stream))


def test_y30_a_missing_or_misspelt_key_leaves_the_field_0(device):
    stream = ok(acl.rt.create_stream())
    for value in {}, {"user_custom_tag": 9}, {"usercustomtag": 9}, {1: 2}:
        ok(acl.rt.set_stream_attribute(stream, 3, {"userCustomTag": 9}))
        ok(acl.rt.set_stream_attribute(stream, 3, value))
        assert acl.rt.get_stream_attribute(stream, 3) == ({"userCustomTag": 0}, 0)
    ok(acl.rt.destroy_stream(stream))
    # "atr" is no key, so the attribute is 0, reserved, and its value does not count
    config = {"numAttrs": 1, "attrs": [{"atr": 2, "value": {"deviceId": 5}}]}
    ok(acl.rt.free(ok(acl.rt.malloc_with_cfg(64, 2, config))))


@pytest.mark.parametrize("number", [2 ** 64, -2 ** 64, 2 ** 100])
def test_y30_an_int_that_does_not_fit_raises(device, number):
    text = r"^PyLong_As(Unsigned)?Long failed$"
    before = free_bytes()
    with pytest.raises(ValueError, match=text):
        device_of({"deviceId": number})
    with pytest.raises(ValueError, match=text):
        device_of({"moduleId": number})
    with pytest.raises(ValueError, match=text):
        acl.rt.malloc_with_cfg(64, 2, {"numAttrs": 1, "attrs": [{"attr": number, "value": {"moduleId": 33}}]})
    assert free_bytes() == before
    stream = ok(acl.rt.create_stream())
    with pytest.raises(ValueError, match=text):
        acl.rt.set_stream_attribute(stream, 3, {"userCustomTag": number})
    ok(acl.rt.destroy_stream(stream))


def test_y30_a_subclass_of_dict_is_a_dict(device):
    config = MyDict(numAttrs=1, attrs=[MyDict(attr=2, value=MyDict(deviceId=0))])
    ok(acl.rt.free(ok(acl.rt.malloc_with_cfg(64, 2, config))))


PID_LISTS = [
    ("ipc_mem_set_import_pid", "aclrtIpcMemSetImportPid", "key"),
    ("mem_set_pid_to_shareable_handle", "aclrtMemSetPidToShareableHandle", 1)]


@pytest.mark.parametrize("name, c_name, first", PID_LISTS)
def test_y31_a_pid_list_must_be_a_list(name, c_name, first):
    assert hasattr(acl.rt, name) == exported(c_name)
    if not exported(c_name):
        return
    for pids in (1,), None, 1, {1}, "1", range(1):
        with pytest.raises(ValueError) as caught:
            getattr(acl.rt, name)(first, pids)
        assert str(caught.value) == "argument 2 only support the format of list"


def test_y29_interior_addresses_and_sums_are_passed_on(device):
    base = ok(acl.rt.malloc(4096, 2))
    fill(base + 100, b"inside")
    assert bytes_at(base + 100, 6) == b"inside"
    assert acl.rt.free(base + 64) == 107000
    ok(acl.rt.free(base))
