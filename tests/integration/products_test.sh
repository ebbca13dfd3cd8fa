#!/usr/bin/env bash
# `belay products`: the list, one product in full, as text and as JSON.
#
# Usage: products_test.sh <belay>

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

if (($# < 1)); then
    usage '<belay>'
fi
belay=$(realpath "$1")
cd "$work"

without_settings

# expect_code <code> <arguments of belay products...>: output is in the files out and err.
expect_code() {
    local wanted=$1 code=0
    shift
    "$belay" products "$@" </dev/null >out 2>err || code=$?
    [[ $code == "$wanted" ]] || fail "exit code $code instead of $wanted: products $* ($(head -n 3 err | tr '\n' ' '))"
}

shows() { grep -qF -- "$1" out || fail "no '$1' in the output of: products ${*:2}"; }

# says <python expression on the answer a> <arguments...>
says() {
    local expression=$1
    shift
    expect_code 0 --json "$@"
    python3 -c '
import json, sys
a = json.load(open("out"))
sys.exit(0 if eval(sys.argv[1]) else 1)' "$expression" || fail "not so: $expression: belay products $*"
}

# refused <words on stderr> <arguments...>: nothing goes to stdout.
refused() {
    local words=$1
    shift
    expect_code 2 "$@"
    grep -qF -- "$words" err || fail "no '$words' on stderr: products $* ($(head -n 3 err | tr '\n' ' '))"
    [[ ! -s out ]] || fail "refused, but printed to stdout: products $*"
}

check_list() {
    expect_code 0
    [[ $(grep -cE '^(A2|A3|950|310P|910|310B|IPV350) ' out) == 7 ]] || fail 'not one row per product'
    grep -qE '^A2 +Atlas A2 +Ascend910B3 +8 +HBM +64 GB +60\.97 GB +4 KB, 2 MB, 1 GB +yes +32 ' out ||
        fail "row of A2: $(grep '^A2' out)"
    grep -qE '^310B .* 30\.48 GB\* +4 KB, 2 MB +no +32 ' out || fail "row of 310B: $(grep '^310B' out)"
    grep -qE '^950 .* 128 GB +121\.94 GB\* .* yes +0 ' out || fail "row of 950: $(grep '^950' out)"
    shows '* assumed'
    ! grep -q $'\033' out || fail 'colour in a pipe'
}

check_one_product() {
    expect_code 0 A3
    shows 'A3: Atlas A3, Ascend910_9391' A3
    shows '65787658240 bytes (61.27 GB)' A3
    shows 'D-59' A3
    shows 'pairs of dies by SIO' A3
    shows 'Ascend910_9391 (this)' A3
    shows 'Ascend910_9363' A3
    shows 'belay run --product A3 -- ./my_program' A3
    shows 'at most 255 GB' A3
    expect_code 0 ascend910b4
    shows 'A2: Atlas A2, Ascend910B4' ascend910b4
    shows 'belay run --product Ascend910B4 -- ./my_program' ascend910b4
    grep -qE '^  usable +32732348416 bytes .* assumed ' out || fail "usable of 910B4: $(grep usable out)"
    local name
    for name in 910C 'Atlas A3' atlas\ a3 Ascend910_9391; do
        expect_code 0 "$name"
        shows 'A3: Atlas A3, Ascend910_9391' "$name"
    done
}

# What the command prints can be given to `belay run` and `belay explain` as it is.
check_names_can_be_chosen() {
    expect_code 0 --json
    local soc
    for soc in $(python3 -c '
import json
for p in json.load(open("out"))["products"]:
    print(p["key"], *(c["soc"] for c in p["chips"]))'); do
        "$belay" explain 1 --product "$soc" >/dev/null 2>err || fail "belay explain knows no $soc: $(cat err)"
    done
}

check_D59_D60_json() {
    says "[p['key'] for p in a['products']] == ['A2', 'A3', '950', '310P', '910', '310B', 'IPV350']"
    says "all(c['usable_bytes']['value'] <= c['installed_bytes']['value'] <= p['most_bytes'] == 255 << 30 for p in a['products'] for c in p['chips'])"
    says "all(f['basis'] in ('observed', 'documented', 'assumed') and f['source'] for p in a['products'] for f in (p['devices'], p['memory'], p['installed_bytes'], p['usable_bytes'], p['topology']))"
    says "a['usable_bytes'] == {'value': 65464696832, 'basis': 'observed', 'source': a['usable_bytes']['source']}" A2
    says "a['devices']['value'] == 16 and a['topology']['dies_per_card'] == 2 and a['topology']['links'] == 'die_pairs'" A3
    says "a['page_bytes'] == [4096, 2097152, 1073741824] and a['p2p'] and a['padding_bytes'] == 0" 950
    says "a['page_bytes'] == [4096, 2097152] and a['p2p'] and a['host_forms']" 310P
    says "not a['p2p'] and a['memory']['value'] == 'DDR'" 310B
    says "a['soc'] == 'Ascend950DT_9591' and a['default_soc'] == 'Ascend950PR_9599' and a['installed_bytes']['value'] == 144 << 30" 950DT
    says "sorted({c['installed_bytes']['value'] >> 30 for c in a['chips']}) == [56, 64, 84, 96, 112, 126, 128, 144]" 950
}

check_refusals_and_help() {
    refused 'did you mean A2' A9
    refused 'did you mean Ascend910B4' Ascend910B44
    refused "no product 'nonsense'" nonsense
    refused '--wrong' --wrong
    refused 'A3' A2 A3
    expect_code 0 --help
    shows 'Usage: belay products' --help
    shows 'Examples:' --help
    [[ ! -s err ]] || fail '--help prints to stderr'
}

run_checks
finish 'belay products'
