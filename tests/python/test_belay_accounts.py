"""used(), blocks(), peak(), peak_of() and no_leaks()."""

import copy
import pickle
import re

import acl
import pytest

import belay

MB = 1 << 20
HUGE_ONLY = 1
NORMAL_ONLY = 2


@pytest.fixture(autouse=True)
def machine():
    with belay.settings(machine="private", product="A2", devices=2, hbm="4G", pin="best-effort"):
        yield


@pytest.fixture
def device():
    with belay.device() as npu:
        yield npu


# -- now ----------------------------------------------------------------------------------------------------


def test_asking_opens_no_device():
    assert belay.used() == belay.used(1) == belay.used(belay.HOST) == 0
    assert belay.peak() == 0
    assert belay.blocks() == []
    assert acl.rt.get_primary_ctx_state(0) == (0, 0, 0)


@pytest.mark.parametrize("ask", [belay.used, belay.blocks, belay.peak, belay.reset_peak])
@pytest.mark.parametrize("place", [2, -2])
def test_a_device_that_is_not_there_is_a_value_error(ask, place):
    with pytest.raises(ValueError):
        ask(place)


def test_used_counts_whole_pages(device):
    before = device.free
    with belay.malloc(MB, NORMAL_ONLY):
        assert belay.used() == MB + 4096  # 32 bytes more than asked, in whole pages
        with belay.malloc(MB, HUGE_ONLY):
            assert belay.used() == 3 * MB + 4096 == before - device.free
        assert belay.used(1) == 0
    assert belay.used() == 0


def test_used_counts_pinned_memory_apart(device):
    with belay.malloc_host(4096):
        assert belay.used(belay.HOST) == 4096
        assert belay.used() == 0


def test_blocks_tell_what_was_asked_and_what_it_costs(device):
    with belay.malloc(100, NORMAL_ONLY) as first, belay.malloc(MB, HUGE_ONLY) as second:
        told = belay.blocks()
        assert [block[:4] for block in told] == [
            (first.ptr, 100, 4096, 4096),
            (second.ptr, MB, 2 * MB, 2 * MB),
        ]
        assert told[0].serial < told[1].serial
        assert [block.device for block in told] == [0, 0]
        assert str(told[0]) == f"device 0: {first.ptr:#x}, 100 bytes asked, 4 KB in pages of 4 KB"


def test_blocks_of_pinned_memory(device):
    with belay.malloc_host(100) as pinned:
        (block,) = belay.blocks(belay.HOST)
        assert (block.address, block.asked, block.page_bytes) == (pinned.ptr, 100, 4096)
        assert block.device == belay.HOST
        assert str(block).startswith("pinned host memory: 0x")


# -- peaks --------------------------------------------------------------------------------------------------


def test_the_peak_stays_when_memory_is_freed(device):
    with belay.malloc(2 * MB, HUGE_ONLY), belay.malloc(2 * MB, HUGE_ONLY):
        pass
    with belay.malloc(100, NORMAL_ONLY):
        pass
    assert belay.peak() == 8 * MB
    assert belay.peak(1) == 0


def test_reset_peak_starts_from_what_is_held(device):
    with belay.malloc(100, NORMAL_ONLY):
        with belay.malloc(MB, HUGE_ONLY):
            pass
        belay.reset_peak()
        assert belay.peak() == 4096
    assert belay.peak() == 4096


def test_a_restart_forgets_the_peak(device):
    with belay.peak_of(), belay.malloc(MB, HUGE_ONLY):
        pass
    assert belay.peak() == 2 * MB
    belay.restart()
    assert belay.peak() == 0


def test_the_peak_of_some_lines(device):
    with belay.malloc(8 * MB, HUGE_ONLY):
        pass
    with belay.malloc(100, NORMAL_ONLY):
        with belay.peak_of() as p:
            assert (p.bytes, p.above_start) == (4096, 0)
            with belay.malloc(MB, HUGE_ONLY):
                pass
            assert (p.bytes, p.above_start) == (2 * MB + 4096, 2 * MB)
        with belay.malloc(8 * MB, HUGE_ONLY):
            pass
    assert (p.bytes, p.above_start) == (2 * MB + 4096, 2 * MB)
    assert belay.peak() > 8 * MB


def test_peaks_can_be_nested(device):
    with belay.peak_of() as outer:
        with belay.malloc(4 * MB, HUGE_ONLY):
            pass
        with belay.peak_of() as inner:
            with belay.malloc(MB, HUGE_ONLY):
                pass
        assert inner.bytes == 2 * MB
        belay.reset_peak()
        with belay.malloc(100, NORMAL_ONLY):
            pass
        assert belay.peak() == 4096
    assert outer.bytes == 6 * MB


def test_the_peak_of_another_device_and_of_pinned_memory(device):
    with belay.peak_of(1) as other, belay.peak_of(belay.HOST) as pinned:
        with belay.malloc(MB, HUGE_ONLY), belay.malloc_host(8192):
            pass
    assert (other.bytes, pinned.bytes) == (0, 8192)


