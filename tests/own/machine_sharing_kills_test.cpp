// Processes that export, import, look, close, record and wait as fast as they can, and are killed at random
// instants. Nobody hangs, nobody sees bytes that it should not, and in the end nothing is left of the dead.
#include <sys/mman.h>

#include <atomic>
#include <iostream>
#include <new>
#include <random>

#include "support/sharing.h"
#include "support/slices.h"
#include "support/waiting.h"

namespace machine_sharing_kills_test {

using namespace belay_test;

constexpr std::size_t kTotal = 64 * kMB, kWorkers = 4, kOffers = 24, kOwnBlock = kMB;
constexpr int kRecorderDied = 507022;

// What one of them offers the others; whole if its number is even and the same before and after.
struct Offer {
  enum Kind : std::uint32_t { nothing, value, key, event };
  std::atomic<std::uint64_t> number{0};
  std::atomic<std::uint32_t> kind{nothing};
  std::atomic<std::uint64_t> word{0}, seed{0};
  std::array<std::atomic<std::uint64_t>, 8> text{};
};
struct Taken {
  Offer::Kind kind = Offer::nothing;
  std::uint64_t word = 0, seed = 0;
  std::array<char, 65> text{};
};
struct Board {
  std::atomic<bool> pause{false};
  std::atomic<std::uint64_t> steps{0}, imports{0}, waits{0};
  std::array<Offer, kOffers> offers;
};
Board& new_board() {
  void* const memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return *new (memory) Board;
}

// A writer that is killed leaves an odd number, which the next writer makes even.
void put(Offer& offer, const Taken& what) {
  offer.number.fetch_or(1);
  offer.kind = what.kind;
  offer.word = what.word;
  offer.seed = what.seed;
  for (std::size_t i = 0; i < 8; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, what.text.data() + 8 * i, 8);
    offer.text[i] = word;
  }
  offer.number.fetch_add(1);
}
Taken look(const Offer& offer) {
  Taken got;
  const std::uint64_t before = offer.number.load();
  if (before % 2 != 0) return {};
  got.kind = static_cast<Offer::Kind>(offer.kind.load());
  got.word = offer.word;
  got.seed = offer.seed;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint64_t word = offer.text[i];
    std::memcpy(got.text.data() + 8 * i, &word, 8);
  }
  return offer.number.load() == before ? got : Taken{};
}

class Worker {
 public:
  Worker(Board& board, std::uint64_t number) : board_{board}, random_{test_random(number)} {}

