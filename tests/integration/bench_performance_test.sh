#!/usr/bin/env bash
# The benchmarks of docs/performance.md in a tiny form: every program runs and every call in it succeeds, the figures are
# complete, and they can be judged, told, drawn and compared. No time is judged: a bar may be missed.
#
# Usage: bench_performance_test.sh <directory of the programs>

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1

if (($# != 1)); then
    usage '<directory of the programs>'
fi
programs=$(realpath "$1")
scripts=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../scripts")
cd "$work"

python3 "$scripts/lib/measure_performance.py" --level tiny --programs "$programs" --command 'scripts/bench' --json all.json
python3 "$scripts/lib/report_performance.py" all.json >table
python3 "$scripts/lib/plot_performance.py" all.json plots >drawn

# Made anew, only what lies between the marks changes; made twice, nothing does.
printf 'before\n<!-- figures: written by scripts/bench --docs -->\nold\n<!-- end of figures -->\nafter\n' >page.md
python3 "$scripts/lib/report_performance.py" all.json page.md
cp page.md once.md
python3 "$scripts/lib/report_performance.py" all.json page.md
cmp once.md page.md

python3 - <<'PYTHON'
import json
import shutil
import xml.etree.ElementTree as xml

result = json.load(open("all.json"))
assert result["machine"]["cpu"] and result["commit"] and result["command"] == "scripts/bench", result["machine"]
assert result["busy_neighbours"] >= 0

# A peer is measured, or named as missing.
allocators = ["belay", "glibc", "mimalloc", "jemalloc", "tcmalloc"]
missing = [each.split()[0] for each in result["missing"]]
present = [who for who in allocators if who not in missing]
assert present[:2] == ["belay", "glibc"], missing

figures = {each["name"]: each for each in result["figures"]}
KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
sizes = [64, 512, 4 * KB, 64 * KB, 512 * KB, MB, 2 * MB, 8 * MB, 32 * MB, 128 * MB, 256 * MB, 512 * MB, GB]
expected = ["pairs/%s/%d" % (who, size) for who in present for size in sizes]
expected += ["pairs/mmap/%d" % size for size in sizes if size >= 4 * KB]
expected += ["churn_%s/%s/%d" % (kind, who, live)
             for kind in ("small", "large") for who in present + ["table"] for live in (256, 1000, 10000)]
expected += ["%s/%s/1000" % (what, who) for what in ("mass_free", "mass_again") for who in present]
expected += ["sizes/%s/500" % who for who in present]
expected += ["%s/%s/%d" % (what, who, MB) for what in ("fresh_copy", "fresh_fill", "fresh_on_device", "fresh_queued")
             for who in ("belay", "memcpy")]
expected += ["pinned/belay/%d" % size for size in (4 * KB, MB, 16 * MB)]
expected += ["shapes/%s/%s" % (who, trace) for who in present for trace in ("weights", "activations", "kv_blocks")]
expected += ["threads/%s/%d/%d" % (who, size, threads)
             for who in present for size in (64 * KB, 2 * MB) for threads in (1, 2, 4, 8, 64)]
expected += ["policies/%s/%d" % (policy, size) for size in (4000, 3000000) for policy in (
    "HUGE_FIRST", "HUGE_ONLY", "NORMAL_ONLY", "HUGE_FIRST_P2P", "HUGE_ONLY_P2P", "NORMAL_ONLY_P2P",
    "HUGE_FIRST+HIGH_BAND_WIDTH", "HUGE_FIRST+LOW_BAND_WIDTH", "HUGE_FIRST+READONLY")]
expected += ["listening/%s/%d/%d" % (who, size, threads)
             for who in ("nobody", "counts", "summary") for size in (4 * KB, 2 * MB) for threads in (1, 2, 8)]
expected += ["threads/loop/0/%d" % threads for threads in (1, 2, 4, 8, 64)]
expected += ["handover/%s/%d" % (who, size) for who in present for size in (64 * KB, 2 * MB)]
expected += ["copy_to_%s/%s/%d" % (to, who, size)
             for to in ("device", "host") for who in ("belay", "memcpy", "memcpy_shared") for size in (64, 4 * KB, 64 * KB)]
expected += ["reserve/%s/%d" % (who, size) for who in ("belay", "mmap") for size in (2 * MB, GB)]
expected += ["map/%s/%d" % (who, 2 * MB) for who in ("belay", "mmap")] + ["physical/belay/%d" % (2 * MB)]
expected += ["%s/belay/%d" % (what, live) for what in ("find", "copy_small") for live in (10, 1000)]
expected += ["mapped_to_%s/%s/%d" % (to, who, 64 * MB) for to in ("device", "host") for who in ("belay", "one_block")]
expected += ["start/%s/0" % who for who in ("belay", "linked", "empty")]
expected += ["resident/belay/0/resident_bytes"]
expected += ["check/%s/%s" % (who, what) for who in ("off", "stacks1", "run", "cheap", "all", "stacks8", "slow")
             for what in ("pair", "kv", "copy", "queued")]
expected += ["trace/%s/%s" % (who, what) for who in ("stacks1", "traced", "full")
             for what in ("pair", "kv", "copy", "queued")]
expected += ["books/belay/1000/" + what for what in ("bytes_per_allocation", "page_table_bytes_per_allocation")]
expected += ["held/belay/16/" + what for what in ("written", "at_once", "after_rest", "page_tables_after_rest")]
assert sorted(figures) == sorted(expected), set(figures) ^ set(expected)

for each in figures.values():
    assert each["best"] <= each["low"] <= each["median"] <= each["high"] <= each["worst"], each
    assert each["unit"] == "bytes" or each["best"] > 0, each
assert figures["held/belay/16/written"]["best"] >= 16 * MB  # so the writing is seen
for name in "pairs/belay/64", "churn_large/belay/1000", "copy_to_host/belay/64", "start/belay/0":
    assert figures[name]["peer"] and figures[name]["ratio"] > 0, figures[name]

if shutil.which("valgrind"):
    counts = {(each["who"], each["bytes"]): each["per_pair"] for each in result["instructions"]}
    assert sorted(counts) == sorted((who, size) for who in present for size in (64, 64 * KB, 2 * MB, GB)), counts
    assert all(20 < number < 100000 for number in counts.values()), counts
else:
    assert "callgrind" in missing and not result["instructions"]

# What a tiny run leaves out is told as not measured, and everything else is judged.
assert len(result["bars"]) == 36
assert [bar["question"] for bar in result["bars"] if bar["passed"] is None] == [
    "a million blocks of 4 KB freed in random order, and allocated again", "churn over 1,000,000 live",
    "first copies and fills of fresh memory in 4 KB pages", "churn, from 1,000 to 1,000,000 live", "records", "memory held after 512 MB were written and freed",
    "an address among 100,000 mappings"]
table, page = open("table").read(), open("page.md").read()
assert page.startswith("before\n") and page.endswith("\nafter\n") and "\nold\n" not in page, page
for bar in result["bars"]:
    told = bar["passed"] is not None
    assert (bar["question"] in table) == told and ("| %s |" % bar["question"] in page) == told, bar
    assert not told or bar["measured"] in page, bar
for each in result["missing"]:
    assert each.split()[0] in table and each.split()[0] in page

for name, lines in ("pairs", len(present) + 1), ("churn", 2 * (len(present) + 1)), ("threads", 2 * len(present) + 2):
    root = xml.parse("plots/%s.svg" % name).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(root.findall(".//{*}polyline")) == lines, name

# A run in which one figure doubled, one instruction count grew, and a bar changed; and one without any peer.
for each in result["figures"]:
    if each["name"] == "pairs/belay/64":
        for what in "best", "low", "median", "high", "worst":
            each[what] *= 100
result["instructions"] = [{"who": "belay", "bytes": 64, "per_pair": 1}]
result["bars"][0]["passed"] = not result["bars"][0]["passed"]
json.dump(result, open("moved.json", "w"))
alone = json.load(open("all.json"))
alone["figures"] = [dict((k, v) for k, v in each.items() if k not in ("peer", "ratio", "ratio_of_medians"))
                    for each in alone["figures"] if each["who"] == "belay"]
alone.update(instructions=[], missing=["glibc | <none> & never"])
json.dump(alone, open("alone.json", "w"))
PYTHON

"$scripts/bench" --compare all.json all.json >same
grep -q '^0 of [0-9]* figures of belay moved' same
"$scripts/bench" --compare all.json moved.json >moved
grep -q '^  pairs/belay/64 .*+9900 %.* slower$' moved
grep -q '^1 of [0-9]* figures of belay moved' moved
grep -q 'aclrtMalloc + aclrtFree, 1 MB to 1 GB .*→' moved
python3 "$scripts/lib/report_performance.py" alone.json >/dev/null
python3 "$scripts/lib/plot_performance.py" alone.json alone >/dev/null
"$scripts/bench" --compare all.json alone.json >only
grep -q 'Only in the first' only

# What the larger runs ask for exists too.
PYTHONPATH=$scripts/lib python3 - "$programs" <<'PYTHON'
import subprocess
import sys

import measure_performance as measuring

measuring.available_memory = lambda: measuring.MEMORY_FOR_A_MILLION
for level, effort in measuring.EFFORTS.items():
    for runs_of in measuring.SUBJECTS.values():
        for run in runs_of(effort, level):
            subprocess.run(["%s/%s" % (sys.argv[1], run.program), "--benchmark_list_tests=true",
                            "--benchmark_filter=" + run.filter], check=not run.peer,  # it may not be installed
                           stdout=subprocess.DEVNULL)
PYTHON

# A measurement that fails is told, and fails the run.
mkdir broken
printf '#!/bin/sh\necho the device is on fire >&2\nexit 3\n' >broken/bench_start
chmod +x broken/bench_start
code=0
python3 "$scripts/lib/measure_performance.py" start --level tiny --programs broken --json broken.json 2>error || code=$?
if [[ $code == 0 || -e broken.json ]] || ! grep -q 'the device is on fire' error; then
    printf 'a failed measurement went unnoticed\n' >&2
    exit 1
fi
for wrong in nonsense 'alloc nonsense' '--nonsense' 'alloc --docs' '--json' '--compare' '--compare all.json'; do
    code=0
    # shellcheck disable=SC2086  # words
    "$scripts/bench" $wrong 2>error || code=$?
    if [[ $code != 2 ]]; then
        printf 'scripts/bench %s ended with %d\n' "$wrong" "$code" >&2
        exit 1
    fi
done
printf 'all is well\n'
