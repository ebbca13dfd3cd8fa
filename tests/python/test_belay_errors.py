"""check() and Error."""

import pickle
import re

import acl
import pytest

import belay
from belay._errors import plain


@pytest.fixture(autouse=True)
def machine():
    with belay.settings(machine="private"):
        yield


def test_success_gives_what_came_besides_the_code():
    assert belay.check(0) is None
    assert belay.check((7, 0)) == 7
    assert belay.check((1, 2, 0)) == (1, 2)
    assert belay.check(acl.rt.get_device_count()) > 0


def test_failure_raises_with_code_name_and_message():
    with pytest.raises(belay.Error) as caught:
        belay.check(acl.rt.set_device(4000), "set_device")
    error = caught.value
    assert error.code == 107001
    assert error.name == "ACL_ERROR_RT_INVALID_DEVICEID"
    assert error.what == "set_device"
    assert "aclrtSetDevice failed with 107001" in error.message
    assert str(error).startswith("set_device returned 107001 ACL_ERROR_RT_INVALID_DEVICEID: no such device\n")
    assert error.message.strip() in str(error)


def test_the_code_at_the_end_of_a_tuple_counts():
    with pytest.raises(belay.Error) as caught:
        belay.check(acl.rt.malloc(0, 0))
    assert caught.value.code == 100000
    assert str(caught.value).startswith("the call returned 100000 ")


def without_sites(message):
    """Its lines without those that say where a call was made: there are some where stacks are kept."""
    return [line for line in message.splitlines() if not re.match(" +(at|the call was made by) ", line)]


def test_the_message_has_words_only_and_no_header_with_nothing_below():
    with pytest.raises(belay.Error) as caught:
        belay.check(acl.rt.set_device(4000))
    first, *rest = without_sites(caught.value.message)
    assert first.startswith("aclrtSetDevice failed with 107001: ")
    assert rest and all(line.lstrip().startswith(("Possible Cause: ", "Solution: ")) for line in rest)


def test_earlier_messages_stay_below_their_header():
    acl.rt.set_device(4000)
    with pytest.raises(belay.Error) as caught:
        belay.check(acl.rt.set_device(5000))
    lines = [line.strip() for line in without_sites(caught.value.message)]
    assert lines[0].startswith("aclrtSetDevice failed with 107001: ") and "4000" in lines[0]
    assert lines[-2] == "TraceBack (most recent call last):"
    assert lines[-1].startswith("aclrtSetDevice failed with 107001: ") and "5000" in lines[-1]


def test_y54_the_message_of_acl_keeps_its_form():
    acl.rt.set_device(4000)
    text = acl.get_recent_err_msg()
    assert re.match(r"\[PID: \d+\] \d{4}-\d\d-\d\d-[\d:.]+ \w+\(E[A-Z]\d{4}\): aclrtSetDevice failed with", text)
    assert text.endswith("TraceBack (most recent call last):\n")


def test_a_message_says_where_a_call_was_made_without_frames_of_pytest():
    with belay.settings(stacks=8), pytest.raises(belay.Error) as caught:
        belay.check(acl.rt.set_device(4000))
    where = [line.strip() for line in caught.value.message.splitlines() if line not in without_sites(caught.value.message)]
    assert where[0] == "the call was made by aclrtSetDevice:"
    assert [re.sub(r"\(.*test_belay_errors.py:\d+\)", "(here)", line) for line in where[1:]] == [
        "at test_a_message_says_where_a_call_was_made_without_frames_of_pytest (here)"
    ]


def test_the_thread_of_a_message_goes_too():
    stamp = "[PID: 4711] [THREAD:12] 2026-01-31-10:15:30.123.456 Invalid_Argument(EE1011): "
    header = "        TraceBack (most recent call last):\n"
    assert plain(f"{stamp}one.\n        Solution: two.\n{header}") == "one.\n        Solution: two."
    below = "        [THREAD:12] 2026-01-31-10:15:30.123.456 Invalid_Argument(EE1011): three.\n"
    assert plain(f"{stamp}one.\n{header}{below}") == f"one.\n{header}        three."
    assert plain("EE9999: an internal error occurred. Words") == "EE9999: an internal error occurred. Words"
    assert plain("") == ""


def test_an_error_is_named_after_the_package():
    assert f"{belay.Error.__module__}.{belay.Error.__qualname__}" == "belay.Error"
    assert f"{belay.LeakError.__module__}.{belay.LeakError.__qualname__}" == "belay.LeakError"


def test_the_message_is_fetched_and_not_left_for_the_next_error():
    with pytest.raises(belay.Error):
        belay.check(acl.rt.set_device(4000))
    assert acl.get_recent_err_msg() is None


def test_a_code_that_nobody_knows_is_told_as_a_number():
    with pytest.raises(belay.Error) as caught:
        belay.check(424242, "magic")
    assert caught.value.name is None
    assert str(caught.value) == "magic returned 424242"


def test_an_error_is_a_runtime_error_and_can_be_pickled():
    error = pickle.loads(pickle.dumps(belay.Error(207001, "text", "malloc")))
    assert isinstance(error, RuntimeError)
    assert (error.code, error.message, error.what) == (207001, "text", "malloc")
    assert str(error) == "malloc returned 207001 ACL_ERROR_RT_MEMORY_ALLOCATION: out of memory\ntext"
