"""Tells the figures of scripts/bench: report_performance.py FILE.json [page.md]

Without a page it prints the bars and the figures. With one it replaces what stands between the two marks below.
"""

import json
import sys

from performance_bars import ns, spread
from wording import by_number, cell, count, counted, machine_line, size, table, write_between_marks

BEGIN = "<!-- figures: written by scripts/bench --docs -->"
END = "<!-- end of figures -->"

ORDER = ("belay", "glibc", "mimalloc", "jemalloc", "tcmalloc", "mmap", "memcpy", "memcpy_shared", "one_block", "empty",
         "linked", "loop", "table", "nobody", "counts", "summary", "HUGE_FIRST", "HUGE_ONLY", "NORMAL_ONLY", "HUGE_FIRST_P2P",
         "HUGE_ONLY_P2P", "NORMAL_ONLY_P2P", "HUGE_FIRST+HIGH_BAND_WIDTH", "HUGE_FIRST+LOW_BAND_WIDTH",
         "HUGE_FIRST+READONLY", "off", "stacks1", "run", "cheap", "all", "stacks8", "slow", "traced", "full")
NAMES = {"memcpy_shared": "memcpy, shared memory", "loop": "a loop that shares nothing", "empty": "an empty program",
         "table": "a table of words alone", "nobody": "no listener", "counts": "a listener that counts",
         "summary": "the summary of `belay run`", "one_block": "one block of aclrtMalloc",
         "linked": "linked to belay, but no call"}


def bytes_point(point):
    return size(int(point))


def threads_point(point):
    bytes_, threads = point.split("/")
    return "%s %s" % ("" if bytes_ == "0" else size(int(bytes_)) + ",", counted(int(threads), "thread"))


EXPLANATION = ("A figure is the best of all repeats; in brackets the median, and half of the range of the middle half "
               "of the repeats, in percent of the median. The spread of a bar is that of belay and of its peer.")

# Question of the programs, title of its table, head of the first column, how a point is written.
TABLES = (("pairs", "Allocate and free, ns of a pair", "Size", bytes_point),
          ("policies", "The same under each policy, ns of a pair", "Size", bytes_point),
          ("churn_small", "Churn with blocks of 64 B to 8 KB, ns of a step", "Live blocks", lambda p: count(int(p))),
          ("churn_large", "Churn with blocks of 1 to 4 MB, ns of a step", "Live blocks", lambda p: count(int(p))),
          ("shapes", "As models ask for memory, ns of a request", "Trace", lambda p: p.replace("_", " ")),
          ("sizes", "Allocate and free, sizes up to 64 MB in turn, ns of a pair", "Sizes", lambda p: count(int(p))),
          ("mass_free", "Blocks of 4 KB freed in random order, ns of a free", "Blocks", lambda p: count(int(p))),
          ("mass_again", "The same, allocated again, ns of an allocation", "Blocks", lambda p: count(int(p))),
          ("threads", "Allocate and free on several threads, ns of a pair, all threads together", "Size, threads",
           threads_point),
          ("listening", "Allocate and free with a listener, ns of a pair, all threads together",
           "Size, threads", threads_point),
          ("check", "Call sites and checks, ns of a piece of work", "Work", lambda p: p),
          ("trace", "Traces, ns of a piece of work", "Work", lambda p: p),
          ("handover", "Allocated by one thread and freed by another, ns of a block", "Size", bytes_point),
          ("copy_to_device", "Copy from the host to the device", "Size", bytes_point),
          ("copy_to_host", "Copy from the device to the host", "Size", bytes_point),
          ("fresh_copy", "First copy from the host to fresh memory", "Size", bytes_point),
          ("fresh_fill", "First fill of fresh memory", "Size", bytes_point),
          ("fresh_on_device", "First copy from the device to fresh memory", "Size", bytes_point),
          ("fresh_queued", "First queued copy from the host to fresh memory", "Size", bytes_point),
          ("pinned", "Allocate and free pinned host memory", "Size", bytes_point),
          ("start", "From the start of a process to its end", "", lambda p: "time"),
          ("reserve", "Reserve addresses and release them", "Size", bytes_point),
          ("physical", "Take physical memory and free it", "Size", bytes_point),
          ("map", "Map and unmap", "Size", bytes_point),
          ("find", "The attributes of an address", "Live mappings", lambda p: count(int(p))),
          ("copy_small", "A copy of 64 B to the host", "Live mappings", lambda p: count(int(p))),
          ("mapped_to_device", "Copy from the host to mappings of 2 MB", "Size", bytes_point),
          ("mapped_to_host", "Copy from mappings of 2 MB to the host", "Size", bytes_point))


def passed(bar):
    return {True: "yes", False: "**no**", None: ""}[bar["passed"]]


def bars(result):
    return table(["Question", "Bar", "Best", "By medians", "Spread", "Where it is worst", "Passed"],
                 [[bar["question"], bar["bar"], bar["measured"], bar["median"], bar["spread"], bar["where"], passed(bar)]
                  for bar in result["bars"] if bar["passed"] is not None])


