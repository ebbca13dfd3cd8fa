#include "check/dead_pointer.h"

#include <atomic>

#include "memory/following.h"
#include "memory/host_history.h"

namespace belay::check {
namespace {

using platform::Fault;

// The part of host memory that the copy or fill under way had to do with.
struct Access {
  std::uintptr_t start = 0;
  std::size_t bytes = 0;  // 0: none is known
  bool write = false;
};

bool is_address(std::uintptr_t value) {  // of x86-64: the upper 17 bits are alike
  const auto upper = static_cast<std::intptr_t>(value) >> 47;
  return upper == 0 || upper == -1;
}

Access access_of(const Fault& fault) {
  const Following& now = t_following;
  const auto hit = [&](std::uintptr_t start) {
    return fault.why == Fault::Why::NoAddress ? !is_address(start) : fault.address - start < now.bytes;
  };
  const bool reads = hit(now.from), writes = hit(now.to);
  if (now.bytes == 0 || (!reads && !writes)) return {};
  const bool write = writes && (!reads || fault.write);
  return {write ? now.to : now.from, now.bytes, write};
}

std::optional<HostFacts> known(Memory* memory, std::uintptr_t address) {
  if (memory != nullptr) {
    if (const std::optional<HostFacts> alive = memory->host().peek(address)) return alive;
  }
  return ended_around(address);
}

const char* in_words(const Fault& fault, bool write) {
  switch (fault.why) {
    case Fault::Why::NotMapped:
      return "nothing is mapped";
    case Fault::Why::NotAllowed:
      return write ? "the program may not write" : "the program may not read";
    case Fault::Why::NoBytes:
      return "the file that is mapped has no bytes (SIGBUS)";
    case Fault::Why::NoAddress:
      break;
  }
  return "there can be no memory";
}

const char* name_of(const HostFacts& facts) {
  return facts.managed ? "managed memory" : facts.registered ? "registered range" : "pinned block";
}

void describe(const HostFacts& facts, std::uintptr_t address, FaultWords& words) {
  words.remember(facts.registered ? "the memory was registered" : "the memory was allocated", facts.made_at);
  words.remember(facts.registered ? "the registration ended" : "the memory was freed", facts.ended_at);
  words.add("byte %lu of the %s 0x%lx (%lu bytes) of %s", number(address - facts.start), name_of(facts),
            number(facts.start), number(facts.asked), facts.made_by);
  if (facts.ended_by == nullptr)
    words.add(facts.registered ? ", which the program has unmapped or protected without aclrtHostUnregister"
                               : ", which the program has protected");
  else if (facts.registered)
    words.add(", which %s ended and the program unmapped or protected", facts.ended_by);
  else
    words.add(", which %s has freed", facts.ended_by);
}

const char* remedy(const HostFacts& facts) {
  if (facts.registered)
    return "do not unmap or protect registered memory before aclrtHostUnregister and its last copy";
  if (facts.ended_by == nullptr) return "do not change the protection of pinned memory";
  if (facts.managed) return "free managed memory after its last use, on the host and in all streams";
  return "free pinned memory after its last use, and submit no work with it afterwards";
}

void explain_inside(Memory* memory, const Toucher& toucher, const Fault& fault, FaultWords& words) {
  const Access access = access_of(fault);
  // Copies begin anywhere: in one page with the start, the start is meant.
  const bool at_start = access.bytes != 0 && (fault.why == Fault::Why::NoAddress ||
                                              fault.address - access.start < 4096 - access.start % 4096);
  const std::uintptr_t address = at_start ? access.start : fault.address;
  words.add("belay: ");
  toucher.name(words);
  if (access.bytes != 0) {
    words.add(" was %s %lu bytes of host memory at 0x%lx, ", access.write ? "writing" : "reading",
              number(access.bytes), number(access.start));
    if (at_start)
      words.add("where %s", in_words(fault, access.write));
    else
      words.add("and at 0x%lx, byte %lu of them, %s", number(address), number(address - access.start),
                in_words(fault, access.write));
  } else if (fault.why == Fault::Why::NoAddress) {
    words.add(" used a pointer that is not a valid address");
  } else {
    words.add(" %s host address 0x%lx, where %s", fault.write ? "wrote to" : "read from", number(address),
              in_words(fault, fault.write));
  }
  if (const std::optional<HostFacts> facts = known(memory, address)) {
    words.add(": ");
    describe(*facts, address, words);
    words.add(" [rule C-26].\nbelay: %s.\n", remedy(*facts));
    return;
  }
  const std::optional<HostFacts> begun = access.bytes != 0 ? known(memory, access.start) : std::nullopt;
  if (begun) {
    words.add(": the %s 0x%lx (%lu bytes) of %s ends before that [rule C-26].\nbelay: check the size.\n",
              name_of(*begun), number(begun->start), number(begun->asked), begun->made_by);
  } else if (access.bytes != 0) {
    words.add(
        ". belay did not allocate this memory.\n"
        "belay: check pointer and size: the memory may be freed or unmapped, or the pointer was never "
        "set.\n");
  } else if (fault.why == Fault::Why::NoBytes) {
    words.add(
        ".\nbelay: the file that was passed became shorter, or this machine has no memory for the page.\n");
  } else {
    words.add(
        ".\nbelay: check the pointers that were passed to it; if they are right, memory of this process was "
        "overwritten.\n");
  }
}

}  // namespace

void explain_dead_pointer(Memory* memory, const Toucher& toucher, const Fault& fault, FaultWords& words) {
  if (toucher.ours) {
    // A program that protects its pages and mends what happens there goes on: once is enough for it.
    static constinit std::atomic<bool> said{false};
    if (fault.why == Fault::Why::NotAllowed && said.exchange(true)) return;
    return explain_inside(memory, toucher, fault, words);
  }
  // Runtimes of languages protect pages and catch what happens there; of ours nothing is mapped any more.
  const bool managed = memory != nullptr && memory->managed().surely_without_memory(fault.address);
  if (fault.why != Fault::Why::NotMapped && !managed) return;
  const std::optional<HostFacts> facts = known(memory, fault.address);
  if (!facts && managed) {
    words.add(
        "belay: host code %s 0x%lx, an address for managed memory where none is alive: freed, or never "
        "allocated [rule C-26].\n"
        "belay: check pointer and size.\n",
        fault.write ? "wrote to" : "read from", number(fault.address));
    return;
  }
  if (!facts || facts->registered || facts->ended_by == nullptr) return;
  words.add("belay: host code %s 0x%lx, ", fault.write ? "wrote to" : "read from", number(fault.address));
  describe(*facts, fault.address, words);
  words.add(" [rule C-26].\nbelay: %s.\n", remedy(*facts));
}

}  // namespace belay::check
