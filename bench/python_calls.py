"""What a call from Python costs: python_calls.py [--rounds N] [--calls N] [--json FILE]

The same work through the module acl, through ctypes, and a call that does nothing, in turns within one run. Medians over
the rounds, with the middle half beside them. Every figure has the turn of the loop in it, which stands alone as well.
"""

import argparse
import ctypes
import json
import platform
import statistics
import sys
import time

import acl
import belay

SIZE = 4096


def check(ret):
    if ret != 0:
        sys.exit("a call failed: %d\n%s" % (ret, acl.get_recent_err_msg()))


def pairs_with_acl(calls, malloc=acl.rt.malloc, free=acl.rt.free):
    for _ in range(calls):
        pointer, ret = malloc(SIZE, 0)
        ret = free(pointer)
    return ret


def pairs_with_ctypes(library):
    malloc, free = library.aclrtMalloc, library.aclrtFree
    malloc.argtypes = (ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_int)
    free.argtypes = (ctypes.c_void_p,)

    def run(calls):
        for _ in range(calls):
            pointer = ctypes.c_void_p()
            ret = malloc(ctypes.byref(pointer), SIZE, 0)
            ret = free(pointer)
        return ret

    return run


def copies_with_acl(target, source, bytes_):
    def run(calls, memcpy=acl.rt.memcpy):
        for _ in range(calls):
            ret = memcpy(target, bytes_, source, bytes_, 1)
        return ret

    return run


def copies_with_ctypes(library, target, source, bytes_):
    memcpy = library.aclrtMemcpy
    memcpy.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

    def run(calls):
        for _ in range(calls):
            ret = memcpy(target, bytes_, source, bytes_, 1)
        return ret

    return run


def nothing_with_acl(calls, nothing=acl.himpi.sys_init):
    for _ in range(calls):
        ret = nothing()
    return ret


def nothing_with_ctypes(library):
    nothing = library.belay_generation
    nothing.restype = ctypes.c_int

    def run(calls):
        for _ in range(calls):
            ret = nothing()
        return ret

    return run


def empty_loop(calls):
    for _ in range(calls):
        ret = 0
    return ret


def measure(run, calls):
    start = time.perf_counter_ns()
    check(run(calls))
    return (time.perf_counter_ns() - start) / calls


def spread(values):
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return {"median": middle, "low": low, "high": high, "best": min(values)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=21, help="how often each question is measured (21)")
    parser.add_argument("--calls", type=int, default=20000, help="calls in a round (20000)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls and a third of the rounds")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.calls = max(options.rounds // 3, 2), max(options.calls // 10, 10)

    library = ctypes.CDLL("libascendcl.so")
    with belay.device(0), belay.malloc(1 << 20) as memory, belay.malloc_host(1 << 20) as host:
        questions = [
            ("a call that does nothing", nothing_with_acl, nothing_with_ctypes(library)),
            ("malloc + free, 4 KB", pairs_with_acl, pairs_with_ctypes(library)),
        ]
        for bytes_ in (64, 4096, 65536):
            questions.append(("memcpy host to device, %d B" % bytes_, copies_with_acl(memory.ptr, host.ptr, bytes_),
                              copies_with_ctypes(library, memory.ptr, host.ptr, bytes_)))
        times = {name: ([], []) for name, _, _ in questions}
        loop = []
        for number in range(options.rounds):
            if sys.stderr.isatty():
                print("\rround %d of %d" % (number + 1, options.rounds), end="", file=sys.stderr, flush=True)
            loop.append(measure(empty_loop, options.calls))
            for name, ours, theirs in questions:
                times[name][0].append(measure(ours, options.calls))
                times[name][1].append(measure(theirs, options.calls))
        if sys.stderr.isatty():
            print("\r%30s\r" % "", end="", file=sys.stderr, flush=True)

    nothing = statistics.median(times[questions[0][0]][0])
    print("Python %s, %d rounds of %d calls; ns per call: median (middle half)" % (
        platform.python_version(), options.rounds, options.calls))
    print("%-30s %22s %24s %14s %14s" % ("", "acl", "ctypes", "acl : ctypes", "acl : nothing"))
    turn = spread(loop)
    print("%-30s %8.0f (%.0f … %.0f)" % ("the loop alone", turn["median"], turn["low"], turn["high"]))
    rows = []
    for name, _, _ in questions:
        ours, theirs = (spread(values) for values in times[name])
        ratio = spread([a / b for a, b in zip(*times[name])])
        rows.append({"question": name, "acl_ns": ours, "ctypes_ns": theirs, "ratio": ratio,
                     "over_nothing": ours["median"] / nothing})
        print("%-30s %8.0f (%.0f … %.0f) %11.0f (%.0f … %.0f) %14.2f %14.1f" % (
            name, ours["median"], ours["low"], ours["high"], theirs["median"], theirs["low"], theirs["high"],
            ratio["median"], ours["median"] / nothing))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"python": platform.python_version(), "rounds": options.rounds, "calls": options.calls,
                       "loop_ns": turn, "questions": rows}, file, indent=2)


if __name__ == "__main__":
    main()
