#!/usr/bin/env bash
# C6, R259: the ways in which build scripts, old and new, reach headers and libraries.
#
# Usage: C6_R259_build_scripts.sh <root of an installation>

source "$(dirname "${BASH_SOURCE[0]}")/install_tree.sh"

write_client "$work/client.c"
cp "$work/client.c" "$work/client.cpp"

# Builds and runs the client in a shell of its own: lines that set variables, then the arguments of the compiler.
try() { # what, lines, arguments with variables in them
    rm -f "$work/client"
    cat >"$work/build.sh" <<END
set -euo pipefail
cd "$work"
$2
"$CXX" client.cpp -o client $3
./client
END
    succeeds "$1" bash "$work/build.sh"
    same "$1, output" "$(tail -n 1 "$work/output")" 'over there and back'
}

check_C6_names_of_the_environment() {
    local name
    for name in ASCEND_HOME_PATH ASCEND_INSTALL_PATH ASCEND_TOOLKIT_HOME; do
        try "C6: $name from set_env.sh" "source '$root/set_env.sh'" "-I\$$name/include -L\$$name/lib64 -lascendcl"
    done
    for name in ASCEND_ROOT ASCEND_HOME; do
        try "C6: $name set by hand" "export $name='$root'; export LD_LIBRARY_PATH=\$$name/lib64" \
            "-I\$$name/include -L\$$name/lib64 -lascendcl"
    done
    try 'C6: setenv.bash' "export ASCEND_INSTALL_PATH='$root'; source \$ASCEND_INSTALL_PATH/bin/setenv.bash" \
        "-I\$ASCEND_INSTALL_PATH/include -L\$ASCEND_INSTALL_PATH/$arch-linux/lib64 -lascendcl"
    try 'C6: LIBRARY_PATH alone' "source '$root/set_env.sh'" '-I$ASCEND_HOME_PATH/include -lascendcl'
}

check_C6_older_names() {
    local place
    for place in runtime/lib64/stub acllib/lib64/stub devlib "$arch-linux/lib64" "$arch-linux/devlib" "$arch-linux/runtime/lib64/stub"; do
        try "C6: NPU_HOST_LIB in $place" \
            "export INSTALL_DIR='$root'; export DDK_PATH=\$INSTALL_DIR NPU_HOST_LIB=\$INSTALL_DIR/$place
             export THIRDPART_PATH='$work/thirdpart' LD_LIBRARY_PATH=\$DDK_PATH/runtime/lib64" \
            '-I$DDK_PATH/runtime/include -L$NPU_HOST_LIB -lascendcl'
    done
    try 'C6: acllib' "export DDK_PATH='$root'; export LD_LIBRARY_PATH=\$DDK_PATH/acllib/lib64" \
        '-I$DDK_PATH/acllib/include -L$DDK_PATH/acllib/lib64 -lascendcl'
    try 'C6: DDK_PATH names the directory of the architecture' \
        "export DDK_PATH='$root/$arch-linux'; export LD_LIBRARY_PATH=\$DDK_PATH/lib64" \
        '-I$DDK_PATH/acllib/include -L$DDK_PATH/acllib/lib64/stub -lascendcl'
}

check_C6_names_of_the_library() {
    local name
    for name in ascendcl acl_rt runtime acl_rt_impl; do
        try "C6: -l$name" "source '$root/set_env.sh'" "-I\$ASCEND_HOME_PATH/include -L\$ASCEND_HOME_PATH/lib64 -l$name"
        try "C6: full path of lib$name.so" "source '$root/set_env.sh'" \
            "-I\$ASCEND_HOME_PATH/include \$ASCEND_HOME_PATH/lib64/lib$name.so"
    done
    # Two names in one program are one runtime.
    try 'C6: two names' "source '$root/set_env.sh'" \
        '-I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64 -Wl,--no-as-needed -lascendcl -lacl_rt -lruntime'
    succeeds 'C6: C99' bash -euc "source '$root/set_env.sh'; cd '$work'
        '$CC' -std=c99 -Wall -Wextra -Werror -pedantic client.c -o client_c -I\$ASCEND_HOME_PATH/include -L\$ASCEND_HOME_PATH/lib64 -lascendcl
        ./client_c"
}

