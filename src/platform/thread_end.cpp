#include "platform/thread_end.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace belay::platform {
namespace {

constinit thread_local std::array<void (*)(), 8> t_acts{};
constinit thread_local std::size_t t_count = 0;

void run_acts(void*) {
  while (t_count > 0) t_acts[--t_count]();
}

// The key is made by the first who needs it; its values mean nothing, but that they are there.
bool has_key(pthread_key_t& key) {
  constexpr std::uint64_t kNone = 0, kFailed = 1, kFirst = 2;
  static constinit std::atomic<std::uint64_t> made{kNone};
  std::uint64_t seen = made.load(std::memory_order_acquire);
  if (seen == kNone) {
    pthread_key_t ours{};
    const std::uint64_t wanted = ::pthread_key_create(&ours, run_acts) == 0 ? ours + kFirst : kFailed;
    if (made.compare_exchange_strong(seen, wanted, std::memory_order_acq_rel)) {
      seen = wanted;
    } else if (wanted != kFailed) {
      ::pthread_key_delete(ours);
    }
  }
  key = static_cast<pthread_key_t>(seen - kFirst);
  return seen >= kFirst;
}

}  // namespace

bool at_thread_end(void (*act)()) {
  pthread_key_t key{};
  // Of a value that is there already the C library needs no more memory.
  if (t_count == t_acts.size() || !has_key(key) || ::pthread_setspecific(key, &t_acts) != 0) return false;
  t_acts[t_count++] = act;
  return true;
}

}  // namespace belay::platform
