// Programs as clients of virtual memory write them: each runs on Atlas A2 and A3, under every schedule
// (BELAY_SCHEDULE), in a process of its own, and asks for the code of every call and for the books.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "support/blocks.h"
#include "support/desk.h"
#include "support/settings.h"
#include "support/slices.h"

namespace belay_test {

// For what returns a code and must not fail; the rest of the flow makes no sense without it.
#define FLOW_STEP(call) ASSERT_EQ(call, ACL_SUCCESS)

inline constexpr std::size_t kFlowPage = 2 * kMB;

inline std::vector<std::string> all_schedules() {
  std::vector<std::string> all{"eager", "fifo", "lazy"};
  for (const std::string& seed : seeds(1, slice(3, 50))) all.push_back(seed);
  return all;
}

inline void on_each(const std::vector<std::string>& products, const Settings& settings,
                    const std::function<void()>& flow) {
  for (const std::string& product : products) {
    for (const std::string& schedule : all_schedules()) {
      SCOPED_TRACE(product + ", " + schedule);
      Settings all = settings;
      all.insert(all.end(), {{"BELAY_PRODUCT", product}, {"BELAY_SCHEDULE", schedule}});
      in_fresh_process(all, flow);
    }
  }
}

inline void on_a2_and_a3(const Settings& settings, const std::function<void()>& flow) {
  on_each({"A2", "A3"}, settings, flow);
}

// Pinned memory without a type of handle, which is all there is.
inline aclrtPhysicalMemProp memory_at(aclrtMemLocationType place, std::uint32_t id, aclrtMemAttr attribute) {
  aclrtPhysicalMemProp prop{};
  prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  prop.memAttr = attribute;
  prop.location.id = id;
  prop.location.type = place;
  return prop;
}

// What the current device has given out since this was made.
class MemoryBooks {
 public:
  MemoryBooks() : free_at_start_{free_bytes()} {}
  std::size_t taken() const { return free_at_start_ - free_bytes(); }

 private:
  std::size_t free_at_start_;
};

}  // namespace belay_test