def value(figure):
    return "%s (%s %s)" % (ns(figure["best"]), ns(figure["median"]), spread(figure))


def figures_of(result, question, head, point_name):
    found = [each for each in result["figures"] if each["question"] == question and each["unit"] == "ns"]
    whos = sorted({each["who"] for each in found}, key=ORDER.index)
    by_place = {(each["point"], each["who"]): each for each in found}
    ratios = any("ratio" in each for each in found)
    rows = []
    for point in sorted({each["point"] for each in found}, key=by_number):
        cells = [value(by_place[point, who]) if (point, who) in by_place else "" for who in whos]
        ours = by_place.get((point, "belay"), {})
        if ratios:
            cells.append("×%.2f of %s" % (ours["ratio"], ours["peer"]) if "ratio" in ours else "")
        rows.append([point_name(point).strip()] + cells)
    return table([head] + [NAMES.get(who, who) for who in whos] + (["belay to the best peer"] if ratios else []), rows)


def gains(result):
    """What threads add: the throughput of n threads over that of one."""
    best = {(each["who"],) + tuple(each["point"].split("/")): each["best"]
            for each in result["figures"] if each["question"] == "threads"}
    whos = [who for who in ORDER if any(key[0] == who for key in best)]
    rows = []
    for bytes_ in sorted({key[1] for key in best if key[1] != "0"}, key=int):
        for threads in sorted({key[2] for key in best if key[2] != "1"}, key=int):
            cells = []
            for who in whos:
                of = "0" if who == "loop" else bytes_
                one, many = best.get((who, of, "1")), best.get((who, of, threads))
                cells.append("×%.2f" % (one / many) if one and many else "")
            rows.append([threads_point("%s/%s" % (bytes_, threads))] + cells)
    return table(["Size, threads"] + [NAMES.get(who, who) for who in whos], rows) if rows else []


def memory(result):
    rows = []
    for each in result["figures"]:
        if each["unit"] == "bytes":
            _, counter = each["point"].rsplit("/", 1)
            point = each["point"].split("/")[0]
            subject = {"resident": "a process with its first block", "books": "%s live blocks of 4 KB" % count(int(point)),
                       "held": "%s MB written and freed" % point}[each["question"]]
            rows.append([subject, each["who"], counter.replace("_", " "), "%s … %s" % (
                count(round(each["best"])), count(round(each["worst"])))])
    return table(["Of", "Who", "What", "Bytes, least … most"], rows) if rows else []


def instructions(result):
    counts = result["instructions"]
    if not counts:
        return []
    whos = sorted({each["who"] for each in counts}, key=ORDER.index)
    number = {(each["who"], each["bytes"]): each["per_pair"] for each in counts}
    return table(["Size"] + whos, [[size(bytes_)] + ["%.0f" % number[who, bytes_] for who in whos]
                                   for bytes_ in sorted({each["bytes"] for each in counts})])


def sections(result):
    """(title, lines of a table) of everything that was measured."""
    for question, title, head, point_name in TABLES:
        if any(each["question"] == question for each in result["figures"]):
            yield title, figures_of(result, question, head, point_name)
            if question == "threads":
                yield "What threads gain over one", gains(result)
    yield "Memory", memory(result)
    yield "Instructions of a pair, counted by callgrind", instructions(result)


def origin(result):
    out = ["`%s` on commit %s." % (result["command"] or "scripts/bench", result["commit"]),
           machine_line(result["machine"]) + " Other programs used %.1f of its processors meanwhile."
           % result["busy_neighbours"]]
    return out + ["Missing: %s." % cell(each) for each in result["missing"]]


def page(result):
    out = [" ".join(origin(result)), ""] + bars(result)
    out += ["", EXPLANATION]
    for title, lines in sections(result):
        if lines:
            out += ["", title + ":", ""] + lines
    return "\n".join(out)


def in_columns(lines):
    """A table in Markdown as one for the eye, in columns; cells are as wide as they need."""
    rows = [[cell_.strip().replace("**", "") for cell_ in line.strip("|").split(" | ")] for line in lines]
    del rows[1]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip() for row in rows]


def for_the_eye(result):
    out = []
    for title, lines in sections(result):
        if lines:
            out += [title] + ["  " + line for line in in_columns(lines)] + [""]
    out += origin(result) + [EXPLANATION, ""]
    judged = bars(result)
    if len(judged) > 2:
        out += in_columns(judged)
        missed = sum(bar["passed"] is False for bar in result["bars"])
        out += ["", "%d of %d bars passed." % (len(judged) - 2 - missed, len(judged) - 2)]
    return "\n".join(out)


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        result = json.load(file)
    if len(arguments) == 1:
        print(for_the_eye(result))
    else:
        write_between_marks(arguments[1], BEGIN, END, page(result))


if __name__ == "__main__":
    main(sys.argv[1:])
