// However a process ends, and wherever it stands when it does, its memory is back at the next call of any
// other process, and the books of the machine are right.
#include <dlfcn.h>
#include <sys/syscall.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "support/members.h"
#include "support/sanitizer.h"
#include "support/scratch.h"
#include "support/slices.h"
#include "support/this_program.h"

namespace machine_crash_test {

using namespace belay_test;

constexpr std::uint32_t kNormal = ACL_MEM_MALLOC_NORMAL_ONLY, kHuge = ACL_MEM_MALLOC_HUGE_ONLY;

class MachineCrash : public AsRootAndUser {};
INSTANTIATE_TEST_SUITE_P(Pass, MachineCrash, ::testing::Values(false, true), name_of_pass);

// --- ways to end ----------------------------------------------------------------------------------------

struct Ending {
  const char* name;
  std::function<void(const Member&)> happens;
};
const Ending kEndings[] = {
    {"exit", [](const Member& member) { member.end(Way::exit); }},
    {"_exit", [](const Member& member) { member.end(Way::quick); }},
    {"abort", [](const Member& member) { member.end(Way::abort); }},
    {"a fault", [](const Member& member) { member.end(Way::segv); }},
    {"SIGKILL", [](const Member& member) { member.die(SIGKILL); }},
    {"SIGTERM", [](const Member& member) { member.die(SIGTERM); }},
    {"SIGINT", [](const Member& member) { member.die(SIGINT); }},
    {"SIGKILL while stopped",
     [](const Member& member) {
       member.stop();
       member.die(SIGKILL);
     }},
};

// The dead process is still a zombie when the others look (D-66: there is no delay).
TEST_P(MachineCrash, D66_D67_WhateverWayAProcessEnds_ItsMemoryIsBackAtTheNextCall) {
  const TestMachine machine;
  const MemberPtr witness = machine.join();
  const std::uint64_t kept = witness->allocate(4 * kMB);
  ASSERT_EQ(witness->write(kept, kMB, 1), 0);
  for (const Ending& ending : kEndings) {
    SCOPED_TRACE(ending.name);
    const MemberPtr victim = machine.join();
    const std::uint64_t block = victim->allocate(20 * kMB, kNormal);
    ASSERT_NE(block, 0U);
    ASSERT_NE(victim->allocate(20 * kMB, kHuge), 0U);
    ASSERT_EQ(victim->write(block, kMB, 2), 0);
    ASSERT_EQ(victim->set_device(1), 0);
    ASSERT_NE(victim->allocate(7 * kMB, kNormal), 0U);
    EXPECT_EQ(witness->free_now(), 20 * kMB);
    ending.happens(*victim);
    EXPECT_EQ(witness->free_now(), 60 * kMB);
    ASSERT_EQ(witness->set_device(1), 0);
    EXPECT_EQ(witness->free_now(), 64 * kMB);
    ASSERT_EQ(witness->set_device(0), 0);
    EXPECT_TRUE(witness->verify(kept, kMB, 1));
  }
}

// Without asking first: the allocation itself finds the memory of the dead.
TEST_P(MachineCrash, D66_TheNextCallMayBeAnAllocation) {
  const TestMachine machine;
  const MemberPtr witness = machine.join();
  for (const std::uint32_t policy : {kNormal, kHuge, std::uint32_t{ACL_MEM_MALLOC_HUGE_FIRST}}) {
    const MemberPtr victim = machine.join();
    ASSERT_NE(victim->allocate(64 * kMB, policy), 0U);
    EXPECT_EQ(witness->allocate(4096), 0U);
    victim->die();
    const std::uint64_t all = witness->allocate(64 * kMB, policy);
    EXPECT_NE(all, 0U);
    EXPECT_EQ(witness->free(all), 0);
  }
}

TEST_P(MachineCrash, D66_AProcessThatComesAfterTheDeath_FindsTheMemoryFree) {
  const TestMachine machine;
  const MemberPtr witness = machine.join();
  const MemberPtr victim = machine.join();
  ASSERT_NE(victim->allocate(64 * kMB), 0U);
  victim->die();
  const MemberPtr next = machine.join();
  EXPECT_NE(next->allocate(64 * kMB), 0U);
  EXPECT_EQ(witness->free_now(), 0U);
}

// What the dead had freed, but still held as credit, is for all as well.
TEST_P(MachineCrash, D66_CreditOfTheDeadIsBack) {
  const TestMachine machine;
  const MemberPtr witness = machine.join();
  const MemberPtr victim = machine.join();
  const std::uint64_t block = victim->allocate(50 * kMB);
  ASSERT_EQ(victim->free(block), 0);
  ASSERT_NE(victim->allocate(10 * kMB), 0U);
  victim->die();
  EXPECT_NE(witness->allocate(64 * kMB), 0U);
}

TEST_P(MachineCrash, D66_D67_TheLastOneDies_AndTheNextMachineIsEmpty) {
  const TestMachine machine;
  for (int i = 0; i < 5; ++i) {
    const MemberPtr one = machine.join(), two = machine.join();
    EXPECT_EQ(one->free_now(), 64 * kMB);
    ASSERT_NE(one->allocate(40 * kMB), 0U);
    ASSERT_NE(two->allocate(24 * kMB), 0U);
    one->die();
    two->die();
  }
  EXPECT_EQ(machine.join()->free_now(), 64 * kMB);
}

// Threads that allocate and free as fast as they can, until the process is killed.
TEST_P(MachineCrash, D66_KilledWhileManyThreadsAllocate) {
  const TestMachine machine;
  const MemberPtr witness = machine.join();
  ASSERT_NE(witness->allocate(4 * kMB), 0U);
  const Own busy = [](const Order&) {
    for (int i = 0; i < 4; ++i) {
      std::thread{[i] {
        (void)aclrtSetDevice(0);
        for (std::uint64_t turn = static_cast<std::uint64_t>(i);; ++turn) {
          void* block = nullptr;
          const std::size_t size = (turn % 7 + 1) * 2 * kMB;
          if (::aclrtMallocAlign32(&block, size, policy_of(turn % 2 == 0 ? kNormal : kHuge)) == 0)
            (void)aclrtFree(block);
        }
      }}.detach();
    }
    Answer answer;
    answer.code = 0;
    return answer;
  };
  const int rounds = slice(30, 600, 6);
  for (int round = 0; round < rounds; ++round) {
    const MemberPtr victim = machine.join(busy);
    ASSERT_EQ(victim->ask({Do::own}).code, 0);
    for (int i = 0; i < round % 5; ++i) EXPECT_LE(witness->free_now(), 60 * kMB);
    victim->die();
    ASSERT_EQ(witness->free_now(), 60 * kMB) << "round " << round;
    const std::uint64_t all = witness->allocate(60 * kMB);
    ASSERT_NE(all, 0U) << "round " << round;
    ASSERT_EQ(witness->free(all), 0);
  }
}

// --- fork -----------------------------------------------------------------------------------------------

// A child that answers orders through a second socket pair, made before the fork.
TEST_P(MachineCrash, D72_AForkedChildIsANewProcessOnTheMachine_AndItsEndIsItsOwn) {
  const TestMachine machine;
  const MemberPtr witness = machine.join();
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const Own fork_a_child = [&](const Order& order) {
    Answer answer;
    static pid_t child = -1;
    if (order.small == 0) {
      child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, 0);
        serve(ends[1]);
      }
      answer.code = child > 0 ? 0 : -1;
    } else {
      ::kill(child, SIGKILL);
      siginfo_t about{};
      answer.code = ::waitid(P_PID, static_cast<id_t>(child), &about, WEXITED | WNOWAIT);
    }
    return answer;
  };
  const auto ask_child = [&](const Order& order) {
    Answer answer;
    EXPECT_EQ(::send(ends[0], &order, sizeof order, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof order));
    pollfd ready{ends[0], POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, kHangSeconds * 1000), 1);
    EXPECT_EQ(::recv(ends[0], &answer, sizeof answer, MSG_WAITALL), static_cast<ssize_t>(sizeof answer));
    return answer;
  };
  const MemberPtr parent = machine.join(fork_a_child);
  const std::uint64_t block = parent->allocate(10 * kMB);
  ASSERT_EQ(parent->write(block, kMB, 5), 0);
  ASSERT_EQ(parent->ask({Do::own, 0}).code, 0);

  // Nothing of the parent's: no context, no block, and not a second charge either.
  EXPECT_EQ(ask_child({Do::info, ACL_HBM_MEM}).code, kNoContext);
  EXPECT_EQ(witness->free_now(), 54 * kMB);
  EXPECT_EQ(ask_child({Do::set_device, 0}).code, 0);
  EXPECT_EQ(ask_child({Do::free, 0, block}).code, kBadValue);
  EXPECT_EQ(ask_child({Do::info, ACL_HBM_MEM}).first, 54 * kMB);
  EXPECT_EQ(ask_child({Do::allocate, kNormal, 0, 4 * kMB}).code, 0);
  EXPECT_EQ(witness->free_now(), 50 * kMB);
  EXPECT_EQ(parent->free_now(), 50 * kMB);

  // The child is killed: the parent's memory is untouched.
  ASSERT_EQ(parent->ask({Do::own, 1}).code, 0);
  EXPECT_EQ(witness->free_now(), 54 * kMB);
  EXPECT_TRUE(parent->verify(block, kMB, 5));
  EXPECT_EQ(parent->free(block), 0);
  EXPECT_EQ(witness->free_now(), 64 * kMB);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(MachineCrash, D72_TheParentDies_AndItsForkedChildKeepsOnlyItsOwnMemory) {
  const TestMachine machine;
  const MemberPtr witness = machine.join();
  for (const bool child_uses_the_library : {false, true}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    const Own fork_a_child = [&](const Order&) {
      Answer answer;
      const pid_t child = ::fork();
      if (child == 0) serve(ends[1]);
      answer.code = child > 0 ? 0 : -1;
      answer.first = static_cast<std::uint64_t>(child);
      return answer;
    };
    const MemberPtr parent = machine.join(fork_a_child);
    ASSERT_NE(parent->allocate(10 * kMB), 0U);
    const Answer forked = parent->ask({Do::own});
    ASSERT_EQ(forked.code, 0);
    ::close(ends[1]);
    const auto ask_child = [&](const Order& order) {
      Answer answer;
      EXPECT_EQ(::send(ends[0], &order, sizeof order, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof order));
      EXPECT_EQ(::recv(ends[0], &answer, sizeof answer, MSG_WAITALL), static_cast<ssize_t>(sizeof answer));
      return answer;
    };
    if (child_uses_the_library) {
      EXPECT_EQ(ask_child({Do::set_device, 0}).code, 0);
      EXPECT_EQ(ask_child({Do::allocate, kNormal, 0, 4 * kMB}).code, 0);
    }
    const std::size_t of_child = child_uses_the_library ? 4 * kMB : 0;
    EXPECT_EQ(witness->free_now(), 54 * kMB - of_child);
    ::kill(parent->process(), SIGKILL);
    siginfo_t about{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(parent->process()), &about, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(witness->free_now(), 64 * kMB - of_child);
    ::close(ends[0]);  // the child ends
    ::kill(static_cast<pid_t>(forked.first), SIGKILL);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{kHangSeconds};
    while (witness->free_now() != 64 * kMB && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    EXPECT_EQ(witness->free_now(), 64 * kMB);
  }
}

// Only the system call: the library does not hear of it (the C library's fork handlers do not run).
TEST_P(MachineCrash, D66_AChildThatTheLibraryDoesNotKnowOf_DoesNotKeepItsParentsMemory) {
  const TestMachine machine;
  const MemberPtr witness = machine.join();
  const Own clone_a_child = [](const Order&) {
    Answer answer;
    const long child = ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
      for (;;) ::syscall(SYS_pause);
    }
    answer.code = child > 0 ? 0 : -1;
    answer.first = static_cast<std::uint64_t>(child);
    return answer;
  };
  const MemberPtr parent = machine.join(clone_a_child);
  ASSERT_NE(parent->allocate(10 * kMB), 0U);
  const Answer cloned = parent->ask({Do::own});
  ASSERT_EQ(cloned.code, 0);
  ::kill(parent->process(), SIGKILL);
  siginfo_t about{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(parent->process()), &about, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(witness->free_now(), 64 * kMB);
  ::kill(static_cast<pid_t>(cloned.first), SIGKILL);
}

// --- exec -----------------------------------------------------------------------------------------------

// The library, where every user may read it: those who clone into a private directory also test as another
// user.
class OpenLibrary {
 public:
  OpenLibrary() {
    Dl_info about{};
    EXPECT_NE(::dladdr(reinterpret_cast<void*>(&aclrtResetDevice), &about), 0);
    std::filesystem::permissions(place_.path(), std::filesystem::perms{0755});
    std::filesystem::copy_file(about.dli_fname, place_.path() / "libascendcl.so");
  }
  void use() const { ::setenv("LD_LIBRARY_PATH", place_.path().c_str(), 1); }

 private:
  Scratch place_;
};

// Becomes another program. With a socket it is this test once more, and serves orders there.
Answer become(const char* program, int socket) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string filter = std::string{"--gtest_filter="} + test->test_suite_name() + "." + test->name();
  std::string first = program, second = socket < 0 ? "1000" : filter;
  if (socket >= 0) {
    ::setenv("TEST_SCENARIO", std::to_string(socket).c_str(), 1);
    ::unsetenv("GTEST_OUTPUT");
    ::fcntl(socket, F_SETFD, 0);
  }
  std::array<char*, 3> arguments{first.data(), second.data(), nullptr};
  ::execv(program, arguments.data());
  ::_exit(127);
}
// In the program that the process has become: the same test, in the same pass.
void serve_if_asked() {
  if (!scenario().empty()) serve(std::atoi(scenario().c_str()));
}

TEST_P(MachineCrash, D66_AProcessThatBecomesAnotherProgram_HasGivenItsMemoryBack) {
  const TestMachine machine;
  const MemberPtr witness = machine.join();
  const MemberPtr victim = machine.join([](const Order&) { return become("/bin/sleep", -1); });
  ASSERT_NE(victim->allocate(30 * kMB), 0U);
  EXPECT_EQ(witness->free_now(), 34 * kMB);
  victim->send({Do::own});
  ASSERT_TRUE(victim->gone());
  EXPECT_EQ(witness->free_now(), 64 * kMB);
  EXPECT_NE(witness->allocate(64 * kMB), 0U);
  EXPECT_EQ(::kill(victim->process(), 0), 0) << "it lives";
}

// The same process number, on the machine again.
TEST_P(MachineCrash, D66_AProcessThatBecomesAnotherProgramOnTheSameMachine_BeginsWithNothing) {
  serve_if_asked();
  const OpenLibrary library;
  const TestMachine machine;
  for (const bool others : {true, false}) {
    const MemberPtr witness = others ? machine.join() : nullptr;
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    const MemberPtr victim = machine.join([&](const Order&) {
      library.use();
      return become("/proc/self/exe", ends[1]);
    });
    ASSERT_NE(victim->allocate(30 * kMB), 0U);
    victim->send({Do::own});
    ASSERT_TRUE(victim->gone());
    ::close(ends[1]);
    const auto ask = [&](const Order& order) {
      Answer answer;
      EXPECT_EQ(::send(ends[0], &order, sizeof order, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof order));
      pollfd ready{ends[0], POLLIN, 0};
      EXPECT_EQ(::poll(&ready, 1, kHangSeconds * 1000), 1);
      EXPECT_EQ(::recv(ends[0], &answer, sizeof answer, MSG_WAITALL), static_cast<ssize_t>(sizeof answer));
      return answer;
    };
    if (others) EXPECT_EQ(witness->free_now(), 64 * kMB);
    EXPECT_EQ(ask({Do::set_device, 0}).code, 0);
    EXPECT_EQ(ask({Do::info, ACL_HBM_MEM}).first, 64 * kMB);
    EXPECT_EQ(ask({Do::allocate, kNormal, 0, 20 * kMB}).code, 0);
    EXPECT_EQ(ask({Do::info, ACL_HBM_MEM}).first, 44 * kMB);
    if (others) EXPECT_EQ(witness->free_now(), 44 * kMB);
    EXPECT_EQ(machine.join()->free_now(), 44 * kMB) << "the machine is found through the new program";
    ::kill(victim->process(), SIGKILL);
    siginfo_t about{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(victim->process()), &about, WEXITED | WNOWAIT), 0);
    if (others) EXPECT_EQ(witness->free_now(), 64 * kMB);
    EXPECT_EQ(machine.join()->free_now(), 64 * kMB);
    ::close(ends[0]);
  }
}

