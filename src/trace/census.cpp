#include "trace/census.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "observe/observe.h"

namespace belay::trace {
namespace {

struct Entry {
  std::size_t asked, bytes, page;
  std::uint64_t serial;
};

struct Place {
  std::map<std::uintptr_t, Entry> blocks;
  std::size_t bytes = 0, peak = 0;
};

struct Census {
  std::mutex mutex;
  std::vector<Place> places;  // devices, then host memory
  std::uint64_t serial = 0;
  // While the blocks from before are looked up, others come and go.
  bool looking = true;
  std::set<std::uintptr_t> freed_meanwhile;

  Place* place(std::int32_t device) {
    if (device == kHost && !places.empty()) return &places.back();
    return device >= 0 && static_cast<std::size_t>(device) + 1 < places.size()
               ? &places[static_cast<std::size_t>(device)]
               : nullptr;
  }
  void add(Place& place, std::uintptr_t address, std::size_t asked, std::size_t bytes, std::size_t page) {
    if (!place.blocks.try_emplace(address, Entry{asked, bytes, page, serial + 1}).second) return;
    ++serial;
    place.bytes += bytes;
    place.peak = std::max(place.peak, place.bytes);
  }
  void add_from_before(Place& place, std::uintptr_t address, std::size_t asked, std::size_t bytes,
                       std::size_t page) {
    if (!freed_meanwhile.contains(address)) add(place, address, asked, bytes, page);
  }
};

// Used until the very end, and by a forked child whose parent may have held the lock: each starts with its
// own.
std::atomic<Census*> g_census{nullptr};

void take_down(const observe::Event& event) {
  Census* census = g_census.load(std::memory_order_acquire);
  if (census == nullptr) return;
  const std::lock_guard lock{census->mutex};
  const bool host = event.what == observe::What::HostAllocated || event.what == observe::What::HostFreed;
  Place* place = census->place(host ? kHost : static_cast<std::int32_t>(event.device));
  if (place == nullptr) return;
  switch (event.what) {
    case observe::What::DeviceAllocated:
    case observe::What::HostAllocated:
      census->freed_meanwhile.erase(event.address);
      census->add(*place, event.address, event.asked, event.bytes, event.page);
      break;
    case observe::What::DeviceFreed:
    case observe::What::HostFreed:
      if (const auto found = place->blocks.find(event.address); found != place->blocks.end()) {
        place->bytes -= found->second.bytes;
        place->blocks.erase(found);
      } else if (census->looking) {
        census->freed_meanwhile.insert(event.address);
      }
      break;
    default:
      break;
  }
}

}  // namespace

void keep_census(Memory& memory) {
  static auto* all = new std::vector<std::unique_ptr<Census>>;  // a straggler may still hold one from before
  constexpr std::size_t kKept = 4;
  if (all->size() >= kKept) all->erase(all->begin());
  Census& census = *all->emplace_back(std::make_unique<Census>());
  census.places.resize(memory.settings().devices() + 1);
  g_census.store(&census, std::memory_order_release);
  observe::listen(take_down,
                  observe::bit(observe::What::DeviceAllocated) | observe::bit(observe::What::DeviceFreed) |
                      observe::bit(observe::What::HostAllocated) | observe::bit(observe::What::HostFreed));
  memory.stop_fast_path_for_listeners();

  // Not under the lock of the census: a block that is freed now holds locks that the look needs.
  struct Found {
    std::size_t place;
    std::uintptr_t start;
    std::size_t asked, bytes, page;
  };
  std::vector<Found> found;
  for (std::uint32_t device = 0; device < memory.settings().devices(); ++device) {
    memory.map().for_each_block(device, [&](const Block& block) {
      found.push_back({device, block.start, block.asked, block.footprint, page_bytes(block.page)});
    });
  }
  memory.host().for_each_block([&](std::uintptr_t start, std::size_t asked, std::size_t bytes) {
    found.push_back({memory.settings().devices(), start, asked, bytes, 4_KiB});
  });
  const std::lock_guard lock{census.mutex};
  for (const Found& each : found)
    census.add_from_before(census.places[each.place], each.start, each.asked, each.bytes, each.page);
  census.looking = false;
  census.freed_meanwhile.clear();
}

void drop_census() { g_census.store(nullptr, std::memory_order_release); }

namespace {
// Nothing where there is no such place, or no census.
template <class Ask>
auto ask_about(std::int32_t device, Ask&& ask) -> std::optional<decltype(ask(std::declval<Place&>()))> {
  Census* census = g_census.load(std::memory_order_acquire);
  if (census == nullptr) return std::nullopt;
  const std::lock_guard lock{census->mutex};
  Place* place = census->place(device);
  if (place == nullptr) return std::nullopt;
  return ask(*place);
}
}  // namespace

std::optional<Held> held_on(std::int32_t device) {
  return ask_about(device, [](Place& place) { return Held{place.blocks.size(), place.bytes, place.peak}; });
}

std::optional<std::vector<LiveBlock>> blocks_on(std::int32_t device) {
  return ask_about(device, [](Place& place) {
    std::vector<LiveBlock> blocks;
    blocks.reserve(place.blocks.size());
    for (const auto& [address, entry] : place.blocks)
      blocks.push_back({address, entry.asked, entry.bytes, entry.page, entry.serial});
    return blocks;
  });
}

bool reset_peak(std::int32_t device) {
  return ask_about(device, [](Place& place) { return place.peak = place.bytes; }).has_value();
}

}  // namespace belay::trace
