// Physical memory that several processes hold: whose pages it is, whoever dies, at whichever instruction.
#include "machine/extents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <vector>

#include "machine/page_quota.h"
#include "machine/process_table.h"
#include "support/instructions.h"
#include "support/shared_state.h"
#include "support/slices.h"

namespace belay::machine {
namespace extents_test {

using namespace belay_test;

constexpr std::size_t kKind = 2;
constexpr ExtentPlace kPlace{4096, 50 * 4096, {1, 2, 3}};

std::ptrdiff_t holders_of(const State& state, const ExtentName& name) {
  return std::ranges::count_if(state.extents[name.index].holders,
                               [](const auto& word) { return word.load() != 0; });
}

std::uint64_t all(const Use& use) { return std::accumulate(use.begin(), use.end(), std::uint64_t{0}); }

struct Me : Here {
  explicit Me(SharedState& shared)
      : Here{shared}, extents{shared.state(), processes}, state{shared.state()} {}
  std::uint64_t used() { return all(quotas[0].used()); }
  std::uint64_t mine() { return all(used_by(state, 0, processes.mine())); }
  Extents extents;
  State& state;
};
struct Other : There {
  explicit Other(const std::string& link) : There{link}, extents{*state, processes} {}
  std::optional<ExtentName> make(std::uint64_t pages) {
    if (!quotas[0].take(kKind, pages)) return std::nullopt;
    return extents.make(quotas[0], kKind, pages, PageQuota::kCommonShard, kPlace);
  }
  Extents extents;
};

TEST(Extents, M430_PagesPassFromAnAccountToAnExtent_AndNoneIsLostOrMade) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  ASSERT_TRUE(me.quotas[0].take(kKind, 70));
  const std::optional<ExtentName> name =
      me.extents.make(me.quotas[0], kKind, 50, PageQuota::kCommonShard, kPlace);
  ASSERT_TRUE(name);
  EXPECT_EQ(me.used(), 70U);
  EXPECT_EQ(me.mine(), 70U);
  EXPECT_EQ(me.quotas[0].own().used, 70U);
  me.quotas[0].give(kKind, 20);
  EXPECT_EQ(me.used(), 50U);
  EXPECT_FALSE(me.quotas[0].take(kKind, 51));
  EXPECT_TRUE(me.quotas[0].take(kKind, 50));
  me.extents.release(*name);
  EXPECT_EQ(me.used(), 50U);
  EXPECT_FALSE(me.extents.lives(*name));
  EXPECT_FALSE(me.extents.hold(*name));
  EXPECT_TRUE(me.quotas[0].take(kKind, 50)) << "what the extent had can be had again";
}

TEST(Extents, M430_AnotherHolder_KeepsItAlive_AndIsChargedWhenTheMakerLetsGoOrDies) {
  for (const bool dies : {false, true}) {
    SharedState shared{no_limits(100)};
    Me me{shared};
    const Common<ExtentName> name;
    const Common<std::atomic<bool>> let_go;
    Child maker{[&] {
      Other& other = *new Other{shared.link()};
      *name = *other.make(50);
      return 0;
    }};
    ASSERT_EQ(maker.answer(), 0);
    EXPECT_EQ(me.used(), 50U);
    EXPECT_EQ(me.mine(), 0U);
    const std::optional<HeldExtent> place = me.extents.hold(*name);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->offset, kPlace.offset);
    EXPECT_EQ(place->bytes, kPlace.bytes);
    EXPECT_EQ(holders_of(shared.state(), *name), 2);
    EXPECT_EQ(me.mine(), 0U) << "charged to its maker while that one holds it";
    if (dies) {
      maker.kill();
      EXPECT_EQ(me.used(), 50U);
      EXPECT_EQ(me.mine(), 50U);
      EXPECT_EQ(holders_of(shared.state(), *name), 1);
    }
    me.extents.release(*name);
    EXPECT_EQ(me.used(), dies ? 0U : 50U);
    EXPECT_EQ(me.extents.lives(*name), !dies);
    maker.kill();
    EXPECT_EQ(me.used(), 0U);
    EXPECT_FALSE(me.extents.lives(*name));
    EXPECT_TRUE(me.quotas[0].take(kKind, 100));
  }
}

