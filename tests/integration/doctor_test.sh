#!/usr/bin/env bash
# The command `belay doctor` on this machine, and on this machine made poorer.
#
# Usage: doctor_test.sh <belay> [program] [sanitized]
# [program], if given, copies and locks memory and ends with 0 when all went well: what the doctor foretells is
# compared with what becomes of it. A command with a sanitizer needs much address space and does not lock pages,
# so these checks are left out.

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

if (($# < 1)); then
    usage '<belay> [program] [sanitized]'
fi
belay=$(realpath "$1")
program=${2:+$(realpath "$2")}
sanitized=${3-}
cd "$work"

# Other users run them too, and may not enter the directory of the build.
chmod 755 "$work"
mkdir bin lib
cp "$(dirname "$belay")/../lib/libascendcl.so" lib/
cp "$belay" ${program:+"$program"} bin/
belay=$work/bin/${belay##*/}
program=${program:+$work/bin/${program##*/}}

without_settings LD_PRELOAD LD_LIBRARY_PATH
export BELAY_MACHINE=private # what others run here must not matter

# Runs a command; its output is in the files out and err, its exit code in $code.
code=0
run() {
    code=0
    "$@" </dev/null >out 2>err || code=$?
    [[ ! -s err ]] || fail "prints to stderr: $* ($(head -n 3 err | tr '\n' ' '))"
}

# finds <python expression on the answer> <command...>: f is the findings by id, c their commands.
judge_names='
f = {each["id"]: each for each in a["findings"]}
c = {id: [r["command"] for r in each["remedies"]] for id, each in f.items()}
def in_order(code):
    assert a["works"] == (code == 0) == (not a["failing"]), "exit code %d" % code
    assert all(each["mark"] in ("ok", "note", "problem") and each["text"] for each in a["findings"])
    assert a["failing"] == [each["id"] for each in a["findings"] if each["mark"] == "problem"]
    return True'
finds() {
    local expression=$1
    shift
    run "$@"
    judge "in_order($code) and ($expression)" "$* (code $code)"
}

# Without the privileges of root, if this test has them: limits then count.
as_user() { "$@"; }
user=yes
if ((EUID == 0)); then
    user=
    if setpriv --reuid 65534 --regid 65534 --clear-groups "$belay" --version >/dev/null 2>&1; then
        user=yes
        as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
    fi
fi

check_plain() {
    run "$belay" doctor
    [[ $code == 0 || $code == 1 ]] || fail "exit code $code: belay doctor"
    local words
    for words in 'This machine' 'Device memory' '2 MB pages' 'BELAY_PAGES=auto' 'Pinned host memory' 'Limits'; do
        grep -qF -- "$words" out || fail "no '$words' in the output"
    done
    ! grep -vE '^$|^[A-Z][a-zA-Z ]+$|^  (ok|note|problem) +|^ {27}(user|root|container|setting) +|^belay will ' out >odd ||
        fail "a line of no known form: $(head -n 1 odd)"
    grep -qE '^belay will (work|fail) here' out || fail 'no last word'
}

check_help() {
    run "$belay" doctor --help
    grep -qF 'Usage: belay doctor' out || fail 'no usage'
    grep -qF 'Examples:' out || fail 'no examples'
}

check_json() {
    finds 'a["facts"]["cpus"] and a["facts"]["memory_total_bytes"] >= a["facts"]["memory_available_bytes"]' \
        "$belay" doctor --json
    finds 'a["facts"]["kernel"] == "'"$(uname -r)"'" and a["facts"]["architecture"] == "'"$(uname -m)"'"' \
        "$belay" doctor --json
    finds 'a["uses"]["pages_2m"] in ("hugetlb", "thp", "small")' "$belay" doctor --json
    finds 'set(("window", "managed", "memfd", "collapse")) <= set(a["trials"])' "$belay" doctor --json
    finds '"vm.max_map_count" in f["mappings"]["text"] and "%#x" % a["trials"]["managed"]["base"] in f["managed"]["text"]' \
        "$belay" doctor --json
}

check_settings_count() {
    finds 'a["uses"]["pages_2m"] == "small"' env BELAY_PAGES=small "$belay" doctor --json
    finds '"pages_2m" not in f and "commit" not in f' env BELAY_BACKING=none "$belay" doctor --json
    finds 'f["commit"]["mark"] == "note"' env BELAY_COMMIT=1000000G "$belay" doctor --json
    finds '"settings" in a["failing"] and "lots" in f["settings"]["text"]' env BELAY_HBM=lots "$belay" doctor --json
    finds 'f["numa"]["mark"] == "problem"' env BELAY_HOST_NODE=999 "$belay" doctor --json
    [[ $code == 1 ]] || fail "exit code $code with a node that does not exist"
}

check_meeting_place() {
    finds 'a["uses"]["meeting_place"] is None' env BELAY_MACHINE=private "$belay" doctor --json
    mkdir -m 700 meet
    finds "a['uses']['meeting_place'] == '$work/meet'" \
        env BELAY_MACHINE=lab BELAY_MACHINES="$work/meet" "$belay" doctor --json
    : >meet/file
    finds '"meeting_place" in a["failing"] and "not a directory" in f["meeting_place"]["text"]' \
        env BELAY_MACHINE=lab BELAY_MACHINES="$work/meet/file" "$belay" doctor --json
    finds '"meeting_place" in a["failing"] and "is missing" in f["meeting_place"]["text"]' \
        env BELAY_MACHINE=lab BELAY_MACHINES=/nowhere/at/all "$belay" doctor --json
    [[ $(find meet -mindepth 1 | wc -l) == 1 ]] || fail 'the doctor leaves something behind'
}

# What others put at the names of the usual places; the program says the same as the doctor.
check_meeting_place_of_others() {
    ((EUID == 0)) && [[ -n $user ]] || return 0
    local someone=$((20000 + $$ % 40000))
    local shm=/dev/shm/belay-$someone tmp=/tmp/belay-$someone
    local as=(setpriv --reuid "$someone" --regid "$someone" --clear-groups env -u BELAY_MACHINE -u BELAY_MACHINES
        HOME=/nowhere)
    rm -rf "$shm" "$tmp"
    mkdir -m 700 "$shm"
    finds "a['uses']['meeting_place'] == '$tmp' and f['meeting_place']['mark'] == 'note'
        and 'sudo rm -r $shm' in c['meeting_place']" "${as[@]}" "$belay" doctor --json
    [[ ! -e $tmp ]] || fail 'the doctor has made a meeting place'
    ln -s "$work" "$tmp"
    finds "a['uses']['meeting_place'] is None and '$shm belongs to another user' in f['meeting_place']['text']
        and '$tmp is a symbolic link' in f['meeting_place']['text']" "${as[@]}" "$belay" doctor --json
    if [[ -n $program && -z $sanitized ]]; then
        "${as[@]}" "$belay" run --quiet -- "$program" </dev/null >out 2>&1 || fail "the program fails: $(tail -n 1 out)"
        grep -qE "^belay: .*$shm belongs to another user .*$tmp is a symbolic link" out ||
            fail "the program does not say what is in the way: $(tail -n 3 out)"
    fi
    rm -rf "$shm" "$tmp"
    # A mode that lets others in is the user's own to mend.
    mkdir -m 755 "$shm"
    chown "$someone" "$shm"
    finds "a['uses']['meeting_place'] == '$tmp' and 'chmod 700 $shm' in c['meeting_place']" \
        "${as[@]}" "$belay" doctor --json
    rm -rf "$shm" "$tmp"
}

check_short_address_space() {
    [[ -z $sanitized ]] || return 0
    local short='ulimit -S -v 500000; exec "$@"'
    finds 'f["addresses"]["mark"] == f["managed"]["mark"] == "note" and "ulimit -v unlimited" in c["managed"]' \
        bash -c "$short" - "$belay" doctor --json
    finds 'f["addresses"]["mark"] == "note" and "ulimit -v unlimited" in c["addresses"]' \
        bash -c "$short" - "$belay" doctor --json
    finds 'f["contents"]["mark"] == "note" and a["uses"]["pages_2m"] == "small"' \
        bash -c "$short" - "$belay" doctor --json
    finds 'a["failing"] == ["addresses"]' env BELAY_HOST_ACCESS=allow bash -c "$short" - "$belay" doctor --json
    [[ $code == 1 ]] || fail "exit code $code where host code cannot touch"
    # The hard limit, too: raising it is root's.
    finds 'not any(x.startswith("ulimit") for x in c["addresses"])' \
        bash -c 'ulimit -v 500000; exec "$@"' - "$belay" doctor --json
}

check_short_files() {
    finds 'f["contents"]["mark"] in ("note", "problem") and "ulimit -f unlimited" in c["contents"]' \
        bash -c 'ulimit -S -f 10000; exec "$@"' - "$belay" doctor --json
}

check_locking() {
    [[ -n $user && -z $sanitized ]] || return 0
    finds 'f["locking"]["mark"] == "problem" and "locking" in a["failing"]
        and "unset BELAY_PIN" in c["locking"]' \
        as_user env BELAY_PIN=strict bash -c 'ulimit -l 0; exec "$@"' - "$belay" doctor --json
    [[ $code == 1 ]] || fail "exit code $code where no page can be locked"
    run as_user env BELAY_PIN=strict bash -c 'ulimit -l 0; exec "$@"' - "$belay" doctor
    grep -qE '^belay will fail here because of: .*locking' out || fail "locking is not named: $(tail -n 1 out)"
    finds 'f["locking"]["mark"] == "note"' \
        as_user bash -c 'ulimit -l 0; exec "$@"' - "$belay" doctor --json
    finds 'f["locking"]["mark"] == "note" and "1 MB" in f["locking"]["text"]' \
        as_user bash -c 'ulimit -l 1024; exec "$@"' - "$belay" doctor --json
}

check_as_user() {
    [[ -n $user ]] || return 0
    finds 'a["facts"]["user"] != 0' as_user "$belay" doctor --json
}

# foretells <works or fails> <command...>: the doctor, and the program, under the same command.
foretells() {
    local wanted=0
    [[ $1 == works ]] || wanted=1
    shift
    run "$@" "$belay" doctor
    [[ $code == "$wanted" ]] || fail "exit code $code instead of $wanted: $* belay doctor ($(tail -n 1 out))"
    code=0
    "$@" "$belay" run --quiet -- "$program" </dev/null >out 2>&1 || code=$?
    ((code == 0)) && code=0 || code=1
    [[ $code == "$wanted" ]] || fail "the program ends otherwise: $* ($(tail -n 1 out))"
}

check_what_is_foretold_comes_true() {
    [[ -n $program && -z $sanitized ]] || return 0
    export ASCEND_PROCESS_LOG_PATH=$work/log
    local lab=(env BELAY_MACHINE=lab BELAY_MACHINES="$work/lab")
    foretells works env
    foretells works "${lab[@]}"
    foretells works bash -c 'ulimit -v 500000; exec "$@"' -
    foretells works bash -c 'ulimit -f 100; exec "$@"' -
    foretells fails env BELAY_HBM=lots
    foretells fails env BELAY_HOST_NODE=999
    foretells fails env BELAY_MACHINE=lab BELAY_MACHINES=/nowhere/at/all
    foretells fails bash -c 'ulimit -f 100; ulimit -v 500000; exec "$@"' -
    foretells fails env BELAY_HOST_ACCESS=allow bash -c 'ulimit -v 500000; exec "$@"' -
    foretells fails "${lab[@]}" bash -c 'ulimit -f 100; exec "$@"' -
    [[ -n $user ]] || return 0
    foretells fails as_user env BELAY_PIN=strict bash -c 'ulimit -l 0; exec "$@"' -
    foretells works as_user bash -c 'ulimit -l 0; exec "$@"' -
}

check_nothing_stays_behind() {
    run "$belay" doctor
    [[ -z $(find /dev/shm /tmp -maxdepth 1 -name 'belay-doctor*' -o -maxdepth 1 -name 'belay-trial*' 2>/dev/null) ]] ||
        fail 'files of trials stay behind'
}

run_checks
finish 'belay doctor'
