// A small place to try schedules (BELAY_SCHEDULE): two streams, a word of device memory, words of pinned
// memory.
#pragma once

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "support/settings.h"

namespace belay_test {

inline Settings under(const std::string& schedule) {
  return {{"BELAY_SCHEDULE", schedule}, {"BELAY_DEVICES", "1"}, {"BELAY_LEAKS", "off"}};
}
inline std::vector<std::string> seeds(int from, int to) {
  std::vector<std::string> all;
  for (int seed = from; seed <= to; ++seed) all.push_back("seed:" + std::to_string(seed));
  return all;
}
// Ends the process of a trial if a call fails.
inline void must(int answer, const char* what) {
  if (answer == ACL_SUCCESS) return;
  std::cout << what << " answers " << answer << std::endl;
  ::_exit(2);
}
#define MUST(call) ::belay_test::must(call, #call)

// Two streams, a word of device memory that holds 1, and words of pinned memory that hold 0.
struct Desk {
  aclrtStream a = nullptr, b = nullptr;
  std::uint64_t* device = nullptr;
  volatile std::uint64_t* pinned = nullptr;
  Desk() {
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateStream(&a));
    MUST(aclrtCreateStream(&b));
    void* start = nullptr;
    MUST(aclrtMalloc(&start, 64, ACL_MEM_MALLOC_NORMAL_ONLY));
    device = static_cast<std::uint64_t*>(start);
    MUST(aclrtMallocHost(&start, 64));
    pinned = static_cast<volatile std::uint64_t*>(start);
    for (int i = 0; i < 8; ++i) pinned[i] = 0;
    const std::uint64_t one = 1;
    MUST(aclrtMemcpy(device, 8, &one, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  ~Desk() {
    (void)aclrtDestroyStream(a);
    (void)aclrtDestroyStream(b);
    (void)aclrtFree(device);
    (void)aclrtFreeHost(word(0));
    (void)aclrtResetDevice(0);
  }
  void* word(std::size_t i) const { return const_cast<std::uint64_t*>(pinned + i); }
  void down(aclrtStream stream, std::size_t to) const {
    MUST(aclrtMemcpyAsync(word(to), 8, device, 8, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  void up(aclrtStream stream, std::size_t from) const {
    MUST(aclrtMemcpyAsync(device, 8, word(from), 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  }
  void order(aclrtStream first, aclrtStream then) const {
    aclrtEvent event = nullptr;
    MUST(aclrtCreateEvent(&event));
    MUST(aclrtRecordEvent(event, first));
    MUST(aclrtStreamWaitEvent(then, event));
    MUST(aclrtDestroyEvent(event));
  }
};

}  // namespace belay_test
