// A lock that signal handlers may take, too: whoever holds it is interrupted by no other handler, which could
// wait for it on the same thread. For what takes microseconds; whoever waits, spins.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <csignal>

namespace belay::platform {

class HandlerLock {
 public:
  class Held {
   public:
    explicit Held(HandlerLock& lock) : lock_{lock} {
      sigset_t all;
      ::sigfillset(&all);
      ::pthread_sigmask(SIG_BLOCK, &all, &before_);
      while (lock_.taken_.exchange(true, std::memory_order_acquire)) ::sched_yield();
    }
    ~Held() {
      lock_.taken_.store(false, std::memory_order_release);
      ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    HandlerLock& lock_;
    sigset_t before_;
  };

  void renew() { taken_.store(false); }  // in the child of a fork, where another thread may have held it

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace belay::platform
