// One mistake is planted in a random program that is right otherwise: belay must find it, name it, show its
// line, and find nothing else. Where none is planted it must find nothing.
//
// A failure says how to repeat it: ACL_TEST_SEED, and ACL_TEST_PROGRAM=N for one program of each test.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <thread>

#include "findings.h"
#include "plants.h"
#include "support/sanitizer.h"
#include "support/scratch.h"
#include "support/settings.h"
#include "support/slices.h"

namespace planted {
namespace {

using namespace belay_test;

constexpr std::size_t kDevices = 2;

struct Variant {
  const char* name;
  unsigned features;
  std::size_t threads = 1, processes = 1;
  std::size_t process = 0;  // which of these this one is
  const char* check = "all,print-limit=0";
};

bool is_checked(const Variant& variant) { return variant.check != std::string{"off"}; }

// What is done in the program with a number.
struct Plan {
  std::mt19937 random;
  const char* schedule = "";
  const Kind* kind = nullptr;  // none: nothing is planted
  std::size_t thread = 0, step = 0, steps = 0;
};

std::vector<Kind> kinds_for(const Variant& variant) {
  const unsigned offered =
      variant.features | (variant.threads == 1 ? kAlone : 0U) | (kUnderASanitizer ? 0U : kUnwatched);
  std::vector<Kind> kinds = all_kinds();
  std::erase_if(kinds, [&](const Kind& kind) { return (kind.needs & ~offered) != 0; });
  return kinds;
}

Plan plan_for(const Variant& variant, const std::vector<Kind>& kinds, std::size_t number) {
  static constexpr const char* kSchedules[] = {"eager", "fifo", "lazy", "seed:1", "seed:2"};
  Plan plan{test_random(number)};
  plan.schedule = kSchedules[plan.random() % std::size(kSchedules)];
  // One kind after the other, so that a long run has all of them; a slice begins anywhere.
  const std::size_t which = (number + test_seed()) % (kinds.size() + 1);
  const bool mine = number / (kinds.size() + 1) % variant.processes == variant.process;
  if (which < kinds.size() && mine) plan.kind = &kinds[which];
  plan.steps = 20 + plan.random() % 100;
  plan.step = plan.random() % plan.steps;
  plan.thread = plan.random() % variant.threads;
  return plan;
}

Expected run_thread(const Variant& variant, Devices& devices, const Plan& plan, std::size_t thread) {
  const bool plants = plan.kind != nullptr && thread == plan.thread;
  std::mt19937 random = plan.random;
  random.discard(100 * (1 + thread + variant.threads * variant.process));
  RandomProgram program{random, variant.features | (variant.threads == 1 || plants ? kWide : 0U), devices};
  for (std::size_t i = 0; i < plan.steps; ++i) {
    if (plants && i == plan.step) {
      program.expected.misuse = plan.kind->misuse;
      program.use(program.any_device());
      plan.kind->plant(program);
    }
    program.step();
  }
  program.end();
  return program.expected;
}

Expected run_program(const Variant& variant, const Plan& plan) {
  Devices devices{kDevices};
  std::vector<Expected> expected(variant.threads);
  std::vector<std::string> trouble(variant.threads);
  const auto run = [&](std::size_t thread) {
    try {
      expected[thread] = run_thread(variant, devices, plan, thread);
    } catch (const Trouble& one) {
      trouble[thread] = one.what();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < variant.threads; ++i) others.emplace_back(run, i);
  run(0);
  for (std::thread& each : others) each.join();
  for (const std::string& each : trouble) {
    if (!each.empty()) throw Trouble{each};
  }
  devices.close();
  return expected[plan.thread];
}

// What is wrong with what was found, or nothing.
std::string judge(const Expected& expected, const std::vector<Found>& found) {
  std::string words;
  if (found.size() != (expected.misuse.empty() ? 0U : 1U))
    words = ", " + std::to_string(found.size()) + " findings";
  const std::string place =
      expected.file.substr(expected.file.rfind('/') + 1) + ":" + std::to_string(expected.line);
  for (const Found& each : found) {
    if (each.id != expected.misuse) words += ", named " + each.id;
    if (each.function != expected.function) words += ", of the function " + each.function;
    if (!("/" + each.place()).ends_with("/" + place)) words += ", at " + each.place();
    if (each.count != 1) words += ", " + std::to_string(each.count) + " times";
  }
  if (words.empty()) return {};
  std::string text = "expected: ";
  text += expected.misuse.empty() ? "nothing" : expected.misuse + " of " + expected.function + " at " + place;
  text += "\nfound otherwise: " + words.substr(2) + "\n";
  for (const Found& each : found) text += each.text;
  return text;
}

struct Results {
  std::map<std::string, std::size_t> planted;
  std::vector<std::string> failures;
};

void run_number(const Variant& variant, const std::vector<Kind>& kinds, std::size_t number,
                Results& results) {
  const Plan plan = plan_for(variant, kinds, number);
  set_environment({{"BELAY_CHECK", variant.check},
                   {"BELAY_STACKS", number % 8 == 0 ? "8" : "1"},
                   {"BELAY_SCHEDULE", plan.schedule},
                   {"BELAY_DEVICES", std::to_string(kDevices)},
                   {"BELAY_HBM", "512M"},
                   {"BELAY_PIN", "best-effort"},
                   {"BELAY_LEAKS", is_checked(variant) ? "report" : "off"}});
  (void)belay_restart();
  std::string wrong;
  try {
    const Expected expected = run_program(variant, plan);
    belay_end_of_test();
    (void)belay_end();
    wrong = judge(expected, take_findings());
  } catch (const Trouble& trouble) {
    (void)belay_end();
    wrong = std::string{trouble.what()} + "\n";
    for (const Found& each : take_findings()) wrong += each.text;
  }
  const std::string name = plan.kind == nullptr ? "nothing" : plan.kind->name;
  ++results.planted[name];
  if (wrong.empty()) return;
  results.failures.push_back(std::string{variant.name} + ": " + name +
                             " was planted under BELAY_SCHEDULE=" + plan.schedule + "\n" + wrong +
                             "repeat it with " + seed_text() + " ACL_TEST_PROGRAM=" + std::to_string(number));
}

Results run_numbers(const Variant& variant, std::size_t count) {
  constexpr std::size_t kMostTold = 20;
  const std::vector<Kind> kinds = kinds_for(variant);
  Results results;
  std::size_t from = 0;
  if (const char* only = std::getenv("ACL_TEST_PROGRAM")) {
    from = std::strtoull(only, nullptr, 10);
    count = from + 1;
  }
  for (std::size_t i = from; i < count; ++i) {
    const std::size_t before = results.failures.size();
    run_number(variant, kinds, i, results);
    if (results.failures.size() != before && before < kMostTold && is_checked(variant))
      std::cout << results.failures.back() << std::endl;
    const bool last = i + 1 == count;
    if (::isatty(STDOUT_FILENO) != 0 && variant.process == 0 && count > 1000 && ((i + 1) % 100 == 0 || last))
      std::cout << "\r" << i + 1 << " of " << count << " programs" << (last ? "\n" : "") << std::flush;
  }
  return results;
}

void expect_found(const Variant& variant, std::size_t part, std::size_t full) {
  const std::size_t count = slice(part, full, 4U);
  const Results results = run_numbers(variant, count);
  EXPECT_TRUE(results.failures.empty())
      << results.failures.size() << " of " << count << " programs; see above";
  if (!whole() || std::getenv("ACL_TEST_PROGRAM") != nullptr) return;
  for (const auto& [name, times] : results.planted) std::cout << times << " times " << name << "\n";
  const std::vector<Kind> kinds = kinds_for(variant);
  if (count < variant.processes * (kinds.size() + 1)) return;  // not each process has had each of them
  for (const Kind& each : kinds) EXPECT_TRUE(results.planted.contains(each.name)) << each.name;
}

TEST(Planted, ProgramsWithoutStreams_EachMistakeIsFoundAndNothingElse) {
  expect_found({"plain", 0}, 60, 2000);
}
TEST(Planted, ProgramsWithVirtualMemory_EachMistakeIsFoundAndNothingElse) {
  expect_found({"virtual memory", kVirtual}, 60, 2000);
}
TEST(Planted, ProgramsWithStreams_EachMistakeIsFoundAndNothingElse) {
  expect_found({"streams", kStreams | kVirtual}, 60, 3200);
}
TEST(Planted, ProgramsWithThreads_EachMistakeIsFoundAndNothingElse) {
  expect_found({"threads", kStreams | kVirtual, 3}, 40, 2000);
}

// All of them have programs all the time; of each number one has the mistake.
TEST(Planted, ProcessesOfOneMachine_EachMistakeIsFoundWhereItIsAndNothingElse) {
  const Scratch scratch;
  set_environment({{"BELAY_MACHINE", "planted"}, {"BELAY_MACHINES", scratch.path().string()}});
  constexpr std::size_t kProcesses = 3;
  std::vector<pid_t> children;
  (void)test_seed();
  std::fflush(nullptr);
  for (std::size_t i = 0; i < kProcesses; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    expect_found({"processes", kStreams | kVirtual, 1, kProcesses, i}, 20, 1000);
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  for (const pid_t each : children) {
    int status = 0;
    while (::waitpid(each, &status, 0) < 0) continue;
    EXPECT_EQ(status, 0) << "one of the processes failed, see above";
  }
}

// This test can fail.
TEST(Planted, ProgramsThatNobodyChecks_EachMistakeIsMissed) {
  const std::size_t count = slice(40U, 400U, 4U);
  Results results = run_numbers({"unchecked", kStreams | kVirtual, 1, 1, 0, "off"}, count);
  const std::size_t right = results.planted["nothing"];
  EXPECT_EQ(results.failures.size(), count - right);
}
TEST(Planted, OtherNamesFunctionsAndLines_AreFailures) {
  const Expected expected{"double-free", "aclrtFree", "a/plants.cpp", 12};
  const Found right{"double-free", "aclrtFree",
                    "belay: double-free: f(g) [lifetime]\nbelay:   at h(int) (a/plants.cpp:12)\n", 1};
  EXPECT_EQ(judge(expected, {right}), "");
  EXPECT_EQ(judge({}, {}), "");
  EXPECT_NE(judge(expected, {}), "");
  EXPECT_NE(judge({}, {right}), "");
  EXPECT_NE(judge(expected, {right, right}), "");
  Found wrong = right;
  wrong.id = "use-after-free";
  EXPECT_NE(judge(expected, {wrong}), "");
  wrong = right;
  wrong.function = "aclrtFreeHost";
  EXPECT_NE(judge(expected, {wrong}), "");
  wrong = right;
  wrong.count = 2;
  EXPECT_NE(judge(expected, {wrong}), "");
  for (const char* place : {"a/plants.cpp:120", "a/plants.cpp:1", "a/other_plants.cpp:12", "plants+0x12"}) {
    wrong = right;
    wrong.text = std::string{"belay:   at h(int) ("} + place + ")\n";
    EXPECT_NE(judge(expected, {wrong}), "") << place;
  }
}

}  // namespace
}  // namespace planted
