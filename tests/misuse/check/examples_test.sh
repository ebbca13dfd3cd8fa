#!/usr/bin/env bash
# The examples under `belay check`: nothing is found in those that are correct. Some make a mistake on
# purpose, and are told of that and of nothing else.
#
# Usage: examples_test.sh <root of an installation> [cpp|python]

source "$(dirname "${BASH_SOURCE[0]}")/../../integration/support.sh"

if (($# < 1)); then
    usage '<root of an installation> [cpp|python]'
fi
root=$(realpath "$1")
which=${2-}
examples=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../../examples")
cd "$work"
without_settings
export BELAY_MACHINE=private BELAY_PIN=best-effort # whatever may be locked here
export PYTHONPATH=$root/python/site-packages PYTHONDONTWRITEBYTECODE=1
python=${ACL_TEST_PYTHON:-python3}

# Of programs that are several processes; what one of them has taken away by its death is found in the other.
together=examples-under-check-$$
export BELAY_MACHINES=$work/machines
revoked='belay: use-after-free: aclrtMemcpy used memory that is freed already [lifetime]'

checked() { # exit code, command...: the last line of what belay says in $verdict, all of it in err
    local wanted=$1 code=0
    shift
    (
        timeout 120 "$root/bin/belay" check --hbm 4G -- "$@" >out 2>err
        exit $?
    ) 2>/dev/null || code=$? # the shell tells of signals, too
    same "exit code of $*" "$code" "$wanted"
    verdict=$(tail -n 1 err)
}

clean() { # command...: nothing is found
    checked 0 "$@"
    [[ $verdict == 'belay: nothing was found' ]] || fail "$*: $(cat err)"
}

only() { # exit code, line of a finding, command...: nothing else is found
    local code=$1 line=$2
    shift 2
    checked "$code" "$@"
    same "$*: findings" "$(grep -E ' \[[a-z]+\]$' err | sort -u)" "$line"
}

compile() { # source, program
    if [[ $1 == *.c ]]; then
        $CC -std=c99 -O2 -g "$examples/$1" -I"$root/include" -L"$root/lib64" -lascendcl -o "$2"
    else
        $CXX -O2 -g "$examples/$1" -I"$root/include" -L"$root/lib64" -lascendcl -o "$2"
    fi
}

check_examples_in_cpp() {
    [[ $which != python ]] || return 0
    local source name
    for source in "$examples"/*.c "$examples"/*.cpp; do
        name=${source##*/}
        compile "$name" "${name//./_}" &
        (($(jobs -pr | wc -l) < 4)) || wait -n
    done
    wait
    for source in "$examples"/*.c "$examples"/*.cpp; do
        name=${source##*/}
        name=./${name//./_}
        case $name in
        ./host_touch_cpp | ./missing_wait_cpp | ./sleep_and_wake_cpp | ./use_after_free_cpp | \
            ./shared_kv_cache_cpp | ./out_of_memory_c | ./page_policies_cpp) ;; # below
        *) clean "$name" ;;
        esac
    done
    clean ./data_transfer_cpp malloc
    clean ./data_transfer_c malloc
    clean ./missing_wait_cpp --fixed
    BELAY_MACHINE=$together clean ./shared_kv_cache_cpp
    BELAY_MACHINE=$together only 86 "$revoked" ./shared_kv_cache_cpp dies
    # Work runs as late as it can, so that much is in flight at once.
    local program
    for program in ./caching_allocator_cpp ./kv_cache_server_cpp ./double_buffered_loader_cpp; do
        BELAY_SCHEDULE=lazy clean "$program"
    done

    # These allocate only to show what fits.
    local unused='belay: never-used: aclrtMalloc makes blocks that are never used [hints]'
    only 0 "$unused" ./out_of_memory_c
    only 0 "$unused
belay: wasted-pages: aclrtMalloc takes huge pages for blocks that leave most of them empty [hints]" ./page_policies_cpp

    # Their mistakes are the point of them.
    checked 139 ./host_touch_cpp
    only 86 'belay: use-after-free: aclrtMemset used memory that is freed already [lifetime]' ./use_after_free_cpp
    only 86 'belay: use-after-free: aclrtMemcpy used memory that is freed already [lifetime]' ./sleep_and_wake_cpp
}

check_examples_in_python() {
    [[ $which != cpp && -f $root/python/site-packages/acl.so ]] || return 0
    local script
    for script in buffers callbacks data_transfer growing_buffer; do
        clean "$python" "$examples/python/$script.py"
    done
    clean "$python" "$examples/python/data_transfer.py" bytes
    BELAY_MACHINE=$together clean "$python" "$examples/python/shared_buffer.py"
    BELAY_MACHINE=$together only 86 "$revoked" "$python" "$examples/python/shared_buffer.py" dies
    only 86 'belay: use-after-free: aclrtMemset used memory that is freed already [lifetime]' \
        "$python" "$examples/python/sleep_and_wake.py"
    if "$python" -c 'import pytest' 2>/dev/null; then
        # One of its tests fills a device with blocks that it does not use.
        checked 0 "$python" -m pytest -q -p no:cacheprovider "$examples/python/test_example.py"
        same 'test_example.py' "$verdict" 'belay: 1 finding that does not count (see --fail-on)'
    fi
}

run_checks
finish 'the examples under belay check'
