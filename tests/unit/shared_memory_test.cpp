// Bytes that several processes hold: what one writes the others read, whoever is killed at whichever
// instruction, and the pages are always somebody's.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "fastpath/fast_path.h"
#include "memory/physical_memory.h"
#include "support/instructions.h"
#include "support/memory_world.h"
#include "support/scratch.h"
#include "support/shared_state.h"
#include "support/slices.h"

namespace belay {
namespace shared_memory_test {

using namespace belay_test;
using machine::ExtentName;

const BytesRead kFresh(1000, kFreshByte);
BytesRead all(unsigned char value, std::size_t bytes = 1000) { return BytesRead(bytes, value); }

// Parent and child take turns: each waits for a step that the other takes.
class Turns {
 public:
  void take(int step) { at_->store(step); }
  void wait_for(int step) const {
    while (at_->load() < step) std::this_thread::yield();
  }

 private:
  Common<std::atomic<int>> at_;
};

class SharedMemory : public ::testing::Test {
 protected:
  std::string place() const { return scratch_.path().string(); }
  // In a child, which is killed: nothing is destroyed there.
  MemoryWorld& other() const {
    auto& world = *new MemoryWorld{place()};
    const std::uintptr_t first = world.block(1000);
    world.write(first, all(1));  // what is only done once is done
    world.free(first);
    return world;
  }

