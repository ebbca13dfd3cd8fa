#include "trace/summary.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/words.h"
#include "observe/observe.h"
#include "platform/files.h"

namespace belay::trace {
namespace {

struct PerPage {
  std::size_t blocks = 0, asked = 0, charged = 0;
};
struct PerDevice {
  std::size_t freed = 0, refused = 0;
  std::array<PerPage, 3> pages;
};
struct PerDirection {
  std::size_t copies = 0, bytes = 0;
};
struct alignas(64) Tally {
  std::mutex mutex;
  std::array<PerDevice, kMostDevices> devices;
  std::array<PerDirection, 4> copies;
  std::size_t fills = 0, filled = 0, host_blocks = 0;

  void add(const Tally& other);
};

// Several, so that threads seldom meet: one that is stopped while it counts would hold the others up.
struct Tallies {
  std::string soc;
  std::array<Tally, 16> some;

  Tally& of_this_thread() {
    static constinit std::atomic<std::size_t> threads{0};
    constinit thread_local std::size_t number = 0;
    if (number == 0) number = threads.fetch_add(1) + 1;
    return some[number % some.size()];
  }
  void sum(Tally& all) {
    for (Tally& each : some) {
      const std::lock_guard lock{each.mutex};
      all.add(each);
    }
  }
};

// Made anew when a forked child starts its own; the parent's stays reachable.
std::atomic<Tallies*> g_tallies{nullptr};
std::atomic<Memory*> g_memory{nullptr};

// 4 KB, 2 MB and 1 GB are nine bits apart.
constexpr std::size_t page_index(unsigned shift) { return (shift - 12) / 9; }

// An operation counts once, however many parts it has; one that goes several ways counts for each.
void count_copy(Tally& tally, std::span<const observe::Touch> touches) {
  std::array<std::size_t, 4> bytes{};
  for (std::size_t i = 0; i + 1 < touches.size(); i += 2) {
    const observe::Touch& to = touches[i];
    if (!to.writes || touches[i + 1].writes) continue;  // not both ends of a copy
    bytes[(touches[i + 1].on_device ? 2U : 0U) + (to.on_device ? 1U : 0U)] += to.bytes * to.rows;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != 0) ++tally.copies[i].copies;
    tally.copies[i].bytes += bytes[i];
  }
}

bool copies(observe::Operation operation) {
  return operation >= observe::Operation::Copy && operation <= observe::Operation::CopyByOffset;
}

// Host memory has functions of its own, by which refusals are told apart.
bool is_for_host(std::string_view function) { return function.find("Host") != std::string_view::npos; }

// Nearly all there is to count: kept apart, and without a table of jumps, which processors guess badly.
inline void count_block(Tally& tally, const observe::Event& event) {
  const bool allocated = event.what == observe::What::Allocated;
  if (event.object == observe::Object::HostBlock) {
    tally.host_blocks += allocated ? 1 : 0;
    return;
  }
  PerDevice& device = tally.devices[event.device % kMostDevices];
  if (!allocated) {
    ++device.freed;
    return;
  }
  PerPage& page = device.pages[page_index(event.page_shift)];
  ++page.blocks;
  page.asked += event.bytes;
  page.charged += event.footprint();
}

void count_other(Tally& tally, const observe::Told& told) {
  const observe::Event& event = told.event;
  switch (event.what) {
    case observe::What::Refused:
      if (event.outcome == ACL_ERROR_RT_MEMORY_ALLOCATION && !is_for_host(event.function_name()))
        ++tally.devices[event.device % kMostDevices].refused;
      break;
    case observe::What::Copied:
      count_copy(tally, told.touches);
      break;
    case observe::What::Done:
      if (copies(event.operation)) {
        count_copy(tally, told.touches);
        break;
      }
      if (event.operation != observe::Operation::Fill) break;
      [[fallthrough]];
    case observe::What::Filled:
      ++tally.fills;
      tally.filled += event.bytes;
      break;
    default:
      break;
  }
}

void sum_up(const observe::Batch& events) {
  Tally& tally = g_tallies.load(std::memory_order_acquire)->of_this_thread();
  const std::lock_guard lock{tally.mutex};
  events.each([&tally](const observe::Told& told) {
    const bool of_block =
        told.event.what == observe::What::Allocated || told.event.what == observe::What::Freed;
    of_block ? count_block(tally, told.event) : count_other(tally, told);
  });
}

void Tally::add(const Tally& other) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].freed += other.devices[i].freed;
    devices[i].refused += other.devices[i].refused;
    for (std::size_t page = 0; page < devices[i].pages.size(); ++page) {
      devices[i].pages[page].blocks += other.devices[i].pages[page].blocks;
      devices[i].pages[page].asked += other.devices[i].pages[page].asked;
      devices[i].pages[page].charged += other.devices[i].pages[page].charged;
    }
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    copies[i].copies += other.copies[i].copies;
    copies[i].bytes += other.copies[i].bytes;
  }
  fills += other.fills;
  filled += other.filled;
  host_blocks += other.host_blocks;
}

