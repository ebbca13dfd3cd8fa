"""Devices and what can be asked of them (Y-57 to Y-66)."""

import pytest

import acl
from support import ok, on_bare_thread, run


def test_y57_set_and_reset(fresh):
    run(fresh, """
        import acl
        assert acl.rt.reset_device(0) == 507007
        assert acl.rt.set_device(0) == 0 and acl.rt.set_device(0) == 0
        assert acl.rt.reset_device(0) == 0
        assert acl.rt.get_device() == (0, 0)  # set once more than reset
        assert acl.rt.reset_device(0) == 0
        assert acl.rt.get_device() == (0, 107002)
        assert acl.rt.set_device(1) == 0 and acl.rt.set_device(1) == 0
        assert acl.rt.reset_device_force(1) == 0
        assert acl.rt.get_device() == (0, 107002)
        assert acl.rt.reset_device_force(1) == 507007
        """)


@pytest.mark.parametrize("number", [-2 ** 31, -1, 2, 3, 2 ** 31 - 1])
def test_y57_numbers_out_of_range_are_codes(fresh, number):
    run(fresh, """
        import acl
        assert acl.rt.set_device(1) == 0
        for call in acl.rt.set_device, acl.rt.reset_device, acl.rt.reset_device_force:
            assert call(%d) == 107001
        """ % number, env={"BELAY_DEVICES": "2"})


def test_y58_current_device(device):
    assert acl.rt.get_device() == (0, 0)
    ok(acl.rt.set_device(1))
    assert acl.rt.get_device() == (1, 0)
    ok(acl.rt.reset_device(1))
    assert on_bare_thread(acl.rt.get_device) == (0, 107002)


@pytest.mark.parametrize("count", [1, 2, 3, 64])
def test_y59_device_count(fresh, count):
    run(fresh, "import acl\nassert acl.rt.get_device_count() == (%d, 0)\n" % count,
        env={"BELAY_DEVICES": str(count)})


def test_y59_device_count_is_a_tuple_on_failure_too(fresh):
    run(fresh, "import acl\nassert acl.rt.get_device_count() == (0, 207004)\n",
        env={"ASCEND_RT_VISIBLE_DEVICES": "99"})


@pytest.mark.parametrize("product, form, mode", [
    ("A2", "EP", 1), ("310B", "EP", 1), ("310B", "RC", 0), ("310P", "RC", 0), ("310P", "OPEN_CTRL_CPU", 0),
    ("910", "OPEN_CTRL_CPU", 0)])
def test_y60_run_mode(fresh, product, form, mode):
    run(fresh, "import acl\nassert acl.rt.get_run_mode() == (%d, 0)\n" % mode,
        env={"BELAY_PRODUCT": product, "BELAY_FORM": form})


def test_y60_run_mode_by_default(fresh):
    run(fresh, "import acl\nassert acl.rt.get_run_mode() == (1, 0)\n")


