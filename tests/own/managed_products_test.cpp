// Managed memory on each product and in each form.
#include "support/managed.h"
#include "support/products.h"

namespace managed_products_test {

using namespace belay_test;

// Something to ask about that no product takes for a managed address.
int g_local = 0;

int allocate(std::uint64_t size) {
  void* block = sentinel();
  const int answer = ::aclrtMemAllocManaged(&block, size, ACL_RT_MEM_ATTACH_GLOBAL);
  if (answer == ACL_SUCCESS) {
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  } else {
    EXPECT_EQ(block, sentinel());
  }
  return answer;
}

int attributes(void* data, std::size_t count) {
  aclrtMemManagedRangeAttribute wanted = ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
  std::size_t size = 4;
  return aclrtMemManagedGetAttrs(&wanted, count, &g_local, 4, &data, &size);
}

int prefetch(const void* start, aclrtMemManagedLocation where, aclrtStream stream) {
  return ::aclrtMemManagedPrefetchAsync(start, 4, where, 0, stream);
}

int prefetch_batch(const void* start, std::size_t count, aclrtMemManagedLocation where, aclrtStream stream) {
  std::size_t size = 4, first = 0;
  return ::aclrtMemManagedPrefetchBatchAsync(&start, &size, count, &where, &first, 1, 0, stream);
}

std::int32_t g_value = 0;

TEST(ManagedProducts, V278_V283_M418_OnlyOnA3AndA2) {
  expect_only_on({"A3", "A2"},
                 {{"aclrtMemAllocManaged", [] { return allocate(64); },
                   [] { return ::aclrtMemAllocManaged(nullptr, 64, 1); }, true},
                  {"aclrtMemManagedAdvise", [] { return read_mostly(&g_local, 4); },
                   [] { return read_mostly(nullptr, 4); }, true},
                  {"aclrtMemManagedGetAttr", [] { return query(1, &g_local, 4, &g_value, 4); },
                   [] { return query(1, nullptr, 4, &g_value, 4); }},
                  {"aclrtMemManagedGetAttrs", [] { return attributes(&g_value, 1); },
                   [] { return aclrtMemManagedGetAttrs(nullptr, 1, &g_local, 4, nullptr, nullptr); }}});
}

TEST(ManagedProducts, V278_WhateverTheOtherArguments) {
  for (const char* product : {"950", "310B", "310P", "910", "IPV350"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      int garbage = 0;
      void* block = sentinel();
      EXPECT_EQ(::aclrtMemAllocManaged(&block, 64, 0), kBadArgument) << product << ": V-280 first";
      EXPECT_EQ(allocate(0), kUnsupported) << product;
      EXPECT_EQ(allocate(~std::uint64_t{0}), kUnsupported) << product;
      EXPECT_EQ(advise(&g_local, 4, 99, device_side(99)), kUnsupported) << product;
      EXPECT_EQ(query(99, &g_local, 4, &g_value, 3), kUnsupported) << product;
      EXPECT_EQ(attributes(&g_value, 0), kUnsupported) << product;
      EXPECT_EQ(prefetch(&g_local, host_side(), nullptr), kUnsupported) << product;
      EXPECT_EQ(prefetch(&g_local, no_side(), &garbage), kUnsupported) << product;
      EXPECT_EQ(prefetch_batch(&g_local, 1, host_side(), nullptr), kUnsupported) << product;
      EXPECT_EQ(prefetch_batch(nullptr, 1, no_side(), &garbage), kUnsupported) << product;
      EXPECT_EQ(last_error(), ACL_SUCCESS) << product << ": a missing function is no last error";
      EXPECT_EQ(prefetch(nullptr, host_side(), nullptr), kBadArgument) << product;
      EXPECT_EQ(prefetch_batch(&g_local, 0, host_side(), nullptr), kBadArgument) << product;
      without_context([&] {
        EXPECT_EQ(prefetch(&g_local, host_side(), nullptr), kInternal) << product << ": V-323 before V-278";
        EXPECT_EQ(prefetch_batch(&g_local, 1, host_side(), nullptr), kInternal) << product;
      });
    });
  }
}

