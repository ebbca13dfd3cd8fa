"""Every function with random arguments: never a crash, a hang, or an exception that is not documented."""

import json
import subprocess

import pytest

from reports import prelude
from slices import slice_of, test_seed

CALLS = slice_of(10000, 500000)
SHARES = {"eager": 0.8, "lazy": 0.1, "seed:7": 0.1}  # of the calls, by schedule


@pytest.mark.parametrize("schedule", SHARES)
def test_random_calls(fresh, tmp_path, schedule):
    calls = max(1, int(CALLS * SHARES[schedule]))
    seed = test_seed()
    print("%d calls" % calls)
    log = tmp_path / "last_call"
    code = prelude() + "import random_calls\nrandom_calls.main(%d, %d, %r)\n" % (seed, calls, str(log))
    words = "ACL_TEST_SEED=%d, last call: " % seed
    try:
        done = fresh(code, timeout=60 + calls / 50, env={"BELAY_SCHEDULE": schedule, "BELAY_LEAKS": "off"})
    except subprocess.TimeoutExpired:
        raise AssertionError("hangs; " + words + log.read_text().strip()) from None
    assert done.returncode == 0, "%s%s\nexit code %d\n%s" % (words, log.read_text().strip(), done.returncode,
                                                            done.stderr[-3000:])
    outcomes = json.loads(done.stdout.splitlines()[-1])
    print(outcomes)
    assert sum(outcomes.values()) == calls
    if calls > 1000:
        assert outcomes["result"] > calls / 10, "many calls must get past the conversion of arguments"
        assert outcomes["TypeError"] > calls / 10
