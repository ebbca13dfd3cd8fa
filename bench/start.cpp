// How long a new process takes, from its start to its end, and how much memory it has.
//
//   start/empty/0     a program that does nothing and is not linked to belay
//   start/linked/0    the same, linked to belay
//   start/belay/0     aclInit, aclrtSetDevice and the first aclrtMalloc (1 MB)
//   resident/belay/0  VmRSS of that process with its block, in the counter resident_bytes
//
// The repeats of Google Benchmark are single starts, so that the best one is that of a process and no
// average.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "peers.h"
#include "program.h"

namespace bench {
namespace {

std::string beside_this(const char* program) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / program).string();
}

// Returns when it has ended; with `out`, its output goes there.
void run_child(const std::string& program, const char* what, int out = -1) {
  std::string path = program;
  std::string argument = what;
  char* arguments[] = {path.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (out >= 0) posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  pid_t child = 0;
  if (posix_spawn(&child, path.c_str(), &actions, nullptr, arguments, environ) != 0) fail(program.c_str());
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) fail(program.c_str());
  posix_spawn_file_actions_destroy(&actions);
}

void start(benchmark::State& state, const std::string& program, const char* what) {
  for (auto _ : state) {
    const auto before = std::chrono::steady_clock::now();
    run_child(program, what);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
  }
}

void resident(benchmark::State& state, const std::string& program) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
  for (auto _ : state) run_child(program, "resident", ends[1]);
  char text[32] = {};
  if (read(ends[0], text, sizeof text - 1) <= 0) fail("reading VmRSS");
  state.counters["resident_bytes"] = 1024.0 * std::atof(text);
  close(ends[0]);
  close(ends[1]);
}

void add_all() {
  const std::string child = beside_this("bench_start_child");
  const std::string empty = beside_this("bench_start_empty");
  const auto add_start = [](const char* name, const std::string& program, const char* what) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State& state) { start(state, program, what); })
        ->UseManualTime()
        ->Iterations(1);
  };
  add_start("start/empty/0", empty, "nothing");
  add_start("start/linked/0", child, "nothing");
  add_start("start/belay/0", child, "first");
  add("resident/belay/0", [=](benchmark::State& state) { resident(state, child); })->Iterations(1);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv, bench::add_all); }
