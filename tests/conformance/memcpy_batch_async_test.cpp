// aclrtMemcpyBatchAsync and its V2: the checks, in their order, and what is queued.
#include "support/batch_async.h"
#include "support/gates.h"
#include "support/mistakes.h"

namespace memcpy_batch_async_test {

using namespace belay_test;

int run_v2(Batch& batch, aclrtStream stream) {
  return ::aclrtMemcpyBatchAsyncV2(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(),
                                   batch.sizes.data(), batch.sizes.size(), batch.attributes.data(),
                                   batch.starts.data(), batch.attributes.size(), stream);
}

class MemcpyBatchAsync : public OnDevice {};

enum Argument : unsigned {
  kFail = 1,
  kSizes = 2,
  kNumber = 4,
  kDsts = 8,
  kRooms = 16,
  kSrcs = 32,
  kAttributes = 64,
  kStarts = 128,
  kAttributeNumber = 256,
  kStream = 512,
  kWhere = 1024
};

struct Call {
  bool v2;
  std::vector<void*> dsts, srcs;
  std::vector<std::size_t> rooms, sizes, starts;
  std::vector<aclrtMemcpyBatchAttr> attributes;
  std::size_t number, attribute_number;
  std::size_t* fail;
  aclrtStream stream;
  Where where = Where::own;
  unsigned missing = 0;  // arrays that are NULL
  int run() {
    const auto array = [this](unsigned bit, auto& values) {
      return (missing & bit) != 0 ? nullptr : values.data();
    };
    if (fail != nullptr) *fail = kUnset;
    if (v2)
      return ::aclrtMemcpyBatchAsyncV2(array(kDsts, dsts), array(kRooms, rooms), array(kSrcs, srcs),
                                       array(kSizes, sizes), number, array(kAttributes, attributes),
                                       array(kStarts, starts), attribute_number, stream);
    return ::aclrtMemcpyBatchAsync(array(kDsts, dsts), array(kRooms, rooms), array(kSrcs, srcs),
                                   array(kSizes, sizes), number, array(kAttributes, attributes),
                                   array(kStarts, starts), attribute_number, fail, stream);
  }
};

std::vector<Mistake<Call>> mistakes(aclrtStream stale, void* small, void* much) {
  std::vector<Mistake<Call>> all = {{"M-276", kBadArgument, kFail, [](Call& c) { c.fail = nullptr; }},
                                    {"M-277", kBadArgument, kSizes, [](Call& c) { c.missing |= kSizes; }},
                                    {"M-278", kBadArgument, kNumber, [](Call& c) { c.number = 0; }},
                                    {"M-279", ACL_SUCCESS, kSizes, [](Call& c) {
                                       c.sizes = {0, 0, 0};
                                     }}};
  for (const unsigned array : {kDsts, kRooms, kSrcs, kAttributes, kStarts})
    all.push_back({"M-280", kBadArgument, array, [array](Call& c) { c.missing |= array; }});
  const std::vector<Mistake<Call>> rest = {
      {"M-281", kBadArgument, kRooms, [](Call& c) { c.rooms[2] = 63; }},
      {"M-282", kBadArgument, kAttributes, [](Call& c) { c.attributes[0].rsv[15] = 1; }},
      {"M-284", kStale, kStream, [stale](Call& c) { c.stream = stale; }},
      {"M-285", kBadValue, kAttributeNumber | kAttributes, [](Call& c) { c.attribute_number = 0; }},
      {"M-288", kBadValue, kStarts, [](Call& c) { c.starts[0] = 1; }},
      {"M-290", kNoContext, kWhere, [](Call& c) { c.where = Where::none; }},
      {"M-291", kBadValue, kSizes, [](Call& c) { c.sizes[1] = 0; }},
      {"M-291", kBadValue, kSrcs, [](Call& c) { c.srcs[1] = nullptr; }},
      {"M-291", kBadValue, kDsts, [](Call& c) { c.dsts[1] = nullptr; }},
      {"M-292", kBadValue, kAttributes, [](Call& c) { c.attributes[0] = device_to_host(); }},
      {"M-434", kRefused, kDsts | kSrcs | kRooms | kSizes, [=](Call& c) {
         c.dsts[2] = small;
         c.srcs[2] = much;
         c.rooms[2] = c.sizes[2] = 4097;
       }}};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

TEST_F(MemcpyBatchAsync, M276_M284_M290_M291_M434_TheFirstMistakeDecides) {
  const Contexts contexts;
  const PinnedItems items{3};
  Device small{256};
  Pinned much{4097};
  const aclrtStream stale = stale_stream();
  Stream stream;
  Batch batch = items.up();
  std::size_t fail = 0;
  Call good{false, batch.dsts, batch.srcs, batch.rooms, batch.sizes, batch.starts, batch.attributes,
            3,     1,          &fail,      stream.get()};
  expect_order("aclrtMemcpyBatchAsync", contexts, good, mistakes(stale, small.get(), much.get()));
  good.v2 = true;
  good.fail = nullptr;
  std::vector<Mistake<Call>> without_index = mistakes(stale, small.get(), much.get());
  without_index.erase(without_index.begin());
  expect_order("aclrtMemcpyBatchAsyncV2", contexts, good, without_index);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  items.expect_nothing_copied();
}

TEST_F(MemcpyBatchAsync, M284_M285_M290_M291_M434_TheFailIndex) {
  const PinnedItems items{4};
  Device small{256}, freed{256, ACL_MEM_MALLOC_HUGE_ONLY};
  void* const gone = freed.free_now();
  Pinned much{4097};
  Stream stream;
  const aclrtStream stale = stale_stream();
  const auto expect = [&](Batch batch, int answer, std::size_t index, aclrtStream on) {
    EXPECT_EQ(run(batch, on), answer);
    EXPECT_EQ(batch.fail, index);
  };
  expect(items.up(), kStale, kNoItem, stale);
  without_context([&] { expect(items.up(), kNoContext, kNoItem, stream.get()); });
  for (const std::size_t item : {0U, 1U, 3U}) {
    Batch batch = items.up();
    batch.sizes[item] = 0;
    expect(batch, kBadValue, item, stream.get());
    batch = items.up();
    batch.srcs[item] = nullptr;
    expect(batch, kBadValue, item, stream.get());
    batch = items.up();
    batch.dsts[item] = nullptr;
    expect(batch, kBadValue, item, stream.get());
    batch = items.up();
    batch.srcs[item] = items.device(item);  // M-292
    expect(batch, kBadValue, item, stream.get());
    batch = items.up();
    batch.dsts[item] = small.get();  // M-434: one byte more than its page
    batch.srcs[item] = much.get();
    batch.rooms[item] = batch.sizes[item] = 4097;
    expect(batch, kRefused, item, stream.get());
    batch = items.up();
    batch.dsts[item] = gone;
    EXPECT_NE(run(batch, stream.get()), ACL_SUCCESS) << "no memory is there any more";
    EXPECT_EQ(batch.fail, item);
  }
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  items.expect_nothing_copied();
}

TEST_F(MemcpyBatchAsync, M292_M293_M427_ItemsThatDoNotFit) {
  const PinnedItems items{3};
  Device fixed{256, ACL_MEM_ACCESS_USER_SPACE_READONLY};
  Stream stream;
  Batch host_only = items.up();
  host_only.dsts[1] = at(items.host(1), 64);
  host_only.attributes[0] = attribute(on_host(), on_host());
  EXPECT_EQ(run(host_only, stream.get()), kBadValue);
  EXPECT_EQ(host_only.fail, 0U) << "item 0 goes to the device";
  Batch inside = items.up();
  for (std::size_t i = 0; i < 3; ++i) inside.srcs[i] = at(items.device(i), 64);
  inside.attributes[0] = attribute(on_device(), on_device());
  EXPECT_EQ(run(inside, stream.get()), kBadValue) << "M-293";
  EXPECT_EQ(inside.fail, 0U);
  Batch elsewhere = items.up();
  elsewhere.attributes[0] = host_to_device(1);
  EXPECT_EQ(run(elsewhere, stream.get()), kBadValue) << "another device";
  EXPECT_EQ(elsewhere.fail, 0U);
  Batch closed = items.up();
  closed.dsts[2] = fixed.get();
  EXPECT_EQ(run(closed, stream.get()), kRefused);
  EXPECT_EQ(closed.fail, 2U);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  items.expect_nothing_copied();
}

TEST_F(MemcpyBatchAsync, M4_StreamOfAnotherContext_Is107003_NothingIsQueued) {
  const Contexts contexts;
  const PinnedItems items{2};
  Stream stream;
  Batch batch = items.up();
  expect_answer(contexts.run(Where::other, [&] { return run(batch, stream.get()); }), kOtherContext,
                "aclrtMemcpyBatchAsync", "M-4");
  expect_answer(contexts.run(Where::other, [&] { return run_v2(batch, stream.get()); }), kOtherContext,
                "aclrtMemcpyBatchAsyncV2", "M-4");
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  items.expect_nothing_copied();
}

TEST_F(MemcpyBatchAsync, M301_M303_M12_PinnedItems_AreOnlyQueued) {
  for (const bool v2 : {false, true}) {
    for (const bool upwards : {false, true}) {
      const PinnedItems items{5};
      Stream stream;
      EventGate hold{stream};
      Batch batch = upwards ? items.up() : items.down();
      EXPECT_EQ(v2 ? run_v2(batch, stream.get()) : run(batch, stream.get()), ACL_SUCCESS);
      EXPECT_EQ(batch.fail, v2 ? kUnset : kNoItem);
      items.expect_nothing_copied();
      hold.open();
      EXPECT_EQ(finish(stream), ACL_SUCCESS);
      if (upwards)
        items.expect_all_up();
      else
        items.expect_all_down();
    }
  }
}

TEST_F(MemcpyBatchAsync, M301_TheArraysMayGoAtTheReturn) {
  const PinnedItems items{5};
  Stream stream;
  EventGate hold{stream};
  {
    Batch batch = items.up();
    EXPECT_EQ(run(batch, stream.get()), ACL_SUCCESS);
    batch.dsts.assign(5, nullptr);
    batch.srcs.assign(5, nullptr);
    batch.sizes.assign(5, 7);
  }
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  items.expect_all_up();
}

TEST_F(MemcpyBatchAsync, M298_MixedDirections_Are107000_WithTheFirstThatDeviates) {
  const PinnedItems items{4};
  Stream stream;
  for (const std::size_t other : {1U, 2U, 3U}) {
    Batch batch = items.up();
    std::swap(batch.dsts[other], batch.srcs[other]);
    batch.describe(other, device_to_host());
    if (other < 3) batch.describe(other + 1, host_to_device());
    EXPECT_EQ(run(batch, stream.get()), kBadValue) << other;
    EXPECT_EQ(batch.fail, other);
    EXPECT_EQ(run_v2(batch, stream.get()), kBadValue);
  }
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  items.expect_nothing_copied();
}

TEST_F(MemcpyBatchAsync, M300_AFaultyItemMeansThatNoneIsQueued) {
  const PinnedItems items{4};
  Stream stream;
  Batch batch = items.up();
  batch.srcs[3] = nullptr;
  EXPECT_EQ(run(batch, stream.get()), kBadValue);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  items.expect_nothing_copied();
  // Nor is a pageable item in front of it copied.
  Bytes plain = pattern(64, 77);
  batch.srcs[0] = plain.data();
  EXPECT_EQ(run(batch, stream.get()), kBadValue);
  EXPECT_EQ(batch.fail, 3U);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  items.expect_nothing_copied();
}

TEST_F(MemcpyBatchAsync, M287_ThereIsNoLimitOf4096) {
  Pinned host{5000};
  Device device{5000};
  write_to(host.get(), pattern(5000, 1));
  Batch batch;
  for (std::size_t i = 0; i < 5000; ++i) batch.add(device.get(i), host.get(i), 1);
  batch.describe(0, host_to_device());
  Stream stream;
  EXPECT_EQ(run(batch, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), 5000), pattern(5000, 1));
}

TEST_F(MemcpyBatchAsync, M301_DownToPageableMemory) {
  Items items{5};  // of plain memory
  Stream stream;
  Batch batch = items.down();
  EXPECT_EQ(run(batch, stream.get()), ACL_SUCCESS);
  items.expect_all_down();
}

TEST_F(MemcpyBatchAsync, M272_ABlockFreedBeforeTheItemRuns_Is507899) {
  const PinnedItems items{2};
  Device gone{64, ACL_MEM_MALLOC_HUGE_ONLY};
  Stream stream;
  EventGate hold{stream};
  Batch batch = items.up();
  batch.dsts[1] = gone.get();
  EXPECT_EQ(run(batch, stream.get()), ACL_SUCCESS);
  gone.free_now();
  hold.open();
  EXPECT_EQ(finish(stream), kRefused);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

}  // namespace memcpy_batch_async_test
