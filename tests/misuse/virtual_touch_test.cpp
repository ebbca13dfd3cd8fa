// Host code touches addresses of virtual memory that are not, not yet or no longer for it. The touch faults
// and is explained.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "acl/acl.h"
#include "support/pieces.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace virtual_touch_test {

using belay_test::Ending;
using belay_test::run_captured;
using namespace belay_test::pieces;

const belay_test::Settings kQuietly{{"BELAY_PIN", "best-effort"}};  // whatever may be locked here

// Says where it is, for the test to read.
char* said(char* at) {
  std::fprintf(stderr, "at %p\n", static_cast<void*>(at));
  return at;
}

void write_to(char* at) { *static_cast<volatile char*>(at) = 1; }

// Where "@" stands, the address that the program told of.
void expect_death_and_words(const Ending& ending, std::initializer_list<const char*> all) {
  EXPECT_TRUE(belay_test::kUnderASanitizer
                  ? !ending.hung && !ending.clean() && ending.err.find("SEGV") != std::string::npos
                  : ending.killed_by(SIGSEGV))
      << ending;
  char address[64] = "";
  ASSERT_EQ(std::sscanf(ending.err.c_str(), "at %63s", address), 1) << ending;
  for (std::string words : all) {
    for (std::size_t mark; (mark = words.find('@')) != std::string::npos;) words.replace(mark, 1, address);
    EXPECT_NE(ending.err.find(words), std::string::npos) << words << "\n" << ending;
  }
  EXPECT_EQ(ending.out, "") << "standard output belongs to the program";
}

TEST(VirtualTouch, V76_NothingIsMappedInAReservation) {
  for (const std::size_t size : {4 * kGranule, std::size_t{3} << 30}) {
    const Ending ending = run_captured({}, [size] {
      require(aclrtSetDevice(0) == ACL_SUCCESS);
      char* start = said(reserved(size));
      map(start + kGranule, kGranule, on_device(kGranule));
      write_to(start + 2 * kGranule + 5);
    });
    const std::string where =
        "byte 4194309 of the reservation @ (" + std::to_string(size) + " bytes), where nothing is mapped: ";
    expect_death_and_words(ending,
                           {where.c_str(), "[rule V-76]", "map physical memory there with aclrtMapMem"});
  }
}

TEST(VirtualTouch, V76_WhatWasMappedThereHasEnded) {
  for (const bool by_reset : {false, true}) {
    const Ending ending = run_captured({{"BELAY_LEAKS", "off"}}, [by_reset] {
      require(aclrtSetDevice(0) == ACL_SUCCESS);
      char* start = reserved(8 * kGranule);
      char* mapped = said(start + kGranule);
      map(mapped, 3 * kGranule, on_device(3 * kGranule));
      require((by_reset ? aclrtResetDevice(0) : aclrtUnmapMem(mapped)) == ACL_SUCCESS);
      write_to(mapped + 7);
    });
    expect_death_and_words(
        ending, {"byte 2097159 of the reservation ", " (16777216 bytes), where nothing is mapped any more: ",
                 by_reset ? "aclrtResetDevice ended what was mapped at @ (6291456 bytes)"
                          : "aclrtUnmapMem ended what was mapped at @ (6291456 bytes)",
                 "end a mapping after its last use"});
  }
}

// The same addresses, reserved anew: what ended before that is another's affair.
TEST(VirtualTouch, V76_AReservationAtTheSamePlace_KnowsNothingOfTheOneBefore) {
  const Ending ending = run_captured({}, [] {
    require(aclrtSetDevice(0) == ACL_SUCCESS);
    char* start = reserved(kGranule);
    map(start, kGranule, on_device(kGranule));
    require(aclrtUnmapMem(start) == ACL_SUCCESS && aclrtReleaseMemAddress(start) == ACL_SUCCESS);
    void* again = nullptr;
    require(aclrtReserveMemAddress(&again, kGranule, 0, start, 0) == ACL_SUCCESS && again == start);
    write_to(said(start));
  });
  expect_death_and_words(ending, {"byte 0 of the reservation @ (2097152 bytes), where nothing is mapped: "});
}

