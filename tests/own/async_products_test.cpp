// Which products have which functions that queue copies and fills.
#include <algorithm>

#include "support/async_calls.h"
#include "support/gates.h"
#include "support/settings.h"

namespace async_products_test {

using namespace belay_test;

bool has(const AsyncCalls::One& one, const std::string& product) {
  return std::find(one.products.begin(), one.products.end(), product) != one.products.end();
}

// What the copies read: memory of the test where the product has no pinned memory.
class HostMemory {
 public:
  HostMemory() {
    if (::aclrtMallocHost(&pinned_, 256) != ACL_SUCCESS) pinned_ = nullptr;
    last_error();
    recent_message();
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory() {
    if (pinned_ != nullptr) aclrtFreeHost(pinned_);
  }
  void* get() { return pinned_ == nullptr ? plain_ : pinned_; }

 private:
  void* pinned_ = nullptr;
  std::uint8_t plain_[256] = {};
};

TEST(AsyncProducts, M8_M418_M275_P9_R266_OnTheDefaultStreamOfEachProduct) {
  for (const std::string product : {"950", "A3", "A2", "310B", "310P", "910", "IPV350"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      HostMemory host;
      const AsyncCalls calls{host.get()};
      const bool has_descriptors = calls.set_descriptor() == ACL_SUCCESS;
      last_error();
      for (const AsyncCalls::One& one : calls.all()) {
        SCOPED_TRACE(product + " " + one.name);
        calls.restore();
        if (has(one, product)) {
          aclrtStream stream = nullptr;
          if (!one.null_is_default) {
            ASSERT_TRUE(has_descriptors);
            ASSERT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_SUCCESS);
          }
          EXPECT_EQ(one.call(stream), ACL_SUCCESS);
          EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
          EXPECT_EQ(calls.untouched(), !one.writes);
          continue;
        }
        int garbage = 0;
        EXPECT_EQ(one.call(one.null_is_default ? nullptr : &garbage), kUnsupported);
        EXPECT_EQ(last_error(), ACL_SUCCESS) << "a missing function is no last error";
        EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
        EXPECT_TRUE(calls.untouched());
        if (one.nothing) {
          EXPECT_EQ(one.nothing(&garbage), ACL_SUCCESS) << "M-5 comes first";
        }
        if (one.wrong) {
          EXPECT_EQ(one.wrong(&garbage), kBadArgument) << "so do the 100000 checks";
        }
      }
    });
  }
}

TEST(AsyncProducts, M418_WhereTheTableHasNoRow_TheContextComesBefore_TheStreamAfter) {
  in_fresh_process({{"BELAY_PRODUCT", "IPV350"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    HostMemory host;
    const AsyncCalls calls{host.get()};
    last_error();
    int garbage = 0;
    for (const AsyncCalls::One& one : calls.all()) {
      if (one.name != "aclrtMemcpyAsync" && one.name != "aclrtMemsetAsync") continue;
      without_context([&] {
        EXPECT_EQ(one.call(nullptr), kNoContext) << one.name;
        EXPECT_EQ(one.wrong(nullptr), kBadArgument) << one.name;
      });
      EXPECT_EQ(one.call(&garbage), kUnsupported) << one.name;
    }
  });
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

TEST(AsyncProducts, M275_OnIPV_WithCondition_CopiesInEveryDirection) {
  in_fresh_process({{"BELAY_PRODUCT", "IPV350"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Device a{256}, b{256};
    Bytes plain = pattern(256, 1), back(256);
    EXPECT_EQ(aclrtMemcpyAsyncWithCondition(a.get(), 256, plain.data(), 256, kind_of(1), nullptr),
              ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsyncWithCondition(b.get(), 256, a.get(), 256, kind_of(3), nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsyncWithCondition(back.data(), 256, b.get(), 256, kind_of(2), nullptr),
              ACL_SUCCESS);
    EXPECT_EQ(back, plain) << "pageable: there at the return, behind the copy before it";
  });
}

TEST(AsyncProducts, M245_BetweenDevices_ThePeerRuleHoldsForQueuedCopiesToo) {
  struct Case {
    const char* product;
    int without_peer_access;
  };
  for (const Case& test : {Case{"950", kRefused}, Case{"A2", kRefused}, Case{"310P", kRefused},
                           Case{"910", kRefused}, Case{"A3", ACL_SUCCESS}, Case{"310B", kUnsupported}}) {
    in_fresh_process({{"BELAY_PRODUCT", test.product}, {"BELAY_DEVICES", "2"}}, [&] {
      ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
      Device there{64};
      write_to(there.get(), pattern(64, 1));
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Device here{64};
      write_to(here.get(), pattern(64, 2));
      Stream stream;
      const auto copy = [&] {
        return aclrtMemcpyAsync(there.get(), 64, here.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.get());
      };
      const auto done = [&] {
        const int answer = copy();
        return answer == ACL_SUCCESS ? finish(stream)
                                     : answer;  // at the call or at the synchronisation (M-272)
      };
      EXPECT_EQ(done(), test.without_peer_access) << test.product;
      EXPECT_EQ(read_from(there.get(), 64), pattern(64, test.without_peer_access == ACL_SUCCESS ? 2 : 1))
          << test.product;
      if (test.without_peer_access != kRefused) return;
      ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
      EventGate hold{stream};
      EXPECT_EQ(copy(), ACL_SUCCESS) << test.product;
      EXPECT_EQ(read_from(there.get(), 64), pattern(64, 1)) << test.product;
      hold.open();
      EXPECT_EQ(finish(stream), ACL_SUCCESS) << test.product;
      EXPECT_EQ(read_from(there.get(), 64), pattern(64, 2)) << test.product;
    });
  }
}

}  // namespace async_products_test
