#!/usr/bin/env bash
# C5: build files that include ascendc.cmake configure and build, and its targets hand on the runtime.
#
# Usage: C5_ascendc_cmake.sh <root of an installation>

source "$(dirname "${BASH_SOURCE[0]}")/install_tree.sh"

project=$work/project
mkdir "$project"
write_client "$project/main.c"
cat >"$project/kernel.cpp" <<'END'
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void add(GM_ADDR x) { (void)x; }
END
echo 'kernel<<<1, nullptr, stream>>>(x);' >"$project/kernel.asc"
cat >"$project/helper.cpp" <<'END'
#include "acl/acl.h"
#include "tiling.h"
#if HAVE_TILING != 1
#error "the definition did not arrive"
#endif
extern "C" int soc_name_is_there() { return aclrtGetSocName() != nullptr; }
END
mkdir "$project/host"
echo '#pragma once' >"$project/host/tiling.h"
cat >"$project/user.c" <<'END'
#include "acl/acl.h"
int soc_name_is_there(void);
int main(void) { return soc_name_is_there() && aclrtSetDevice(0) == ACL_SUCCESS ? 0 : 1; }
END
# Not a word about include directories or libraries but what the targets hand on.
cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(kernels C CXX)
include(${ASCENDC_CMAKE_DIR}/ascendc.cmake)

ascendc_library(plain STATIC kernel.cpp ${CMAKE_CURRENT_SOURCE_DIR}/kernel.asc)
ascendc_library(shared-one SHARED kernel.cpp helper.cpp)
ascendc_include_directories(shared-one PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/host)
ascendc_compile_definitions(shared-one PRIVATE -DHAVE_TILING=1)
ascendc_compile_options(shared-one PRIVATE --cce-res-usage)
ascendc_fatbin_library(fatbin kernel.cpp)

foreach(library plain fatbin)
  add_executable(with_${library} main.c)
  target_link_libraries(with_${library} PRIVATE ${library})
endforeach()
add_executable(with_shared user.c)
target_link_libraries(with_shared PRIVATE shared-one ${ASCEND_CANN_PACKAGE_PATH}/lib64/libacl_rt.so)
END

for place in tikcpp "$arch-linux/tikcpp" compiler/tikcpp tools/tikcpp; do
    build=$work/build-${place//\//-}
    succeeds "C5: configure with $place" cmake -S "$project" -B "$build" \
        -DASCENDC_CMAKE_DIR="$root/$place/ascendc_kernel_cmake"
    for kernel in kernel.cpp kernel.asc; do
        grep -q "$kernel is a kernel and is left out" "$work/output" || fail "C5: nothing is said of $kernel"
    done
    if grep -q 'helper.cpp is a kernel' "$work/output"; then fail 'C5: helper.cpp is taken for a kernel'; fi
    [[ $place == tikcpp ]] || continue
    succeeds 'C5: build' cmake --build "$build"
    for program in with_plain with_fatbin with_shared; do
        succeeds "C5: $program" "$build/$program"
        if ! readelf -dW "$build/$program" | grep -q 'NEEDED.*\[libascendcl.so\]'; then
            fail "C5: $program is not linked with the runtime"
        fi
    done
done

finish 'C5'
