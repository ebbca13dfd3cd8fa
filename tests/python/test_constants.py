"""The numbers that scripts write themselves (Y-179 to Y-181)."""

import pytest

import acl
from reports import Reports
from support import bytes_at, fill, free_bytes, ok, run
from waiting import until

MB = 1 << 20

# policy, size asked for, what it takes of an A2 device
POLICIES = [
    (0, MB, MB + 4096), (0, MB + 1, 2 * MB), (1, 1, 2 * MB),  # huge first, huge only
    (2, 2 * MB, 2 * MB + 4096),  # normal only
    (3, 2 * MB, 4 * MB), (4, 1, 2 * MB), (5, 2 * MB, 2 * MB + 4096),  # the same for exchange between devices
    (6, 1, 1024 * MB), (7, 1, 1024 * MB),  # pages of 1 GB
    (0x100, MB, MB + 4096), (0x1000, MB + 1, 2 * MB),  # bandwidth, as huge first
    (0x100000, MB, MB + 4096), (0x100001, 1, 2 * MB),  # read-only
    (1 | 0x1000, 1, 2 * MB), (2 | 0x100, 2 * MB, 2 * MB + 4096)]


@pytest.mark.parametrize("policy, size, taken", POLICIES)
def test_y179_policies(device, policy, size, taken):
    before = free_bytes()
    address = ok(acl.rt.malloc(size, policy))
    assert before - free_bytes() == taken
    written = acl.rt.memset(address, size, 0, size)
    assert written == (507899 if policy & 0x100000 else 0)
    ok(acl.rt.free(address))


@pytest.mark.parametrize("kind, source, target", [
    (0, "host", "host"), (1, "host", "device"), (2, "device", "host"), (3, "device", "device"),
    (4, "host", "device"), (5, "host", "device")])
def test_y179_kinds(device, kind, source, target):
    made = {"host": [ok(acl.rt.malloc_host(64)) for _ in range(2)],
            "device": [ok(acl.rt.malloc(64, 2)) for _ in range(2)]}
    start, end = made[source][0], made[target][1]
    fill(start, bytes(range(64)))
    ok(acl.rt.memcpy(end, 64, start, 64, kind))
    assert bytes_at(end, 64) == bytes(range(64))
    if kind != 0:
        ok(acl.rt.memset(end, 64, 0, 64))
        ok(acl.rt.memcpy_async(end, 64, start, 64, kind, 0))
        ok(acl.rt.synchronize_stream(0))
        assert bytes_at(end, 64) == bytes(range(64))
    for address in made["host"]:
        ok(acl.rt.free_host(address))
    for address in made["device"]:
        ok(acl.rt.free(address))


def test_y179_kind_6_is_inside_a_device_and_7_between_two(device):
    assert acl.rt.get_memcpy_desc_size(6)[1] == 0
    assert acl.rt.get_memcpy_desc_size(7) == (0, 207000)


@pytest.mark.parametrize("attribute", range(18))
def test_y179_memory_attributes(device, attribute):
    free, total, ret = acl.rt.get_mem_info(attribute)
    assert ret == 0 and 0 <= free <= total
    if attribute in (0, 2, 3, 6, 7):
        assert total == 0  # DDR, which an A2 device lacks


def test_y179_memory_attributes_of_page_kinds(device):
    figures = [ok(acl.rt.get_mem_info(attribute)) for attribute in range(18)]
    for part in 0, 1:  # free, total
        hbm, huge, normal = figures[1][part], figures[4][part], figures[5][part]
        assert hbm == huge + normal > 0
        assert figures[8][part] == huge and figures[9][part] == normal
        assert figures[10][part] == figures[11][part] == hbm // (1024 * MB) * 1024 * MB
    assert figures[12:] == [figures[5], figures[4], figures[10], figures[9], figures[8], figures[11]]


