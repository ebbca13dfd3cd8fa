"""Tests of memory code with the pytest plugin of belay.

    pytest test_example.py
    pytest test_example.py --belay-schedule=lazy       the tests must pass in every legal order
    pytest test_example.py --belay-peak                what each test held at most

The function under test is a double buffer: it sends pieces of host data to the device, filling one half while
the other one is on its way.
"""

import pytest

import belay

PIECE = 4096


def send(data, target):
    """Copy data to device memory, through two halves of pinned memory that take turns."""
    with belay.malloc_host(2 * PIECE) as pinned, belay.stream() as stream:
        halves = [pinned[:PIECE], pinned[PIECE:]]
        with belay.event() as even, belay.event() as odd:
            sent = [even, odd]
            for turn, start in enumerate(range(0, len(data), PIECE)):
                piece = data[start : start + PIECE]
                if turn >= 2:
                    sent[turn % 2].synchronize()  # or this half would be overwritten before it was read
                half = halves[turn % 2][: len(piece)]
                half.copy_from(piece)
                target[start : start + len(piece)].copy_from(half, stream=stream)
                sent[turn % 2].record(stream)
            stream.synchronize()


@pytest.fixture
def target(belay_device):
    """A block for the result. Fixtures may hold blocks: leaks are looked for when all of them are done."""
    with belay.malloc(10 * PIECE) as block:
        yield block


@pytest.mark.parametrize("size", [1, PIECE - 1, PIECE, PIECE + 1, 10 * PIECE])
@pytest.mark.parametrize("schedule", ["eager", "lazy", "seed:1", "seed:2"])
def test_all_bytes_arrive_under_every_schedule(belay_machine, schedule, size):
    data = bytes(i * 7 % 256 for i in range(size))
    with belay.settings(schedule=schedule), belay.device(0), belay.malloc(10 * PIECE) as block:
        send(data, block)
        assert block.tobytes(size=size) == data


def test_all_bytes_arrive(target):
    data = bytes(i % 251 for i in range(10 * PIECE))
    send(data, target)
    assert target.tobytes() == data


def test_it_needs_no_device_memory_of_its_own(target):
    with belay.peak_of(device=0) as device, belay.peak_of(belay.HOST) as pinned:
        send(bytes(10 * PIECE), target)
    assert device.above_start == 0
    assert pinned.above_start == 2 * PIECE


@pytest.mark.belay(product="310P", hbm="64M")
def test_a_small_device_is_full_in_the_end(belay_device):
    assert belay_device.total == 64 << 20
    with belay.malloc(48 << 20), pytest.raises(belay.Error) as caught:
        belay.malloc(48 << 20)
    assert caught.value.code == 207001
