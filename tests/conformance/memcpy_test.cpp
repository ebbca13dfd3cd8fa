// aclrtMemcpy: the checks, in their order, and what a refused call leaves behind.
#include <limits>

#include "support/blocks.h"

namespace memcpy_test {

using namespace belay_test;

class Memcpy : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    block_ = std::make_unique<Device>(256);
    write_to(block_->get(), device_bytes_);
  }
  void TearDown() override {
    block_.reset();
    OnDevice::TearDown();
  }
  void* device(std::size_t offset = 0) const { return block_->get(offset); }
  // Neither block may have changed.
  void expect_untouched() const {
    EXPECT_EQ(read_from(device(), 256), device_bytes_);
    EXPECT_EQ(host_, host_bytes_);
  }
  const Bytes device_bytes_ = pattern(256, 1);
  const Bytes host_bytes_ = pattern(256, 2);
  Bytes host_ = host_bytes_;
  std::unique_ptr<Device> block_;
};

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

TEST_F(Memcpy, M229_M5_D125_CountZero_Is0_BeforeEverythingElse) {
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemcpy(nullptr, 1, nullptr, 0, kind_of(0x7FFFFFFF)), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, kind_of(-1)), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(host_.data(), 0, device(), 0, kind_of(6)), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(device(kGB), kMax, host_.data(), 0, kind_of(1)), ACL_SUCCESS);
  };
  calls();
  without_context(calls);
  expect_untouched();
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(Memcpy, M230_M231_D125_NullEnds_Are100000_BeforeKindRoomAndContext) {
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemcpy(nullptr, 64, host_.data(), 64, ACL_MEMCPY_HOST_TO_HOST), kBadArgument);
    EXPECT_EQ(aclrtMemcpy(device(), 64, nullptr, 64, ACL_MEMCPY_HOST_TO_DEVICE), kBadArgument);
    EXPECT_EQ(aclrtMemcpy(nullptr, 64, nullptr, 64, ACL_MEMCPY_DEFAULT), kBadArgument);
    EXPECT_EQ(aclrtMemcpy(nullptr, 0, host_.data(), 1, kind_of(99)), kBadArgument);
    EXPECT_EQ(aclrtMemcpy(host_.data(), 0, nullptr, 1, ACL_MEMCPY_DEFAULT), kBadArgument);
  };
  calls();
  without_context(calls);
  expect_untouched();
  EXPECT_EQ(last_error(), ACL_SUCCESS) << "the outer layer stores no last error";
}

TEST_F(Memcpy, M232_D125_KindOutside0To5_Is100000_BeforeRoomAndContext) {
  const auto calls = [&] {
    for (const int kind : {6, 7, 8, 9, 100, -1, 0x7FFFFFFF, std::numeric_limits<int>::min()}) {
      EXPECT_EQ(aclrtMemcpy(device(), 64, host_.data(), 64, kind_of(kind)), kBadArgument) << kind;
      EXPECT_EQ(aclrtMemcpy(device(), 0, host_.data(), 64, kind_of(kind)), kBadArgument) << kind;
      EXPECT_EQ(aclrtMemcpy(device(), 1, host_.data(), 64, kind_of(kind)), kBadArgument) << kind;
      EXPECT_EQ(aclrtMemcpy(host_.data(), 64, host_.data(), 64, kind_of(kind)), kBadArgument) << kind;
    }
  };
  calls();
  without_context(calls);
  expect_untouched();
  for (const int kind : {0, 1, 2, 3, 4, 5}) {
    EXPECT_EQ(aclrtMemcpy(device(), 64, device_bytes_.data(), 64, kind_of(kind)), ACL_SUCCESS) << kind;
  }
}

TEST_F(Memcpy, M233_D125_DestMaxZero_Is107000_BeforeTheContext) {
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemcpy(device(), 0, host_.data(), 1, ACL_MEMCPY_HOST_TO_DEVICE), kBadValue);
    EXPECT_EQ(aclrtMemcpy(host_.data(), 0, device(), 256, ACL_MEMCPY_DEVICE_TO_HOST), kBadValue);
    EXPECT_EQ(aclrtMemcpy(host_.data(), 0, host_.data(), 1, ACL_MEMCPY_HOST_TO_HOST), kBadValue);
    EXPECT_EQ(last_error(), kBadValue);
  };
  calls();
  without_context(calls);
  expect_untouched();
}