@pytest.mark.parametrize("kind, location", [("host", 0), ("device", 1), ("unregistered", 2)])
def test_y179_kinds_of_location(device, kind, location):
    data = b"sixteen bytes..."
    host, block = ok(acl.rt.malloc_host(64)), ok(acl.rt.malloc(64, 2))
    address = {"host": host, "device": block, "unregistered": acl.util.bytes_to_ptr(data)}[kind]
    assert ok(acl.rt.pointer_get_attributes(address))["location"]["type"] == location
    ok(acl.rt.free_host(host))
    ok(acl.rt.free(block))


@pytest.mark.parametrize("block_type", [0, 1])
def test_y179_block_types(device, block_type):
    ran = []
    with Reports() as reports:
        with reports.serve(0):
            ok(acl.rt.launch_callback(ran.append, "given", block_type, 0))
            ok(acl.rt.synchronize_stream(0))
            assert until(lambda: ran)  # one that does not block may still be on its way
    assert ran == ["given"]


@pytest.mark.parametrize("block_type", [-1, 2, 2 ** 31 - 1])
def test_y179_there_are_two_block_types(device, block_type):
    assert acl.rt.launch_callback(print, None, block_type, 0) == 100000


@pytest.mark.parametrize("flag, sync, time_line", [(1, True, False), (2, False, False), (8, False, True),
                                                   (9, True, True)])
def test_y179_event_flags(device, flag, sync, time_line):
    event = ok(acl.rt.create_event_with_flag(flag))
    ok(acl.rt.record_event(event, 0))
    ok(acl.rt.synchronize_stream(0))
    assert acl.rt.stream_wait_event(0, event) == (0 if sync else 207000)
    assert acl.rt.event_get_timestamp(event)[1] == (0 if time_line else 107006)
    ok(acl.rt.destroy_event(event))


def test_y179_run_modes(fresh):
    run(fresh, "import acl\nassert acl.rt.get_run_mode() == (1, 0)\n")  # the host
    run(fresh, "import acl\nassert acl.rt.get_run_mode() == (0, 0)\n",  # the device
        env={"BELAY_PRODUCT": "310B", "BELAY_FORM": "RC"})


CODES = {
    0: "acl.rt.set_device(0)",
    100000: "acl.rt.free(0)",
    100002: "acl.init()",
    100037: "(acl.finalize(), acl.finalize())[1]",
    107000: "acl.rt.free(12345)",
    107001: "acl.rt.set_device(-1)",
    107002: "(acl.rt.reset_device(0), acl.rt.malloc(64, 0)[1])[1]",
    107012: "acl.rt.process_report(1000)",
    107015: "acl.rt.launch_callback(print, None, 0, 0)",
    207000: "acl.rt.get_memcpy_desc_size(1)[1]",
    207001: "acl.rt.malloc(1 << 50, 0)[1]",
    507012: "(acl.rt.subscribe_report(threading.get_ident(), 0), acl.rt.process_report(10))[1]",
    507899: "(acl.rt.free(block), acl.rt.memset(block, 64, 0, 64))[1]",
}


@pytest.mark.parametrize("code", sorted(CODES))
def test_y180_codes_that_scripts_compare_with(fresh, code):
    run(fresh, """
        import threading
        import acl
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        block, ret = acl.rt.malloc(64, 0)
        assert ret == 0
        code = %s
        assert code == %d, code
        """ % (CODES[code], code))


def test_y181_wrong_names_for_the_right_numbers(device):
    """Scripts that call policy 2 "huge first", kind 2 "host to device" and kind 0 "device to device"."""
    huge_first, host_to_device, device_to_device, device_to_host = 2, 2, 0, 1
    first, second = ok(acl.rt.malloc(4096, huge_first)), ok(acl.rt.malloc(4096, huge_first))
    data, back = bytes(range(256)) * 16, bytes(bytearray(4096))
    ok(acl.rt.memcpy(first, 4096, acl.util.bytes_to_ptr(data), 4096, host_to_device))
    ok(acl.rt.memcpy(second, 4096, first, 4096, device_to_device))
    ok(acl.rt.memcpy(acl.util.bytes_to_ptr(back), 4096, second, 4096, device_to_host))
    assert back == data
    ok(acl.rt.free(first))
    ok(acl.rt.free(second))
