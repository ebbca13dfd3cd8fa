"""Runs the benchmark programs and gathers their figures: measure_performance.py --programs DIRECTORY --json FILE

The programs are made with Google Benchmark. Each of its runs repeats everything it measures several times in a random
order, so that whatever else the machine does hits belay and its peers alike. On top of that all runs of a subject are
made in rounds, one after the other, each in a process of its own: then the luck of a process (where its memory lies) and
the mood of the machine at one moment are averaged out too. A figure is made of all repeats of all rounds.
"""

import argparse
import collections
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import performance_bars
from wording import by_number, size

# How much is measured. Repeats are per round; seconds are the least a repeat takes.
Effort = collections.namedtuple("Effort", "rounds repeats seconds starts windows pairs_counted")
EFFORTS = {"tiny": Effort(1, 2, 0.0002, 2, 2, 50),  # for tests: everything once, nothing reliable
           "quick": Effort(3, 5, 0.005, 15, 10, 1000),
           "full": Effort(5, 9, 0.02, 40, 25, 10000)}

# One process: what it measures in words, the program, a filter of benchmarks, how many repeats of which length, and the
# peer it is about if it is about one only.
Run = collections.namedtuple("Run", "words program filter repeats seconds peer", defaults=[None])

ALLOCATORS = ("belay", "glibc", "mimalloc", "jemalloc", "tcmalloc")
MEMORY_FOR_A_MILLION = 8 << 30  # allocators write into most of the blocks they hand out, and all have theirs at once
COUNTED_SIZES = (64, 64 << 10, 2 << 20, 1 << 30)


def alloc(effort, _):
    return [Run("pairs of one size", "bench_alloc", "^pairs/", effort.repeats, effort.seconds),
            Run("pairs under each policy", "bench_alloc", "^policies/", effort.repeats, effort.seconds)]


def churn(effort, level):
    # Each number of live blocks in a process of its own: blocks of one set would be in the way of the next.
    runs = [Run("churn over %s %s blocks" % (format(live, ","), kind), "bench_alloc",
                "^churn_%s/[^/]+/%d/" % (kind, live), effort.repeats, effort.seconds)
            for kind, lives in (("small", (256, 1000, 10000)), ("large", (256, 1000, 10000))) for live in lives]
    if level != "tiny" and available_memory() >= MEMORY_FOR_A_MILLION:
        runs.append(Run("churn over 1,000,000 small blocks (seconds to set up)", "bench_alloc",
                        "^churn_small/[^/]+/1000000/", 3 * effort.repeats, 0.02))  # once it is set up
    return runs


def shapes(effort, _):
    return [Run("requests as models make them", "bench_alloc", "^shapes/", effort.repeats, effort.seconds),
            Run("pairs of 500 sizes in turn", "bench_alloc", "^sizes/", effort.repeats, effort.seconds)]


def mass(effort, level):
    # Each in a process of its own: all of them write into a million blocks.
    if level != "tiny" and available_memory() < MEMORY_FOR_A_MILLION:
        return []
    blocks = 1000 if level == "tiny" else 1000000
    return [Run("%s blocks freed in random order, %s" % (format(blocks, ","), who), "bench_alloc",
                "^mass_[a-z]+/%s/%d/" % (who, blocks), min(3, effort.repeats), effort.seconds,
                who if who not in ("belay", "glibc") else None) for who in ALLOCATORS]


def threads(effort, _):
    # 64 threads in a process of their own: what they leave behind in shards would be in the way of few.
    return [Run("one to eight threads", "bench_threads", "^threads/[^/]+/[0-9]+/[1-8]/", effort.windows, effort.seconds),
            Run("64 threads", "bench_threads", "^threads/[^/]+/[0-9]+/64/", effort.windows, effort.seconds),
            Run("from one thread to another", "bench_threads", "^handover/", effort.repeats, effort.seconds)]


def listening(effort, _):
    return [Run("pairs with listeners", "bench_listening", "^listening/", effort.windows, effort.seconds)]


def copy(effort, level):
    sizes = {"tiny": "64|4096|65536", "quick": "64|4096|65536|1048576|16777216", "full": "[0-9]+"}[level]
    return [Run("copies", "bench_copy", "^copy_.*/(%s)/" % sizes, effort.repeats, effort.seconds)]


def fresh(effort, level):
    sizes = {"tiny": "1048576", "quick": "4194304|67108864", "full": "[0-9]+"}[level]
    return [Run("first copies into fresh memory", "bench_fresh", "/(%s)/" % sizes, effort.repeats, effort.seconds)]


def pinned(effort, _):
    return [Run("pinned memory", "bench_copy", "^pinned/", effort.repeats, effort.seconds)]


def start(effort, _):
    return [Run("starts of a process", "bench_start", ".", effort.starts, effort.seconds)]


