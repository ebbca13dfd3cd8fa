// aclrtMemManagedPrefetchAsync: checks in their order, what it moves, and what it records.
#include <sched.h>

#include "support/callbacks.h"
#include "support/gates.h"
#include "support/managed.h"
#include "support/mistakes.h"
#include "support/refusals.h"

namespace managed_prefetch_test {

using namespace belay_test;

class ManagedPrefetch : public OnTwoDevices {};

int prefetch(const void* start, std::size_t size, aclrtMemManagedLocation side, aclrtStream stream,
             std::uint32_t flags = 0) {
  return ::aclrtMemManagedPrefetchAsync(start, size, side, flags, stream);
}

struct Call {
  const void* start;
  std::size_t size;
  aclrtMemManagedLocation side;
  std::uint32_t flags;
  aclrtStream stream;
  Where where = Where::own;
  int run() const { return prefetch(start, size, side, stream, flags); }
};

enum Argument : unsigned { kStart = 1, kSize = 2, kSide = 4, kFlags = 8, kStream = 16 };

TEST_F(ManagedPrefetch, V321_V322_V323_TheFirstMistakeDecides) {
  const Contexts contexts;
  const Managed block{kManagedPage};
  Stream stream;
  const aclrtStream stale = stale_stream();
  const std::vector<Mistake<Call>> in_order = {
      {"V-321", kBadArgument, kStart, [](Call& c) { c.start = nullptr; }},
      {"V-321", kBadArgument, kSize, [](Call& c) { c.size = 0; }},
      {"V-321", kBadArgument, kFlags, [](Call& c) { c.flags = 1; }},
      {"V-323", kStale, kStream, [&](Call& c) { c.stream = stale; }},
      {"V-322", kBadValue, kSide, [](Call& c) { c.side = no_side(); }}};
  expect_order("aclrtMemManagedPrefetchAsync", contexts, Call{block.get(), 64, device_side(0), 0, stream},
               in_order);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  expect_pages(0, 0, "nothing was queued");
  EXPECT_EQ(last_prefetch(block.get(), 1), kReportedNothing) << "and nothing recorded";
}

TEST_F(ManagedPrefetch, V321_Flags) {
  const Managed block{kManagedPage};
  for (const std::uint32_t flags : {1U, 2U, 0x80000000U, 0xFFFFFFFFU})
    EXPECT_EQ(prefetch(block.get(), 1, host_side(), nullptr, flags), kBadArgument) << flags;
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(ManagedPrefetch, V322_Locations) {
  const Managed block{kManagedPage};
  for (const int type : {0, 5, 6, 100, -1}) {
    EXPECT_EQ(prefetch(block.get(), 1, side(type), nullptr), kBadValue) << type;
    EXPECT_EQ(last_error(), kBadValue);
  }
  for (const std::int32_t id : {-1, 8, 9, 64, 0x7FFFFFFF})
    EXPECT_EQ(prefetch(block.get(), 1, device_side(id), nullptr), kBadValue) << id;
  for (const auto& good : {device_side(0), device_side(1), host_side(99), node_side(0), this_node_side(-5)})
    EXPECT_EQ(prefetch(block.get(), 1, good, nullptr), ACL_SUCCESS) << good.type;
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
}

TEST_F(ManagedPrefetch, V323_HandlesThatAreNoStream) {
  const Managed block{kManagedPage};
  const Event event{Kind::plain};
  std::vector<void*> wrong = garbage();
  wrong.push_back(stale_stream());
  wrong.push_back(event);
  wrong.push_back(current_context());
  wrong.push_back(block.get());
  for (void* const handle : wrong)
    expect_stored(prefetch(block.get(), 1, host_side(), handle), kStale, "aclrtMemManagedPrefetchAsync");
}

TEST_F(ManagedPrefetch, V323_NoContext_Is507000) {
  const Managed block{kManagedPage};
  without_context([&] {
    expect_stored(prefetch(block.get(), 1, device_side(0), nullptr), kInternal,
                  "aclrtMemManagedPrefetchAsync");
  });
  EXPECT_EQ(last_prefetch(block.get(), 1), kReportedNothing);
}

TEST_F(ManagedPrefetch, V323_R12_AStreamOfAnotherContext_Is107003) {
  const Managed block{kManagedPage};
  const Elsewhere other;
  expect_stored(prefetch(block.get(), 1, device_side(0), other.stream()), kOtherContext,
                "aclrtMemManagedPrefetchAsync");
  EXPECT_EQ(last_prefetch(block.get(), 1), kReportedNothing);
}

TEST_F(ManagedPrefetch, V323_R13_NullIsTheDefaultStream) {
  const Managed block{kManagedPage};
  EventGate hold{default_stream()};
  EXPECT_EQ(prefetch(block.get(), 1, device_side(1), nullptr), ACL_SUCCESS);
  expect_pages(0, 0, "the default stream is held");
  hold.open();
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  expect_pages(0, 1, "it has passed");
}

TEST_F(ManagedPrefetch, V324_V327_InStreamOrder_RecordedByTheCall) {
  const Managed block{2 * kManagedPage};
  Stream stream;
  EventGate hold{stream};
  EXPECT_EQ(prefetch(block.page(0), 1, device_side(1), stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(block.page(1), 64, 1, 64, stream), ACL_SUCCESS);
  EXPECT_EQ(prefetch(block.page(1), 1, device_side(1), stream), ACL_SUCCESS);
  expect_pages(0, 0, "all of it is queued");
  EXPECT_EQ(last_prefetch(block.get(), 2 * kManagedPage), reported_device(1)) << "V-319: asked for is enough";
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  expect_pages(0, 2, "the fill came before the second prefetch");
}

TEST_F(ManagedPrefetch, V327_PagesMove_AndTheirBytesWithThem) {
  const Managed block{3 * kManagedPage};
  const Bytes bytes = pattern(3 * kManagedPage, 31);
  write_to(block.get(), bytes);
  expect_pages(3, 0, "written by device 0");
  struct Case {
    aclrtMemManagedLocation side;
    int on_0, on_1;
    Reported recorded;
  };
  for (const Case& test :
       {Case{device_side(1), 0, 3, reported_device(1)}, Case{host_side(), 0, 0, kReportedHost},
        Case{device_side(0), 3, 0, reported_device(0)}, Case{node_side(0), 0, 0, reported_node(0)},
        Case{device_side(0), 3, 0, reported_device(0)}}) {
    EXPECT_EQ(prefetch(block.get(), 3 * kManagedPage, test.side, nullptr), ACL_SUCCESS);
    EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
    expect_pages(test.on_0, test.on_1, "moved");
    EXPECT_EQ(last_prefetch(block.get(), 3 * kManagedPage), test.recorded);
  }
  EXPECT_EQ(read_from(block.get(), bytes.size()), bytes);
}

TEST_F(ManagedPrefetch, V327_V299_ReadMostlyPages_AreCopied) {
  const Managed block{kManagedPage};
  EXPECT_EQ(read_mostly(block.get(), 1), ACL_SUCCESS);
  for (const int device : {0, 1}) {
    EXPECT_EQ(prefetch(block.get(), 1, device_side(device), nullptr), ACL_SUCCESS);
    EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  }
  expect_pages(1, 1, "a copy each");
  EXPECT_TRUE(is_read_mostly(block.get(), 1));
  EXPECT_EQ(prefetch(block.get(), 1, host_side(), nullptr), ACL_SUCCESS);
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  expect_pages(1, 1, "the host had one, and nobody lost his");
}

TEST_F(ManagedPrefetch, V327_APageThatIsNowhere_IsMadeThere) {
  const Managed block{2 * kManagedPage};
  EXPECT_EQ(prefetch(block.page(0), 1, device_side(1), nullptr), ACL_SUCCESS);
  EXPECT_EQ(prefetch(block.page(1), 1, host_side(), nullptr), ACL_SUCCESS);
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  expect_pages(0, 1, "one on device 1, one on the host");
  EXPECT_EQ(prefer(block.page(0), 1, device_side(1)), ACL_SUCCESS);
  EXPECT_EQ(prefer(block.page(1), 1, device_side(1)), kRefused) << "V-301: that one is on the host";
}

TEST_F(ManagedPrefetch, V326_WholePages) {
  const Managed block{4 * kManagedPage};
  EXPECT_EQ(prefetch(block.get(kManagedPage - 1), 1, device_side(0), nullptr), ACL_SUCCESS);
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  expect_pages(1, 0, "one byte is one page");
  EXPECT_EQ(prefetch(block.get(2 * kManagedPage - 1), kManagedPage + 2, device_side(0), nullptr),
            ACL_SUCCESS);
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  expect_pages(4, 0, "three more were touched");
  EXPECT_EQ(last_prefetch(block.get(), 4 * kManagedPage), reported_device(0));
}

TEST_F(ManagedPrefetch, V325_AddressesThatAreWrong_AreNoError_AndTheStreamStaysHealthy) {
  const Managed block{kManagedPage};
  Managed gone{kManagedPage};
  void* const was = gone.free_now();
  const Device device{64};
  const Pinned pinned{64};
  int local = 0;
  Stream stream;
  const Marks marks;
  for (const void* start : {was, device.get(), pinned.get(), static_cast<void*>(&local), sentinel(),
                            block.page(1), block.get(kManagedPage - 1)}) {
    EXPECT_EQ(prefetch(start, 2, device_side(1), stream), ACL_SUCCESS) << start;
    EXPECT_EQ(prefetch(start, ~std::size_t{0}, host_side(), stream), ACL_SUCCESS) << start;
    EXPECT_EQ(finish(stream), ACL_SUCCESS) << start;
  }
  marks.queue(stream);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_TRUE(marks.set()) << "later work runs";
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_EQ(pages_on(1), 0);
}

TEST_F(ManagedPrefetch, V325_ABlockThatGoesBeforeTheTaskRuns) {
  Stream stream;
  {
    Managed block{2 * kManagedPage};
    EventGate hold{stream};
    EXPECT_EQ(prefetch(block.get(), 2 * kManagedPage, device_side(1), stream), ACL_SUCCESS);
    block.free_now();
  }
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  expect_pages(0, 0, "nothing was made");
}

TEST_F(ManagedPrefetch, V324_AStreamWithASubscriber_AndOneThatGetsItLater) {
  const Managed block{kManagedPage};
  Stream stream;
  EXPECT_EQ(prefetch(block.get(), 1, device_side(0), stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  Processor processor;
  EXPECT_EQ(aclrtSubscribeReport(processor.id(), stream), ACL_SUCCESS) << "it is no host function";
  EXPECT_EQ(prefetch(block.get(), 1, device_side(1), stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  expect_pages(0, 1, "it ran");
  EXPECT_EQ(aclrtUnSubscribeReport(processor.id(), stream), ACL_SUCCESS);
}

TEST_F(ManagedPrefetch, V328_HOST_NUMA_CURRENT_IsTheNodeOfTheThread_WhateverTheId) {
  bool sure = false;
  for (int attempt = 0; attempt < 100 && !sure; ++attempt) {  // it may be moved between two lines
    const Managed block{kManagedPage};
    unsigned processor = 0, before = 0, after = 0;
    ASSERT_EQ(::getcpu(&processor, &before), 0);
    EXPECT_EQ(prefetch(block.get(), 1, this_node_side(77), nullptr), ACL_SUCCESS);
    ASSERT_EQ(::getcpu(&processor, &after), 0);
    sure = before == after;
    if (sure) {
      EXPECT_EQ(last_prefetch(block.get(), 1), reported_node(static_cast<std::int32_t>(before)));
    }
    EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  }
  EXPECT_TRUE(sure);
}

}  // namespace managed_prefetch_test
