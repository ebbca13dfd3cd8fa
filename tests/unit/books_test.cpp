#include "memory/books.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "machine/machine.h"

#include "support/slices.h"

namespace belay {
namespace books_test {

struct MachineOfOne {
  explicit MachineOfOne(const BookLimits& limits) {
    machine::Wish wish;
    wish.name = machine::kPrivateName;
    wish.limits = in_pages(limits);
    machine = std::move(*machine::Machine::join(wish));
    books.open(machine->ledger(0));
  }
  std::unique_ptr<machine::Machine> machine;
  Books books;
};

TEST(Books, M430_OnePoolServesEveryPageKind_ToTheByte) {
  MachineOfOne machine{{.total = 1_GiB + 4_MiB, .normal = {}, .huge = {}, .huge1g = {}, .p2p = {}}};
  Books& books = machine.books;
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
  MachineOfOne machine{{.total = 64_MiB, .normal = {}, .huge = 4_MiB, .huge1g = {}, .p2p = {}}};
  Books& books = machine.books;
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
    MachineOfOne machine{limits};
    Books& books = machine.books;
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
  MachineOfOne machine{{.total = 64_MiB, .normal = {}, .huge = {}, .huge1g = {}, .p2p = 2_MiB}};
  Books& books = machine.books;
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
  MachineOfOne machine{{.total = 8_MiB, .normal = {}, .huge = {}, .huge1g = {}, .p2p = {}}};
  Books& books = machine.books;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0, rounds = belay_test::slice(20000, 1000000); i < rounds; ++i) {
        if (books.take(Page::Normal, 1_MiB, false)) books.give(Page::Normal, 1_MiB, false);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(books.pool().free, 8_MiB);
}

}  // namespace books_test
}  // namespace belay
