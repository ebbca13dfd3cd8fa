"""What the scripts of this folder share: a call works, or the script ends with 3. With the argument "bug" they make
their mistake."""

import sys

import acl

BUG = sys.argv[1:] == ["bug"]
BYTES = 4096
HUGE_FIRST = 0
HOST_TO_DEVICE = 1


def must(outcome):
    """What a call returned before its code, if anything."""
    code = outcome[-1] if isinstance(outcome, tuple) else outcome
    if code != 0:
        sys.exit(3)
    return outcome[0] if isinstance(outcome, tuple) else None


class Device:
    def __enter__(self):
        must(acl.init())
        must(acl.rt.set_device(0))

    def __exit__(self, *_):
        must(acl.rt.reset_device(0))
        must(acl.finalize())
