// Libraries look newer functions up by name at run time, or as weak symbols, and do without those that are
// missing: all of this chapter's that work within a process are there, by their plain C names.
#include <dlfcn.h>

#include "support/client_flows.h"

extern "C" {
__attribute__((weak)) aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle);
__attribute__((weak)) aclError aclrtNobodyHasThisFunction(void* virPtr);
}

namespace virtual_flow_names_test {

using namespace belay_test;

TEST(VirtualFlowNames, V514_V9_EveryFunctionIsFoundByItsName) {
  for (const char* const name : {"aclrtMallocPhysical",
                                 "aclrtFreePhysical",
                                 "aclrtReserveMemAddress",
                                 "aclrtReserveMemAddressNoUCMemory",
                                 "aclrtReleaseMemAddress",
                                 "aclrtMapMem",
                                 "aclrtMemMapNoAccess",
                                 "aclrtUnmapMem",
                                 "aclrtMemGetAllocationGranularity",
                                 "aclrtMemSetAccess",
                                 "aclrtMemGetAccess",
                                 "aclrtMemRetainAllocationHandle",
                                 "aclrtMemGetAllocationPropertiesFromHandle",
                                 "aclrtMemGetAddressRange",
                                 "aclrtMemMapSelectedLink",
                                 "aclrtMemMapSetLink",
                                 "aclrtMemAllocManaged",
                                 "aclrtMemManagedAdvise",
                                 "aclrtMemManagedGetAttr",
                                 "aclrtMemManagedGetAttrs",
                                 "aclrtMemManagedPrefetchAsync",
                                 "aclrtMemManagedPrefetchBatchAsync",
                                 "aclrtMemP2PMap",
                                 "aclrtPointerGetAttributes",
                                 "aclrtCmoAsync",
                                 "aclrtCmoAsyncWithBarrier",
                                 "aclrtCmoWaitBarrier",
                                 "aclrtCmoGetDescSize",
                                 "aclrtCmoSetDesc",
                                 "aclrtCmoAsyncWithDesc"}) {
    EXPECT_NE(::dlsym(RTLD_DEFAULT, name), nullptr) << name;
  }
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, "aclrtNobodyHasThisFunction"), nullptr);
}

TEST(VirtualFlowNames, V514_AFunctionThatWasLookedUp_Works) {
  on_a2_and_a3({}, [] {
    const auto reserve = reinterpret_cast<decltype(&::aclrtReserveMemAddress)>(
        ::dlsym(RTLD_DEFAULT, "aclrtReserveMemAddress"));
    const auto release = reinterpret_cast<decltype(&::aclrtReleaseMemAddress)>(
        ::dlsym(RTLD_DEFAULT, "aclrtReleaseMemAddress"));
    ASSERT_TRUE(reserve != nullptr && release != nullptr);
    FLOW_STEP(aclrtSetDevice(0));
    void* address = nullptr;
    FLOW_STEP(reserve(&address, 512, 0, nullptr, 1));
    FLOW_STEP(release(address));
  });
}

TEST(VirtualFlowNames, V514_V195_AWeakSymbol_IsBound_AndOneThatNobodyHasIsNull) {
  on_a2_and_a3({}, [] {
    EXPECT_EQ(&aclrtNobodyHasThisFunction, nullptr);
    ASSERT_NE(&aclrtMemRetainAllocationHandle, nullptr);
    FLOW_STEP(aclrtSetDevice(0));
    const MemoryBooks books;
    // Somebody else's memory, of which only the address is known.
    const auto prop = memory_at(ACL_MEM_LOCATION_TYPE_DEVICE, 0, ACL_HBM_MEM_HUGE);
    aclrtDrvMemHandle theirs = nullptr, ours = nullptr;
    void* address = nullptr;
    FLOW_STEP(aclrtMallocPhysical(&theirs, kFlowPage, &prop, 0));
    FLOW_STEP(aclrtReserveMemAddress(&address, kFlowPage, 0, nullptr, 1));
    FLOW_STEP(aclrtMapMem(address, kFlowPage, 0, theirs, 0));
    FLOW_STEP(aclrtMemRetainAllocationHandle(address, &ours));
    EXPECT_EQ(ours, theirs);
    FLOW_STEP(aclrtFreePhysical(ours));
    FLOW_STEP(aclrtUnmapMem(address));
    FLOW_STEP(aclrtFreePhysical(theirs));
    FLOW_STEP(aclrtReleaseMemAddress(address));
    EXPECT_EQ(books.taken(), 0U);
  });
}

}  // namespace virtual_flow_names_test
