#include "observe/observe.h"

#include <array>

namespace belay::observe {
namespace {

struct Place {
  std::atomic<Listener> listener{nullptr};
  std::atomic<std::uint32_t> wanted{0};
};
std::array<Place, 8> g_places;

}  // namespace

void listen(Listener listener, std::uint32_t wanted) {
  for (Place& place : g_places) {
    if (place.listener.load() != nullptr && place.listener.load() != listener) continue;
    place.wanted.store(wanted);
    place.listener.store(listener, std::memory_order_release);
    break;
  }
  g_wanted.fetch_or(wanted);
}

void deliver(const Event& event) {
  for (const Place& place : g_places) {
    const Listener listener = place.listener.load(std::memory_order_acquire);
    if (listener == nullptr) return;
    if ((place.wanted.load(std::memory_order_relaxed) & bit(event.what)) != 0) listener(event);
  }
}

}  // namespace belay::observe
