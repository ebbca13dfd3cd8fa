// Random programs of streams against a model of what the documents promise, under every schedule.
//
// Each program runs in a process of its own. A program that fails is made shorter, as long as it still fails,
// and told.
#include <csignal>
#include <iostream>
#include <random>

#include "support/device_fixture.h"
#include "support/members.h"
#include "support/sanitizer.h"
#include "support/settings.h"
#include "support/slices.h"
#include "support/stream_host_steps.h"
#include "support/stream_memory_steps.h"
#include "support/stream_order_steps.h"
#include "support/waiting.h"

namespace stream_model_test {

using namespace belay_test;

struct Plan {
  std::string schedule, link;
  StreamProgram::Options options;
  bool company = false;  // of another thread
  std::vector<Command> commands;
};

Plan make_plan(const std::string& schedule, bool aborts, std::uint64_t seed, std::uint64_t number) {
  std::seed_seq mix{seed, seed >> 32U, number, std::uint64_t{aborts}};
  std::mt19937_64 random{mix};
  Plan plan;
  plan.schedule = schedule == "seed" ? text("seed:", seed + number) : schedule;
  static constexpr std::size_t kStrides[] = {8, 8, 24, 2048, 20000};
  static constexpr unsigned kRaces[] = {0, 0, 10, 50, 100};
  static constexpr std::size_t kRounds[] = {40, 100, 200, 400};
  static constexpr std::uint64_t kCalm[] = {1, 3, 10};
  plan.options.stride = kStrides[random() % std::size(kStrides)];
  plan.options.races = kUnderASanitizer ? 0 : kRaces[random() % std::size(kRaces)];
  plan.options.aborts = aborts;
  plan.options.round = kRounds[random() % std::size(kRounds)];
  plan.options.calm = kCalm[random() % std::size(kCalm)];
  if (random() % 5 == 0) plan.link = "h2d:300MB/s,d2h:200MB/s,d2d:800MB/s,p2p:500MB/s";
  plan.company = random() % 3 == 0;
  plan.options.bits = random();
  static constexpr std::size_t kLengths[] = {60, 500, 500, 1200};
  for (std::size_t left = kLengths[random() % std::size(kLengths)]; left > 0; --left)
    plan.commands.push_back({static_cast<unsigned>(random() % 100), random()});
  return plan;
}

// Another thread in a context of its own. What it does has nothing to do with the program, but the same
// library does it. Answers what is wrong with it.
std::string keep_company(const std::atomic<bool>& enough) {
  constexpr std::size_t kWords = 16;
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr, other = nullptr;
  aclrtEvent event = nullptr;
  void *device = nullptr, *pinned = nullptr;
  const bool ready = aclrtCreateContext(&context, 0) == 0 && aclrtCreateStream(&stream) == 0 &&
                     aclrtCreateStream(&other) == 0 && aclrtCreateEvent(&event) == 0 &&
                     aclrtMalloc(&device, kWords * 8, ACL_MEM_MALLOC_NORMAL_ONLY) == 0 &&
                     aclrtMallocHost(&pinned, 2 * kWords * 8) == 0;
  if (!ready) return "it cannot begin";
  auto* const words = static_cast<std::uint64_t*>(pinned);
  for (std::uint64_t round = 1; !enough.load(); ++round) {
    for (std::size_t i = 0; i < kWords; ++i) words[i] = round * 100 + i;
    const bool done =
        aclrtMemcpyAsync(device, kWords * 8, words, kWords * 8, ACL_MEMCPY_HOST_TO_DEVICE, stream) == 0 &&
        aclrtRecordEvent(event, stream) == 0 && aclrtStreamWaitEvent(other, event) == 0 &&
        aclrtMemcpyAsync(words + kWords, kWords * 8, device, kWords * 8, ACL_MEMCPY_DEVICE_TO_HOST, other) ==
            0 &&
        aclrtSynchronizeStream(other) == 0;
    if (!done) return text("a call fails in round ", round);
    if (!std::equal(words, words + kWords, words + kWords)) return text("wrong words in round ", round);
    if (round % 8 == 0) let_time_pass(std::chrono::microseconds{round % 300});
  }
  const bool ended = aclrtFree(device) == 0 && aclrtFreeHost(pinned) == 0 && aclrtDestroyEvent(event) == 0 &&
                     aclrtDestroyStream(stream) == 0 && aclrtDestroyContext(context) == 0;
  return ended ? "" : "it cannot end";
}

std::function<void(const std::string&)> tell_the_end;  // in the process of a program

// In a process of its own. The last line of what it prints counts the operations.
void run_here(const Plan& plan, int patience) {
  StreamProgram program{plan.options};
  const auto tell = [&](const std::string& why) {
    std::cout << why << "\n";
    const std::vector<std::string>& lines = program.history();
    for (std::size_t i = lines.size() > 400 ? lines.size() - 400 : 0; i < lines.size(); ++i)
      std::cout << "  " << lines[i] << "\n";
    std::cout << "  ^ " << why << std::endl;
    ::_exit(1);
  };
  tell_the_end = tell;
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    std::signal(signal, [](int number) { tell_the_end(text("signal ", number)); });
  std::thread{[&] {
    std::uint64_t seen = 0;
    for (int quiet = 0; quiet < patience * 10; ++quiet) {
      let_time_pass(100ms);
      if (program.progress() != std::exchange(seen, program.progress())) quiet = 0;
    }
    tell("it hangs");
  }}.detach();
  std::atomic<bool> enough{false};
  std::string trouble_of_company;
  std::thread company;
  try {
    program.begin();
    if (plan.company) company = std::thread{[&] { trouble_of_company = keep_company(enough); }};
    for (const Command& command : plan.commands) program.step(command);
    enough = true;
    if (plan.company) company.join();
    if (!trouble_of_company.empty()) tell("the other thread: " + trouble_of_company);
    program.end();
  } catch (const Trouble& trouble) {
    tell(trouble.what());
  }
  const StreamProgram::Counts& counts = program.counts();
  std::cout << program.history().size() << " " << counts.words << " " << counts.words_sure << " "
            << counts.calls << std::endl;
  ::_exit(0);
}

Ending run(const Plan& plan, int patience = 30) {
  return run_captured(
      {{"BELAY_SCHEDULE", plan.schedule},
       {"BELAY_LINK", plan.link},
       {"BELAY_DEVICES", "2"},
       {"BELAY_HBM", "64M"},
       {"BELAY_LEAKS", "off"}},
      [&] { run_here(plan, patience); }, 300);
}

// Leaves out what is not needed for a failure. Where threads race it is tried a few times.
Ending shorten(Plan& plan, Ending ending) {
  const auto end = std::chrono::steady_clock::now() + 40s;
  const int times = plan.schedule == "eager" || plan.schedule == "fifo" ? 3 : 1;
  for (std::size_t chunk = plan.commands.size() / 2; chunk > 0; chunk /= 2) {
    for (std::size_t at = 0; at < plan.commands.size();) {
      if (std::chrono::steady_clock::now() > end) return ending;
      Plan shorter = plan;
      const auto first = shorter.commands.begin() + static_cast<long>(at);
      shorter.commands.erase(first, first + static_cast<long>(std::min(chunk, plan.commands.size() - at)));
      bool fails = false;
      for (int i = 0; i < times && !fails; ++i) {
        Ending other = run(shorter, 3);
        fails = !other.clean();
        if (fails) ending = std::move(other);
      }
      if (fails)
        plan = shorter;
      else
        at += chunk;
    }
  }
  return ending;
}

struct Way {
  const char* name;
  const char* schedule;
};
void PrintTo(const Way& way, std::ostream* to) { *to << way.name; }

class StreamModel : public ::testing::TestWithParam<Way> {
 protected:
  static void run_programs(bool aborts, std::uint64_t operations) {
    const std::uint64_t wanted = operations, seed = test_seed();
    std::uint64_t done = 0, words = 0, words_sure = 0, calls = 0;
    std::uint64_t programs = 0;
    for (; done < wanted; ++programs) {
      Plan plan = make_plan(GetParam().schedule, aborts, seed, programs);
      Ending ending = run(plan);
      std::istringstream figures{ending.out};
      std::uint64_t more = 0, looked = 0, sure = 0, called = 0;
      if (ending.clean() && figures >> more >> looked >> sure >> called) {
        done += more;
        words += looked;
        words_sure += sure;
        calls += called;
        continue;
      }
      std::cout << "as it was first:\n" << ending << "\n";
      ending = shorten(plan, std::move(ending));
      FAIL() << seed_text() << ", program " << programs << ", BELAY_SCHEDULE=" << plan.schedule
             << (plan.link.empty() ? "" : ", BELAY_LINK=") << plan.link << ", " << plan.commands.size()
             << " commands, stride " << plan.options.stride << ", races " << plan.options.races << "\n"
             << ending;
    }
    std::cout << "         " << programs << " programs, " << done << " operations, " << calls << " calls, "
              << words << " words looked at, " << words_sure << " of them certain\n";
    EXPECT_GE(words_sure, done / 10) << "the model says too little";
  }
};
INSTANTIATE_TEST_SUITE_P(Schedule, StreamModel,
                         ::testing::Values(Way{"Eager", "eager"}, Way{"Fifo", "fifo"}, Way{"Lazy", "lazy"},
                                           Way{"Seeds", "seed"}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(StreamModel, R17_R165_R170_R193_R198_R208_P42_M241_M265_ProgramsSeeOnlyWhatTheOrderAllows) {
  run_programs(false, slice<std::uint64_t>(2000, 20000, 4));
}

TEST_P(StreamModel, R134_R154_WorkThatIsTakenBack_IsNotDoneLater) {
  run_programs(true, slice<std::uint64_t>(800, 10000, 4));
}

}  // namespace stream_model_test
