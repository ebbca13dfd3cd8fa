#!/usr/bin/env bash
# The options of `belay check`: what is printed, what is written, and the exit code.
#
# Usage: options_test.sh <root of an installation>

source "$(dirname "${BASH_SOURCE[0]}")/../../integration/support.sh"

if (($# < 1)); then
    usage '<root of an installation>'
fi
root=$(realpath "$1")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
belay=$root/bin/belay
cd "$work"
without_settings
export BELAY_MACHINE=private BELAY_PIN=best-effort # whatever may be locked here

# --- programs -------------------------------------------------------------------------------------

# Two mistakes of the class lifetime, a leak and an unfetched error; the first one five times.
cat >four.cpp <<'END'
#include "program.h"
[[gnu::noinline]] void twice() {
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtFree(block));
  aclrtFree(block);
}
namespace cache {
[[gnu::noinline]] void fill(void* freed) {
  if (aclrtMemset(freed, kBytes, 1, kBytes) == ACL_SUCCESS) std::abort();
}
}
[[gnu::noinline]] void lose() {
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
}
int main(int count, char**) {
  const Device device;
  for (int i = 0; i < 5; ++i) twice();
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtFree(block));
  cache::fill(block);
  lose();
  must(aclrtMalloc(&block, 0, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS);
  std::puts("done");
  return count == 1 ? 0 : 7;
}
END

cat >clean.cpp <<'END'
#include <csignal>
#include "program.h"
int main(int count, char** words) {
  const Device device;
  if (count > 1) std::raise(std::atoi(words[1]));
  return 5;
}
END

# Children: one by fork, one by fork and exec; each makes its own mistake, and so does the parent.
cat >family.cpp <<'END'
#include <sys/wait.h>
#include <unistd.h>
#include "program.h"
[[gnu::noinline]] void mistake() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtFree(block));
  (void)aclrtFree(block);
}
void of_forked() { mistake(); }
int main(int count, char** words) {
  if (count > 1) {
    mistake();
    return 0;
  }
  mistake();
  const pid_t forked = fork();
  if (forked == 0) {
    of_forked();
    std::exit(0);
  }
  int status = 0;
  must(waitpid(forked, &status, 0) == forked);
  const pid_t started = fork();
  if (started == 0) {
    execl(words[0], words[0], "child", nullptr);
    std::_Exit(9);
  }
  must(waitpid(started, &status, 0) == started);
  return 0;
}
END

# A plugin that is closed before its mistake is known, and one that is not.
cat >plugin.cpp <<'END'
#include "program.h"
extern "C" void* make_in_plugin() {
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return block;
}
extern "C" int drop_in_plugin(void* block) {
  const aclError code = aclrtFree(block);
  return code == ACL_SUCCESS ? 1 : 2;
}
END
cat >host.cpp <<'END'
#include <dlfcn.h>
#include "program.h"
int main(int count, char**) {
  const Device device;
  void* plugin = dlopen("./plugin.so", RTLD_NOW);
  must(plugin != nullptr);
  auto make = reinterpret_cast<void* (*)()>(dlsym(plugin, "make_in_plugin"));
  auto drop = reinterpret_cast<int (*)(void*)>(dlsym(plugin, "drop_in_plugin"));
  void* block = make();
  must(drop(block) == 1);
  if (count > 1) {
    must(drop(block) == 2);
    must(dlclose(plugin) == 0);
    return 0;
  }
  must(dlclose(plugin) == 0);
  (void)aclrtFree(block);
}
END

compile() { # name, flags...
    local name=$1
    shift
    $CXX -std=c++20 -O2 -g -I"$here" -I"$root/include" "$name.cpp" "$@" -L"$root/lib64" -lascendcl
}
build() {
    compile four -o four &
    compile clean -o clean &
    compile family -o family &
    compile plugin -fPIC -shared -o plugin.so &
    compile host -o host -ldl &
    wait
    [[ -x four && -x clean && -x family && -f plugin.so && -x host ]]
}
succeeds 'the programs are built' build
end_if_failed

# --- asking ---------------------------------------------------------------------------------------

