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
  std::uintptr_t address;
  std::size_t asked, bytes, page;
};

struct Place {
  std::map<std::uint64_t, Entry> blocks;  // by serial number: addresses come again
  std::size_t bytes = 0, peak = 0;
};

struct Census {
  std::mutex mutex;
  std::vector<Place> places;  // devices, then host memory
  // While the blocks from before are looked up, others come and go.
  bool looking = true;
  std::set<std::uint64_t> freed_meanwhile;

  Place* place(std::int32_t device) {
    if (device == kHost && !places.empty()) return &places.back();
    return device >= 0 && static_cast<std::size_t>(device) + 1 < places.size()
               ? &places[static_cast<std::size_t>(device)]
               : nullptr;
  }
  void add(Place& place, std::uint64_t serial, const Entry& entry) {
    if (freed_meanwhile.erase(serial) != 0 || !place.blocks.try_emplace(serial, entry).second) return;
    place.bytes += entry.bytes;
    place.peak = std::max(place.peak, place.bytes);
  }
  void remove(Place& place, std::uint64_t serial) {
    if (const auto found = place.blocks.find(serial); found != place.blocks.end()) {
      place.bytes -= found->second.bytes;
      place.blocks.erase(found);
    } else if (looking) {
      freed_meanwhile.insert(serial);
    }
  }
};

Entry entry_of(const observe::Event& event) {
  return {event.address, event.bytes, event.footprint(), std::size_t{1} << event.page_shift};
}

bool is_on_host(const observe::Event& event) {
  return event.object == observe::Object::HostBlock || event.object == observe::Object::HostPhysical;
}

// Used until the very end, and by a forked child whose parent may have held the lock: each starts with its
// own.
std::atomic<Census*> g_census{nullptr};
std::atomic<Memory*> g_counted{nullptr};

void take_down(const observe::Batch& events) {
  Census* census = g_census.load(std::memory_order_acquire);
  if (census == nullptr) return;
  const std::lock_guard lock{census->mutex};
  events.each([census](const observe::Told& told) {
    const observe::Event& event = told.event;
    Place* place = census->place(is_on_host(event) ? kHost : event.device);
    if (place == nullptr) return;
    if (event.what == observe::What::Allocated)
      census->add(*place, event.serial, entry_of(event));
    else
      census->remove(*place, event.serial);
  });
}

}  // namespace

void keep_census(Memory& memory) {
  static auto* all = new std::vector<std::unique_ptr<Census>>;  // a straggler may still hold one from before
  constexpr std::size_t kKept = 4;
  if (all->size() >= kKept) all->erase(all->begin());
  Census& census = *all->emplace_back(std::make_unique<Census>());
  census.places.resize(memory.settings().devices() + 1);
  g_census.store(&census, std::memory_order_release);
  g_counted.store(&memory, std::memory_order_release);
  // At once: whoever asks for a peak wants the order in which blocks came and went on all threads.
  observe::listen(take_down, {.wanted = observe::kBlocks, .at_once = true});
  memory.listeners_changed();

  // Not under the lock of the census: a block that is freed now holds locks that the look needs.
  struct Found {
    std::size_t place;
    std::uint64_t serial;
    Entry entry;
  };
  std::vector<Found> found;
  for (std::uint32_t device = 0; device < memory.settings().devices(); ++device) {
    memory.map().for_each_block(device, [&](const Block& block) {
      if (const std::uint64_t serial = memory.map().name(block.start); serial != 0)
        found.push_back(
            {device, serial, {block.start, block.asked, block.footprint, page_bytes(block.page)}});
    });
  }
  memory.host().for_each_block([&](const observe::Event& born) {
    found.push_back({memory.settings().devices(), born.serial, entry_of(born)});
  });
  memory.virtual_memory().for_each_physical([&](const Physical& physical) {
    const PhysicalPlan& plan = physical.plan;
    found.push_back({plan.side == Side::Host ? memory.settings().devices() : plan.device,
                     physical.extent->number,
                     {physical.handle, plan.asked, plan.bytes, page_bytes(plan.page)}});
  });
  const std::lock_guard lock{census.mutex};
  for (const auto& [place, serial, entry] : found) census.add(census.places[place], serial, entry);
  census.looking = false;
  census.freed_meanwhile.clear();
}

void drop_census() {
  g_census.store(nullptr, std::memory_order_release);
  observe::unlisten(take_down);
  if (Memory* memory = g_counted.exchange(nullptr)) memory->listeners_changed();
}

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
    for (const auto& [serial, entry] : place.blocks)
      blocks.push_back({entry.address, entry.asked, entry.bytes, entry.page, serial});
    std::ranges::sort(blocks, {}, &LiveBlock::address);
    return blocks;
  });
}

bool reset_peak(std::int32_t device) {
  return ask_about(device, [](Place& place) { return place.peak = place.bytes; }).has_value();
}

}  // namespace belay::trace
