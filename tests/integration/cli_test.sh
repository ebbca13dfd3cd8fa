#!/usr/bin/env bash
# The command `belay`: what it prints, what it refuses, how it ends.
#
# Usage: cli_test.sh <belay> [program]
# <belay> must lie in a tree with its library (bin/belay beside lib/libascendcl.so or
# lib64/libascendcl.so). [program], if given, allocates device memory and ends with 0; if it is
# cli_probe, what it sees of the library is compared with what `belay explain` says.

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

if (($# < 1)); then
    usage '<belay> [program]'
fi
belay=$(realpath "$1")
program=${2:+$(realpath "$2")}
cd "$work"

without_settings LD_PRELOAD LD_LIBRARY_PATH

# Runs a command; its output is in the files out and err, its exit code in $code.
code=0
run() {
    code=0
    "$@" </dev/null >out 2>err || code=$?
}

# expect_code <code> <command...>
expect_code() {
    local wanted=$1
    shift
    run "$@"
    [[ $code == "$wanted" ]] || fail "exit code $code instead of $wanted: $* ($(head -n 3 err | tr '\n' ' '))"
}

# refused <code> <words on stderr> <command...>: nothing goes to stdout.
refused() {
    local wanted=$1 words=$2
    shift 2
    expect_code "$wanted" "$@"
    grep -qF -- "$words" err || fail "no '$words' on stderr: $* ($(head -n 3 err | tr '\n' ' '))"
    [[ ! -s out ]] || fail "refused, but printed to stdout: $*"
}

shows() { grep -qF -- "$1" out || fail "no '$1' in the output of: ${*:2}"; }

# explains <python expression on the answer a> <arguments of belay explain...>
judge_names='p = a.get("plan")'
explains() {
    local expression=$1
    shift
    expect_code 0 "$belay" explain --json "$@"
    judge "$expression" "belay explain $*"
}

costs() { explains "p['footprint_bytes'] == $1" "${@:2}"; }
answers() { explains "not a['ok'] and p is None and a['refusal']['code'] == $1" "${@:2}"; }

# --- the command itself ---------------------------------------------------------------------------

check_help_and_version() {
    expect_code 0 "$belay" --version
    grep -qE '^belay [0-9]+\.[0-9]+\.[0-9]+, AscendCL interface 1\.17\.0$' out || fail "version: $(cat out)"
    expect_code 1 "$belay"
    grep -qF 'Usage: belay COMMAND' err || fail "belay alone shows no help"
    expect_code 0 "$belay" --help
    shows 'belay explain 2M --policy HUGE_ONLY' belay --help
    local command
    for command in run explain rule products doctor; do
        expect_code 0 "$belay" "$command" --help
        shows "Usage: belay $command" "belay $command --help"
        shows 'Examples:' "belay $command --help"
        [[ ! -s err ]] || fail "belay $command --help prints to stderr"
    done
    refused 2 "did you mean explain" "$belay" explan
    refused 2 "no command 'zzzzzz'" "$belay" zzzzzz
    refused 2 '--wrong' "$belay" --wrong
}

# --- explain --------------------------------------------------------------------------------------

check_documented_costs() {
    costs 4194304 2M --policy HUGE_ONLY
    costs 2097152 2M --policy HUGE_ONLY --product 950
    costs 2097152 2M --policy HUGE_ONLY --api align32
    costs 2097152 2M --policy HUGE_ONLY --api withcfg
    costs 2097152 2097120 --policy HUGE_ONLY
    costs 2097152 1 --policy HUGE_ONLY
    costs 2147483648 1.9G --policy HUGE1G_ONLY
    costs 2147483648 1.9G --policy ACL_MEM_MALLOC_HUGE1G_ONLY_P2P
    costs 1073741824 1 --policy 6
    costs 1052672 1M
    costs 2097152 1048577
    costs 4096 1 --policy NORMAL_ONLY
    costs 2097152 1 --policy HUGE_FIRST_P2P
    costs 4096 1 --api host
    costs 45056 40K --api dvpp
    explains "p['page_table_entries'] == 512" 1G --policy HUGE_ONLY --api align32
    explains "p['page_table_entries'] == 513" 1G --policy HUGE_ONLY
    explains "p['page_table_entries'] == 1" 1G --policy HUGE1G_ONLY
    explains "p['bytes'] == 64 and p['padding_bytes'] == 32" 1
    explains "p['bytes'] == 32 and p['padding_bytes'] == 0" 1 --product 950
    explains "p['page'] == 'normal'" 1M
    explains "p['page'] == 'huge_2m'" 1048577
    explains "p['page'] == 'normal'" 2097151 --policy 99
    explains "p['page'] == 'huge_2m'" 2M --policy 99
    explains "p['waste_bytes'] == 2097152 and p['waste_percent'] == 50" 2M --policy HUGE_ONLY
}

check_shortage() {
    explains "p['when_short']['fallback'] is None and p['when_short']['error']['code'] == 207001" 2M --policy HUGE_ONLY
    explains "p['when_short']['fallback']['footprint_bytes'] == 2101248 and p['when_short']['fallback']['pages'] == 513" 2M
    explains "p['when_short']['error']['code'] == 0xA002800C" 2M --api himpi
    explains "not p['fits_empty_device']" 100G
    explains "p['fits_empty_device']" 100G --product 950
}

check_policies() {
    local spelling
    for spelling in 'HUGE_ONLY|HIGH_BAND_WIDTH' 'huge_only | high' 0x1001 4097 '1|0x1000' \
        'ACL_MEM_MALLOC_HUGE_ONLY|ACL_MEM_TYPE_HIGH_BAND_WIDTH'; do
        explains "a['policy']['value'] == 4097 and p['footprint_bytes'] == 2097152" 1 --policy "$spelling"
    done
    explains "p['read_only'] and not p['p2p']" 1 --policy USER_SPACE_READONLY
    explains "not p['read_only']" 1 --policy USER_SPACE_READONLY --product IPV350
    explains "p['p2p'] and not p['read_only']" 1 --policy NORMAL_ONLY_P2P
    explains "not p['p2p'] and 'M-62' in [r['id'] for r in a['rules']]" 1 --policy HUGE_FIRST_P2P --api cached
    refused 2 'did you mean HUGE_ONLY' "$belay" explain 1 --policy HUGE_ONLi
    refused 2 'empty part' "$belay" explain 1 --policy 'HUGE_ONLY|'
    refused 2 '32-bit number' "$belay" explain 1 --policy 4294967296
    refused 2 'takes no policy' "$belay" explain 1 --api host --policy HUGE_ONLY
}

check_refusals_are_answers() {
    answers 100000 0
    answers 100000 18446744073709551552
    answers 207001 18446744073709551551
    answers 107000 18446744073709551615 --api withcfg
    answers 207000 1G --policy HUGE1G_ONLY --product 310P
    answers 100000 1G --policy HUGE1G_ONLY --product IPV350
    answers 207000 1 --policy HUGE_ONLY_P2P --product 310B
    answers 207000 1 --policy HUGE1G_ONLY_P2P --product 310P --form RC
    answers 207000 1 --policy 'HUGE1G_ONLY|READONLY'
    answers 207000 1 --api dvpp --product 950
    answers 207000 1 --api withcfg --product IPV350
    answers 0xA0028008 1 --api himpi --product 910
    answers 0xA0028003 0 --api himpi
    answers 0xA002800C 17G --api hi_mpi_dvpp_malloc
    explains "a['refusal']['name'] == 'ACL_ERROR_RT_FEATURE_NOT_SUPPORT' and a['refusal']['rule'] == 'M-70'" 1 --policy 6 --product 910
    expect_code 0 "$belay" explain 0
    shows '100000 ACL_ERROR_INVALID_PARAM' explain 0
    shows 'M-82' explain 0
}

check_json() {
    local arguments
    for arguments in '2M' '0' '1 --api himpi' '2M --all-products' '0 --all-products'; do
        # shellcheck disable=SC2086  # several words
        expect_code 0 "$belay" explain --json $arguments
        python3 -m json.tool out >/dev/null || fail "not JSON: belay explain $arguments"
    done
}

check_sizes() {
    local pair
    for pair in 1:1 4096:4096 0x1000:4096 1K:1024 1k:1024 0.5K:512 1.5MB:1572864 2mb:2097152 2MiB:2097152 \
        1.9G:2040109465 7B:7 0.001K:1 1T:1099511627776; do
        explains "a['asked_bytes'] == ${pair#*:}" "${pair%:*}"
    done
    local wrong
    for wrong in abc -1 1.5 1.G .5G 1X 1KK 20000000000G 18446744073709551616 '' ' '; do
        refused 2 'is not a size' "$belay" explain "$wrong"
    done
    refused 2 'SIZE is required' "$belay" explain
    refused 2 '--wrong' "$belay" explain 1 --wrong
    refused 2 'no product' "$belay" explain 1 --product A9
    refused 2 'no function' "$belay" explain 1 --api mallocx
    refused 2 'no form' "$belay" explain 1 --form XX
    refused 2 'has no RC form' "$belay" explain 1 --product A2 --form RC
    refused 2 '--all-products' "$belay" explain 1 --product A2 --all-products
}

check_physical() {
    costs 2097152 1 --api physical
    costs 2097152 2097152 --api aclrtMallocPhysical
    costs 4194304 2097153 --api physical
    costs 1073741824 1 --api physical --attr HBM_HUGE1G
    costs 2147483648 1073741825 --api physical --attr ACL_MEM_HUGE1G
    explains "p['granularity_bytes'] == 2097152 and p['pages'] == 2 and p['waste_bytes'] == 1048576" 3M --api physical
    explains "p['granularity_bytes'] == 1073741824 and p['pages'] == 1" 3M --api physical --attr HUGE1G
    explains "p['waste_bytes'] == 0 and a['hint'] is None" 4M --api physical
    explains "'4194304 bytes' in a['hint']" 3M --api physical
    explains "p['when_short']['error']['code'] == 207001 and p['when_short']['fallback'] is None" 1 --api physical
    explains "not p['fits_empty_device']" 100G --api physical
    explains "p['fits_empty_device']" 100G --api physical --location host
    # What is asked for is not always what is reported.
    explains "p['reported'] == {'value': 4, 'name': 'ACL_HBM_MEM_HUGE'}" 1 --api physical --attr HUGE
    explains "p['reported']['name'] == 'ACL_MEM_HUGE'" 1 --api physical --attr HUGE --location host
    explains "p['reported']['name'] == 'ACL_DDR_MEM_P2P_NORMAL' and p['p2p']" 1 --api physical --attr P2P_NORMAL --location host
    local spelling
    for spelling in ACL_HBM_MEM_NORMAL HBM_MEM_NORMAL hbm_normal hbm-normal 5 0x5; do
        explains "a['attribute']['value'] == 5 and p['footprint_bytes'] == 2097152" 1 --api physical --attr "$spelling"
    done
    for spelling in host HOST ACL_MEM_LOCATION_TYPE_HOST; do
        explains "a['location'] == 'ACL_MEM_LOCATION_TYPE_HOST'" 1 --api physical --location "$spelling"
    done
    explains "{'V-49', 'V-45', 'V-116', 'V-119', 'V-37', 'V-198', 'V-118'} == {r['id'] for r in a['rules']}" 1 --api physical
    explains "{'V-46', 'V-52', 'V-117'} < {r['id'] for r in a['rules']}" 1 --api physical --attr HUGE1G
    explains "'V-50' in [r['id'] for r in a['rules']]" 1 --api physical --location host
    explains "'V-51' in [r['id'] for r in a['rules']]" 1 --api physical --product 310P

    answers 100000 0 --api physical
    answers 100000 1 --api physical --attr DDR_HUGE
    answers 100000 1 --api physical --attr HBM_P2P_HUGE
    answers 100000 1 --api physical --attr 18
    answers 207000 1 --api physical --attr HUGE1G --location numa
    answers 207000 1 --api physical --attr HUGE1G --product 950
    answers 207000 1 --api physical --product IPV350
    answers 207001 18446744073709551615 --api physical
    explains "a['refusal']['rule'] == 'V-85'" 1 --api physical --product 310P --form RC
    explains "a['refusal']['rule'] == 'V-101'" 0 --api physical --product 310P --form RC
    explains "p is not None" 1 --api physical --attr DDR_HUGE --location host

    refused 2 'did you mean HBM_HUGE' "$belay" explain 1 --api physical --attr HBM_HUG
    refused 2 'no location' "$belay" explain 1 --api physical --location moon
    refused 2 'takes no policy' "$belay" explain 1 --api physical --policy HUGE_ONLY
    refused 2 'takes no attribute' "$belay" explain 1 --attr HUGE
    refused 2 'takes no attribute' "$belay" explain 1 --api host --location host
    refused 2 'did you mean physical' "$belay" explain 1 --api physicl

    expect_code 0 "$belay" explain 3M --api physical
    local line
    for line in 'function            aclrtMallocPhysical' 'attribute           ACL_HBM_MEM_HUGE (4)' \
        'location            ACL_MEM_LOCATION_TYPE_DEVICE' 'granularity         2097152 bytes (2 MB)' \
        'what it costs       4194304 bytes (4 MB)' 'wasted              1048576 bytes (1 MB), 25.0 % of the cost' \
        'to be mapped        all 4194304 bytes, at a multiple of 2 MB' 'reported as         ACL_HBM_MEM_HUGE (4)'; do
        shows "$line" explain 3M --api physical
    done
    expect_code 0 "$belay" explain 1G --api physical --attr HUGE1G --all-products
    grep -qE '^A2 +1 GB +1 +1073741824 +0 +0\.0 % +reported as ACL_HBM_MEM_HUGE1G$' out || fail "row of A2: $(grep '^A2' out)"
    grep -qE '^950 .*207000 ACL_ERROR_RT_FEATURE_NOT_SUPPORT.*\(V-111\)' out || fail "row of 950: $(grep '^950' out)"
    explains "[e['ok'] for e in a['products']] == [True, True, False, False, False, False, False]" 1G --api physical --attr HUGE1G --all-products
    expect_code 0 "$belay" explain --help
    shows '--attr ATTRIBUTE' explain --help
    shows '--location LOCATION' explain --help
    shows 'belay explain 3M --api physical' explain --help
}

check_text_of_explain() {
    expect_code 0 "$belay" explain 2M --policy HUGE_ONLY
    local line
    for line in 'asked for           2097152 bytes (2 MB)' \
        'function            aclrtMalloc' \
        'policy              ACL_MEM_MALLOC_HUGE_ONLY (1)' \
        'bytes taken         2097184 bytes: 2097152 is a multiple of 32, plus 32 of padding' \
        'page size           2097152 bytes (2 MB)' \
        'page-table entries  2' \
        'what it costs       4194304 bytes (4 MB)' \
        'wasted              2097152 bytes (2 MB), 50.0 % of the cost' \
        'when pages run out  207001 ACL_ERROR_RT_MEMORY_ALLOCATION' \
        'M-50   HUGE_ONLY'; do
        shows "$line" explain 2M
    done
    ! grep -q $'\033' out || fail 'colour in a pipe'
    BELAY_PRODUCT=950 run "$belay" explain 2M --policy HUGE_ONLY
    shows 'what it costs       2097152 bytes' 'explain with BELAY_PRODUCT'
}

check_all_products() {
    expect_code 0 "$belay" explain 1G --policy HUGE1G_ONLY --all-products
    [[ $(grep -cE '^(A2|A3|950|310P|910|310B|IPV350) ' out) == 7 ]] || fail 'not one row per product'
    grep -qE '^A2 +1073741824 +1 GB +1 +1073741824 +0 +0\.0 %$' out || fail "row of A2: $(grep '^A2' out)"
    grep -qE '^IPV350 .*100000 ACL_ERROR_INVALID_PARAM.*\(M-67\)' out || fail "row of IPV350: $(grep '^IPV' out)"

    # Every function with every policy on every product: an answer that adds up, with rules that exist.
    local api policy number=0
    for api in malloc align32 cached withcfg taskscheduler; do
        for policy in 0 1 2 3 4 5 6 7 8 0x100 0x1100 0x101 0x100000 0x101001 0x100006; do
            "$belay" explain 3000001 --api "$api" --policy "$policy" --all-products --json >"all.$((number += 1)).json"
        done
    done
    for api in host hostwithcfg dvpp himpi; do
        "$belay" explain 3000001 --api "$api" --all-products --json >"all.$((number += 1)).json"
        "$belay" explain 3000001 --api "$api" --all-products --form RC --json >"all.$((number += 1)).json"
    done
    for policy in 0 2 4 5 10 12 13 14 15 16 17 18; do
        for api in device host numa; do
            "$belay" explain 3000001 --api physical --attr "$policy" --location "$api" --all-products --json >"all.$((number += 1)).json"
        done
    done
    python3 - all.*.json <<'PYTHON' || fail 'some answer does not add up'
import json, sys
for name in sys.argv[1:]:
    answers = json.load(open(name))["products"]
    assert len(answers) == 7, name
    for a in answers:
        where = (a["function"], a.get("policy", a.get("attribute")), a["product"]["key"], a["form"])
        plan, refusal = a["plan"], a["refusal"]
        assert a["ok"] == (plan is not None) == (refusal is None), where
        assert a["rules"] and all(r["text"] for r in a["rules"]), (where, a["rules"])
        if plan:
            assert plan["footprint_bytes"] == plan["pages"] * plan.get("unit_bytes", plan["page_bytes"]), where
            assert plan["waste_bytes"] == plan["footprint_bytes"] - a["asked_bytes"] >= 0, where
            assert "bytes" not in plan or 0 <= plan["bytes"] - a["asked_bytes"] < 64, where
        else:
            assert refusal["code"] and refusal["name"] and refusal["rule"], where
PYTHON
}

# --- rule -----------------------------------------------------------------------------------------

check_rule() {
    local id
    for id in M-48 M48 m48 m-48; do
        expect_code 0 "$belay" rule "$id"
        grep -q '^M-48  HUGE_FIRST: ' out || fail "belay rule $id: $(cat out)"
        shows 'section "Pages by policy" (docs/rules/01-allocate-and-copy.md)' "rule $id"
    done
    expect_code 0 "$belay" rule M-82 R-52 C-7
    [[ $(grep -cE '^(M-82|R-52|C-7)  ' out) == 3 ]] || fail 'three rules asked for'

    refused 1 'the nearest are M-' "$belay" rule M-99999
    refused 1 'M-48' "$belay" rule 48
    refused 1 'ids look like M-48' "$belay" rule nonsense
    refused 2 'no rule given' "$belay" rule
    expect_code 1 "$belay" rule M-48 M-99999
    grep -q '^M-48  ' out || fail 'the known rule is not printed beside the unknown one'

    expect_code 0 "$belay" rule --list
    local all
    all=$(grep -cE '^  [A-Z]-[0-9]+  ' out)
    ((all > 300)) || fail "only $all rules"
    expect_code 0 "$belay" rule --list M
    grep -qE '^  M-48 +HUGE_FIRST' out || fail 'M-48 is not in its chapter'
    ! grep -qE '^  R-[0-9]' out || fail 'rules of R in chapter M'
    cp out by_letter
    for id in 01 1 allocate-and-copy 01-allocate-and-copy.md; do
        expect_code 0 "$belay" rule --list "$id"
        cmp -s out by_letter || fail "chapter $id"
    done
    refused 1 'no chapter' "$belay" rule --list Q
}

# --- colours --------------------------------------------------------------------------------------

without_codes() { sed $'s/\033\\[[0-9]*m//g' "$1"; }

# in_colours <code> <command...>: a terminal gets the same words in the same columns, some of them coloured; a file
# gets no codes.
in_colours() {
    local code=$1
    shift
    expect_code "$code" "$@"
    cat out err >plain
    ! has_codes plain || fail "codes in a file: $*"
    on_terminal "$@"
    has_codes seen || fail "no colours on a terminal: $*"
    cmp -s <(without_codes seen) plain || fail "other words or columns in colours: $* ($(diff <(without_codes seen) plain | head -n 5))"
}

check_who_gets_colours() {
    local setting
    expect_code 0 "$belay" explain 2M
    for setting in NO_COLOR=1 NO_COLOR=0 TERM=dumb; do
        on_terminal "$setting" "$belay" explain 2M
        cmp -s seen out || fail "$setting: $(cat -v seen)"
    done
    on_terminal NO_COLOR=1 "$belay" explan
    ! has_codes seen || fail "NO_COLOR: $(cat -v seen)"
    on_terminal NO_COLOR= "$belay" explain 2M
    has_codes seen || fail 'no colours with an empty NO_COLOR'
    # One stream may be a terminal and the other not.
    on_terminal sh -c '"$1" explan 2>err; "$1" rule M-48 >out' sh "$belay"
    ! has_codes err || fail 'codes in a file of messages'
    ! has_codes out || fail 'codes in a file of answers'
    # For programs, wherever it goes.
    on_terminal "$belay" explain 0 --json
    ! has_codes seen || fail 'codes in JSON'
}

check_colours() {
    local machines=$work/machines
    printf '%s\n' 'int aclrtMalloc(), aclrtNoSuchThing();' 'int main() { return aclrtMalloc() + aclrtNoSuchThing(); }' >calls.c
    cc -w -c calls.c -o calls.o || fail 'no compiler'
    in_colours 0 "$belay" explain 2M --policy HUGE_ONLY
    in_colours 0 "$belay" explain 0
    in_colours 0 "$belay" explain 4G --policy HUGE1G_ONLY --all-products
    in_colours 0 "$belay" rule M-48 M-49
    in_colours 0 "$belay" rule --list C
    in_colours 0 "$belay" products
    in_colours 0 "$belay" products A3
    in_colours 0 env BELAY_MACHINE=nobody BELAY_MACHINES="$machines" "$belay" smi
    in_colours 1 "$belay" check-program --all ./calls.o
    # Messages go to another stream than answers.
    in_colours 2 "$belay" explan
    in_colours 2 "$belay" explain 1 --policy LARGE
    in_colours 1 "$belay" rule M-99999
    in_colours 127 "$belay" run ./no-such-program

    # What the doctor finds may change from one moment to the next.
    on_terminal "$belay" doctor
    has_codes seen || fail 'no colours from the doctor'
    grep -q $'^  \033\\[32mok     \033\\[0m  ' seen || fail "no green ok from the doctor: $(head -n 3 seen | cat -v)"
    run "$belay" doctor
    ! has_codes out || fail 'codes from the doctor in a file'
}

# --- run ------------------------------------------------------------------------------------------

check_check_program() {
    printf '%s\n' 'int aclrtMalloc(), aclmdlLoadFromFile(), aclrtNoSuchThing();' \
        'int main() { return aclrtMalloc() + aclmdlLoadFromFile() + aclrtNoSuchThing(); }' >needs.c
    cc -w -c needs.c -o needs.o || fail 'no compiler'
    expect_code 1 "$belay" check-program ./needs.o
    grep -q 'needs 3 functions of' out || fail "not counted: $(head -n 1 out)"
    grep -q '^    aclmdlLoadFromFile$' out || fail 'what is not run is not listed'
    grep -q '^    aclrtNoSuchThing$' out || fail 'what is missing is not listed'
    ! grep -q '^    aclrtMalloc$' out || fail 'what works is listed without --all'
    expect_code 1 "$belay" check-program --all needs.o
    grep -q '^    aclrtMalloc$' out || fail 'what works is not listed with --all'
    expect_code 1 "$belay" check-program --json needs.o
    python3 -c 'import json; a = json.load(open("out"))
assert (a["works"], a["not_run"], a["missing"]) == (["aclrtMalloc"], ["aclmdlLoadFromFile"], ["aclrtNoSuchThing"]), a' ||
        fail 'the JSON is wrong'
    expect_code 0 "$belay" check-program /bin/sh
    [[ -z $program ]] || expect_code 0 "$belay" check-program "$program"
    refused 2 'is not a 64-bit program or library' "$belay" check-program ./needs.c
    refused 2 "there is no program" "$belay" check-program no-such-program-anywhere
    # Files that are not what they say they are.
    for bytes in 0 1 40 63 64 65 200 1000; do
        head -c $bytes needs.o >cut.o
        run "$belay" check-program ./cut.o
        ((code <= 2)) || fail "exit code $code for a file of $bytes bytes"
    done
}

check_run_settings() {
    # shellcheck disable=SC2016  # for the shell that is started
    {
        expect_code 0 "$belay" run --hbm 4G -- sh -c 'echo $BELAY_HBM'
        [[ $(cat out) == 4G ]] || fail "BELAY_HBM is '$(cat out)'"
        expect_code 0 "$belay" run --product=A3 --devices 2 sh -c 'echo $BELAY_PRODUCT $BELAY_DEVICES $BELAY_SUMMARY'
        [[ $(cat out) == 'A3 2 on' ]] || fail "settings are '$(cat out)'"
        expect_code 0 "$belay" run --quiet -- sh -c 'echo $BELAY_SUMMARY'
        [[ $(cat out) == off ]] || fail "--quiet: '$(cat out)'"
        expect_code 0 "$belay" run --summary off -- sh -c 'echo $BELAY_SUMMARY'
        [[ $(cat out) == off ]] || fail "--summary off: '$(cat out)'"
        BELAY_SUMMARY=off expect_code 0 "$belay" run -- sh -c 'echo $BELAY_SUMMARY'
        [[ $(cat out) == off ]] || fail "BELAY_SUMMARY=off: '$(cat out)'"
    }
    # Everything behind the program belongs to the program.
    expect_code 0 "$belay" run -- echo --hbm 4X --help -- x
    [[ $(cat out) == '--hbm 4X --help -- x' ]] || fail "arguments: '$(cat out)'"
    expect_code 0 "$belay" run echo --hbm 4X -- x
    [[ $(cat out) == '--hbm 4X -- x' ]] || fail "arguments without --: '$(cat out)'"
    expect_code 7 "$belay" run -- sh -c 'exit 7'

    refused 2 "--hbm has the value '4X'" "$belay" run --hbm 4X -- true
    refused 2 'a multiple of 2 MB' "$belay" run --hbm 3M -- true
    refused 2 "--product has the value 'A9'" "$belay" run --product A9 -- true
    refused 2 '(rule M-437)' "$belay" run --form RC -- true
    BELAY_PIN=maybe refused 2 "the environment variable BELAY_PIN has the value 'maybe'" "$belay" run -- true
    refused 2 'did you mean --hbm' "$belay" run --hmb 4G -- true
    refused 2 '--quiet' "$belay" run --quiet --summary on -- true
    refused 2 '--product' "$belay" run --product
}

check_run_library() {
    # shellcheck disable=SC2016
    {
        expect_code 0 "$belay" run -q -- sh -c 'echo "$LD_PRELOAD"; echo "$LD_LIBRARY_PATH"'
        local preload folder
        { read -r preload && read -r folder; } <out
        [[ $preload == "$folder/libascendcl.so" && -f $preload ]] || fail "library: $preload in $folder"
        LD_LIBRARY_PATH=/nowhere expect_code 0 "$belay" run -q -- "$belay" run -q -- sh -c 'echo "$LD_PRELOAD $LD_LIBRARY_PATH"'
        [[ $(cat out) == "$preload $folder:/nowhere" ]] || fail "twice: $(cat out)"
        # Tools that preload their own functions stay in front.
        cp "$preload" tool.so
        LD_PRELOAD=$work/tool.so expect_code 0 "$belay" run -q -- sh -c 'echo "$LD_PRELOAD"'
        [[ $(cat out) == "$work/tool.so:$preload" ]] || fail "order: $(cat out)"
    }
}

check_run_installed_tree() {
    local library
    library=$(dirname "$belay")/../lib64/libascendcl.so
    [[ -f $library ]] || library=$(dirname "$belay")/../lib/libascendcl.so
    mkdir -p 'tree of mine/bin' 'tree of mine/lib64' alone/bin
    cp "$belay" 'tree of mine/bin/belay'
    cp "$belay" alone/bin/belay
    cp "$library" 'tree of mine/lib64/libascendcl.so'
    # shellcheck disable=SC2016
    {
        unset ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME
        expect_code 0 'tree of mine/bin/belay' run -q -- sh -c 'echo "${ASCEND_HOME_PATH-none}"; grep -c "tree of mine/lib64/libascendcl.so" /proc/$$/maps'
        [[ $(head -n 1 out) == none && $(tail -n 1 out) -gt 0 ]] || fail "tree with a space: $(cat out err)"
        touch 'tree of mine/set_env.sh'
        expect_code 0 'tree of mine/bin/belay' run -q -- sh -c 'echo "$ASCEND_HOME_PATH|$ASCEND_TOOLKIT_HOME"'
        [[ $(cat out) == "$work/tree of mine|$work/tree of mine" ]] || fail "tree: $(cat out)"
        ASCEND_HOME_PATH=/mine expect_code 0 'tree of mine/bin/belay' run -q -- sh -c 'echo "$ASCEND_HOME_PATH"'
        [[ $(cat out) == /mine ]] || fail "ASCEND_HOME_PATH was set already: $(cat out)"
    }
    refused 2 'libascendcl.so is neither' alone/bin/belay run -- true
}

check_run_programs() {
    refused 2 'which program' "$belay" run
    refused 2 'which program' "$belay" run --product A3 --
    refused 127 "no program 'no_such_program'" "$belay" run -- no_such_program
    refused 127 "no program './no_such_program'" "$belay" run -- ./no_such_program
    refused 127 "no program 'run'" "$belay" run -- run
    refused 126 'is a directory' "$belay" run -- "$work"
    : >plain
    refused 126 'is not executable' "$belay" run -- ./plain
    printf '#!/bin/sh\necho my_script "$1"\n' >my_script
    printf '#!/no/such/interpreter\n' >orphan
    printf 'echo bare\n' >bare
    chmod +x my_script orphan bare
    expect_code 0 "$belay" run -- ./my_script x
    [[ $(cat out) == 'my_script x' ]] || fail "script: $(cat out)"
    expect_code 0 "$belay" run -- ./bare
    [[ $(cat out) == bare ]] || fail "script without #!: $(cat out)"
    refused 126 'interpreter' "$belay" run -- ./orphan
    refused 127 'did you mean ./my_script' "$belay" run -- my_script

    # The header of an ELF file without program headers, as of a static program; then one of 32 bits.
    head -c 64 "$belay" >static
    printf '\0\0' | dd of=static bs=1 seek=56 conv=notrunc status=none
    cp static narrow
    printf '\1' | dd of=narrow bs=1 seek=4 conv=notrunc status=none
    chmod +x static narrow
    refused 2 'is statically linked' "$belay" run -- ./static
    refused 2 'another processor' "$belay" run -- ./narrow
}

check_run_program_with_memory() {
    [[ -n $program ]] || return 0
    expect_code 0 "$belay" run -- "$program"
    grep -qE '^belay: memory of .* on Ascend910B3 \(Atlas A2, 8 devices of 60\.97 GB\)$' err || fail "no summary of $program"
    grep -qE '^belay:   0 +([24] [KM]B|all) +[0-9.]+ [KMG]B' err || fail "no device in the summary: $(head -n 5 err)"
    expect_code 0 "$belay" run --quiet -- "$program"
    ! grep -q 'belay: memory of' err || fail '--quiet prints a summary'
}

check_explain_agrees_with_the_library() {
    [[ -n $program ]] || return 0
    run "$belay" run --quiet -- "$program"
    [[ $(head -n 1 out) == 'function size policy code cost page' ]] || return 0
    python3 - "$belay" "$program" <<'PYTHON' || fail 'explain and the library differ'
import functools, json, subprocess, sys
belay, program = sys.argv[1:]

def output(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout

@functools.lru_cache(maxsize=None)
def answers(function, size, policy, *which):
    command = [belay, "explain", size, "--api", function, *which, "--json"]
    if policy != "-":
        command += ["--policy", policy]
    return json.loads(output(*command))

def explained(function, size, policy, product, form):
    if form == "EP":  # of all products at once
        answer = next(each for each in answers(function, size, policy, "--all-products", "--form", form)["products"]
                      if each["product"]["key"] == product)
    else:
        answer = answers(function, size, policy, "--product", product, "--form", form)
    assert answer["form"] == form, answer
    plan = answer["plan"]
    if not plan:
        return answer["refusal"]["code"], 0, 0
    if not plan["fits_empty_device"]:
        return plan["when_short"]["error"]["code"], 0, 0
    on_host = "Host" in function and form == "EP"
    return 0, 0 if on_host else plan["footprint_bytes"], plan["page_bytes"]

compared = differing = 0
for product, form in ("A2", "EP"), ("950", "EP"), ("310P", "RC"), ("910", "EP"), ("IPV350", "EP"):
    lines = output(belay, "run", "--quiet", "--product", product, "--form", form, "--pin", "best-effort", "--", program)
    for line in lines.splitlines()[1:]:
        function, size, policy, code, cost, page = line.split()
        says = explained(function, size, policy, product, form)
        does = int(code), int(cost), int(page)
        if product == "IPV350":  # has no function to ask for the page size
            says, does = says[:2], does[:2]
        compared += 1
        if says != does:
            differing += 1
            print(f"{function}({size}, {policy}) on {product} {form}: explained {says}, found {does}", file=sys.stderr)
sys.exit(0 if compared > 1000 and differing == 0 else 1)
PYTHON
}

check_explain_of_physical_agrees_with_the_library() {
    [[ -n $program ]] || return 0
    run "$belay" run --quiet --pin best-effort -- "$program" physical
    [[ $(head -n 1 out) == 'location attribute size code cost granularity reported' ]] || return 0
    python3 - "$belay" "$program" <<'PYTHON' || fail 'explain and the library differ'
import functools, json, subprocess, sys
belay, program = sys.argv[1:]

def output(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout

@functools.lru_cache(maxsize=None)
def answers(location, attribute, size, *which):
    return json.loads(output(belay, "explain", size, "--api", "physical", "--attr", attribute, "--location", location,
                             "--json", *which))

def explained(location, attribute, size, product, form):
    if form == "EP":  # of all products at once
        answer = next(each for each in answers(location, attribute, size, "--all-products")["products"]
                      if each["product"]["key"] == product)
    else:
        answer = answers(location, attribute, size, "--product", product, "--form", form)
    plan = answer["plan"]
    if not plan:
        return answer["refusal"]["code"], 0, 0, 0
    if not plan["fits_empty_device"]:
        return plan["when_short"]["error"]["code"], 0, 0, 0
    return (0, plan["footprint_bytes"] if location == "device" else 0, plan["granularity_bytes"],
            plan["reported"]["value"])

compared = differing = 0
for product, form in ("A2", "EP"), ("A3", "EP"), ("950", "EP"), ("310P", "EP"), ("310B", "RC"), ("IPV350", "EP"):
    lines = output(belay, "run", "--quiet", "--product", product, "--form", form, "--pin", "best-effort", "--", program,
                   "physical")
    for line in lines.splitlines()[1:]:
        location, attribute, size, code, cost, granularity, reported = line.split()
        if form != "EP" and location != "device":
            continue  # it has none of this anyway
        says = explained(location, attribute, size, product, form)
        does = int(code), int(cost), int(granularity), int(reported)
        # More than any machine has: the plan knows nothing of the host's memory.
        if location != "device" and does[0] == 207001 and says[0] == 0:
            says = 207001, 0, 0, 0
        compared += 1
        if says != does:
            differing += 1
            print(f"{location}, {attribute}, {size} on {product} {form}: explained {says}, found {does}", file=sys.stderr)
sys.exit(0 if compared > 1000 and differing == 0 else 1)
PYTHON
}

run_checks
finish 'belay'
