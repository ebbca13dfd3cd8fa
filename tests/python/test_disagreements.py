"""Where documents and programs disagree: what programs see is what counts."""

import ctypes
import os

import pytest

import acl
from arguments import refused
from reports import held_stream
from support import bytes_at, fill, free_bytes, ok, run

KiB = 1 << 10
MiB = 1 << 20
GiB = 1 << 30


def test_y188_the_key_is_page_size(device):
    for size, policy, page in ((64, 2, 4 * KiB), (2 * MiB, 1, 2 * MiB)):
        attrs, ret = acl.rt.pointer_get_attributes(ok(acl.rt.malloc(size, policy)))
        assert ret == 0
        assert attrs["page_size"] == page
        assert attrs.get("pageSize", page) == page, "the documented spelling may be there too"
        assert set(attrs) - {"pageSize"} == {"location", "page_size", "rsv"}


def test_y189_query_event_counts_as_the_header_does(device):
    with held_stream() as (stream, hold):
        event = ok(acl.rt.create_event())
        ok(acl.rt.record_event(event, stream))
        assert acl.rt.query_event(event) == (1, 0), "1 is not ready"
        assert acl.rt.query_event_status(event) == (0, 0), "the other function counts the other way"
        hold.let_go()
        ok(acl.rt.synchronize_event(event))
        assert acl.rt.query_event(event) == (0, 0), "0 is complete"
        assert acl.rt.query_event_status(event) == (1, 0)
        ok(acl.rt.destroy_event(event))


def test_y190_the_recent_message_is_text(device):
    while acl.get_recent_err_msg() is not None:
        pass
    assert acl.rt.free(0) == 100000
    text = acl.get_recent_err_msg()
    assert type(text) is str and "aclrtFree" in text
    assert acl.get_recent_err_msg() is None, "reading clears it"


@pytest.mark.parametrize("policy", [6, 7])
def test_y193_6_and_7_are_the_1_gib_options(device, policy):
    before = free_bytes()
    block = ok(acl.rt.malloc(1, policy))
    assert before - free_bytes() == GiB
    assert acl.rt.pointer_get_attributes(block)[0]["page_size"] == GiB
    ok(acl.rt.free(block))


@pytest.mark.parametrize("policy", [8, 9, 0x100, 0x1000])
def test_y193_8_9_and_the_band_widths_are_not(device, policy):
    before = free_bytes()
    block = ok(acl.rt.malloc(1, policy))
    assert before - free_bytes() == 4 * KiB
    ok(acl.rt.free(block))


@pytest.mark.parametrize("policy, pages", [(0x100, 2 * MiB), (0x1000, 2 * MiB), (8, 4 * KiB), (9, 4 * KiB)])
def test_y193_the_band_widths_choose_pages_as_huge_first(device, policy, pages):
    block = ok(acl.rt.malloc(MiB + 1, policy))  # outside the enumeration the line is at 2 MiB
    assert acl.rt.pointer_get_attributes(block)[0]["page_size"] == pages
    ok(acl.rt.free(block))


def test_y196_one_free_for_every_device_allocator(device):
    before = free_bytes()
    cfg = {"numAttrs": 1, "attrs": [{"attr": 1, "value": {"moduleId": 33}}]}
    for block in (ok(acl.rt.malloc(100, 2)), ok(acl.rt.malloc_cached(100, 2)),
                  ok(acl.rt.malloc_align32(100, 2)),
                  ok(acl.rt.malloc_with_cfg(100, 2, cfg)), ok(acl.rt.malloc_with_cfg(100, 2, {})),
                  ok(acl.rt.malloc_for_task_scheduler(100, 2, {}))):
        assert acl.rt.free(block) == 0
        assert acl.rt.free(block) == 107000
    assert free_bytes() == before


@pytest.mark.parametrize("surplus", [0, 1, 4096, 1 << 20, 1 << 32, 1 << 47, 1 << 62])
def test_y197_any_dest_max_that_is_enough(device, surplus):
    size = 1000
    data = os.urandom(size)
    block = ok(acl.rt.malloc(size, 2))
    assert acl.rt.memcpy(block, size + surplus, acl.util.bytes_to_ptr(data), size, 1) == 0
    assert bytes_at(block, size) == data
    for less in (size - 1, 1):
        assert acl.rt.memcpy(block, less, acl.util.bytes_to_ptr(data), size, 1) == 107000


def test_y198_host_memory_needs_no_extra_bytes_in_a_card(device):
    before = free_bytes()
    for size in (1, 32, 4096, 4097):
        block = ok(acl.rt.malloc_host(size))
        assert acl.rt.memset(block, size, 0x5A, size) == 0
        assert ctypes.string_at(block, size) == b"\x5a" * size
        assert free_bytes() == before, "no device memory at all"
        ok(acl.rt.free_host(block))


def test_y198_on_a_board_that_shares_its_memory(fresh):
    run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        assert acl.rt.get_run_mode() == (0, 0)
        def left():
            return acl.rt.get_mem_info(0)[0]
        for size, taken in ((1, 4096), (4096, 4096), (4097, 8192), (100_000, 102_400)):
            before = left()
            block, ret = acl.rt.malloc_host(size)
            assert ret == 0 and before - left() == taken, (size, before - left())
            # A program that cuts the block follows the documents: 32 bytes more, then up to 64.
            assert acl.rt.memset(block, size, 1, size) == 0
            assert acl.rt.free_host(block) == 0
            assert left() == before
    """, env={"BELAY_PRODUCT": "310B", "BELAY_FORM": "RC"})


def test_y199_results_are_results(device):
    assert acl.rt.get_run_mode() == (1, 0)
    assert acl.rt.get_device() == (0, 0)
    for given in ((), (5,), ([0], "x")):
        assert acl.rt.get_run_mode(*given) == (1, 0), "an argument is no output"
        assert acl.rt.get_device(*given) == (0, 0)


def test_y194_y195_texts_stay_those_of_the_source():
    with pytest.raises(TypeError, match="parameter must be callable"):
        acl.rt.launch_callback([print], [], 1, 0)
    refused("rt.launch_callback", print, [], 1)
    ident, err = acl.util.start_thread(lambda args: None, [])
    assert err == 0, "no ACL code: 0 or an errno"
    assert acl.util.stop_thread(ident) == 0


def test_y197_interior_addresses(device):
    block = ok(acl.rt.malloc(4096, 2))
    data = os.urandom(64)
    assert acl.rt.memcpy(block + 1000, block + 2 * 64, acl.util.bytes_to_ptr(data), 64, 1) == 0
    assert bytes_at(block + 1000, 64) == data
    fill(block, bytes(2))