checked() { # exit code, arguments of belay check...: what it prints is in out and err
    local wanted=$1 code=0
    shift
    (
        timeout 60 "$belay" check "$@" >out 2>err
        exit $?
    ) 2>/dev/null || code=$? # the shell tells of signals, too
    same "exit code of 'belay check $*'" "$code" "$wanted"
}

found() { # ids of what was printed, in order
    sed -nE 's/^belay: ([a-z-]+): .* \[[a-z]+\]$/\1/p' "${1-err}" | tr '\n' ' '
}

all='double-free use-after-free leak error-not-fetched '

says() { # what
    grep -qF -- "$1" err || fail "no '$1' in: $(cat err)"
}
silent_about() { # what
    ! grep -qF -- "$1" err || fail "'$1' in: $(cat err)"
}

# --- exit codes -----------------------------------------------------------------------------------

check_exit_codes() {
    checked 86 -- ./four
    same 'what is found' "$(found)" "$all"
    same 'what the program prints' "$(cat out)" done
    says 'belay: 3 findings, and 1 finding that does not count (see --fail-on): exit code 86'
    checked 86 -- ./four 7
    checked 5 -- ./clean
    says 'belay: nothing was found'
    checked 143 -- ./clean 15
    checked 137 -- ./clean 9
    checked 134 -- ./clean 6
    checked 33 --error-exitcode 33 -- ./four
    checked 0 --error-exitcode 0 -- ./four
}

check_wrong_use_is_told_before_the_program_starts() {
    local words
    for words in '--level much' '--only sleep' '--fail-on sleep' '--api-errors some' '--suppressions missing' \
        '--baseline missing' '--error-exitcode 256' '--print-limit x'; do
        # shellcheck disable=SC2086  # two words
        checked 2 $words -- ./four
        same "$words: the program does not run" "$(cat out)" ''
        [[ -s err ]] || fail "$words: nothing is said"
    done
    checked 127 -- ./missing
    checked 126 -- ./four.cpp
    checked 2
}

# --- what counts ----------------------------------------------------------------------------------

check_classes() {
    checked 86 --only leaks -- ./four
    same '--only leaks' "$(found)" 'leak '
    checked 86 --only lifetime,errors -- ./four
    same '--only lifetime,errors' "$(found)" 'double-free use-after-free error-not-fetched '
    checked 0 --only errors -- ./four
    checked 7 --only errors -- ./four 7
    checked 86 --only errors --fail-on errors -- ./four
    checked 0 --fail-on host,bounds -- ./four
    same '--fail-on host,bounds' "$(found)" "$all"
    says 'belay: 4 findings that do not count (see --fail-on)'
    checked 86 --fail-on all -- ./four
    says 'belay: 4 findings: exit code 86'
}

check_api_errors() {
    checked 86 --api-errors off -- ./four
    same 'off' "$(found)" 'double-free use-after-free leak '
    checked 86 --api-errors all -- ./four
    same 'all: at once, not at the end' "$(found)" 'double-free use-after-free error-not-fetched leak '
}

check_the_cheap_level_has_one_frame() {
    checked 86 --level cheap -- ./four
    same 'what is found' "$(found)" "$all"
    says 'at twice (four.cpp:6)'
    silent_about 'at main (four.cpp:19)'
    checked 86 -- ./four
    says 'at main (four.cpp:19)'
}

# --- how much -------------------------------------------------------------------------------------

check_print_limit_and_log_file() {
    checked 86 --print-limit 1 -- ./four
    same 'printed' "$(found)" 'double-free '
    says '(--print-limit)'
    says 'belay: 3 findings, and 1 finding'
    checked 86 --print-limit 0 -- ./four
    same 'printed' "$(found)" ''
    checked 86 --print-limit 1 --log-file log -- ./four
    same 'printed' "$(found)" 'double-free '
    same 'logged' "$(found log)" "$all"
    mkdir -p elsewhere
    checked 86 --log-file log -- bash -c 'cd elsewhere && ../four'
    same 'appended' "$(found log)" "$all$all"
}

