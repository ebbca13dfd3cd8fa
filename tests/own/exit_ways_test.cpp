// The odd ways in which programs end: none hangs, none crashes.
//
// A test starts this program once more for each way; the child finds its way in TEST_SCENARIO, does
// what a careless program would do, and ends.
#include <atomic>
#include <functional>
#include <thread>

#include "support/blocks.h"
#include "support/this_program.h"
#include "support/waiting.h"

namespace exit_ways_test {

using namespace belay_test;

void* allocate() {
  void* block = nullptr;
  if (aclrtMalloc(&block, 3 * kMB, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) std::_Exit(30);
  return block;
}

// A little of everything, left lying about.
void use_much() {
  if (aclrtSetDevice(0) != ACL_SUCCESS) std::_Exit(31);
  void* const block = allocate();
  void* host = nullptr;
  if (aclrtMallocHost(&host, 8192) != ACL_SUCCESS) std::_Exit(32);
  void* address = nullptr;
  if (aclrtHostRegister(host, 8192, ACL_HOST_REGISTER_MAPPED, &address) != ACL_SUCCESS) std::_Exit(33);
  if (aclrtMemcpy(block, 8192, host, 8192, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS) std::_Exit(34);
}

// Every call that a destructor might make; whatever it answers, it comes back.
void use_late() {
  void* block = nullptr;
  (void)aclrtSetDevice(0);
  if (aclrtMalloc(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS) {
    char bytes[64] = {};
    (void)aclrtMemcpy(block, 64, bytes, 64, ACL_MEMCPY_HOST_TO_DEVICE);
    (void)aclrtFree(block);
  }
  (void)aclrtFree(&block);
  (void)aclGetRecentErrMsg();
  (void)aclrtResetDevice(0);
  (void)aclFinalize();
}

// Destroyed after main, at a time nobody chose.
struct AtTheEnd {
  std::function<void()> work;
  ~AtTheEnd() {
    if (work) work();
  }
};
AtTheEnd at_the_end;
thread_local AtTheEnd at_thread_end;

const char* const kWays[] = {"return",
                             "exit",
                             "quick_exit",
                             "_exit",
                             "no finalize",
                             "finalize, no reset",
                             "reset, no finalize",
                             "finalize twice",
                             "atexit before use",
                             "atexit after use",
                             "static destructor",
                             "static destructor first use",
                             "thread destructor",
                             "live contexts",
                             "destroyed context bound",
                             "other thread bound",
                             "detached thread",
                             "fork",
                             "fork and use",
                             "fork in a thread",
                             "fork twice",
                             "callback"};

void run(const std::string& way) {
  if (way == "atexit before use") std::atexit(use_late);
  if (way == "static destructor first use") {
    at_the_end.work = use_late;  // the library has not been used yet
    return;
  }
  use_much();
  if (way == "exit") std::exit(0);
  if (way == "quick_exit") std::quick_exit(0);
  if (way == "_exit") std::_Exit(0);
  if (way == "no finalize" && aclInit(nullptr) != ACL_SUCCESS) std::_Exit(35);
  if (way == "finalize, no reset" && (aclInit(nullptr) != ACL_SUCCESS || aclFinalize() != ACL_SUCCESS))
    std::_Exit(36);
  if (way == "reset, no finalize" &&
      (aclInit(nullptr) != ACL_SUCCESS || aclrtResetDevice(0) != ACL_SUCCESS)) {
    std::_Exit(37);
  }
  if (way == "finalize twice") {
    (void)aclInit(nullptr);
    (void)aclFinalize();
    (void)aclFinalize();
    (void)aclrtResetDeviceForce(0);
    (void)aclrtResetDeviceForce(0);
  }
  if (way == "atexit after use") std::atexit(use_late);
  if (way == "static destructor") at_the_end.work = use_late;
  if (way == "thread destructor") {
    std::thread{[] {
      at_thread_end.work = use_late;
      if (aclrtSetDevice(1) != ACL_SUCCESS) std::_Exit(38);
      allocate();
    }}.join();
  }
  if (way == "live contexts" || way == "destroyed context bound") {
    aclrtContext context = nullptr;
    for (int device = 0; device < 3; ++device) {
      if (aclrtCreateContext(&context, device) != ACL_SUCCESS) std::_Exit(39);
      allocate();
    }
    if (way == "destroyed context bound" && aclrtDestroyContext(context) != ACL_SUCCESS) std::_Exit(40);
  }
  if (way == "other thread bound") {
    std::thread{[] {
      (void)aclrtSetDevice(0);
      (void)aclrtSetDevice(1);
      allocate();
    }}.join();
  }
  if (way == "detached thread") {
    static std::atomic<int> rounds{0};
    std::thread{[] {
      (void)aclrtSetDevice(0);
      for (;; ++rounds) {
        void* block = nullptr;
        if (aclrtMalloc(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS) (void)aclrtFree(block);
      }
    }}.detach();
    if (!eventually([] { return rounds > 1000; })) std::_Exit(42);
  }
  const auto fork_and = [](const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      std::exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::_Exit(41);
  };
  if (way == "fork") fork_and([] {});
  if (way == "fork and use") fork_and([] { use_much(), use_late(); });
  if (way == "fork in a thread") std::thread{[&] { fork_and(use_much); }}.join();
  if (way == "fork twice") fork_and([&] { use_much(), fork_and(use_much); });
  if (way == "callback") {
    (void)aclInit(nullptr);
    (void)aclFinalizeCallbackRegister(
        ACL_REG_TYPE_OTHER, [](void*) -> aclError { return aclrtSetDevice(0), aclrtResetDevice(0); },
        nullptr);
    std::atexit([] { (void)aclFinalize(); });
  }
}

TEST(ExitWays, C21_NoneHangs_NoneCrashes) {
  if (!scenario().empty()) {
    run(scenario());
    return;
  }
  for (const char* way : kWays) {
    // A program that ends with threads running, or forked in one, loses memory: that is not the question.
    const Ending ending = run_this_test_as(way, {{"ASAN_OPTIONS", "detect_leaks=0"}}, 60);
    EXPECT_TRUE(ending.clean()) << way << ": " << ending;
  }
}

TEST(ExitWays, C21_QuietOnes_PrintNoErrors) {
  if (!scenario().empty()) {
    if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) std::_Exit(42);
    if (aclrtFree(allocate()) != ACL_SUCCESS) std::_Exit(43);
    if (scenario() == "exit") std::exit(0);
    return;
  }
  for (const char* way : {"exit", "return"}) {
    const Ending ending = run_this_test_as(way, {}, 60);
    EXPECT_TRUE(ending.clean()) << way << ": " << ending;
    EXPECT_EQ(ending.err, "") << way;
  }
}

TEST(ExitWays, C21_M411_AnUncleanEnd_LeavesNothingForTheNextProcess) {
  if (!scenario().empty()) {
    if (aclrtSetDevice(0) != ACL_SUCCESS) std::_Exit(44);
    std::size_t free = 0, total = 0;
    if (aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) != ACL_SUCCESS) std::_Exit(45);
    if (free != total) std::_Exit(46);
    allocate();
    if (scenario() == "abort") std::_Exit(0);
    std::exit(0);
  }
  for (const char* way : {"abort", "exit", "abort", "exit"}) {
    const Ending ending = run_this_test_as(way, {{"BELAY_LEAKS", "off"}}, 60);
    EXPECT_TRUE(ending.clean()) << way << ": " << ending;
  }
}

}  // namespace exit_ways_test
