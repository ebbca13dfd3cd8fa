#!/usr/bin/env bash
# include/belay/gtest.h: which test fails for a mistake, at which line, with which text; and that without a check, or
# without belay, none does.
#
# Usage: gtest_listener_test.sh <root of an installation>

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

if (($# != 1)); then
    usage '<root of an installation>'
fi
root=$(realpath "$1")
work=$(realpath "$work")
cd "$work"
without_settings LD_PRELOAD
export BELAY_MACHINE=private LD_LIBRARY_PATH=$root/lib64

# --- the program ------------------------------------------------------------------------------------

# The functions are looked up, as where a program is also built against another toolkit: it need not link belay.
cat >acl_calls.h <<'END'
#include "acl/acl.h"
void *allocate();
aclError give_back(void *block);
END
cat >helper.cpp <<'END'
#include "acl_calls.h"
void *allocate() {
    void *block = nullptr;
    aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST);  // helper.cpp:4
    return block;
}
__attribute__((noinline)) aclError give_back(void *block) {
    const aclError code = aclrtFree(block);  // helper.cpp:8
    return code;
}
END
cat >tests.cpp <<'END'
#include "belay/gtest.h"

#include "acl_calls.h"

static const bool checked = belay::check_tests(LEAKS);

class Device : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }
};

TEST_F(Device, Good) { EXPECT_EQ(give_back(allocate()), ACL_SUCCESS); }

TEST_F(Device, FreesTwice) {
    void *block = allocate();
    give_back(block);
    EXPECT_NE(give_back(block), ACL_SUCCESS);
}

TEST_F(Device, FreesTwiceInTheSameHelper) {
    void *block = allocate();
    give_back(block);
    EXPECT_NE(give_back(block), ACL_SUCCESS);
    EXPECT_NE(give_back(block), ACL_SUCCESS);
}

TEST_F(Device, FreesTwiceOnPurpose) {
    const belay::MayFind may_find("double-free");
    void *block = allocate();
    give_back(block);
    EXPECT_NE(give_back(block), ACL_SUCCESS);
}

TEST_F(Device, FreesInsideWhereSomethingElseWasMeant) {
    const belay::MayFind may_find("double-free");
    char *block = static_cast<char *>(allocate());
    EXPECT_NE(give_back(block + 8), ACL_SUCCESS);
    give_back(block);
}

TEST_F(Device, MayFindAWholeClass) {
    const belay::MayFind may_find("lifetime");
    char *block = static_cast<char *>(allocate());
    EXPECT_NE(give_back(block + 8), ACL_SUCCESS);
    give_back(block);
}

