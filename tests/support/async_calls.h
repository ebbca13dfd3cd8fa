// Every function that queues a copy, a fill or work on a word, as one call that changes the same block.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "support/batch.h"
#include "support/blocks.h"

namespace belay_test {

class AsyncCalls {
 public:
  struct One {
    std::string name;
    std::function<int(aclrtStream)> call;     // correct but for the stream
    std::function<int(aclrtStream)> nothing;  // a zero length; empty where there is none
    std::function<int(aclrtStream)> wrong;    // breaks a 100000 rule; empty where there is none
    std::vector<std::string> products;        // those that have it
    bool null_is_default = true;
    bool writes = true;
  };

  // `host` is what the copies read; pinned memory unless the product has none.
  explicit AsyncCalls(void* host) : host_{host} {
    std::copy(after_.begin(), after_.end(), at(host_, 0));
    write_to(from_.get(), after_);
    std::array<void*, 2> addresses{to_.get(), from_.get()};
    write_to(cells_.get(), Bytes(reinterpret_cast<std::uint8_t*>(addresses.data()),
                                 reinterpret_cast<std::uint8_t*>(addresses.data() + 2)));
    restore();
  }
  void restore() const { write_to(to_.get(), before_); }
  bool untouched() const { return read_from(to_.get(), 256) == before_; }
  // Makes the descriptor that aclrtMemcpyAsyncWithDesc needs; not every product has it.
  int set_descriptor() const {
    return aclrtSetMemcpyDesc(descriptor_.get(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, from_.get(), to_.get(),
                              256, nullptr);
  }
  std::vector<One> all() const;

 private:
  int batch(aclrtStream stream, bool v2, bool empty, bool bad) const {
    void *to = to_.get(), *from = host_;
    std::size_t room = bad ? 255 : 256, size = empty ? 0 : 256, start = 0, fail = 0;
    aclrtMemcpyBatchAttr attribute = host_to_device();
    return v2 ? ::aclrtMemcpyBatchAsyncV2(&to, &room, &from, &size, 1, &attribute, &start, 1, stream)
              : ::aclrtMemcpyBatchAsync(&to, &room, &from, &size, 1, &attribute, &start, 1, &fail, stream);
  }
  int offset(aclrtStream stream, std::size_t count) const {
    return aclrtMemcpyAsyncWithOffset(static_cast<void**>(cells_.get()), 256, 0,
                                      static_cast<const void**>(cells_.get(8)), count, 0,
                                      ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream);
  }
  void* host_;
  const Bytes before_ = pattern(256, 1), after_ = pattern(256, 2);
  Device to_{256}, from_{256}, cells_{256}, descriptor_{4096};
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // aclrtMemcpyAsyncWithCondition is one of them
inline std::vector<AsyncCalls::One> AsyncCalls::all() const {
  const std::vector<std::string> not_ipv = {"950", "A3", "A2", "310B", "310P", "910"},
                                 new_ones = {"950", "A3", "A2"};
  std::vector<std::string> every = not_ipv;
  every.emplace_back("IPV350");
  const auto up = ACL_MEMCPY_HOST_TO_DEVICE;
  const auto inner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
  return {
      {"aclrtMemcpyAsync",
       [=, this](auto s) { return ::aclrtMemcpyAsync(to_.get(), 256, host_, 256, up, s); },
       [=, this](auto s) { return ::aclrtMemcpyAsync(to_.get(), 256, host_, 0, up, s); },
       [=, this](auto s) { return ::aclrtMemcpyAsync(nullptr, 256, host_, 256, up, s); }, not_ipv},
      {"aclrtMemcpyAsyncWithCondition",
       [=, this](auto s) { return ::aclrtMemcpyAsyncWithCondition(to_.get(), 256, host_, 256, up, s); },
       [=, this](auto s) { return ::aclrtMemcpyAsyncWithCondition(to_.get(), 256, host_, 0, up, s); },
       [=, this](auto s) { return ::aclrtMemcpyAsyncWithCondition(nullptr, 256, host_, 256, up, s); }, every},
      {"aclrtMemcpyBatchAsync", [this](auto s) { return batch(s, false, false, false); },
       [this](auto s) { return batch(s, false, true, false); },
       [this](auto s) { return batch(s, false, false, true); }, new_ones},
      {"aclrtMemcpyBatchAsyncV2", [this](auto s) { return batch(s, true, false, false); },
       [this](auto s) { return batch(s, true, true, false); },
       [this](auto s) { return batch(s, true, false, true); }, new_ones},
      {"aclrtMemcpy2dAsync",
       [=, this](auto s) { return ::aclrtMemcpy2dAsync(to_.get(), 64, host_, 64, 64, 4, up, s); },
       [=, this](auto s) { return ::aclrtMemcpy2dAsync(to_.get(), 64, host_, 64, 0, 4, up, s); },
       [=, this](auto s) { return ::aclrtMemcpy2dAsync(to_.get(), 63, host_, 64, 64, 4, up, s); }, not_ipv},
      {"aclrtMemcpyAsyncWithDesc",
       [=, this](auto s) { return aclrtMemcpyAsyncWithDesc(descriptor_.get(), inner, s); },
       nullptr,
       [=](auto s) { return aclrtMemcpyAsyncWithDesc(nullptr, inner, s); },
       {"950", "A3", "A2", "310B"},
       false},
      {"aclrtMemcpyAsyncWithOffset",
       [this](auto s) { return offset(s, 256); },
       [this](auto s) { return offset(s, 0); },
       nullptr,
       {"950", "A3", "A2", "910"}},
      {"aclrtMemsetAsync", [this](auto s) { return ::aclrtMemsetAsync(to_.get(), 256, 3, 256, s); },
       [this](auto s) { return ::aclrtMemsetAsync(to_.get(), 256, 3, 0, s); },
       [](auto s) { return ::aclrtMemsetAsync(nullptr, 256, 3, 256, s); }, not_ipv},
      {"aclrtMemsetD32Async", [this](auto s) { return ::aclrtMemsetD32Async(to_.get(), 256, 3, 64, s); },
       [this](auto s) { return ::aclrtMemsetD32Async(to_.get(), 256, 3, 0, s); },
       [this](auto s) { return ::aclrtMemsetD32Async(to_.get(2), 254, 3, 1, s); }, new_ones},
      {"aclrtValueWrite", [this](auto s) { return aclrtValueWrite(to_.get(), 3, 0, s); }, nullptr,
       [](auto s) { return aclrtValueWrite(nullptr, 3, 0, s); }, new_ones},
      {"aclrtValueWait",
       [this](auto s) { return aclrtValueWait(to_.get(), 0, ACL_STREAM_WAIT_VALUE_NOR, s); }, nullptr,
       [](auto s) { return aclrtValueWait(nullptr, 3, 0, s); }, new_ones, true, false}};
}
#pragma GCC diagnostic pop

}  // namespace belay_test