TEST_F(Memcpy, M234_D125_CountAboveDestMax_Is107000_NothingCopied_BeforeTheContext) {
  const auto calls = [&] {
    for (const std::size_t room : {std::size_t{1}, std::size_t{63}}) {
      EXPECT_EQ(aclrtMemcpy(device(), room, host_.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kBadValue);
      EXPECT_EQ(aclrtMemcpy(host_.data(), room, device(), 64, ACL_MEMCPY_DEVICE_TO_HOST), kBadValue);
      EXPECT_EQ(aclrtMemcpy(device(128), room, device(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE), kBadValue);
      EXPECT_EQ(aclrtMemcpy(host_.data() + 128, room, host_.data(), 64, ACL_MEMCPY_HOST_TO_HOST), kBadValue);
    }
    EXPECT_EQ(aclrtMemcpy(device(), kMax - 1, host_.data(), kMax, ACL_MEMCPY_DEFAULT), kBadValue);
    EXPECT_EQ(last_error(), kBadValue);
  };
  calls();
  without_context(calls);
  expect_untouched();
}

TEST_F(Memcpy, M234_CountUpToDestMax_IsCopied_AndNotAByteMore) {
  for (const std::size_t room : {std::size_t{64}, std::size_t{65}, std::size_t{256}, kMax}) {
    write_to(device(), device_bytes_);
    EXPECT_EQ(aclrtMemcpy(device(), room, host_.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS) << room;
    Bytes expected = device_bytes_;
    std::copy_n(host_.begin(), 64, expected.begin());
    EXPECT_EQ(read_from(device(), 256), expected) << room;
  }
}

TEST_F(Memcpy, M235_D125_SameAddress_Is0_BeforeTheContext_ButAfterTheRoom) {
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemcpy(device(), 256, device(), 256, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(host_.data(), 256, host_.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(device(), kMax, device(), kMax, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
    void* const nowhere = device(kGB);
    EXPECT_EQ(aclrtMemcpy(nowhere, 64, nowhere, 64, ACL_MEMCPY_DEFAULT), ACL_SUCCESS) << "before the range";
    EXPECT_EQ(aclrtMemcpy(device(), 63, device(), 64, ACL_MEMCPY_DEFAULT), kBadValue);
  };
  calls();
  without_context(calls);
  expect_untouched();
}

TEST_F(Memcpy, M236_NoContext_Is107002_NothingCopied_BeforeTheRange) {
  without_context([&] {
    EXPECT_EQ(aclrtMemcpy(device(), 64, host_.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kNoContext);
    EXPECT_EQ(aclrtMemcpy(host_.data(), 64, device(), 64, ACL_MEMCPY_DEVICE_TO_HOST), kNoContext);
    EXPECT_EQ(aclrtMemcpy(device(64), 64, device(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE), kNoContext);
    Bytes other(64);
    EXPECT_EQ(aclrtMemcpy(other.data(), 64, host_.data(), 64, ACL_MEMCPY_HOST_TO_HOST), kNoContext);
    EXPECT_EQ(other, Bytes(64));
    EXPECT_EQ(aclrtMemcpy(device(kGB), 64, host_.data(), 64, ACL_MEMCPY_DEFAULT), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
  });
  expect_untouched();
}

TEST_F(Memcpy, M240_M247_D126_AWrongKindDoesNoHarm_TheAddressesDecide) {
  Pinned pinned{256};
  Device second{256};
  struct Pair {
    void* to;
    const void* from;
  };
  for (const int kind : {0, 1, 2, 3, 4, 5}) {
    Bytes plain(256);
    for (const Pair& pair :
         {Pair{device(), host_.data()}, Pair{plain.data(), device()}, Pair{second.get(), device()},
          Pair{pinned.get(), second.get()}, Pair{device(), pinned.get()}, Pair{plain.data(), pinned.get()},
          Pair{pinned.get(), host_.data()}}) {
      const Bytes expected = read_from(pair.from, 256);
      // Something else first, so that a call that does nothing is noticed.
      ASSERT_EQ(aclrtMemset(pair.to, 256, kind + 1, 256), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(pair.to, 256, pair.from, 256, kind_of(kind)), ACL_SUCCESS) << kind;
      EXPECT_EQ(read_from(pair.to, 256), expected) << kind;
    }
  }
}

TEST_F(Memcpy, M246_PageableAndPinnedHostMemory_AreBothAccepted) {
  Pinned pinned{256};
  write_to(pinned.get(), pattern(256, 8));
  EXPECT_EQ(aclrtMemcpy(device(), 256, pinned.get(), 256, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(read_from(device(), 256), pattern(256, 8));
  EXPECT_EQ(aclrtMemcpy(device(), 256, host_.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(pinned.get(), 256, device(), 256, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_TRUE(std::equal(host_.begin(), host_.end(), at(pinned.get(), 0)));
}

TEST_F(Memcpy, M241_D127_TheCopyIsCompleteAtTheReturn) {
  constexpr std::size_t size = 8 * kMB + 3;
  Device big{size};
  const Bytes bytes = pattern(size, 5);
  Bytes source = bytes;
  ASSERT_EQ(aclrtMemcpy(big.get(), size, source.data(), size, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  source.assign(size, 0);  // the source may change now
  Bytes back(size);
  ASSERT_EQ(aclrtMemcpy(back.data(), size, big.get(), size, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(back, bytes);
}

TEST_F(Memcpy, M244_InsideOneDevice_OverlapActsAsThroughATemporary) {
  constexpr std::size_t size = 3 * 4096;
  Device block{size};
  for (const std::size_t shift : {std::size_t{1}, std::size_t{63}, std::size_t{4096}, std::size_t{5000}}) {
    const std::size_t length = size - shift;
    const Bytes bytes = pattern(size, 6);
    write_to(block.get(), bytes);
    EXPECT_EQ(aclrtMemcpy(block.get(shift), length, block.get(), length, ACL_MEMCPY_DEVICE_TO_DEVICE),
              ACL_SUCCESS);
    Bytes up = bytes;
    std::copy_n(bytes.begin(), length, up.begin() + static_cast<std::ptrdiff_t>(shift));
    EXPECT_EQ(read_from(block.get(), size), up) << "upwards by " << shift;
    write_to(block.get(), bytes);
    EXPECT_EQ(aclrtMemcpy(block.get(), length, block.get(shift), length, ACL_MEMCPY_DEVICE_TO_DEVICE),
              ACL_SUCCESS);
    Bytes down = bytes;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(shift), length, down.begin());
    EXPECT_EQ(read_from(block.get(), size), down) << "downwards by " << shift;
  }
}

TEST_F(Memcpy, M243_D129_HostToHost_OverlapIs107000_NothingCopied_TouchingIsFine) {
  Pinned pinned{256};
  write_to(pinned.get(), host_bytes_);
  for (std::uint8_t* start : {host_.data(), at(pinned.get(), 0)}) {
    for (const std::size_t shift : {1U, 32U, 63U}) {
      EXPECT_EQ(aclrtMemcpy(start + shift, 64, start, 64, ACL_MEMCPY_HOST_TO_HOST), kBadValue) << shift;
      EXPECT_EQ(aclrtMemcpy(start, 64, start + shift, 64, ACL_MEMCPY_HOST_TO_HOST), kBadValue) << shift;
      EXPECT_EQ(last_error(), kBadValue);
      EXPECT_EQ(Bytes(start, start + 256), host_bytes_);
    }
    EXPECT_EQ(aclrtMemcpy(start + 64, 64, start, 64, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(start + 128, 64, start + 192, 64, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(Bytes(start + 64, start + 128), Bytes(host_bytes_.begin(), host_bytes_.begin() + 64));
    EXPECT_EQ(Bytes(start + 128, start + 192), Bytes(host_bytes_.begin() + 192, host_bytes_.end()));
  }
}

TEST_F(Memcpy, M243_D129_HostToHost_PinnedAndPageableInEveryMix) {
  Pinned first{100}, second{100};
  Bytes plain(100), other(100);
  for (void* from : {first.get(), static_cast<void*>(plain.data())}) {
    for (void* to : {second.get(), static_cast<void*>(other.data())}) {
      const Bytes bytes = pattern(100, static_cast<unsigned>(number(to) & 0xFFFU));
      std::copy(bytes.begin(), bytes.end(), at(from, 0));
      std::fill_n(at(to, 0), 100, std::uint8_t{0});
      EXPECT_EQ(aclrtMemcpy(to, 100, from, 100, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(to, 0)));
    }
  }
}

}  // namespace memcpy_test
