#include "platform/threads.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <memory>
#include <utility>

#include "platform/files.h"

namespace belay::platform {
namespace {

struct Start {
  const char* name;
  std::function<void()> body;
};

void* enter(void* argument) {
  const std::unique_ptr<Start> start{static_cast<Start*>(argument)};
  ::pthread_setname_np(::pthread_self(), start->name);
  start->body();
  return nullptr;
}

}  // namespace

void explain_ended_thread(const std::string& function, const char* rule) {
  print_line(true,
             "belay: " + function +
                 " ended its thread (pthread_exit), or another thread cancelled it. A wait for it would "
                 "never end [rule " +
                 rule + "]; return from the callback instead.\n");
  std::terminate();
}

bool is_only_thread() { return __libc_single_threaded != 0; }

bool start_thread(const char* name, std::function<void()> body) {
  auto start = std::make_unique<Start>(Start{name, std::move(body)});
  // Signals that are sent go to threads of the program. Those that the thread causes itself do not: blocked,
  // they would end the process without asking any handler.
  sigset_t sent;
  sigset_t before;
  ::sigfillset(&sent);
  for (const int caused : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) ::sigdelset(&sent, caused);
  ::pthread_sigmask(SIG_SETMASK, &sent, &before);  // inherited by the new thread
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const bool started = ::pthread_create(&thread, &attributes, enter, start.get()) == 0;
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) (void)start.release();  // the thread deletes it
  return started;
}

bool barrier_on_all_threads() {
  // Not a static of this function: a fork could find its guard half-way.
  static constinit std::atomic<bool> registered{false};
  const auto membarrier = [](int command) { return ::syscall(SYS_membarrier, command, 0, 0) == 0; };
  if (registered.load() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return true;
  registered.store(membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED));
  if (registered.load() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return true;
  return membarrier(MEMBARRIER_CMD_GLOBAL);
}

StackRange stack_of_this_thread() {
  // For the first thread the system reads a file.
  constinit thread_local StackRange known;
  constinit thread_local bool asked = false;
  if (std::exchange(asked, true)) return known;
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return known;
  void* start = nullptr;
  std::size_t bytes = 0;
  if (::pthread_attr_getstack(&attributes, &start, &bytes) == 0)
    known = {reinterpret_cast<std::uintptr_t>(start), reinterpret_cast<std::uintptr_t>(start) + bytes};
  ::pthread_attr_destroy(&attributes);
  return known;
}

unsigned processors() {
  cpu_set_t mine;
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&mine)));
}

}  // namespace belay::platform
