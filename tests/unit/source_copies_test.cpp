// What sources of queued copies were (check/source_copies.h).
#include "check/source_copies.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <vector>

namespace source_copies_test {
namespace {

using belay::check::SourceCopies;
using belay::observe::Touch;
using Of = SourceCopies::Of;

Touch bytes_of(const void* start, std::size_t bytes, std::uint32_t rows = 1, std::size_t pitch = 0) {
  return {.bytes = bytes, .pitch = pitch, .rows = rows, .address = reinterpret_cast<std::uintptr_t>(start)};
}

TEST(SourceCopies, M270_EveryByteIsCompared_InBothKindsOfMemory) {
  for (const Of owner : {Of::Belay, Of::Program}) {
    for (const std::size_t size : {1UL, 4095UL, 4096UL, 4097UL, 8192UL, 10'000UL}) {
      SourceCopies copies;
      std::vector<unsigned char> bytes(size, 0xA5);
      const Touch source = bytes_of(bytes.data(), size);
      const SourceCopies::Copy copy = copies.take(source, owner);
      ASSERT_TRUE(copy);
      EXPECT_FALSE(copies.first_change(copy, source, owner));
      for (const std::size_t at : {std::size_t{0}, size / 2, std::min<std::size_t>(4095, size - 1),
                                   std::min<std::size_t>(4096, size - 1), size - 1}) {
        bytes[at] = 0xA4;
        EXPECT_EQ(copies.first_change(copy, source, owner), source.address + at) << size;
        bytes[at] = 0xA5;
      }
      EXPECT_FALSE(copies.first_change(copy, source, owner));
    }
  }
}

TEST(SourceCopies, M270_OfRowsTheGapsAreNotCompared) {
  constexpr std::size_t kWidth = 3000, kPitch = 4000, kRows = 7;
  SourceCopies copies;
  std::vector<unsigned char> bytes(kPitch * kRows);
  const Touch source = bytes_of(bytes.data(), kWidth, kRows, kPitch);
  const SourceCopies::Copy copy = copies.take(source, Of::Belay);
  for (std::size_t at = 0; at < bytes.size(); at += 499) {
    bytes[at] ^= 1;
    const auto changed = copies.first_change(copy, source, Of::Belay);
    if (at % kPitch < kWidth)
      EXPECT_EQ(changed, source.address + at);
    else
      EXPECT_FALSE(changed) << at;
    bytes[at] ^= 1;
  }
}

TEST(SourceCopies, M270_WhatIsBehindTheLimitIsNotCompared) {
  SourceCopies copies;
  std::vector<unsigned char> bytes(SourceCopies::kMostOfEach + 1);
  const Touch source = bytes_of(bytes.data(), bytes.size());
  const SourceCopies::Copy copy = copies.take(source, Of::Belay);
  EXPECT_EQ(copies.pages_made(), SourceCopies::kMostOfEach / SourceCopies::kPage);
  bytes[SourceCopies::kMostOfEach] = 1;
  EXPECT_FALSE(copies.first_change(copy, source, Of::Belay));
  bytes[SourceCopies::kMostOfEach - 1] = 1;
  EXPECT_EQ(copies.first_change(copy, source, Of::Belay), source.address + SourceCopies::kMostOfEach - 1);
}

TEST(SourceCopies, PagesAreUsedAgain_AndWithoutOneNothingIsTaken) {
  SourceCopies copies{3};
  std::vector<unsigned char> bytes(2 * SourceCopies::kPage);
  const Touch source = bytes_of(bytes.data(), bytes.size());
  for (int round = 0; round < 10; ++round) {
    SourceCopies::Copy first = copies.take(source, Of::Belay);
    EXPECT_TRUE(first);
    EXPECT_FALSE(copies.take(source, Of::Belay)) << "there is one page left";
    SourceCopies::Copy small = copies.take(bytes_of(bytes.data(), 1), Of::Belay);
    EXPECT_TRUE(small);
    first = std::move(small);
  }
  EXPECT_EQ(copies.pages_made(), 3U);
}

TEST(SourceCopies, M270_MemoryThatTheProgramHasUnmappedIsNotTouched) {
  void* const pages = ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  SourceCopies copies;
  const Touch source = bytes_of(pages, 8192);
  const SourceCopies::Copy copy = copies.take(source, Of::Program);
  ASSERT_TRUE(copy);
  ::munmap(pages, 8192);
  EXPECT_FALSE(copies.first_change(copy, source, Of::Program));
  EXPECT_FALSE(copies.take(source, Of::Program));
  EXPECT_EQ(copies.pages_made(), 3U) << "two of them in the copy that was taken";
}

}  // namespace
}  // namespace source_copies_test