 private:
  Scratch scratch_;
};

// What a child does when this process has the same machine.
TEST_F(SharedMemory, M430_TwoProcessesSeeTheSameBytes_AndPagesPassToWhoIsLeft) {
  MemoryWorld me{place()};
  const Common<ExtentName> name;
  Turns turns;
  Child maker{[&] {
    MemoryWorld& there = other();
    const ExtentPtr extent = there.extent(8_MiB);
    const std::uintptr_t at = there.mapped(extent);
    int right = there.write(at + 3_MiB, all(7)) ? 1 : 0;
    *name = *there.memory().physical().share(extent);
    turns.take(1);
    turns.wait_for(2);
    right += there.read(at + 5_MiB, 1000) == all(9) ? 1 : 0;
    right += there.read(at + 3_MiB, 1000) == all(7) ? 1 : 0;
    right += there.read(at + 6_MiB, 1000) == kFresh ? 1 : 0;
    return right;
  }};
  turns.wait_for(1);
  EXPECT_EQ(me.used(), 8_MiB);
  ExtentPtr extent = me.memory().physical().import({*name, 0, Page::Huge2M});
  ASSERT_NE(extent, nullptr);
  EXPECT_EQ(extent->bytes, 8_MiB);
  EXPECT_EQ(extent->page, Page::Huge2M);
  const std::uintptr_t at = me.mapped(extent);
  EXPECT_EQ(me.read(at + 3_MiB, 1000), all(7));
  EXPECT_EQ(me.read(at + 5_MiB, 1000), kFresh);
  EXPECT_TRUE(me.write(at + 5_MiB, all(9)));
  turns.take(2);
  EXPECT_EQ(maker.answer(), 4);
  EXPECT_EQ(me.used(), 8_MiB) << "counted once";
  EXPECT_EQ(me.machine().quota(0).own().used, 0U) << "and to its maker";
  maker.kill();
  EXPECT_EQ(me.used(), 8_MiB);
  EXPECT_EQ(me.machine().quota(0).own().used * 4_KiB, 8_MiB) << "to who is left";
  EXPECT_EQ(me.read(at + 3_MiB, 1000), all(7));
  EXPECT_TRUE(me.write(at + 7_MiB, all(3)));
  EXPECT_EQ(me.read(at + 7_MiB, 1000), all(3));
  extent.reset();
  EXPECT_NE(me.memory().mappings().unmap(at), nullptr);
  EXPECT_EQ(me.used(), 0U);
  EXPECT_EQ(me.memory().physical().import({*name, 0, Page::Huge2M}), nullptr) << "it is gone";
}

TEST_F(SharedMemory, ARangeIsGivenOutAgainOnlyWhenNobodyHoldsIt) {
  MemoryWorld me{place()};
  const Common<ExtentName> name;
  Turns turns;
  Child maker{[&] {
    MemoryWorld& there = other();
    PhysicalMemory& physical = there.memory().physical();
    ExtentPtr extent = there.extent(4_MiB);
    const std::size_t offset = extent->start.offset;
    const std::uintptr_t at = there.mapped(extent);
    there.write(at, all(1));
    *name = *physical.share(extent);
    turns.take(1);
    turns.wait_for(2);
    there.memory().mappings().unmap(at);
    extent.reset();
    int right = 0;
    ExtentPtr next = there.extent(4_MiB);
    right += next->start.offset != offset ? 1 : 0;
    there.write(there.mapped(next), all(2));
    turns.take(3);
    turns.wait_for(4);
    const ExtentPtr again = there.extent(4_MiB);
    right += again->start.offset == offset ? 1 : 0;
    right += there.read(there.mapped(again), 1000) == kFresh ? 1 : 0;
    return right;
  }};
  turns.wait_for(1);
  ExtentPtr extent = me.memory().physical().import({*name, 0, Page::Huge2M});
  ASSERT_NE(extent, nullptr);
  turns.take(2);
  turns.wait_for(3);
  EXPECT_EQ(me.used(), 8_MiB);
  EXPECT_EQ(me.machine().quota(0).own().used * 4_KiB, 4_MiB);
  const std::uintptr_t at = me.mapped(extent);
  EXPECT_EQ(me.read(at, 1000), all(1));
  extent.reset();
  me.memory().mappings().unmap(at);
  turns.take(4);
  EXPECT_EQ(maker.answer(), 3);
  EXPECT_EQ(me.used(), 8_MiB);
}

TEST_F(SharedMemory, APlainBlockIsShared_AndOutlivesItsFree) {
  for (const std::size_t bytes : {std::size_t{100'000}, 4_MiB, 600_MiB}) {
    SCOPED_TRACE(bytes);
    MemoryWorld me{place()};
    const Common<ExtentName> name;
    Turns turns;
    Child maker{[&] {
      MemoryWorld& there = other();
      int right = 0;
      const std::uintptr_t block = there.block(bytes);
      there.write(block + 5000, all(4));
      *name = *there.memory().physical().share(block);
      right += there.memory().physical().share(block)->serial == name->serial ? 1 : 0;
      turns.take(1);
      turns.wait_for(2);
      right += there.read(block + 50'000, 1000) == all(5) ? 1 : 0;
      right += there.free(block) ? 1 : 0;
      right += !there.free(block) ? 1 : 0;
      const std::uintptr_t next = there.block(bytes);
      right += next != block ? 1 : 0;
      there.write(next + 5000, all(6));
      turns.take(3);
      turns.wait_for(4);
      for (std::uintptr_t found = 0; found != block;) found = there.block(bytes, block);
      return right;
    }};
    turns.wait_for(1);
    const Page kind = bytes < 2_MiB ? Page::Normal : Page::Huge2M;
    ExtentPtr extent = me.memory().physical().import({*name, 0, kind});
    ASSERT_NE(extent, nullptr);
    const std::size_t page = page_bytes(extent->page);
    EXPECT_EQ(me.used(), *round_up(bytes, page));
    const std::uintptr_t at = me.memory().mappings().reserve(*round_up(extent->bytes, 2_MiB), 0);
    ASSERT_TRUE(me.memory().mappings().map(at, extent->bytes, extent, 0, true));
    EXPECT_EQ(me.read(at + 5000, 1000), all(4));
    EXPECT_TRUE(me.write(at + 50'000, all(5)));
    turns.take(2);
    turns.wait_for(3);
    EXPECT_EQ(me.used(), 2 * extent->bytes);
    EXPECT_EQ(me.machine().quota(0).own().used * 4_KiB, extent->bytes) << "the pages are ours now";
    EXPECT_EQ(me.read(at + 5000, 1000), all(4));
    EXPECT_EQ(me.read(at + 50'000, 1000), all(5));
    const std::size_t each = extent->bytes;
    extent.reset();
    me.memory().mappings().unmap(at);
    EXPECT_EQ(me.used(), each);
    turns.take(4);
    EXPECT_EQ(maker.answer(), 5);
    maker.kill();
    EXPECT_EQ(me.used(), 0U);
  }
}

TEST_F(SharedMemory, TheFastPathLeavesSharedBlocksAlone) {
  MemoryWorld me;
  const std::uint64_t state = FastPathState::now();
  const std::uintptr_t kept = me.block(4096);
  const std::uintptr_t block = me.block(4096), plain = me.block(4096);
  ASSERT_TRUE(me.free(kept));  // now there is a bin for such blocks
  me.memory().set_device_of_thread(state, 0);
  ASSERT_EQ(free_fast(plain), ACL_SUCCESS);
  ASSERT_TRUE(me.memory().physical().share(block));
  EXPECT_EQ(free_fast(block), 42);
  EXPECT_TRUE(me.memory().find(block)->shared);
  EXPECT_TRUE(me.free(block));
  EXPECT_EQ(me.used(), 0U);
  EXPECT_FALSE(me.memory().physical().share(block)) << "it is freed";
}

TEST_F(SharedMemory, ImportsOfOnesOwn) {
  MemoryWorld me{place()};
  PhysicalMemory& physical = me.memory().physical();
  ExtentPtr extent = me.extent(2_MiB);
  const std::uintptr_t at = me.mapped(extent);
  const ExtentName name = *physical.share(extent);
  ExtentPtr twin = physical.import({name, 0, Page::Huge2M});
  ASSERT_NE(twin, nullptr);
  EXPECT_EQ(physical.share(twin)->serial, name.serial);
  const std::uintptr_t other_place = me.mapped(twin);
  EXPECT_TRUE(me.write(at + 77, all(8)));
  EXPECT_EQ(me.read(other_place + 77, 1000), all(8));
  extent.reset();
  me.memory().mappings().unmap(at);
  EXPECT_EQ(me.read(other_place + 77, 1000), all(8));
  EXPECT_EQ(me.used(), 2_MiB);
  twin.reset();
  me.memory().mappings().unmap(other_place);
  EXPECT_EQ(me.used(), 0U);
  const ExtentPtr next = me.extent(2_MiB);
  EXPECT_EQ(me.read(me.mapped(next) + 77, 1000), kFresh);
}

// What another process wrote goes with the extent, though its maker never wrote there.
TEST_F(SharedMemory, M13_WhatOnlyAnotherWrote_IsFreshForTheNext) {
  MemoryWorld me{place()};
  ExtentPtr extent = me.extent(2_MiB);
  const std::size_t offset = extent->start.offset;
  const ExtentName name = *me.memory().physical().share(extent);
  Child writer{[&] {
    MemoryWorld& there = other();
    ExtentPtr theirs = there.memory().physical().import({name, 0, Page::Huge2M});
    const std::uintptr_t at = there.mapped(theirs);
    const bool wrote = there.write(at + 1000, all(5));
    there.memory().mappings().unmap(at);
    theirs.reset();
    return wrote ? 0 : 1;
  }};
  EXPECT_EQ(writer.answer(), 0);
  extent.reset();
  extent = me.extent(2_MiB);
  ASSERT_EQ(extent->start.offset, offset);
  EXPECT_EQ(me.read(me.mapped(extent) + 1000, 1000), kFresh);
}

// A heap that was one large block holds small ones later: who has the file open must not go by the old cut.
TEST_F(SharedMemory, M11_AHeapThatWasCutAnew_IsSeenAsItIsCut) {
  MemoryWorld me{place()};
  PhysicalMemory& physical = me.memory().physical();
  const Common<ExtentName> kept, large, small;
  *kept = *physical.share(me.block(4096));
  const std::uintptr_t whole = me.block(600_MiB);
  *large = *physical.share(whole);
  Turns turns;
  Child importer{[&] {
    MemoryWorld& there = other();
    PhysicalMemory& theirs = there.memory().physical();
    const ExtentPtr keeps_the_file_open = theirs.import({*kept, 0, Page::Huge2M});
    {
      const ExtentPtr extent = theirs.import({*large, 0, Page::Huge2M});
      const std::uintptr_t at = there.mapped(extent);
      there.write(at + 5000, all(1));
      there.memory().mappings().unmap(at);
    }
    turns.take(1);
    turns.wait_for(2);
    const ExtentPtr extent = theirs.import({*small, 0, Page::Huge2M});
    const std::uintptr_t at = there.memory().mappings().reserve(2_MiB, 0);
    there.memory().mappings().map(at, extent->bytes, extent, 0, true);
    return there.write(at + 100, all(2, 100)) ? 0 : 1;
  }};
  turns.wait_for(1);
  ASSERT_TRUE(me.free(whole));
  const auto normal = [&](std::uintptr_t at) { return me.block(4096, at, 0, ACL_MEM_MALLOC_NORMAL_ONLY); };
  ASSERT_EQ(normal(whole), whole);
  ASSERT_EQ(normal(whole + 4096), whole + 4096);
  ASSERT_EQ(normal(whole + 8192), whole + 8192);
  ASSERT_TRUE(me.write(whole, all(7, 4096)));
  ASSERT_TRUE(me.write(whole + 8192, all(8, 4096)));
  *small = *physical.share(whole + 4096);
  turns.take(2);
  EXPECT_EQ(importer.answer(), 0);
  EXPECT_EQ(me.read(whole, 4096), all(7, 4096));
  EXPECT_EQ(me.read(whole + 8192, 4096), all(8, 4096));
  EXPECT_EQ(me.read(whole + 4096 + 100, 100), all(2, 100));
  EXPECT_EQ(me.read(whole + 4096 + 200, 1000), kFresh);
}

// Two processes write to the same fresh memory at the same time, each its own stripes of it.
TEST_F(SharedMemory, M13_FreshMemoryIsFilledOnce_WhoeverWritesFirst) {
  constexpr std::size_t kBytes = 2_MiB, kStripe = 5000;
  const int rounds = slice(20, 600, 4);
  MemoryWorld me{place()};
  const Common<ExtentName> name;
  Turns made, written;
  const auto write_stripes = [](MemoryWorld& world, std::uintptr_t at, std::size_t first) {
    for (std::size_t stripe = first; (stripe + 1) * kStripe <= kBytes; stripe += 3)
      EXPECT_TRUE(world.write(at + stripe * kStripe, all(static_cast<unsigned char>(first + 1), kStripe)));
  };
  Child writer{[&] {
    MemoryWorld& there = other();
    for (int round = 1; round <= rounds; ++round) {
      made.wait_for(round);
      ExtentPtr extent = there.memory().physical().import({*name, 0, Page::Huge2M});
      const std::uintptr_t at = there.mapped(extent);
      write_stripes(there, at, 0);
      there.memory().mappings().unmap(at);
      there.memory().mappings().release(at);
      extent.reset();
      written.take(round);
    }
    return 0;
  }};
  for (int round = 1; round <= rounds; ++round) {
    SCOPED_TRACE(round);
    ExtentPtr extent = me.extent(kBytes);
    const std::uintptr_t at = me.mapped(extent);
    *name = *me.memory().physical().share(extent);
    made.take(round);
    write_stripes(me, at, 1);
    written.wait_for(round);
    const BytesRead got = me.read(at, kBytes);
    for (std::size_t stripe = 0; (stripe + 1) * kStripe <= kBytes; ++stripe) {
      const unsigned char expected =
          stripe % 3 == 2 ? kFreshByte : static_cast<unsigned char>(stripe % 3 + 1);
      const auto start = got.begin() + static_cast<std::ptrdiff_t>(stripe * kStripe);
      ASSERT_EQ(std::count(start, start + kStripe, expected), static_cast<std::ptrdiff_t>(kStripe)) << stripe;
    }
    me.memory().mappings().unmap(at);
    me.memory().mappings().release(at);
  }
  EXPECT_EQ(writer.answer(), 0);
  EXPECT_EQ(me.used(), 0U);
}

// Kills a child after some instructions of its work, spread over all of them.
struct Steps {
  Common<std::uint64_t> length;
  std::uint64_t visits = slice<std::uint64_t>(6, 120, 24);
  // `work` in a child that dies after so many instructions; then `check`.
  void kill_anywhere(const std::function<std::function<int()>()>& prepare,
                     const std::function<void()>& check) {
    for (std::uint64_t visit = 0; visit <= visits && !::testing::Test::HasFailure(); ++visit) {
      const std::uint64_t steps =
          visit == 0 ? kNever : *length * (visit - 1) / visits + test_seed() % (*length / visits + 1);
      SCOPED_TRACE("after " + std::to_string(steps) + " of " + std::to_string(*length) + " instructions, " +
                   seed_text());
      Child child{[&] {
        const std::function<int()> work = prepare();
        const Counted answer = count_instructions(steps, SIGKILL, work);
        *length = std::max(*length, answer.instructions);
        return answer.code;
      }};
      if (steps == kNever) {
        ASSERT_EQ(child.answer(), 0);
        child.kill();
      } else {
        siginfo_t about{};
        ::waitid(P_PID, static_cast<id_t>(child.process()), &about, WEXITED | WNOWAIT);
      }
      check();
    }
  }
};

TEST_F(SharedMemory, D66_M430_WhoImportsIsKilledBetweenAnyTwoInstructions) {
  if (!kCountsInstructions) GTEST_SKIP() << "only x86-64 processors are asked to trap after each instruction";
  MemoryWorld me{place()};
  PhysicalMemory& physical = me.memory().physical();
  ExtentPtr extent;
  std::uintptr_t at = 0;
  const Common<ExtentName> name;
  const auto renew = [&] {
    if (at != 0) {
      me.memory().mappings().unmap(at);
      me.memory().mappings().release(at);
    }
    extent = me.extent(2_MiB, Page::Normal);
    ASSERT_NE(extent, nullptr);
    at = me.mapped(extent);
    ASSERT_TRUE(me.write(at + 70'000, all(1)));
    *name = *physical.share(extent);
    ASSERT_EQ(me.used(), 2_MiB);
  };
  renew();
  Steps steps;
  steps.kill_anywhere(
      [&]() -> std::function<int()> {
        MemoryWorld& there = other();
        const std::uintptr_t reserved = there.memory().mappings().reserve(2_MiB, 0);
        return [&there, reserved, &name] {
          ExtentPtr theirs = there.memory().physical().import({*name, 0, Page::Huge2M});
          if (theirs == nullptr) return 1;
          Mappings& mappings = there.memory().mappings();
          if (!mappings.map(reserved, 2_MiB, theirs, 0, true)) return 2;
          if (!there.write(reserved + 10'000, all(2, 100))) return 3;
          if (!there.write(reserved + 200'000, all(3, 100))) return 4;
          mappings.unmap(reserved);
          theirs.reset();
          return 0;
        };
      },
      [&] {
        // Where it did not come to write, everything is fresh; a copy may have stopped half-way.
        ASSERT_EQ(me.read(at + 70'000, 1000), all(1));
        for (const std::size_t offset : {std::size_t{10'000}, std::size_t{200'000}}) {
          const BytesRead got = me.read(at + offset, 100);
          const auto value = static_cast<unsigned char>(offset == 10'000 ? 2 : 3);
          const auto done = std::find(got.begin(), got.end(), kFreshByte);
          ASSERT_EQ(std::count(got.begin(), done, value), done - got.begin());
          ASSERT_EQ(std::count(done, got.end(), kFreshByte), got.end() - done);
          ASSERT_EQ(me.read(at + offset + 100, 1000), kFresh);
        }
        ASSERT_EQ(me.used(), 2_MiB);
        ASSERT_TRUE(me.write(at, all(9, 2_MiB))) << "nobody holds the lock of the dead";
        extent.reset();
        renew();
      });
}

TEST_F(SharedMemory, D66_M430_WhoSharesIsKilledBetweenAnyTwoInstructions) {
  if (!kCountsInstructions) GTEST_SKIP() << "only x86-64 processors are asked to trap after each instruction";
  MemoryWorld me{place()};
  for (const bool plain : {false, true}) {
    SCOPED_TRACE(plain ? "a plain block" : "physical memory");
    const Common<ExtentName> name;
    const Common<std::atomic<bool>> known;
    Steps steps;
    int imported = 0;
    steps.kill_anywhere(
        [&]() -> std::function<int()> {
          MemoryWorld& there = other();
          const std::uintptr_t reserved = there.memory().mappings().reserve(2_MiB, 0);
          // Of normal pages, which are filled 4 KB at a time: every byte of that is a step.
          const std::uintptr_t block = plain ? there.block(2_MiB, 0, 0, ACL_MEM_MALLOC_NORMAL_ONLY) : 0;
          ExtentPtr& extent = *new ExtentPtr{plain ? nullptr : there.extent(2_MiB, Page::Normal)};
          if (!plain) there.memory().mappings().map(reserved, 2_MiB, extent, 0, true);
          *known = false;
          return [&, plain, reserved, block] {
            PhysicalMemory& physical = there.memory().physical();
            const std::uintptr_t at = plain ? block : reserved;
            if (!there.write(at + 5000, all(1))) return 1;
            const std::optional<ExtentName> made = plain ? physical.share(block) : physical.share(extent);
            if (!made) return 2;
            *name = *made;
            *known = true;
            if (!there.write(at + 300'000, all(2))) return 3;
            if (plain) return there.free(block) ? 0 : 4;
            there.memory().mappings().unmap(reserved);
            extent.reset();
            return 0;
          };
        },
        [&] {
          // Its bytes are gone with its maker; nobody held them.
          ExtentPtr extent = *known ? me.memory().physical().import({*name, 0, Page::Huge2M}) : nullptr;
          if (extent != nullptr) {
            ++imported;
            ASSERT_EQ(me.used(), 2_MiB);
            extent.reset();
          }
          ASSERT_EQ(me.used(), 0U);
          ASSERT_NE(me.extent(MemoryWorld::kTotal), nullptr) << "all pages are there again";
        });
    EXPECT_EQ(imported, 0) << "the file of a dead process cannot be opened";
  }
}

}  // namespace shared_memory_test
}  // namespace belay
