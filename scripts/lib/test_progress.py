"""Reads what ctest prints and passes on what people want to read: test_progress.py < output

Tests that pass are counted, and a line every ten seconds tells how far it is; failures are shown as they come, whole.
The exit code of ctest is its caller's to look at (pipefail).
"""

import re
import sys
import time

DONE = re.compile(r"^ *(\d+)/(\d+) Test +#\d+: (\S+).*?(Passed|\*\*\*\S*)")
QUIET = re.compile(r"^ *Start +\d+: |^ *$|^\t|^Test project|^Internal ctest|^Label Time|^Total Test time|^The following tests")

began = shown = time.monotonic()
failed = 0
in_failure = False
for line in sys.stdin:
    done = DONE.match(line)
    if done:
        number, of, _, verdict = done.groups()
        in_failure = verdict not in ("Passed", "***Skipped", "***Not")
        failed += in_failure
        if in_failure:
            sys.stdout.write(line)
        now = time.monotonic()
        if now - shown >= 10 or number == of:
            shown = now
            print("  %s of %s tests, %d failed, after %d s" % (number, of, failed, now - began))
    elif in_failure or not QUIET.match(line):
        if re.match(r"^ *Start +\d+: ", line):
            continue
        sys.stdout.write(line)
    sys.stdout.flush()
