"""Runs suites of tests that use the library rightly under `belay check`: nothing is found in them.

Usage: suites.py ROOT PROGRAM [--only REGEX] [--list FILE]

    ROOT      of an installation
    PROGRAM   of GoogleTest: each of its suites runs as one process
    --list    a file that names what is found because a test means it: a suite, the name of the finding, and why

What a call refused is no mistake here: these tests ask for the code that it returns. Everything else that is found and
not in the list fails the test, and so does a line of the list that nothing needs any more, unless its reason begins
with "sometimes": then it depends on which thread is first.

Without ACL_TEST_LONG=1 a few suites are drawn, for about 12 seconds, and the seed is printed (ACL_TEST_SEED).
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

SECONDS = 12
# All that decide the exit code. Tests ask for codes, not for messages, and set devices without aclInit.
CLASSES = "lifetime,bounds,contents,direction,readonly,host,leaks"


def suites_of(program):
    listed = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout
    return [line.split()[0].rstrip(".") for line in listed.splitlines() if re.match(r"\S+\.(\s|$)", line)]


def found_in(belay, program, suite, work):
    report = os.path.join(work, "report.json")
    if os.path.exists(report):
        os.remove(report)
    ran = subprocess.run([belay, "check", "--print-limit", "0", "--only", CLASSES, "--json", report, "--", program, f"--gtest_filter={suite}.*"],
                         capture_output=True, text=True, timeout=900)
    if not os.path.exists(report):
        return None, ran.stdout + ran.stderr
    with open(report, encoding="utf-8") as file:
        result = json.load(file)
    if result["program_exit_code"] != 0:
        return None, ran.stdout[-4000:]
    return [each for each in result["findings"] if "belay:   it returned " not in each["text"]], ""


def read_list(path):
    """(suite, name) -> why."""
    meant = {}
    if path:
        with open(path, encoding="utf-8") as file:
            for line in file:
                words = line.split("#")[0].split(None, 2)
                if words:
                    meant[words[0], words[1]] = words[2].strip()
    return meant


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("program")
    parser.add_argument("--only", default=".")
    parser.add_argument("--list")
    arguments = parser.parse_args()
    meant = read_list(arguments.list)
    suites = [each for each in suites_of(arguments.program) if re.search(arguments.only, each)]
    if not suites:
        sys.exit(f"no suite matches {arguments.only}")
    whole = os.environ.pop("ACL_TEST_LONG", "") == "1"  # all suites, and of each what it does every day
    seed = int(os.environ.get("ACL_TEST_SEED", random.randrange(2**32)))
    if not whole:
        print(f"ACL_TEST_SEED={seed}")
        random.Random(seed).shuffle(suites)
    environment_of_tests = {name: value for name, value in os.environ.items() if not name.startswith("BELAY_")}
    os.environ.clear()
    os.environ.update(environment_of_tests, BELAY_MACHINE="private", BELAY_PIN="best-effort")
    failures, needed, looked_at = [], set(), set()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        for number, suite in enumerate(suites):
            if not whole and time.monotonic() - begun > SECONDS:
                break
            looked_at.add(suite)
            found, trouble = found_in(os.path.join(arguments.root, "bin", "belay"), arguments.program, suite, work)
            if found is None:
                failures.append(f"{suite} does not pass under belay check:\n{trouble}")
                continue
            for each in found:
                if (suite, each["id"]) in meant:
                    needed.add((suite, each["id"]))
                else:
                    failures.append(f"{suite}:\n{each['text']}")
            if whole and number % 20 == 19:
                print(f"{number + 1} of {len(suites)} suites", flush=True)
    for suite, name in sorted(meant):
        if suite in looked_at and (suite, name) not in needed and not meant[suite, name].startswith("sometimes"):
            failures.append(f"{arguments.list} names {name} in {suite}, where nothing of that kind is found")
    print("\n".join(failures))
    print(f"{len(looked_at)} of {len(suites)} suites under belay check, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
