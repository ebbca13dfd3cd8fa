// However and in whichever order those who share memory end: who is left goes on as it should, who is charged
// is right at every step, and when nobody holds it the memory is free.
#include "support/sharing.h"
#include "support/slices.h"

namespace machine_sharing_deaths_test {

using namespace belay_test;

constexpr std::size_t kAll = 64 * kMB, k4MB = 4 * kMB, kPart = 64 * kKB;

// Besides sharing: it forks a child that stays, or becomes another program.
constexpr std::uint32_t kFork = 500, kBecome = 501;
Answer carry_out(const Order& order) {
  Answer answer;
  if (order.small == kFork) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, 0);
      for (;;) ::pause();
    }
    answer.code = child > 0 ? 0 : -1;
    answer.first = static_cast<std::uint64_t>(child);
    return answer;
  }
  if (order.small == kBecome) ::execl("/bin/sleep", "sleep", "1000", nullptr);
  return sharing::carry_out(order);
}
Party party_of(const TestMachine& machine) { return Party{machine.join(carry_out)}; }

// Children that outlive the members they were forked from, until the end of the scope.
class Children {
 public:
  ~Children() {
    for (const pid_t each : all_) ::kill(each, SIGKILL);
  }
  void add(std::uint64_t child) { all_.push_back(static_cast<pid_t>(child)); }

 private:
  std::vector<pid_t> all_;
};
Children* children = nullptr;

struct Ending {
  const char* name;
  std::function<void(const Party&)> happens;
  bool lives_on = false;  // and can be asked again
};
const std::vector<Ending>& endings() {
  static const std::vector<Ending> all{
      {"exit", [](const Party& one) { one->end(Way::exit); }},
      {"_exit", [](const Party& one) { one->end(Way::quick); }},
      {"abort", [](const Party& one) { one->end(Way::abort); }},
      {"a fault", [](const Party& one) { one->end(Way::segv); }},
      {"SIGKILL", [](const Party& one) { one->die(); }},
      {"SIGKILL while stopped",
       [](const Party& one) {
         one->stop();
         one->die();
       }},
      {"exec",
       [](const Party& one) {
         one->send({Do::own, kBecome});
         EXPECT_TRUE(one->gone());
       }},
      {"a reset of the device",
       [](const Party& one) {
         EXPECT_EQ(one->reset(), 0);
         EXPECT_EQ(one->set_device(), 0);
       },
       true},
      {"SIGKILL, and a forked child stays",
       [](const Party& one) {
         const Answer child = one->ask({Do::own, kFork});
         EXPECT_EQ(child.code, 0);
         // The child has the socket as well, so the end of its parent is seen otherwise.
         ::kill(one.pid(), SIGKILL);
         siginfo_t about{};
         EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(one.pid()), &about, WEXITED | WNOWAIT), 0);
         children->add(child.first);
       }},
  };
  return all;
}

