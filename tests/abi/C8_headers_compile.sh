#!/usr/bin/env bash
# C8: the headers can be included from C99 and C++11 (and later), from inside an
# extern "C" block, several times, with "private" defined to "public", under
# strict warnings, with the older string layout of the C++ library; and they
# leave behind no macro that is not documented. R1: who includes whom. R3:
# visibility.
#
# Usage: C8_headers_compile.sh [include directory]
# CC and CXX name the compilers; gcc/g++ and clang/clang++ are tried as well
# where the machine has them.

source "$(dirname "${BASH_SOURCE[0]}")/../integration/support.sh"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
include=$(cd "${1:-$here/../../build/release/generated/include}" && pwd)

mapfile -t headers < <(cd "$include" && find . -name '*.h' ! -path ./belay/gtest.h -printf '%P\n' | sort)
if ((${#headers[@]} == 0)); then
    printf 'FAILED: no headers in %s\n' "$include" >&2
    exit 1
fi

expected_headers='acl/acl.h acl/acl_base.h acl/acl_base_mdl.h acl/acl_base_rt.h acl/acl_mdl.h acl/acl_op.h
acl/acl_op_compiler.h acl/acl_prof.h acl/acl_tdt.h acl/acl_tdt_queue.h acl/acl_dump.h acl/ops/acl_cblas.h
acl/acl_rt.h acl/acl_rt_allocator.h acl/acl_rt_api.h acl/dvpp/hi_dvpp.h acl/error_codes/ge_error_codes.h
acl/error_codes/rt_error_codes.h acl/media/hi_dvpp.h acl/ops/acl_dvpp.h hi_dvpp.h'
for header in $expected_headers; do
    [[ -f "$include/$header" ]] || fail "header missing: $header"
done

# ---------------------------------------------------------------------------
# Sources
# ---------------------------------------------------------------------------

all=''
for header in "${headers[@]}"; do
    all+="#include \"$header\""$'\n'
done
backwards=''
for ((i = ${#headers[@]} - 1; i >= 0; i--)); do
    backwards+="#include \"${headers[i]}\""$'\n'
done
c_main='int main(void) { return 0; }'

printf '%s%s\n' "$all" "$c_main" >"$work/all.c"
printf '%s%s%s%s\n' "$all" "$backwards" "$all" "$c_main" >"$work/repeated.c"
printf '%s%s\n' "$backwards" "$c_main" >"$work/backwards.c"
for name in all repeated backwards; do
    cp "$work/$name.c" "$work/$name.cpp"
done
printf 'extern "C" {\n%s}\n%s\n' "$all" "$c_main" >"$work/extern_c.cpp"
printf 'extern "C" {\n%s}\n%sextern "C" {\n%s}\n%s\n' "$backwards" "$all" "$all" "$c_main" >"$work/extern_c_repeated.cpp"
# Standard headers first, with the odd definition in force only for ours.
printf '#include <string>\n#include <vector>\n#include <memory>\n%s%s\n' "$all" "$c_main" >"$work/after_std.cpp"
printf '%s#include <string>\n#include <vector>\n#include <memory>\n%s\n' "$all" "$c_main" >"$work/before_std.cpp"
for i in "${!headers[@]}"; do
    printf '#include "%s"\n%s\n' "${headers[i]}" "$c_main" >"$work/alone_$i.c"
    cp "$work/alone_$i.c" "$work/alone_$i.cpp"
done
printf '%s\n' '#include "acl/acl.h"' \
    'int main(void) { ACL_APP_LOG(ACL_INFO, "text"); ACL_APP_LOG(ACL_ERROR, "%d", 1); return 0; }' >"$work/applog.c"
cp "$work/applog.c" "$work/applog.cpp"
# For C++ only, and only where GoogleTest is.
printf '#include "belay/gtest.h"\n%s%s\n' "$all" "$c_main" >"$work/gtest.cpp"

# ---------------------------------------------------------------------------
# Compilers
# ---------------------------------------------------------------------------

declare -a c_compilers=() cxx_compilers=()
declare -A known=()
add_compiler() { # list name, command; one entry per program, whatever links lead to it
    local -n list=$1
    local path key
    path=$(command -v "$2" 2>/dev/null) || return 0
    key="$1 $(readlink -f "$path")"
    [[ -z "${known[$key]:-}" ]] || return 0
    known[$key]=yes
    list+=("$path")
}
add_compiler c_compilers "${CC:-gcc}"
add_compiler c_compilers gcc
add_compiler c_compilers clang
add_compiler cxx_compilers "${CXX:-g++}"
add_compiler cxx_compilers g++
add_compiler cxx_compilers clang++
if ((${#c_compilers[@]} == 0 || ${#cxx_compilers[@]} == 0)); then
    printf 'FAILED: no compiler found\n' >&2
    exit 1
fi

strict=(-Wall -Wextra -Werror -pedantic -fsyntax-only -I "$include")

try() { # description, language, compiler, arguments...
    local what=$1 language=$2 compiler=$3
    shift 3
    if ! "$compiler" -x "$language" "${strict[@]}" "$@" >"$work/log" 2>&1; then
        fail "$what: $compiler $*"
        sed 's/^/    /' "$work/log" >&2
    fi
}

for compiler in "${c_compilers[@]}"; do
    for i in "${!headers[@]}"; do
        try "alone, ${headers[i]}" c "$compiler" -std=c99 "$work/alone_$i.c"
    done
    for standard in c99 gnu99 c11 c17; do
        try "all headers" c "$compiler" "-std=$standard" "$work/all.c"
    done
    try "several times" c "$compiler" -std=c99 "$work/repeated.c"
    try "in the other order" c "$compiler" -std=c99 "$work/backwards.c"
    try "log macro" c "$compiler" -std=c99 "$work/applog.c"
    try "strict prototypes" c "$compiler" -std=c99 -Wstrict-prototypes -Wmissing-prototypes "$work/all.c"
    try "visibility" c "$compiler" -std=c99 -DFUNC_VISIBILITY "$work/all.c"
done

for compiler in "${cxx_compilers[@]}"; do
    for i in "${!headers[@]}"; do
        try "alone, ${headers[i]}" c++ "$compiler" -std=c++11 "$work/alone_$i.cpp"
    done
    for standard in c++11 gnu++11 c++14 c++17 c++20; do
        try "all headers" c++ "$compiler" "-std=$standard" "$work/all.cpp"
    done
    try "several times" c++ "$compiler" -std=c++11 "$work/repeated.cpp"
    try "in the other order" c++ "$compiler" -std=c++11 "$work/backwards.cpp"
    try "inside extern C" c++ "$compiler" -std=c++11 "$work/extern_c.cpp"
    try "inside extern C" c++ "$compiler" -std=c++20 "$work/extern_c.cpp"
    try "inside extern C and outside" c++ "$compiler" -std=c++11 "$work/extern_c_repeated.cpp"
    try "private is public" c++ "$compiler" -std=c++11 -Dprivate=public "$work/all.cpp"
    try "private is public, inside extern C" c++ "$compiler" -std=c++11 -Dprivate=public "$work/extern_c.cpp"
    try "older string layout" c++ "$compiler" -std=c++11 -D_GLIBCXX_USE_CXX11_ABI=0 "$work/all.cpp"
    try "older string layout, after standard headers" c++ "$compiler" -std=c++11 -D_GLIBCXX_USE_CXX11_ABI=0 \
        "$work/after_std.cpp"
    try "before standard headers" c++ "$compiler" -std=c++11 "$work/before_std.cpp"
    try "log macro" c++ "$compiler" -std=c++11 "$work/applog.cpp"
    try "further warnings" c++ "$compiler" -std=c++11 -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast \
        -Wcast-qual "$work/all.cpp"
    try "visibility" c++ "$compiler" -std=c++11 -DFUNC_VISIBILITY "$work/all.cpp"
    for standard in c++11 c++14 c++17 c++20; do
        if printf '#include <gtest/gtest.h>\n' | "$compiler" -x c++ "-std=$standard" -fsyntax-only - 2>/dev/null; then
            try "with GoogleTest" c++ "$compiler" "-std=$standard" -Wshadow -Wconversion -Wsign-conversion \
                -Wold-style-cast -Wcast-qual "$work/gtest.cpp"
        fi
    done
done

# ---------------------------------------------------------------------------
# Macros left behind
# ---------------------------------------------------------------------------

documented='
ACL_FUNC_VISIBILITY ACL_DEPRECATED ACL_DEPRECATED_MESSAGE ACL_APP_LOG
ACL_MAJOR_VERSION ACL_MINOR_VERSION ACL_PATCH_VERSION
ACL_EVENT_SYNC ACL_EVENT_CAPTURE_STREAM_PROGRESS ACL_EVENT_TIME_LINE ACL_EVENT_DEVICE_USE_ONLY ACL_EVENT_EXTERNAL
ACL_EVENT_IPC ACL_EVENT_RECORD_DEFAULT ACL_EVENT_RECORD_EXTERNAL ACL_EVENT_WAIT_DEFAULT ACL_EVENT_WAIT_EXTERNAL
ACL_IPC_EVENT_HANDLE_SIZE
ACL_STREAM_FAST_LAUNCH ACL_STREAM_FAST_SYNC ACL_STREAM_PERSISTENT ACL_STREAM_HUGE ACL_STREAM_CPU_SCHEDULE
ACL_STREAM_DEVICE_USE_ONLY ACL_CONTINUE_ON_FAILURE ACL_STOP_ON_FAILURE
ACL_STREAM_WAIT_VALUE_GEQ ACL_STREAM_WAIT_VALUE_EQ ACL_STREAM_WAIT_VALUE_AND ACL_STREAM_WAIT_VALUE_NOR
ACL_NOTIFY_DEFAULT ACL_NOTIFY_DEVICE_USE_ONLY
ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION
ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS
ACL_RT_DEVS_TOPOLOGY_HCCS ACL_RT_DEVS_TOPOLOGY_PIX ACL_RT_DEVS_TOPOLOGY_PIB ACL_RT_DEVS_TOPOLOGY_PHB
ACL_RT_DEVS_TOPOLOGY_SYS ACL_RT_DEVS_TOPOLOGY_SIO ACL_RT_DEVS_TOPOLOGY_HCCS_SW
ACL_HOST_DEVICE_CONNECT_TYPE_PCIE ACL_HOST_DEVICE_CONNECT_TYPE_HCCS ACL_HOST_DEVICE_CONNECT_TYPE_UB
ACL_DEVICE_FORM_FACTOR_POD ACL_DEVICE_FORM_FACTOR_A_K ACL_DEVICE_FORM_FACTOR_A_X ACL_DEVICE_FORM_FACTOR_PCIE_CARD
ACL_DEV_FEATURE_SUPPORT ACL_DEV_FEATURE_NOT_SUPPORT
ACL_PKG_VERSION_MAX_SIZE ACL_PKG_VERSION_PARTS_MAX_SIZE
ACL_HOST_REG_MAPPED ACL_HOST_REG_IOMEMORY ACL_HOST_REG_READONLY ACL_HOST_REG_PINNED
MAX_MEM_UCE_INFO_ARRAY_SIZE UCE_INFO_RESERVED_SIZE ACL_RT_MEM_UCE_INFO_MAX_NUM ACL_RT_MAX_RECORD_PA_NUM_PER_DEV
ACL_RT_MEM_TYPE_DEV ACL_RT_MEM_TYPE_DVPP ACL_RT_MEM_TYPE_RSVD
ACL_RT_VMM_EXPORT_FLAG_DEFAULT ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION
ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION
ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS
ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS
ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_ONE_PORT_PATH ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH
ACL_RT_MEM_ATTACH_GLOBAL ACL_RT_MEM_LINK_IDX_0 ACL_RT_MEM_LINK_IDX_1 ACL_RT_CMO_MAX_BARRIER_NUM
ACL_ERROR_RT_DEVIDE_OOM ACL_ERROR_GE_DEVICE_MEMORY_ALLOCATION_FAILED
'
{
    tr ' ' '\n' <<<"$documented" | sed '/^$/d'
    # The constants of what belay does not run, as its tables list them, and the error numbers that are macros, as
    # the tests list them.
    sed -n 's/^constant \([A-Z0-9_]*\) .*/\1/p' "$here"/../../src/api/absent/*.table
    sed -n 's/^RT_CODE(\([A-Z0-9_]*\),.*/\1/p' "$here/error_codes.inc"
} | sort -u >"$work/documented"

macro_names() { # arguments: compiler and its arguments
    "$@" -dM -E - | sed -n 's/^#define \([A-Za-z0-9_]*\).*/\1/p' | sort -u
}

check_macros() { # language, standard, compiler
    local language=$1 standard=$2 compiler=$3
    printf '#include <stdint.h>\n#include <stddef.h>\n#include <stdbool.h>\n' |
        macro_names "$compiler" -x "$language" "-std=$standard" >"$work/system"
    printf '%s' "$all" | macro_names "$compiler" -x "$language" "-std=$standard" -I "$include" >"$work/ours"
    comm -13 "$work/system" "$work/ours" | grep -Ev '^(INC_EXTERNAL_ACL_[A-Z0-9_]*|BELAY_BELAY)_H_$' >"$work/left" || true
    comm -23 "$work/left" "$work/documented" >"$work/leaked"
    comm -13 "$work/left" "$work/documented" >"$work/missing"
    if [[ -s "$work/leaked" ]]; then
        fail "macros that nobody documents ($compiler -std=$standard): $(tr '\n' ' ' <"$work/leaked")"
    fi
    if [[ -s "$work/missing" ]]; then
        fail "documented macros that are not there ($compiler -std=$standard): $(tr '\n' ' ' <"$work/missing")"
    fi
}
for compiler in "${c_compilers[@]}"; do
    check_macros c c99 "$compiler"
done
for compiler in "${cxx_compilers[@]}"; do
    check_macros c++ c++11 "$compiler"
    check_macros c++ c++20 "$compiler"
done

# ---------------------------------------------------------------------------
# R1: who includes whom
# ---------------------------------------------------------------------------

includes_exactly() { # header, expected includes...
    local header=$1 found wanted
    shift
    found=$(sed -n 's/^#include [<"]\([^>"]*\)[>"].*/\1/p' "$include/$header" | sort | tr '\n' ' ')
    wanted=$(printf '%s\n' "$@" | sort | tr '\n' ' ')
    [[ "$found" == "$wanted" ]] || fail "R1: $header includes [$found], expected [$wanted]"
}
includes_exactly acl/acl.h acl_rt.h acl_op.h acl_mdl.h
includes_exactly acl/acl_rt.h stdint.h stddef.h stdbool.h acl_base.h acl_rt_allocator.h
includes_exactly acl/acl_base.h acl_base_rt.h acl_base_mdl.h error_codes/rt_error_codes.h error_codes/ge_error_codes.h

# ---------------------------------------------------------------------------
# R3: visibility on request
# ---------------------------------------------------------------------------

for compiler in "${c_compilers[@]}"; do
    plain=$(printf '#include "acl/acl.h"\n' | "$compiler" -x c -std=c99 -E -P -I "$include" -)
    asked=$(printf '#include "acl/acl.h"\n' | "$compiler" -x c -std=c99 -E -P -DFUNC_VISIBILITY -I "$include" -)
    if [[ "$plain" == *'visibility("default")'* ]]; then
        fail "R3: visibility without FUNC_VISIBILITY ($compiler)"
    fi
    if [[ "$asked" != *'visibility("default")'* ]]; then
        fail "R3: no visibility with FUNC_VISIBILITY ($compiler)"
    fi
done

end_if_failed
printf 'C8: %d headers, compilers: %s %s\n' "${#headers[@]}" "${c_compilers[*]}" "${cxx_compilers[*]}"
