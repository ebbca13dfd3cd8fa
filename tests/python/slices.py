"""How much of a random or stress test runs, and with which seed: as in tests/support/slices.h.

A run takes a slice of each, about a second. ACL_TEST_LONG=1 asks for the whole, and ACL_TEST_SEED for a seed that was
printed, again.
"""

import os
import random

WHOLE = os.environ.get("ACL_TEST_LONG", "0") not in ("", "0")
SEED = int(os.environ.get("ACL_TEST_SEED") or str(random.SystemRandom().getrandbits(32)), 0)


def slice_of(part, full):
    """How many rounds to do."""
    return full if WHOLE else part


def test_seed():
    """The seed, which pytest shows for a test that fails."""
    print("ACL_TEST_SEED=%d" % SEED)
    return SEED


test_seed.__test__ = False  # although its name looks like one of pytest's