// It was alone on the first machine. That one is nobody's now, and anybody may come.
TEST_P(MachineCrash, D66_AProcessThatBecomesAnotherProgramOnAnotherMachine_HasLeftTheFirst) {
  serve_if_asked();
  const OpenLibrary library;
  const TestMachine machine;
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const MemberPtr mover = machine.join([&](const Order&) {
    ::setenv("BELAY_MACHINE", "another", 1);
    library.use();
    return become("/proc/self/exe", ends[1]);
  });
  ASSERT_NE(mover->allocate(30 * kMB), 0U);
  mover->send({Do::own});
  ASSERT_TRUE(mover->gone());
  ::close(ends[1]);
  const Order set{Do::set_device, 0};
  Answer answer;
  ASSERT_EQ(::send(ends[0], &set, sizeof set, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof set));
  ASSERT_EQ(::recv(ends[0], &answer, sizeof answer, MSG_WAITALL), static_cast<ssize_t>(sizeof answer));
  ASSERT_EQ(answer.code, 0);
  const MemberPtr next = machine.join();
  EXPECT_EQ(next->free_now(), 64 * kMB);
  ::close(ends[0]);
}

// --- stopped processes ----------------------------------------------------------------------------------

TEST_P(MachineCrash, D52_AStoppedProcessKeepsItsMemory_AndNobodyWaitsForIt) {
  const TestMachine machine;
  MemberPtr sleeper = machine.join();
  const std::uint64_t kept = sleeper->allocate(10 * kMB);
  ASSERT_EQ(sleeper->write(kept, kMB, 9), 0);
  const std::uint64_t credit = sleeper->allocate(30 * kMB, kHuge);
  ASSERT_EQ(sleeper->free(credit), 0);
  sleeper->stop();

  const MemberPtr one = machine.join(), two = machine.join();
  EXPECT_EQ(one->free_now(), 54 * kMB);
  EXPECT_NE(one->allocate(24 * kMB), 0U);
  EXPECT_EQ(two->ask({Do::crowd, kNormal, 0, kMB}).first, 30U);
  EXPECT_EQ(one->allocate(4096), 0U);
  sleeper->go_on();
  EXPECT_EQ(sleeper->free_now(), 0U);
  EXPECT_TRUE(sleeper->verify(kept, kMB, 9));
  EXPECT_EQ(sleeper->allocate(4096, kHuge), 0U) << "its credit was given to others";
  EXPECT_EQ(sleeper->free(kept), 0);
  EXPECT_EQ(two->free_now(), 10 * kMB);
}

