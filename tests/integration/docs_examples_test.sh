#!/usr/bin/env bash
# What pages show as output is what programs print; and the script that says so finds what is not.
#
# Usage: docs_examples_test.sh <build tree>

set -euo pipefail
export LC_ALL=C.UTF-8

if (($# != 1)); then
    printf 'usage: %s <build tree>\n' "$0" >&2
    exit 2
fi
build=$(realpath "$1")
examples=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../scripts/examples")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failures=0
fail() {
    printf 'FAILED: %s\n' "$1" >&2
    failures=$((failures + 1))
}

# finds <words> <text of a page>: the check fails and says so.
finds() {
    printf '%b' "$2" >"$work/page.md"
    if python3 "$examples" --check --build "$build" "$work/page.md" >"$work/said" 2>&1; then
        fail "nothing found in: $2"
    fi
    grep -qF -- "$1" "$work/said" || fail "no '$1' about: $2 ($(cat "$work/said"))"
}

python3 "$examples" --check --build "$build" || fail 'pages are out of date; scripts/examples renews them'

finds '+right' 'Text.\n\n<!-- made by: echo right -->\n```text\nwrong\n```\n'
finds '-wrong' '<!-- made by: echo right -->\n```text\nwrong\n```\n'
finds 'ended with 3' '<!-- made by: exit 3 -->\n```text\n```\n'
finds 'page.md:3: this block needs a line above it' 'Text.\n\n```text\nwrong\n```\n'
finds 'needs a line above it' '<!-- something else -->\n```text\nwrong\n```\n'
finds 'does not say its kind' '```\nwrong\n```\n'
finds 'kind "output" are unknown' '```output\nwrong\n```\n'
finds 'shows a session' '```sh\n$ belay smi\n```\n'
finds 'does not end' '<!-- drawn by hand -->\n```text\n+-+\n'
finds 'only a "text" is made' '<!-- made by: echo right -->\n```sh\nright\n```\n'
finds 'must be "|&"' '<!-- made by: echo right | cat -->\n```text\nright\n```\n'
finds 'belay does not say this' '<!-- made by: show belay doctor; true -->\n```text\n  ok       NUMA            a thing nobody says\n```\n'

# Renewing puts right what a program makes, and leaves the rest alone.
printf 'Before.\n\n<!-- made by: echo right -->\n```text\nwrong\n```\n\n<!-- drawn by hand -->\n```text\n+-+\n```\nAfter' >"$work/page.md"
python3 "$examples" --build "$build" "$work/page.md" >/dev/null || fail 'cannot be renewed'
printf 'Before.\n\n<!-- made by: echo right -->\n```text\nright\n```\n\n<!-- drawn by hand -->\n```text\n+-+\n```\nAfter' >"$work/wanted.md"
cmp "$work/wanted.md" "$work/page.md" || fail 'renewed wrongly'
# What varies has a stand-in.
printf '<!-- made by: echo "[PID: $$] 0x7fffdeadbeef" -->\n```text\n[PID: 4711] 0x7f0c41a00000\n```\n' >"$work/page.md"
python3 "$examples" --check --build "$build" "$work/page.md" >/dev/null || fail 'no stand-in for what varies'

if ((failures > 0)); then
    printf '%d failure(s)\n' "$failures" >&2
    exit 1
fi
printf 'Examples of the pages: well\n'
