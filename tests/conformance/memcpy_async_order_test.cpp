// Queued copies: their order, large ones, memory that goes away before they run, and the data-transfer flow.
#include "support/gates.h"
#include "support/stripes.h"

namespace memcpy_async_order_test {

using namespace belay_test;

class MemcpyAsyncOrder : public OnDevice {};

constexpr auto kUp = ACL_MEMCPY_HOST_TO_DEVICE, kDown = ACL_MEMCPY_DEVICE_TO_HOST;
constexpr auto kInside = ACL_MEMCPY_DEVICE_TO_DEVICE;

int up(const Device& to, const Pinned& from, const Stream& stream) {
  return aclrtMemcpyAsync(to.get(), to.size(), from.get(), from.size(), kUp, stream.get());
}

TEST_F(MemcpyAsyncOrder, M271_R17_OneStream_RunsInQueueOrder_WhateverTheTasksAre) {
  Stream stream;
  Pinned source{256}, result{10 * 256};
  Device a{256}, b{256};
  write_to(source.get(), pattern(256, 1));
  Bytes expected;
  EventGate hold{stream};
  for (unsigned step = 0; step < 10; ++step) {
    // Each step reads what the one before has left.
    Bytes now = pattern(256, 1);
    now[step] = static_cast<std::uint8_t>(step);
    EXPECT_EQ(aclrtMemcpyAsync(a.get(), 256, source.get(), 256, kUp, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetAsync(a.get(step), 1, static_cast<int>(step), 1, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(b.get(), 256, a.get(), 256, kInside, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetAsync(a.get(), 256, 0xEE, 256, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(result.get(step * 256), 256, b.get(), 256, kDown, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetAsync(b.get(), 256, 0xDD, 256, stream.get()), ACL_SUCCESS);
    expected.insert(expected.end(), now.begin(), now.end());
  }
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(result.get(), 10 * 256), expected);
  EXPECT_EQ(read_from(a.get(), 256), Bytes(256, 0xEE));
}

TEST_F(MemcpyAsyncOrder, M271_AnotherStreamDoesNotWait) {
  Stream held, free;
  Pinned source{256};
  Device a{256}, b{256};
  write_to(source.get(), pattern(256, 1));
  write_to(a.get(), Bytes(256));
  EventGate hold{held.get()};
  EXPECT_EQ(up(a, source, held), ACL_SUCCESS);
  EXPECT_EQ(up(b, source, free), ACL_SUCCESS);
  EXPECT_EQ(finish(free), ACL_SUCCESS) << "the later copy of the other stream runs all the same";
  EXPECT_EQ(read_from(b.get(), 256), pattern(256, 1));
  EXPECT_EQ(read_from(a.get(), 256), Bytes(256));
}

TEST_F(MemcpyAsyncOrder, M270_TheSourceIsReadWhenTheCopyRuns) {
  Stream stream;
  Pinned source{256};
  Device device{256};
  write_to(source.get(), pattern(256, 1));
  EventGate hold{stream};
  EXPECT_EQ(up(device, source, stream), ACL_SUCCESS);
  write_to(source.get(), pattern(256, 2));
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), 256), pattern(256, 2)) << "nothing was taken at the call";
}

TEST_F(MemcpyAsyncOrder, M241_M12_ABlockingCopyDoesNotWaitForTheStream) {
  Stream stream;
  Device device{256};
  EventGate hold{stream}, default_too{default_stream()};
  EXPECT_EQ(aclrtMemsetAsync(device.get(), 256, 1, 256, stream.get()), ACL_SUCCESS);
  write_to(device.get(), pattern(256, 2));
  EXPECT_EQ(read_from(device.get(), 256), pattern(256, 2));
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), 256), Bytes(256, 1)) << "the queued fill comes later and wins";
}

