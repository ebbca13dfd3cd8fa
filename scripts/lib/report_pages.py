"""Writes the figures of `scripts/bench pages` into a page: report_pages.py pages.json [page.md]

Replaces what stands between the two marks below. Without a page it prints.
"""

import json
import statistics
import sys

from wording import cell, count, machine_line, size, write_between_marks

BEGIN = "<!-- figures: written by scripts/bench pages --docs -->"
END = "<!-- end of figures -->"
READING = {"dependent": "Dependent reads", "independent": "Independent reads",
           "sparse": "Sparse reads: dependent, one line of each 4 KB"}


def tables(result):
    """What the pages cost in page tables, and what the kernel says they are."""
    out = ["| Pages | Entries for %s | Page tables (VmPTE) grew by | Page size in smaps | Huge pages in smaps | Came as |"
           % size(result["bytes"]), "|---|---|---|---|---|---|"]
    for kind in result["kinds"]:
        if not kind["available"]:
            out.append("| %s | not available: %s (`%s`) | | | | |" % (
                kind["name"], cell(kind["reason"]), cell(kind["remedy"])))
            continue
        smaps = kind["smaps"]
        huge = smaps["AnonHugePages"] + smaps["Hugetlb"]
        out.append("| %s | %s | %s bytes | %s | %s | %s |" % (
            kind["name"], count(kind["page_table_entries"]), count(kind["page_table_bytes"]),
            size(smaps["KernelPageSize"]), size(huge) if huge else "none",
            cell("; ".join([kind["how"]] + ([kind["note"]] if "note" in kind else [])))))
    return out


def ratio(upper, lower):
    """Of the same rounds: the median, and the middle half of them."""
    pairs = [a / b for a, b in zip(upper["rounds_ns"], lower["rounds_ns"])]
    if len(pairs) < 2:
        return "%.2f" % pairs[0]
    low, middle, high = statistics.quantiles(pairs, n=4)
    return "%.2f (%.2f … %.2f)" % (middle, low, high)


def reads(result, pattern):
    kinds = [kind for kind in result["kinds"] if kind["available"]]
    points = {kind["name"]: {p["working_set_bytes"]: p for p in kind["points"] if p["pattern"] == pattern}
              for kind in kinds}
    names = list(points)
    compared = [(a, b) for b in names for a in names if names.index(a) > names.index(b)]
    head = ["Working set"] + ["%s: ns" % name for name in names] + ["%s : %s" % pair for pair in compared]
    out = ["%s:" % READING[pattern], "", "| %s |" % " | ".join(head), "|%s" % ("---|" * len(head))]
    for set_ in sorted({s for of_kind in points.values() for s in of_kind}):
        cells = [size(set_)]
        cells += ["%.1f (%.1f … %.1f)" % (p["median_ns"], p["min_ns"], p["max_ns"])
                  for p in (points[name][set_] for name in names)]
        cells += [ratio(points[a][set_], points[b][set_]) for a, b in compared]
        out.append("| %s |" % " | ".join(cells))
    return out


def report(result):
    out = ["`scripts/bench pages --gigabytes %g`: %d rounds of %s reads at each point." % (
        result["bytes"] / (1 << 30), result["rounds"], count(result["reads_per_round"])), "",
        machine_line(result["machine"]) + " Other programs used %.1f of its processors meanwhile."
        % result["busy_neighbours"], ""]
    out += tables(result)
    for pattern in READING:
        out += [""] + reads(result, pattern)
    return "\n".join(out)


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        block = report(json.load(file))
    if len(arguments) == 1:
        print(block)
        return
    write_between_marks(arguments[1], BEGIN, END, block)


if __name__ == "__main__":
    main(sys.argv[1:])
