#!/usr/bin/env bash
# The command `belay symbolize`: functions, files and lines of programs that are built in many ways.
#
# Usage: symbolize_test.sh <belay>

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

if (($# < 1)); then
    usage '<belay>'
fi
belay=$(realpath "$1")
work=$(realpath "$work")
cd "$work"
without_settings LD_PRELOAD LD_LIBRARY_PATH DEBUGINFOD_URLS

# --- programs -------------------------------------------------------------------------------------

# Prints the frame of whoever calls it, as `belay symbolize` wants it.
cat >frame.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>

static int print(struct dl_phdr_info* file, size_t size, void* data) {
  const uintptr_t address = (uintptr_t)data;
  (void)size;
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &file->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || address - file->dlpi_addr - part->p_vaddr >= part->p_memsz) continue;
    const char* path = file->dlpi_name[0] != 0 ? file->dlpi_name : program_invocation_name;
    printf("  #0 \1%s\2%lx\2\3 |\n", path, (unsigned long)(address - file->dlpi_addr));
    return 1;
  }
  return 0;
}

void frame(void) { dl_iterate_phdr(print, __builtin_return_address(0)); }
END

# The functions differ in comments for the assembler, so that no compiler makes two of them one.
cat >program.cpp <<'END'
extern "C" void frame();
extern "C" void in_library(void (*)());
#define ALONE __attribute__((noinline))
#define INSIDE inline __attribute__((always_inline))
namespace ns {
template <class T> struct Box {
  ALONE T* method(T) const { frame(); asm("/* method */"); return nullptr; }  // line 7
  template <class U> ALONE U* other(U) {
    frame();  // line 9
    asm("/* other */");
    return nullptr;
  }
};
namespace {
ALONE void hidden() { frame(); asm("/* hidden */"); }  // line 15
}
INSIDE void inner(int) {
  frame();  // line 18
}
}
INSIDE void outer() {
  ns::inner(1);  // line 22
}
extern "C" ALONE void caller() {
  outer();  // line 25
  asm("/* caller */");
}
int main() {
  ns::Box<int>().method(1);
  ns::Box<char>().other(1.5);
  ns::hidden();
  caller();
  in_library(frame);
}
END
cat >library.c <<'END'
static void hidden(void (*frame)(void)) {
  frame();
}
void in_library(void (*frame)(void)) { hidden(frame); __asm__("/* in_library */"); }
END

cat >through_library.cpp <<'END'
extern "C" void frame();
#line 1 "/usr/include/c++/12/bits/each.h"
template <class F> inline __attribute__((always_inline)) void each(F f) { f(); }
__attribute__((noinline)) void direct() { frame(); asm("/* direct */"); }
#line 100 "through_library.cpp"
struct Body { void operator()() const { frame(); } };
int main() {
  each(Body{});
  direct();
}
END

# What the program calls, by its lines.
cat >by_lines <<'END'
  #0 ns::Box<int>::method (program.cpp:7) |
  #0 ns::Box<char>::other<double> (program.cpp:9) |
  #0 ns::(anonymous namespace)::hidden (program.cpp:15) |
  #0 ns::inner (program.cpp:18) |
  #0 outer (program.cpp:22) |
  #0 caller (program.cpp:25) |
  #0 hidden (library.c:2) |
  #0 in_library (library.c:4) |
END

program() { # name, flags...: built and run, and its frames kept; $compiler and $source may be others
    local name=$1
    shift
    ${compiler:-$CXX} -O2 "$@" "${source:-program.cpp}" frame.o -o "$name" -L. -lmine -Wl,-rpath,"$work" &&
        "./$name" >"$name.frames"
}

with_lines=(pie fixed older line_tables split)
if command -v clang++ >/dev/null; then
    with_lines+=(clang4 clang5)
fi