def test_a_peak_survives_a_restart_inside():
    with belay.peak_of() as p:
        with belay.device(), belay.malloc(MB, HUGE_ONLY):
            pass
        belay.restart()
        with belay.device(), belay.malloc(100, NORMAL_ONLY):
            pass
    assert p.bytes == 2 * MB


def test_the_peak_is_told_when_the_lines_fail(device):
    with pytest.raises(KeyError):
        with belay.peak_of() as p, belay.malloc(MB, HUGE_ONLY):
            raise KeyError
    assert p.bytes == 2 * MB


# -- leaks --------------------------------------------------------------------------------------------------


def test_no_leaks_is_quiet_when_everything_was_freed(device):
    kept = belay.malloc(100)
    with belay.no_leaks():
        with belay.malloc(100), belay.malloc_host(100):
            pass
    kept.free()


def test_blocks_from_before_may_live_on_or_be_freed_inside(device):
    kept, freed = belay.malloc(100), belay.malloc(100)
    with belay.no_leaks():
        freed.free()
    kept.free()


def without_sites(error):
    """What is told without the lines that say where a block was allocated: there are some where stacks are kept."""
    return [line for line in str(error).splitlines() if not re.match(" +(allocated )?at ", line)]


def test_a_leak_is_told_with_its_block(device):
    with pytest.raises(belay.LeakError) as caught:
        with belay.no_leaks():
            small = belay.check(acl.rt.malloc(100, NORMAL_ONLY))
            large = belay.check(acl.rt.malloc(MB, HUGE_ONLY))
            pinned = belay.check(acl.rt.malloc_host(5000))
    assert isinstance(caught.value, AssertionError)
    assert without_sites(caught.value) == [
        "3 blocks allocated here and never freed, 2.01 MB in all:",
        f"  device 0: {large:#x}, 1048576 bytes asked, 2 MB in pages of 2 MB",
        f"  pinned host memory: {pinned:#x}, 5000 bytes asked, 8 KB in pages of 4 KB",
        f"  device 0: {small:#x}, 100 bytes asked, 4 KB in pages of 4 KB",
    ]
    assert [block.address for block in caught.value.blocks] == [large, pinned, small]


def test_of_many_leaks_the_ten_largest_are_told(device):
    with pytest.raises(belay.LeakError) as caught:
        with belay.no_leaks():
            for pages in range(1, 14):
                belay.check(acl.rt.malloc(pages * 4096 - 32, NORMAL_ONLY))
    lines = without_sites(caught.value)
    assert lines[0].startswith("13 blocks ")
    assert "52 KB" in lines[1] and "16 KB" in lines[10]
    assert lines[11:] == ["  and 3 more"]
    assert len(caught.value.blocks) == 13


@pytest.mark.parametrize("copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_a_leak_can_be_told_to_another_process(device, copied):
    with pytest.raises(belay.LeakError) as caught:
        with belay.no_leaks():
            belay.check(acl.rt.malloc(100, NORMAL_ONLY))
            belay.check(acl.rt.malloc(MB, HUGE_ONLY))
    there = copied(caught.value)
    assert type(there) is belay.LeakError
    assert there.blocks == caught.value.blocks
    assert str(there) == str(caught.value)


def test_one_device_or_all_with_or_without_pinned_memory(device):
    def leak_on_device_1():
        with belay.device(1):
            belay.malloc_host(100)._freed = True
            block = belay.malloc(100)
            block._freed = True  # no warning: the leak is meant
            device_1.__enter__()  # keep it open, or the block would go with it

    device_1 = belay.device(1)
    with belay.no_leaks(device=0, host=False):
        leak_on_device_1()
    with pytest.raises(belay.LeakError, match="^1 block .*\n  pinned"):
        with belay.no_leaks(device=0):
            leak_on_device_1()
    with pytest.raises(belay.LeakError, match="^1 block .*\n  device 1"):
        with belay.no_leaks(host=False):
            leak_on_device_1()
    with pytest.raises(belay.LeakError, match="^2 blocks"):
        with belay.no_leaks():
            leak_on_device_1()


def test_the_error_of_the_lines_wins(device):
    with pytest.raises(KeyError):
        with belay.no_leaks():
            belay.check(acl.rt.malloc(100, 0))
            raise KeyError


def test_after_a_restart_inside_only_the_new_blocks_count(device):
    block = belay.malloc(100)
    with belay.no_leaks():
        belay.check(acl.rt.malloc(100, 0))
        belay.restart()
    assert block.gone
    belay.check(acl.rt.set_device(0))
    belay.check(acl.rt.malloc(100, 0))
    with pytest.raises(belay.LeakError, match="^1 block "):
        with belay.no_leaks():
            belay.restart()
            belay.check(acl.rt.set_device(0))
            belay.check(acl.rt.malloc(100, 0))


def test_no_leaks_as_a_decorator(device):
    @belay.no_leaks()
    def work(size):
        return belay.check(acl.rt.malloc(size, 0)) if size else "nothing"

    assert work(0) == "nothing"
    with pytest.raises(belay.LeakError):
        work(100)
    assert work(0) == "nothing"
