"""Tells what moved between two runs of scripts/bench: compare_performance.py OLD.json NEW.json

A figure moved if the middle halves of its repeats do not overlap any more and the best repeats differ by three percent
or more; the three percent are a choice, to keep trifles out of the list. The machine may have been faster or slower as a
whole, so beside belay's figures stands what became of their ratio to the best peer of the same run: if only the time moved,
look at the machine. Of instructions every change of more than half a percent is told.
"""

import json
import sys

from performance_bars import ns
from wording import count, size


def read(path):
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    if "figures" not in result or "bars" not in result:
        sys.exit("%s: not a file of scripts/bench" % path)
    return result


def by(result, what, key):
    return {key(each): each for each in result[what]}


def percent(old, new):
    return "%+.0f %%" % (100 * (new / old - 1)) if old > 0 else ""


def amount(figure):
    return ns(figure["best"]) if figure["unit"] == "ns" else count(round(figure["best"])) + " B"


def moved(old, new):
    apart = new["low"] > old["high"] or new["high"] < old["low"]
    return apart and abs(new["best"] - old["best"]) > 0.03 * abs(old["best"])


def compare_figures(old, new):
    olds, news = (by(result, "figures", lambda each: each["name"]) for result in (old, new))
    rows = []
    for name, now in news.items():
        before = olds.get(name)
        if not before:
            continue
        ratio = "×%.2f → ×%.2f" % (before["ratio"], now["ratio"]) if "ratio" in now and "ratio" in before else ""
        verdict = "" if not moved(before, now) else "slower" if now["best"] > before["best"] else "faster"
        if now["unit"] == "bytes" and verdict:
            verdict = "more" if now["best"] > before["best"] else "less"
        rows.append([name, amount(before), amount(now), percent(before["best"], now["best"]), ratio, verdict])
    return rows, sorted(set(olds) - set(news)), sorted(set(news) - set(olds))


def compare_instructions(old, new):
    olds, news = (by(result, "instructions", lambda each: (each["who"], each["bytes"])) for result in (old, new))
    for (who, bytes_), now in news.items():
        before = olds.get((who, bytes_))
        if before and abs(now["per_pair"] / before["per_pair"] - 1) > 0.005:
            yield [who, size(bytes_), "%.0f" % before["per_pair"], "%.0f" % now["per_pair"],
                   percent(before["per_pair"], now["per_pair"])]


def compare_bars(old, new):
    olds, news = (by(result, "bars", lambda each: each["question"]) for result in (old, new))
    word = {True: "passed", False: "missed", None: "not measured"}
    for question, now in news.items():
        before = olds.get(question)
        if before and before["passed"] != now["passed"]:
            yield [question, "%s (%s)" % (word[before["passed"]], before["measured"]), "→",
                   "%s (%s)" % (word[now["passed"]], now["measured"])]


def show(title, rows):
    if not rows:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    print("\n%s" % title)
    for row in rows:
        print("  " + "  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip())


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    old, new = (read(path) for path in arguments)
    print("%s: commit %s, %s\n%s: commit %s, %s" % (
        arguments[0], old["commit"], old["machine"]["cpu"], arguments[1], new["commit"], new["machine"]["cpu"]))
    if old["machine"] != new["machine"]:
        print("Not the same machine: only ratios can be compared.")
    rows, gone, added = compare_figures(old, new)
    ours = [row for row in rows if row[0].split("/")[1] == "belay" or row[0].startswith(("policies/", "listening/"))]
    show("Moved beyond the spread (belay): best before, best now, change, ratio to the best peer",
         [row for row in ours if row[-1]])
    show("Within the spread (belay)", [row for row in ours if not row[-1]])
    show("Peers that moved beyond the spread: the machine, or their version",
         [row for row in rows if row[-1] and row not in ours])
    show("Instructions of a pair that changed", list(compare_instructions(old, new)))
    show("Bars", list(compare_bars(old, new)))
    for words, names in ("Only in the first", gone), ("Only in the second", added):
        if names:
            print("\n%s: %s" % (words, ", ".join(names)))
    print("\n%d of %d figures of belay moved beyond the spread." % (sum(bool(row[-1]) for row in ours), len(ours)))


if __name__ == "__main__":
    main(sys.argv[1:])
