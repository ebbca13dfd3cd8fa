# What all shell tests share: source it first.
#
# Gives $work (a directory that goes away), $CC and $CXX; `usage` refuses to start, `fail` counts a failure and goes on,
# `judge` keeps an answer in JSON to be looked at, `on_terminal` runs a command on a terminal,
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

# An interpreter for each expression would take most of the time, so one looks at all of them in the end.
judged=0
judge() { # expression of Python on the answer a in the file out, what was asked; $judge_names has further names
    judged=$((judged + 1))
    cp out "$work/judged.$judged.json"
    printf '%s\0%s\0' "$1" "$2" >>"$work/judged"
}

look_at_what_is_judged() {
    ((judged > 0)) || return 0
    python3 - "$work" "${judge_names-}" >"$work/not_so" <<'PYTHON' || fail 'nothing can be judged'
import json, sys
place, names = sys.argv[1:]
words = open(place + "/judged").read().split("\0")[:-1]
for number, (expression, asked) in enumerate(zip(words[::2], words[1::2]), 1):
    text = open("%s/judged.%d.json" % (place, number)).read()
    try:
        here = {"a": json.loads(text)}
        exec(names, here)
        so = eval(expression, here)
    except Exception as error:
        so, text = False, repr(error) + " " + text
    if not so:
        print("not so: %s: %s (%s)" % (" ".join(expression.split()), asked, "".join(text.split())[:600]))
PYTHON
    local line
    while read -r line; do
        fail "$line"
    done <"$work/not_so"
    judged=0
}

# all that a terminal gets is in the file seen
on_terminal() { # NAME=VALUE..., command...
    python3 - "$@" >seen <<'PYTHON'
import os, pty, sys
number, terminal = pty.fork()
if number == 0:
    os.execvp("env", ["env", "-u", "NO_COLOR", "TERM=xterm", *sys.argv[1:]])
seen = b""
try:
    while more := os.read(terminal, 65536):
        seen += more
except OSError:  # the other end is closed
    pass
os.waitpid(number, 0)
sys.stdout.buffer.write(seen.replace(b"\r\n", b"\n"))
PYTHON
}

has_codes() { grep -q $'\033' "$1"; } # file

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
    look_at_what_is_judged
    end_if_failed
    printf '%s: well\n' "$1"
}