TEST_F(Device, DoesNotAskForAnError) {
    void *block = nullptr;
    EXPECT_NE(aclrtMalloc(&block, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
}

TEST_F(Device, Leaks) { EXPECT_NE(allocate(), nullptr); }

TEST_F(Device, LeaksButFailsFirst) {
    EXPECT_NE(allocate(), nullptr);
    FAIL() << "half-way";
}

class Suite : public testing::Test {
protected:
    static void SetUpTestSuite() {
        aclrtSetDevice(0);
        char *block = static_cast<char *>(allocate());
        give_back(block + 16);
        give_back(block);
    }
};
TEST_F(Suite, IsInnocent) {}
END

flags=(-I "$root/include" -L "$root/lib64" -g -O1 -fno-inline)
cat >stand_in.cpp <<'END'
// An AscendCL that knows nothing of belay, and lets everything pass or fail as these tests want it.
#include "acl/acl.h"
extern "C" aclError aclrtSetDevice(int32_t) { return ACL_SUCCESS; }
static int g_block, g_live;
extern "C" aclError aclrtMalloc(void **block, size_t size, aclrtMemMallocPolicy) {
    if (size == 0) return ACL_ERROR_INVALID_PARAM;
    *block = &g_block;
    g_live = 1;
    return ACL_SUCCESS;
}
extern "C" aclError aclrtFree(void *block) {
    if (block != &g_block || g_live == 0) return ACL_ERROR_INVALID_PARAM;
    g_live = 0;
    return ACL_SUCCESS;
}
END

build() { # output, flags...
    succeeds "building $1" "$CXX" -std=c++14 -Wall -Wextra -Werror "${flags[@]}" -o "$1" tests.cpp "${@:2}" \
        -lgtest -lgtest_main -pthread
}
build at_end -DLEAKS= helper.cpp -lascendcl
build per_test -DLEAKS=belay::Leaks::PerTest helper.cpp -lascendcl
build without -DLEAKS=belay::Leaks::PerTest helper.cpp stand_in.cpp

run() { # program, BELAY_CHECK, arguments...: the code is in $code, stdout in out, stderr in err
    code=0
    BELAY_CHECK=$2 "./$1" --gtest_color=no --gtest_print_time=0 "${@:3}" >out 2>err || code=$?
}
passes() { grep -qx "\[       OK \] $1" out || fail "$2: $1 did not pass"; }
fails() { grep -qx "\[  FAILED  \] $1" out || fail "$2: $1 did not fail"; }
# The lines of one test.
of_test() { sed -n "/^\[ RUN      \] $1\$/,/^\[  *[A-Z]* *\] $1\$/p" out; }
says() { # test, words
    [[ $(of_test "$1") == *"$2"* ]] || fail "$1: no '$2': $(of_test "$1")"
}
fails_at() { # test, place, first words of the text
    fails "$1" "$2"
    says "$1" $'\n'"$2: Failure"$'\n'
    says "$1" $'\n'"$3"
}

# --- what is checked --------------------------------------------------------------------------------

check_a_mistake_fails_its_test_at_its_line() {
    run at_end all
    same 'exit code of a run with mistakes' "$code" 86
    passes Device.Good all
    fails_at Device.FreesTwice helper.cpp:8 'belay: double-free: aclrtFree freed '
    says Device.FreesTwice 'at Device_FreesTwice_Test::TestBody (tests.cpp:17)'
    [[ $(of_test Device.FreesTwice) != *'at testing::'* ]] || fail 'frames of GoogleTest are told'
    fails_at Device.FreesInsideWhereSomethingElseWasMeant helper.cpp:8 'belay: free-inside-block: '
    passes Device.DoesNotAskForAnError 'the class errors does not fail'
    passes Device.FreesTwiceOnPurpose all
    passes Device.MayFindAWholeClass all
    passes Device.Leaks 'leaks are looked for at the end'
    passes Suite.IsInnocent all
    same 'failures of one test' "$(of_test Device.FreesTwice | grep -c ': Failure')" 1
    grep -q 'error-not-fetched: aclrtMalloc failed' err || fail 'an error that nobody asked for is not told'
}

check_a_second_test_with_the_same_mistake_fails_too() {
    run at_end cheap # only the line in helper.cpp makes the place
    fails_at Device.FreesTwice helper.cpp:8 'belay: double-free: '
    fails_at Device.FreesTwiceInTheSameHelper helper.cpp:8 'belay: double-free: '
    says Device.FreesTwiceInTheSameHelper $'\n2 times\n'
    same 'told on stderr' "$(grep -c '^belay: double-free: ' err)" 1
    run at_end cheap --gtest_repeat=2 --gtest_filter=Device.FreesTwice
    same 'failures in two iterations' "$(grep -c ': Failure' out)" 2
}

check_what_is_made_outside_of_tests_fails_the_run() {
    run at_end all --gtest_filter='Suite.*'
    same 'exit code' "$code" 86
    passes Suite.IsInnocent all
    grep -qx 'helper.cpp:8: Failure' out || fail "not told: $(cat out)"
    grep -qF 'belay: free-inside-block: ' out || fail "no text: $(cat out)"
}

check_leaks_of_each_test() {
    run per_test all --gtest_filter='Device.*'
    passes Device.Good per_test
    fails_at Device.Leaks helper.cpp:4 'belay: growth: 1 block, 4 KB'
    fails Device.LeaksButFailsFirst per_test
    same 'failures of a test that failed anyway' "$(of_test Device.LeaksButFailsFirst | grep -c ': Failure')" 1
}

check_meant_mistakes_decide_no_exit_code() {
    run at_end all --gtest_filter='Device.Good:Device.*OnPurpose:Device.MayFind*:Device.DoesNot*'
    same 'exit code of a run with mistakes on purpose' "$code" 0
    code=0
    "$root/bin/belay" check -- ./at_end --gtest_filter='Device.Good:Device.*OnPurpose' >out 2>err || code=$?
    same 'exit code under belay check' "$code" 0
    "$root/bin/belay" check -- ./at_end --gtest_filter='Device.FreesTwice' >out 2>err || code=$?
    same 'exit code under belay check, with a mistake' "$code" 86
    fails Device.FreesTwice 'belay check'
}

check_without_a_check_nothing_fails() {
    local program
    for program in at_end per_test without; do
        run "$program" off --gtest_filter='-*FailsFirst'
        same "exit code of $program without a check" "$code" 0
        if grep -q 'belay:   at' out err; then fail "$program: something was found without a check"; fi
    done
    run without all --gtest_filter='-*FailsFirst'
    same 'exit code without belay' "$code" 0
    if ldd without | grep -q ascendcl; then fail 'the program is linked with belay'; fi
}

run_checks
finish 'tests of GoogleTest'
