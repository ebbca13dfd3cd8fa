"""How tests wait: for a condition, with a limit that only a hang reaches. Everything here that waits by the clock does so
through this module; tests/integration/test_habits.sh sees to it."""

import time

PATIENCE = 30  # seconds; only a broken build waits that long


def until(condition, patience=PATIENCE):
    """Wait for something that another thread or process brings about. False if it does not in time."""
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


# Lets time pass without a condition. It is for work whose length the test is about, for a while in which something must
# not happen, and to give other threads a chance to get somewhere where the test holds as well if they do not.
let_time_pass = time.sleep
