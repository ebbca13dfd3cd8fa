"""check() and Error."""

import pickle

import acl
import pytest

import belay


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
    assert str(error).startswith("set_device answered 107001 ACL_ERROR_RT_INVALID_DEVICEID: no such device\n")
    assert error.message.strip() in str(error)


def test_the_code_at_the_end_of_a_tuple_counts():
    with pytest.raises(belay.Error) as caught:
        belay.check(acl.rt.malloc(0, 0))
    assert caught.value.code == 100000
    assert str(caught.value).startswith("the call answered 100000 ")


def test_the_message_is_fetched_and_not_left_for_the_next_error():
    with pytest.raises(belay.Error):
        belay.check(acl.rt.set_device(4000))
    assert acl.get_recent_err_msg() is None


def test_a_code_that_nobody_knows_is_told_as_a_number():
    with pytest.raises(belay.Error) as caught:
        belay.check(424242, "magic")
    assert caught.value.name is None
    assert str(caught.value) == "magic answered 424242"


def test_an_error_is_a_runtime_error_and_can_be_pickled():
    error = pickle.loads(pickle.dumps(belay.Error(207001, "text", "malloc")))
    assert isinstance(error, RuntimeError)
    assert (error.code, error.message, error.what) == (207001, "text", "malloc")
    assert str(error) == "malloc answered 207001 ACL_ERROR_RT_MEMORY_ALLOCATION: out of memory\ntext"
