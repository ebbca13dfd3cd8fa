"""Sums up what ctest and pytest wrote: test_summary.py name=results.xml name=directory-of-results ...

Prints the number of tests, the failures, and what was skipped with the reason. Exit code 1 if a test failed.
"""

import collections
import glob
import os
import re
import sys
import xml.etree.ElementTree as xml


def reason(case):
    """Why a test was skipped: what GTEST_SKIP said, or the last line of its output."""
    output = case.findtext("system-out") or ""
    said = re.search(r":\d+: Skipped\n(.*?)\n\s*\n?\[", output, re.S)
    if said and said.group(1).strip():
        return " ".join(said.group(1).split())
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    note = case.find("skipped")
    if note is not None and note.get("type", "").startswith("pytest"):
        return note.get("message")
    return lines[-1] if lines else note.get("message") or "no reason given" if note is not None else "did not run"


def cases_of(path):
    files = sorted(glob.glob(os.path.join(path, "*.xml"))) if os.path.isdir(path) else [path]
    return [case for file in files for case in xml.parse(file).getroot().iter("testcase")]


def main(arguments):
    any_failed = False
    for argument in arguments:
        name, path = argument.split("=", 1)
        cases = cases_of(path)
        failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
        skipped = [case for case in cases if case.get("status") in ("notrun", "disabled")
                   or case.find("skipped") is not None]
        print("%s: %d tests, %d failed, %d skipped" % (name, len(cases), len(failed), len(skipped)))
        for case in failed:
            print("  FAILED  %s" % case.get("name"))
        by_reason = collections.defaultdict(list)
        for case in skipped:
            by_reason[reason(case)].append(case.get("name"))
        for why, names in sorted(by_reason.items()):
            print("  skipped: %s" % why)
            for test in names:
                print("    %s" % test)
        any_failed = any_failed or bool(failed)
    return 1 if any_failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
