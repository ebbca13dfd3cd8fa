// aclrtMemcpyAsync: how the kind and the two addresses are reconciled, and which copies wait for the stream.
#include <array>
#include <string>

#include "support/callbacks.h"
#include "support/gates.h"
#include "support/registered.h"
#include "support/stripes.h"

namespace memcpy_async_kinds_test {

using namespace belay_test;

enum End { kHost, kDevice, kPageable };  // pinned and registered memory are kHost

constexpr int kOk = ACL_SUCCESS, kBad = kBadValue, kNo = kUnsupported;

// M-263 with M-256, M-258 and M-435: the answer for each of the kinds 0 to 5.
struct Row {
  End from, to;
  std::array<int, 6> answers;
};
constexpr Row kTable[] = {{kHost, kDevice, {kOk, kOk, kOk, kOk, kOk, kOk}},
                          {kDevice, kHost, {kOk, kOk, kOk, kOk, kOk, kBad}},
                          {kDevice, kDevice, {kOk, kOk, kOk, kOk, kOk, kBad}},
                          {kHost, kHost, {kNo, kNo, kNo, kNo, kNo, kBad}},
                          {kPageable, kDevice, {kBad, kOk, kBad, kOk, kOk, kOk}},
                          {kDevice, kPageable, {kBad, kBad, kOk, kOk, kOk, kBad}},
                          {kHost, kPageable, {kNo, kOk, kBad, kBad, kNo, kBad}},
                          {kPageable, kHost, {kNo, kBad, kOk, kBad, kNo, kBad}},
                          {kPageable, kPageable, {kNo, kOk, kOk, kOk, kNo, kBad}}};

int expected(End from, End to, int kind) {
  for (const Row& row : kTable) {
    if (row.from == from && row.to == to) return row.answers[static_cast<std::size_t>(kind)];
  }
  return -1;
}

// Each sort of memory twice: once to copy from, once to copy to.
class Ends {
 public:
  struct One {
    std::string name;
    End end;
    void *from, *to;
  };
  std::vector<One> all() {
    return {{"pinned", kHost, pinned_[0].get(), pinned_[1].get()},
            {"registered as mapped", kHost, mapped_[0].get(), mapped_[1].get()},
            {"registered as pinned", kHost, locked_[0].get(64), locked_[1].get(64)},
            {"device", kDevice, device_[0].get(), device_[1].get()},
            {"pageable", kPageable, plain_[0].data(), plain_[1].data()}};
  }

 private:
  std::array<Pinned, 2> pinned_{Pinned{256}, Pinned{256}};
  std::array<Registered, 2> mapped_{Registered{ACL_HOST_REG_MAPPED}, Registered{ACL_HOST_REG_MAPPED}};
  std::array<Registered, 2> locked_{Registered{ACL_HOST_REG_PINNED}, Registered{ACL_HOST_REG_PINNED}};
  std::array<Device, 2> device_{Device{256}, Device{256}};
  std::array<Bytes, 2> plain_{Bytes(256), Bytes(256)};
};

class MemcpyAsyncKinds : public OnDevice {
 protected:
  // Calls `body` for every pair of ends and every kind, with fresh contents in both.
  template <typename Body>
  void for_each_cell(const Body& body) {
    Ends ends;
    for (const Ends::One& from : ends.all()) {
      for (const Ends::One& to : ends.all()) {
        for (int kind = 0; kind <= 5; ++kind) {
          SCOPED_TRACE(from.name + " to " + to.name + ", kind " + std::to_string(kind));
          write_to(from.from, new_);
          write_to(to.to, old_);
          body(from, to, kind, expected(from.end, to.end, kind));
        }
      }
    }
  }
  static int copy(const Ends::One& from, const Ends::One& to, int kind, aclrtStream stream) {
    return aclrtMemcpyAsync(to.to, 256, from.from, 256, kind_of(kind), stream);
  }
  const Bytes old_ = pattern(256, 1), new_ = pattern(256, 2), newer_ = pattern(256, 3);
};

bool waits(End from, End to, int kind) { return kind != 5 && (from == kPageable || to == kPageable); }

TEST_F(MemcpyAsyncKinds, M256_M257_M258_M263_M435_D132_D135_TheWholeTable) {
  Stream stream;
  int cells = 0;
  for_each_cell([&](const Ends::One& from, const Ends::One& to, int kind, int answer) {
    EXPECT_EQ(copy(from, to, kind, stream.get()), answer);
    if (waits(from.end, to.end, kind) && answer == ACL_SUCCESS) {
      EXPECT_EQ(read_from(to.to, 256), new_) << "complete at the return";
    }
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(read_from(to.to, 256), answer == ACL_SUCCESS ? new_ : old_);
    EXPECT_EQ(read_from(from.from, 256), new_);
    ++cells;
  });
  EXPECT_EQ(cells, 5 * 5 * 6);
}

TEST_F(MemcpyAsyncKinds, M264_HostToHostWithOneDeviceEnd_IsCopied) {
  Stream stream;
  Pinned pinned{256};
  Device device{256};
  write_to(pinned.get(), new_);
  write_to(device.get(), old_);
  EXPECT_EQ(aclrtMemcpyAsync(device.get(), 256, pinned.get(), 256, ACL_MEMCPY_HOST_TO_HOST, stream.get()),
            ACL_SUCCESS)
      << "the addresses decide, not the kind";
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), 256), new_);
}

