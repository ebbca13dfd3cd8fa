#!/usr/bin/env bash
# `belay run` as a parent: what it tells of the processes of a program, however they end, and how it ends itself.
#
# Usage: run_test.sh <belay> <run_probe>

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

if (($# < 2)); then
    usage '<belay> <run_probe>'
fi
belay=$(realpath "$1")
probe=$(realpath "$2")
cd "$work"

without_settings ASCEND_RT_VISIBLE_DEVICES LD_PRELOAD
export BELAY_LEAKS=off BELAY_MACHINE=private BELAY_HBM=1G

# runs <exit code> <words of run_probe...>: err has what was printed, with one space where there were several.
runs() {
    local wanted=$1 code=0
    shift
    "$belay" run -- "$probe" "$@" </dev/null >out 2>words || code=$?
    tr -s ' ' <words >err
    same "exit code of: $*" "$code" "$wanted"
}
tells() { grep -qE -- "$1" err || fail "no line '$1' in: $(cat err)"; }
tells_not() { ! grep -qE -- "$1" err || fail "a line '$1' in: $(cat err)"; }

check_one_process() {
    runs 0 set 0 malloc 3000000 malloc 1000 free host 4096 copy 1000
    tells '^belay: memory of run_probe \(process [0-9]+\) on Ascend910B3 \(Atlas A2, 8 devices of 1 GB\)$'
    tells '^belay: device pages peak blocks freed not freed asked for charged lost to rounding$'
    tells '^belay: 0 all 4\.00 MB 2 1 1 \(4 MB\) 2\.86 MB 4\.00 MB 28\.5 %$'
    tells '^belay: 4 KB 1 1 0 1000 bytes 4 KB 75\.6 %$'
    tells '^belay: 2 MB 1 0 1 \(4 MB\) 2\.86 MB 4 MB 28\.5 %$'
    tells '^belay: host, pinned 4 KB 4 KB 1 0 1 \(4 KB\) 4 KB 4 KB 0\.0 %$'
    tells '^belay: host to device 1 1000 bytes$'
    tells_not 'failed calls'
}

check_what_failed() {
    runs 0 set 0 free-wrongly free-wrongly malloc-too-much 2000000000 malloc 100
    tells '^belay: failed calls times code$'
    tells '^belay: aclrtFree 2 107000 ACL_ERROR_RT_PARAM_INVALID$'
    tells '^belay: aclrtMalloc 1 207001 ACL_ERROR_RT_MEMORY_ALLOCATION$'
}

# Blocks that end with their device were not freed.
check_a_reset_frees_nothing() {
    runs 0 set 0 malloc 1000 malloc 1000 free reset 0
    tells '^belay: 0 4 KB 8 KB 2 1 1 \(4 KB\) '
}

# multiprocessing ends its children by _exit; the out-of-memory killer kills; programs crash.
check_every_way_to_end() {
    local way
    for way in 'exit 0' '_exit 0' 'kill 9' abort; do
        # shellcheck disable=SC2086  # several words
        runs 0 set 0 malloc 1000 fork set 1 many 300 malloc 5000 free-wrongly thread $way join free
        tells '^belay: memory of 2 processes on '
        tells '^belay: [0-9]+ run_probe 0 4 KB 4 KB 1 1 0 1000 bytes 4 KB 75\.6 %$'
        tells '^belay: [0-9]+ run_probe 1 4 KB 8 KB 301 300 1 \(8 KB\) '
        tells '^belay: [0-9]+ run_probe 0 4 KB 4 KB 1 0 1 \(4 KB\) '
        tells '^belay: [0-9]+ run_probe aclrtFree 1 107000 ACL_ERROR_RT_PARAM_INVALID$'
    done
}

check_processes_after_exec() {
    runs 0 set 0 malloc 1000 exec set 1 malloc 2000 free exit 0
    tells '^belay: memory of 2 processes on '
    tells '^belay: [0-9]+ [a-z_]+ 0 4 KB 4 KB 1 0 1 \(4 KB\) 1000 bytes '
    tells '^belay: [0-9]+ [a-z_]+ 1 4 KB 4 KB 1 1 0 1\.95 KB '
}

check_visible_devices() {
    ASCEND_RT_VISIBLE_DEVICES=3,5 runs 0 set 1 malloc 1000 free
    tells '^belay: 1 \(5 of the machine\) 4 KB 4 KB 1 1 0 '
}

check_a_program_without_the_library() {
    local code=0
    "$belay" run -- true 2>err || code=$?
    same 'exit code of true' "$code" 0
    tells '^belay: this program never called AscendCL'
    tells 'belay check-program'
    runs 0 set 0
    tells '^belay: nothing was allocated, copied or filled, and no call failed$'
}

check_a_terminal_obeys_no_name() {
    cp "$probe" $'b\033[31mad'
    "$belay" run -- ./b*mad set 0 malloc 1000 free 2>err
    tells '^belay: memory of b\?\[31mad \(process '
}

check_it_ends_as_the_program_did() {
    runs 7 set 0 exit 7
    runs $((128 + 9)) set 0 malloc 1000 kill 9
    tells '^belay: 0 4 KB 4 KB 1 0 1 \(4 KB\) '
    runs $((128 + 6)) set 0 abort
    runs $((128 + 15)) kill 15
    "$belay" run -- "$probe" set 0 kill 11 2>err && fail 'a crash is a success'
    tells '^belay: memory of run_probe '
}

# --- signals --------------------------------------------------------------------------------------

started() { # <command...>: runs it until it says that it is ready; its number is in $pid
    rm -f input output
    mkfifo input output
    "$@" <input >output 2>words &
    pid=$!
    exec 8>input 7<output
    local line=
    read -r line <&7
    same "first line of: $*" "$line" ready
}
ended() { # its exit code is in $code
    code=0
    wait "$pid" || code=$?
    exec 8>&- 7<&-
    tr -s ' ' <words >err
}

check_signals_reach_the_program() {
    local signal code
    for signal in TERM USR1 USR2; do
        started "$belay" run -- "$probe" set 0 malloc 1000 wait
        kill -"$signal" "$pid"
        ended
        same "exit code after SIG$signal" "$code" $((128 + $(kill -l "$signal")))
        tells '^belay: 0 4 KB 4 KB 1 0 1 \(4 KB\) '
    done
}

check_the_program_is_killed_with_it() {
    local code program
    started "$belay" run -- "$probe" set 0 wait
    program=$(tr -d ' ' <"/proc/$pid/task/$pid/children")
    kill -9 "$pid"
    ended
    same 'exit code' "$code" $((128 + 9))
    local tries=0
    while [[ -d /proc/$program ]] && ! grep -q '^State:.*[ZX]' "/proc/$program/status" 2>/dev/null; do
        ((++tries < 100000)) || break
    done
    ((tries < 100000)) || fail 'the program lives on'
}

check_processes_that_stay_are_said_to() {
    mkfifo held ready
    exec 6<>held 5<>ready
    # Its parent goes on when it says that it is ready, and ends.
    # shellcheck disable=SC2016  # for the shell that is started
    "$belay" run -- bash -c '"$0" set 0 malloc 1000 wait <held >ready 2>/dev/null & read -r line <ready' "$probe" 2>words 6>&- 5>&-
    tr -s ' ' <words >err
    tells '^belay: memory of run_probe \(process [0-9]+, still running\) on '
    tells '^belay: 0 4 KB 4 KB 1 0 1 \(4 KB\) '
    exec 6>&- 5>&- # it reads the end of its input, and ends
}

# --- where it cannot be so ------------------------------------------------------------------------

check_without_a_file_each_prints_its_own() {
    (
        ulimit -f 1000 # no file of that length
        "$belay" run -- "$probe" set 0 malloc 1000 free 2>words
    )
    tr -s ' ' <words >err
    tells '^belay: memory of run_probe '
    BELAY_SUMMARY=on "$probe" set 0 malloc 1000 free 2>words
    tr -s ' ' <words >err
    tells '^belay: 0 4 KB 4 KB 1 1 0 '
    BELAY_SUMMARY=on BELAY_RUN=/proc/1/fd/0 "$probe" set 0 malloc 1000 free 2>words
    tr -s ' ' <words >err
    tells '^belay: 0 4 KB 4 KB 1 1 0 '
}

check_a_machine_that_cannot_be_used() {
    local code=0
    "$belay" run -- env BELAY_HBM=nonsense "$probe" set 0 2>words || code=$?
    same 'exit code' "$code" 99
    tr -s ' ' <words >err
    tells '^belay: run_probe \(process [0-9]+\) got no device$'
    tells '^belay: aclrtSetDevice 1 507033 ACL_ERROR_RT_DEV_SETUP_ERROR$'
}

check_more_processes_than_places() {
    # shellcheck disable=SC2016  # for the shell that is started
    "$belay" run -- bash -c 'for ((i = 0; i < 260; ++i)); do "$0" set 0; done' "$probe" 2>words
    tr -s ' ' <words >err
    same 'tables of processes that found no place' "$(grep -c '^belay: memory of run_probe ' err)" 4
    tells '^belay: memory of 256 processes on '
}

run_checks
finish 'belay run as a parent'
