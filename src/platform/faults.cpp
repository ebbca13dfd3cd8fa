#include "platform/faults.h"

#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "platform/call_stack.h"

namespace belay::platform {
namespace {

std::atomic<FaultObserver> g_observer{nullptr};

struct sigaction g_before_segv;
struct sigaction g_before_bus;

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

void on_fault(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool from_access = info->si_code > 0;  // raise() and kill() carry no address
  if (const FaultObserver observer = g_observer.load(); observer != nullptr && from_access) {
    observer(fault_of(signal, *info, context));
  }
  errno = saved_errno;

  const struct sigaction& before = signal == SIGSEGV ? g_before_segv : g_before_bus;
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

}  // namespace

void observe_faults(FaultObserver observer) {
  (void)in_this_library(0);  // found once: runtimes of languages fault all the time
  if (g_observer.exchange(observer) != nullptr) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGSEGV, &ours, &g_before_segv);
  ::sigaction(SIGBUS, &ours, &g_before_bus);
}

const char* function_around(std::uintptr_t code, bool& inside) {
  inside = in_this_library(code);
  Dl_info found{};
  return inside && ::dladdr(reinterpret_cast<const void*>(code), &found) != 0 ? found.dli_sname : nullptr;
}

}  // namespace belay::platform
