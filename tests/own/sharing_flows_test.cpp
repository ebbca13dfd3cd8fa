// What samples and communication libraries do with memory of other processes, call by call.
#include "support/sharing.h"

namespace sharing_flows_test {

using namespace belay_test;

TEST(SharingFlows, V489_V490_TheImporterSaysItIsDone_BeforeItCloses) {
  for (const std::uint64_t flags : {kListed, kOpen}) {
    SCOPED_TRACE(flags);
    const TestMachine machine;
    const Party a = party(machine), b = party(machine);
    const std::uint64_t block = a->allocate(kMB, ACL_MEM_MALLOC_HUGE_FIRST);
    ASSERT_EQ(a->write(block, kMB, 1), 0);
    const std::string key = a.key(block, kMB, flags);
    if (flags == kListed) {
      ASSERT_EQ(a.allow_key(key, b.pid()), 0);
    }
    const std::uint64_t there = b.imported(key);
    EXPECT_TRUE(b->verify(there, kMB, 1));
    EXPECT_EQ(a.close_key(key), 0);
    EXPECT_EQ(a.free(block), 0);
    EXPECT_EQ(b.close_key(key), 0);
    EXPECT_NE(b.free(there), 0);
  }
}

TEST(SharingFlows, V491_V512_BytesOfAFabricHandle_GoAnywhere) {
  const TestMachine machine{"64M", {{"BELAY_PRODUCT", "A3"}}}, older;
  const Party a = party(machine), b = party(machine), c = party(older);
  const std::uint64_t handle = a.physical(k2MB), place = a.map(handle, k2MB);
  ASSERT_EQ(a->write(place, k2MB, 2), 0);
  const Answer exported = a.export_fabric(handle, kOpen);
  ASSERT_EQ(exported.code, 0);
  EXPECT_TRUE(b->verify(b.map(b.import_fabric(Party::fabric_in(exported)).first, k2MB), k2MB, 2));
  EXPECT_EQ(c.export_fabric(c.physical(k2MB)).code, kUnsupported);
  unsigned char stack[64] = {};
  EXPECT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtMemset(stack, 64, 7, 64), 0);
  EXPECT_EQ(stack[63], 7);
  EXPECT_EQ(aclrtResetDevice(0), 0);
}

// Segments in a row, each with a handle that is exported once; the receiver maps them in a row as well.
TEST(SharingFlows, V506_SegmentsInARow) {
  constexpr std::size_t kSegments = 6;
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  std::vector<std::uint64_t> values, handles, places;
  for (unsigned i = 0; i < kSegments; ++i) {
    const std::uint64_t handle = a.physical(k2MB);
    ASSERT_EQ(a->write(a.map(handle, k2MB), k2MB, i), 0);
    values.push_back(a.value(handle));
  }
  const std::uint64_t row = b.reserved(2 * kSegments * k2MB);
  for (unsigned i = 0; i < kSegments; ++i) {
    handles.push_back(b.import_value(values[i]).first);
    ASSERT_EQ(b.map_at(row + i * k2MB, handles[i], k2MB), 0);
    EXPECT_TRUE(b->verify(row + i * k2MB, k2MB, i));
  }
  for (unsigned i = 0; i < kSegments; ++i) {
    EXPECT_EQ(b.only_unmap(row + i * k2MB), 0);
    EXPECT_EQ(b.free_physical(handles[i]), 0);
  }
  EXPECT_EQ(b.release(row), 0);
}

TEST(SharingFlows, V507_AKeyOfASegment_IsImportedWithPeerAccess) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t block = a->allocate(4 * kMB, ACL_MEM_MALLOC_HUGE_FIRST);
  ASSERT_EQ(a->write(block, 4 * kMB, 3), 0);
  const std::string key = a.key(block, 4 * kMB);
  ASSERT_EQ(b->set_device(1), 0);
  const Answer imported = b.import_key(key, 1);
  ASSERT_EQ(imported.code, 0);
  EXPECT_TRUE(b.peer_access(0, 1));
  EXPECT_TRUE(b.peer_access(1, 0));
  EXPECT_TRUE(b->verify(imported.first, 4 * kMB, 3));
  EXPECT_EQ(a.close_key(key), 0);
  EXPECT_EQ(a.free(block), 0);
  EXPECT_EQ(b.close_key(key), 0);
}

}  // namespace sharing_flows_test
