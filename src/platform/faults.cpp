#include "platform/faults.h"

#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

#include "platform/call_stack.h"

namespace belay::platform {
namespace {

std::atomic<FaultObserver> g_observer{nullptr};
std::atomic<FaultMender> g_mender{nullptr};

std::atomic<void (*)()> g_abort_observer{nullptr};

struct sigaction g_before_segv;
struct sigaction g_before_bus;
struct sigaction g_before_abort;

Fault fault_of(int signal, const siginfo_t& info, const void* context) {
  Fault fault{reinterpret_cast<std::uintptr_t>(info.si_addr), Fault::Why::NotMapped, false, 0};
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  fault.write = (registers.gregs[REG_ERR] & 2) != 0;
  fault.code = static_cast<std::uintptr_t>(registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
  fault.code = static_cast<std::uintptr_t>(registers.pc);
#else
  (void)registers;
#endif
  if (info.si_code == SI_KERNEL)
    fault.why = Fault::Why::NoAddress;
  else if (signal == SIGBUS)
    fault.why = Fault::Why::NoBytes;
  else if (info.si_code != SEGV_MAPERR)
    fault.why = Fault::Why::NotAllowed;
  return fault;
}

// To whoever had the signal before us.
void pass_on(const struct sigaction& before, bool from_access, int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler == SIG_IGN && !from_access) {
    return;
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    // The default takes its course: the instruction faults again, or the sent signal is sent again.
    ::sigaction(signal, &before, nullptr);
    if (!from_access) ::raise(signal);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool from_access = info->si_code > 0;  // raise() and kill() carry no address
  bool mended = false;
  if (const FaultMender mender = g_mender.load(); mender != nullptr && from_access && signal == SIGSEGV)
    mended = mender(fault_of(signal, *info, context));
  if (const FaultObserver observer = g_observer.load(); observer != nullptr && from_access && !mended)
    observer(fault_of(signal, *info, context));
  errno = saved_errno;
  if (mended) return;

  pass_on(signal == SIGSEGV ? g_before_segv : g_before_bus, from_access, signal, info, context);
}

void on_abort(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (const auto observer = g_abort_observer.load(); observer != nullptr) observer();
  errno = saved_errno;
  pass_on(g_before_abort, false, signal, info, context);
}

void install_one(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& before) {
  struct sigaction ours {};
  ours.sa_sigaction = handler;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(signal, &ours, &before);
}

// Under the lock under which the runtime is made.
void install() {
  (void)in_this_library(0);  // found once: runtimes of languages fault all the time
  static constinit bool installed = false;
  if (std::exchange(installed, true)) return;
  install_one(SIGSEGV, on_fault, g_before_segv);
  install_one(SIGBUS, on_fault, g_before_bus);
}

}  // namespace

void observe_faults(FaultObserver observer) {
  g_observer.store(observer);
  install();
}

void observe_aborts(void (*observer)()) {
  if (g_abort_observer.exchange(observer) == nullptr) install_one(SIGABRT, on_abort, g_before_abort);
}

void mend_faults(FaultMender mender) {
  g_mender.store(mender);
  install();
}

const char* function_around(std::uintptr_t code, bool& inside) {
  inside = in_this_library(code);
  Dl_info found{};
  return inside && ::dladdr(reinterpret_cast<const void*>(code), &found) != 0 ? found.dli_sname : nullptr;
}

}  // namespace belay::platform
