#!/usr/bin/env bash
# The benchmark of page sizes in a tiny form: its figures are complete, and plot and report can be made of them.
# No huge pages are needed, the kernel's pools are left to other tests, and no time is judged.
#
# Usage: bench_pages_test.sh <bench_pages>

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

if (($# != 1)); then
    usage '<bench_pages>'
fi
bench=$(realpath "$1")
scripts=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../scripts")
cd "$work"

"$bench" --quick --megabytes 8 --rounds 3 --no-pool --json pages.json >table

# What this machine gives, and what one without huge pages, or with nothing at all, would give.
python3 - <<'PYTHON'
import json

MB = 1 << 20
result = json.load(open("pages.json"))
assert [kind["name"] for kind in result["kinds"]] == ["4 KB", "2 MB", "1 GB"], result["kinds"]
assert result["bytes"] == 8 * MB and result["rounds"] == 3
assert result["busy_neighbours"] >= 0
assert result["machine"]["cpu"] and result["machine"]["kernel"] and result["machine"]["memory_bytes"] > 0
table = open("table").read()
for kind in result["kinds"]:
    name = kind["name"]
    if not kind["available"]:
        assert name != "4 KB" and kind["reason"] and kind["remedy"] and "points" not in kind, kind
        assert kind["reason"] in table, table
        continue
    assert kind["how"] and kind["mapped_bytes"] >= result["bytes"], kind
    assert kind["page_table_entries"] == -(-result["bytes"] // kind["page_bytes"]), kind
    found = [(point["working_set_bytes"], point["pattern"]) for point in kind["points"]]
    assert found == [(size * MB, p) for size in (1, 4, 8) for p in ("dependent", "independent", "sparse")], found
    for point in kind["points"]:
        assert len(point["rounds_ns"]) == 3, point
        assert 0 < point["min_ns"] <= point["median_ns"] <= point["max_ns"], point
    if "transparent" in kind["how"]:
        assert kind["smaps"]["AnonHugePages"] == kind["mapped_bytes"], kind
    else:
        assert kind["smaps"]["AnonHugePages"] == 0, kind
        assert kind["smaps"]["KernelPageSize"] == kind["page_bytes"], kind
small = result["kinds"][0]
assert small["page_table_bytes"] >= 8 * small["page_table_entries"], small  # 8 bytes each

for name, kept in ("small.json", ["4 KB"]), ("none.json", []):
    for kind in result["kinds"]:
        if kind["name"] not in kept:
            kind.update(available=False, reason="<none> & never", remedy="another machine")
            kind.pop("points", None)
    json.dump(result, open(name, "w"))
PYTHON

for figures in pages small none; do
    python3 "$scripts/lib/plot_pages.py" $figures.json $figures.svg
    # Made anew, only what lies between the marks changes; made twice, nothing does.
    printf 'before\n<!-- figures: written by scripts/bench pages --docs -->\nold\n<!-- end of figures -->\nafter\n' >$figures.md
    python3 "$scripts/lib/report_pages.py" $figures.json $figures.md
    cp $figures.md once.md
    python3 "$scripts/lib/report_pages.py" $figures.json $figures.md
    cmp once.md $figures.md
done
python3 - <<'PYTHON'
import json
import xml.etree.ElementTree as xml

for name in "pages", "small", "none":
    kinds = json.load(open(name + ".json"))["kinds"]
    root = xml.parse(name + ".svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
    lines = root.findall(".//{*}polyline")
    assert len(lines) == 3 * sum(kind["available"] for kind in kinds), len(lines)
    words = "\n".join(text.text for text in root.iter("{http://www.w3.org/2000/svg}text"))
    page = open(name + ".md").read()
    assert page.startswith("before\n") and page.endswith("\nafter\n") and "old" not in page.split("\n"), page
    for kind in kinds:
        assert kind["name"] + " pages" in words, words
        assert kind["available"] or kind["reason"] in page, page
PYTHON

printf 'no marks\n' >bare.md
if python3 "$scripts/lib/report_pages.py" pages.json bare.md 2>error; then
    printf 'a page without marks was accepted\n' >&2
    exit 1
fi
grep -q 'must be there once each' error

for wrong in nonsense 'pages --gigabytes none' 'pages --nonsense'; do
    code=0
    # shellcheck disable=SC2086  # words
    "$scripts/bench" $wrong 2>error || code=$?
    if [[ $code != 2 ]]; then
        printf 'scripts/bench %s ended with %d\n' "$wrong" "$code" >&2
        exit 1
    fi
done
printf 'all is well\n'