TEST_P(MachineCrash, D52_AFounderThatIsStopped_DoesNotKeepOthersOut) {
  const TestMachine machine;
  const MemberPtr founder = machine.join();
  ASSERT_NE(founder->allocate(kMB), 0U);
  founder->stop();
  const MemberPtr next = machine.join();
  EXPECT_EQ(next->free_now(), 63 * kMB);
  founder->go_on();
  EXPECT_NE(next->allocate(kMB), 0U);
  EXPECT_EQ(founder->free_now(), 62 * kMB);
}

// --- programs with odd habits ---------------------------------------------------------------------------

Answer close_everything(const Order& order) {
  // The socket to the test stays; it is the highest.
  ::syscall(SYS_close_range, 3U, 399U, 0U);
  if (order.small == 1) {
    for (int i = 0; i < 64; ++i) (void)::open("/dev/zero", O_RDWR);  // other files under the same numbers
  }
  Answer answer;
  answer.code = 0;
  return answer;
}

TEST_P(MachineCrash, D52_AProgramThatClosesAllItsFiles_KeepsItsMemory) {
  for (const std::uint32_t reopens : {0U, 1U}) {
    const TestMachine machine;
    const MemberPtr witness = machine.join(), closer = machine.join(close_everything);
    const std::uint64_t early = closer->allocate(10 * kMB);
    ASSERT_EQ(closer->ask({Do::own, reopens}).code, 0);
    EXPECT_EQ(witness->free_now(), 54 * kMB);
    EXPECT_EQ(closer->free_now(), 54 * kMB);
    EXPECT_NE(closer->allocate(4 * kMB), 0U);
    EXPECT_EQ(witness->free_now(), 50 * kMB);
    EXPECT_EQ(witness->allocate(51 * kMB), 0U);
    const MemberPtr next = machine.join();
    EXPECT_EQ(next->free_now(), 50 * kMB);
    EXPECT_EQ(closer->free(early), 0);
    EXPECT_EQ(next->free_now(), 60 * kMB);
    closer->die();
    EXPECT_EQ(witness->free_now(), 64 * kMB);
    EXPECT_NE(next->allocate(64 * kMB), 0U);
  }
}

