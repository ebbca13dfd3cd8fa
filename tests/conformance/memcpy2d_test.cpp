// aclrtMemcpy2d: rows of bytes between host and device.
#include <limits>

#include "support/blocks.h"

namespace memcpy2d_test {

using namespace belay_test;

class Memcpy2d : public OnDevice {};

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
constexpr auto kUp = ACL_MEMCPY_HOST_TO_DEVICE, kDown = ACL_MEMCPY_DEVICE_TO_HOST;
constexpr auto kInside = ACL_MEMCPY_DEVICE_TO_DEVICE, kByAddress = ACL_MEMCPY_DEFAULT;
constexpr std::size_t kMostRows = 5242880, kMostWidth = 5000000;

// What `to` holds after the copy, computed the plain way.
Bytes rows(Bytes to, std::size_t to_pitch, const Bytes& from, std::size_t from_pitch, std::size_t width,
           std::size_t height) {
  for (std::size_t row = 0; row < height; ++row) {
    for (std::size_t i = 0; i < width; ++i) to[row * to_pitch + i] = from[row * from_pitch + i];
  }
  return to;
}

TEST_F(Memcpy2d, M318_RowsArriveAtTheirPitch_TheGapsStay) {
  struct Shape {
    std::size_t to_pitch, from_pitch, width, height;
  };
  for (const Shape& s : {Shape{64, 64, 64, 4}, Shape{100, 64, 33, 5}, Shape{64, 100, 33, 5},
                         Shape{1, 1, 1, 300}, Shape{4096, 4096, 1, 3}, Shape{5000, 4097, 4097, 3},
                         Shape{300, 300, 300, 1}, Shape{17, 19, 17, 100}}) {
    const Bytes device_before = pattern(s.to_pitch * s.height, 1),
                host_before = pattern(s.from_pitch * s.height, 2);
    Device device{device_before.size()};
    write_to(device.get(), device_before);
    EXPECT_EQ(
        aclrtMemcpy2d(device.get(), s.to_pitch, host_before.data(), s.from_pitch, s.width, s.height, kUp),
        ACL_SUCCESS);
    EXPECT_EQ(read_from(device.get(), device_before.size()),
              rows(device_before, s.to_pitch, host_before, s.from_pitch, s.width, s.height));
    write_to(device.get(), device_before);
    Bytes host = host_before;
    EXPECT_EQ(aclrtMemcpy2d(host.data(), s.from_pitch, device.get(), s.to_pitch, s.width, s.height, kDown),
              ACL_SUCCESS);
    EXPECT_EQ(host, rows(host_before, s.from_pitch, device_before, s.to_pitch, s.width, s.height));
  }
}

TEST_F(Memcpy2d, M318_PinnedMemoryToo_WhateverTheKindSays) {
  Pinned pinned{512};
  Device device{512};
  for (const auto kind : {kUp, kDown, kByAddress}) {
    write_to(pinned.get(), pattern(512, 1));
    ASSERT_EQ(aclrtMemset(device.get(), 512, 0, 512), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 128, pinned.get(), 128, 128, 4, kind), ACL_SUCCESS) << kind;
    EXPECT_EQ(read_from(device.get(), 512), pattern(512, 1)) << kind;
    ASSERT_EQ(aclrtMemset(pinned.get(), 512, 0, 512), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy2d(pinned.get(), 128, device.get(), 128, 128, 4, kind), ACL_SUCCESS) << kind;
    EXPECT_EQ(Bytes(at(pinned.get(), 0), at(pinned.get(), 512)), pattern(512, 1)) << kind;
  }
}

TEST_F(Memcpy2d, M304_D136_NoWidthOrNoHeight_Is0_BeforeEverythingElse) {
  Device device{64};
  write_to(device.get(), pattern(64, 1));
  Bytes host = pattern(64, 2);
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemcpy2d(nullptr, 0, nullptr, 0, 0, 5, kind_of(99)), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy2d(nullptr, 0, nullptr, 0, 5, 0, kind_of(-1)), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 8, 0, kMax, kUp), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 8, kMax, 0, kUp), ACL_SUCCESS);
  };
  calls();
  without_context(calls);
  EXPECT_EQ(read_from(device.get(), 64), pattern(64, 1));
}

TEST_F(Memcpy2d, M305_NullEnds_Are100000_BeforePitchKindAndContext) {
  Device device{64};
  Bytes host(64);
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemcpy2d(nullptr, 8, host.data(), 8, 8, 8, kUp), kBadArgument);
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, nullptr, 8, 8, 8, kUp), kBadArgument);
    EXPECT_EQ(aclrtMemcpy2d(nullptr, 8, nullptr, 8, 8, kMostRows + 1, kInside), kBadArgument);
  };
  calls();
  without_context(calls);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(Memcpy2d, M306_D136_WidthAboveAPitch_Is100000_NothingCopied) {
  Device device{64};
  write_to(device.get(), pattern(64, 1));
  Bytes host = pattern(64, 2);
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 7, 8, 2, kUp), kBadArgument);
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 7, host.data(), 8, 8, 2, kUp), kBadArgument);
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 0, host.data(), 8, 8, 1, kUp), kBadArgument);
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 0, 1, 1, kUp), kBadArgument);
    // Before the limits (107000) and the direction (207000).
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 8, kMostWidth + 1, 1, kUp), kBadArgument);
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 7, 8, kMostRows + 1, kUp), kBadArgument);
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, device.get(), 7, 8, 1, kInside), kBadArgument);
  };
  calls();
  without_context(calls);
  EXPECT_EQ(read_from(device.get(), 64), pattern(64, 1));
  EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 8, 8, 2, kUp), ACL_SUCCESS);
}

