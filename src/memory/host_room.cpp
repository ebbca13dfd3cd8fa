#include "memory/host_room.h"

#include <algorithm>

#include "base/size.h"
#include "platform/kernel_pages.h"
#include "platform/process.h"

namespace belay {
namespace {

// Left alone, or a twentieth of everything if that is more: what the program itself and its neighbours need
// next.
constexpr std::size_t kLeftAlone = 32_MiB;
// A look allows at most the second of these, and not more than this part of what is there: of a hundred
// processes that look at the same moment, all may use it.
constexpr std::size_t kPart = 128, kMostPerLook = 64_MiB;
// How often to look again, a millisecond apart, while only what others are about to take is missing: they may
// be refused themselves, or need less.
constexpr int kMostLooks = 50;

std::size_t room_now() {
  const platform::MemoryLeft there = platform::memory_left();
  return there.available - std::min(there.available, std::max(kLeftAlone, there.total / 20));
}

}  // namespace

// With the lock held. Afterwards so many bytes are spare, if it says so.
bool HostRoom::look(std::size_t bytes) {
  spare_ = 0;
  for (int looks = 0; looks < kMostLooks; ++looks) {
    machine_.promise(under_way_ + bytes);
    const std::size_t room = room_now();
    const std::size_t ours = room - std::min(room, under_way_);
    const std::size_t left = ours - std::min<std::size_t>(ours, machine_.promised_by_others());
    if (bytes <= left) {
      spare_ = std::max(bytes, std::min(left / kPart, kMostPerLook));
      break;
    }
    machine_.promise(under_way_);
    if (bytes > ours) break;
    platform::sleep_briefly();
  }
  return spare_ != 0;
}

HostRoom::Promise HostRoom::ask(std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  if (bytes > spare_ && !look(bytes) && !(give_back_ && give_back_() && look(bytes))) return {};
  spare_ -= bytes;
  under_way_ += bytes;
  machine_.promise(under_way_ + spare_);
  return {*this, bytes};
}

std::size_t HostRoom::left() {
  const std::lock_guard lock{mutex_};
  const std::size_t room = room_now();
  return room - std::min<std::size_t>(room, under_way_ + machine_.promised_by_others());
}

void HostRoom::end(std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  under_way_ -= bytes;
  machine_.promise(under_way_ + spare_);
}

}  // namespace belay
