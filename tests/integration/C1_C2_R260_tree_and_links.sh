#!/usr/bin/env bash
# C1, C2, R260: headers and libraries are where programs look for them, and the tree can be moved.
#
# Usage: C1_C2_R260_tree_and_links.sh <root of an installation>

source "$(dirname "${BASH_SOURCE[0]}")/install_tree.sh"

headers='acl/acl.h acl/acl_base.h acl/acl_rt.h acl/error_codes/rt_error_codes.h acl/error_codes/ge_error_codes.h
acl/ops/acl_dvpp.h acl/dvpp/hi_dvpp.h'
libraries='libascendcl.so libacl_rt.so libruntime.so libacl_rt_impl.so libacl_dvpp.so libacl_dvpp_mpi.so
libacl_op_compiler.so libacl_tdt_channel.so libacl_tdt_queue.so libmsprofiler.so libacl_cblas.so'

check_C1_headers() { # root
    local place header
    for place in include runtime/include "$arch-linux/include" acllib/include; do
        for header in $headers; do
            [[ -f $1/$place/$header ]] || fail "C1: no $place/$header"
            cmp -s "$1/include/$header" "$1/$place/$header" || fail "C1: $place/$header is not the one of include"
        done
    done
}

check_C2_libraries() { # root
    local place library
    for place in lib64 lib64/stub runtime/lib64 runtime/lib64/stub "$arch-linux/lib64" "$arch-linux/devlib" devlib \
        acllib/lib64 acllib/lib64/stub; do
        for library in $libraries; do
            # One file under every name: a program that meets two names must not load two runtimes.
            [[ $1/$place/$library -ef $1/lib64/libascendcl.so ]] || fail "C2: $place/$library is missing or another file"
        done
    done
    same 'C2: name inside the library' \
        "$(readelf -dW "$1/lib64/libascendcl.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" libascendcl.so
}

check_R260_rest_of_the_tree() { # root
    local place
    for place in include/acl/error_codes devlib lib64/cmake python/site-packages share/info/runtime opp \
        "$arch-linux/include" "$arch-linux/lib64"; do
        [[ -d $1/$place ]] || fail "R260: no directory $place"
    done
    for place in set_env.sh bin/setenv.bash version.cfg share/info/runtime/version.info; do
        [[ -f $1/$place ]] || fail "R260: no file $place"
    done
}

check_no_path_inside() { # root: links stay inside the tree, and no text names the place it was made for
    local link
    while IFS= read -r link; do
        [[ $(readlink "$link") != /* ]] || fail "absolute link: $link"
        [[ -e $link ]] || fail "link that leads nowhere: $link"
        [[ $(readlink -f "$link") == "$1"/* ]] || fail "link out of the tree: $link"
    done < <(find "$1" -type l)
    while IFS= read -r link; do
        fail "names the place it was installed to: $link"
    done < <(grep -rlIF "$root" "$1" || true)
}

check_all() {
    check_C1_headers "$1"
    check_C2_libraries "$1"
    check_R260_rest_of_the_tree "$1"
    check_no_path_inside "$1"
}

check_all "$root"
cp -a "$root" "$work/moved"
check_all "$work/moved"
succeeds 'links lead in a circle' find -L "$root" -name acl.h

finish 'C1, C2, R260'
