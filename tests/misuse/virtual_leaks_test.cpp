// Physical memory, mappings, reservations and managed memory that a program never gives back are listed where
// they are lost, once, each kind with the function that gives it back.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "acl/acl.h"
#include "support/pieces.h"
#include "support/settings.h"

namespace virtual_leaks_test {

using belay_test::Ending;
using belay_test::run_captured;
using namespace belay_test::pieces;

const belay_test::Settings kQuietly{{"BELAY_PIN", "best-effort"}};  // whatever may be locked here

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

void expect_once(const Ending& ending, std::initializer_list<const char*> all) {
  for (const char* each : all) EXPECT_EQ(count(ending.err, each), 1U) << each << " in " << ending;
}

// Some of each; `give_back` ends them all.
void make_some_of_each(bool give_back) {
  require(aclrtSetDevice(0) == ACL_SUCCESS);
  aclrtDrvMemHandle of_device = on_device(3 << 20), of_host = on_host(kGranule);
  char* devices = reserved(16 << 20);
  char* hosts = reserved(1);
  map(devices + kGranule, 2 * kGranule, of_device);
  map_for_nobody(hosts, kGranule, of_host);
  char* everywhere = managed(5 << 20);
  if (!give_back) return;
  require(aclrtUnmapMem(devices + kGranule) == 0 && aclrtUnmapMem(hosts) == 0 &&
          aclrtFreePhysical(of_device) == 0 && aclrtFreePhysical(of_host) == 0 &&
          aclrtReleaseMemAddress(devices) == 0 && aclrtReleaseMemAddress(hosts) == 0 &&
          aclrtFree(everywhere) == 0);
}

constexpr std::initializer_list<const char*> kOfTheDevice = {
    "  1 piece of physical memory of device 0, 4 MB (aclrtFreePhysical):\n"
    "belay:     1 × 4 MB (3145728 bytes asked for, in 2 MB pages), handle 0x",
    "  1 mapping of memory of device 0, 4 MB (aclrtUnmapMem):\nbelay:     1 × 4 MB, at 0x"};
constexpr std::initializer_list<const char*> kOfTheProcess = {
    "  1 piece of physical memory of the host, 2 MB (aclrtFreePhysical):\n"
    "belay:     1 × 2 MB (2097152 bytes asked for, in 2 MB pages), handle 0x",
    "  1 mapping of memory of the host, 2 MB (aclrtUnmapMem):\nbelay:     1 × 2 MB, at 0x",
    "  2 reservations of addresses, 18 MB (aclrtReleaseMemAddress):\n"
    "belay:     1 × 16 MB (16777216 bytes asked for), at 0x",
    "belay:     1 × 2 MB (1 byte asked for), at 0x",
    "  1 piece of managed memory, 6 MB (aclrtFree):\nbelay:     1 × 6 MB (5242880 bytes asked for), at 0x"};

TEST(VirtualLeaks, M411_AtExit_ListsEveryKind) {
  const Ending ending = run_captured(kQuietly, [] {
    make_some_of_each(false);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  expect_once(ending, {" when it ended [rule M-411]:", "never given back"});
  expect_once(ending, kOfTheDevice);
  expect_once(ending, kOfTheProcess);
}

TEST(VirtualLeaks, R41_AtFinalize_AndNotAgainAtExit) {
  const Ending ending = run_captured(kQuietly, [] {
    aclInit(nullptr);
    make_some_of_each(false);
    aclFinalize();
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(count(ending.err, "M-411"), 0U) << ending;
  expect_once(ending, {"R-41]:"});
  expect_once(ending, kOfTheDevice);
  expect_once(ending, kOfTheProcess);
}

// What is on the device ends with it; addresses, the host's memory and managed memory stay (V-42).
TEST(VirtualLeaks, M409_V42_AtTheLastReset_WhatIsOnThatDevice_TheRestLater) {
  const Ending ending = run_captured(kQuietly, [] {
    make_some_of_each(false);
    require(aclrtSetDevice(1) == ACL_SUCCESS);
    on_device(kGranule, 1);
    aclrtResetDevice(0);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  expect_once(ending, {" when device 0 was reset [rule M-409]:", " when it ended [rule M-411]:"});
  expect_once(ending, kOfTheDevice);
  expect_once(ending, kOfTheProcess);
  const std::size_t at_exit = ending.err.find("M-411");
  for (const char* each : kOfTheDevice) EXPECT_LT(ending.err.find(each), at_exit) << ending;
  for (const char* each : kOfTheProcess) EXPECT_GT(ending.err.find(each), at_exit) << ending;
  EXPECT_GT(ending.err.find("1 piece of physical memory of device 1, 2 MB"), at_exit) << ending;
}

TEST(VirtualLeaks, R45_NothingIsPrintedWhereAllOfItWasGivenBack) {
  for (const bool reset : {false, true}) {
    const Ending ending = run_captured(kQuietly, [reset] {
      aclInit(nullptr);
      make_some_of_each(true);
      if (reset) aclrtResetDevice(0);
      aclFinalize();
      std::exit(0);
    });
    EXPECT_TRUE(ending.clean()) << ending;
    EXPECT_EQ(ending.err, "") << ending;
  }
}

// A handle that was freed while it is mapped was given back; the mapping was not.
TEST(VirtualLeaks, V33_AFreedHandleIsNotListed_ItsMappingIs) {
  const Ending ending = run_captured({}, [] {
    require(aclrtSetDevice(0) == ACL_SUCCESS);
    aclrtDrvMemHandle handle = on_device(kGranule);
    char* start = reserved(kGranule);
    map(start, kGranule, handle);
    require(aclrtFreePhysical(handle) == ACL_SUCCESS);
    std::exit(0);
  });
  EXPECT_EQ(count(ending.err, "physical memory"), 0U) << ending;
  expect_once(ending, {"1 mapping of memory of device 0", "1 reservation of addresses"});
}

// A reference that was taken back once too little.
TEST(VirtualLeaks, V30_ARetainedHandleIsListed) {
  const Ending ending = run_captured({}, [] {
    require(aclrtSetDevice(0) == ACL_SUCCESS);
    aclrtDrvMemHandle handle = on_device(kGranule), again = nullptr;
    char* start = reserved(kGranule);
    map(start, kGranule, handle);
    require(aclrtMemRetainAllocationHandle(start, &again) == ACL_SUCCESS && again == handle);
    require(aclrtUnmapMem(start) == 0 && aclrtReleaseMemAddress(start) == 0 &&
            aclrtFreePhysical(handle) == 0);
    std::exit(0);
  });
  expect_once(ending, {"1 piece of physical memory of device 0, 2 MB (aclrtFreePhysical)"});
  EXPECT_EQ(count(ending.err, "mapping"), 0U) << ending;
  EXPECT_EQ(count(ending.err, "reservation"), 0U) << ending;
}

TEST(VirtualLeaks, EqualPiecesAreOneLine_TheLargestSumFirst) {
  const Ending ending = run_captured({}, [] {
    require(aclrtSetDevice(0) == ACL_SUCCESS);
    char* start = reserved(std::size_t{4} << 30);
    for (std::size_t i = 0; i < 70; ++i) map(start + i * kGranule, kGranule, on_device(kGranule));
    on_device(128 << 20);
    on_device(std::size_t{1} << 30, 0, ACL_HBM_MEM_HUGE1G);
    std::exit(0);
  });
  expect_once(ending,
              {"  72 pieces of physical memory of device 0, ",
               "  70 mappings of memory of device 0, 140 MB (", "belay:     70 × 2 MB, the first at 0x"});
  const std::size_t largest =
      ending.err.find("1 × 1 GB (1073741824 bytes asked for, in 1 GB pages), handle 0x");
  const std::size_t many =
      ending.err.find("70 × 2 MB (2097152 bytes asked for, in 2 MB pages), the first handle 0x");
  const std::size_t last = ending.err.find("1 × 128 MB (134217728 bytes");
  EXPECT_LT(largest, many) << ending;
  EXPECT_LT(many, last) << ending;
  EXPECT_NE(last, std::string::npos) << ending;
}

TEST(VirtualLeaks, LongListsAreCut) {
  const Ending ending = run_captured({}, [] {
    require(aclrtSetDevice(0) == ACL_SUCCESS);
    for (std::size_t i = 0; i < 25; ++i) reserved(kGranule + i);
    std::exit(0);
  });
  expect_once(ending, {"25 reservations of addresses", "... and 15 more"});
}

}  // namespace virtual_leaks_test