check_halt_on_error() {
    checked 86 --halt-on-error -- ./four
    same 'printed' "$(found)" 'double-free '
    same 'the program does not go on' "$(cat out)" ''
    says '(--halt-on-error)'
    checked 86 --halt-on-error --fail-on leaks -- ./four
    same 'only what counts ends it' "$(found)" 'double-free use-after-free leak '
    checked 0 --halt-on-error --only errors -- ./four
    same 'it goes on' "$(cat out)" done
}

# --- suppressions ---------------------------------------------------------------------------------

suppressed() { # lines, exit code, what is still found
    printf '%b' "$1" >lines
    checked "$2" --suppressions lines -- ./four
    same "suppressed by '$1'" "$(found)" "$3"
}

check_suppressions() {
    suppressed 'class:lifetime\n' 86 'leak error-not-fetched '
    suppressed 'class:l*\n' 0 'error-not-fetched '
    suppressed 'id:double-free\n' 86 'use-after-free leak error-not-fetched '
    suppressed 'rule:M-409\n' 86 'double-free use-after-free error-not-fetched '
    suppressed 'function:cache::fill\n' 86 'double-free leak error-not-fetched '
    suppressed 'function:lose\n' 86 'double-free use-after-free error-not-fetched '
    suppressed 'function:main\n' 0 ''
    suppressed 'file:four.cpp\n' 0 ''
    suppressed 'file:other.cpp\n' 86 "$all"
    suppressed '# a comment\n\n  class:leaks   id:leak # all of a line must fit\nclass:leaks id:double-free\n' 86 \
        'double-free use-after-free error-not-fetched '
    suppressed 'class:errors\r\n' 86 'double-free use-after-free leak '
    suppressed 'class:errors' 86 'double-free use-after-free leak '
}

check_a_wrong_line_of_suppressions_is_told() {
    printf 'class:errors\nkind:leak\n' >lines
    checked 2 --suppressions lines -- ./four
    says 'line 2'
    same 'the program does not run' "$(cat out)" ''
}

check_printed_suppressions_silence_the_run() {
    checked 86 --print-suppressions -- ./four
    grep -v '^done$' out >lines
    same 'a line for each' "$(wc -l <lines)" 4
    checked 0 --suppressions lines -- ./four
    same 'still found' "$(found)" ''
    same 'printed' "$(cat err)" 'belay: nothing was found'
}

# --- baseline and reports -------------------------------------------------------------------------

check_a_baseline_leaves_only_what_is_new() {
    checked 86 --json known.json -- ./four
    checked 0 --baseline known.json -- ./four
    same 'still found' "$(found)" ''
    checked 86 --only leaks --json known.json -- ./four
    checked 86 --baseline known.json -- ./four
    same 'still found' "$(found)" 'double-free use-after-free error-not-fetched '
    checked 5 --json known.json -- ./clean
    checked 86 --baseline known.json -- ./four
    same 'still found' "$(found)" "$all"
    # lines move when a program is changed
    mkdir -p moved
    checked 86 --json known.json -- ./four
    { printf '\n\n\n'; cat four.cpp; } >moved/four.cpp
    (cd moved && compile four -o four)
    (cd moved && "$belay" check --baseline ../known.json -- ./four) >out 2>err || fail 'lines have moved'
    same 'still found' "$(found)" ''
    printf '{"findings": 5}' >known.json
    checked 2 --baseline known.json -- ./four
    same 'a wrong file: the program does not run' "$(cat out)" ''
}

check_json() {
    checked 86 --json report.json -- ./four 7
    cp report.json out
    judge 'a["format"] == "belay-check" and a["version"] == 1 and a["program"] == "./four"' 'the head'
    judge 'a["program_exit_code"] == 7 and a["exit_code"] == 86 and a["failed"] and a["lost"] == 0' 'the codes'
    judge '[f["id"] for f in a["findings"]] == ["double-free", "use-after-free", "leak", "error-not-fetched"]' 'ids'
    judge '[f["class"] for f in a["findings"]] == ["lifetime", "lifetime", "leaks", "errors"]' 'classes'
    judge '[f["count"] for f in a["findings"]] == [5, 1, 1, 1]' 'counts'
    judge '[f["fails"] for f in a["findings"]] == [True, True, True, False]' 'which count'
    judge 'a["findings"][0]["frames"][0] == {"function": "twice", "file": "four.cpp", "line": 6, "of_call": True}' 'frames'
    judge 'all(f["process_name"] == "four" and f["text"].startswith("belay: ") for f in a["findings"])' 'texts'
    checked 5 --json - -- ./clean
    judge 'a["findings"] == [] and not a["failed"] and a["exit_code"] == 5' 'nothing'
    checked 143 --json report.json -- ./clean 15
    cp report.json out
    judge 'a["exit_code"] == 143 and a["program_exit_code"] == 143' 'a signal'
}