# One call of a model in a program: it compiles, links with all that samples link, and its memory part runs.
check_C22_a_program_with_a_model_in_it() {
    cat >"$work/model.c" <<'END'
#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "acl/acl_tdt.h"
#include "acl/ops/acl_cblas.h"
#include "acl/ops/acl_dvpp.h"
int main(void) {
    uint32_t model = 0;
    void *block = 0;
    aclmdlIODims dims;
    if (aclInit(0) != 0 || aclrtSetDevice(0) != 0) return 1;
    if (aclmdlLoadFromFile("resnet50.om", &model) != 207000) return 2;
    if (aclmdlCreateDesc() != 0 || acldvppCreateChannelDesc() != 0 || aclprofCreateStepInfo() != 0) return 3;
    if (aclmdlGetInputDims(0, 0, &dims) != 207000 || aclopCompile("Add", 0, 0, 0, 0, 0, ACL_ENGINE_SYS,
        ACL_COMPILE_SYS, 0) != 207000) return 4;
    if (aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != 0 || aclrtFree(block) != 0) return 5;
    return aclrtResetDevice(0) + aclFinalize();
}
END
    succeeds 'C22: a program with a model in it' bash -euc "source '$root/set_env.sh'; cd '$work'
        '$CC' -std=c99 -Wall -Wextra -Werror -pedantic model.c -o model -I\$ASCEND_HOME_PATH/include \
            -L\$ASCEND_HOME_PATH/lib64 -Wl,--no-as-needed -lascendcl -lacl_dvpp -lacl_op_compiler -lacl_tdt_channel \
            -lacl_cblas -lmsprofiler
        ./model"
}

# A build file that starts from the environment, with the variables that sample projects read.
check_C6_cmake_project() {
    mkdir "$work/project"
    cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(sample CXX)
set(SOC_VERSION $ENV{SOC_VERSION})
if(NOT SOC_VERSION)
  message(FATAL_ERROR "no SOC_VERSION")
endif()
if(DEFINED ENV{DDK_PATH})
  set(INC_PATH $ENV{DDK_PATH})
  set(LIB_PATH $ENV{NPU_HOST_LIB})
else()
  set(INC_PATH $ENV{ASCEND_INSTALL_PATH})
  set(LIB_PATH $ENV{ASCEND_INSTALL_PATH}/lib64)
  include($ENV{ASCENDC_CMAKE_DIR}/ascendc.cmake)
endif()
include_directories(${INC_PATH}/runtime/include ${INC_PATH}/include)
link_directories(${LIB_PATH})
find_library(found NAMES ascendcl HINTS ${LIB_PATH} REQUIRED NO_DEFAULT_PATH)
add_executable(client ../client.cpp)
target_link_libraries(client ascendcl stdc++)
END
    succeeds 'C6: CMake, newer names' bash -euc "source '$root/set_env.sh'
        export SOC_VERSION=Ascend910B3 ASCENDC_CMAKE_DIR=\$ASCEND_HOME_PATH/tikcpp/ascendc_kernel_cmake
        cmake -S '$work/project' -B '$work/newer' && cmake --build '$work/newer' && '$work/newer/client'"
    succeeds 'C6: CMake, older names' bash -euc "
        export SOC_VERSION=Ascend310P3 DDK_PATH='$root' NPU_HOST_LIB='$root/runtime/lib64/stub'
        cmake -S '$work/project' -B '$work/older' && cmake --build '$work/older'
        export LD_LIBRARY_PATH='$root/lib64'; '$work/older/client'"
}

# Installed as <root>/cann-<version> with the link cann, or as <root>/ascend-toolkit/latest.
check_R259_roots() {
    mkdir -p "$work/Ascend/ascend-toolkit"
    cp -a "$root" "$work/Ascend/cann-9.0.0"
    ln -s cann-9.0.0 "$work/Ascend/cann"
    cp -a "$root" "$work/Ascend/ascend-toolkit/9.0.0"
    ln -s 9.0.0 "$work/Ascend/ascend-toolkit/latest"
    ln -s latest/set_env.sh "$work/Ascend/ascend-toolkit/set_env.sh"
    local script
    for script in cann/set_env.sh ascend-toolkit/set_env.sh ascend-toolkit/latest/bin/setenv.bash; do
        try "R259: $script" "source '$work/Ascend/$script'" \
            '-I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64 -lascendcl'
        try "R259: $script, architecture" "source '$work/Ascend/$script'" \
            "-I\$ASCEND_HOME_PATH/$arch-linux/include -L\$ASCEND_HOME_PATH/$arch-linux/lib64 -lascendcl"
    done
}

check_C6_names_of_the_environment
check_C6_older_names
check_C6_names_of_the_library
check_C6_cmake_project
check_R259_roots
finish 'C6, R259'
