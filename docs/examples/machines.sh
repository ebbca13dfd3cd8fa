#!/usr/bin/env bash
# Programs that hold memory of two machines, and a command that looks at them: machines.sh COMMAND...
# Run by scripts/examples, for docs/smi.md.
set -euo pipefail

readonly HUGE_ONLY=1 NORMAL_ONLY=2 HUGE1G_ONLY=6
readonly MB=1048576 GB=1073741824

program tests/integration/memory_holder.c
rm -f input output
mkfifo input output
exec 9<>input
held=()
trap 'exec 2>/dev/null; kill -9 "${held[@]}"; wait; belay machine rm --all >/dev/null' EXIT

# They appear in the order of their numbers, which rise but for the day on which they begin anew.
start() { # name, [DEVICE POLICY BYTES]...
    local name=$1 said
    shift
    (exec -a "$name" ./memory_holder "$@") <input >output 2>/dev/null 9>&- &
    held+=($!)
    read -r said <output
    [[ $said == ready* ]]
}
end_last() {
    { kill -9 "${held[-1]}" && wait "${held[-1]}" || true; } 2>/dev/null
    unset 'held[-1]'
}

BELAY_MACHINE=job41 start pytest
end_last
start train 0 $HUGE_ONLY $((4 * MB)) 0 $NORMAL_ONLY 65536 0 $HUGE_ONLY -$((40 * MB)) 3 $HUGE1G_ONLY $((24 * GB)) \
    0 reserve $((68 * GB)) 0 map $((20 * MB)) 3 map $((6 * MB))
start eval
while ((held[1] < held[0])); do
    end_last
    start eval
done
BELAY_MACHINE=job42 BELAY_PRODUCT=A3 start pytest 0 $HUGE_ONLY $((4 * MB))

show "$@"
