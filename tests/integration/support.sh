# What all shell tests share: source it first.
#
# Gives $work (a directory that goes away), $CC and $CXX; `usage` refuses to start, `fail` counts a failure and goes on,
# `run_checks` calls every function whose name begins with check_, `finish` ends the test.

set -euo pipefail
export LC_ALL=C

CC=${CC:-gcc}
CXX=${CXX:-g++}
work=$(mktemp -d)
clean_up() { # a test that leaves more behind has one of its own
    rm -rf "$work"
}
trap clean_up EXIT

usage() { # arguments
    printf 'usage: %s %s\n' "$0" "$1" >&2
    exit 2
}

without_settings() { # further names...: what the caller has set must not matter
    local variable
    for variable in "${!BELAY_@}" "$@"; do
        unset "$variable"
    done
}

failures=0
fail() {
    printf 'FAILED: %s\n' "$1" >&2
    failures=$((failures + 1))
}

same() { # what, found, wanted
    [[ $2 == "$3" ]] || fail "$1: found '$2', wanted '$3'"
}

succeeds() { # what, command...: shows the output of a command that fails
    local what=$1
    shift
    if "$@" >"$work/output" 2>&1; then
        return 0
    fi
    fail "$what: $*"
    sed 's/^/    /' "$work/output" >&2
}

run_checks() { # arguments for each of them...
    local check
    for check in $(compgen -A function check_); do
        "$check" "$@"
    done
}

end_if_failed() {
    if ((failures > 0)); then
        printf '%d failure(s)\n' "$failures" >&2
        exit 1
    fi
}

finish() { # what was looked at
    end_if_failed
    printf '%s: well\n' "$1"
}
