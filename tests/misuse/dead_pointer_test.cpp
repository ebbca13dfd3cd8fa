// A call or a queued task follows a pointer to host memory that is dead or wild. The fault is explained, then
// the program dies of it as it would have.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "support/gates.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace dead_pointer_test {

using namespace belay_test;

constexpr std::size_t kPage = 4096;
const Settings kQuietly{{"BELAY_PIN", "best-effort"}};  // whatever may be locked here
const Settings kQuietlyAndNothingKept{{"BELAY_PIN", "best-effort"}, {"BELAY_KEEP", "0"}};

void require(bool holds) {
  if (!holds) std::_Exit(3);
}

void* device_block(std::size_t size = 64 * kPage) {
  void* block = nullptr;
  require(aclrtSetDevice(0) == ACL_SUCCESS);
  require(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  require(aclrtMemset(block, size, 1, size) == ACL_SUCCESS);
  return block;
}

// Says where it is, for the test to read.
char* said(void* at) {
  std::fprintf(stderr, "at %p\n", at);
  return static_cast<char*>(at);
}

#if defined(__x86_64__)
constexpr bool kTellsWrites = true;
#else
constexpr bool kTellsWrites = false;  // the processor is not asked
#endif

// So large that what others map meanwhile (a sanitizer, a thread) comes to lie at its end, not at its start.
constexpr std::size_t kLarge = 1024 * kPage;

char* freed_pinned() {
  void* block = nullptr;
  require(aclrtMallocHost(&block, kLarge) == ACL_SUCCESS && aclrtFreeHost(block) == ACL_SUCCESS);
  return said(block);
}

char* pages(std::size_t count) {
  void* at = ::mmap(nullptr, count * kPage, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  require(at != MAP_FAILED);
  return static_cast<char*>(at);
}

// Protected and not unmapped, so that nobody can map something else there meanwhile.
void take_away(char* at, std::size_t bytes) { require(::mprotect(at, bytes, PROT_NONE) == 0); }

// Never mapped, so that nobody can have mapped something there meanwhile.
char* nowhere() { return said(reinterpret_cast<void*>(kPage)); }

std::string address_in(const Ending& ending) {
  char at[64] = "";
  const std::size_t from = ending.err.find("at 0x");
  EXPECT_NE(from, std::string::npos) << ending;
  if (from != std::string::npos)
    EXPECT_EQ(std::sscanf(ending.err.c_str() + from, "at %63s", at), 1) << ending;
  return at;
}

// A sanitizer ends the program in its own handler, unless the thread is one that it does not know.
void expect_death(const Ending& ending, int signal = SIGSEGV) {
  EXPECT_TRUE(ending.killed_by(signal) || (kUnderASanitizer && !ending.hung && !ending.clean() &&
                                           ending.err.find("DEADLYSIGNAL") != std::string::npos))
      << ending;
}

// Where "@" stands, the address that the program told of.
void expect_words(const Ending& ending, std::initializer_list<const char*> all) {
  const std::string address = address_in(ending);
  for (std::string words : all) {
    for (std::size_t mark; (mark = words.find('@')) != std::string::npos;) words.replace(mark, 1, address);
    EXPECT_NE(ending.err.find(words), std::string::npos) << words << "\n" << ending;
  }
}

bool copied(void* to, const void* from, std::size_t bytes, aclrtMemcpyKind kind) {
  return aclrtMemcpy(to, bytes, from, bytes, kind) == ACL_SUCCESS;
}

TEST(DeadPointer, C26_AFillOfAPinnedBlockThatWasFreed) {
  const Ending ending = run_captured(kQuietly, [] {
    device_block();
    char* block = freed_pinned();
    aclrtMemset(block, 5000, 0, 5000);
  });
  expect_death(ending);
  expect_words(ending,
               {"belay: aclrtMemset was writing 5000 bytes of host memory at @, where nothing is mapped",
                "byte 0 of the pinned block @ (4194304 bytes) of aclrtMallocHost, which aclrtFreeHost has "
                "freed [rule C-26]",
                "free pinned memory after its last use"});
}

TEST(DeadPointer, C26_ACopyOutOfAPinnedBlockThatWasFreed_AndIntoIt) {
  for (const bool out : {true, false}) {
    const Ending ending = run_captured(kQuietly, [out] {
      void* device = device_block();
      char* block = freed_pinned();
      if (out)
        copied(device, block + 100, 1000, ACL_MEMCPY_HOST_TO_DEVICE);
      else
        copied(block + 100, device, 1000, ACL_MEMCPY_DEVICE_TO_HOST);
    });
    expect_death(ending);
    expect_words(ending, {out ? "aclrtMemcpy was reading 1000 bytes of host memory at 0x"
                              : "aclrtMemcpy was writing 1000 bytes of host memory at 0x",
                          "of the pinned block @ (4194304 bytes) of aclrtMallocHost", "[rule C-26]"});
  }
}

TEST(DeadPointer, C26_HostToHostNamesTheEndThatIsDead) {
  for (const bool to : {false, true}) {
    const Ending ending = run_captured(kQuietly, [to] {
      device_block();
      char* block = freed_pinned();
      char other[64] = "";
      copied(to ? block : other, to ? other : block, sizeof other, ACL_MEMCPY_HOST_TO_HOST);
    });
    expect_death(ending);
    expect_words(ending, {to ? "was writing 64 bytes of host memory at @"
                             : "was reading 64 bytes of host memory at @"});
  }
}

TEST(DeadPointer, C26_BlocksOfOtherFunctionsAndTheLastOfSeveralAtOneAddress) {
  const Ending ending = run_captured(kQuietly, [] {
    device_block();
    for (const std::size_t bytes : {kLarge - 1, kLarge, kLarge - 5}) {
      void* block = nullptr;
      require(aclrtMallocHostWithCfg(&block, bytes, nullptr) == ACL_SUCCESS);
      require(aclrtFreeHost(block) == ACL_SUCCESS);
      if (bytes == kLarge - 5) aclrtMemset(said(block), 1, 0, 1);
    }
  });
  expect_death(ending);
  expect_words(ending,
               {"pinned block @ (4194299 bytes) of aclrtMallocHostWithCfg, which aclrtFreeHost has freed"});
}

// Its pages are kept for the next block otherwise, and the program's own code finds them.
TEST(DeadPointer, C26_TheProgramItselfTouchesAFreedPinnedBlock) {
  const Ending ending = run_captured(kQuietlyAndNothingKept, [] {
    device_block();
    volatile char* block = freed_pinned();
    block[77] = 1;
  });
  expect_death(ending);
  expect_words(ending,
               {", byte 77 of the pinned block @ (4194304 bytes) of aclrtMallocHost, which aclrtFreeHost has "
                "freed [rule C-26]"});
  EXPECT_NE(ending.err.find("belay: host code"), std::string::npos) << ending;
}

TEST(DeadPointer, C26_WhatWasFreedIsKnownAfterTheEndOfTheRuntime) {
  const Ending ending = run_captured(kQuietlyAndNothingKept, [] {
    require(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS);
    volatile char* block = freed_pinned();
    require(aclFinalize() == ACL_SUCCESS);
    *block = 1;
  });
  expect_death(ending);
  expect_words(
      ending,
      {"byte 0 of the pinned block @ (4194304 bytes) of aclrtMallocHost, which aclrtFreeHost has freed"});
}

TEST(DeadPointer, M210_ARegistrationThatEnded_AndOneWhoseMemoryIsGone) {
  for (const bool ended : {true, false}) {
    const Ending ending = run_captured(kQuietly, [ended] {
      void* device = device_block();
      char* range = said(pages(2));
      void* alias = nullptr;
      require(aclrtHostRegister(range, 2 * kPage, ACL_HOST_REGISTER_MAPPED, &alias) == ACL_SUCCESS);
      if (ended) require(aclrtHostUnregister(range) == ACL_SUCCESS);
      take_away(range, 2 * kPage);
      copied(device, range, 2 * kPage, ACL_MEMCPY_HOST_TO_DEVICE);
    });
    expect_death(ending);
    expect_words(ending, {"of the registered range @ (8192 bytes) of aclrtHostRegister",
                          ended ? "which aclrtHostUnregister ended and the program unmapped or protected"
                                : "which the program has unmapped or protected without aclrtHostUnregister"});
  }
}

TEST(DeadPointer, ACopyThatIsLongerThanTheMemorySaysWhereItEnds) {
  const Ending ending = run_captured(kQuietly, [] {
    void* device = device_block();
    char* range = said(pages(3));
    void* alias = nullptr;
    take_away(range + 2 * kPage, kPage);
    require(aclrtHostRegister(range, 2 * kPage, ACL_HOST_REGISTER_MAPPED, &alias) == ACL_SUCCESS);
    copied(device, range, 3 * kPage, ACL_MEMCPY_HOST_TO_DEVICE);
  });
  expect_death(ending);
  expect_words(
      ending, {"was reading 12288 bytes of host memory at @, and at 0x", " of them, the program may not read",
               "the registered range @ (8192 bytes) of aclrtHostRegister ends before", "check the size"});
}

TEST(DeadPointer, WildPointersAreToldAsSuch) {
  const Ending ending = run_captured(kQuietly, [] {
    void* device = device_block();
    copied(nowhere(), device, 10, ACL_MEMCPY_DEVICE_TO_HOST);
  });
  expect_death(ending);
  expect_words(ending, {"aclrtMemcpy was writing 10 bytes of host memory at @, where nothing is mapped",
                        "belay did not allocate this memory", "check pointer and size"});
  EXPECT_EQ(ending.err.find("C-26"), std::string::npos) << ending;
}

TEST(DeadPointer, APointerThatIsNoAddress) {
  if (kUnderASanitizer) GTEST_SKIP() << "sanitizers meet it in tables of their own";
  for (const bool out : {true, false}) {
    const Ending ending = run_captured(kQuietly, [out] {
      void* device = device_block();
      void* nowhere = said(reinterpret_cast<void*>(0xDEADBEEFDEADBEEF));
      out ? copied(device, nowhere, 100, ACL_MEMCPY_HOST_TO_DEVICE)
          : copied(nowhere, device, 100, ACL_MEMCPY_DEVICE_TO_HOST);
    });
    expect_death(ending);
    expect_words(ending, {out ? "was reading 100 bytes of host memory at @"
                              : "was writing 100 bytes of host memory at @"});
#if defined(__x86_64__)
    expect_words(ending, {"where there can be no memory"});
#endif
  }
}

TEST(DeadPointer, MemoryThatMayNotBeWritten) {
  const Ending ending = run_captured(kQuietly, [] {
    void* device = device_block();
    char* page = said(pages(1));
    require(::mprotect(page, kPage, PROT_READ) == 0);
    require(copied(device, page, kPage, ACL_MEMCPY_HOST_TO_DEVICE));
    copied(page, device, kPage, ACL_MEMCPY_DEVICE_TO_HOST);
  });
  expect_death(ending);
  expect_words(ending, {"was writing 4096 bytes of host memory at @, where the program may not write"});
}

TEST(DeadPointer, AFileThatBecameShorterIsSIGBUS) {
  const Ending ending = run_captured(kQuietly, [] {
    void* device = device_block();
    const int file = ::memfd_create("short", 0);
    require(file >= 0 && ::ftruncate(file, kPage) == 0);
    void* at = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    require(at != MAP_FAILED && ::ftruncate(file, 0) == 0);
    copied(device, said(at), 10, ACL_MEMCPY_HOST_TO_DEVICE);
  });
  expect_death(ending, SIGBUS);
  expect_words(ending,
               {"was reading 10 bytes of host memory at @, where the file that is mapped has no bytes"});
}

// Rows, fills of words and batches go other ways.
TEST(DeadPointer, C26_EveryWayOfCopyingNamesItsCall) {
  struct Way {
    const char* words;
    void (*use)(void* device, char* dead);
  };
  const Way ways[] = {
      {"aclrtMemcpy2d was reading 64 bytes",
       [](void* device, char* dead) {
         aclrtMemcpy2d(device, 256, dead, 128, 64, 4, ACL_MEMCPY_HOST_TO_DEVICE);
       }},
      {"aclrtMemsetAsync was writing 400 bytes",  // host memory is filled at the call
       [](void*, char* dead) { aclrtMemsetAsync(dead, 400, 7, 400, nullptr); }},
      {"aclrtMemcpyBatch was reading 32 bytes",
       [](void* device, char* dead) {
         int id = 0;
         require(aclrtGetDevice(&id) == ACL_SUCCESS);
         void* to[] = {device};
         void* from[] = {dead};
         std::size_t sizes[] = {32}, indexes[] = {0}, failed = 0;
         aclrtMemcpyBatchAttr attribute{};
         attribute.dstLoc = {static_cast<std::uint32_t>(id), ACL_MEM_LOCATION_TYPE_DEVICE};
         attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
         aclrtMemcpyBatch(to, sizes, from, sizes, 1, &attribute, indexes, 1, &failed);
       }},
      {", submitted by aclrtMemcpyAsync, was reading 128 bytes",
       [](void* device, char* dead) {
         aclrtMemcpyAsync(device, 128, dead, 128, ACL_MEMCPY_HOST_TO_DEVICE, nullptr);
         aclrtSynchronizeStream(nullptr);
       }},
      {"aclrtMemcpyAsync was reading 128 bytes",  // bytes that are taken at the call
       [](void* device, char* dead) {
         aclrtMemcpyAsync(device, 128, dead, 128, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, nullptr);
       }},
  };
  for (const Way& way : ways) {
    const Ending ending = run_captured(kQuietly, [&] {
      void* device = device_block();
      // Threads of streams are there before the block is gone: their stacks could lie in its place.
      require(aclrtMemsetAsync(device, kPage, 1, kPage, nullptr) == ACL_SUCCESS);
      require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
      way.use(device, freed_pinned());
    });
    expect_death(ending);
    expect_words(ending, {way.words, "byte 0 of the pinned block @ (4194304 bytes)"});
  }
}

// By the thread of a stream, and by the program's own while it waits.
TEST(DeadPointer, R171_AQueuedCopyNamesStreamAndTask) {
  for (const std::string schedule : {"eager", "lazy"}) {
    for (const bool out : {true, false}) {
      const Ending ending = run_captured({{"BELAY_PIN", "best-effort"}, {"BELAY_SCHEDULE", schedule}}, [&] {
        void* device = device_block();
        aclrtStream stream = nullptr;
        std::int32_t id = 0;
        require(aclrtCreateStream(&stream) == ACL_SUCCESS);
        require(aclrtStreamGetId(stream, &id) == ACL_SUCCESS);
        char* range = said(pages(2));
        std::fprintf(stderr, "stream %d\n", id);
        void* alias = nullptr;
        require(aclrtHostRegister(range, 2 * kPage, ACL_HOST_REGISTER_MAPPED, &alias) == ACL_SUCCESS);
        WordGate gate;
        gate.hold(stream);
        require((out ? aclrtMemcpyAsync(device, 5000, range, 5000, ACL_MEMCPY_HOST_TO_DEVICE, stream)
                     : aclrtMemcpyAsync(range, 5000, device, 5000, ACL_MEMCPY_DEVICE_TO_HOST, stream)) ==
                ACL_SUCCESS);
        take_away(range, 2 * kPage);
        gate.open();
        while (schedule == "eager") ::pause();
        aclrtSynchronizeStream(stream);
      });
      expect_death(ending);
      int id = 0;
      const std::size_t at = ending.err.find("stream ");
      ASSERT_NE(at, std::string::npos) << ending;
      ASSERT_EQ(std::sscanf(ending.err.c_str() + at, "stream %d", &id), 1) << ending;
      const std::string who = " of stream " + std::to_string(id) + ", submitted by aclrtMemcpyAsync, was " +
                              (out ? "reading" : "writing") + " 5000 bytes of host memory at @";
      expect_words(ending, {"belay: task ", who.c_str(), "without aclrtHostUnregister"});
    }
  }
}

TEST(DeadPointer, M387_AFillOfWordsInARegisteredRangeThatIsGone) {
  const Ending ending = run_captured(kQuietly, [] {
    device_block();
    char* range = said(pages(1));
    void* alias = nullptr;
    require(aclrtHostRegister(range, kPage, ACL_HOST_REGISTER_MAPPED, &alias) == ACL_SUCCESS);
    take_away(range, kPage);
    aclrtMemsetD32(range, kPage, 7, kPage / 4);
  });
  expect_death(ending);
  expect_words(ending,
               {"aclrtMemsetD32 was writing 4096 bytes of host memory at @", "without aclrtHostUnregister"});
}

TEST(DeadPointer, AnArgumentThatLeadsNowhereNamesTheFunction) {
  struct Use {
    const char* function;
    void (*call)(void* dead);
  };
  const Use uses[] = {
      {"aclrtGetDevice", [](void* dead) { aclrtGetDevice(static_cast<int32_t*>(dead)); }},
      {"aclrtGetRunMode", [](void* dead) { aclrtGetRunMode(static_cast<aclrtRunMode*>(dead)); }},
      {"aclrtMalloc",
       [](void* dead) {
         void* block = nullptr;
         for (int i = 0; i < 3; ++i)  // until the fast path has all at hand
           require(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS &&
                   aclrtFree(block) == ACL_SUCCESS);
         aclrtMalloc(static_cast<void**>(dead), 100, ACL_MEM_MALLOC_HUGE_FIRST);
       }},
      {"aclInit", [](void* dead) { aclInit(static_cast<const char*>(dead)); }},
  };
  for (const Use& use : uses) {
    const Ending ending = run_captured(kQuietly, [&] {
      device_block();
      use.call(nowhere());
    });
    expect_death(ending);
    const bool reads = std::string{use.function} == "aclInit" || !kTellsWrites;
    const std::string words =
        std::string{"belay: "} + use.function + (reads ? " read from" : " wrote to") + " host address @";
    expect_words(ending,
                 {words.c_str(), "where nothing is mapped", "check the pointers that were passed to it"});
  }
}

TEST(DeadPointer, ADeviceAddressAsAnArgumentIsDeviceMemory) {
  const Ending ending = run_captured(kQuietly, [] {
    void* device = said(device_block());
    aclrtGetDevice(static_cast<int32_t*>(device));
  });
  expect_death(ending);
  expect_words(
      ending,
      {kTellsWrites ? "belay: aclrtGetDevice wrote to @, which is device memory: byte 0 of the block @"
                    : "belay: aclrtGetDevice read from @, which is device memory: byte 0 of the block @",
       "pass host memory there"});
}

// Between calls, in a callback that a call makes, and in one of a stream.
TEST(DeadPointer, FaultsOfTheProgramsOwnCodeAreNotOurs) {
  static char* dead = nullptr;
  const auto touch = [](void*) { *static_cast<volatile char*>(dead) = 1; };
  void (*const touches[])(void (*)(void*)) = {
      [](void (*use)(void*)) { use(nullptr); },
      [](void (*use)(void*)) {
        std::thread{use, nullptr}.join();
      },
      [](void (*use)(void*)) {
        aclrtStream stream = nullptr;
        require(aclrtCreateStream(&stream) == ACL_SUCCESS);
        require(aclrtLaunchHostFunc(stream, use, nullptr) == ACL_SUCCESS);
        aclrtSynchronizeStream(stream);
      },
      [](void (*)(void*)) {
        require(aclInit(nullptr) == ACL_SUCCESS);
        require(aclFinalizeCallbackRegister(
                    ACL_REG_TYPE_OTHER,
                    [](void*) -> aclError {
                      *static_cast<volatile char*>(dead) = 1;
                      return ACL_SUCCESS;
                    },
                    nullptr) == ACL_SUCCESS);
        aclFinalize();
      },
  };
  for (const char* schedule : {"eager", "lazy"}) {
    for (const auto& each : touches) {
      const Ending ending = run_captured(
          {{"BELAY_PIN", "best-effort"}, {"BELAY_SCHEDULE", schedule}, {"BELAY_LEAKS", "off"}}, [&] {
            void* block = device_block();
            require(aclrtFree(block) == ACL_SUCCESS);
            dead = nowhere();
            each(touch);
          });
      expect_death(ending);
      EXPECT_EQ(ending.err.find("belay: "), std::string::npos) << ending;
    }
  }
}

// Runtimes of languages protect pages and catch what happens there.
TEST(DeadPointer, APageThatTheProgramProtectsWhereABlockWasIsNotOurs) {
  const Ending ending = run_captured({{"BELAY_PIN", "best-effort"}, {"BELAY_LEAKS", "off"}}, [] {
    require(aclrtFree(device_block()) == ACL_SUCCESS);
    char* block = freed_pinned();
    require(::mmap(block, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == block);
    *static_cast<volatile char*>(block) = 1;
  });
  expect_death(ending);
  EXPECT_EQ(ending.err.find("belay: "), std::string::npos) << ending;
}

TEST(DeadPointer, R257_CanBeTurnedOff) {
  const Ending ending =
      run_captured({{"BELAY_PIN", "best-effort"}, {"BELAY_FAULTS", "off"}, {"BELAY_LEAKS", "off"}}, [] {
        require(aclrtFree(device_block()) == ACL_SUCCESS);
        aclrtMemset(freed_pinned(), kPage, 0, kPage);
      });
  expect_death(ending);
  EXPECT_EQ(ending.err.find("belay: "), std::string::npos) << ending;
}

// There bytes move by system calls, which answer EFAULT.
TEST(DeadPointer, C26_TheSameWhereAddressSpaceIsShort) {
  if (kUnderASanitizer) GTEST_SKIP() << "sanitizers need more address space than this leaves";
  for (const bool out : {true, false}) {
    const Ending ending = run_captured(kQuietly, [out] {
      const rlimit limit{std::size_t{512} << 20, std::size_t{512} << 20};
      require(::setrlimit(RLIMIT_AS, &limit) == 0);
      void* device = device_block();
      char* block = freed_pinned();
      out ? copied(device, block, 100, ACL_MEMCPY_HOST_TO_DEVICE)
          : copied(block, device, 100, ACL_MEMCPY_DEVICE_TO_HOST);
    });
    expect_death(ending);
    expect_words(ending, {out ? "aclrtMemcpy was reading 100 bytes of host memory at @"
                              : "aclrtMemcpy was writing 100 bytes of host memory at @",
                          "byte 0 of the pinned block @ (4194304 bytes)"});
  }
}

}  // namespace dead_pointer_test