check_sarif() {
    checked 86 --sarif report.sarif -- ./four
    cp report.sarif out
    judge 'a["version"] == "2.1.0" and a["runs"][0]["tool"]["driver"]["name"] == "belay"' 'the head'
    judge '[r["level"] for r in a["runs"][0]["results"]] == ["error", "error", "error", "warning"]' 'levels'
    judge 'a["runs"][0]["results"][0]["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "four.cpp"}, "region": {"startLine": 6}}' 'a place'
    judge '{r["ruleId"] for r in a["runs"][0]["results"]} == {r["id"] for r in a["runs"][0]["tool"]["driver"]["rules"]}' 'rules'
}

check_junit() {
    checked 86 --junit report.xml -- ./four
    python3 - report.xml <<'PYTHON' || fail "JUnit: $(cat report.xml)"
import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot().find("testsuite")
cases = suite.findall("testcase")
assert suite.get("tests") == "4" and suite.get("failures") == "3" and len(cases) == 4
assert [c.find("failure") is not None for c in cases] == [True, True, True, False]
assert cases[0].get("classname") == "belay.lifetime"
PYTHON
    checked 5 --junit report.xml -- ./clean
    grep -q 'tests="1" failures="0"' report.xml || fail "JUnit of a clean run: $(cat report.xml)"
}

check_a_report_that_cannot_be_written_is_told() {
    checked 86 --json /no/such/file -- ./four
    says 'cannot be written'
    checked 5 --json /no/such/file -- ./clean
}

# --- processes, plugins, no wrapper ---------------------------------------------------------------

check_children_report_into_one_verdict() {
    checked 86 --json report.json -- ./family
    same 'found' "$(found)" 'double-free hint double-free double-free '
    cp report.json out
    judge 'len({f["process"] for f in a["findings"]}) == 3' 'three processes'
    judge '{f["process_name"] for f in a["findings"]} == {"family"}' 'their name'
    says 'belay: 3 findings, and 1 finding that does not count (see --fail-on): exit code 86'
    says 'this process was forked by one that had used AscendCL'
    checked 86 -- bash -c './family; true'
}

check_frames_of_plugins() {
    checked 86 -- ./host stay
    says 'at drop_in_plugin (plugin.cpp:8)'
    says 'at make_in_plugin (plugin.cpp:4)'
    checked 86 -- ./host
    says 'at main (host.cpp:17)'
    says 'at drop_in_plugin (plugin.cpp:8)' # which is closed by now
    says 'at make_in_plugin (plugin.cpp:4)'
}

check_without_the_wrapper() {
    local code=0
    LD_LIBRARY_PATH=$root/lib64 BELAY_CHECK=all ./four >out 2>err || code=$?
    same 'exit code' "$code" 86
    same 'found' "$(found)" "$all"
    grep -qE '^belay: findings of process [0-9]+: 2 lifetime \(6 times\), 1 leaks, 1 errors$' err || fail "the sum: $(tail -n 1 err)"
    code=0
    LD_LIBRARY_PATH=$root/lib64 BELAY_CHECK=all ./clean >out 2>err || code=$?
    same 'exit code of a clean program' "$code" 5
    same 'printed' "$(cat err)" ''
    code=0
    LD_LIBRARY_PATH=$root/lib64 BELAY_CHECK=all,classes=errors ./four >out 2>err || code=$?
    same 'exit code where nothing counts' "$code" 0
    code=0
    LD_LIBRARY_PATH=$root/lib64 BELAY_CHECK=all,error-exitcode=44,fail-on=leaks ./four >out 2>err || code=$?
    same 'another exit code' "$code" 44
    code=0
    LD_LIBRARY_PATH=$root/lib64 BELAY_CHECK=off ./four >out 2>err || code=$?
    same 'off' "$code" 0
    same 'off: found' "$(found)" ''
}

