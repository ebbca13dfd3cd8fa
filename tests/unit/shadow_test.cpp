// Which bytes somebody has written, compared with an array that has a flag for each byte.
#include "check/shadow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/size.h"
#include "support/slices.h"

namespace belay::check {
namespace {

// The same, the plain way.
struct Model {
  explicit Model(std::size_t bytes) : written(bytes) {}
  void change(std::uint64_t start, std::uint64_t bytes, bool to) {
    for (std::uint64_t i = start; i < start + bytes && i < written.size(); ++i) written[i] = to;
  }
  Shadow::Missing missing(std::uint64_t start, std::uint64_t bytes) const {
    Shadow::Missing all;
    for (std::uint64_t i = start; i < start + bytes && i < written.size(); ++i) {
      if (written[i]) continue;
      if (all.bytes++ == 0) all.first = i;
    }
    return all;
  }
  void carry(std::uint64_t to, const Model& from, std::uint64_t start, std::uint64_t bytes) {
    std::vector<bool> between;
    for (std::uint64_t i = start; i < start + bytes; ++i)
      between.push_back(i >= from.written.size() || from.written[i]);
    for (std::uint64_t i = 0; i < bytes && to + i < written.size(); ++i) written[to + i] = between[i];
  }
  std::vector<bool> written;
};

void expect_same(const Shadow& shadow, const Model& model, std::uint64_t start, std::uint64_t bytes) {
  const Shadow::Missing got = shadow.missing(start, bytes), wanted = model.missing(start, bytes);
  ASSERT_EQ(got.bytes, wanted.bytes) << start << " " << bytes;
  if (wanted.bytes != 0) {
    ASSERT_EQ(got.first, wanted.first) << start << " " << bytes;
  }
}

constexpr std::uint64_t kLeaf = 256_KiB;

TEST(Shadow, M417_NothingIsWrittenAtFirst) {
  const Shadow shadow{kLeaf + 1};
  EXPECT_EQ(shadow.missing(0, kLeaf + 1).bytes, kLeaf + 1);
  EXPECT_EQ(shadow.missing(7, 1).first, 7U);
  EXPECT_EQ(shadow.missing(7, 0).bytes, 0U);
  EXPECT_EQ(shadow.memory(), 0U);
}

TEST(Shadow, M417_WhatIsBeyondTheEndCountsAsWritten) {
  Shadow shadow{100};
  EXPECT_EQ(shadow.missing(99, 100).bytes, 1U);
  EXPECT_EQ(shadow.missing(100, 100).bytes, 0U);
  shadow.set(90, UINT64_MAX - 90);
  EXPECT_EQ(shadow.missing(0, UINT64_MAX).bytes, 90U);
  shadow.clear(200, 5);
  EXPECT_EQ(shadow.missing(0, UINT64_MAX).bytes, 90U);
}

// Around words of 64 bits, chunks of 4 KB and leaves of 256 KB: each range that starts and ends there, or a
// byte off.
TEST(Shadow, M417_BoundariesOfWordsChunksAndLeaves) {
  std::vector<std::uint64_t> edges;
  for (const std::uint64_t edge : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{4_KiB},
                                   std::uint64_t{8_KiB}, kLeaf, 2 * kLeaf, 2 * kLeaf + 100}) {
    for (int off = -1; off <= 1; ++off) {
      if (edge != 0 || off >= 0) edges.push_back(edge + static_cast<std::uint64_t>(off));
    }
  }
  constexpr std::uint64_t kBytes = 2 * kLeaf + 100;
  for (const std::uint64_t start : edges) {
    for (const std::uint64_t end : edges) {
      if (end <= start) continue;
      Shadow shadow{kBytes};
      shadow.set(start, end - start);
      const std::uint64_t inside = std::min(end, kBytes) - std::min(start, kBytes);
      ASSERT_EQ(shadow.missing(0, kBytes).bytes, kBytes - inside) << start << " " << end;
      ASSERT_EQ(shadow.missing(start, end - start).bytes, 0U);
      if (start > 0 && start < kBytes) {
        ASSERT_EQ(shadow.missing(start - 1, 2).first, start - 1);
      }
      if (end < kBytes) {
        ASSERT_EQ(shadow.missing(end - 1, 2).first, end);
      }
      shadow.set(0, kBytes);
      ASSERT_EQ(shadow.missing(0, kBytes).bytes, 0U);
      shadow.clear(start, end - start);
      ASSERT_EQ(shadow.missing(0, kBytes).bytes, inside);
    }
  }
}

TEST(Shadow, M417_WhatIsWrittenWholeTakesNextToNothing) {
  Shadow shadow{64_MiB};
  shadow.set(0, 64_MiB);
  EXPECT_LE(shadow.memory(), 64_MiB / 256_KiB * sizeof(void*));
  Shadow by_byte{kLeaf};  // in pieces, that make it whole in the end
  for (std::uint64_t at = 0; at < kLeaf; ++at) by_byte.set(at, 1);
  EXPECT_EQ(by_byte.missing(0, kLeaf).bytes, 0U);
  EXPECT_LE(by_byte.memory(), sizeof(void*));
}

TEST(Shadow, M417_AnEighthOfTheBytesAndALittleAtWorst) {
  constexpr std::uint64_t kBytes = 16_MiB;
  Shadow shadow{kBytes};
  for (std::uint64_t at = 0; at < kBytes; at += 4_KiB) shadow.set(at + 5, 1);
  EXPECT_EQ(shadow.missing(0, kBytes).bytes, kBytes - kBytes / 4_KiB);
  EXPECT_LE(shadow.memory(), kBytes / 8 + kBytes / 4_KiB * 24);
}

TEST(Shadow, M244_M417_CarriedOntoItselfAsTheBytesAre) {
  for (const std::int64_t shift : {-5000, -64, -1, 1, 63, 4096, 300000}) {
    constexpr std::uint64_t kBytes = 3 * kLeaf;
    Shadow shadow{kBytes};
    Model model{kBytes};
    for (std::uint64_t at = 10000; at < kBytes; at += 7777) {
      shadow.set(at, 3333);
      model.change(at, 3333, true);
    }
    constexpr std::uint64_t kStart = 100000, kLength = 200000;
    const auto to = static_cast<std::uint64_t>(static_cast<std::int64_t>(kStart) + shift);
    shadow.carry(to, shadow, kStart, kLength);
    model.carry(to, Model{model}, kStart, kLength);
    for (std::uint64_t at = 0; at < kBytes; at += 97) expect_same(shadow, model, at, 97);
  }
}

TEST(Shadow, M417_BytesFromBeyondTheEndOfTheSourceCountAsWritten) {
  const Shadow from{100};
  Shadow to{1000};
  to.carry(0, from, 50, 200);
  EXPECT_EQ(to.missing(0, 200).bytes, 50U);
  to.carry(500, from, 100, 200);
  EXPECT_EQ(to.missing(500, 200).bytes, 0U);
}

TEST(ShadowModel, M417_RandomWritesAndCopiesAgreeWithAFlagForEachByte) {
  std::mt19937 random = belay_test::test_random(0);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  for (int round = belay_test::slice(20, 300, 10); round > 0; --round) {
    // Sizes and places around the boundaries more often than elsewhere.
    const auto size = [&] {
      constexpr std::uint64_t kEdges[] = {1, 64, 4_KiB, kLeaf, 2 * kLeaf};
      return below(2) == 0 ? 1 + below(3 * kLeaf) : kEdges[below(5)] + below(3);
    };
    const std::uint64_t one_bytes = size(), other_bytes = size();
    Shadow one{one_bytes}, other{other_bytes};
    Model one_model{one_bytes}, other_model{other_bytes};
    for (int step = 0; step < 100; ++step) {
      const bool first = below(2) == 0;
      Shadow& shadow = first ? one : other;
      Model& model = first ? one_model : other_model;
      const std::uint64_t at = below(shadow.bytes() + 2), bytes = below(3) == 0 ? size() : below(5000);
      switch (below(5)) {
        case 0:
        case 1:
          shadow.set(at, bytes);
          model.change(at, bytes, true);
          break;
        case 2:
          shadow.clear(at, bytes);
          model.change(at, bytes, false);
          break;
        case 3: {
          const bool itself = below(3) == 0;
          const std::uint64_t from = below(shadow.bytes() + 2);
          const Model before = itself ? model : first ? other_model : one_model;
          shadow.carry(at, itself ? shadow : first ? other : one, from, bytes);
          model.carry(at, before, from, bytes);
          break;
        }
        default:
          expect_same(shadow, model, at, bytes);
      }
    }
    expect_same(one, one_model, 0, one_bytes);
    expect_same(other, other_model, 0, other_bytes);
    for (int i = 0; i < 50; ++i) {
      expect_same(one, one_model, below(one_bytes), size());
      expect_same(other, other_model, below(other_bytes), size());
    }
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace belay::check
