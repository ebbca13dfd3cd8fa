// The requests of a trace, made again on a machine of another product or size: by the same plans, pages and
// addresses as in the library, and without contents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/request.h"
#include "recording/reader.h"

namespace belay::cli {

struct Stage {
  Choice product;
  Form form = Form::EP;
  std::uint32_t devices = 0;
  std::size_t device_bytes = 0;
  std::optional<std::uint32_t> policy;  // in place of those that were asked for
};

struct ReplayedDevice {
  std::size_t peak = 0, asked_at_peak = 0;  // charged bytes, and what was asked for of them
  std::uint64_t peak_ns = 0;
  std::size_t used = 0, asked = 0;  // at the end
};

struct Misfit {
  std::uint64_t request = 0, time_ns = 0, bytes = 0;  // which request of the trace, from 1
  std::uint32_t process = 0, device = 0;
  std::string function, where, why;
};

struct Replayed {
  std::uint64_t requests = 0, misfits = 0;
  std::optional<Misfit> first;
  std::vector<ReplayedDevice> devices;
  bool fits() const { return misfits == 0; }
};
Replayed replay(recording::Trace& trace, const Stage& stage);

}  // namespace belay::cli
