"""Shares a block among tests, and loses it in a restart, for docs/python-testing.md."""

import belay
import pytest


@pytest.fixture(scope="module")
def weights(belay_module_device):
    with belay.malloc(3 << 20) as block:
        yield block


def test_reads(weights):
    weights.tobytes(size=64)


def test_makes_a_copy(weights):
    with belay.malloc(weights.size) as copy:
        copy.copy_from(weights)


def test_starts_anew(belay_device):
    pass


def test_comes_too_late(weights):
    weights.fill(0)