TEST(ManagedProducts, V278_M437_InTheFormsWhereHostAndDeviceAreOneMachine) {
  for (const char* product : {"310B", "310P", "910"}) {
    for (const char* form : {"RC", "OPEN_CTRL_CPU"}) {
      in_fresh_process({{"BELAY_PRODUCT", product}, {"BELAY_FORM", form}}, [&] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(allocate(64), kUnsupported) << product << form;
        EXPECT_EQ(read_mostly(&g_local, 4), kUnsupported) << product << form;
        EXPECT_EQ(query(1, &g_local, 4, &g_value, 4), kUnsupported) << product << form;
        EXPECT_EQ(prefetch(&g_local, host_side(), nullptr), kUnsupported) << product << form;
      });
    }
  }
}

TEST(ManagedProducts, V346_V272_V273_A3_IsLikeA2) {
  for (const char* product : {"A3", "A2"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const std::size_t before = free_bytes();
      {
        const Managed block{2 * kManagedPage};
        EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_SUCCESS);
        EXPECT_EQ(before - free_bytes(), kManagedPage) << product;
        aclrtPtrAttributes got{};
        EXPECT_EQ(aclrtPointerGetAttributes(block.get(), &got), ACL_SUCCESS);
        EXPECT_EQ(got.location.type, ACL_MEM_LOCATION_TYPE_MANAGED) << product;
        EXPECT_EQ(got.pageSize, kManagedPage) << product;
        EXPECT_EQ(prefer(block.page(0), 1, host_side()), kRefused) << product;
        EXPECT_EQ(prefer(block.page(1), 1, host_side()), ACL_SUCCESS) << product;
      }
      EXPECT_EQ(free_bytes(), before) << product;
    });
  }
}

TEST(ManagedProducts, V289_V322_TheNumberOfDevicesIsThatOfTheMachine) {
  for (const int count : {1, 2, 5}) {
    in_fresh_process({{"BELAY_DEVICES", std::to_string(count)}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const Managed block{64};
      EXPECT_EQ(used_by(block.get(), 64, device_side(count - 1)), ACL_SUCCESS) << count;
      EXPECT_EQ(used_by(block.get(), 64, device_side(count)), kBadValue) << count;
      EXPECT_EQ(prefetch(block.get(), device_side(count - 1), nullptr), ACL_SUCCESS) << count;
      EXPECT_EQ(prefetch(block.get(), device_side(count), nullptr), kBadValue) << count;
      EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    });
  }
}

TEST(ManagedProducts, V486_A2IsTheDefault_IPVHasNothing) {
  ::unsetenv("BELAY_PRODUCT");
  in_fresh_process({}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(allocate(64), ACL_SUCCESS) << "A3 and A2 have it";
    std::size_t size = 0;
    EXPECT_EQ(aclrtCmoGetDescSize(&size), ACL_SUCCESS);
    void* reserved = nullptr;
    EXPECT_EQ(aclrtReserveMemAddressNoUCMemory(&reserved, kGB, 0,
                                               reinterpret_cast<void*>(std::uintptr_t{40} << 40U), 0),
              kUnsupported)
        << "and only A3 has this";
  });
  in_fresh_process({{"BELAY_PRODUCT", "IPV350"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    std::size_t size = 0;
    void* reserved = nullptr;
    aclrtBarrierTaskInfo barriers{};
    barriers.barrierNum = 1;
    EXPECT_EQ(allocate(64), kUnsupported);
    EXPECT_EQ(aclrtMemP2PMap(&g_local, 4, 0, 0), kUnsupported);
    EXPECT_EQ(aclrtCmoAsync(&g_local, 4, ACL_RT_CMO_TYPE_PREFETCH, nullptr), kUnsupported);
    EXPECT_EQ(aclrtCmoAsyncWithBarrier(&g_local, 4, ACL_RT_CMO_TYPE_PREFETCH, 0, nullptr), kUnsupported);
    EXPECT_EQ(aclrtCmoWaitBarrier(&barriers, nullptr, 0), kUnsupported);
    EXPECT_EQ(aclrtCmoGetDescSize(&size), kUnsupported);
    EXPECT_EQ(aclrtReserveMemAddress(&reserved, kManagedPage, 0, nullptr, 0), kUnsupported);
  });
}

}  // namespace managed_products_test