// It still notices the death of others.
TEST_P(MachineCrash, D66_AProgramThatClosedAllItsFiles_SeesTheMemoryOfTheDead) {
  const TestMachine machine;
  const MemberPtr closer = machine.join(close_everything), victim = machine.join();
  ASSERT_EQ(closer->ask({Do::own, 0}).code, 0);
  ASSERT_NE(victim->allocate(40 * kMB), 0U);
  EXPECT_EQ(closer->free_now(), 24 * kMB);
  victim->die();
  EXPECT_EQ(closer->free_now(), 64 * kMB);
  EXPECT_NE(closer->allocate(64 * kMB), 0U);
}

TEST_P(MachineCrash, D52_NobodyCanFollowTheOnlyProcessIfItClosedItsFiles_AndIsToldSo) {
  const TestMachine machine;
  const MemberPtr closer = machine.join(close_everything);
  ASSERT_NE(closer->allocate(kMB), 0U);
  ASSERT_EQ(closer->ask({Do::own, 0}).code, 0);
  const MemberPtr next = machine.come();
  EXPECT_EQ(next->set_device(0), 507033);
  const std::string message = next->message();
  EXPECT_NE(message.find(std::to_string(closer->process())), std::string::npos) << message;
  EXPECT_NE(message.find("closed"), std::string::npos) << message;
  closer->die();
  EXPECT_EQ(machine.join()->free_now(), 64 * kMB);
}

