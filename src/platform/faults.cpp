#include "platform/faults.h"

#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace belay::platform {
namespace {

std::atomic<FaultObserver> g_observer{nullptr};
struct sigaction g_before_segv;
struct sigaction g_before_bus;

bool was_write(const void* context) {
#if defined(__x86_64__)
  const auto* about = static_cast<const ucontext_t*>(context);
  return (about->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  (void)context;
  return false;
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool from_access = info->si_code > 0;  // raise() and kill() carry no address
  if (const FaultObserver observer = g_observer.load(); observer != nullptr && from_access) {
    observer(reinterpret_cast<std::uintptr_t>(info->si_addr), was_write(context));
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
  if (g_observer.exchange(observer) != nullptr) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGSEGV, &ours, &g_before_segv);
  ::sigaction(SIGBUS, &ours, &g_before_bus);
}

void write_error(const char* text) {
  std::size_t left = std::strlen(text);
  while (left > 0) {
    const ssize_t put = ::write(STDERR_FILENO, text, left);
    if (put <= 0) return;
    text += put;
    left -= static_cast<std::size_t>(put);
  }
}

}  // namespace belay::platform
