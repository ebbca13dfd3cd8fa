"""Asks for a view of device memory where host code cannot touch it, for docs/python-testing.md."""

import belay

with belay.device(0), belay.malloc(1 << 20) as block:
    memoryview(block)