  // Until the pause. Then it ends all that it has but one block, and says whether its bytes are right.
  Answer operator()(const Order&) {
    Answer answer;
    answer.code = 0;
    if (own_ == nullptr) {
      answer.code = ::aclrtMallocAlign32(&own_, kOwnBlock, ACL_MEM_MALLOC_NORMAL_ONLY);
      if (answer.code == 0) answer.code = fill(own_, kOwnBlock, ::getpid());
      if (answer.code == 0) answer.code = aclrtCreateStream(&stream_);
    }
    while (answer.code == 0 && !board_.pause) {
      answer.code = step();
      board_.steps.fetch_add(1);
    }
    if (answer.code == 0) answer.code = end_all();
    if (answer.code == 0) answer.code = right(own_, kOwnBlock, ::getpid()) ? 0 : 900001;
    if (answer.code != 0) std::strncpy(answer.text.data(), recent_message().c_str(), answer.text.size() - 1);
    return answer;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  static int fill(void* where, std::size_t bytes, std::uint64_t seed) {
    const Bytes made = pattern(bytes, static_cast<unsigned>(seed));
    return aclrtMemcpy(where, bytes, made.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  }
  static bool right(void* where, std::size_t bytes, std::uint64_t seed, int* code = nullptr) {
    Bytes got(bytes);
    const int copied = aclrtMemcpy(got.data(), bytes, where, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    if (code != nullptr) *code = copied;
    return copied == 0 && got == pattern(bytes, static_cast<unsigned>(seed));
  }

  int step() {
    const std::uint64_t dice = below(10);
    if (dice == 0) return offer_value();
    if (dice == 1) return offer_key();
    if (dice == 2) return offer_event();
    if (dice <= 5 && !mine_.empty()) return end_one(below(mine_.size()));
    const Taken offer = look(board_.offers[below(kOffers)]);
    if (offer.kind == Offer::value) return use_value(offer);
    if (offer.kind == Offer::key) return use_key(offer);
    if (offer.kind == Offer::event) return use_event(offer);
    return 0;
  }

  struct Mine {
    Offer::Kind kind;
    void* handle;  // or block, or event
    void* place;
    Taken said;
  };
  void say(Mine mine) {
    put(board_.offers[below(kOffers)], mine.said);
    mine_.push_back(mine);
  }
  bool full() const { return mine_.size() >= 5; }

  int offer_value() {
    if (full()) return 0;
    Mine mine{Offer::value, nullptr, nullptr, {Offer::value, 0, random_(), {}}};
    const aclrtPhysicalMemProp prop = of_device();
    const int made = aclrtMallocPhysical(&mine.handle, k2MB, &prop, 0);
    if (made == kShortage) return 0;
    if (made != 0) return made;
    if (const int code = belay_test::reserve(&mine.place, k2MB)) return code;
    if (const int code = belay_test::map(mine.place, k2MB, mine.handle)) return code;
    if (const int code = fill(mine.place, 5000, mine.said.seed)) return code;
    if (const int code =
            aclrtMemExportToShareableHandle(mine.handle, ACL_MEM_HANDLE_TYPE_NONE, kOpen, &mine.said.word))
      return code;
    say(mine);
    return 0;
  }
  int offer_key() {
    if (full()) return 0;
    Mine mine{Offer::key, nullptr, nullptr, {Offer::key, 0, random_(), {}}};
    const int made =
        ::aclrtMallocAlign32(&mine.handle, (1 + below(40)) * 32 * kKB, ACL_MEM_MALLOC_NORMAL_ONLY);
    if (made == kShortage) return 0;
    if (made != 0) return made;
    if (const int code = fill(mine.handle, 5000, mine.said.seed)) return code;
    if (const int code = aclrtIpcMemGetExportKey(mine.handle, 5000, mine.said.text.data(), 65, kOpen))
      return code;
    say(mine);
    return 0;
  }
  int offer_event() {
    if (full()) return 0;
    Mine mine{Offer::event, nullptr, nullptr, {Offer::event, 0, 0, {}}};
    if (const int code = aclrtCreateEventExWithFlag(&mine.handle, ACL_EVENT_IPC)) return code;
    aclrtIpcEventHandle handle{};
    if (const int code = aclrtIpcGetEventHandle(mine.handle, &handle)) return code;
    std::memcpy(mine.said.text.data(), &handle, sizeof handle);
    say(mine);
    return 0;
  }
  int end_one(std::size_t which) {
    const Mine mine = mine_[which];
    mine_.erase(mine_.begin() + static_cast<long>(which));
    if (mine.kind == Offer::event) {
      const int recorded = below(2) == 0 ? aclrtRecordEvent(mine.handle, stream_) : 0;
      return recorded != 0 ? recorded : aclrtDestroyEvent(mine.handle);
    }
    if (mine.kind == Offer::key) {
      if (!right(mine.handle, 5000, mine.said.seed)) return 900002;
      const int closed = below(2) == 0 ? aclrtIpcMemClose(mine.said.text.data()) : 0;
      return closed != 0 ? closed : aclrtFree(mine.handle);
    }
    if (!right(mine.place, 5000, mine.said.seed)) return 900003;
    const bool first = below(2) == 0;
    if (const int code = first ? aclrtFreePhysical(mine.handle) : 0) return code;
    if (const int code = aclrtUnmapMem(mine.place)) return code;
    if (const int code = aclrtReleaseMemAddress(mine.place)) return code;
    return first ? 0 : aclrtFreePhysical(mine.handle);
  }
  int end_all() {
    while (!mine_.empty()) {
      if (const int code = end_one(0)) return code;
    }
    const int done = aclrtSynchronizeStream(stream_);
    return done == kRecorderDied ? 0 : done;
  }

  // What was imported is whole, however its exporter has fared since.
  int use_value(const Taken& offer) {
    aclrtDrvMemHandle handle = nullptr;
    const int imported = aclrtMemImportFromShareableHandle(offer.word, 0, &handle);
    if (imported == kStale || imported == kRefused) return 0;  // it has ended, or is its own
    if (imported != 0) return imported;
    board_.imports.fetch_add(1);
    void* place = nullptr;
    if (const int code = belay_test::reserve(&place, k2MB)) return code;
    if (const int code = belay_test::map(place, k2MB, handle)) return code;
    const int seen = right(place, 5000, offer.seed) ? 0 : 900004;
    if (const int code = aclrtUnmapMem(place)) return code;
    if (const int code = aclrtReleaseMemAddress(place)) return code;
    if (const int code = aclrtFreePhysical(handle)) return code;
    return seen;
  }
  // What was lent may be taken back at any moment; until then it is whole.
  int use_key(const Taken& offer) {
    void* place = nullptr;
    const int imported = aclrtIpcMemImportByKey(&place, offer.text.data(), 0);
    if (imported == kRefused) return 0;
    if (imported != 0) return imported;
    board_.imports.fetch_add(1);
    int code = 0, seen = 0;
    if (!right(place, 5000, offer.seed, &code)) {
      if (code == 0) (void)right(place, 8, 0, &code);  // perhaps it was taken back in between
      seen = code == kRefused ? 0 : 900005;
    }
    const int closed = aclrtIpcMemClose(offer.text.data());
    return seen != 0 ? seen : closed;
  }
  int use_event(const Taken& offer) {
    aclrtIpcEventHandle handle{};
    std::memcpy(&handle, offer.text.data(), sizeof handle);
    aclrtEvent event = nullptr;
    const int opened = aclrtIpcOpenEventHandle(handle, &event);
    if (opened == kRefused) return 0;
    if (opened != 0) return opened;
    int answer = below(2) == 0 ? aclrtRecordEvent(event, stream_) : 0;
    if (answer == 0) answer = aclrtStreamWaitEvent(stream_, event);
    if (answer == 0) answer = ::aclrtSynchronizeStreamWithTimeout(stream_, 50'000);
    if (answer == kRecorderDied) answer = 0;
    board_.waits.fetch_add(1);
    const int destroyed = aclrtDestroyEvent(event);
    return answer != 0 ? answer : destroyed;
  }

  Board& board_;
  std::mt19937 random_;
  void* own_ = nullptr;
  aclrtStream stream_ = nullptr;
  std::vector<Mine> mine_;
};

// Each kill comes after a random number of steps of all of them.
TEST(MachineSharingKills, D52_D66_V41_V433_R188_KilledAtRandom_NothingHangs_NothingIsLeft) {
  SCOPED_TRACE(seed_text());
  Board& board = new_board();
  const TestMachine machine;
  const Party witness = party(machine);
  const std::uint64_t kept = witness.map(witness.physical(k2MB), k2MB);
  ASSERT_EQ(witness->write(kept, k2MB, 77), 0);
  std::mt19937 random = test_random(1000);
  std::uint64_t number = 0;
  std::vector<MemberPtr> workers;
  const auto start = [&] {
    MemberPtr one = machine.join([worker = std::make_shared<Worker>(board, ++number)](const Order& order) {
      return (*worker)(order);
    });
    one->send({Do::own});
    return one;
  };
  for (std::size_t i = 0; i < kWorkers; ++i) workers.push_back(start());
  const int kills = slice(36, 1000, 3);
  for (int kill = 1; kill <= kills && !::testing::Test::HasFailure(); ++kill) {
    const std::uint64_t target = board.steps + random() % 60;
    ASSERT_TRUE(eventually([&] { return board.steps >= target; })) << "nobody gets on";
    MemberPtr& victim = workers[random() % kWorkers];
    victim->die();
    if (random() % 2 == 0) victim->wait();
    victim = start();
    if (kill % 6 != 0 && kill != kills) continue;
    board.pause = true;
    for (const MemberPtr& each : workers) {
      const Answer answer = each->hear();
      ASSERT_EQ(answer.heard, 1) << "after " << kill << " kills";
      ASSERT_EQ(answer.code, 0) << "after " << kill << " kills: " << answer.text.data();
    }
    ASSERT_EQ(witness->free_now(), kTotal - k2MB - kWorkers * kOwnBlock) << "after " << kill << " kills";
    ASSERT_TRUE(witness->verify(kept, k2MB, 77));
    board.pause = false;
    for (const MemberPtr& each : workers) each->send({Do::own});
  }
  workers.clear();
  EXPECT_EQ(witness->free_now(), kTotal - k2MB);
  // The tables of the machine have room as on the first day.
  const std::uint64_t block = witness->allocate(kMB);
  std::vector<std::string> keys;
  for (int i = 0; i < 10'000; ++i) {
    const Answer key = witness.export_key(block, 4096);
    ASSERT_EQ(key.code, 0) << i << " keys: " << witness->message();
    if (i % 1000 == 0) keys.emplace_back(key.text.data());
  }
  const Party last = party(machine);
  for (const std::string& each : keys) EXPECT_EQ(last.import_key(each).code, 0);
  std::cout << "         " << kills << " kills, " << board.steps << " steps, " << board.imports
            << " imports, " << board.waits << " waits\n";
}

}  // namespace machine_sharing_kills_test