build() {
    $CC -O2 -c frame.c -o frame.o &
    $CC -O2 -g -fPIC -shared library.c -o libmine.so &
    wait
    program pie -g -pie -fPIE &
    program fixed -g -no-pie -fno-pie &
    program older -g -gdwarf-4 -gz &
    program line_tables -g1 -Wl,--build-id=none &
    program split -g -gsplit-dwarf &
    program bare &
    source=through_library.cpp program through_library -g &
    if [[ ${with_lines[*]} == *clang* ]]; then
        compiler=clang++ program clang4 -g -gdwarf-4 &
        compiler=clang++ program clang5 -g -gdwarf-5 &
    fi
    wait
    strip -s pie -o stripped && ./stripped >stripped.frames || return
    mkdir .debug
    objcopy --only-keep-debug pie .debug/linked.dbg &&
        objcopy --add-gnu-debuglink=.debug/linked.dbg stripped linked && ./linked >linked.frames || return
    local name
    for name in "${with_lines[@]}" bare; do
        [[ -s $name.frames ]] || return
    done
}
succeeds 'the programs are built' build
end_if_failed

# --- asking ---------------------------------------------------------------------------------------

from=. # the directory that the command runs in
symbolize() { # file: its answer, with every zero byte as @
    (cd "$from" && timeout 60 "$belay" symbolize) <"$1" 2>err | tr '\0' '@' || fail "belay symbolize ends with $?"
    [[ ! -s err ]] || fail "prints to stderr: $(cat err)"
}

answers_file() { # file, wanted
    symbolize "$1" >out
    same "$1 from $from" "$(cat out)" "$2"
}

answers() { # wanted, format and arguments of printf for what is asked
    # shellcheck disable=SC2059  # that is what it is for
    printf "${@:2}" >asked
    symbolize asked >out
    same "${*:2}" "$(cat out)" "$1"
}

offset() { # name of a program, which of its frames
    sed -n "$2s/.*\\x02\\(.*\\)\\x02.*/\\1/p" "$work/$1.frames"
}

build_id() { # name of a program
    readelf -nW "$1" | sed -n 's/.*Build ID: //p'
}

hidden='ns::(anonymous namespace)::hidden (program.cpp:15)' # the third frame of every program

# --- what files know ------------------------------------------------------------------------------

check_functions_and_lines_are_found_in_all_programs_with_debug_information() {
    local name
    for name in "${with_lines[@]}"; do
        answers_file "$name.frames" "$(cat by_lines)"$'\n@'
    done
}

check_frames_of_the_cxx_library_are_left_out() {
    sed 's/#0/at/; s/ |$//' through_library.frames >asked
    symbolize asked >out
    same 'lines of a stack' "$(cat out)" '  at Body::operator() (through_library.cpp:100)
  at main (through_library.cpp:102)
@'
    symbolize through_library.frames >out
    same 'lines of something else' "$(cat out)" "  #0 Body::operator() (through_library.cpp:100) |
  #0 main (through_library.cpp:102) |
  #0 through_library+0x$(offset through_library 2) |
@"
}

check_debug_information_in_a_separate_file_is_found() {
    answers_file linked.frames "$(cat by_lines)"$'\n@'
}

check_a_debug_file_of_another_build_is_not_used() {
    mkdir -p other/.debug
    cp linked other/
    objcopy --only-keep-debug fixed other/.debug/linked.dbg
    answers "linked+0x$(offset linked 1)@" '\001other/linked\002%s\002\003' "$(offset linked 1)"
}

check_a_symbol_table_names_functions() {
    head -n 4 bare.frames >without_g
    answers_file without_g "  #0 ns::Box<int>::method (bare+0x$(offset bare 1)) |
  #0 ns::Box<char>::other<double> (bare+0x$(offset bare 2)) |
  #0 ns::(anonymous namespace)::hidden (bare+0x$(offset bare 3)) |
  #0 caller (bare+0x$(offset bare 4)) |
@"
}

check_a_stripped_program_keeps_its_addresses() {
    head -n 2 stripped.frames >without_symbols
    answers_file without_symbols "  #0 stripped+0x$(offset stripped 1) |
  #0 stripped+0x$(offset stripped 2) |
@"
}

check_a_stripped_library_names_what_it_exports() {
    mkdir stripped_library
    strip -s libmine.so -o stripped_library/libmine.so
    answers "in_library (libmine.so+0x$(offset pie 5))@" '\001stripped_library/libmine.so\002%s\002\003' \
        "$(offset pie 5)"
}