def test_y60_where_host_and_device_are_one_kind_3_copies_everything(fresh):
    """What samples do in run mode 0."""
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        device, ret = acl.rt.malloc(64, 2)
        assert ret == 0
        data, back = bytes(range(64)), bytes(bytearray(64))
        assert acl.rt.memcpy(device, 64, acl.util.bytes_to_ptr(data), 64, 3) == 0
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), 64, device, 64, 3) == 0
        assert back == data
        """, env={"BELAY_PRODUCT": "310B", "BELAY_FORM": "RC"})


def test_y61_device_info(device):
    total = ok(acl.rt.get_mem_info(1))[1]
    assert acl.rt.get_device_info(device, 301) == (total, 0)
    assert acl.rt.get_device_info(2 ** 32 + device, 2 ** 32 + 301) == (total, 0)
    assert acl.rt.get_device_info(device, 9999) == (0, 107000)
    assert acl.rt.get_device_info(-1, 301) == (0, 107000)


RATES = {"cube_utilization", "vector_utilization", "aicpu_utilization", "memory_utilization",
         "utilization_extend"}


def test_y62_utilization_rate(device):
    rates, ret = acl.rt.get_device_utilization_rate(device)
    assert ret == 0 and set(rates) == RATES
    assert rates["memory_utilization"] == -1
    for key in "cube_utilization", "vector_utilization", "aicpu_utilization":
        assert type(rates[key]) is int and -1 <= rates[key] <= 100


def test_y62_utilization_rate_of_no_device(device):
    rates, ret = acl.rt.get_device_utilization_rate(-1)
    assert ret == 0 and set(rates) == RATES
    assert [rates[key] for key in sorted(RATES - {"utilization_extend"})] == [-1] * 4


def test_y63_device_status(device):
    assert acl.rt.query_device_status(device) == (0, 0)
    assert acl.rt.query_device_status(-1) == (65535, 107001)


def test_y64_uuid(device):
    seen = []
    for dev in 0, 1, 0:
        uuid, ret = acl.rt.device_get_uuid(dev)
        assert ret == 0 and list(uuid) == ["bytes"]
        assert type(uuid["bytes"]) is list and len(uuid["bytes"]) == 16
        assert all(type(byte) is int and 0 <= byte <= 255 for byte in uuid["bytes"])
        seen.append(uuid["bytes"])
    assert seen[0] == seen[2] != seen[1]
    assert acl.rt.device_get_uuid(-1) == ({"bytes": [0] * 16}, 107001)


def test_y65_topology(device):
    assert acl.rt.get_devices_topo(0, 1) == (1, 0)  # HCCS
    assert acl.rt.get_devices_topo(2 ** 32, 2 ** 32 + 1) == (1, 0)
    assert acl.rt.get_devices_topo(0, 0) == (0, 107000)
    assert acl.rt.get_devices_topo(0, 999) == (0, 107001)


def test_y65_stream_priorities(device):
    assert acl.rt.device_get_stream_priority_range() == (7, 0, 0)


def test_y65_capabilities(device):
    assert acl.rt.get_device_capability(device, 1) == (0, 0)
    assert acl.rt.get_device_capability(device, 2 ** 32 + 1) == (0, 0)
    assert acl.rt.get_device_capability(device, 99) == (0, 107000)
    assert acl.rt.get_device_capability(-1, 1) == (0, 107001)


def test_y65_device_ids(fresh):
    run(fresh, """
        import acl
        user_to_logic = acl.rt.get_logic_dev_id_by_user_dev_id
        logic_to_user = acl.rt.get_user_dev_id_by_logic_dev_id
        assert [user_to_logic(n) for n in (0, 1)] == [(1, 0), (2, 0)]
        assert [logic_to_user(n) for n in (1, 2)] == [(0, 0), (1, 0)]
        assert user_to_logic(2) == (0, 107001) and logic_to_user(0) == (0, 107001)
        for n in 0, 1:
            physical, ret = acl.rt.get_phy_dev_id_by_logic_dev_id(n)
            assert ret == 0
            assert acl.rt.get_logic_dev_id_by_phy_dev_id(physical) == (n, 0)
        for call in (user_to_logic, logic_to_user, acl.rt.get_phy_dev_id_by_logic_dev_id,
                     acl.rt.get_logic_dev_id_by_phy_dev_id):
            assert call(-1) == (0, 107000)
        """, env={"ASCEND_RT_VISIBLE_DEVICES": "1,2"})


def test_y66_last_error(device):
    acl.rt.get_last_error(0)
    assert acl.rt.peek_at_last_error(0) == 0
    assert acl.rt.set_device(-1) == 107001
    for _ in range(3):
        assert acl.rt.peek_at_last_error(0) == 107001
    assert acl.rt.peek_at_last_error(1) == 100000
    assert acl.rt.get_last_error(1) == 100000
    assert acl.rt.get_last_error(0) == 107001
    assert acl.rt.get_last_error(0) == 0


def test_y66_last_error_is_the_threads(device):
    acl.rt.get_last_error(0)
    assert on_bare_thread(lambda: (acl.rt.set_device(-1), acl.rt.peek_at_last_error(0))) == (107001, 107001)
    assert acl.rt.peek_at_last_error(0) == 0