// What a process does when it makes an extent, another comes to hold it, and all let go.
int make_and_release(Other& other, ExtentName& name, std::atomic<int>& made) {
  const std::optional<ExtentName> mine = other.make(50);
  if (!mine) return 1;
  name = *mine;
  made = 1;
  other.extents.release(*mine);
  return 0;
}

TEST(Extents, D66_M430_ItsMakerIsKilledBetweenAnyTwoInstructions_AndEverythingComesBack) {
  if (!kCountsInstructions) GTEST_SKIP() << "only x86-64 processors are asked to trap after each instruction";
  SharedState shared{no_limits(100)};
  Me me{shared};
  const Common<std::uint64_t> length;
  const auto run = [&](std::uint64_t instructions, bool hold) {
    const Common<ExtentName> name;
    const Common<std::atomic<int>> made;
    Child child{[&] {
      Other& other = *new Other{shared.link()};
      const Counted answer =
          count_instructions(instructions, SIGKILL, [&] { return make_and_release(other, *name, *made); });
      *length = answer.instructions;
      return answer.code;
    }};
    if (instructions == kNever) {
      EXPECT_EQ(child.answer(), 0);
    } else {
      siginfo_t about{};
      ::waitid(P_PID, static_cast<id_t>(child.process()), &about, WEXITED | WNOWAIT);
    }
    const bool held = hold && made->load() != 0 && me.extents.hold(*name).has_value();
    ASSERT_EQ(me.used(), held ? 50U : 0U);
    if (held) {
      ASSERT_EQ(me.mine(), 50U);
      me.extents.release(*name);
      ASSERT_EQ(me.used(), 0U);
    }
    ASSERT_TRUE(me.quotas[0].take(kKind, 100));
    me.quotas[0].give(kKind, 100);
  };
  run(kNever, false);
  ASSERT_GT(*length, 500U);
  const std::uint64_t visits = slice<std::uint64_t>(60, 3000, 20);
  for (std::uint64_t visit = 0; visit < visits && !::testing::Test::HasFailure(); ++visit) {
    const std::uint64_t steps = *length * visit / visits + test_seed() % (*length / visits + 1);
    SCOPED_TRACE("after " + std::to_string(steps) + " of " + std::to_string(*length) + " instructions, " +
                 seed_text());
    run(steps, visit % 2 == 0);
  }
}

