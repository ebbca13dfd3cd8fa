#include "memory/books.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace belay {
namespace {

TEST(Books, M430_OnePoolServesEveryPageKind_ToTheByte) {
  Books books;
  books.open({.total = 1_GiB + 4_MiB, .normal = {}, .huge = {}, .huge1g = {}, .p2p = {}});
  EXPECT_TRUE(books.take(Page::Huge1G, 1_GiB, false));
  EXPECT_TRUE(books.take(Page::Huge2M, 2_MiB, false));
  EXPECT_TRUE(books.take(Page::Normal, 2_MiB, false));
  EXPECT_FALSE(books.take(Page::Normal, 4_KiB, false));
  EXPECT_EQ(books.pool().free, 0U);
  books.give(Page::Huge1G, 1_GiB, false);
  EXPECT_EQ(books.pool().free, 1_GiB);
  EXPECT_EQ(books.pool().total, 1_GiB + 4_MiB);
}

TEST(Books, M430_KindLimitIsExact_AndOtherKindsGoOn) {
  Books books;
  books.open({.total = 64_MiB, .normal = {}, .huge = 4_MiB, .huge1g = {}, .p2p = {}});
  EXPECT_TRUE(books.take(Page::Huge2M, 4_MiB, false));
  EXPECT_FALSE(books.take(Page::Huge2M, 2_MiB, false));
  EXPECT_TRUE(books.take(Page::Normal, 60_MiB, false));
  EXPECT_FALSE(books.take(Page::Normal, 4_KiB, false));
}

TEST(Books, D56_M430_HugeAndNormalAlwaysAddUpToThePool) {
  const std::optional<std::size_t> none;
  for (const BookLimits& limits :
       {BookLimits{64_MiB, none, none, none, none}, BookLimits{64_MiB, none, 16_MiB, none, none},
        BookLimits{64_MiB, 8_MiB, none, none, none}, BookLimits{64_MiB, 8_MiB, 16_MiB, none, none}}) {
    Books books;
    books.open(limits);
    for (int step = 0; step < 6; ++step) {
      books.take(step % 2 == 0 ? Page::Normal : Page::Huge2M, step % 2 == 0 ? 4_KiB : 2_MiB, false);
      const Amounts normal = books.of(Page::Normal, false);
      const Amounts huge = books.of(Page::Huge2M, false);
      EXPECT_EQ(normal.free + huge.free, books.pool().free);
      EXPECT_EQ(normal.total + huge.total, books.pool().total);
      EXPECT_LE(normal.free, normal.total);
      EXPECT_LE(huge.free, huge.total);
    }
  }
}

TEST(Books, M423_P2pLimit_CountsOnlyP2pBlocks_AndARefusalTakesNothing) {
  Books books;
  books.open({.total = 64_MiB, .normal = {}, .huge = {}, .huge1g = {}, .p2p = 2_MiB});
  EXPECT_FALSE(books.take(Page::Huge2M, 4_MiB, true));
  EXPECT_EQ(books.pool().free, 64_MiB);
  EXPECT_TRUE(books.take(Page::Huge2M, 2_MiB, true));
  EXPECT_FALSE(books.take(Page::Normal, 4_KiB, true));
  EXPECT_TRUE(books.take(Page::Normal, 4_KiB, false));
  EXPECT_EQ(books.of(Page::Huge2M, true).free, 0U);
  books.give(Page::Huge2M, 2_MiB, true);
  EXPECT_TRUE(books.take(Page::Normal, 2_MiB, true));
}

TEST(Books, M11_ManyThreads_NeverOverdrawAndLoseNothing) {
  Books books;
  books.open({.total = 8_MiB, .normal = {}, .huge = {}, .huge1g = {}, .p2p = {}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        if (books.take(Page::Normal, 1_MiB, false)) books.give(Page::Normal, 1_MiB, false);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(books.pool().free, 8_MiB);
}

}  // namespace
}  // namespace belay
