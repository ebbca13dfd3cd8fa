#!/usr/bin/env bash
# What CONTRIBUTING.md says of tests and a machine can see: nothing sleeps but the two files that all waiting goes
# through, and a suite of GoogleTest stands in one file, so that all files can be linked into one program.
#
# Usage: test_habits.sh [directory of the tests]

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

tests=$(realpath "${1:-$(dirname "${BASH_SOURCE[0]}")/..}")
this=integration/test_habits.sh # the planted lines below are no sleeps

sleeps() { # directory of tests: "file:line:text" of each
    (
        cd "$1"
        grep -rnE --include='*.cpp' --include='*.h' --include='*.c' \
            'sleep_for|sleep_until|\b(u|nano|clock_nano)sleep\b|(^|[^[:alnum:]_."/])sleep *\(' . || true
        grep -rnE --include='*.py' 'time\.sleep|import sleep|\bsleep *\(' . || true
        grep -rnE --include='*.sh' '(^|[^[:alnum:]_./"-])sleep +[0-9."$]' . || true
    ) | sed 's|^\./||' | grep -vE "^(support/waiting\.h|python/waiting\.py|$this):" || true
}

suites_in_two_files() { # directory of tests
    (cd "$1" && grep -rohHE --include='*.cpp' '^ *(TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\( *\w+' \
        conformance own || true) | sed -E 's/^([^:]*):.*\( *(\w+)$/\2 \1/' | sort -u |
        awk '$1 == last { print $1 " in " file " and " $2 } { last = $1; file = $2 }'
}

# --- the checks can fail --------------------------------------------------------------------------

plant() { # file, lines
    mkdir -p "$work/tests/$(dirname "$1")"
    printf '%s\n' "$2" >"$work/tests/$1"
}

found_of() { # file, line
    rm -rf "$work/tests"
    plant "$1" "$2"
    sleeps "$work/tests"
}

while IFS='|' read -r file line; do
    same "a planted '$line'" "$(found_of "$file" "$line")" "$file:1:$line"
done <<'END'
own/a_test.cpp|std::this_thread::sleep_for(20ms);
support/a.h|std::this_thread::sleep_until(end);
unit/a_test.cpp|::usleep(1000);
integration/a.c|sleep(1);
python/test_a.py|time.sleep(0.1)
python/test_b.py|from time import sleep
abi/a.sh|sleep 1
END
for line in 'Member sleeper;' 'become("/bin/sleep", -1);' 'let_time_pass(20ms);' 'if (sleeps) stop();'; do
    same "a planted '$line'" "$(found_of own/a_test.cpp "$line")" ''
done

rm -rf "$work/tests"
plant conformance/a_test.cpp $'TEST(One, Fact)\nTEST_F(Two, Fact)\nTEST_F(Two, OtherFact)'
plant own/b_test.cpp 'TEST(Three, Fact)'
same 'suites in one file each' "$(suites_in_two_files "$work/tests")" ''
plant own/c_test.cpp 'TEST_F(One, OtherFact)'
same 'a suite in two files' "$(suites_in_two_files "$work/tests")" 'One in conformance/a_test.cpp and own/c_test.cpp'

# --- and do not -------------------------------------------------------------------------------------

sleeps "$tests" >"$work/found"
while read -r line; do
    fail "sleeps (tests/support/waiting.h and tests/python/waiting.py tell what to do): tests/$line"
done <"$work/found"
suites_in_two_files "$tests" >"$work/found"
while read -r line; do
    fail "the suite $line"
done <"$work/found"
finish 'habits of the tests'