TEST_F(MemcpyAsyncOrder, M265_M271_ARunningHostFunctionHoldsTheCopiesBehindIt) {
  Stream stream;
  Pinned source{256};
  Device device{256};
  write_to(source.get(), pattern(256, 1));
  write_to(device.get(), Bytes(256));
  HostGate gate;
  gate.hold(stream.get());
  EXPECT_EQ(up(device, source, stream), ACL_SUCCESS);
  gate.expect_entered();
  EXPECT_EQ(read_from(device.get(), 256), Bytes(256));
  EXPECT_FALSE(idle(stream));
  gate.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), 256), pattern(256, 1));
}

// What a callback of the stream gets from calls that would wait for the stream.
struct FromCallback {
  aclrtStream own, other;
  void* device;
  std::vector<int> answers;
  static void call(void* pointer) {
    auto& self = *static_cast<FromCallback*>(pointer);
    Bytes plain(64, 7);
    for (aclrtStream stream : {self.own, self.other}) {
      void *to = self.device, *from = plain.data();
      std::size_t room = 64, size = 64, start = 0, fail = 0;
      aclrtMemcpyBatchAttr attribute{};
      attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
      attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
      self.answers.push_back(aclrtMemcpyAsync(to, 64, from, 64, kUp, stream));
      self.answers.push_back(aclrtMemcpy2dAsync(to, 8, from, 8, 8, 8, kUp, stream));
      self.answers.push_back(
          aclrtMemcpyBatchAsync(&to, &room, &from, &size, 1, &attribute, &start, 1, &fail, stream));
    }
  }
};

TEST_F(MemcpyAsyncOrder, M265_R143_ACallbackThatWouldWaitForItsOwnStream_Gets507000) {
  Stream own, other;
  Device device{64};
  write_to(device.get(), Bytes(64));
  FromCallback body{own.get(), other.get(), device.get(), {}};
  ASSERT_EQ(aclrtLaunchHostFunc(own.get(), FromCallback::call, &body), ACL_SUCCESS);
  EXPECT_EQ(finish(own), ACL_SUCCESS);
  EXPECT_EQ(body.answers, (std::vector<int>{kInternal, kInternal, kInternal, 0, 0, 0}));
  EXPECT_EQ(read_from(device.get(), 64), Bytes(64, 7)) << "another stream may be waited for";
}

