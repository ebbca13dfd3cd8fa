#include "check/host_touch.h"

namespace belay::check {

void explain_host_touch(Memory& memory, const Toucher& toucher, const platform::Fault& fault,
                        FaultWords& words) {
  const std::optional<Block> block = memory.find(fault.address);
  words.add("belay: ");
  toucher.name(words);
  if (block && block->read_only && memory.backing().host_may_touch()) {
    words.add(
        " wrote to 0x%lx, byte %lu of the read-only block 0x%lx (%lu bytes) of device %u [rule M-78].\n"
        "belay: do not use ACL_MEM_ACCESS_USER_SPACE_READONLY for memory that the program writes.\n",
        number(fault.address), number(fault.address - block->start), number(block->start),
        number(block->asked), block->device);
    return;
  }
  words.add(" %s 0x%lx, ", fault.write ? "wrote to" : "read from", number(fault.address));
  if (block)
    words.add("which is device memory: byte %lu of the block 0x%lx (%lu bytes) of device %u.\n",
              number(fault.address - block->start), number(block->start), number(block->asked),
              block->device);
  else
    words.add("a device address without a live block: freed, or never allocated.\n");
  if (toucher.ours)
    words.add("belay: pass host memory there, and copy to and from the device with aclrtMemcpy.\n");
  else if (block)
    words.add(
        "belay: the host cannot touch device memory; copy it with aclrtMemcpy, or run with "
        "BELAY_HOST_ACCESS=allow if stand-in kernels run on the CPU.\n");
  else
    words.add(
        "belay: the host cannot touch device memory; copy it with aclrtMemcpy while its block is alive.\n");
}

}  // namespace belay::check
