// A process is killed somewhere in the middle of exporting, importing or closing: nothing hangs, the books of
// the machine are exact, and what others hold keeps its bytes.
#include "support/instructions.h"
#include "support/sharing.h"
#include "support/slices.h"

namespace sharing_crash_test {

using namespace belay_test;

constexpr std::size_t k4MB = 4 * kMB;
constexpr std::size_t kAll = 64 * kMB;
constexpr std::uint32_t kCounted = 1000;  // beyond sharing::Ask

enum Part : std::uint32_t { exports_key, imports_key, exports_handle, imports_handle, kParts };
constexpr const char* kNames[kParts] = {"exports by key", "imports by key", "exports a handle",
                                        "imports a handle"};

void must_be(int code, int line) {
  if (code != 0) ::_exit(line % 200 + 1);
}
#define MUST_BE_0(call) must_be(call, __LINE__)

// What the victim does, from its start to its end.
int play(Part part, const Order& order) {
  std::int32_t pids[2] = {1, 2};
  void *place = nullptr, *block = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  switch (part) {
    case exports_key: {
      std::array<char, kKeyLength> key{};
      MUST_BE_0(aclrtMalloc(&block, k4MB, ACL_MEM_MALLOC_HUGE_FIRST));
      MUST_BE_0(aclrtIpcMemGetExportKey(block, k4MB, key.data(), key.size(), kListed));
      MUST_BE_0(aclrtIpcMemSetImportPid(key.data(), pids, 2));
      MUST_BE_0(aclrtIpcMemClose(key.data()));
      MUST_BE_0(aclrtFree(block));
      return 0;
    }
    case imports_key:
      MUST_BE_0(aclrtIpcMemImportByKey(&place, order.text.data(), 0));
      MUST_BE_0(aclrtMemset(place, 100, 0x11, 100));
      MUST_BE_0(aclrtIpcMemClose(order.text.data()));
      return 0;
    case exports_handle: {
      std::uint64_t value = 0;
      const aclrtPhysicalMemProp prop = of_device();
      MUST_BE_0(aclrtMallocPhysical(&handle, k4MB, &prop, 0));
      MUST_BE_0(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, kListed, &value));
      MUST_BE_0(aclrtMemSetPidToShareableHandle(value, pids, 2));
      MUST_BE_0(aclrtFreePhysical(handle));
      return 0;
    }
    default:
      MUST_BE_0(aclrtMemImportFromShareableHandle(order.pointer, 0, &handle));
      MUST_BE_0(reserve(&place, k4MB));
      MUST_BE_0(map(place, k4MB, handle));
      MUST_BE_0(aclrtMemset(place, 100, 0x11, 100));
      MUST_BE_0(aclrtUnmapMem(place));
      MUST_BE_0(aclrtReleaseMemAddress(place));
      MUST_BE_0(aclrtFreePhysical(handle));
      return 0;
  }
}

// The first time is not counted: what is only done once is done.
Answer victim(const Order& order) {
  if (order.small < kCounted) return sharing::carry_out(order);
  const auto part = static_cast<Part>(order.small - kCounted);
  Answer answer;
  answer.code = play(part, order);
  const Counted counted = count_instructions(order.seed, SIGKILL, [&] { return play(part, order); });
  answer.first = counted.instructions;
  return answer;
}

class SharingCrash : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Each, SharingCrash, ::testing::Range(std::uint32_t{0}, std::uint32_t{kParts}));

