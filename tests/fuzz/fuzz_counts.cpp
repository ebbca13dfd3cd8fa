// Count notifies with arbitrary records, waits and aborts: who waits is who should.
//
// The schedule is lazy: a question to a stream makes its wait begin, so that a plain model knows the order.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "input.h"

namespace {

using namespace belay_fuzz;

struct Wait {
  std::size_t stream;
  std::uint32_t mode, value;
  bool clears;
};

bool over(const Wait& wait, std::uint32_t count) {
  const bool answers[] = {count<wait.value, count == wait.value, count> wait.value, count >= wait.value,
                          (count & wait.value) == wait.value};
  return answers[wait.mode];
}

bool idle(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  require(aclrtStreamQuery(stream, &status) == ACL_SUCCESS);
  return status == ACL_STREAM_STATUS_COMPLETE;
}

void make_machine() {
  make_quiet_machine();
  ::setenv("BELAY_PRODUCT", "950", 1);
  ::setenv("BELAY_SCHEDULE", "lazy", 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool ready = (make_machine(), true);
  (void)ready;
  Input input{data, size};
  require(aclrtSetDevice(0) == ACL_SUCCESS);
  std::array<aclrtStream, 4> streams{};
  for (aclrtStream& each : streams) require(aclrtCreateStream(&each) == ACL_SUCCESS);
  aclrtCntNotify notify = nullptr;
  require(aclrtCntNotifyCreate(&notify, 0) == ACL_SUCCESS);
  std::uint32_t count = 0;
  std::vector<Wait> waits;
  const auto waits_on = [&](std::size_t stream) {
    return std::any_of(waits.begin(), waits.end(), [&](const Wait& each) { return each.stream == stream; });
  };
  while (!input.empty()) {
    const auto action = input.next<std::uint8_t>();
    const std::size_t stream = action / 16 % 4;
    const auto mode = input.next<std::uint8_t>();
    const std::uint32_t value = mode % 2 == 0 ? input.next<std::uint8_t>() % 8 : input.next<std::uint32_t>();
    if (action % 4 == 0 && waits_on(stream)) {
      require(aclrtStreamAbort(streams[stream]) == ACL_SUCCESS);
      std::erase_if(waits, [&](const Wait& each) { return each.stream == stream; });
    } else if (action % 4 <= 1 && !waits_on(stream)) {
      aclrtCntNotifyWaitInfo info{};
      const std::uint32_t how = mode / 2 % 6;
      info.mode = static_cast<aclrtCntNotifyWaitMode>(how);
      info.value = value;
      info.isClear = mode >= 128 ? 1 : 0;
      const aclError code = aclrtCntNotifyWaitWithTimeout(notify, streams[stream], &info);
      require((code == ACL_SUCCESS) == (how < 5));
      if (code == ACL_SUCCESS) waits.push_back({stream, how, value, info.isClear != 0});
      (void)idle(streams[stream]);
    } else {
      aclrtCntNotifyRecordInfo info{};
      const std::uint32_t how = mode / 2 % 6;
      info.mode = static_cast<aclrtCntNotifyRecordMode>(how);
      info.value = value;
      const aclError code = aclrtCntNotifyRecord(notify, nullptr, &info);
      require((code == ACL_SUCCESS) == (how < 3 || how == 4));
      if (code == ACL_SUCCESS)
        count = how == 0 ? value : how == 1 ? count + value : how == 2 ? count | value : count & value;
      require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
    }
    for (std::size_t i = 0; i < waits.size();) {
      if (!over(waits[i], count)) {
        ++i;
        continue;
      }
      if (waits[i].clears) count = 0;
      waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
    for (std::size_t i = 0; i < streams.size(); ++i) require(idle(streams[i]) != waits_on(i));
  }
  require(aclrtCntNotifyDestroy(notify) == ACL_SUCCESS);
  for (const aclrtStream each : streams) require(aclrtDestroyStreamForce(each) == ACL_SUCCESS);
  require(aclrtResetDevice(0) == ACL_SUCCESS);
  return 0;
}
