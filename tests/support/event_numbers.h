// The numbers that events take from the device.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "acl/acl.h"

namespace belay_test {

inline std::uint32_t events_left() {
  std::uint32_t count = 0xDEADBEEF;
  EXPECT_EQ(aclrtGetEventAvailNum(&count), ACL_SUCCESS);
  return count;
}
inline std::uint32_t event_id(aclrtEvent event) {
  std::uint32_t id = 0xDEADBEEF;
  EXPECT_EQ(aclrtGetEventId(event, &id), ACL_SUCCESS);
  return id;
}

// Takes numbers until `left` are free.
class TakenEvents {
 public:
  explicit TakenEvents(std::uint32_t left) {
    for (std::uint32_t i = events_left(); i > left; --i) {
      aclrtEvent event = nullptr;
      const int answer = ::aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC);
      EXPECT_EQ(answer, ACL_SUCCESS) << i << " were free";
      if (answer != ACL_SUCCESS) break;
      events_.push_back(event);
    }
  }
  TakenEvents(const TakenEvents&) = delete;
  TakenEvents& operator=(const TakenEvents&) = delete;
  ~TakenEvents() {
    while (!events_.empty()) give_back();
  }
  void give_back() {
    EXPECT_EQ(aclrtDestroyEvent(events_.back()), ACL_SUCCESS);
    events_.pop_back();
  }
  const std::vector<aclrtEvent>& events() const { return events_; }

 private:
  std::vector<aclrtEvent> events_;
};

}  // namespace belay_test
