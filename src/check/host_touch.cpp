#include "check/host_touch.h"

#include <atomic>
#include <cstdio>

#include "platform/faults.h"

namespace belay::check {
namespace {

std::atomic<Memory*> g_memory{nullptr};

// In a signal handler: reads the lock-free map, formats into a local buffer, writes once. The text is
// put together with snprintf, which allocates nothing for these formats.
void explain(std::uintptr_t address, bool write) {
  Memory* memory = g_memory.load(std::memory_order_acquire);
  if (memory == nullptr || !memory->map().contains(address)) return;
  char text[1024];
  const auto at = static_cast<unsigned long>(address);
  const char* touch = write ? "wrote to" : "read from";
  const std::optional<Block> block = memory->find(address);
  if (block && block->read_only && memory->backing().host_may_touch()) {
    std::snprintf(text, sizeof text,
                  "belay: host code wrote to 0x%lx, byte %lu of the read-only block 0x%lx (%lu bytes) of "
                  "device %u [rule M-78].\n"
                  "belay: allocate without ACL_MEM_ACCESS_USER_SPACE_READONLY what the program writes.\n",
                  at, at - static_cast<unsigned long>(block->start), static_cast<unsigned long>(block->start),
                  static_cast<unsigned long>(block->asked), block->device);
  } else if (block) {
    std::snprintf(text, sizeof text,
                  "belay: host code %s 0x%lx, which is device memory: byte %lu of the block 0x%lx (%lu "
                  "bytes) of device %u.\n"
                  "belay: the host cannot touch device memory; copy it with aclrtMemcpy, or run with "
                  "BELAY_HOST_ACCESS=allow "
                  "if stand-in kernels run on the CPU.\n",
                  touch, at, at - static_cast<unsigned long>(block->start),
                  static_cast<unsigned long>(block->start), static_cast<unsigned long>(block->asked),
                  block->device);
  } else {
    std::snprintf(
        text, sizeof text,
        "belay: host code %s 0x%lx, a device address where no live block is: freed, or never allocated.\n"
        "belay: the host cannot touch device memory; copy it with aclrtMemcpy while its block is alive.\n",
        touch, at);
  }
  platform::write_error(text);
}

}  // namespace

void explain_host_touches(Memory& memory) {
  g_memory.store(&memory, std::memory_order_release);
  platform::observe_faults(explain);
}

void stop_explaining() { g_memory.store(nullptr, std::memory_order_release); }

}  // namespace belay::check
