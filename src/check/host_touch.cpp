#include "check/host_touch.h"

#include "observe/lives.h"

namespace belay::check {
namespace {

constexpr const char* kPassHostMemory =
    "belay: pass host memory there, and copy to and from the device with aclrtMemcpy.\n";

// In a reservation, where nothing is mapped.
void explain_empty(const VirtualMemory::Seen& seen, const Toucher& toucher, std::uintptr_t address,
                   FaultWords& words) {
  words.add("byte %lu of the reservation 0x%lx (%lu bytes), ", number(address - seen.start),
            number(seen.start), number(seen.bytes));
  if (seen.ended_start != 0)
    words.add(
        "where nothing is mapped any more: %s ended what was mapped at 0x%lx (%lu bytes) [rule V-76].\n",
        seen.ended_by, number(seen.ended_start), number(seen.ended_bytes));
  else
    words.add("where nothing is mapped: it is reserved, and nothing more [rule V-76].\n");
  if (toucher.ours)
    words.add("%s", kPassHostMemory);
  else if (seen.ended_start != 0)
    words.add("belay: end a mapping after its last use.\n");
  else
    words.add(
        "belay: map physical memory there with aclrtMapMem first; memory of the host can then be used "
        "directly, that of a device by copies.\n");
}

void explain_mapping(const Mapping& mapping, const Toucher& toucher, std::uintptr_t address,
                     FaultWords& words) {
  if (const std::optional<observe::Life> life = observe::peek_life(Object::Mapping, mapping.serial))
    words.remember("the mapping was made", life->made_at);
  const bool on_host = mapping.extent->side == Side::Host;
  words.add("byte %lu of the mapping 0x%lx (%lu bytes), which is memory of ", number(address - mapping.start),
            number(mapping.start), number(mapping.bytes));
  if (on_host)
    words.add("the host");
  else
    words.add("device %u", mapping.extent->device);
  if (mapping.shown.load(std::memory_order_relaxed)) {
    words.add(" that host code may use.\nbelay: this machine has no memory left for the page.\n");
    return;
  }
  if (!mapping.owner.load(std::memory_order_relaxed))
    words.add(", mapped without access [rule V-157].\n");
  else
    words.add(" [rule V-153].\n");
  if (toucher.ours)
    words.add("%s", kPassHostMemory);
  else
    words.add("belay: the host may use it only after aclrtMemSetAccess for ACL_MEM_LOCATION_TYPE_HOST%s.\n",
              on_host ? "" : "; else copy it with aclrtMemcpy");
}

void explain_block(const Block& block, bool may_touch, const Toucher& toucher, const platform::Fault& fault,
                   FaultWords& words) {
  const unsigned long byte = number(fault.address - block.start);
  if (block.read_only && may_touch) {
    words.add(
        " wrote to 0x%lx, byte %lu of the read-only block 0x%lx (%lu bytes) of device %u [rule M-78].\n"
        "belay: do not use ACL_MEM_ACCESS_USER_SPACE_READONLY for memory that the program writes.\n",
        number(fault.address), byte, number(block.start), number(block.asked), block.device);
    return;
  }
  words.add(" %s 0x%lx, which is device memory: byte %lu of the block 0x%lx (%lu bytes) of device %u.\n%s",
            fault.write ? "wrote to" : "read from", number(fault.address), byte, number(block.start),
            number(block.asked), block.device,
            toucher.ours
                ? kPassHostMemory
                : "belay: the host cannot touch device memory; copy it with aclrtMemcpy, or run with "
                  "BELAY_HOST_ACCESS=allow if stand-in kernels run on the CPU.\n");
}

}  // namespace

void explain_host_touch(Memory& memory, const Toucher& toucher, const platform::Fault& fault,
                        FaultWords& words) {
  words.add("belay: ");
  toucher.name(words);
  // Not by Memory::find, which may have to make a thread known before it may look at mappings.
  if (memory.map().contains(fault.address)) {
    if (const std::optional<Block> block = memory.map().find(fault.address)) {
      words.remember("the block was allocated", memory.map().site_of(block->start));
      return explain_block(*block, memory.backing().host_may_touch(), toucher, fault, words);
    }
  }
  words.add(" %s 0x%lx, ", fault.write ? "wrote to" : "read from", number(fault.address));
  const auto explain_reserved = [&](const VirtualMemory::Seen& seen) {
    if (seen.mapping == nullptr)
      explain_empty(seen, toucher, fault.address, words);
    else
      explain_mapping(*seen.mapping, toucher, fault.address, words);
  };
  if (memory.virtual_memory().peek(fault.address, explain_reserved)) return;
  if (const std::optional<HeapMap::Ended> ended = memory.map().ended_around(fault.address)) {
    words.add("byte %lu of the block 0x%lx (%lu bytes) of device %u, which was freed [rule M-112].\n%s",
              number(fault.address - ended->start), number(ended->start), number(ended->asked), ended->device,
              toucher.ours ? kPassHostMemory
                           : "belay: the host cannot touch device memory; copy it with aclrtMemcpy while its "
                             "block is alive.\n");
    words.remember("the block was allocated", ended->made_at);
    words.remember("the block was freed", ended->ended_at);
    return;
  }
  words.add("a device address without a live block: freed, or never allocated.\n%s",
            toucher.ours ? kPassHostMemory
                         : "belay: the host cannot touch device memory; copy it with aclrtMemcpy while its "
                           "block is alive.\n");
}

}  // namespace belay::check