# It holds more after each line that it reads, and says so.
check_marks_from_outside() {
    cat >growing.cpp <<'END'
#include "program.h"
int main() {
  const Device device;
  std::puts("ready");
  std::fflush(stdout);
  for (int word = std::getchar(); word != EOF; word = std::getchar()) {
    void* block = nullptr;
    must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    std::puts("ready");
    std::fflush(stdout);
  }
}
END
    compile growing -o growing
    coproc program { BELAY_CHECK=all,classes=leaks LD_LIBRARY_PATH=$root/lib64 exec ./growing 2>err; }
    local pid=$! to=${program[1]} from=${program[0]} line code=0
    read -r line <&"$from"
    same 'the first mark' "$("$belay" mark "$pid")" "process $pid: mark set; 0 objects made since the mark before are still there"
    printf x >&"$to"
    read -r line <&"$from"
    same 'the second mark' "$("$belay" mark "$pid")" "process $pid: mark set; 1 object made since the mark before is still there"
    same 'nothing since' "$("$belay" mark "$pid")" "process $pid: mark set; 0 objects made since the mark before are still there"
    says 'belay: growth: 1 block'
    says 'at main (growing.cpp:8)'
    eval "exec $to>&-"
    wait "$pid" || code=$?
    same 'it counts' "$code" 86
    code=0
    "$belay" mark "$pid" >out 2>err || code=$?
    same 'exit code: no process' "$code" 1
    says 'there is no such process'
    code=0
    "$belay" mark $$ >out 2>err || code=$?
    same 'exit code: not checked' "$code" 1
    says 'it is not checked for leaks'
    code=0
    "$belay" mark x >out 2>err || code=$?
    same 'exit code: no number' "$code" 2
}

check_a_small_quarantine_forgets_soon() {
    checked 86 --quarantine 1 -- ./four
    same 'found' "$(found)" "$all"
}

check_watch_host() {
    cat >early.cpp <<'END'
#include "program.h"
int main() {
  const Device device;
  const Pinned host;
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, kBytes, 7, kBytes));
  must(aclrtCreateStream(&stream));
  must(aclrtMemcpyAsync(host.start, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  (void)*static_cast<const volatile char*>(host.start);
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
END
    succeeds 'early is built' compile early -o early
    export BELAY_SCHEDULE=lazy
    local code words
    checked 0 -- ./early
    checked 86 --watch-host -- ./early
    same 'what is found' "$(found)" 'host-access-before-wait '
    checked 0 --watch-host --only leaks -- ./early
    checked 0 --watch-host --fail-on leaks -- ./early
    printf 'id:host-access-before-wait function:main\n' >suppress
    checked 0 --watch-host --suppressions suppress -- ./early
    for words in '86 BELAY_CHECK=all BELAY_WATCH_HOST=on' '86 BELAY_CHECK=cheap BELAY_WATCH_HOST=on BELAY_FAULTS=off' \
        '0 BELAY_CHECK=all BELAY_WATCH_HOST=off' '0 BELAY_WATCH_HOST=on'; do
        code=0
        # shellcheck disable=SC2086  # words
        env LD_LIBRARY_PATH="$root/lib64" ${words#* } ./early >out 2>err || code=$?
        same "${words#* }" "$code" "${words%% *}"
    done
    code=0
    "$belay" run --check all --watch-host on -- ./early >out 2>err || code=$?
    same 'belay run --watch-host on' "$code" 86
    BELAY_WATCH_HOST=some checked 2 -- ./early
    says "expected: off or on"
    unset BELAY_SCHEDULE
}

check_help_names_all_options() {
    "$belay" check --help >help
    local option
    for option in level only fail-on error-exitcode api-errors print-limit halt-on-error log-file suppressions \
        print-suppressions baseline json sarif junit watch-host; do
        grep -q -- "--$option" help || fail "no --$option in the help"
    done
}

run_checks
finish 'the options of belay check'