// Who is charged, of a maker, two others and one who only borrows it, in every order of their ends.
TEST(Extents, V37_V433_D103_D112_WhoIsCharged) {
  enum Who : std::size_t { maker, first, second, borrower, kWho, nobody };
  struct Row {
    std::vector<Who> end;      // one after the other
    std::vector<Who> charged;  // after each
  };
  const Row rows[] = {
      {{maker, first, second, borrower}, {first, second, nobody, nobody}},
      {{maker, second, first, borrower}, {first, first, nobody, nobody}},
      {{first, maker, second, borrower}, {maker, second, nobody, nobody}},
      {{first, second, maker, borrower}, {maker, maker, nobody, nobody}},
      {{second, first, maker, borrower}, {maker, maker, nobody, nobody}},
      {{borrower, maker, first, second}, {maker, first, second, nobody}},
      {{maker, borrower, first, second}, {first, first, second, nobody}},
      {{first, second, borrower, maker}, {maker, maker, maker, nobody}},
      {{borrower, second, first, maker}, {maker, maker, maker, nobody}},
  };
  for (const bool killed : {false, true}) {
    for (const Row& row : rows) {
      SCOPED_TRACE(testing::PrintToString(row.end) + (killed ? " are killed" : " let go"));
      SharedState shared{no_limits(100)};
      Me me{shared};
      const Common<ExtentName> name;
      const Common<std::array<std::atomic<int>, kWho>> told;
      std::vector<std::unique_ptr<Child>> all;
      std::array<std::size_t, kWho> rows_of_them{};
      for (std::size_t i = 0; i < kWho; ++i) {
        all.push_back(std::make_unique<Child>([&, i] {
          Other& other = *new Other{shared.link()};
          other.state->rows[other.processes.mine()].joined = i + 10;  // in this order
          const Extents::As as = i == borrower ? Extents::As::Borrower : Extents::As::Owner;
          if (i == maker) *name = *other.make(50);
          if (i != maker && !other.extents.hold(*name, as)) return 1000;
          std::thread{[&other, &told, &name, as, i] {
            while ((*told)[i].load() == 0) std::this_thread::yield();
            other.extents.release(*name, as);
            (*told)[i].store(2);
          }}.detach();
          return static_cast<int>(other.processes.mine());
        }));
        rows_of_them[i] = static_cast<std::size_t>(all.back()->answer());
        ASSERT_LT(rows_of_them[i], kSlots);
      }
      for (std::size_t step = 0; step < row.end.size(); ++step) {
        const Who which = row.end[step];
        if (killed) {
          all[which]->kill();
        } else {
          (*told)[which].store(1);
          while ((*told)[which].load() != 2) std::this_thread::yield();
        }
        EXPECT_EQ(me.used(), row.charged[step] == nobody ? 0U : 50U) << "step " << step;
        for (std::size_t i = 0; i < kWho; ++i)
          EXPECT_EQ(belay::machine::extents_test::all(used_by(me.state, 0, rows_of_them[i])),
                    i == row.charged[step] ? 50U : 0U)
              << "step " << step << ", process " << i;
        EXPECT_EQ(me.extents.lives_now(*name), step + 1 < row.end.size()) << "step " << step;
      }
    }
  }
}

// Processes make, hold and release each other's extents and are killed meanwhile.
TEST(Extents, D52_D66_M430_RandomHolders_KilledMeanwhile_LeaveExactBooks) {
  SCOPED_TRACE(seed_text());
  SharedState shared{no_limits(300)};
  Me me{shared};
  for (unsigned round = 0; round < slice(12U, 400U, 4U); ++round) {
    struct Names {
      std::array<std::atomic<std::uint64_t>, 8> index, serial;
    };
    const Common<Names> names;
    const Common<std::atomic<int>> at_work;
    std::vector<std::unique_ptr<Child>> children;
    for (unsigned i = 0; i < 3; ++i) {
      children.push_back(std::make_unique<Child>([&, i] {
        Other& other = *new Other{shared.link()};
        std::mt19937 random = test_random(round * 8 + i);
        std::vector<ExtentName> held;
        at_work->fetch_add(1);
        for (;;) {
          const std::size_t at = random() % 8;
          if (random() % 3 == 0) {
            if (const std::optional<ExtentName> made = other.make(random() % 40 + 1)) {
              names->index[at] = made->index;
              names->serial[at] = made->serial;
              held.push_back(*made);
            }
          } else if (random() % 2 == 0) {
            const ExtentName name{names->index[at], names->serial[at]};
            const bool has = std::any_of(held.begin(), held.end(),
                                         [&](const ExtentName& each) { return each.index == name.index; });
            if (name.serial != 0 && !has && other.extents.hold(name)) held.push_back(name);
          } else if (!held.empty()) {
            other.extents.release(held.back());
            held.pop_back();
          }
        }
        return 0;
      }));
    }
    while (at_work->load() < 3) std::this_thread::yield();
    for (unsigned i = 0; i < round % 20 * 10; ++i) ASSERT_LE(me.used(), 300U);
    for (const auto& child : children) child->kill();
    ASSERT_EQ(me.used(), 0U) << "round " << round;
    ASSERT_TRUE(me.quotas[0].take(kKind, 300)) << "round " << round;
    me.quotas[0].give(kKind, 300);
  }
}

}  // namespace extents_test
}  // namespace belay::machine
