"""Data buffers: an address and a size, nothing more."""

import pytest

import acl
from arguments import check_arguments
from support import bytes_at, ok

SIZES = [0, 1, 64, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 5, 1 << 63, (1 << 64) - 1]


def test_y164_arguments():
    check_arguments("create_data_buffer", "ptr ptr", (0, 0), repeatable=False)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("address", [0, 1, 4096, 1 << 40, (1 << 64) - 1])
def test_y164_y166_y167_what_went_in_comes_out(address, size):
    buffer = acl.create_data_buffer(address, size)
    assert type(buffer) is int and buffer > 0
    assert acl.get_data_buffer_addr(buffer) == address
    assert acl.get_data_buffer_size_v2(buffer) == size
    assert acl.get_data_buffer_size(buffer) == size % (1 << 32)
    assert acl.destroy_data_buffer(buffer) == 0


def test_y164_negative_numbers_wrap():
    buffer = acl.create_data_buffer(-1, -2)
    assert acl.get_data_buffer_addr(buffer) == (1 << 64) - 1
    assert acl.get_data_buffer_size_v2(buffer) == (1 << 64) - 2
    assert acl.get_data_buffer_size(buffer) == (1 << 32) - 2
    assert acl.destroy_data_buffer(buffer) == 0


def test_y164_y165_it_does_not_own_the_memory(device):
    block = ok(acl.rt.malloc(64, 2))
    ok(acl.rt.memset(block, 64, 1, 64))
    buffer = acl.create_data_buffer(block, 64)
    ok(acl.rt.memset(block, 64, 2, 64))
    assert bytes_at(acl.get_data_buffer_addr(buffer), 64) == b"\2" * 64, "no copy was made"
    assert acl.destroy_data_buffer(buffer) == 0
    assert bytes_at(block, 64) == b"\2" * 64, "only the record is gone"
    assert acl.rt.free(block) == 0


def test_y165_arguments_and_zero():
    check_arguments("destroy_data_buffer", "ptr", (0,))
    assert acl.destroy_data_buffer(0) == 100000
    assert type(acl.destroy_data_buffer(0)) is int


def test_y166_y167_handle_zero():
    for name in ("get_data_buffer_addr", "get_data_buffer_size", "get_data_buffer_size_v2"):
        check_arguments(name, "ptr", (0,))
        assert getattr(acl, name)(0) == 0
        assert type(getattr(acl, name)(0)) is int


def test_y168_updating(device):
    check_arguments("update_data_buffer", "ptr ptr ptr", (0, 0, 0))
    assert acl.update_data_buffer(0, 1, 2) == 100000
    first, second = ok(acl.rt.malloc(64, 2)), ok(acl.rt.malloc(128, 2))
    buffer = acl.create_data_buffer(first, 64)
    assert acl.update_data_buffer(buffer, second, 128) == 0
    assert (acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size_v2(buffer)) == (second, 128)
    assert acl.rt.free(first) == 0, "the former memory is still there, and the caller's"
    for size in SIZES:
        assert acl.update_data_buffer(buffer, 0, size) == 0
        assert acl.get_data_buffer_addr(buffer) == 0
        assert acl.get_data_buffer_size_v2(buffer) == size
        assert acl.get_data_buffer_size(buffer) == size % (1 << 32)
    assert acl.rt.free(second) == 0
    assert acl.destroy_data_buffer(buffer) == 0


def test_y164_many_are_different():
    buffers = [acl.create_data_buffer(number, number + 1) for number in range(500)]
    assert len(set(buffers)) == 500
    for number, buffer in enumerate(buffers):
        assert acl.get_data_buffer_addr(buffer) == number
        assert acl.get_data_buffer_size(buffer) == number + 1
    for buffer in buffers:
        assert acl.destroy_data_buffer(buffer) == 0
