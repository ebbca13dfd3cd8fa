"""Frees a block twice, for docs/python-testing.md."""

import acl


def test_frees_twice(belay_device):
    block, code = acl.rt.malloc(1000, 0)
    assert code == 0
    acl.rt.free(block)
    acl.rt.free(block)
