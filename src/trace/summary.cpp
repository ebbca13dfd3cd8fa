#include "trace/summary.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/words.h"
#include "observe/observe.h"
#include "platform/files.h"

namespace belay::trace {
namespace {

using Count = std::atomic<std::size_t>;

void raise(Count& peak, std::size_t value) {
  std::size_t seen = peak.load(std::memory_order_relaxed);
  while (value > seen && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

struct PerPage {
  Count blocks, asked, charged;
};
struct PerDevice {
  Count in_use, peak, freed, refused;
  std::array<PerPage, 3> pages;
};
struct PerDirection {
  Count copies, bytes;
};
struct Tally {
  std::string soc;
  std::array<PerDevice, kMostDevices> devices;
  std::array<PerDirection, 4> copies;
  Count fills, filled, host_blocks, host_now, host_peak;
  std::atomic<bool> touched{false};
};

// Made anew when a forked child starts its own; the parent's stays reachable.
std::atomic<Tally*> g_tally{nullptr};
Tally& tally() { return *g_tally.load(std::memory_order_acquire); }
std::atomic<Memory*> g_memory{nullptr};

constexpr std::size_t page_index(std::size_t page) { return page == 4_KiB ? 0 : page == 2_MiB ? 1 : 2; }

void sum_up(const observe::Event& event) {
  PerDevice& device = tally().devices[event.device % kMostDevices];
  switch (event.what) {
    case observe::What::DeviceAllocated: {
      tally().touched.store(true, std::memory_order_relaxed);
      PerPage& page = device.pages[page_index(event.page)];
      ++page.blocks;
      page.asked += event.asked;
      page.charged += event.bytes;
      raise(device.peak, device.in_use += event.bytes);
      break;
    }
    case observe::What::DeviceFreed:
      ++device.freed;
      device.in_use -= event.bytes;
      break;
    case observe::What::AllocationRefused:
      ++device.refused;
      break;
    case observe::What::HostAllocated:
      ++tally().host_blocks;
      raise(tally().host_peak, tally().host_now += event.bytes);
      break;
    case observe::What::HostFreed:
      tally().host_now -= event.bytes;
      break;
    case observe::What::Copied: {
      PerDirection& direction = tally().copies[static_cast<std::size_t>(event.direction)];
      ++direction.copies;
      direction.bytes += event.bytes;
      break;
    }
    case observe::What::Filled:
      ++tally().fills;
      tally().filled += event.bytes;
      break;
    default:
      break;
  }
}

std::string device_lines(std::uint32_t index, const PerDevice& device, std::size_t total) {
  static constexpr std::array kNames{"4 KB", "2 MB", "1 GB"};
  std::size_t blocks = 0;
  for (const PerPage& page : device.pages) blocks += page.blocks;
  if (blocks == 0 && device.refused == 0) return {};
  std::string text =
      fmt::format("belay:   device {}: peak {} of {}; {} block(s) allocated, {} freed, {} refused\n", index,
                  amount(device.peak), amount(total), blocks, device.freed.load(), device.refused.load());
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const PerPage& page = device.pages[i];
    if (page.blocks == 0) continue;
    const double lost = 100.0 * (1.0 - static_cast<double>(page.asked) / static_cast<double>(page.charged));
    text += fmt::format(
        "belay:     {} pages  {:>8} block(s)  asked {:>12}  charged {:>12}  {:.1f} % lost to rounding\n",
        kNames[i], page.blocks.load(), amount(page.asked), amount(page.charged), lost);
  }
  return text;
}

}  // namespace

void keep_summary(Memory& memory, const std::string& soc) {
  static auto* all = new std::vector<std::unique_ptr<Tally>>;  // never destroyed: the last words are said
                                                               // after static destructors
  constexpr std::size_t kKept = 4;  // a straggler may still hold one from before a restart
  if (all->size() >= kKept) all->erase(all->begin());
  all->push_back(std::make_unique<Tally>());
  all->back()->soc = soc;
  g_tally.store(all->back().get(), std::memory_order_release);
  g_memory.store(&memory, std::memory_order_release);
  observe::listen(sum_up, ~std::uint32_t{0});
  memory.stop_fast_path_for_listeners();
}

void drop_summary() { g_memory.store(nullptr, std::memory_order_release); }

void print_summary(Summary when) {
  Memory* memory = g_memory.load(std::memory_order_acquire);
  if (memory == nullptr || (when == Summary::IfAnythingHappened && !tally().touched)) return;
  const MemorySettings& settings = memory->settings();
  std::string text = fmt::format("belay: what happened to memory on {} ({}, {} device(s)):\n", tally().soc,
                                 settings.product->family, settings.devices());
  for (std::uint32_t i = 0; i < settings.devices(); ++i) {
    text += device_lines(i, tally().devices[i], memory->device(i).pool().total);
  }
  if (tally().host_blocks != 0) {
    text += fmt::format("belay:   pinned host memory: {} block(s), peak {}\n", tally().host_blocks.load(),
                        amount(tally().host_peak));
  }
  static constexpr std::array kDirections{"host to host", "host to device", "device to host",
                                          "device to device"};
  for (std::size_t i = 0; i < kDirections.size(); ++i) {
    const PerDirection& direction = tally().copies[i];
    if (direction.copies != 0)
      text += fmt::format("belay:   copied {:<16} {:>8} time(s) {:>12}\n", kDirections[i],
                          direction.copies.load(), amount(direction.bytes));
  }
  if (tally().fills != 0)
    text +=
        fmt::format("belay:   filled {:>25} time(s) {:>12}\n", tally().fills.load(), amount(tally().filled));
  platform::print_line(true, text);
}

}  // namespace belay::trace