// The process goes on with its other threads; /proc shows a main thread without files and memory.
TEST_P(MachineCrash, D52_AProgramWhoseMainThreadHasEnded_IsStillOnTheMachine) {
  const TestMachine machine;
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Own leave_main = [&](const Order&) -> Answer {
    std::thread{[socket = ends[1]] {
      (void)aclrtSetDevice(0);
      serve(socket);
    }}.detach();
    ::syscall(SYS_exit, 0);  // of this thread only
    ::_exit(1);
  };
  const MemberPtr headless = machine.join(leave_main);
  ASSERT_NE(headless->allocate(10 * kMB), 0U);
  headless->send({Do::own});
  const auto ask = [&](const Order& order) {
    Answer answer;
    EXPECT_EQ(::send(ends[0], &order, sizeof order, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof order));
    pollfd ready{ends[0], POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, kHangSeconds * 1000), 1);
    EXPECT_EQ(::recv(ends[0], &answer, sizeof answer, MSG_WAITALL), static_cast<ssize_t>(sizeof answer));
    return answer;
  };
  EXPECT_EQ(ask({Do::info, ACL_HBM_MEM}).first, 54 * kMB);
  const std::string main_thread = "/proc/" + std::to_string(headless->process()) + "/stat";
  while (read_text(main_thread).find(") Z ") == std::string::npos) std::this_thread::yield();
  const MemberPtr next = machine.come();
  if (next->set_device(0) == 0) {
    EXPECT_EQ(next->free_now(), 54 * kMB) << "a second machine of the same name";
  } else {
    EXPECT_NE(next->message().find(std::to_string(headless->process())), std::string::npos);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace machine_crash_test
