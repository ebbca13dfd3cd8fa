// Programs that end with streams, callbacks and waits pending: none hangs, none crashes.
//
// As in exit_ways_test: each way is a new start of this program.
#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/events.h"
#include "support/sanitizer.h"
#include "support/settings.h"
#include "support/slices.h"
#include "support/streams.h"
#include "support/this_program.h"

namespace stream_exit_test {

using namespace belay_test;

void must(aclError answer, int line) {
  if (answer != ACL_SUCCESS) {
    std::fprintf(stderr, "line %d: %d\n", line, answer);
    std::_Exit(50);
  }
}
#define CHECKED(call) must(call, __LINE__)

std::atomic<bool> entered{false};
void for_ever(void*) {
  entered = true;
  for (;;) ::pause();
}
void short_while(void*) { let_time_pass(5ms); }
void leave(void*) { std::exit(0); }
void nothing(void*) {}

aclrtStream stream = nullptr;
void *block = nullptr, *pinned = nullptr;

void start() {
  CHECKED(aclrtSetDevice(0));
  CHECKED(::aclrtCreateStream(&stream));
  CHECKED(aclrtMalloc(&block, 64 * kMB, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECKED(::aclrtMallocHost(&pinned, kMB));
}
void copies(int count) {
  for (int i = 0; i < count; ++i) {
    CHECKED(::aclrtMemsetAsync(block, 64 * kMB, i, 64 * kMB, stream));
    CHECKED(::aclrtMemcpyAsync(pinned, kMB, block, kMB, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
}
aclrtNotify new_notify() {
  aclrtNotify notify = nullptr;
  CHECKED(aclrtCreateNotify(&notify, 0));
  return notify;
}
void wait_until_entered() {
  EXPECT_TRUE(eventually([] { return entered.load(); }));
}

// What a destructor might do with streams; whatever is answered, it comes back.
void use_late() {
  (void)aclrtSetDevice(0);
  aclrtStream late = nullptr;
  void* memory = nullptr;
  if (::aclrtCreateStream(&late) == ACL_SUCCESS) {
    if (aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) {
      (void)::aclrtMemsetAsync(memory, 4096, 1, 4096, late);
      (void)aclrtLaunchHostFunc(late, short_while, nullptr);
      (void)::aclrtMemsetAsync(memory, 4096, 2, 4096, late);
      (void)::aclrtSynchronizeStream(late);
      (void)aclrtFree(memory);
    }
    (void)aclrtDestroyStream(late);
  }
  if (stream != nullptr) (void)aclrtSynchronizeStreamWithTimeout(stream, 200);
  (void)aclrtDestroyStreamForce(stream);
  (void)::aclrtSynchronizeDevice();
  (void)aclrtResetDevice(0);
  (void)aclFinalize();
}

struct AtTheEnd {
  std::function<void()> work;
  ~AtTheEnd() {
    if (work) work();
  }
};
AtTheEnd at_the_end;

void fork_and(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::_Exit(51);
}
// In the child of a fork: nothing of the parent is there, and all works afresh.
void use_in_child() {
  if (::aclrtSynchronizeStream(nullptr) != kNoContext) std::_Exit(52);
  CHECKED(aclrtSetDevice(0));
  if (::aclrtSynchronizeStream(stream) != kStale) std::_Exit(53);
  start();
  copies(1);
  CHECKED(aclrtLaunchHostFunc(stream, short_while, nullptr));
  CHECKED(::aclrtSynchronizeStream(stream));
  CHECKED(aclrtDestroyStream(stream));
}

struct Way {
  const char* name;
  std::function<void()> run;
};

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {"idle streams", [] { start(); }},
      {"copies queued", [] { start(), copies(50); }},
      {"copies queued, exit", [] { start(), copies(50), std::exit(0); }},
      {"copies queued, quick_exit", [] { start(), copies(50), std::quick_exit(0); }},
      {"copies queued, _exit", [] { start(), copies(50), std::_Exit(0); }},
      {"functions queued",
       [] {
         start();
         for (int i = slice(200, 1000); i > 0; --i)
           CHECKED(aclrtLaunchHostFunc(stream, short_while, nullptr));
       }},
      {"a function that never returns",
       [] {
         start();
         CHECKED(aclrtLaunchHostFunc(stream, for_ever, nullptr));
         copies(3);
         wait_until_entered();
       }},
      {"finalize with a function that never returns",
       [] {
         CHECKED(aclInit(nullptr));
         start();
         CHECKED(aclrtLaunchHostFunc(stream, for_ever, nullptr));
         wait_until_entered();
         CHECKED(aclFinalize());
       }},
      {"a function that exits",
       [] {
         start();
         CHECKED(aclrtLaunchHostFunc(stream, leave, nullptr));
         copies(3);
         for (;;) ::pause();
       }},
      {"a function that exits while somebody waits for it",
       [] {
         start();
         CHECKED(aclrtLaunchHostFunc(stream, leave, nullptr));
         copies(3);
         (void)::aclrtSynchronizeStream(stream);
         for (;;) ::pause();
       }},
      {"callbacks that nobody fetches",
       [] {
         start();
         CHECKED(aclrtSubscribeReport(static_cast<std::uint64_t>(pthread_self()), stream));
         for (int i = 0; i < 10; ++i)
           CHECKED(aclrtLaunchCallback(nothing, nullptr, ACL_CALLBACK_BLOCK, stream));
         copies(1);
       }},
      {"a thread that fetches callbacks for ever",
       [] {
         start();
         std::thread fetching([] {
           entered = true;
           for (;;) (void)aclrtProcessReport(-1);
         });
         CHECKED(aclrtSubscribeReport(static_cast<std::uint64_t>(fetching.native_handle()), stream));
         for (int i = 0; i < 10; ++i)
           CHECKED(aclrtLaunchCallback(short_while, nullptr, ACL_CALLBACK_NO_BLOCK, stream));
         wait_until_entered();
         fetching.detach();
       }},
      {"a callback that never returns",
       [] {
         start();
         std::thread fetching([] {
           for (;;) (void)aclrtProcessReport(-1);
         });
         CHECKED(aclrtSubscribeReport(static_cast<std::uint64_t>(fetching.native_handle()), stream));
         CHECKED(aclrtLaunchCallback(for_ever, nullptr, ACL_CALLBACK_BLOCK, stream));
         wait_until_entered();
         fetching.detach();
       }},
      {"streams stuck in waits",
       [] {
         start();
         CHECKED(aclrtWaitAndResetNotify(new_notify(), stream, 0));
         copies(3);
         aclrtEvent event = nullptr;
         CHECKED(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
         CHECKED(::aclrtStreamWaitEvent(nullptr, event));
         CHECKED(aclrtLaunchHostFunc(nullptr, short_while, nullptr));
         aclrtStream another = nullptr;
         CHECKED(::aclrtCreateStream(&another));
         CHECKED(aclrtMemset(block, 8, 0, 8));
         CHECKED(aclrtValueWait(block, 1, ACL_STREAM_WAIT_VALUE_EQ, another));
       }},
      {"threads that wait for a stuck stream",
       [] {
         start();
         CHECKED(aclrtWaitAndResetNotify(new_notify(), stream, 0));
         for (int i = 0; i < 4; ++i) {
           std::thread([i] {
             (void)aclrtSetDevice(0);
             entered = true;
             if (i % 2 == 0) (void)::aclrtSynchronizeStream(stream);
             (void)::aclrtSynchronizeDevice();
           }).detach();
         }
         wait_until_entered();
         let_time_pass(20ms);  // more of them may be inside by then
       }},
      {"a thread that goes on queuing",
       [] {
         start();
         std::thread([] {
           (void)aclrtSetDevice(0);
           for (;;) {
             (void)::aclrtMemsetAsync(block, 64, 1, 64, stream);
             entered = true;
           }
         }).detach();
         wait_until_entered();
         let_time_pass(20ms);  // more of them may be inside by then
       }},
      {"streams of a destroyed context",
       [] {
         aclrtContext context = nullptr;
         CHECKED(aclrtCreateContext(&context, 0));
         start();
         copies(3);
         aclrtContext mine = nullptr;
         CHECKED(aclrtCreateContext(&mine, 0));
         aclrtStream other = nullptr;
         CHECKED(::aclrtCreateStream(&other));
         CHECKED(aclrtWaitAndResetNotify(new_notify(), other, 0));
         CHECKED(aclrtDestroyContext(mine));
         (void)::aclrtSynchronizeStream(other);
       }},
      {"many contexts alive",
       [] {
         for (int i = 0; i < 10; ++i) {
           aclrtContext context = nullptr;
           CHECKED(aclrtCreateContext(&context, i % 4));
           aclrtStream one = nullptr;
           CHECKED(::aclrtCreateStream(&one));
           CHECKED(aclrtLaunchHostFunc(one, short_while, nullptr));
           CHECKED(aclrtLaunchHostFunc(nullptr, i == 0 ? for_ever : short_while, nullptr));
         }
       }},
      {"thousands of streams",
       [] {
         start();
         for (int i = 0; i < 1900; ++i) {
           aclrtStream one = nullptr;
           CHECKED(::aclrtCreateStream(&one));
           CHECKED(::aclrtMemsetAsync(block, 64, 1, 64, one));
         }
       }},
      {"a failed and stopped context",
       [] {
         start();
         CHECKED(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
         CHECKED(aclrtMemset(block, 64, 0, 64));
         CHECKED(aclrtMemcpyAsyncWithDesc(block, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
         (void)::aclrtMemsetAsync(block, 64, 1, 64, stream);
       }},
      {"atexit before use",
       [] {
         std::atexit(use_late);
         start();
         copies(20);
       }},
      {"atexit after use",
       [] {
         start();
         copies(20);
         std::atexit(use_late);
       }},
      {"atexit, first use", [] { std::atexit(use_late); }},
      {"atexit with a function that never returns",
       [] {
         start();
         CHECKED(aclrtLaunchHostFunc(stream, for_ever, nullptr));
         wait_until_entered();
         std::atexit([] {
           (void)aclrtSetDevice(0);
           (void)aclrtSynchronizeStreamWithTimeout(stream, 100);
           (void)aclrtDestroyStreamForce(stream);
         });
       }},
      {"static destructor",
       [] {
         at_the_end.work = use_late;
         start();
         copies(20);
       }},
      {"fork", [] { start(), copies(20), fork_and([] {}); }},
      {"fork and use", [] { start(), copies(20), fork_and(use_in_child); }},
      {"fork and use, a function running",
       [] {
         start();
         CHECKED(aclrtLaunchHostFunc(stream, for_ever, nullptr));
         wait_until_entered();
         fork_and(use_in_child);
       }},
      {"fork and use, stuck",
       [] {
         start();
         CHECKED(aclrtWaitAndResetNotify(new_notify(), stream, 0));
         fork_and(use_in_child);
       }},
      {"fork and leave late", [] { start(), copies(20), fork_and([] { std::atexit(use_late); }); }},
      {"fork in a function",
       [] {
         start();
         CHECKED(aclrtLaunchHostFunc(
             stream,
             [](void*) {
               const pid_t child = ::fork();
               if (child == 0) std::_Exit(0);
               int status = 0;
               ::waitpid(child, &status, 0);
             },
             nullptr));
         copies(2);
         CHECKED(::aclrtSynchronizeStream(stream));
       }},
      {"fork twice",
       [] {
         start();
         copies(20);
         fork_and([] {
           use_in_child();
           fork_and(use_in_child);
         });
       }},
  };
  return all;
}

void expect_all_end(const Settings& settings) {
  for (const Way& way : ways()) {
    // A sanitizer's own allocator keeps its locks across a fork, and our workers allocate.
    if (belay_test::kUnderASanitizer && std::string_view{way.name}.starts_with("fork")) continue;
    Settings all = {{"ASAN_OPTIONS", "detect_leaks=0"}, {"BELAY_LEAKS", "off"}};
    all.insert(all.end(), settings.begin(), settings.end());
    const Ending ending = run_this_test_as(way.name, all, 60);
    EXPECT_TRUE(ending.clean()) << way.name << ": " << ending;
  }
}
bool was_child() {
  for (const Way& way : ways()) {
    if (scenario() == way.name) {
      way.run();
      return true;
    }
  }
  return false;
}

TEST(StreamExit, C21_NoneHangs_NoneCrashes) {
  if (was_child()) return;
  expect_all_end({});
}

TEST(StreamExit, C21_NorWhenTheProgramDrivesItsWork) {
  if (was_child()) return;
  expect_all_end({{"BELAY_SCHEDULE", "lazy"}});
}

TEST(StreamExit, C21_NorInARandomOrder) {
  if (was_child()) return;
  expect_all_end({{"BELAY_SCHEDULE", "seed:5"}});
}

TEST(StreamExit, C21_R45_ATidyEndIsQuiet) {
  if (!scenario().empty()) {
    CHECKED(aclInit(nullptr));
    start();
    copies(2);
    if (scenario() == "waited") CHECKED(::aclrtSynchronizeStream(stream));
    CHECKED(aclrtDestroyStream(stream));
    CHECKED(aclrtFree(block));
    CHECKED(aclrtFreeHost(pinned));
    CHECKED(aclrtResetDevice(0));
    CHECKED(aclFinalize());
    return;
  }
  for (const char* way : {"waited", "destroyed"}) {
    const Ending ending = run_this_test_as(way, {}, 60);
    EXPECT_TRUE(ending.clean()) << way << ": " << ending;
    EXPECT_EQ(ending.err, "") << way;
  }
}

}  // namespace stream_exit_test
