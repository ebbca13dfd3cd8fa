#!/usr/bin/env bash
# `belay toolkit`: what it lays out is where programs look, and it takes back just that. A toolkit that is there stays.
#
# Usage: C23_toolkit_test.sh <root of an installation>

source "$(dirname "${BASH_SOURCE[0]}")/install_tree.sh"
belay=$root/bin/belay
place=$work/Ascend
cd "$work"
write_client client.c

check_paths_of_programs() {
    succeeds 'install' "$belay" toolkit install --root "$place"
    local path
    for path in ascend-toolkit/latest/include/acl/acl.h latest/lib64/libascendcl.so nnae/latest/lib64/libascendcl.so \
        cann/set_env.sh ascend-toolkit/set_env.sh driver/version.info driver/lib64/driver \
        "latest/$arch-linux/ascend_toolkit_install.info" latest/compiler/version.info latest/version.cfg \
        latest/share/info/runtime/version.info ascend-toolkit/latest/bin/npu-smi; do
        [[ -e $place/$path ]] || fail "no $path"
    done
    grep -qw Version "$place/latest/compiler/version.info" || fail 'the compiler has no version'
    grep -q '^runtime_running_version=\[[0-9.]*:[0-9.]*\]$' "$place/latest/version.cfg" || fail 'version.cfg'
    grep -q '^Version=' "$place/driver/version.info" || fail 'the driver has no version'
    succeeds 'a program with fixed paths' bash -euc "
        '$CC' client.c -I'$place/ascend-toolkit/latest/include' -L'$place/ascend-toolkit/latest/lib64' -lascendcl -o fixed
        source '$place/ascend-toolkit/set_env.sh'; ./fixed; npu-smi info | grep -q 910B3"
    same 'env' "$("$belay" toolkit env --prefix "$place")" ". '$place/set_env.sh'"
    succeeds 'install again' "$belay" toolkit install --root "$place"
    succeeds 'remove' "$belay" toolkit remove --root "$place"
    [[ ! -e $place ]] || fail "something is left: $(find "$place" | head -3)"
    local status=0
    "$belay" toolkit remove --root "$place" >out 2>&1 || status=$?
    same 'remove what is not there' "$status" 1
}

check_others_stay() {
    mkdir -p theirs/ascend-toolkit/latest/lib64
    echo theirs >theirs/ascend-toolkit/latest/lib64/libascendcl.so
    local before status=0
    before=$(find theirs | sort)
    "$belay" toolkit install --root "$work/theirs" >out 2>&1 || status=$?
    same 'over a toolkit' "$status" 2
    grep -q "is not belay's" out || fail "no reason: $(cat out)"
    same 'what was there' "$(find theirs | sort)" "$before"

    succeeds 'beside a file' "$belay" toolkit install --root "$place"
    echo mine >"$place/driver/mine"
    succeeds 'install again around a file' "$belay" toolkit install --root "$place"
    [[ -e $place/latest/lib64/libascendcl.so ]] || fail 'installed again, and not there'
    succeeds 'remove around a file' "$belay" toolkit remove --root "$place"
    same 'what is left' "$(find "$place" -type f -o -type l)" "$place/driver/mine"
    rm -rf "$place"

    succeeds 'beside a changed file' "$belay" toolkit install --root "$place"
    echo changed >>"$place/driver/version.info"
    before=$(find "$place" | sort) status=0
    "$belay" toolkit install --root "$place" >out 2>&1 || status=$?
    same 'over a changed file' "$status" 2
    same 'all that was there' "$(find "$place" | sort)" "$before"
    succeeds 'remove around a changed file' "$belay" toolkit remove --root "$place"
    same 'what is left of it' "$(find "$place" -type f -o -type l)" "$place/driver/version.info"
    rm -rf "$place"
}

check_user_without_a_home() { # nothing may need root, or a home that can be written
    ((EUID == 0)) && command -v setpriv >/dev/null || return 0
    mkdir -p "$work/home" "$work/scratch"
    chmod 755 "$work" && chmod 555 "$work/home" && chmod 777 "$work/scratch"
    if ! setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$belay"; then
        cp -a "$root" "$work/reachable"
        local belay=$work/reachable/bin/belay
    fi
    "$CC" client.c -I"$root/include" -L"$root/lib64" -lascendcl -o client
    local as=(setpriv --reuid 65534 --regid 65534 --clear-groups env -u ASCEND_PROCESS_LOG_PATH HOME="$work/home"
        TMPDIR="$work/scratch")
    succeeds 'run, as nobody' "${as[@]}" "$belay" run -- "$work/client"
    succeeds 'npu-smi, as nobody' "${as[@]}" "${belay%/*}/npu-smi" info
    succeeds 'a toolkit of their own' "${as[@]}" "$belay" toolkit install --root "$work/scratch/Ascend"
    succeeds 'and away' "${as[@]}" "$belay" toolkit remove --root "$work/scratch/Ascend"
    if "${as[@]}" "$belay" toolkit install --root /root/Ascend >out 2>&1; then fail 'installed where nobody may write'; fi
    grep -q -- '--root' out || fail "no advice: $(cat out)"
    same 'the home' "$(ls -A "$work/home")" ''
}

run_checks
finish toolkit
