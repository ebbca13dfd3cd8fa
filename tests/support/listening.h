// Tests that do something and look at what was told about it.
#pragma once

#include "api/door.h"
#include "support/device_fixture.h"
#include "support/recorder.h"

namespace belay_test {

// Device 0 is set; `heard()` tells what happened since the last time.
class Listening : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    listen({.wanted = Recorder::kAll});
  }
  void TearDown() override {
    recorder_.reset();
    belay::running().memory().listeners_changed();
    OnDevice::TearDown();
  }
  void listen(const belay::observe::Wish& wish) {
    recorder_.reset();
    recorder_.emplace(wish);
    belay::running().memory().listeners_changed();
  }
  std::vector<Heard> heard(belay::observe::Mask mask = Recorder::kAll) {
    return only(recorder_->take(), mask);
  }

 private:
  std::optional<Recorder> recorder_;
};

inline void* allocate(std::size_t bytes, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, bytes, policy), ACL_SUCCESS);
  return block;
}

}  // namespace belay_test
