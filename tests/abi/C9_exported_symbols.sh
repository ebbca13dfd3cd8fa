#!/usr/bin/env bash
# C9: the library exports the functions that its list names, belay's own, and
# nothing else; it stays interposable.
#
# Usage: C9_exported_symbols.sh library [exports.map]

source "$(dirname "${BASH_SOURCE[0]}")/../integration/support.sh"

if (($# < 1 || $# > 2)); then
    usage 'library [exports.map]'
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
library=$1
map=${2:-$here/../../src/library/exports.map}
for file in "$library" "$map"; do
    if [[ ! -r "$file" ]]; then
        printf 'FAILED: cannot read %s\n' "$file" >&2
        exit 2
    fi
done

listed() { # file: one name per line, indented
    sed 's/^/    /' "$1" >&2
}

# The names of the list, without comments, key words and the wildcard.
sed -e 's@/\*.*\*/@@' -e '/^ *\/\*/,/\*\//d' "$map" |
    sed -n 's/^ *\([A-Za-z_][A-Za-z0-9_]*\);.*/\1/p' | sort >"$work/all_wanted"
sort -u "$work/all_wanted" >"$work/wanted"
if [[ ! -s "$work/wanted" ]]; then
    printf 'FAILED: no names in %s\n' "$map" >&2
    exit 1
fi
uniq -d "$work/all_wanted" >"$work/twice"
if [[ -s "$work/twice" ]]; then
    fail "names that stand twice in $map:"
    listed "$work/twice"
fi

# What the dynamic symbol table defines: type and name, versions cut off.
nm -D --defined-only "$library" | awk '{ print $(NF-1), $NF }' | sed 's/@.*$//' >"$work/symbols"
awk '{ print $2 }' "$work/symbols" | sort -u >"$work/exported"

comm -13 "$work/wanted" "$work/exported" | grep -v '^belay_' >"$work/extra" || true
if [[ -s "$work/extra" ]]; then
    fail "exported but not in the list:"
    listed "$work/extra"
fi
comm -23 "$work/wanted" "$work/exported" >"$work/missing"
if [[ -s "$work/missing" ]]; then
    fail "in the list but not exported:"
    listed "$work/missing"
fi
awk '$1 != "T" { print $2 " (" $1 ")" }' "$work/symbols" | sort >"$work/not_functions"
grep -v '^belay_' "$work/not_functions" >"$work/odd" || true
if [[ -s "$work/odd" ]]; then
    fail "exported, but not as ordinary functions:"
    listed "$work/odd"
fi

# Interposable: references are not bound to the library itself.
readelf -dW "$library" >"$work/dynamic"
if grep -Eq '\(SYMBOLIC\)|\(FLAGS\).*SYMBOLIC' "$work/dynamic"; then
    fail "linked with symbolic binding:"
    grep -E 'SYMBOLIC' "$work/dynamic" | sed 's/^/    /' >&2
fi

# No internal call through an exported name: such a call would need a jump slot
# and would land in an interposer instead of the library.
readelf -rW "$library" | awk '/JUMP_SL/ { sub(/@.*/, "", $5); print $5 }' | sort -u >"$work/slots"
comm -12 "$work/slots" "$work/exported" >"$work/internal"
if [[ -s "$work/internal" ]]; then
    fail "called inside the library through their exported names:"
    listed "$work/internal"
fi

end_if_failed
printf 'C9: %d functions exported, %d of them from the list\n' "$(wc -l <"$work/exported")" "$(wc -l <"$work/wanted")"
