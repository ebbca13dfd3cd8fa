// How far each stream is. Streams share the places by their numbers: a place belongs to one of them until
// that is destroyed, and those that find none have a table with a lock.
//
// Work is done under the lock of the scheduler, on the thread of a worker, while the program submits more:
// that it is done costs one store here, and nobody waits for anybody.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace belay::check {

class DoneStreams {
 public:
  // When work is submitted, before it can be done. A stream stays where it was first.
  void add(std::uint64_t stream) {
    Place& place = place_of(stream);
    std::uint64_t nobody = 0;
    if (place.stream.load() == stream) return;
    const std::lock_guard lock{mutex_};
    if (others_.contains(stream) || place.stream.compare_exchange_strong(nobody, stream)) return;
    others_.emplace(stream, 0);
  }
  void done(std::uint64_t stream, std::uint64_t position) {
    if (Place& place = place_of(stream); place.stream.load() == stream)
      return place.position.store(position, std::memory_order_release);
    const std::lock_guard lock{mutex_};
    if (const auto found = others_.find(stream); found != others_.end()) found->second = position;
  }
  // The last that is done; 0: none. Of a stream that is in neither place all is: it is destroyed.
  std::uint64_t position(std::uint64_t stream) {
    if (Place& place = place_of(stream); place.stream.load() == stream)
      return place.position.load(std::memory_order_acquire);
    const std::lock_guard lock{mutex_};
    const auto found = others_.find(stream);
    return found == others_.end() ? UINT64_MAX : found->second;
  }
  bool is_done(std::uint64_t stream, std::uint64_t at) { return position(stream) >= at; }
  void destroyed(std::uint64_t stream) {
    if (Place& place = place_of(stream); place.stream.load() == stream) {
      place.position.store(0);
      return place.stream.store(0);
    }
    const std::lock_guard lock{mutex_};
    others_.erase(stream);
  }

 private:
  struct alignas(64) Place {
    std::atomic<std::uint64_t> stream{0}, position{0};
  };
  Place& place_of(std::uint64_t stream) { return places_[stream % places_.size()]; }
  std::array<Place, 64> places_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> others_;
};

}  // namespace belay::check
