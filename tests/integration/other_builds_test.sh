#!/usr/bin/env bash
# belay from other builds: its sources by add_subdirectory and FetchContent, the tree by hand-written Find modules.
# find_package and pkg-config are in C7.
#
# Usage: other_builds_test.sh <root of an installation> <sources>
#
# The sources are built by FetchContent; the same by add_subdirectory is only configured, unless ACL_TEST_LONG=1.

source "$(dirname "${BASH_SOURCE[0]}")/install_tree.sh"
sources=$(cd "$2" && pwd -P)
cd "$work"

project() { # name, lines of CMake
    mkdir -p "$1"
    write_client "$1/client.c"
    printf 'cmake_minimum_required(VERSION 3.22)\nproject(client C CXX)\n%s\nadd_executable(client client.c)\n%s\n' "$2" \
        'target_link_libraries(client PRIVATE ${belay})' >"$1/CMakeLists.txt"
}

of_sources() { # name, whether to build it
    local launchers=()
    if command -v ccache >/dev/null; then # what an earlier run has compiled, in another directory
        launchers=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
        export CCACHE_BASEDIR=/ CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
    fi
    succeeds "$1: configure" cmake -S "$1" -B "$1/build" -G Ninja -Wno-dev "${launchers[@]}"
    grep -q 'build belay::ascendcl\|build .*libascendcl.so' "$1/build/build.ninja" || fail "$1: no library is built"
    if grep -q 'gtest\|belay_cli\|python_acl\|build install: ' <(grep '^build ' "$1/build/build.ninja" | grep belay); then
        fail "$1: more than the library is built"
    fi
    if [[ -n $2 ]]; then
        succeeds "$1: build" cmake --build "$1/build" --target client
        succeeds "$1: run" "$1/build/client"
    fi
}

check_add_subdirectory() {
    project subdirectory "add_subdirectory($sources belay)
set(belay belay::ascendcl)"
    of_sources subdirectory "${ACL_TEST_LONG:-}"
}

check_FetchContent() {
    project fetched "include(FetchContent)
FetchContent_Declare(belay SOURCE_DIR $sources)
FetchContent_MakeAvailable(belay)
set(belay belay::ascendcl)"
    of_sources fetched yes
}

# In the form that projects write them: search below the variables of a toolkit, and fixed paths.
check_find_module() {
    project module 'list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR})
find_package(AscendCL REQUIRED)
set(belay AscendCL::AscendCL)'
    cat >module/FindAscendCL.cmake <<'END'
find_path(AscendCL_INCLUDE_DIR acl/acl.h
  HINTS $ENV{ASCEND_TOOLKIT_HOME} $ENV{ASCEND_HOME_PATH} ${ASCEND_ROOT}/ascend-toolkit/latest PATH_SUFFIXES include
  NO_DEFAULT_PATH)
find_library(AscendCL_LIBRARY NAMES ascendcl
  HINTS $ENV{ASCEND_TOOLKIT_HOME} $ENV{ASCEND_HOME_PATH} ${ASCEND_ROOT}/ascend-toolkit/latest
  PATH_SUFFIXES lib64 runtime/lib64/stub acllib/lib64 NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(AscendCL REQUIRED_VARS AscendCL_LIBRARY AscendCL_INCLUDE_DIR)
add_library(AscendCL::AscendCL UNKNOWN IMPORTED)
set_target_properties(AscendCL::AscendCL PROPERTIES IMPORTED_LOCATION "${AscendCL_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${AscendCL_INCLUDE_DIR}")
END
    succeeds 'Find module, by set_env.sh' bash -euc "source '$root/set_env.sh'
        cmake -S module -B module/env && cmake --build module/env && module/env/client"
    "$root/bin/belay" toolkit install --root "$work/Ascend" >/dev/null
    succeeds 'Find module, by fixed paths' bash -euc "
        cmake -S module -B module/fixed -DASCEND_ROOT='$work/Ascend' && cmake --build module/fixed && module/fixed/client"
}

run_checks
finish 'other builds'
