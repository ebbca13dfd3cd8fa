#!/usr/bin/env bash
# C4, R244: version.cfg, the place of the Python module, and version queries after sourcing set_env.sh.
#
# Usage: C4_R244_version_and_python_dir.sh <root of an installation>

source "$(dirname "${BASH_SOURCE[0]}")/install_tree.sh"

check_C4_version_cfg() {
    [[ -f $root/version.cfg ]] || fail 'C4: no version.cfg'
    # The way build files read it.
    version=$(awk -F= '{ gsub(/\[|\]/, "", $0); if ($1 == "runtime_running_version") print $2 }' "$root/version.cfg")
    version=${version%%:*}
    [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "C4: runtime_running_version is '$version'"
    same 'C4: version.info' "$(sed -n 's/^Version=//p' "$root/share/info/runtime/version.info")" "$version"
}

check_C4_python_directory() {
    [[ -d $root/python/site-packages ]] || fail 'C4: no python/site-packages'
    local found
    mkdir "$work/python"
    cp -a "$root" "$work/tree"
    echo 'where = "found"' >"$work/tree/python/site-packages/belay_probe.py"
    found=$(source "$work/tree/set_env.sh" && PYTHONDONTWRITEBYTECODE=1 python3 -c 'import belay_probe; print(belay_probe.where)')
    same 'C4: a module put there' "$found" found
}

check_C4_python_modules() {
    local python=${ACL_TEST_PYTHON:-python3} place found
    # In a tree that was moved, through the script and through the older place; the library beside it is used.
    for place in python/site-packages pyACL/python/site-packages/acl; do
        found=$(unset LD_LIBRARY_PATH && cd / && PYTHONPATH=$work/tree/$place PYTHONDONTWRITEBYTECODE=1 "$python" -c '
from acl.rt import memcpy
import acl, belay
with belay.device(0), belay.malloc(64) as memory:
    memory.fill(7)
    print(memory.tobytes(0, 3), open("/proc/self/maps").read().count("/tree/lib64/libascendcl.so") > 0)')
        same "C4: acl and belay from $place" "$found" "b'\x07\x07\x07' True"
    done
    found=$(source "$work/tree/set_env.sh" && "$python" -c 'import acl; print(acl.__file__)')
    same 'C4: acl through set_env.sh' "$found" "$work/tree/python/site-packages/acl.so"
    [[ -f $work/tree/python/site-packages/acl.pyi ]] || fail 'C4: no type stubs'
    [[ -n $(compgen -G "$work/tree/python/site-packages/belay_ascend-*.dist-info/entry_points.txt") ]] ||
        fail 'C4: pytest would not find the plugin'
}

check_R244_version_queries() {
    cat >"$work/version.c" <<'END'
#include <stdio.h>
#include "acl/acl.h"

int main(void) {
    char text[ACL_PKG_VERSION_MAX_SIZE] = "";
    char package[] = "runtime";
    aclCANNPackageVersion parts;
    int32_t number = 0;
    printf("%d ", aclsysGetVersionStr(package, text));
    printf("%s ", text);
    printf("%d ", aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &parts));
    printf("%s ", parts.version);
    printf("%d ", aclsysGetVersionNum(package, &number));
    printf("%d\n", number);
    return 0;
}
END
    (
        source "$root/set_env.sh"
        "$CC" -std=c99 "$work/version.c" -o "$work/version" -I"$ASCEND_HOME_PATH/include" -L"$ASCEND_HOME_PATH/lib64" \
            -lascendcl -Wno-deprecated-declarations
        "$work/version"
    ) >"$work/versions" || fail 'R244: no program that asks for versions'
    local major minor release
    IFS=. read -r major minor release <<<"$version"
    same 'R244: version queries' "$(cat "$work/versions")" \
        "0 $version 0 $version 0 $((major * 10000000 + minor * 100000 + release * 1000))"
    # Without the script the answers are errors, so it is the script that makes them work.
    same 'R244: without set_env.sh' "$(LD_LIBRARY_PATH=$root/lib64 "$work/version" 2>/dev/null | cut -d' ' -f1)" 100003
}

version=
check_C4_version_cfg
check_C4_python_directory
check_C4_python_modules
check_R244_version_queries
finish 'C4, R244'
