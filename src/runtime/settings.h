// What the emulated machine is, decided once per process (src/config reads it from the environment).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/misuse.h"
#include "memory/memory.h"
#include "runtime/links.h"
#include "schedule/policy.h"

namespace belay {

struct Settings {
  MemorySettings memory;
  machine::Wish machine;                 // with all devices, before ASCEND_RT_VISIBLE_DEVICES
  std::string soc;                       // what aclrtGetSocName answers
  std::string visible_trouble;           // why no device is visible; empty otherwise
  std::shared_ptr<const Error> trouble;  // a wrong setting: no device can be opened, and this says why
  schedule::Policy schedule;
  LinkSettings links;
  bool leak_report = true;
  bool summary = false;
  bool fault_report = true;
  CheckSettings check;
  unsigned stack_frames = 0;  // of each call site that is kept
  std::size_t quarantine = 0;
  std::string trace_file;  // empty: none
  std::uint64_t trace_limit = 0;

  const ProductRow& product() const { return *memory.product; }
};

}  // namespace belay