TEST_F(Memcpy2d, M307_OtherKinds_Are100000_BeforeTheLimits) {
  Device device{64};
  Bytes host(64);
  const auto calls = [&] {
    for (const int kind : {0, 5, 6, 7, 8, -1, 99}) {
      EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 8, 8, 2, kind_of(kind)), kBadArgument) << kind;
      EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 8, 8, kMostRows + 1, kind_of(kind)),
                kBadArgument);
    }
  };
  calls();
  without_context(calls);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(Memcpy2d, M310_D136_MostRows_5242880_OneMoreIs107000_BeforeDirectionAndContext) {
  Device device{kMostRows};
  const Bytes host = pattern(kMostRows, 3);
  EXPECT_EQ(aclrtMemcpy2d(device.get(), 1, host.data(), 1, 1, kMostRows, kUp), ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), kMostRows), host);
  const auto calls = [&] {
    for (const std::size_t height : {kMostRows + 1, kMax}) {
      EXPECT_EQ(aclrtMemcpy2d(device.get(), 1, host.data(), 1, 1, height, kUp), kBadValue);
      EXPECT_EQ(aclrtMemcpy2d(device.get(), 1, device.get(), 1, 1, height, kInside), kBadValue);
    }
    EXPECT_EQ(last_error(), kBadValue);
  };
  calls();
  without_context(calls);
}

TEST_F(Memcpy2d, M311_D136_WidestRow_5000000_OneMoreIs107000_BeforeDirectionAndContext) {
  Device device{kMostWidth + 1};
  const Bytes host = pattern(kMostWidth + 1, 3);
  EXPECT_EQ(aclrtMemcpy2d(device.get(), kMostWidth, host.data(), kMostWidth, kMostWidth, 1, kUp),
            ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), kMostWidth), Bytes(host.begin(), host.end() - 1));
  const auto calls = [&] {
    for (const std::size_t width : {kMostWidth + 1, kMax}) {
      EXPECT_EQ(aclrtMemcpy2d(device.get(), width, host.data(), width, width, 1, kUp), kBadValue);
      EXPECT_EQ(aclrtMemcpy2d(device.get(), width, device.get(), width, width, 1, kInside), kBadValue);
    }
  };
  calls();
  without_context(calls);
}

TEST_F(Memcpy2d, M312_D136_KindDeviceToDevice_Is207000_BeforeTheContext) {
  Device device{256};
  write_to(device.get(), pattern(256, 1));
  Bytes host = pattern(256, 2);
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemcpy2d(device.get(128), 8, device.get(), 8, 8, 2, kInside), kUnsupported);
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 8, 8, 2, kInside), kUnsupported)
        << "by the kind alone";
  };
  calls();
  without_context(calls);
  EXPECT_EQ(read_from(device.get(), 256), pattern(256, 1));
}

TEST_F(Memcpy2d, M313_M322_OtherPairsOfAddresses_Are107000_BeforeTheContext) {
  Device device{256};
  write_to(device.get(), pattern(256, 1));
  Bytes host = pattern(256, 2);
  Pinned pinned{256};
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemcpy2d(device.get(128), 8, device.get(), 8, 8, 2, kByAddress), kBadValue);
    EXPECT_EQ(aclrtMemcpy2d(host.data() + 128, 8, host.data(), 8, 8, 2, kByAddress), kBadValue);
    EXPECT_EQ(aclrtMemcpy2d(pinned.get(), 8, host.data(), 8, 8, 2, kByAddress), kBadValue);
    EXPECT_EQ(aclrtMemcpy2d(pinned.get(128), 8, pinned.get(), 8, 8, 2, kUp), kBadValue);
    EXPECT_EQ(aclrtMemcpy2d(device.get(128), 8, device.get(), 8, 8, 2, kDown), kBadValue);
  };
  calls();
  EXPECT_EQ(last_error(), kBadValue);
  without_context(calls);
  EXPECT_EQ(read_from(device.get(), 256), pattern(256, 1));
  EXPECT_EQ(host, pattern(256, 2));
}

TEST_F(Memcpy2d, M315_NoContext_Is107002_NothingCopied_BeforeTheRange) {
  Device device{64};
  write_to(device.get(), pattern(64, 1));
  Bytes host = pattern(64, 2);
  without_context([&] {
    for (const auto kind : {kUp, kByAddress}) {
      EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 8, 8, 2, kind), kNoContext);
      EXPECT_EQ(aclrtMemcpy2d(device.get(), 4096, host.data(), 8, 8, 8, kind), kNoContext);
    }
    EXPECT_EQ(aclrtMemcpy2d(host.data(), 8, device.get(), 8, 8, 2, kDown), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
  });
  EXPECT_EQ(read_from(device.get(), 64), pattern(64, 1));
  EXPECT_EQ(host, pattern(64, 2));
}