# --- other builds of a file -----------------------------------------------------------------------

check_a_build_id_that_fits_is_accepted() {
    local id
    id=$(build_id pie)
    answers "$hidden@" '\001./pie\002%s\002%s\003' "$(offset pie 3)" "$id"
    answers "$hidden@" '\001./pie\002%s\002%s\003' "$(offset pie 3)" "${id^^}"
}

check_a_file_that_has_changed_is_not_asked() {
    local at name
    for name in pie line_tables; do # with another id, and with none
        at=$(offset "$name" 3)
        answers "$name+0x$at (the file has changed since).@" '\001./%s\002%s\0020123456789abcdef\003.' "$name" "$at"
    done
}

# --- names of files -------------------------------------------------------------------------------

check_files_elsewhere_have_their_whole_path() {
    mkdir elsewhere
    for from in elsewhere /; do
        answers "ns::(anonymous namespace)::hidden ($work/program.cpp:15)@" '\001%s/pie\002%s\002\003' \
            "$work" "$(offset pie 3)"
    done
    from=.
}

check_a_link_to_the_current_directory_is_known() {
    mkdir real
    ln -s real link
    cp program.cpp frame.o libmine.so real
    cd link # compilers believe what PWD says
    succeeds 'a program in a linked directory' program here -g
    cp here.frames "$work"
    from=$work/link
    answers "$hidden@" '\001./here\002%s\002\003' "$(offset here 3)"
    from=.
    cd "$work"
}

check_sources_may_be_beside_the_directory_of_the_build() {
    mkdir -p project/build project/src
    cp program.cpp project/src
    cp frame.o libmine.so project/build
    cd project/build
    source=../src/program.cpp succeeds 'a program out of tree' program beside -g
    cp beside.frames "$work"
    cd "$work"
    from=project
    answers 'ns::(anonymous namespace)::hidden (src/program.cpp:15)@' '\001build/beside\002%s\002\003' \
        "$(offset beside 3)"
    from=.
}

check_a_relative_directory_of_the_compiler_stays_as_it_is() {
    succeeds 'a program with another prefix' program mapped -g -ffile-prefix-map="$work"=./somewhere
    answers 'ns::(anonymous namespace)::hidden (somewhere/program.cpp:15)@' '\001./mapped\002%s\002\003' \
        "$(offset mapped 3)"
}

# --- texts ----------------------------------------------------------------------------------------

check_text_without_frames_is_copied() {
    answers '' ''
    answers $'two\nlines@' 'two\nlines'
    answers $'bytes \377\002\003\t\r\n@' 'bytes \377\002\003\t\r\n'
}

check_every_text_has_its_answer() {
    answers $'one\n@@three@' 'one\n\0\0three'
    answers '@' '\0'
}

check_an_answer_comes_before_the_input_ends() {
    coproc filter { exec "$belay" symbolize; }
    # shellcheck disable=SC2154  # coproc sets it
    local answer number process=$filter_PID
    for number in 1 2; do
        printf 'text %d \001./pie\002%s\002\003\0' "$number" "$(offset pie 3)" >&"${filter[1]}"
        IFS= read -r -d '' -t 60 answer <&"${filter[0]}" || fail 'no answer'
        same 'an answer in between' "$answer" "text $number $hidden"
    done
    eval "exec ${filter[1]}>&-"
    wait "$process" || fail "belay symbolize ends with $? when the input ends"
}

check_a_last_line_without_an_end_is_repeated_too() {
    answers $'a ns::inner (program.cpp:18) b\na outer (program.cpp:22) b\na caller (program.cpp:25) b@' \
        'a \001./pie\002%s\002\003 b' "$(offset pie 4)"
}

check_of_several_frames_in_a_line_each_becomes_its_innermost_function() {
    answers $'ns::inner (program.cpp:18), ns::inner (program.cpp:18)\n@' \
        '\001./pie\002%s\002\003, \001./pie\002%s\002\003\n' "$(offset pie 4)" "$(offset pie 4)"
}

# --- bad input ------------------------------------------------------------------------------------

