"""Access between devices."""

import acl
from arguments import check_arguments


def test_y141_arguments(device):
    check_arguments("rt.device_can_access_peer", "i32 i32", (0, 0))
    check_arguments("rt.device_enable_peer_access", "i32 u32", (0, 0))
    check_arguments("rt.device_disable_peer_access", "i32", (0,))
    check_arguments("rt.device_peer_access_status", "i32 i32", (0, 0))


def test_y141_can_access(device):
    count, ret = acl.rt.get_device_count()
    assert ret == 0 and count >= 2
    assert acl.rt.device_can_access_peer(0, 1) == (1, 0)
    assert acl.rt.device_can_access_peer(1, 0) == (1, 0)
    assert acl.rt.device_can_access_peer(0, 0) == (0, 100000)
    assert acl.rt.device_can_access_peer(0, count) == (0, 107001)
    assert acl.rt.device_can_access_peer(-1, 0) == (0, 107001)


def test_y141_enabled_in_one_direction_until_disabled(device):
    count, _ = acl.rt.get_device_count()
    assert acl.rt.device_peer_access_status(0, 1) == (0, 0)
    assert acl.rt.device_enable_peer_access(1, 0) == 0
    assert acl.rt.device_peer_access_status(0, 1) == (1, 0)
    assert acl.rt.device_peer_access_status(1, 0) == (0, 0)
    assert acl.rt.device_disable_peer_access(1) == 0
    assert acl.rt.device_peer_access_status(0, 1) == (0, 0)
    assert acl.rt.device_enable_peer_access(1, 1) == 200006
    assert acl.rt.device_enable_peer_access(0, 0) == 100000
    assert acl.rt.device_enable_peer_access(count, 0) == 107001
    assert acl.rt.device_disable_peer_access(0) == 100000
    assert acl.rt.device_peer_access_status(0, count) == (0, 107000)


def test_y141_copies_need_it(device):
    mine, ret = acl.rt.malloc(64, 2)
    assert ret == 0
    assert acl.rt.set_device(1) == 0
    try:
        theirs, ret = acl.rt.malloc(64, 2)
        assert ret == 0
        assert acl.rt.memset(theirs, 64, 3, 64) == 0
        assert acl.rt.set_device(0) == 0
        assert acl.rt.memcpy(mine, 64, theirs, 64, 3) == 507899
        assert acl.rt.device_enable_peer_access(1, 0) == 0
        assert acl.rt.memcpy(mine, 64, theirs, 64, 3) == 0
        back = bytes(64)
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), 64, mine, 64, 2) == 0
        assert back == b"\3" * 64
    finally:
        assert acl.rt.reset_device_force(1) == 0


def test_y141_products_without_it(fresh):
    run = fresh("""
import acl
assert acl.rt.set_device(0) == 0
assert acl.rt.device_can_access_peer(0, 1) == (0, 207000), acl.rt.device_can_access_peer(0, 1)
assert acl.rt.device_enable_peer_access(1, 0) == 207000
assert acl.rt.device_disable_peer_access(1) == 207000
""", env={"BELAY_PRODUCT": "310B", "BELAY_DEVICES": "2"})
    assert run.returncode == 0, run.stderr
