"""A call fails, and the script asks nobody why. It goes on, so the run does not fail.

ends: 0
"""

import acl
from program import BUG, HUGE_FIRST, Device

with Device():
    _, code = acl.rt.malloc(0, HUGE_FIRST)
    assert code != 0
    if not BUG:
        assert acl.get_recent_err_msg()