check_what_is_no_program_or_library_keeps_its_name() {
    mkdir directory
    mkfifo pipe
    head -c 1000 pie >cut_early
    head -c 64 pie >only_header
    : >empty
    local path
    for path in '[vdso]' /no/such/file directory pipe /dev/zero program.cpp cut_early only_header empty './pie (deleted)'; do
        answers "${path##*/}+0x1234@" '\001%s\0021234\002\003' "$path"
    done
}

check_addresses_outside_the_code_keep_their_numbers() {
    local at
    for at in 0 1 10 ffffffff ffffffffffffffff; do
        answers "pie+0x$at@" '\001./pie\002%s\002\003' "$at"
    done
}

check_frames_that_make_no_sense_stay_readable() {
    local at frame wanted
    at=$(offset pie 3)
    while IFS='|' read -r frame wanted; do
        answers "$wanted@" "$frame"
    done <<END
\\001./pie\\002$at|pie+0x$at
\\001./pie\\002$at\\002|pie+0x$at
\\001./pie\\002$at\\002abc and more|pie+0x$at and more
\\001./pie\\002$at and more|pie+0x$at and more
\\001./pie and more|./pie and more
\\001./pie\\003|pie
\\001./pie\\002\\002\\003|pie
\\001./pie\\002zz\\002\\003|pie+0xzz
\\001./pie\\0020x12\\002\\003|pie+0x0x12
\\001./pie\\002-12\\002\\003|pie+0x-12
\\001./pie\\00212345678901234567\\002\\003|pie+0x12345678901234567
\\001./pie\\002$at\\002no id\\003|pie+0x$at
\\001./pie\\002$at\\002\\002\\003|pie+0x$at
\\001\\002\\002\\003|?
\\001\\002$at\\002\\003|?+0x$at
\\001/\\002$at\\002\\003|?+0x$at
\\001|
\\001\\001\\001|
\\001text \\001./pie\\002$at\\002\\003|text $hidden
END
}

check_damaged_files_are_survived() {
    python3 - <<'PYTHON'
import random
whole = open("pie", "rb").read()
random.seed(7)
for number in range(40):
    damaged = bytearray(whole)
    for _ in range(random.choice((1, 10, 1000))):
        damaged[random.randrange(len(whole))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
    open("damaged.%d" % number, "wb").write(damaged)
PYTHON
    local number
    for number in {0..39}; do
        sed "s|\\./pie|./damaged.$number|" pie.frames
    done >damaged.frames
    symbolize damaged.frames >out
    [[ $(tail -n 1 out) == @ ]] || fail "no answer for damaged files: $(tail -n 1 out)"
}

# --- the command itself ---------------------------------------------------------------------------

check_help_teaches() {
    "$belay" symbolize --help >help
    local words
    for words in 'Usage: belay symbolize' 'function (file:line)' '\x01PATH\x02OFFSET\x02BUILDID\x03' 'Examples:'; do
        grep -qF -- "$words" help || fail "no '$words' in the help"
    done
    cp pie my_program
    sed -n "s/0021234/002$(offset pie 3)/; s|belay symbolize|'$belay' symbolize|; s/^  printf/printf/p" help >example
    same 'the example of the help' "$(bash example | tr '\0' '@')" "$hidden"$'\n@'
}

check_a_terminal_is_refused() {
    on_terminal "$belay" symbolize
    grep -q 'which is a terminal' seen || fail "on a terminal: $(cat seen)"
}

check_no_server_is_asked() {
    python3 - "$belay" <<'PYTHON' || fail 'a server was asked for debug information'
import os, socket, subprocess, sys
with socket.create_server(("127.0.0.1", 0)) as server:
    server.setblocking(False)
    environment = {**os.environ, "DEBUGINFOD_URLS": "http://127.0.0.1:%d/" % server.getsockname()[1],
                   "DEBUGINFOD_CACHE_PATH": os.getcwd() + "/cache", "DEBUGINFOD_TIMEOUT": "1"}
    subprocess.run([sys.argv[1], "symbolize"], stdin=open("stripped.frames"), stdout=subprocess.DEVNULL, check=True,
                   timeout=60, env=environment)
    try:
        server.accept()
        sys.exit(1)
    except BlockingIOError:
        pass
PYTHON
}

run_checks
finish 'belay symbolize'
