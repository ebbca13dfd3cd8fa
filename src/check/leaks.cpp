#include "check/leaks.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "base/words.h"
#include "observe/observe.h"
#include "platform/files.h"

namespace belay::check {
namespace {

constexpr std::size_t kMostListed = 10;

std::atomic<Memory*> g_leak_memory{nullptr};

void tell(Memory& memory, std::uint32_t device, const char* moment) {
  std::vector<Block> blocks;
  std::size_t bytes = 0;
  memory.map().for_each_block(device, [&](const Block& block) {
    if (block.origin == Origin::Host || block.leak_reported) return;
    blocks.push_back(block);
    bytes += block.footprint;
  });
  if (blocks.empty()) return;
  for (const Block& block : blocks) memory.map().mark_leak_reported(block.start);
  std::ranges::sort(blocks, [](const Block& a, const Block& b) { return a.footprint > b.footprint; });
  std::string text = fmt::format("belay: {} block(s), {} of device {}, still allocated {}:\n", blocks.size(),
                                 amount(bytes), device, moment);
  for (std::size_t i = 0; i < std::min(blocks.size(), kMostListed); ++i) {
    text += fmt::format("belay:   {} {} bytes ({} in {} pages)\n", hex(blocks[i].start), blocks[i].asked,
                        amount(blocks[i].footprint), amount(page_bytes(blocks[i].page)));
  }
  if (blocks.size() > kMostListed)
    text += fmt::format("belay:   ... and {} more\n", blocks.size() - kMostListed);
  text +=
      "belay: free each block with the function that goes with its allocation (BELAY_LEAKS=off silences "
      "this)\n";
  platform::print_line(true, text);
}

void tell_all(const char* moment) {
  Memory* memory = g_leak_memory.load(std::memory_order_acquire);
  if (memory == nullptr) return;
  for (std::uint32_t device = 0; device < memory->settings().devices(); ++device)
    tell(*memory, device, moment);
}

void hear_ends(const observe::Batch& events) {
  Memory* memory = g_leak_memory.load(std::memory_order_acquire);
  if (memory == nullptr) return;
  events.each([memory](const observe::Told& told) {
    if (told.event.what == observe::What::DeviceClosing)
      tell(*memory, told.event.device, "when the device was reset [rule M-409]");
    else
      tell_all("at aclFinalize [rule R-41]");
  });
}

}  // namespace

void report_leaks(Memory& memory) {
  g_leak_memory.store(&memory, std::memory_order_release);
  // At once: when the device is closed, there is nothing left to find.
  observe::listen(hear_ends,
                  {.wanted = bits(observe::What::DeviceClosing, observe::What::Finalized), .at_once = true});
}

void stop_reporting_leaks() {
  observe::unlisten(hear_ends);
  g_leak_memory.store(nullptr, std::memory_order_release);
}

void report_leaks_at_exit() { tell_all("when the process ended [rule M-411]"); }

}  // namespace belay::check
