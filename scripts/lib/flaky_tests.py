"""Lists the tests that failed in any pass of scripts/flakes: flaky_tests.py directory

Reads pass-N.xml and pass-N.kind; exit code 1 if a test failed, 2 if a pass has no result.
"""

import glob
import os
import re
import sys
import xml.etree.ElementTree as xml


def main(place):
    kinds = {int(re.search(r"pass-(\d+)", path).group(1)): open(path).read().strip()
             for path in glob.glob(os.path.join(place, "pass-*.kind"))}
    failures, seeds, tests, missing = {}, {}, 0, []
    for number in sorted(kinds):
        path = os.path.join(place, "pass-%d.xml" % number)
        if not os.path.exists(path):
            missing.append(number)
            continue
        for case in xml.parse(path).getroot().iter("testcase"):
            tests += 1
            if case.find("failure") is None and case.find("error") is None:
                continue
            failures.setdefault(case.get("name"), []).append(number)
            seeds.setdefault(case.get("name"), []).extend(
                re.findall(r"[A-Z_]*SEED=\d+", case.findtext("system-out") or ""))
    print("%d passes, %d tests run, %d different ones failed" % (len(kinds), tests, len(failures)))
    for name, passes in sorted(failures.items(), key=lambda item: -len(item[1])):
        print("  %s: %d of %d passes" % (name, len(passes), len(kinds)))
        for number in passes:
            print("    pass %d, %s: %s" % (number, kinds[number], os.path.join(place, "pass-%d.log" % number)))
        if seeds[name]:
            print("    %s" % ", ".join(sorted(set(seeds[name]))))
    for number in missing:
        print("  pass %d has no result" % number)
    return 2 if missing else 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
