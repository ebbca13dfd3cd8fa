#!/usr/bin/env bash
# C7, C27: the CMake package, the pkg-config file and bin/belay, in the tree as installed and in a moved one.
#
# Usage: C7_cmake_package_and_pkgconfig.sh <root of an installation>

source "$(dirname "${BASH_SOURCE[0]}")/install_tree.sh"

mkdir "$work/project"
write_client "$work/project/client.c"
cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(client C)
find_package(belay 0.1 REQUIRED)
find_package(belay REQUIRED)  # a second time, as subprojects do
add_executable(client client.c)
target_link_libraries(client PRIVATE belay::ascendcl)
END

check_C7_cmake_package() { # root, name
    succeeds "C7: find_package after set_env.sh, $2" bash -euc "source '$1/set_env.sh'
        cmake -S '$work/project' -B '$work/$2-env' && cmake --build '$work/$2-env' && '$work/$2-env/client'"
    succeeds "C7: find_package with CMAKE_PREFIX_PATH, $2" bash -euc "
        cmake -S '$work/project' -B '$work/$2-prefix' -DCMAKE_PREFIX_PATH='$1' && cmake --build '$work/$2-prefix'
        '$work/$2-prefix/client'"
    succeeds "C7: find_package with belay_DIR, $2" \
        cmake -S "$work/project" -B "$work/$2-dir" -Dbelay_DIR="$1/lib64/cmake/belay"
    mkdir -p "$work/newer"
    sed 's/belay 0.1/belay 99/' "$work/project/CMakeLists.txt" >"$work/newer/CMakeLists.txt"
    if cmake -S "$work/newer" -B "$work/$2-newer" -DCMAKE_PREFIX_PATH="$1" >"$work/output" 2>&1; then
        fail "C7: version 99 was found, $2"
    fi
    grep -q 'belay-config.cmake' "$work/output" || fail "C7: version 99 failed for another reason, $2"
}

# In the ways that projects name the library: by the package, by its directory, by its path.
mkdir "$work/directories"
cp "$work/project/client.c" "$work/directories"
cat >"$work/directories/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(client C)
include_directories($ENV{ASCEND_HOME_PATH}/include)
foreach(directory lib64 devlib)
  add_executable(client_${directory} client.c)
  target_link_directories(client_${directory} PRIVATE $ENV{ASCEND_HOME_PATH}/${directory})
  target_link_libraries(client_${directory} ascendcl)
endforeach()
find_library(ascendcl ascendcl PATHS $ENV{ASCEND_HOME_PATH}/lib64 NO_DEFAULT_PATH REQUIRED)
add_executable(client_path client.c)
target_link_libraries(client_path ${ascendcl})
END

keeps_its_runpath() { # program, directory
    readelf -d "$1" | grep -E '\((RUNPATH|RPATH)\)' | grep -qF "[$2" || fail "C27: no $2 in the RUNPATH of $1: $(readelf -d "$1" | grep PATH)"
    succeeds "C27: without set_env.sh" env -u LD_LIBRARY_PATH "$1"
}

check_C27_runpath() { # root, name
    keeps_its_runpath "$work/$2-env/client" "$1/lib64"
    succeeds "C27: projects that name directories, $2" bash -euc "source '$1/set_env.sh'
        cmake -S '$work/directories' -B '$work/$2-directories' && cmake --build '$work/$2-directories'"
    local directory
    for directory in lib64 devlib; do
        keeps_its_runpath "$work/$2-directories/client_$directory" "$1/$directory"
    done
    keeps_its_runpath "$work/$2-directories/client_path" "$1/lib64"
}

check_C7_pkg_config() { # root, name
    if ! command -v pkg-config >/dev/null; then
        printf 'no pkg-config on this machine: its file is only read\n'
        [[ -f $1/lib64/pkgconfig/belay.pc ]] || fail 'C7: no belay.pc'
        return 0
    fi
    succeeds "C7: pkg-config, $2" bash -euc "export PKG_CONFIG_PATH='$1/lib64/pkgconfig'
        pkg-config --exists --print-errors 'belay >= 0.1'
        '$CC' '$work/project/client.c' -o '$work/$2-pc' \$(pkg-config --cflags --libs belay)
        LD_LIBRARY_PATH=\$(pkg-config --variable=libdir belay) '$work/$2-pc'"
    succeeds "C7: pkg-config after set_env.sh, $2" bash -euc "source '$1/set_env.sh'; pkg-config --cflags --libs belay"
}

check_C7_program() { # root, name
    if [[ ! -x $1/bin/belay ]]; then
        fail "C7: no bin/belay, $2"
        return 0
    fi
    succeeds "C7: belay --help, $2" "$1/bin/belay" --help
    succeeds "C7: belay by way of PATH, $2" bash -euc "source '$1/set_env.sh'; belay --help"
    succeeds "C7: belay run, $2" "$1/bin/belay" run "$work/$2-env/client"
}

cp -a "$root" "$work/moved"
for tree in "$root" "$work/moved"; do
    check_C7_cmake_package "$tree" "$(basename "$tree")"
    check_C27_runpath "$tree" "$(basename "$tree")"
    check_C7_pkg_config "$tree" "$(basename "$tree")"
    check_C7_program "$tree" "$(basename "$tree")"
done
finish 'C7, C27'