TEST(VirtualTouch, V153_MemoryOfADeviceIsNotForTheHost) {
  const Ending ending = run_captured({}, [] {
    require(aclrtSetDevice(1) == ACL_SUCCESS);
    char* start = said(reserved(4 * kGranule));
    map(start, 2 * kGranule, on_device(2 * kGranule, 1));
    (void)*static_cast<const volatile char*>(start + kGranule);
  });
  expect_death_and_words(
      ending,
      {"host code read from 0x", "byte 2097152 of the mapping @ (4194304 bytes), which is memory of device 1",
       "[rule V-153]", "only after aclrtMemSetAccess for ACL_MEM_LOCATION_TYPE_HOST", "aclrtMemcpy"});
}

TEST(VirtualTouch, V157_AMappingWithoutAccess) {
  for (const bool host : {false, true}) {
    const Ending ending = run_captured(kQuietly, [host] {
      require(aclrtSetDevice(0) == ACL_SUCCESS);
      char* start = said(reserved(kGranule));
      require(aclrtMemMapNoAccess(start, kGranule, 0, host ? on_host(kGranule) : on_device(kGranule), 0) ==
              ACL_SUCCESS);
      write_to(start);
    });
    expect_death_and_words(ending, {host ? "byte 0 of the mapping @ (2097152 bytes), which is memory of the "
                                           "host, mapped without access [rule V-157]"
                                         : "byte 0 of the mapping @ (2097152 bytes), which is memory of "
                                           "device 0, mapped without access [rule V-157]",
                                    "only after aclrtMemSetAccess"});
  }
}

// Where a call takes host memory it was given an address of a device.
TEST(VirtualTouch, V76_ACallIsNamed) {
  const Ending ending = run_captured({}, [] {
    require(aclrtSetDevice(0) == ACL_SUCCESS);
    char* start = said(reserved(kGranule));
    std::size_t total = 0;
    aclrtGetMemInfo(ACL_HBM_MEM, reinterpret_cast<std::size_t*>(start), &total);
  });
  expect_death_and_words(
      ending, {"belay: aclrtGetMemInfo wrote to ", "of the reservation @", "pass host memory there"});
}

// --- managed memory -------------------------------------------------------------------------------

TEST(VirtualTouch, C26_ManagedMemoryThatWasFreed) {
  const Ending ending = run_captured({}, [] {
    require(aclrtSetDevice(0) == ACL_SUCCESS);
    char* start = said(managed(kGranule + 1000));
    write_to(start);
    require(aclrtFree(start) == ACL_SUCCESS);
    write_to(start + kGranule);
  });
  expect_death_and_words(
      ending, {"host code ",
               "byte 2097152 of the managed memory @ (2098152 bytes) of aclrtMemAllocManaged, which "
               "aclrtFree has freed [rule C-26]",
               "free managed memory after its last use"});
}

TEST(VirtualTouch, C26_BehindTheEndOfManagedMemory) {
  const Ending ending = run_captured({}, [] {
    require(aclrtSetDevice(0) == ACL_SUCCESS);
    char* start = said(managed(kGranule));
    write_to(start + kGranule - 1);
    write_to(start + kGranule);
  });
  expect_death_and_words(ending,
                         {"an address for managed memory where none is alive: freed, or never allocated",
                          "check pointer and size"});
}

// Whoever protects pages of live memory wants the fault for itself.
TEST(VirtualTouch, C26_LiveManagedMemoryThatTheProgramProtects_IsItsOwnAffair) {
  const Ending ending = run_captured({}, [] {
    require(aclrtSetDevice(0) == ACL_SUCCESS);
    char* start = said(managed(kGranule));
    require(::mprotect(start, kGranule, PROT_NONE) == 0);
    write_to(start);
  });
  expect_death_and_words(ending, {});
  EXPECT_EQ(ending.err.find("belay:"), std::string::npos) << ending;
}

}  // namespace virtual_touch_test
