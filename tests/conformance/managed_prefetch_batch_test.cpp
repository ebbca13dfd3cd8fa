// aclrtMemManagedPrefetchBatchAsync: checks in their order, and which entry goes where.
#include "support/gates.h"
#include "support/managed.h"
#include "support/mistakes.h"
#include "support/refusals.h"

namespace managed_prefetch_batch_test {

using namespace belay_test;

class ManagedPrefetchBatch : public OnTwoDevices {};

struct Batch {
  std::vector<const void*> starts;
  std::vector<std::size_t> sizes;
  std::vector<aclrtMemManagedLocation> sides;
  std::vector<std::size_t> indexes;
  std::uint64_t flags = 0;
  aclrtStream stream = nullptr;
  unsigned without = 0;  // arrays that are NULL, a bit each
  std::size_t count = 0, side_count = 0;
  Where where = Where::own;

  Batch(std::vector<const void*> all_starts, std::vector<aclrtMemManagedLocation> all_sides,
        std::vector<std::size_t> all_indexes, aclrtStream in = nullptr)
      : starts{std::move(all_starts)},
        sizes(starts.size(), 64),
        sides{std::move(all_sides)},
        indexes{std::move(all_indexes)},
        stream{in},
        count{starts.size()},
        side_count{sides.size()} {}

  int run() const {
    Batch copy = *this;
    return ::aclrtMemManagedPrefetchBatchAsync(
        (without & 1U) != 0 ? nullptr : copy.starts.data(), (without & 2U) != 0 ? nullptr : copy.sizes.data(),
        count, (without & 4U) != 0 ? nullptr : copy.sides.data(),
        (without & 8U) != 0 ? nullptr : copy.indexes.data(), side_count, flags, stream);
  }
};

enum Argument : unsigned {
  kStarts = 1,
  kSizes = 2,
  kSides = 4,
  kIndexes = 8,
  kCount = 16,
  kFlags = 32,
  kStream = 64
};

TEST_F(ManagedPrefetchBatch, V329_V323_V330_V331_TheFirstMistakeDecides) {
  const Contexts contexts;
  const Managed block{4 * kManagedPage};
  Stream stream;
  const aclrtStream stale = stale_stream();
  const Batch good{
      {block.page(0), block.page(1), block.page(2)}, {device_side(0), device_side(1)}, {0, 2}, stream};
  const std::vector<Mistake<Batch>> in_order = {
      {"V-329", kBadArgument, kStarts, [](Batch& b) { b.without |= 1U; }},
      {"V-329", kBadArgument, kSizes, [](Batch& b) { b.without |= 2U; }},
      {"V-329", kBadArgument, kSides, [](Batch& b) { b.without |= 4U; }},
      {"V-329", kBadArgument, kIndexes, [](Batch& b) { b.without |= 8U; }},
      {"V-329", kBadArgument, kCount | kIndexes, [](Batch& b) { b.count = 0; }},
      {"V-329", kBadArgument, kCount | kIndexes | kSides, [](Batch& b) { b.side_count = 0; }},
      {"V-329", kBadArgument, kFlags, [](Batch& b) { b.flags = 1; }},
      {"V-323", kStale, kStream, [&](Batch& b) { b.stream = stale; }},
      {"V-330", kBadValue, kIndexes, [](Batch& b) { b.indexes[0] = 1; }},
      {"V-331", kBadValue, kStarts, [](Batch& b) { b.starts[1] = nullptr; }},
      {"V-331", kBadValue, kSides, [](Batch& b) { b.sides[1] = no_side(); }},
      {"V-331", kBadValue, kSizes, [](Batch& b) { b.sizes[2] = 0; }}};
  expect_order("aclrtMemManagedPrefetchBatchAsync", contexts, good, in_order);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  expect_pages(0, 0, "nothing was queued");
  EXPECT_EQ(last_prefetch(block.get(), 4 * kManagedPage), kReportedNothing);
}

TEST_F(ManagedPrefetchBatch, V329_MoreLocationsThanEntries) {
  const Managed block{2 * kManagedPage};
  Batch batch{{block.page(0), block.page(1)}, {host_side(), host_side()}, {0, 1}};
  EXPECT_EQ(batch.run(), ACL_SUCCESS) << "one for each";
  batch.sides.push_back(host_side());
  batch.indexes.push_back(2);
  batch.side_count = 3;
  EXPECT_EQ(batch.run(), kBadArgument);
  batch.side_count = ~std::size_t{0};
  EXPECT_EQ(batch.run(), kBadArgument);
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
}

TEST_F(ManagedPrefetchBatch, V329_Flags) {
  const Managed block{kManagedPage};
  Batch batch{{block.get()}, {host_side()}, {0}};
  for (const std::uint64_t flags :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 32U, ~std::uint64_t{0}}) {
    batch.flags = flags;
    expect_not_stored(batch.run(), kBadArgument, "aclrtMemManagedPrefetchBatchAsync");
  }
}

