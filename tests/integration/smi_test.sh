#!/usr/bin/env bash
# `belay smi` and `belay machine`: what they see of programs that hold memory, and of those that are gone.
#
# Usage: smi_test.sh <belay> <memory_holder>

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

if (($# < 2)); then
    usage '<belay> <memory_holder>'
fi
belay=$(realpath "$1")
holder=$(realpath "$2")
cd "$work"

without_settings ASCEND_RT_VISIBLE_DEVICES
export BELAY_LEAKS=off

readonly HUGE_ONLY=1 NORMAL_ONLY=2 HUGE_ONLY_P2P=4 HUGE1G_ONLY=6
readonly MB=1048576
readonly GB=1073741824

# --- programs in the background -------------------------------------------------------------------

# They hold memory until they are killed, or until this script is gone and their input ends.
mkfifo input
exec 9<>input
started=()
clean_up() {
    kill -9 "${started[@]}" 2>/dev/null || true
    rm -rf "$work"
}

# in_background <command...>: its number is in $pid, and in $said the first line it prints.
pid=0
said=
in_background() {
    rm -f output
    mkfifo output
    "$@" <input >output 9>&- &
    pid=$!
    started+=("$pid")
    read -r said <output || said=
}

# hold [DEVICE POLICY BYTES]...
hold() {
    in_background "$holder" "$@"
    [[ $said == ready* ]] || fail "the program holds nothing: $*"
}

end() { # number...: as a crash would
    kill -9 "$@"
    wait "$@" 2>/dev/null || true
}

fresh() { # a place of its own for each check
    BELAY_MACHINES=$(mktemp -d "$work/machines.XXXX")
    export BELAY_MACHINES
}

# --- what the command says ------------------------------------------------------------------------

# expect_code <code> <arguments of belay...>: output is in the files out and err.
expect_code() {
    local wanted=$1 code=0
    shift
    "$belay" "$@" </dev/null >out 2>err || code=$?
    [[ $code == "$wanted" ]] || fail "exit code $code instead of $wanted: belay $* ($(head -n 3 err | tr '\n' ' '))"
}

shows() { grep -qE -- "$1" out || fail "nothing like '$1' in the output of: belay ${*:2}"; }

# prints <pattern> <arguments...>
prints() {
    expect_code 0 "${@:2}"
    shows "$@"
}

# says <python expression on the answer a> <arguments...>
judge_names='
p = {each["pid"]: each for each in a.get("processes", [])}
d = {each["device"]: each for each in a.get("devices", [])}
m = {each["name"]: each for each in a.get("machines", [])}'
says() { says_with 0 "$@"; }
says_with() {
    local code=$1 expression=$2
    shift 2
    expect_code "$code" "$@" --json
    judge "$expression" "belay $*"
}

directory_of() { # name of a machine
    "$belay" smi --machine "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["directory"])'
}

# refused <code> <words on stderr> <arguments...>: nothing goes to stdout.
refused() {
    local code=$1 words=$2
    shift 2
    expect_code "$code" "$@"
    grep -qF -- "$words" err || fail "no '$words' on stderr: belay $* ($(head -n 3 err | tr '\n' ' '))"
    [[ ! -s out ]] || fail "refused, but printed to stdout: belay $*"
}

# --- smi ------------------------------------------------------------------------------------------

check_nobody() {
    fresh
    prints "^No process is on machine 'default'" smi
    shows '^\| Product: A2 \(Atlas A2\) +SoC: Ascend910B3 +\|$' smi
    shows '^\| Total of each device: 60\.97 GB +\|$' smi
    [[ $(grep -cE '^\| [0-7] +\| +0 +60\.97 GB +0 \|' out) == 8 ]] || fail 'not the eight devices of an A2'
    shows '^\| No processes' smi
    ! grep -qE '.{101}' out || fail 'wider than 100 columns'
    says "a['state'] == 'idle' and a['machine'] == 'default' and a['processes'] == [] and len(a['devices']) == 8" smi
    BELAY_PRODUCT=310P BELAY_DEVICES=2 BELAY_HBM=4G BELAY_HUGE=64M says \
        "len(d) == 2 and d[1]['total_bytes'] == 4 * $GB == d[1]['free_bytes'] and a['product']['soc'] == 'Ascend310P3' \
        and a['limits']['huge_2m_bytes'] == 64 * $MB and a['limits']['p2p_bytes'] is None" smi
    BELAY_HUGE=64M prints 'Limits of each device: 2 MB pages 64 MB' smi
    BELAY_HBM=lots refused 2 "BELAY_HBM has the value 'lots'" smi
    # A place that nobody has made yet.
    BELAY_MACHINES=$work/not-yet prints '^No process is on' smi
    prints '^There are no machines in' machine ls
    says "a['machines'] == []" machine ls
    prints '^There are no machines in' machine rm --all
}

check_what_processes_hold() {
    fresh
    hold 0 $HUGE_ONLY $((4 * MB)) 0 $NORMAL_ONLY 65536 3 $HUGE1G_ONLY $((2 * GB)) 3 $HUGE_ONLY_P2P $((2 * MB))
    local first=$pid
    hold 0 $HUGE_ONLY $((6 * MB))
    local second=$pid left=${said#ready }
    hold
    local third=$pid

    says "a['state'] == 'running' and a['trouble'] is None and list(p) == sorted([$first, $second, $third])" smi
    says "d[0]['huge_2m_bytes'] == 10 * $MB and d[0]['normal_bytes'] == 65536 and d[0]['huge_1g_bytes'] == 0" smi
    says "d[0]['used_bytes'] == 10 * $MB + 65536 == d[0]['total_bytes'] - d[0]['free_bytes']" smi
    says "d[0]['free_bytes'] == $left" smi # as aclrtGetMemInfo told the program
    says "d[3]['huge_1g_bytes'] == 2 * $GB and d[3]['huge_2m_bytes'] == 2 * $MB == d[3]['p2p_bytes']" smi
    says "d[1]['used_bytes'] == 0 and d[1]['free_bytes'] == d[1]['total_bytes'] == 62432 * $MB" smi
    says "p[$first]['name'] == 'memory_holder' and p[$first]['used_bytes'] == 2 * $GB + 6 * $MB + 65536" smi
    says "p[$first]['devices'][0]['device'] == 0 and p[$first]['devices'][0]['used_bytes'] == 4 * $MB + 65536" smi
    says "p[$first]['devices'][1]['device'] == 3 and p[$first]['devices'][1]['huge_1g_bytes'] == 2 * $GB" smi
    says "p[$second]['used_bytes'] == 6 * $MB and p[$third]['used_bytes'] == 0 and p[$third]['devices'] == []" smi

    prints "^\| 0 +\| +$first \| memory_holder +\| +4\.06 MB \| +4\.06 MB \| +4 MB +64 KB +0 \|$" smi
    shows "^\| 3 +\| +$first \| memory_holder +\| +2\.00 GB \| +2\.00 GB \| +2 MB +0 +2 GB \|$" smi
    shows "^\| 0 +\| +$second \| memory_holder +\| +6 MB \| +6 MB \| +6 MB +0 +0 \|$" smi
    shows "^\| - +\| +$third \| memory_holder +\| +0 \| +0 \|" smi
    shows '^\| 3 +\| +2\.00 GB +58\.97 GB +2\.00 GB \| +2 MB +0 +2 GB \| #\.{9} +3\.3% \|$' smi
    ! grep -qE '.{101}' out || fail 'wider than 100 columns'

    says "list(d) == [3] and list(p) == [$first] and p[$first]['used_bytes'] == 2 * $GB + 2 * $MB" smi --device 3
    prints "^\| 3 +\| +$first" smi --device 3
    ! grep -q "$second" out || fail '--device 3 shows a process of device 0'
    prints 'No process holds or held memory of device 1' smi --device 1

    # A wrong setting does not hide what is there.
    BELAY_HBM=lots says "len(p) == 3" smi

    # Gone at once, without a word of farewell.
    end "$first"
    says "list(p) == sorted([$second, $third]) and d[0]['used_bytes'] == 6 * $MB and d[3]['used_bytes'] == 0" smi
    end "$second" "$third"
    says "a['state'] == 'idle' and p == {} and d[0]['used_bytes'] == 0" smi
}

check_peaks() {
    fresh
    hold 0 $HUGE_ONLY $((2 * MB)) 0 $HUGE_ONLY -$((8 * MB)) 0 $NORMAL_ONLY 4096 1 $NORMAL_ONLY -65536
    local first=$pid
    # One process: to the byte, for it and for the devices.
    says "d[0]['used_bytes'] == 2 * $MB + 4096 and d[0]['peak_bytes'] == 10 * $MB and d[1]['used_bytes'] == 0" smi
    says "d[1]['peak_bytes'] == 65536 and d[2]['peak_bytes'] == 0 and len(p[$first]['devices']) == 2" smi
    says "[e['peak_bytes'] for e in p[$first]['devices']] == [10 * $MB, 65536]" smi
    says "p[$first]['devices'][1]['used_bytes'] == 0" smi
    prints "^\| 0 +\| +$first \| memory_holder +\| +2\.00 MB \| +10 MB \|" smi
    shows "^\| 1 +\| +$first \| memory_holder +\| +0 \| +64 KB \|" smi
    shows '^\| 0 +\| +2\.00 MB +60\.97 GB +10 MB \|' smi
    says "list(p) == [$first]" smi --device 1
    # A second one, with what the first holds now: not with its peak.
    hold 0 $HUGE_ONLY $((6 * MB))
    says "d[0]['peak_bytes'] == 10 * $MB and p[$pid]['devices'][0]['peak_bytes'] == 6 * $MB" smi
    end "$pid"
    hold 0 $HUGE_ONLY $((20 * MB))
    says "d[0]['peak_bytes'] == 22 * $MB + 4096 and p[$first]['devices'][0]['peak_bytes'] == 10 * $MB" smi
    end "$pid"
    # What the device had stays; who comes next, in the same place, has peaks of its own.
    hold 0 $HUGE_ONLY $((2 * MB))
    says "d[0]['peak_bytes'] == 22 * $MB + 4096 and p[$pid]['devices'][0]['peak_bytes'] == 2 * $MB" smi
    end "$pid" "$first"
    says "d[0]['peak_bytes'] == 0 and a['state'] == 'idle'" smi
    prints 'exactly if one process at a time' smi --help
}

# Addresses take no memory; memory that is mapped is in use, mapped or not.
check_reserved_and_mapped() {
    fresh
    export BELAY_PIN=best-effort
    hold 0 $HUGE_ONLY $((4 * MB))
    local plain=$pid
    expect_code 0 smi
    ! grep -q 'Reserved' out || fail 'a table of virtual memory although there is none'
    says "p[$plain]['reserved_bytes'] == 0 == p[$plain]['mapped_bytes'] and d[0]['mapped_bytes'] == 0" smi
    hold 0 map $((2 * MB)) 0 map $((4 * MB)) 3 map $((6 * MB)) 0 maphost $((2 * MB)) 0 reserve $((3 * GB)) \
        1 map -$((2 * MB)) 0 reserve -$GB
    local mapper=$pid
    # What was unmapped is reserved and in use still; what was released is not reserved any more.
    says "p[$mapper]['reserved_bytes'] == 3 * $GB + 16 * $MB and p[$mapper]['mapped_bytes'] == 14 * $MB" smi
    says "p[$mapper]['mapped_on_host_bytes'] == 2 * $MB and p[$mapper]['used_bytes'] == 14 * $MB" smi
    says "[e['mapped_bytes'] for e in p[$mapper]['devices']] == [6 * $MB, 0, 6 * $MB]" smi
    says "[e['device'] for e in p[$mapper]['devices']] == [0, 1, 3]" smi
    says "d[0]['mapped_bytes'] == 6 * $MB and d[0]['used_bytes'] == 10 * $MB and d[1]['mapped_bytes'] == 0" smi
    prints "^\| Device \| +PID \| Process name +\| +Reserved \| +Mapped \|$" smi
    shows "^\| - +\| +$mapper \| memory_holder +\| +3\.02 GB \| +\|$" smi
    shows "^\| 0 +\| +$mapper \| memory_holder +\| +\| +6 MB \|$" smi
    shows "^\| 3 +\| +$mapper \| memory_holder +\| +\| +6 MB \|$" smi
    shows "^\| host +\| +$mapper \| memory_holder +\| +\| +2 MB \|$" smi
    ! grep -qE "^\| (1|-) +\| +($plain|$mapper) \| memory_holder +\| +\| +[0-9]" out || fail 'a device that has nothing mapped'
    says "p[$mapper]['mapped_bytes'] == 6 * $MB and d[3]['mapped_bytes'] == 6 * $MB" smi --device 3
    prints "^\| 3 +\| +$mapper \| memory_holder +\| +\| +6 MB \|$" smi --device 3
    ! grep -qE '^\| (host|-) ' out || fail '--device 3 shows what is not on it'
    # Gone with their process; the next one in the same place begins at nothing.
    end "$mapper"
    says "list(p) == [$plain] and d[0]['mapped_bytes'] == 0" smi
    hold
    says "p[$pid]['reserved_bytes'] == 0 == p[$pid]['mapped_bytes']" smi
    end "$plain" "$pid"
    prints 'which take no memory' smi --help
    unset BELAY_PIN
}

# As ISO 8601 has it, so that tools can read it.
check_time() {
    fresh
    says "__import__('re').fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d', a['time'])" smi
    local now
    now=$(date +%s)
    TZ=XYZ-5:30 says "a['time'].endswith('+05:30') and 0 <= __import__('datetime').datetime.fromisoformat(a['time']).timestamp() - $now < 60" smi
    TZ=XYZ8 says "a['time'].endswith('-08:00') and 0 <= __import__('datetime').datetime.fromisoformat(a['time']).timestamp() - $now < 60" smi
}

check_machines_are_apart() {
    fresh
    hold 0 $HUGE_ONLY $((2 * MB))
    local first=$pid
    BELAY_MACHINE=job-42 BELAY_PRODUCT=A3 hold 0 $HUGE_ONLY $((8 * MB))
    local second=$pid
    says "list(p) == [$first] and d[0]['used_bytes'] == 2 * $MB and len(d) == 8" smi
    says "list(p) == [$second] and d[0]['used_bytes'] == 8 * $MB and len(d) == 16" smi --machine job-42
    BELAY_MACHINE=job-42 says "list(p) == [$second] and a['product']['soc'] == 'Ascend910_9391'" smi
    BELAY_MACHINE=job-42 says "list(p) == [$first]" smi --machine default
    prints "No process is on machine 'job-43'\. In use: default, job-42\." smi --machine job-43
    BELAY_MACHINES=$work/elsewhere says "a['state'] == 'idle'" smi

    says "m['default']['state'] == m['job-42']['state'] == 'running'" machine ls
    says "m['default']['processes'] == [{'pid': $first, 'name': 'memory_holder'}]" machine ls
    says "m['job-42']['used_bytes'] == 8 * $MB and m['job-42']['devices'] == 16 and m['job-42']['product'] == 'A3'" machine ls
    prints "^job-42 +running +A3, Ascend910_9391 +16 +8 MB +1 +$second \(memory_holder\)$" machine ls
    end "$first" "$second"
}

# The name of a program may be anything: an escape sequence must not reach the terminal, nor bad UTF-8 JSON.
as_odd_name() { exec -a $'odd\033[31m\xff' "$holder" 0 $NORMAL_ONLY 4096; }
check_odd_names() {
    fresh
    in_background as_odd_name
    says "a['processes'][0]['used_bytes'] == 4096" smi
    prints '\| odd\?\[31m\? +\|' smi
    prints '\(odd\?\[31m\?\)' machine ls
    says "m['default']['processes'][0]['pid'] == $pid" machine ls
    end "$pid"
}

# The bar tells at a glance: green, from 75 % on yellow, from 90 % on red.
check_colours() {
    fresh
    export BELAY_HBM=100M BELAY_DEVICES=4
    hold 0 $HUGE_ONLY $((74 * MB)) 1 $HUGE_ONLY $((76 * MB)) 2 $HUGE_ONLY $((90 * MB))
    expect_code 0 smi
    ! has_codes out || fail 'codes in a file'
    on_terminal "$belay" smi
    grep -q $'^| 0 .*| \033\\[32m#.*74.0%\033\\[0m |$' seen || fail "not green: $(cat -v seen)"
    grep -q $'^| 1 .*| \033\\[33m#.*76.0%\033\\[0m |$' seen || fail "not yellow: $(cat -v seen)"
    grep -q $'^| 2 .*| \033\\[31m#.*90.0%\033\\[0m |$' seen || fail "not red: $(cat -v seen)"
    grep -q '^| 3 .*| \.* *0.0% |$' seen || fail "a colour for nothing: $(cat -v seen)"
    cmp -s <(sed $'s/\033\\[[0-9]*m//g' seen) out || fail 'other words or columns in colours'
    on_terminal NO_COLOR=1 "$belay" smi
    cmp -s seen out || fail 'NO_COLOR has no effect'
    end "$pid"
    unset BELAY_HBM BELAY_DEVICES
}

check_wrong_questions() {
    fresh
    refused 2 "there is no device '8'" smi --device 8
    refused 2 "has devices 0 to 7" smi --device x
    BELAY_DEVICES=1 refused 2 'has one, which is device 0' smi --device 1
    refused 2 'is not the name of a machine' smi --machine ../../etc
    refused 2 "--watch got 'often'" smi --watch often
    refused 2 'a number of seconds from 0.1' smi --watch 0
    refused 2 '--machine is private' smi --machine private
    BELAY_MACHINE=private refused 2 'a machine of its own' smi
    BELAY_MACHINE=private prints '^BELAY_MACHINE is private here' machine ls
    BELAY_MACHINES=here refused 2 'full path' smi
    BELAY_MACHINES=/proc/none refused 2 'there is no usable directory in which the processes' machine ls
    prints 'belay smi --watch' smi --help
    prints 'belay machine rm' machine --help
    prints '^damaged' machine ls --help
    prints -- '--all' machine rm --help
    refused 2 'smi, machine' spy
}

# --- smi --watch ----------------------------------------------------------------------------------

check_watch() {
    fresh
    hold 0 $HUGE_ONLY $((2 * MB))
    local code=0 blocks=0 line watcher
    mkfifo watched
    "$belay" smi --watch 0.1 >watched 2>err 9>&- &
    watcher=$!
    started+=("$watcher")
    exec 8<watched
    : >out
    while ((blocks < 3)) && read -r line <&8; do
        printf '%s\n' "$line" >>out
        [[ $line != *'Machine: default'* ]] || blocks=$((blocks + 1))
    done
    kill -INT "$watcher"
    cat <&8 >>out
    exec 8<&-
    wait "$watcher" || code=$?
    [[ $code == 0 ]] || fail "--watch ends with $code on Ctrl-C: $(cat err)"
    [[ $(grep -c "| *$pid | memory_holder" out) -ge 3 ]] || fail '--watch prints no three tables'
    [[ $(tail -n 1 out) == +-*+ ]] || fail '--watch ends within a table'
    ! grep -q $'\033' out || fail '--watch clears what is not a screen'
    grep -qE '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} [+-][0-9]{2}:[0-9]{2}$' out || fail '--watch tells no time'

    # A number of seconds may be left out, and each line of JSON is an object.
    python3 - "$belay" "$pid" <<'PYTHON' || fail '--watch --json'
import json, signal, subprocess, sys
belay, pid = sys.argv[1:]
for words in ["--watch", "0.1", "--json"], ["--json", "--watch"]:
    with subprocess.Popen([belay, "smi", *words], stdout=subprocess.PIPE, text=True) as watcher:
        for _ in range(2):
            seen = json.loads(watcher.stdout.readline())
            assert seen["processes"][0]["pid"] == int(pid) and seen["time"], seen
        watcher.send_signal(signal.SIGINT)
        for line in watcher.stdout:
            json.loads(line)
    assert watcher.returncode == 0, watcher.returncode
PYTHON
    # A terminal is cleared each time.
    python3 - "$belay" <<'PYTHON' || fail '--watch on a terminal'
import os, pty, signal, sys
number, terminal = pty.fork()
if number == 0:
    os.execv(sys.argv[1], [sys.argv[1], "smi", "--watch", "0.1"])
seen = b""
while seen.count(b"\033[H\033[2J") < 3:
    seen += os.read(terminal, 4096)
os.write(terminal, b"\003")  # as the key does
try:
    while os.read(terminal, 4096):
        pass
except OSError:  # the other end is closed
    pass
assert os.waitpid(number, 0)[1] == 0
PYTHON
    end "$pid"
}

# --- machine rm -----------------------------------------------------------------------------------

check_remove() {
    fresh
    hold 0 $HUGE_ONLY $((2 * MB))
    local first=$pid
    BELAY_MACHINE=job-42 hold
    local second=$pid
    refused 1 "'default' is not removed: process $first (memory_holder) is on it" machine rm default
    expect_code 0 machine rm --all
    shows "^kept 'job-42': process $second" machine rm --all
    says "list(p) == [$first] and d[0]['used_bytes'] == 2 * $MB" smi
    hold
    local lower=$((first < pid ? first : pid)) higher=$((first < pid ? pid : first))
    refused 1 "processes $lower (memory_holder), $higher (memory_holder) are on it" machine rm default
    end "$first" "$pid"

    prints '^default +idle ' machine ls
    says "m['default']['state'] == 'idle' and m['default']['processes'] == [] and m['default']['product'] is None" machine ls
    refused 1 "there is no machine 'defalt'; did you mean default?" machine rm defalt
    refused 1 "there is no machine '../x'" machine rm ../x
    refused 2 'no machine given' machine rm
    refused 2 'give either names or --all' machine rm default --all
    refused 2 'a machine of its own' machine rm private
    refused 2 'ls or rm is missing' machine

    # One that can be removed and one that cannot: the first goes, and the exit code tells of the second.
    expect_code 1 machine rm default job-42
    shows "^removed 'default'$" machine rm default job-42
    [[ ! -e $(directory_of default) ]] || fail 'the directory is still there'
    says "list(m) == ['job-42']" machine ls
    end "$second"
    prints "^removed 'job-42'$" machine rm --all
    prints '^There are no machines' machine ls
    # A machine of that name can be made again.
    BELAY_MACHINE=job-42 hold 0 $HUGE_ONLY $((2 * MB))
    says "list(p) == [$pid] and d[0]['used_bytes'] == 2 * $MB" smi --machine job-42
    end "$pid"
}

# --- what does not belong there -------------------------------------------------------------------

# Overwrites a byte of what the processes of a machine share: damage <process> <offset>
damage() {
    local file
    for file in "/proc/$1/fd/"*; do
        [[ $(readlink "$file") == /memfd:belay-machine* ]] || continue
        printf '\377' | dd of="$file" bs=1 seek="$2" conv=notrunc status=none
        return
    done
    fail 'the program shares nothing'
}

check_damaged() {
    fresh
    hold 0 $HUGE_ONLY $((2 * MB))
    local first=$pid
    damage "$first" 200 # in the settings
    refused 1 "machine 'default' cannot be read: its state is damaged" smi
    damage "$first" 0 # in what tells that it is belay's
    refused 1 "machine 'default' cannot be read: its state was not written by belay" smi
    says_with 1 "a['state'] == 'damaged' and 'was not written by belay' in a['trouble'] and a['devices'] == []" smi
    prints '^default +damaged .* its state was not written by belay' machine ls
    says "m['default']['state'] == 'damaged' and m['default']['trouble'] and m['default']['used_bytes'] is None" machine ls
    refused 1 "'default' is not removed: it is in use, and its state cannot be read" machine rm default
    prints "^kept 'default': it is in use, and its state cannot be read" machine rm --all
    # Others are not in its way.
    BELAY_MACHINE=sound hold 0 $HUGE_ONLY $((2 * MB))
    says "list(p) == [$pid]" smi --machine sound
    end "$pid"
    # It ends with its process.
    end "$first"
    says "a['state'] == 'idle'" smi
    prints "^removed 'default'$" machine rm default
}

# A process that lives without its files cannot be followed, but it is there.
check_out_of_reach() {
    fresh
    hold 0 $HUGE_ONLY $((2 * MB)) close
    refused 1 "process $pid is on it" smi
    prints "^default +damaged .* process $pid " machine ls
    refused 1 "process $pid is on it" machine rm default
    prints "^kept 'default'" machine rm --all
    end "$pid"
    prints "^removed 'default'$" machine rm --all
}

check_junk() {
    fresh
    # A machine whose processes are dead; one of its links then leads to something else that is open in a live one.
    BELAY_MACHINE=odd hold
    local odd link start
    odd=$(directory_of odd)
    link=$(basename "$odd"/member.*."$pid".*)
    start=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)
    end "$pid"
    ln -s "/proc/$$/fd/0" "$odd/${link/.$pid.$start/.$$.$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)}"
    ln -s "/proc/$$/fd/0" "$odd/${link/.$pid.$start/.1.12345}"
    : >"$odd/member.x.y.z"
    : >"$odd/lead."
    # And what is no machine, next to one that has something in it.
    mkdir "$(directory_of 'kept')" "$(directory_of 'kept')/inside" "$(directory_of 'odd') and more" \
        "$BELAY_MACHINES/other" "$work/precious"
    : >"$(directory_of 'file')"
    : >"$BELAY_MACHINES/README"
    : >"$work/precious/letter"
    ln -s "$work/precious" "$(directory_of 'link')"

    says "a['state'] == 'idle'" smi --machine odd
    says "a['state'] == 'idle'" smi --machine file
    says "a['state'] == 'idle'" smi --machine link
    says "sorted(m) == ['kept', 'odd'] and m['odd']['state'] == 'idle'" machine ls
    refused 1 "there is no machine 'file'" machine rm file
    refused 1 "there is no machine 'link'" machine rm link
    # What cannot be removed is told, and does not keep the rest.
    expect_code 1 machine rm --all
    shows "^removed 'odd'$" machine rm --all
    grep -qF "'kept' is not removed: its directory" err || fail 'a directory with something in it: nothing is told'
    [[ -e $work/precious/letter && -e $BELAY_MACHINES/README ]] || fail 'rm --all removed what is not its own'
}

run_checks
finish 'belay smi and belay machine'