// Every way for the one with every way for the other; in a short run with one of them.
void for_all_pairs(const std::function<void(const Ending&, const Ending&)>& look) {
  const std::size_t others = slice<std::size_t>(1, endings().size());
  for (std::size_t i = 0; i < endings().size(); ++i) {
    for (std::size_t j = 0; j < others; ++j) {
      const Ending& one = endings()[i];
      const Ending& other = endings()[(i + j + test_seed()) % endings().size()];
      Children all;
      children = &all;
      SCOPED_TRACE(std::string{"first: "} + one.name + ", then: " + other.name);
      look(one, other);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(MachineSharingDeaths, V41_V42_V468_V469_V471_AHandle_ItsExporterEndsFirst) {
  const TestMachine machine;
  const Party witness = party(machine);
  for_all_pairs([&](const Ending& one, const Ending& other) {
    const Party a = party_of(machine), b = party_of(machine);
    const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB), value = a.value(handle);
    ASSERT_EQ(a->write(place, kPart, 1), 0);
    const std::uint64_t there = b.map(b.import_value(value).first, k4MB);
    one.happens(a);
    ASSERT_EQ(witness->free_now(), kAll - k4MB);
    ASSERT_TRUE(b->verify(there, kPart, 1));
    ASSERT_EQ(b->write(there + kMB, kPart, 2), 0);
    ASSERT_TRUE(b->verify(there + kMB, kPart, 2));
    if (one.lives_on) {
      ASSERT_EQ(a.read_code(place), kRefused);
    }
    other.happens(b);
    ASSERT_EQ(witness->free_now(), kAll);
    ASSERT_EQ(witness.import_value(value).code, kStale);
  });
}

TEST(MachineSharingDeaths, V41_V42_V471_AHandle_ItsImporterEndsFirst) {
  const TestMachine machine;
  const Party witness = party(machine);
  for_all_pairs([&](const Ending& one, const Ending& other) {
    const Party a = party_of(machine), b = party_of(machine);
    const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB), value = a.value(handle);
    ASSERT_EQ(a->write(place, kPart, 1), 0);
    const std::uint64_t there = b.map(b.import_value(value).first, k4MB);
    ASSERT_EQ(b->write(there + kMB, kPart, 2), 0);
    one.happens(b);
    ASSERT_EQ(witness->free_now(), kAll - k4MB);
    ASSERT_TRUE(a->verify(place + kMB, kPart, 2)) << "what the dead wrote stays";
    ASSERT_TRUE(a->verify(place, kPart, 1));
    const Answer again = witness.import_value(value);
    ASSERT_EQ(again.code, 0);
    ASSERT_EQ(witness.free_physical(again.first), 0);
    other.happens(a);
    ASSERT_EQ(witness->free_now(), kAll);
    ASSERT_EQ(witness.import_value(value).code, kStale);
  });
}

TEST(MachineSharingDeaths, V41_V42_V433_V480_V482_AKey_ItsExporterEndsFirst) {
  const TestMachine machine;
  const Party witness = party(machine);
  for_all_pairs([&](const Ending& one, const Ending& other) {
    const Party a = party_of(machine), b = party_of(machine), c = party_of(machine);
    const std::uint64_t block = a->allocate(k4MB);
    ASSERT_EQ(a->write(block, kPart, 1), 0);
    const std::string key = a.key(block, k4MB);
    const std::uint64_t there = b.imported(key), elsewhere = c.imported(key);
    ASSERT_TRUE(c->verify(elsewhere, kPart, 1));
    one.happens(a);
    ASSERT_EQ(witness->free_now(), kAll);
    ASSERT_EQ(b.read_code(there), kRefused);
    ASSERT_EQ(c.fill(elsewhere, 1, 1), kRefused);
    ASSERT_EQ(witness.import_key(key).code, kRefused);
    other.happens(b);  // it has not closed it
    ASSERT_EQ(c.close_key(key), 0);
    ASSERT_EQ(c.close_key(key), kRefused);
    const std::uint64_t all = witness->allocate(kAll);
    ASSERT_NE(all, 0U);
    ASSERT_EQ(witness->free(all), 0);
  });
}

TEST(MachineSharingDeaths, V41_V42_V429_V434_AKey_ItsImporterEndsFirst) {
  const TestMachine machine;
  const Party witness = party(machine);
  for_all_pairs([&](const Ending& one, const Ending& other) {
    const Party a = party_of(machine), b = party_of(machine);
    const std::uint64_t block = a->allocate(k4MB);
    ASSERT_EQ(a->write(block, kPart, 1), 0);
    const std::string key = a.key(block, k4MB);
    ASSERT_EQ(b->write(b.imported(key) + kMB, kPart, 2), 0);
    one.happens(b);
    ASSERT_EQ(witness->free_now(), kAll - k4MB);
    ASSERT_TRUE(a->verify(block + kMB, kPart, 2));
    if (one.lives_on) {
      ASSERT_EQ(b.close_key(key), kRefused);
    }
    ASSERT_EQ(witness.import_key(key).code, 0);
    ASSERT_EQ(witness.close_key(key), 0);
    other.happens(a);
    ASSERT_EQ(witness->free_now(), kAll);
    ASSERT_EQ(witness.import_key(key).code, kRefused);
  });
}

// Five hold it and end one after the other, in all kinds of orders; nobody else gets its pages before the
// last.
TEST(MachineSharingDeaths, V38_V41_ManyHolders_TheLastOneGivesItBack) {
  const TestMachine machine;
  const Party witness = party(machine);
  for (std::size_t round = 0; round < endings().size(); ++round) {
    Children all;
    children = &all;
    SCOPED_TRACE(round);
    std::vector<Party> parties;
    std::vector<std::uint64_t> places;
    for (int i = 0; i < 5; ++i) parties.push_back(party_of(machine));
    const std::uint64_t handle = parties[0].physical(k4MB), value = parties[0].value(handle);
    places.push_back(parties[0].map(handle, k4MB));
    ASSERT_EQ(parties[0]->write(places[0], kPart, 9), 0);
    for (std::size_t i = 1; i < 5; ++i)
      places.push_back(parties[i].map(parties[i].import_value(value).first, k4MB));
    for (std::size_t i = 0; i < 5; ++i) {
      const std::size_t which = (i * 2 + round) % 5;
      ASSERT_TRUE(parties[which]->verify(places[which], kPart, 9));
      ASSERT_EQ(witness->free_now(), kAll - k4MB) << i << " have ended";
      endings()[(round + i) % endings().size()].happens(parties[which]);
    }
    ASSERT_EQ(witness->free_now(), kAll);
  }
}

// A forked child is a process of its own: what is open to all is open to it, what its parent has is not.
TEST(MachineSharingDeaths, V43_V465_AForkedChildOfTheExporter_ImportsLikeAnybody) {
  const TestMachine machine;
  const Party witness = party(machine);
  const Party a{machine.join([&](const Order& order) {
    if (order.small != kFork) return sharing::carry_out(order);
    Answer answer;
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) return answer;
    const pid_t child = ::fork();
    if (child == 0) {
      aclrtDrvMemHandle handle = nullptr;
      std::array<int, 3> codes{};
      codes[0] = aclrtFreePhysical(reinterpret_cast<void*>(order.size));
      codes[1] = aclrtSetDevice(0);
      codes[2] = aclrtMemImportFromShareableHandle(order.pointer, 0, &handle);
      const bool written = ::write(pipe[1], codes.data(), sizeof codes) == sizeof codes;
      ::_exit(written ? 0 : 1);  // it frees nothing
    }
    std::array<int, 3> codes{-1, -1, -1};
    const bool heard = ::read(pipe[0], codes.data(), sizeof codes) == sizeof codes;
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(pipe[0]);
    ::close(pipe[1]);
    answer.code = heard ? codes[1] : -1;
    answer.first = static_cast<std::uint64_t>(codes[0]);
    answer.second = static_cast<std::uint64_t>(codes[2]);
    return answer;
  })};
  const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB), value = a.value(handle);
  ASSERT_EQ(a->write(place, kPart, 5), 0);
  const Answer child = a->ask({Do::own, kFork, value, handle});
  EXPECT_EQ(child.code, 0);
  EXPECT_NE(child.first, 0U) << "the handle of the parent is not the child's";
  EXPECT_EQ(child.second, 0U);
  EXPECT_TRUE(a->verify(place, kPart, 5));
  EXPECT_EQ(witness->free_now(), kAll - k4MB);
  a->die();
  EXPECT_EQ(witness->free_now(), kAll);
}

}  // namespace machine_sharing_deaths_test