TEST_P(SharingCrash, V41_D66_KilledAtAnyInstruction) {
  if (!kCountsInstructions) GTEST_SKIP() << "only x86-64 processors are asked to trap after each instruction";
  const auto part = static_cast<Part>(GetParam());
  SCOPED_TRACE(kNames[part]);
  SCOPED_TRACE(seed_text());
  const TestMachine machine;
  const Party holder = party(machine);
  const bool imports = part == imports_key || part == imports_handle;
  const auto run = [&](std::uint64_t instructions) -> std::uint64_t {
    std::uint64_t place = 0, handle = 0;
    Order order{Do::own, kCounted + part, 0, 0, instructions};
    std::string key;
    if (part == imports_key) {
      place = holder->allocate(k4MB);
      key = holder.key(place, k4MB);
      std::memcpy(order.text.data(), key.data(), key.size());
    } else if (part == imports_handle) {
      handle = holder.physical(k4MB);
      place = holder.map(handle, k4MB);
      order.pointer = holder.value(handle);
    }
    if (imports) {
      EXPECT_EQ(holder->write(place + kMB, kMB / 4, 2), 0);
    }
    Party killed{machine.join(victim)};
    killed->send(order);
    std::uint64_t length = 0;
    if (instructions == kNever) {
      const Answer answer = killed->hear();
      EXPECT_EQ(answer.code, 0);
      length = answer.first;
    } else {
      killed->until_dead();
    }
    EXPECT_EQ(holder->free_now(), imports ? kAll - k4MB : kAll);
    if (imports) {
      // The victim wrote over the first megabyte, and nowhere else.
      EXPECT_TRUE(holder->verify(place + kMB, kMB / 4, 2));
    }
    if (part == imports_key) {
      EXPECT_EQ(holder.close_key(key), 0);
      EXPECT_EQ(holder.free(place), 0);
    } else if (part == imports_handle) {
      EXPECT_EQ(holder.unmap(place), 0);
      EXPECT_EQ(holder.free_physical(handle), 0);
    }
    EXPECT_EQ(holder->free_now(), kAll);
    return length;
  };
  const std::uint64_t length = run(kNever);
  ASSERT_GT(length, 1000U);
  RecordProperty("instructions", static_cast<int>(length));
  const std::uint64_t visits = slice<std::uint64_t>(8, 1000, 3);
  for (std::uint64_t visit = 0; visit < visits && !HasFailure(); ++visit) {
    const std::uint64_t steps = length * visit / visits + test_seed() % (length / visits + 1);
    SCOPED_TRACE("after " + std::to_string(steps) + " of " + std::to_string(length) + " instructions");
    run(steps);
  }
}

// The exporter is killed while others use what it shares.
TEST(SharingDeaths, V41_V433_D103_D112_TheExporterIsKilled_AtAnyMoment) {
  SCOPED_TRACE(seed_text());
  const TestMachine machine;
  const Party keeper = party(machine), borrower = party(machine);
  for (int round = 0; round < slice(10, 300, 4); ++round) {
    SCOPED_TRACE(round);
    const Party a = party(machine);
    const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB), block = a->allocate(k4MB);
    ASSERT_EQ(a->write(place, k4MB, static_cast<unsigned>(round)), 0);
    ASSERT_EQ(a->write(block, k4MB, static_cast<unsigned>(round)), 0);
    const std::uint64_t value = a.value(handle);
    const std::string key = a.key(block, k4MB);
    const std::uint64_t imported = keeper.import_value(value).first, kept = keeper.map(imported, k4MB);
    const std::uint64_t lent = borrower.imported(key);
    ASSERT_TRUE(borrower->verify(lent, k4MB, static_cast<unsigned>(round)));
    if (round % 2 == 0) a->stop();
    a->die();
    EXPECT_TRUE(keeper->verify(kept, k4MB, static_cast<unsigned>(round)));
    EXPECT_EQ(borrower.read_code(lent), kRefused);
    EXPECT_EQ(keeper->free_now(), kAll - k4MB);
    EXPECT_EQ(borrower.close_key(key), 0);
    EXPECT_EQ(keeper.unmap(kept), 0);
    EXPECT_EQ(keeper.free_physical(imported), 0);
    EXPECT_EQ(borrower->free_now(), kAll);
  }
}

// A process that is stopped keeps what it shares, and nobody waits for it.
TEST(SharingDeaths, V41_AStoppedProcess_KeepsWhatItHas_AndNobodyWaits) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t block = a->allocate(k4MB);
  ASSERT_EQ(a->write(block, k4MB, 1), 0);
  const std::string key = a.key(block, k4MB);
  const std::uint64_t value = a.value(a.physical(k4MB));
  a->stop();
  const std::uint64_t there = b.imported(key);
  EXPECT_TRUE(b->verify(there, k4MB, 1));
  EXPECT_EQ(b.import_value(value).code, 0);
  EXPECT_EQ(b->free_now(), kAll - 2 * k4MB);
  EXPECT_EQ(b.close_key(key), 0);
  a->go_on();
  EXPECT_EQ(a.close_key(key), 0);
}

}  // namespace sharing_crash_test
