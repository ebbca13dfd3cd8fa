// What a trace says of one event, as readers get it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "observe/event.h"
#include "recording/format.h"

namespace belay::recording {

// A part of memory that an operation reads or writes.
struct Part {
  std::uint64_t extent =
      0;  // the serial number of the block, or of physical memory; 0: host memory unknown to belay
  std::uint64_t offset = 0;            // in it; the address where it is not known
  std::uint64_t bytes = 0, pitch = 0;  // of each row
  std::uint64_t rows = 1;
  std::uint32_t device = 0;
  bool on_device = false, writes = false;
};

// What one device, or pinned host memory, had in use at that moment, by this process and by all of the
// machine.
struct Figures {
  std::uint32_t place = 0;              // a device of the process; kHostPlace: pinned host memory
  std::uint64_t mine = 0, peak = 0;     // bytes of this process: now, and the most it ever had
  std::array<std::uint64_t, 3> used{};  // by all, in pages of 4 KB, 2 MB, 1 GB; of the host: by this one
  std::uint64_t free = 0, total = 0;    // of the device, as aclrtGetMemInfo tells; both 0 for the host
};

enum class Kind : std::uint8_t {
  Event,    // `what` says which
  Figures,  // `figures`, written every now and then
};

struct Record {
  Kind kind = Kind::Event;
  observe::What what = observe::What::Gap;
  observe::Actor actor = observe::Actor::Thread;
  Object object = Object::None;
  observe::Operation operation = observe::Operation::None;
  std::uint8_t page_shift = 0, module = 0, device = 0, flags = 0;
  bool remains = false;  // found in what a killed process left behind: its time is that of the process's last
  std::uint32_t process = 0;  // index into Trace::processes()
  std::uint32_t thread = 0;
  std::uint32_t site = 0;      // index into ProcessFacts::sites; 0: not known
  std::uint32_t function = 0;  // index into ProcessFacts::texts; 0: not known
  std::int32_t outcome = 0;
  std::uint64_t time_ns = 0;  // since the trace began
  std::uint64_t serial = 0;   // of the object; of a task: its number
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // as asked for, copied or filled
  std::uint64_t pages = 0;  // of 4 KB, that a block takes
  std::uint64_t stream = 0, position = 0, record = 0, other = 0, value = 0, caller = 0, caller_position = 0;
  std::uint32_t flag = 0;
  std::uint32_t rule = 0;                    // index into ProcessFacts::texts
  std::uint32_t left_out = 0;                // parts that were too many to write down
  std::array<std::uint64_t, kWays> moved{};  // bytes of a copy, by way
  std::span<const Part> parts;               // until the next record is read; so is `text`
  std::string_view text;
  std::span<const Figures> figures;

  observe::Event::Policy policy() const {  // of a device block
    return static_cast<observe::Event::Policy>(flags >> observe::Event::kPolicyShift & 3);
  }
  std::uint64_t charged() const { return pages * 4096; }
  bool is_host_memory() const { return object == Object::HostBlock || object == Object::HostPhysical; }
  // A block or physical memory came or went.
  bool is_block() const {
    return kind == Kind::Event && what <= observe::What::Freed &&
           (object == Object::DeviceBlock || object == Object::HostBlock || object == Object::Physical ||
            object == Object::HostPhysical);
  }
  // Of the totals: a device, or the host.
  std::uint32_t place() const { return is_host_memory() ? std::uint32_t{kHostPlace} : device; }
};

// One frame of a call site: of an interpreter, with words; or of compiled code, which platform/symbolizer.h
// and the command name from the module and the offset in it.
struct Frame {
  std::uint32_t module = 0;  // index into ProcessFacts::modules, where `is_code`
  std::uint64_t offset = 0;  // as the file of the module counts; an address where the module is not known
  bool is_code = false;
  std::uint32_t function = 0, file = 0, line = 0;  // texts; of code, once it was symbolised: 0 before
};
struct CallSite {
  std::uint32_t function = 0;  // of AscendCL, a text
  std::vector<Frame> frames;   // innermost first
};
struct CodeModule {
  std::uint32_t path = 0, build_id = 0;  // texts; module 0 is none
};

struct ProcessFacts {
  std::int32_t process = 0, parent = 0;
  std::uint64_t start = 0, began_ns = 0;  // since the trace began
  std::uint64_t ended_ns = 0;             // 0: it did not come to its end: it runs, or was killed
  std::uint64_t last_ns = 0;              // of its last record, once all were read
  std::string name, soc, family, product, form;
  std::uint32_t stacks = 0;
  std::vector<std::uint64_t> device_bytes;  // of each device that it sees
  std::vector<std::uint32_t> visible;       // which of the machine's that is
  std::uint64_t lost = 0;                   // events that are missing for want of memory or room on the disk
  std::vector<Thinning>
      thinning;  // from when on not every event was written down; times since the trace began
  const Omitted* omitted = nullptr;  // what was not, in sums
  std::vector<std::string_view> texts{""};
  std::vector<CallSite> sites{{}};
  std::vector<CodeModule> modules{{}};
};

}  // namespace belay::recording