bool any_block(const Tally& tally) {
  return std::ranges::any_of(tally.devices, [](const PerDevice& device) {
    return std::ranges::any_of(device.pages, [](const PerPage& page) { return page.blocks != 0; });
  });
}

std::string device_lines(std::uint32_t index, const PerDevice& device, std::size_t peak, std::size_t total) {
  static constexpr std::array kNames{"4 KB", "2 MB", "1 GB"};
  std::size_t blocks = 0;
  for (const PerPage& page : device.pages) blocks += page.blocks;
  if (blocks == 0 && device.refused == 0) return {};
  std::string text =
      fmt::format("belay:   device {}: peak {} of {}; {} block(s) allocated, {} freed, {} refused\n", index,
                  amount(peak), amount(total), blocks, device.freed, device.refused);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const PerPage& page = device.pages[i];
    if (page.blocks == 0) continue;
    const double lost = 100.0 * (1.0 - static_cast<double>(page.asked) / static_cast<double>(page.charged));
    text += fmt::format(
        "belay:     {} pages  {:>8} block(s)  asked {:>12}  charged {:>12}  {:.1f} % lost to rounding\n",
        kNames[i], page.blocks, amount(page.asked), amount(page.charged), lost);
  }
  return text;
}

}  // namespace

void keep_summary(Memory& memory, const std::string& soc) {
  static auto* all = new std::vector<std::unique_ptr<Tallies>>;  // never destroyed: the last words are said
                                                                 // after static destructors
  constexpr std::size_t kKept = 4;  // a straggler may still hold one from before a restart
  if (all->size() >= kKept) all->erase(all->begin());
  all->push_back(std::make_unique<Tallies>());
  all->back()->soc = soc;
  g_tallies.store(all->back().get(), std::memory_order_release);
  g_memory.store(&memory, std::memory_order_release);
  using observe::What;
  // Submitted as well: a task that somebody hears of from the start can say at its end what it did.
  observe::listen(sum_up, {.wanted = bits(What::Allocated, What::Freed, What::Copied, What::Filled,
                                          What::Submitted, What::Done, What::Refused)});
  memory.listeners_changed();
}

void drop_summary() {
  Memory* memory = g_memory.exchange(nullptr);
  if (memory == nullptr) return;
  observe::unlisten(sum_up);
  memory->listeners_changed();
}

void print_summary(Summary when) {
  Memory* memory = g_memory.load(std::memory_order_acquire);
  if (memory == nullptr) return;
  observe::flush();
  Tallies& tallies = *g_tallies.load(std::memory_order_acquire);
  const auto sum = std::make_unique<Tally>();
  tallies.sum(*sum);
  const Tally& tally = *sum;
  if (when == Summary::IfAnythingHappened && !any_block(tally)) return;
  const MemorySettings& settings = memory->settings();
  std::string text = fmt::format("belay: what happened to memory on {} ({}, {} device(s)):\n", tallies.soc,
                                 settings.product->family, settings.devices());
  for (std::uint32_t i = 0; i < settings.devices(); ++i) {
    text += device_lines(i, tally.devices[i], memory->device(i).peak(), memory->device(i).pool().total);
  }
  if (tally.host_blocks != 0) {
    text += fmt::format("belay:   pinned host memory: {} block(s), peak {}\n", tally.host_blocks,
                        amount(memory->host().peak()));
  }
  static constexpr std::array kDirections{"host to host", "host to device", "device to host",
                                          "device to device"};
  for (std::size_t i = 0; i < kDirections.size(); ++i) {
    const PerDirection& direction = tally.copies[i];
    if (direction.copies != 0)
      text += fmt::format("belay:   copied {:<16} {:>8} time(s) {:>12}\n", kDirections[i], direction.copies,
                          amount(direction.bytes));
  }
  if (tally.fills != 0)
    text += fmt::format("belay:   filled {:>25} time(s) {:>12}\n", tally.fills, amount(tally.filled));
  if (const std::uint64_t lost = observe::lost(); lost != 0)
    text += fmt::format("belay:   {} event(s) are missing here: there was no memory to count them\n", lost);
  platform::print_line(true, text);
}

}  // namespace belay::trace
