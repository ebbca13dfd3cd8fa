#include "platform/shared_word.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace belay::platform {

static_assert(sizeof(SharedWord) == sizeof(std::uint32_t) && SharedWord::is_always_lock_free);

void wait_for_change(const SharedWord& word, std::uint32_t was,
                     std::optional<std::chrono::milliseconds> at_most) {
  timespec time{};
  if (at_most) {
    time.tv_sec = at_most->count() / 1000;
    time.tv_nsec = at_most->count() % 1000 * 1'000'000;
  }
  ::syscall(SYS_futex, &word, FUTEX_WAIT, was, at_most ? &time : nullptr, nullptr, 0);
}

void tell_of_change(const SharedWord& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace belay::platform