def scale(effort, level):
    live, megabytes = (1000, 16) if level == "tiny" else (1000000, 512)
    runs = [Run("records of %s blocks" % format(live, ","), "bench_scale", "^books/belay/%d/" % live, 1, effort.seconds),
            Run("memory held after %d MB, and a rest of 3 s" % megabytes, "bench_scale",
                "^held/belay/%d/" % megabytes, 1, effort.seconds)]
    if level == "full":
        runs += [Run("the same, " + peer, "bench_scale", "^held/%s/%d/" % (peer, megabytes), 1, effort.seconds, peer)
                 for peer in ALLOCATORS[1:]]
    return runs


def virtual(effort, level):
    # Many mappings in a process of their own: they would be in the way of the others.
    live = "10|1000" if level == "tiny" else "10|100000"
    return [Run("reservations, handles and mappings", "bench_virtual", "^(reserve|physical|map)/", effort.repeats,
                effort.seconds),
            Run("one of many mappings", "bench_virtual", "^(find|copy_small)/belay/(%s)/" % live, effort.repeats,
                effort.seconds),
            Run("copies over many mappings", "bench_virtual", "^mapped_to_", effort.repeats, effort.seconds)]


def check(effort, _):
    return [Run("call sites and checks", "bench_check", "^check/", effort.repeats, effort.seconds)]


def trace(effort, _):
    return [Run("traces", "bench_trace", "^trace/", effort.repeats, effort.seconds)]


SUBJECTS = collections.OrderedDict((each.__name__, each) for each in (
    alloc, churn, mass, shapes, threads, listening, copy, fresh, pinned, start, scale, virtual, check, trace))


def available_memory():
    with open("/proc/meminfo", encoding="utf-8") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))


class Failed(Exception):
    pass


class Laboratory:
    """Where programs run: with belay's default settings, on a machine that nobody else is on."""

    def __init__(self, programs, place):
        self.programs, self.place = programs, place
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("BELAY_", "ASCEND_", "MIMALLOC_", "MALLOC_", "TCMALLOC_"))}
        machines = os.path.join(place, "machines")
        os.mkdir(machines, 0o700)
        self.environment["BELAY_MACHINES"] = machines
        self.environment["ASCEND_PROCESS_LOG_PATH"] = os.path.join(place, "log")
        self.environment["GLIBC_TUNABLES"] = "glibc.rtld.optional_static_tls=16384"  # room for jemalloc

    def program(self, name):
        return os.path.join(self.programs, name)

    def call(self, words, command):
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise Failed("%s: %s ended with %d\n%s" % (words, " ".join(command), done.returncode, done.stderr.strip()))

    def benchmark(self, run):
        """The result of Google Benchmark."""
        out = os.path.join(self.place, "result.json")
        self.call(run.words, [self.program(run.program), "--benchmark_filter=" + run.filter,
                              "--benchmark_repetitions=%d" % run.repeats, "--benchmark_min_time=%g" % run.seconds,
                              "--benchmark_enable_random_interleaving=true", "--benchmark_out_format=json",
                              "--benchmark_out=" + out])
        with open(out, encoding="utf-8") as file:
            return json.load(file)

    def instructions(self, allocators, pairs):
        """Instructions of a pair, counted by callgrind: {allocator: {bytes: instructions}}.

        The program calls counted_pairs twice for each allocator and size, with N and 2 N pairs; callgrind writes a file
        after each call. The difference is N pairs and nothing else.
        """
        wanted = [(who, bytes_) for who in allocators for bytes_ in COUNTED_SIZES]
        out = os.path.join(self.place, "callgrind")
        self.call("instructions", [
            "valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, "--toggle-collect=counted_pairs",
            "--dump-after=counted_pairs", self.program("bench_alloc"), "--instructions"] + [
            "%s:%d:%d" % (who, bytes_, pairs) for who, bytes_ in wanted])
        totals = []
        for number in range(1, 2 * len(wanted) + 1):
            with open("%s.%d" % (out, number), encoding="utf-8") as file:
                totals.append(next(int(line.split()[1]) for line in file if line.startswith("totals:")))
        counts = collections.defaultdict(dict)
        for (who, bytes_), once, twice in zip(wanted, totals[::2], totals[1::2]):
            counts[who][bytes_] = (twice - once) / pairs
        return counts


def samples_of(result):
    """(name, unit, value) of every repeat. A counter of a program is a figure of its own, in bytes."""
    standard = {"iterations", "real_time", "cpu_time", "repetitions", "repetition_index", "threads", "family_index",
                "per_family_instance_index"}
    for each in result["benchmarks"]:
        if each.get("run_type") != "iteration":
            continue
        if each.get("error_occurred"):
            raise Failed("%s: %s" % (each["name"], each.get("error_message")))
        name = "/".join(part for part in each["run_name"].split("/")
                        if part not in ("real_time", "manual_time") and ":" not in part)
        counters = [key for key, value in each.items() if key not in standard and isinstance(value, (int, float))]
        for key in counters:
            yield "%s/%s" % (name, key), "bytes", each[key]
        if not counters:
            yield name, each["time_unit"], each["real_time"]


