// The typed C++ overloads of acl/acl_rt_api.h for managed memory.
#include "acl/acl_rt_api.h"

#include "support/gates.h"
#include "support/managed.h"

namespace managed_overloads_test {

using namespace belay_test;

class ManagedOverloads : public OnTwoDevices {};

struct Particle {
  double position[3];
  int charge;
};

TEST_F(ManagedOverloads, V8_TypedAllocation_TheFlagMayBeLeftOut) {
  float* numbers = nullptr;
  Particle* particles = nullptr;
  void* untyped = nullptr;
  ASSERT_EQ(aclrtMemAllocManaged(&numbers, 1000 * sizeof(float)), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemAllocManaged(&particles, 10 * sizeof(Particle), ACL_RT_MEM_ATTACH_GLOBAL), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemAllocManaged(&untyped, 64, ACL_RT_MEM_ATTACH_GLOBAL), ACL_SUCCESS);
  for (void* const block : {static_cast<void*>(numbers), static_cast<void*>(particles), untyped}) {
    aclrtPtrAttributes attributes{};
    EXPECT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_MANAGED);
  }
  float* none = nullptr;
  EXPECT_EQ(aclrtMemAllocManaged(&none, 64, 2), kBadArgument) << "the flag is passed on";
  EXPECT_EQ(aclrtMemAllocManaged(&none, 0), kBadValue) << "and the size, in bytes";
  EXPECT_EQ(aclrtFree(numbers), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(particles), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(untyped), ACL_SUCCESS);
}

TEST_F(ManagedOverloads, V8_TypedAttributes) {
  Particle* particles = nullptr;
  ASSERT_EQ(aclrtMemAllocManaged(&particles, 10 * sizeof(Particle)), ACL_SUCCESS);
  const Particle* const third = particles + 3;
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(third, &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_MANAGED);
  EXPECT_EQ(attributes.pageSize, kManagedPage);
  EXPECT_EQ(aclrtFree(particles), ACL_SUCCESS);
}

TEST_F(ManagedOverloads, V8_TypedPrefetch_SizesAreInBytes) {
  double* numbers = nullptr;
  ASSERT_EQ(aclrtMemAllocManaged(&numbers, 2 * kManagedPage), ACL_SUCCESS);
  Stream stream;
  EXPECT_EQ(aclrtMemManagedPrefetchAsync(numbers, kManagedPage, device_side(1), 0, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  expect_pages(0, 1, "one page, not eight");
  const double* const read_only = numbers;
  EXPECT_EQ(aclrtMemManagedPrefetchAsync(read_only, 1, host_side(), 0, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemManagedPrefetchAsync(read_only, 1, host_side(), 1, stream), kBadArgument);
  EXPECT_EQ(aclrtMemManagedPrefetchAsync(read_only, 1, no_side(), 0, stream), kBadValue);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(numbers), ACL_SUCCESS);
}

TEST_F(ManagedOverloads, V8_TypedBatch_InFull_AndWithOneLocation) {
  int *first = nullptr, *second = nullptr;
  ASSERT_EQ(aclrtMemAllocManaged(&first, kManagedPage), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemAllocManaged(&second, kManagedPage), ACL_SUCCESS);
  const int* starts[2] = {first, second};
  std::size_t sizes[2] = {4, 4}, indexes[2] = {0, 1};
  aclrtMemManagedLocation sides[2] = {device_side(0), device_side(1)};
  Stream stream;
  EXPECT_EQ(aclrtMemManagedPrefetchBatchAsync(starts, sizes, 2, sides, indexes, 2, 0, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  expect_pages(1, 1, "each to its own");
  EXPECT_EQ(aclrtMemManagedPrefetchBatchAsync(starts, sizes, 2, device_side(1), 0, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  expect_pages(0, 2, "one location for all");
  EXPECT_EQ(aclrtMemManagedPrefetchBatchAsync(starts, sizes, 0, host_side(), 0, stream), kBadArgument);
  EXPECT_EQ(aclrtMemManagedPrefetchBatchAsync(starts, sizes, 2, host_side(), 4, stream), kBadArgument);
  EXPECT_EQ(aclrtMemManagedPrefetchBatchAsync(starts, sizes, 2, no_side(), 0, stream), kBadValue);
  EXPECT_EQ(aclrtMemManagedPrefetchBatchAsync(starts, nullptr, 2, host_side(), 0, stream), kBadArgument);
  EXPECT_EQ(aclrtFree(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(second), ACL_SUCCESS);
}

}  // namespace managed_overloads_test