TEST_F(Memcpy2d, M319_M434_TheLastRowNeedsItsWidthOnly_OneByteMoreIs507899_NothingCopied) {
  Device device{4096};
  const Bytes before = pattern(4096, 1);
  write_to(device.get(), before);
  Bytes host = pattern(3 * 2000, 2);
  // 2 * 2000 + 96 = 4096
  EXPECT_EQ(aclrtMemcpy2d(device.get(), 2000, host.data(), 2000, 97, 3, kUp), kRefused);
  EXPECT_EQ(last_error(), kRefused);
  EXPECT_EQ(aclrtMemcpy2d(device.get(1), 2000, host.data(), 2000, 96, 3, kUp), kRefused);
  EXPECT_EQ(aclrtMemcpy2d(device.get(), 2000, host.data(), 2000, 96, 4, kUp), kRefused);
  EXPECT_EQ(read_from(device.get(), 4096), before) << "not even the rows that would fit";
  EXPECT_EQ(aclrtMemcpy2d(host.data(), 2000, device.get(), 2000, 97, 3, kDown), kRefused);
  EXPECT_EQ(host, pattern(3 * 2000, 2));
  EXPECT_EQ(aclrtMemcpy2d(device.get(), 2000, host.data(), 2000, 96, 3, kUp), ACL_SUCCESS);
  Bytes expected = before;
  for (const std::size_t row : {0U, 2000U, 4000U}) {
    std::copy_n(host.begin() + static_cast<std::ptrdiff_t>(row), 96,
                expected.begin() + static_cast<std::ptrdiff_t>(row));
  }
  EXPECT_EQ(read_from(device.get(), 4096), expected);
  EXPECT_EQ(aclrtMemcpy2d(host.data(), 2000, device.get(), 2000, 96, 3, kDown), ACL_SUCCESS);
}

TEST_F(Memcpy2d, M318_M434_BytesBetweenRowsNeedNotBeAllocated) {
  // Rows in two blocks that lie a pitch apart: what is between them is not looked at.
  Device first{64}, second{64};
  void *low = first.get(), *high = second.get();
  if (number(low) > number(high)) std::swap(low, high);
  const std::size_t pitch = number(high) - number(low);
  const Bytes host = pattern(128, 4);
  EXPECT_EQ(aclrtMemcpy2d(low, pitch, host.data(), 64, 64, 2, kUp), ACL_SUCCESS);
  EXPECT_EQ(read_from(low, 64), Bytes(host.begin(), host.begin() + 64));
  EXPECT_EQ(read_from(high, 64), Bytes(host.begin() + 64, host.end()));
}

TEST_F(Memcpy2d, M434_PitchesThatWrap_Are507899_NothingCopied) {
  Device device{4096};
  write_to(device.get(), pattern(4096, 1));
  Bytes host = pattern(64, 2);
  for (const std::size_t pitch : {kMax, kMax - 7, kMax / 2, kMax / 2 + 1, std::size_t{1} << 62U}) {
    EXPECT_EQ(aclrtMemcpy2d(device.get(), pitch, host.data(), 8, 8, 2, kUp), kRefused) << pitch;
    EXPECT_EQ(aclrtMemcpy2d(host.data(), 8, device.get(), pitch, 8, 2, kDown), kRefused) << pitch;
  }
  EXPECT_EQ(read_from(device.get(), 4096), pattern(4096, 1));
  EXPECT_EQ(host, pattern(64, 2));
  EXPECT_EQ(aclrtMemcpy2d(device.get(), kMax, host.data(), kMax, 8, 1, kUp), ACL_SUCCESS)
      << "one row has no pitch";
}

TEST_F(Memcpy2d, M434_FreedAddress_IsNotCopied) {
  Device gone{64, ACL_MEM_MALLOC_HUGE_ONLY};
  void* const was = gone.free_now();
  Bytes host = pattern(64, 2);
  EXPECT_EQ(aclrtMemcpy2d(was, 8, host.data(), 8, 8, 2, kUp), kRefused);
  EXPECT_EQ(aclrtMemcpy2d(host.data(), 8, was, 8, 8, 2, kDown), kRefused);
  EXPECT_EQ(host, pattern(64, 2));
}

TEST_F(Memcpy2d, M322_Default_IsResolvedFromTheAddresses) {
  Device device{64};
  Bytes host = pattern(64, 2);
  EXPECT_EQ(aclrtMemcpy2d(device.get(), 16, host.data(), 16, 16, 4, kByAddress), ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), 64), host);
  Bytes back(64);
  EXPECT_EQ(aclrtMemcpy2d(back.data(), 16, device.get(), 16, 16, 4, kByAddress), ACL_SUCCESS);
  EXPECT_EQ(back, host);
}

}  // namespace memcpy2d_test
