#!/usr/bin/env bash
# Tests of the public contract are portable: what stands in tests/conformance, and every header of tests/support that it
# includes, uses no setting of belay or of the environment, nothing that the kernel says about the process, and no header
# but the public ones. Such tests belong in tests/own.
#
# Usage: portable_tests.sh [directory of the tests]

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

tests=$(realpath "${1:-$(dirname "${BASH_SOURCE[0]}")/..}")

# Settings, the kernel's files, belay's own headers and functions, other products, changes of the environment.
uses='BELAY_|/proc|belay/|\bbelay_[a-z_]+\(|\bon_product\b|setenv|putenv'
# Includes in quotes: the vendor's headers and ours, nothing of src.
public='"(acl/[^"]*|hi_dvpp\.h|support/[^"]*)"'

# Prints "file:line: text" for each use that is not portable, and "file:line: text (included by file)" for one in a header.
look_at() ( # directory of tests
    cd "$1"
    declare -A includes=() from=()
    declare -a files=()
    local file header line
    while IFS=: read -r file header; do
        includes[$file]+=" $header"
    done < <(grep -roHE '^ *# *include *"support/[^"]*"' conformance support | sed 's/:.*"\(.*\)"$/:\1/')
    mapfile -t files < <(find conformance -name '*.cpp' -o -name '*.h' | sort)
    for ((i = 0; i < ${#files[@]}; i++)); do # it grows
        file=${files[i]}
        for header in ${includes[$file]-}; do
            [[ -z ${from[$header]-} ]] || continue
            from[$header]=$file
            if [[ -f $header ]]; then
                files+=("$header")
            else
                printf '%s: includes %s, which is not there\n' "$file" "$header"
            fi
        done
    done
    {
        grep -nHE "$uses" "${files[@]}" || true
        grep -nHE '^ *# *include *"' "${files[@]}" | grep -vE "include *$public|$uses" || true
    } | while IFS= read -r line; do
        file=${line%%:*}
        printf '%s%s\n' "$line" "${from[$file]+ (included by ${from[$file]})}"
    done
)

# --- the check can fail --------------------------------------------------------------------------

planted() { # line of code: what is found of it, in a test and three headers deep
    rm -rf "$work/tests"
    mkdir -p "$work/tests/conformance" "$work/tests/support"
    printf '#include "support/first.h"\n%s\n' "$1" >"$work/tests/conformance/planted_test.cpp"
    printf '#include "support/second.h"\n' >"$work/tests/support/first.h"
    printf '#include "acl/acl.h"\n\n%s\n' "$1" >"$work/tests/support/second.h"
    printf 'BELAY_PRODUCT\n' >"$work/tests/support/nobody_includes_it.h"
    look_at "$work/tests"
}

while read -r line; do
    found=$(planted "$line")
    same "a planted '$line'" "$(cut -d: -f1,2 <<<"$found")" $'conformance/planted_test.cpp:2\nsupport/second.h:3'
done <<'END'
in_fresh_process({{"BELAY_PRODUCT", "A3"}}, [] {});
std::ifstream status{"/proc/self/status"};
#include "belay/belay.h"
#include "memory/plan.h"
EXPECT_EQ(belay_restart(), 0);
on_product("A3", [] {});
::setenv("ASCEND_RT_VISIBLE_DEVICES", "1", 1);
::unsetenv("ASCEND_RT_VISIBLE_DEVICES");
END
same 'a planted portable line' "$(planted 'using namespace belay_test;')" ''

# --- and does not -----------------------------------------------------------------------------------

look_at "$tests" >"$work/found"
while read -r line; do
    fail "not portable: tests/$line"
done <"$work/found"
finish "$(find "$tests/conformance" -name '*_test.cpp' | wc -l) files of portable tests"