TEST_F(MemcpyAsyncOrder, M271_D134_LargeCopies_ArriveWhole) {
  constexpr std::size_t size = 64 * kMB + 4099;  // more than one piece over PCIe
  Stream stream;
  Pinned source{size}, result{size};
  Device a{size + 64}, b{size + 64};
  const Bytes bytes = stripes(size, 3);
  std::copy(bytes.begin(), bytes.end(), at(source.get(), 0));
  ASSERT_EQ(aclrtMemset(a.get(), size + 64, 0x5A, size + 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(a.get(), size, source.get(), size, kUp, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(b.get(), size, a.get(), size, kInside, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(result.get(), size, b.get(), size, kDown, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(result.get(), 0)));
  EXPECT_EQ(read_from(a.get(size), 64), Bytes(64, 0x5A)) << "nothing behind it";
}

// A copy that is queued behind a hold, while something happens to its memory.
template <typename Meanwhile>
int after(const Stream& stream, void* to, const void* from, const Meanwhile& meanwhile) {
  EventGate hold{stream};
  EXPECT_EQ(aclrtMemcpyAsync(to, 256, from, 256, ACL_MEMCPY_DEFAULT, stream.get()), ACL_SUCCESS);
  meanwhile();
  hold.open();
  return finish(stream);
}

TEST_F(MemcpyAsyncOrder, M270_M272_MemoryFreedBeforeTheCopyRuns_Is507899AtTheNextSynchronisation) {
  Stream stream;
  Pinned pinned{256};
  Device device{256};
  write_to(pinned.get(), pattern(256, 1));
  write_to(device.get(), pattern(256, 2));
  // The destination, the source, and pinned memory on either side.
  Device gone{256, ACL_MEM_MALLOC_HUGE_ONLY}, gone_too{256, ACL_MEM_MALLOC_HUGE_ONLY};
  EXPECT_EQ(after(stream, gone.get(), pinned.get(), [&] { gone.free_now(); }), kRefused);
  EXPECT_EQ(last_error(), kRefused);
  EXPECT_EQ(finish(stream), ACL_SUCCESS) << "told once (R-16)";
  EXPECT_EQ(after(stream, pinned.get(), gone_too.get(), [&] { gone_too.free_now(); }), kRefused);
  for (const bool as_source : {true, false}) {
    void* host = nullptr;
    ASSERT_EQ(::aclrtMallocHost(&host, 256), ACL_SUCCESS);
    EXPECT_EQ(after(stream, as_source ? device.get() : host, as_source ? host : device.get(),
                    [&] { EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS) << "it does not wait"; }),
              kRefused)
        << as_source;
  }
  EXPECT_EQ(read_from(pinned.get(), 256), pattern(256, 1));
  EXPECT_EQ(read_from(device.get(), 256), pattern(256, 2)) << "nothing was written";
  EXPECT_EQ(after(stream, device.get(), pinned.get(), [] {}), ACL_SUCCESS) << "the stream goes on";
  EXPECT_EQ(read_from(device.get(), 256), pattern(256, 1));
}

TEST_F(MemcpyAsyncOrder, M272_R16_AFailedCopyDoesNotStopTheOnesBehindIt) {
  Stream stream;
  Pinned pinned{256};
  write_to(pinned.get(), pattern(256, 1));
  Device gone{256, ACL_MEM_MALLOC_HUGE_ONLY}, device{256};
  EventGate hold{stream};
  EXPECT_EQ(up(gone, pinned, stream), ACL_SUCCESS);
  EXPECT_EQ(up(device, pinned, stream), ACL_SUCCESS);
  gone.free_now();
  hold.open();
  EXPECT_EQ(finish(stream), kRefused);
  EXPECT_EQ(read_from(device.get(), 256), pattern(256, 1));
}

TEST_F(MemcpyAsyncOrder, M270_UnregisteredBeforeTheCopyRuns_IsNoCrash) {
  Stream stream;
  Device device{256};
  Pages memory{1};
  ASSERT_EQ(aclrtHostRegisterV2(memory.get(), 4096, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  const int answer = after(stream, device.get(), memory.get(),
                           [&] { EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS); });
  // The memory is still there: copying it is as good as refusing.
  EXPECT_TRUE(answer == ACL_SUCCESS || answer == kRefused) << answer;
  EXPECT_EQ(aclrtMemset(device.get(), 256, 0, 256), ACL_SUCCESS);
}

TEST_F(MemcpyAsyncOrder, M440_TheDataTransferFlow_Asynchronously) {
  for (const bool plain : {false, true}) {
    void *host = nullptr, *back = nullptr, *first = nullptr, *second = nullptr;
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    for (void** block : {&host, &back}) {
      if (plain)
        *block = std::malloc(kMB);
      else
        ASSERT_EQ(aclrtMallocHost(block, kMB), ACL_SUCCESS);
    }
    for (void** block : {&first, &second})
      ASSERT_EQ(aclrtMalloc(block, kMB, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    const Bytes bytes = pattern(kMB, plain ? 41 : 42);
    std::copy(bytes.begin(), bytes.end(), at(host, 0));
    std::fill_n(at(back, 0), kMB, std::uint8_t{0});
    EXPECT_EQ(aclrtMemcpyAsync(first, kMB, host, kMB, kUp, stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(second, kMB, first, kMB, kInside, stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(back, kMB, second, kMB, kDown, stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(back, 0)));
    EXPECT_EQ(aclrtMemcpyAsync(back, kMB, host, kMB, ACL_MEMCPY_HOST_TO_HOST, stream), kUnsupported);
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    for (void* block : {first, second}) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    for (void* block : {host, back}) {
      if (plain)
        std::free(block);
      else
        EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
    }
  }
}

}  // namespace memcpy_async_order_test
