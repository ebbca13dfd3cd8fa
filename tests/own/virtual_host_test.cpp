// Host code and mapped memory: what it can use at its address, and what faults.
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>

#include "support/on_product.h"
#include "support/virtual_memory.h"

namespace virtual_host_test {

using namespace belay_test;

class HostCode : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  }
};

// Whether host code died when it read, or wrote, at what `make` returns.
template <typename Make>
bool dies(bool write, const Settings& settings, const Make& make) {
  const int status = run_in_fresh_process(settings, [&] {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::signal(SIGSEGV, SIG_DFL);
    if (aclrtSetDevice(0) != ACL_SUCCESS) ::_exit(3);
    void* const made = make();
    volatile char* const place = static_cast<volatile char*>(made);
    if (place == nullptr) ::_exit(3);
    if (write)
      *place = 1;
    else
      (void)*place;
    ::_exit(0);
  });
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 3) << "never got there";
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
const Settings kQuiet{{"BELAY_LEAKS", "off"}, {"BELAY_FAULTS", "off"}};

void* leave(MappedBlock& segment, std::size_t offset = 0) {
  segment.forget_memory();
  return at(segment.addresses.forget(), offset);
}

TEST_F(HostCode, V153_V50_UsesMappedHostMemoryAtItsAddress) {
  for (const aclrtPhysicalMemProp& prop :
       {of_host(), of_host(ACL_HBM_MEM_HUGE), of_host(ACL_DDR_MEM_P2P_NORMAL), of_node(0),
        of_node(kAnyNode, ACL_DDR_MEM_P2P_HUGE)}) {
    on_product("A2", [&] {
      const MappedBlock host{4 * kMB, prop};
      const Bytes bytes = pattern(4 * kMB, 1);
      std::memcpy(host.get(), bytes.data(), bytes.size());
      EXPECT_EQ(read_from(host.get(), 4 * kMB), bytes) << "copies see what host code wrote";
      write_to(host.get(k2MB), pattern(100, 2));
      EXPECT_EQ(std::memcmp(host.get(k2MB), pattern(100, 2).data(), 100), 0) << "and the other way round";
      std::ifstream zero{"/dev/zero"};
      zero.read(static_cast<char*>(host.get()), 4096);
      EXPECT_EQ(zero.gcount(), 4096) << "the kernel can write to it";
      EXPECT_EQ(read_from(host.get(), 4096), Bytes(4096, 0));
    });
  }
}

TEST_F(HostCode, V150_V151_V153_SeesAliasesAndWhatWasWrittenElsewhere) {
  on_product("A2", [] {
    const Reserved place{16 * kMB};
    const Physical memory{4 * kMB, of_host()};
    {
      const Mapped first{place.get(), memory}, second{place.get(8 * kMB), memory};
      std::memcpy(first.get(kMB), "written here", 13);
      EXPECT_STREQ(static_cast<const char*>(second.get(kMB)), "written here");
      std::memcpy(second.get(kMB), "written there", 14);
      EXPECT_STREQ(static_cast<const char*>(first.get(kMB)), "written there");
    }
    const Mapped third{place.get(4 * kMB), memory};
    EXPECT_STREQ(static_cast<const char*>(third.get(kMB)), "written there");
  });
}

TEST_F(HostCode, V153_V154_AcrossAdjacentMappings) {
  on_product("A2", [] {
    const Reserved place{4 * kMB};
    const Physical a{k2MB, of_host()}, b{k2MB, of_node()};
    const Mapped one{place.get(), a}, two{place.get(k2MB), b};
    std::memset(place.get(), 0x42, 4 * kMB);
    EXPECT_EQ(read_from(place.get(k2MB - 10), 20), Bytes(20, 0x42));
  });
}

TEST_F(HostCode, V180_AGrantLetsItUseDeviceMemory) {
  on_product("A2", [] {
    const MappedBlock here{4 * kMB};
    write_to(here.get(), pattern(4096, 1));
    ASSERT_EQ(set_access(here.get(), 4 * kMB, grant_host()), ACL_SUCCESS);
    EXPECT_EQ(std::memcmp(here.get(), pattern(4096, 1).data(), 4096), 0);
    std::memset(here.get(k2MB), 0x66, 4096);
    EXPECT_EQ(read_from(here.get(k2MB), 4096), Bytes(4096, 0x66));
    ASSERT_EQ(aclrtMemset(here.get(), 4 * kMB, 0x11, 4 * kMB), ACL_SUCCESS);
    EXPECT_EQ(*static_cast<const volatile char*>(here.get(3 * kMB)), 0x11);
  });
}

TEST_F(HostCode, V180_V185_TheGrantEndsWithTheMapping) {
  EXPECT_TRUE(dies(false, kQuiet, [] {
    MappedBlock here;
    EXPECT_EQ(set_access(here.get(), k2MB, grant_host()), ACL_SUCCESS);
    std::memset(here.get(), 1, 4096);
    here.mapping.unmap_now();
    EXPECT_EQ(map(here.get(), k2MB, here.memory), ACL_SUCCESS);
    return leave(here);
  }));
}

TEST(HostTouchesMappings, V153_MappedDeviceMemoryFaults) {
  for (const bool write : {false, true}) {
    EXPECT_TRUE(dies(write, kQuiet, [] {
      MappedBlock here{4 * kMB};
      return leave(here, k2MB + 5);
    }));
  }
}

TEST(HostTouchesMappings, V76_ReservedAddressesFault) {
  for (const bool write : {false, true}) {
    EXPECT_TRUE(dies(write, kQuiet, [] { return Reserved{8 * kMB}.forget(); }));
    EXPECT_TRUE(dies(write, kQuiet, [] { return at(Reserved{8 * kMB}.forget(), 6 * kMB); }));
  }
}

TEST(HostTouchesMappings, V76_V163_WhatWasUnmappedFaults_HostMemoryToo) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  for (const bool write : {false, true}) {
    EXPECT_TRUE(dies(write, kQuiet, [] {
      MappedBlock host{k2MB, of_host()};
      std::memset(host.get(), 1, 4096);
      host.mapping.unmap_now();
      return leave(host);
    }));
    EXPECT_FALSE(dies(write, kQuiet, [] {
      MappedBlock host{k2MB, of_host()};
      return leave(host);
    }));
  }
}

TEST(HostTouchesMappings, V157_WithoutAccessHostMemoryFaultsUntilTheGrant) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  for (const bool granted : {false, true}) {
    EXPECT_EQ(dies(true, kQuiet,
                   [&] {
                     Reserved place{k2MB};
                     Physical host{k2MB, of_host()};
                     EXPECT_EQ(aclrtMemMapNoAccess(place.get(), k2MB, 0, host, 0), ACL_SUCCESS);
                     if (granted) {
                       EXPECT_EQ(set_access(place.get(), k2MB, grant_host()), ACL_SUCCESS);
                     }
                     host.forget();
                     return place.forget();
                   }),
              !granted);
  }
}

TEST_F(HostCode, V153_V42_HostMemoryStaysUsableAfterAReset) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const MappedBlock host{k2MB, of_host()};
    std::memcpy(host.get(), "still here", 11);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_STREQ(static_cast<const char*>(host.get()), "still here");
  });
}

}  // namespace virtual_host_test
