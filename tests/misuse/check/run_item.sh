#!/usr/bin/env bash
# One program of this folder under `belay check`: with its mistake it prints what NAME.expected says, and without it
# nothing is found.
#
# Usage: run_item.sh <root of an installation> <name> [--update]
#
#   --update   write NAME.expected instead of comparing it
#
# NAME.cpp is compiled with -O2 -g, once with -DBUG and once without; NAME.py gets the word "bug", or not. Lines at its
# top may say more:
#
#   // options: ...   further options of `belay check`
#   // ends: N        the exit code with the mistake (default: 86); without it that is always 0
#   // flags: ...     further flags of the compiler
#   // environment: NAME=VALUE ...
#   // also: ...      options with which the same mistakes are found, without comparing their text

source "$(dirname "${BASH_SOURCE[0]}")/../../integration/support.sh"

if (($# < 2)); then
    usage '<root of an installation> <name> [--update]'
fi
root=$(realpath "$1")
name=$2
update=${3-}
cd "$(dirname "${BASH_SOURCE[0]}")"
without_settings
export BELAY_MACHINE=private BELAY_PIN=best-effort # whatever may be locked here
export PYTHONPATH=$root/python/site-packages PYTHONDONTWRITEBYTECODE=1
python=${ACL_TEST_PYTHON:-python3}
script=
source=$name.cpp
if [[ -f $name.py ]]; then
    source=$name.py
    script=$name.py
fi

said() { # word: what the line "// word: ..." at the top of the program says
    sed -nE "s|^(// )?$1: ||p" "$source"
}
read -ra options <<<"$(said options)"
read -ra flags <<<"$(said flags) ${ACL_TEST_FLAGS-}" # of the library that it is linked to
read -ra environment <<<"$(said environment)"
read -ra also <<<"$(said also)"
ends=$(said ends)

compile() { # further flags...
    $CXX -std=c++20 -O2 -g -Wall -Wextra -Werror -I"$root/include" "$source" "$@" "${flags[@]}" \
        -L"$root/lib64" -lascendcl
}

# What differs from run to run has a stand-in, and frames of the compiler's own headers are left out.
plain() {
    sed -E '/\(\/usr\/(include|lib)\//d; s/\+0x[0-9a-f]+/+0xOFFSET/g; s/0x[0-9a-f]{6,}/0xADDR/g; s/(process|thread) [0-9]+/\1 N/g; s/, [0-9.]+ (s|min|h) ago:/:/; s/[0-9.]+ (us|ms)\b/TIME/g'
}

check() { # program and its arguments...: its exit code in $code, what it printed in $work/err
    code=0
    (
        env "${environment[@]}" timeout 60 "$root/bin/belay" check "${options[@]}" -- "$@" >"$work/out" 2>"$work/err"
        exit $?
    ) 2>/dev/null || code=$? # the shell tells of signals, too
}

if [[ $script == '' ]]; then
    compile -DBUG -o "$work/bug" &
    succeeds 'the program is built' compile -o "$work/twin"
    wait $! || fail 'the program with its mistake cannot be built'
    end_if_failed
    twin=("$work/twin")
    bug=("$work/bug")
else
    twin=("$python" "$script")
    bug=("$python" "$script" bug)
fi

check "${twin[@]}"
same 'exit code without the mistake' "$code" 0
same 'without the mistake' "$(cat "$work/err")" 'belay: nothing was found'
check "${bug[@]}"
same 'exit code with the mistake' "$code" "${ends:-86}"
same 'printed by the program' "$(cat "$work/out")" ''
plain <"$work/err" >"$work/plain"
if [[ $update == --update ]]; then
    cp "$work/plain" "$name.expected"
else
    diff -u "$name.expected" "$work/plain" >&2 || fail 'what is reported'
fi
if ((${#also[@]} > 0)); then
    ids() { sed -nE 's/^belay: ([a-z-]+): .*/\1/p' "$1" | sort; }
    options+=("${also[@]}")
    check "${twin[@]}"
    same "without the mistake, ${also[*]}" "$(cat "$work/err")" 'belay: nothing was found'
    check "${bug[@]}"
    same "exit code, ${also[*]}" "$code" "${ends:-86}"
    same "what is found, ${also[*]}" "$(ids "$work/err")" "$(ids "$name.expected")"
fi
finish "$name"
