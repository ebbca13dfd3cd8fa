"""Uses memory of a fixture after a restart, for docs/python-testing.md."""

import belay
import pytest


@pytest.fixture
def block(belay_device):
    return belay.malloc(4096)


def test_restarts(block):
    belay.restart()
    block.fill(0)