TEST_F(ManagedPrefetchBatch, V330_IndexesStartAtZero_Rise_AndStayInside) {
  const Managed block{4 * kManagedPage};
  const std::vector<const void*> starts = {block.page(0), block.page(1), block.page(2), block.page(3)};
  const auto run = [&](const std::vector<std::size_t>& indexes) {
    return Batch{starts, std::vector<aclrtMemManagedLocation>(indexes.size(), host_side()), indexes}.run();
  };
  const std::vector<std::vector<std::size_t>> good = {{0}, {0, 1}, {0, 3}, {0, 1, 2}, {0, 1, 2, 3}};
  const std::vector<std::vector<std::size_t>> bad = {
      {1},       {3},       {4},       {0, 0},    {0, 4},       {0, 5},
      {0, 2, 2}, {0, 2, 1}, {0, 1, 4}, {1, 2, 3}, {0, 3, 2, 1}, {0, ~std::size_t{0}}};
  for (const auto& indexes : good) EXPECT_EQ(run(indexes), ACL_SUCCESS) << ::testing::PrintToString(indexes);
  for (const auto& indexes : bad) {
    expect_stored(run(indexes), kBadValue, "aclrtMemManagedPrefetchBatchAsync");
  }
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
}

TEST_F(ManagedPrefetchBatch, V331_EveryEntryAndEveryLocationIsLookedAt) {
  const Managed block{3 * kManagedPage};
  const Batch good{{block.page(0), block.page(1), block.page(2)},
                   {device_side(0), device_side(1), host_side()},
                   {0, 1, 2}};
  for (std::size_t bad = 0; bad < 3; ++bad) {
    Batch batch = good;
    batch.starts[bad] = nullptr;
    EXPECT_EQ(batch.run(), kBadValue) << bad;
    batch = good;
    batch.sizes[bad] = 0;
    EXPECT_EQ(batch.run(), kBadValue) << bad;
    for (const auto& where : {no_side(), side(5), side(-1), device_side(-1), device_side(8)}) {
      batch = good;
      batch.sides[bad] = where;
      EXPECT_EQ(batch.run(), kBadValue) << bad << ": " << where.type << " " << where.id;
    }
  }
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  expect_pages(0, 0, "none of them moved anything");
  EXPECT_EQ(last_prefetch(block.page(0), 1), kReportedNothing) << "also not the entries before the bad one";
}

TEST_F(ManagedPrefetchBatch, V332_ALocationIsForAllEntriesUpToTheNext) {
  const Managed block{5 * kManagedPage};
  std::vector<const void*> starts;
  for (std::size_t page = 0; page < 5; ++page) starts.push_back(block.page(page));
  EXPECT_EQ((Batch{starts, {device_side(0), device_side(1)}, {0, 2}}.run()), ACL_SUCCESS);
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  expect_pages(2, 3, "entries 0 and 1, entries 2 to 4");
  for (std::size_t page = 0; page < 5; ++page)
    EXPECT_EQ(last_prefetch(block.page(page), 1), reported_device(page < 2 ? 0 : 1)) << page;
  EXPECT_EQ((Batch{starts, {host_side()}, {0}}.run()), ACL_SUCCESS);
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  expect_pages(0, 0, "one for all");
  EXPECT_EQ((Batch{starts, {device_side(1), host_side(), device_side(0)}, {0, 1, 4}}.run()), ACL_SUCCESS);
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  expect_pages(1, 1, "the first, three, the last");
}

TEST_F(ManagedPrefetchBatch, V333_TheArraysMayBeReusedAtOnce) {
  const Managed block{3 * kManagedPage};
  Stream stream;
  EventGate hold{stream};
  std::vector<const void*> starts = {block.page(0), block.page(1)};
  std::vector<std::size_t> sizes = {1, 1}, indexes = {0, 1};
  std::vector<aclrtMemManagedLocation> sides = {device_side(0), device_side(1)};
  EXPECT_EQ(::aclrtMemManagedPrefetchBatchAsync(starts.data(), sizes.data(), 2, sides.data(), indexes.data(),
                                                2, 0, stream),
            ACL_SUCCESS);
  starts = {block.page(2), nullptr};
  sizes = {0, ~std::size_t{0}};
  indexes = {5, 7};
  sides = {no_side(), no_side()};
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  expect_pages(1, 1, "what they held at the call");
}

TEST_F(ManagedPrefetchBatch, V334_V324_InOrder_InOneTask) {
  const Managed block{kManagedPage};
  Stream stream;
  EventGate hold{stream};
  EXPECT_EQ((Batch{{block.get(), block.get(), block.get()},
                   {device_side(0), host_side(), device_side(1)},
                   {0, 1, 2},
                   stream}
                 .run()),
            ACL_SUCCESS);
  expect_pages(0, 0, "queued");
  EXPECT_EQ(last_prefetch(block.get(), 1), reported_device(1)) << "the last one of them";
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  expect_pages(0, 1, "and where it is in the end");
}

TEST_F(ManagedPrefetchBatch, V334_V325_AWrongAddressAmongThem_IsNoError) {
  const Managed block{2 * kManagedPage};
  const Pinned pinned{64};
  Stream stream;
  EXPECT_EQ((Batch{{block.page(0), pinned.get(), block.page(1)}, {device_side(1)}, {0}, stream}.run()),
            ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  expect_pages(0, 2, "each for itself");
}

TEST_F(ManagedPrefetchBatch, V334_V323_NoContext_Is507000) {
  const Managed block{kManagedPage};
  without_context([&] {
    expect_stored(Batch{{block.get()}, {host_side()}, {0}}.run(), kInternal,
                  "aclrtMemManagedPrefetchBatchAsync");
  });
}

}  // namespace managed_prefetch_batch_test
