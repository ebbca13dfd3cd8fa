"""Forgets two blocks, for docs/python-testing.md."""

import acl


def test_leaks(belay_device):
    acl.rt.malloc(1 << 20, 1)  # HUGE_ONLY
    acl.rt.malloc_host(100)
