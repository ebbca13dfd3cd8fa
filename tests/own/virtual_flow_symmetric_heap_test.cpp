// A library with one heap at the same address in every rank: an address is found by reserving anywhere and
// giving it back, and then demanded.
#include "support/client_flows.h"

namespace virtual_flow_symmetric_heap_test {

using namespace belay_test;

TEST(VirtualFlowSymmetricHeap, V515_V80_AnAddressIsFound_AndThenDemanded) {
  on_a2_and_a3({}, [] {
    FLOW_STEP(aclrtSetDevice(0));
    const MemoryBooks books;
    for (const std::size_t size : {kGB, 2 * kGB, 7 * kGB, 64 * kGB}) {
      SCOPED_TRACE(size);
      void *found = nullptr, *heap = nullptr;
      FLOW_STEP(aclrtReserveMemAddress(&found, size, 0, nullptr, 1));
      FLOW_STEP(aclrtReleaseMemAddress(found));
      FLOW_STEP(aclrtReserveMemAddress(&heap, size, 0, found, 1));
      EXPECT_EQ(heap, found);
      void* again = nullptr;
      EXPECT_EQ(aclrtReserveMemAddress(&again, size, 0, found, 1), kRefused) << "it is taken now";
      // The heap begins with what all ranks have, and ends with the last one's.
      const auto prop = memory_at(ACL_MEM_LOCATION_TYPE_DEVICE, 0, ACL_HBM_MEM_HUGE);
      std::vector<aclrtDrvMemHandle> handles(2);
      std::uint8_t* const places[] = {at(heap, 0), at(heap, size - 64 * kMB)};
      for (std::size_t i = 0; i < 2; ++i) {
        FLOW_STEP(aclrtMallocPhysical(&handles[i], 64 * kMB, &prop, 0));
        FLOW_STEP(aclrtMapMem(places[i], 64 * kMB, 0, handles[i], 0));
        write_to(at(places[i], 64 * kMB - 1000), pattern(1000, static_cast<unsigned>(i)));
      }
      EXPECT_EQ(books.taken(), 128 * kMB);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(read_from(at(places[i], 64 * kMB - 1000), 1000), pattern(1000, static_cast<unsigned>(i)));
        FLOW_STEP(aclrtUnmapMem(places[i]));
        FLOW_STEP(aclrtFreePhysical(handles[i]));
      }
      FLOW_STEP(aclrtReleaseMemAddress(heap));
      EXPECT_EQ(books.taken(), 0U);
    }
  });
}

// Every rank is a process; the first tells the others where.
TEST(VirtualFlowSymmetricHeap, V515_EveryRank_GetsTheAddressOfTheFirst) {
  for (const char* const product : {"A2", "A3"}) {
    const Settings settings{{"BELAY_PRODUCT", product}};
    const Ending first = run_captured(settings, [] {
      MUST(aclrtSetDevice(0));
      void* found = nullptr;
      MUST(aclrtReserveMemAddress(&found, 4 * kGB, 0, nullptr, 1));
      MUST(aclrtReleaseMemAddress(found));
      std::cout << number(found) << std::endl;
    });
    ASSERT_TRUE(first.clean()) << first;
    void* const found = reinterpret_cast<void*>(std::stoull(first.out));
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      in_fresh_process(settings, [&] {
        FLOW_STEP(aclrtSetDevice(rank));
        void* heap = nullptr;
        FLOW_STEP(aclrtReserveMemAddress(&heap, 4 * kGB, 0, found, 1)) << product << ", " << rank;
        EXPECT_EQ(heap, found);
        FLOW_STEP(aclrtReleaseMemAddress(heap));
      });
    }
  }
}

// On Atlas A3 a rank reaches what it has mapped over a second link.
TEST(VirtualFlowSymmetricHeap, V214_V211_OnA3_TheHeapIsMappedOverAnotherLink) {
  on_each({"A3"}, {}, [] {
    FLOW_STEP(aclrtSetDevice(0));
    const MemoryBooks books;
    void *heap = nullptr, *other = nullptr;
    const auto prop = memory_at(ACL_MEM_LOCATION_TYPE_DEVICE, 0, ACL_HBM_MEM_HUGE);
    FLOW_STEP(aclrtReserveMemAddress(&heap, 6 * kMB, 0, nullptr, 0));
    for (std::size_t i = 0; i < 3; ++i) {
      aclrtDrvMemHandle handle = nullptr;
      FLOW_STEP(aclrtMallocPhysical(&handle, 2 * kMB, &prop, 0));
      FLOW_STEP(aclrtMapMem(at(heap, i * 2 * kMB), 2 * kMB, 0, handle, 0));
      FLOW_STEP(aclrtFreePhysical(handle));
    }
    FLOW_STEP(aclrtReserveMemAddress(&other, 6 * kMB, 0, nullptr, 0));
    FLOW_STEP(aclrtMemMapSelectedLink(other, 6 * kMB, heap, ACL_RT_MEM_LINK_IDX_1));
    EXPECT_EQ(books.taken(), 6 * kMB) << "the same memory";
    const Bytes bytes = pattern(20000, 1);
    for (const std::size_t border : {2 * kMB, 4 * kMB}) {
      write_to(at(heap, border - 10000), bytes);
      EXPECT_EQ(read_from(at(other, border - 10000), 20000), bytes);
    }
    for (void* const start : {heap, other}) {
      for (std::size_t i = 0; i < 3; ++i) FLOW_STEP(aclrtUnmapMem(at(start, i * 2 * kMB)));
      FLOW_STEP(aclrtReleaseMemAddress(start));
    }
    EXPECT_EQ(books.taken(), 0U) << "the handles were freed before";
  });
}

}  // namespace virtual_flow_symmetric_heap_test
