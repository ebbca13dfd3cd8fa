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
    stop_listening();
    belay::running().memory().listeners_changed();
    OnDevice::TearDown();
  }
  void listen(const belay::observe::Wish& wish) {
    stop_listening();
    if (wish.at_once)
      at_once_.emplace(wish);
    else
      recorder_.emplace(wish);
    belay::running().memory().listeners_changed();
  }
  std::vector<Heard> heard(belay::observe::Mask mask = Recorder::kAll) {
    return only(at_once_ ? at_once_->take() : recorder_->take(), mask);
  }

 private:
  void stop_listening() {
    recorder_.reset();
    at_once_.reset();
  }
  std::optional<Recorder> recorder_;
  std::optional<RecorderOf<true>> at_once_;
};

inline void* allocate(std::size_t bytes, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, bytes, policy), ACL_SUCCESS);
  return block;
}

}  // namespace belay_test