TEST_F(MemcpyAsyncKinds, M265_M12_D134_WithoutPageableMemory_TheCallOnlyQueues) {
  for_each_cell([&](const Ends::One& from, const Ends::One& to, int kind, int answer) {
    if (answer != ACL_SUCCESS || waits(from.end, to.end, kind)) return;
    Stream stream;
    EventGate hold{stream};
    EXPECT_EQ(copy(from, to, kind, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(read_from(to.to, 256), old_) << "the stream is held";
    EXPECT_FALSE(idle(stream));
    hold.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(read_from(to.to, 256), new_);
  });
}

TEST_F(MemcpyAsyncKinds, M265_M266_M267_M435_D133_WithPageableMemory_TheCallWaitsForTheStreamAndCopies) {
  for_each_cell([&](const Ends::One& from, const Ends::One& to, int kind, int answer) {
    if (answer != ACL_SUCCESS || !waits(from.end, to.end, kind)) return;
    Stream stream;
    Device other{256};
    EventGate hold{stream};
    // Work before the copy that changes its source, or, where that is not in order, its destination.
    Pinned newer{256};
    write_to(newer.get(), newer_);
    const bool changes_source = from.end == kDevice;
    if (changes_source || to.end == kDevice) {
      EXPECT_EQ(aclrtMemcpyAsync(changes_source ? from.from : to.to, 256, newer.get(), 256,
                                 ACL_MEMCPY_HOST_TO_DEVICE, stream.get()),
                ACL_SUCCESS);
    }
    const OpensLater later{hold};
    EXPECT_EQ(copy(from, to, kind, stream.get()), ACL_SUCCESS);
    EXPECT_TRUE(later.opening()) << "it did not wait";
    EXPECT_EQ(read_from(to.to, 256), changes_source ? newer_ : new_);
    EXPECT_TRUE(idle(stream));
  });
}

TEST_F(MemcpyAsyncKinds, M265_M12_OnlyTheOwnStreamIsWaitedFor) {
  Stream busy, free;
  EventGate hold{busy.get()};
  Device device{256};
  write_to(device.get(), old_);
  Bytes plain = new_;
  EXPECT_EQ(aclrtMemcpyAsync(device.get(), 256, plain.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE, free.get()),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(device.get(), 256, plain.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE, nullptr),
            ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), 256), new_);
}

TEST_F(MemcpyAsyncKinds, M265_R13_WithPageableMemory_NullWaitsForTheDefaultStream) {
  Device device{256};
  write_to(device.get(), old_);
  EventGate hold{default_stream()};
  EXPECT_EQ(aclrtMemsetAsync(device.get(), 256, 0x77, 256, nullptr), ACL_SUCCESS);
  Bytes plain(256);
  const OpensLater later{hold};
  EXPECT_EQ(aclrtMemcpyAsync(plain.data(), 256, device.get(), 256, ACL_MEMCPY_DEVICE_TO_HOST, nullptr),
            ACL_SUCCESS);
  EXPECT_TRUE(later.opening());
  EXPECT_EQ(plain, Bytes(256, 0x77));
}

TEST_F(MemcpyAsyncKinds, M265_M212_MemoryThatIsRegisteredNoLonger_IsPageable) {
  Stream stream;
  Device device{256};
  Pages memory{1};
  const Bytes bytes{at(memory.get(), 0), at(memory.get(), 256)};
  ASSERT_EQ(aclrtHostRegisterV2(memory.get(), 4096, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  ASSERT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
  EventGate hold{stream};
  const OpensLater later{hold};
  EXPECT_EQ(aclrtMemcpyAsync(device.get(), 256, memory.get(), 256, kind_of(1), stream.get()), ACL_SUCCESS);
  EXPECT_TRUE(later.opening());
  EXPECT_EQ(read_from(device.get(), 256), bytes);
}

TEST_F(MemcpyAsyncKinds, M269_D135_Kind5_TakesTheDataAtTheCall_EvenPageable) {
  Pinned pinned{256};
  Registered registered;
  Bytes plain(256);
  for (void* from : {pinned.get(), registered.get(), static_cast<void*>(plain.data())}) {
    Stream stream;
    Device device{256};
    write_to(from, new_);
    write_to(device.get(), old_);
    EventGate hold{stream};
    EXPECT_EQ(aclrtMemcpyAsync(device.get(), 256, from, 256, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream.get()),
              ACL_SUCCESS)
        << "the stream is not waited for";
    write_to(from, newer_);
    EXPECT_EQ(
        aclrtMemcpyAsync(device.get(128), 128, from, 128, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream.get()),
        ACL_SUCCESS);
    write_to(from, old_);
    EXPECT_EQ(read_from(device.get(), 256), old_) << "the device is written in stream order";
    hold.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    Bytes both = new_;
    std::copy_n(newer_.begin(), 128, both.begin() + 128);
    EXPECT_EQ(read_from(device.get(), 256), both);
  }
}

TEST_F(MemcpyAsyncKinds, M269_Kind5_TheSourceMayBeFreedAtOnce) {
  constexpr std::size_t size = 64 * kMB + 1;  // more than one piece (D-134)
  const Bytes bytes = stripes(size, 9);
  Stream stream;
  Device device{size};
  EventGate hold{stream};
  {
    Pinned pinned{size};
    write_to(pinned.get(), bytes);
    EXPECT_EQ(aclrtMemcpyAsync(device.get(), size, pinned.get(), size, kind_of(5), stream.get()),
              ACL_SUCCESS);
  }
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), size), bytes);
}

}  // namespace memcpy_async_kinds_test
