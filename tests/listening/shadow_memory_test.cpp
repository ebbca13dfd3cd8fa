// What the record of written bytes takes (check/contents.h), held against what is written: docs/check.md says
// how much that may be.
#include <cstddef>
#include <functional>
#include <vector>

#include "acl/acl.h"
#include "base/words.h"
#include "check/contents.h"
#include "support/on_product.h"

namespace shadow_memory_test {

using namespace belay;
using namespace belay_test;

void on_checked(const std::function<void()>& body) {
  on_product("A2", {{"BELAY_CHECK", "all,classes=contents"}}, body);
}

char* make_block(std::size_t bytes) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  return static_cast<char*>(block);
}
void fill(char* from, std::size_t bytes) { ASSERT_EQ(aclrtMemset(from, bytes, 1, bytes), ACL_SUCCESS); }

// As docs/check.md puts it: for pages of 4 KB that are written in part, as far as anything is written, for
// blocks.
std::size_t most(std::size_t in_part, std::size_t as_far_as, std::size_t blocks) {
  return in_part / 8 + in_part * 4 / 1000 + 16 * (as_far_as / 256_KiB) + 400 * blocks;
}

TEST(ShadowMemory, M417_WhatIsWrittenWholeCostsNextToNothing) {
  on_checked([] {
    const std::size_t before = check::contents_memory();
    fill(make_block(256_MiB), 256_MiB);
    EXPECT_GT(check::contents_memory(), before) << "the block is known";
    EXPECT_LT(check::contents_memory() - before, 16_KiB);
  });
}

TEST(ShadowMemory, M417_AtMostAnEighth_WhereEveryPieceIsWrittenInPart) {
  on_checked([] {
    const std::size_t before = check::contents_memory();
    constexpr std::size_t kBytes = 16_MiB;
    char* const block = make_block(kBytes);
    for (std::size_t at = 0; at < kBytes; at += 4_KiB) fill(block + at, 2_KiB);
    const std::size_t takes = check::contents_memory() - before;
    EXPECT_GE(takes, kBytes / 8) << "a bit for each byte";
    EXPECT_LE(takes, most(kBytes, kBytes, 1));
  });
}

TEST(ShadowMemory, M417_AtMostAnEighth_OfTenThousandSmallBlocks_AndNothingWhenTheyAreFreed) {
  on_checked([] {
    constexpr std::size_t kBlocks = 10'000;
    const std::size_t before = check::contents_memory();
    std::vector<char*> blocks;
    for (std::size_t i = 0; i < kBlocks; ++i) {
      blocks.push_back(make_block(4_KiB - 32));
      fill(blocks.back(), 100);
    }
    const std::size_t takes = check::contents_memory() - before;
    EXPECT_GE(takes, kBlocks * 512);
    EXPECT_LE(takes, most(kBlocks * 4_KiB, 0, kBlocks));
    for (char* each : blocks) ASSERT_EQ(aclrtFree(each), ACL_SUCCESS);
    EXPECT_EQ(check::contents_memory(), before);
  });
}

TEST(ShadowMemory, M417_AWriteFarBehindTakesAListUpToThere) {
  on_checked([] {
    const std::size_t before = check::contents_memory();
    char* const block = make_block(1_GiB);
    fill(block + 1_GiB - 100, 100);
    EXPECT_LE(check::contents_memory() - before, most(4_KiB, 1_GiB, 1));
  });
}

}  // namespace shadow_memory_test
