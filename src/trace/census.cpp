#include "trace/census.h"

#include <algorithm>
#include <map>
#include <mutex>

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

  Place* place(std::int32_t device) {
    if (device == kHost && !places.empty()) return &places.back();
    return device >= 0 && static_cast<std::size_t>(device) + 1 < places.size()
               ? &places[static_cast<std::size_t>(device)]
               : nullptr;
  }
  void add(Place& place, std::uintptr_t address, const Entry& entry) {
    place.blocks[address] = entry;
    place.bytes += entry.bytes;
    place.peak = std::max(place.peak, place.bytes);
  }
};

// Used until the very end, and by a forked child whose parent may have held the lock: each starts with its
// own.
std::atomic<Census*> g_census{nullptr};

void hear(const observe::Event& event) {
  Census* census = g_census.load(std::memory_order_acquire);
  if (census == nullptr) return;
  const std::lock_guard lock{census->mutex};
  const bool host = event.what == observe::What::HostAllocated || event.what == observe::What::HostFreed;
  Place* place = census->place(host ? kHost : static_cast<std::int32_t>(event.device));
  if (place == nullptr) return;
  switch (event.what) {
    case observe::What::DeviceAllocated:
    case observe::What::HostAllocated:
      census->add(*place, event.address, {event.asked, event.bytes, event.page, ++census->serial});
      break;
    case observe::What::DeviceFreed:
    case observe::What::HostFreed:
      if (const auto found = place->blocks.find(event.address); found != place->blocks.end()) {
        place->bytes -= found->second.bytes;
        place->blocks.erase(found);
      }
      break;
    default:
      break;
  }
}

}  // namespace

void keep_census(Memory& memory) {
  static auto* all = new std::vector<std::unique_ptr<Census>>;  // a straggler may still hold the one before
  auto census = std::make_unique<Census>();
  census->places.resize(memory.settings().devices() + 1);
  for (std::uint32_t device = 0; device < memory.settings().devices(); ++device) {
    memory.map().for_each_block(device, [&](const Block& block) {
      census->add(census->places[device], block.start,
                  {block.asked, block.footprint, page_bytes(block.page), ++census->serial});
    });
  }
  memory.host().for_each_block([&](std::uintptr_t start, std::size_t asked, std::size_t bytes) {
    census->add(census->places.back(), start, {asked, bytes, 4_KiB, ++census->serial});
  });
  if (all->size() > 2) all->erase(all->begin());
  all->push_back(std::move(census));
  g_census.store(all->back().get(), std::memory_order_release);
  observe::listen(hear,
                  observe::bit(observe::What::DeviceAllocated) | observe::bit(observe::What::DeviceFreed) |
                      observe::bit(observe::What::HostAllocated) | observe::bit(observe::What::HostFreed));
}

void drop_census() { g_census.store(nullptr, std::memory_order_release); }

std::optional<Held> held_on(std::int32_t device) {
  Census* census = g_census.load(std::memory_order_acquire);
  if (census == nullptr) return std::nullopt;
  const std::lock_guard lock{census->mutex};
  const Place* place = census->place(device);
  if (place == nullptr) return std::nullopt;
  return Held{place->blocks.size(), place->bytes, place->peak};
}

std::optional<std::vector<LiveBlock>> blocks_on(std::int32_t device) {
  Census* census = g_census.load(std::memory_order_acquire);
  if (census == nullptr) return std::nullopt;
  const std::lock_guard lock{census->mutex};
  const Place* place = census->place(device);
  if (place == nullptr) return std::nullopt;
  std::vector<LiveBlock> blocks;
  blocks.reserve(place->blocks.size());
  for (const auto& [address, entry] : place->blocks)
    blocks.push_back({address, entry.asked, entry.bytes, entry.page, entry.serial});
  return blocks;
}

bool reset_peak(std::int32_t device) {
  Census* census = g_census.load(std::memory_order_acquire);
  if (census == nullptr) return false;
  const std::lock_guard lock{census->mutex};
  Place* place = census->place(device);
  if (place == nullptr) return false;
  place->peak = place->bytes;
  return true;
}

}  // namespace belay::trace