def figure(name, unit, samples):
    question, who, point = name.split("/", 2)
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive") if len(samples) > 1 else samples * 3
    return {"name": name, "question": question, "who": who, "point": point, "unit": unit, "best": min(samples),
            "median": median, "low": low, "high": high, "worst": max(samples), "repeats": len(samples)}


def add_peers(figures):
    """To each figure of belay: the peer that did best at the same point of the same question, and the ratio to it."""
    by_point = collections.defaultdict(list)
    for each in figures:
        by_point[each["question"], each["point"]].append(each)
    for each in figures:
        peers = [peer for peer in by_point[each["question"], each["point"]]
                 if peer["who"] not in ("belay", "mmap", "loop", "table")]
        if each["who"] != "belay" or not peers or each["unit"] != "ns":
            continue
        peer = min(peers, key=lambda one: one["best"])
        each.update(peer=peer["who"], ratio=each["best"] / peer["best"],
                    ratio_of_medians=each["median"] / min(one["median"] for one in peers))


def busy_seconds():
    """Processor time of all programs and the kernel, and that of this process and its children."""
    with open("/proc/stat", encoding="utf-8") as file:
        ticks = [int(word) for word in file.readline().split()[1:4]]
    own = os.times()
    return sum(ticks) / os.sysconf("SC_CLK_TCK"), sum(own[:4])


def commit():
    def git(*arguments):
        return subprocess.run(("git",) + arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False).stdout.strip()
    name = git("rev-parse", "--short=10", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no", "src", "include", "bench")
    return (name or "unknown") + (" with changes" if changed else "")


def progress(words):
    print("  " + words, file=sys.stderr, flush=True)


def measure(laboratory, subjects, level):
    effort = EFFORTS[level]
    samples, units = collections.OrderedDict(), {}
    context = {"missing": [], "machine": {}}
    began, (all_before, own_before) = time.monotonic(), busy_seconds()
    for subject in subjects:
        runs = SUBJECTS[subject](effort, level)
        for round_ in range(effort.rounds):
            for run in runs:
                if run.peer in [each.split()[0] for each in context["missing"]]:
                    continue
                progress("%3.0f s  %s, round %d of %d" % (
                    time.monotonic() - began, run.words, round_ + 1, effort.rounds))
                result = laboratory.benchmark(run)
                for name, unit, value in samples_of(result):
                    samples.setdefault(name, []).append(value)
                    units[name] = unit
                context["machine"] = json.loads(result["context"]["measured_on"])
                context["missing"] = [line for line in result["context"]["missing_peers"].split("\n") if line]
    if "churn" in subjects and level != "tiny" and "churn_small/belay/1000000" not in samples:
        context["missing"].append("churn over 1,000,000 blocks: it needs %s of free memory" % size(MEMORY_FOR_A_MILLION))
    instructions = {}
    if "alloc" in subjects:
        if shutil.which("valgrind"):
            progress("%3.0f s  instructions of a pair, counted by callgrind" % (time.monotonic() - began))
            present = {name.split("/")[1] for name in samples}
            instructions = laboratory.instructions([who for who in ALLOCATORS if who in present], effort.pairs_counted)
        else:
            context["missing"].append("callgrind (package valgrind): instructions were not counted")
    wall, (all_after, own_after) = time.monotonic() - began, busy_seconds()
    figures = [figure(name, units[name], values) for name, values in samples.items()]
    questions = list(dict.fromkeys(each["question"] for each in figures))
    figures.sort(key=lambda each: (questions.index(each["question"]), by_number(each["point"]), each["who"] != "belay",
                                   each["who"]))
    add_peers(figures)
    return dict(context, commit=commit(), level=level, subjects=list(subjects), seconds=round(wall, 1),
                busy_neighbours=max(0.0, (all_after - all_before - own_after + own_before) / max(wall, 0.01)),
                figures=figures,
                instructions=[{"who": who, "bytes": bytes_, "per_pair": number}
                              for who, of_size in instructions.items() for bytes_, number in of_size.items()])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("subjects", nargs="*", help="what to measure (default: everything): " + " ".join(SUBJECTS))
    parser.add_argument("--programs", required=True, help="directory of the programs")
    parser.add_argument("--json", required=True, help="where the figures go")
    parser.add_argument("--level", choices=list(EFFORTS), default="quick")
    parser.add_argument("--command", default="", help="what the user called, to be written down")
    arguments = parser.parse_args()
    unknown = [each for each in arguments.subjects if each not in SUBJECTS]
    if unknown:
        parser.error("unknown subject '%s'" % unknown[0])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # not at once: the program that runs has to end too
    subjects = [each for each in SUBJECTS if not arguments.subjects or each in arguments.subjects]
    with tempfile.TemporaryDirectory(prefix="belay-bench-") as place:
        try:
            result = measure(Laboratory(os.path.abspath(arguments.programs), place), subjects, arguments.level)
        except Failed as failure:
            sys.exit("scripts/bench: a measurement failed.\n%s" % failure)
    result["command"] = arguments.command
    result["bars"] = performance_bars.judge(result)
    with open(arguments.json, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
