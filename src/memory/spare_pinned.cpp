#include "memory/spare_pinned.h"

#include <algorithm>

#include "base/size.h"
#include "platform/pinned.h"

namespace belay {

constinit std::atomic<std::uintptr_t> SparePinned::g_from{UINTPTR_MAX}, SparePinned::g_to{0};
constinit std::atomic<SparePinned*> SparePinned::g_current{nullptr};

SparePinned::SparePinned(std::size_t most) : most_{most}, decay_{[this] { give_all_back(); }} {}

SparePinned::Pages SparePinned::remove(std::size_t at) {
  const Pages pages = kept_[at];
  std::copy(kept_.begin() + at + 1, kept_.begin() + count_, kept_.begin() + at);
  --count_;
  bytes_ -= pages.bytes;
  return pages;
}

void SparePinned::show() const {
  std::uintptr_t from = UINTPTR_MAX, to = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    from = std::min(from, kept_[i].start);
    to = std::max(to, kept_[i].start + kept_[i].bytes);
  }
  g_from.store(from, std::memory_order_relaxed);
  g_to.store(to, std::memory_order_relaxed);
}

void* SparePinned::take(std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  for (std::size_t at = count_; at-- > 0;) {
    if (kept_[at].bytes != bytes) continue;
    const Pages pages = remove(at);
    show();
    return reinterpret_cast<void*>(pages.start);
  }
  return nullptr;
}

bool SparePinned::keep(void* start, std::size_t bytes) {
  if (bytes > most_) return false;
  {
    const std::lock_guard lock{mutex_};
    while (count_ == kPlaces || bytes_ + bytes > most_) {
      const Pages oldest = remove(0);
      platform::unmap_pinned(reinterpret_cast<void*>(oldest.start), oldest.bytes);
    }
    kept_[count_++] = {reinterpret_cast<std::uintptr_t>(start), bytes};
    bytes_ += bytes;
    g_current.store(this, std::memory_order_relaxed);
    show();
  }
  decay_.note_kept();
  return true;
}

bool SparePinned::give_all_back() {
  const std::lock_guard lock{mutex_};
  if (count_ == 0) return false;
  while (count_ != 0) {
    const Pages pages = remove(count_ - 1);
    platform::unmap_pinned(reinterpret_cast<void*>(pages.start), pages.bytes);
  }
  show();
  return true;
}

void SparePinned::close() {
  decay_.stop();
  give_all_back();
  SparePinned* mine = this;
  g_current.compare_exchange_strong(mine, nullptr);
}

void SparePinned::end_around(std::uintptr_t address, std::size_t bytes) {
  SparePinned* spare = g_current.load(std::memory_order_acquire);
  if (spare == nullptr) return;
  const std::lock_guard lock{spare->mutex_};
  for (std::size_t at = spare->count_; at-- > 0;) {
    if (!overlap(address, bytes, spare->kept_[at].start, spare->kept_[at].bytes)) continue;
    const Pages pages = spare->remove(at);
    platform::unmap_pinned(reinterpret_cast<void*>(pages.start), pages.bytes);
  }
  spare->show();
}

void SparePinned::forget() {
  g_current.store(nullptr);
  g_from.store(UINTPTR_MAX);
  g_to.store(0);
}

}  // namespace belay
