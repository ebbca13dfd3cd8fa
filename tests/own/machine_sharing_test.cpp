// All processes on a machine draw on the same devices, and see what the others take.
#include "support/members.h"

namespace machine_sharing_test {

using namespace belay_test;

constexpr std::uint32_t kNormal = ACL_MEM_MALLOC_NORMAL_ONLY, kHuge = ACL_MEM_MALLOC_HUGE_ONLY;

TEST(MachineSharing, D52_M430_WhatOneProcessTakesAndFrees_EveryProcessSees) {
  const TestMachine machine;
  const MemberPtr one = machine.join(), two = machine.join(), three = machine.join();
  const Member* const all[] = {one.get(), two.get(), three.get()};
  const std::size_t before = one->free_now();
  EXPECT_EQ(before, 64 * kMB);
  std::size_t taken = 0;
  const auto expect_taken = [&](const char* when) {
    for (const Member* each : all) {
      const Member::Figures figures = each->info();
      EXPECT_EQ(figures.total, 64 * kMB) << when;
      EXPECT_EQ(figures.free, before - taken) << when;
    }
  };
  const std::uint64_t small = one->allocate(4096, kNormal);
  taken += 4096;
  expect_taken("4 KB in the first");
  const std::uint64_t large = two->allocate(6 * kMB, kHuge);
  taken += 6 * kMB;
  expect_taken("6 MB in the second");
  EXPECT_NE(three->allocate(5 * kMB, kNormal), 0U);
  taken += 5 * kMB;
  expect_taken("5 MB in the third");
  EXPECT_EQ(one->free(small), 0);
  taken -= 4096;
  expect_taken("4 KB freed");
  EXPECT_EQ(two->free(large), 0);
  taken -= 6 * kMB;
  expect_taken("6 MB freed");
}

TEST(MachineSharing, D52_ADeviceIsExhaustedByANeighbour_ToThePage) {
  const TestMachine machine;
  const MemberPtr one = machine.join(), two = machine.join();
  const std::uint64_t most = one->allocate(64 * kMB - 4096);
  ASSERT_NE(most, 0U);
  EXPECT_EQ(two->allocate(4097), 0U);
  EXPECT_NE(two->message().find("4096"), std::string::npos) << "the refusal tells what is left";
  const std::uint64_t last = two->allocate(4096);
  EXPECT_NE(last, 0U);
  EXPECT_EQ(two->free_now(), 0U);
  EXPECT_EQ(one->allocate(1), 0U);
  EXPECT_EQ(two->free(last), 0);
  EXPECT_NE(one->allocate(1), 0U);
  EXPECT_EQ(one->free(most), 0);
  EXPECT_NE(two->allocate(64 * kMB - 4096), 0U);
}

TEST(MachineSharing, D52_OtherDevicesOfTheMachineAreNotConcerned) {
  const TestMachine machine;
  const MemberPtr one = machine.join(), two = machine.join();
  ASSERT_EQ(two->set_device(1), 0);
  EXPECT_NE(one->allocate(64 * kMB), 0U);
  EXPECT_EQ(one->free_now(), 0U);
  EXPECT_EQ(two->free_now(), 64 * kMB);
  EXPECT_NE(two->allocate(3 * kMB), 0U);
  ASSERT_EQ(one->set_device(1), 0);
  EXPECT_EQ(one->free_now(), 61 * kMB);
}

TEST(MachineSharing, D52_R87_DevicesAreTheMachines_WhateverNumberAProcessGivesThem) {
  const TestMachine machine;
  const MemberPtr one = machine.join();
  const Member other{machine.with({{"ASCEND_RT_VISIBLE_DEVICES", "1"}})};
  ASSERT_EQ(other.set_device(0), 0);
  EXPECT_NE(other.allocate(3 * kMB), 0U);
  EXPECT_EQ(one->free_now(), 64 * kMB);
  ASSERT_EQ(one->set_device(1), 0);
  EXPECT_EQ(one->free_now(), 61 * kMB);
}

TEST(MachineSharing, D52_MachinesOfOtherNames_AreOtherMachines) {
  const TestMachine machine;
  const MemberPtr one = machine.join();
  const Member other{machine.with({{"BELAY_MACHINE", "another"}})};
  ASSERT_EQ(other.set_device(0), 0);
  EXPECT_NE(one->allocate(64 * kMB), 0U);
  EXPECT_EQ(other.free_now(), 64 * kMB);
  EXPECT_NE(other.allocate(5 * kMB), 0U);
  EXPECT_EQ(one->free_now(), 0U);
  const Member third{machine.with({{"BELAY_MACHINE", "another"}})};
  ASSERT_EQ(third.set_device(0), 0);
  EXPECT_EQ(third.free_now(), 59 * kMB);
}

TEST(MachineSharing, D52_TheSameNameInAnotherDirectory_IsAnotherMachine) {
  const TestMachine machine, elsewhere;
  const MemberPtr one = machine.join(), other = elsewhere.join();
  EXPECT_NE(one->allocate(64 * kMB), 0U);
  EXPECT_EQ(other->free_now(), 64 * kMB);
}

TEST(MachineSharing, D52_APrivateMachineIsOfOneProcess_AndLeavesNoTrace) {
  const TestMachine machine{"64M", {{"BELAY_MACHINE", "private"}}};
  const MemberPtr one = machine.join(), two = machine.join();
  EXPECT_NE(one->allocate(64 * kMB), 0U);
  EXPECT_EQ(one->free_now(), 0U);
  EXPECT_EQ(two->free_now(), 64 * kMB);
  EXPECT_NE(two->allocate(64 * kMB), 0U);
  EXPECT_FALSE(std::filesystem::exists(machine.place()));
}

TEST(MachineSharing, D52_WithoutANameTheMachineIsCalledDefault) {
  const TestMachine machine;
  const Own come_without_a_name = [](const Order&) {
    ::unsetenv("BELAY_MACHINE");
    Answer answer;
    answer.code = aclrtSetDevice(0);
    return answer;
  };
  const MemberPtr unnamed = machine.come(come_without_a_name);
  ASSERT_EQ(unnamed->ask({Do::own}).code, 0);
  const Member named{machine.with({{"BELAY_MACHINE", "default"}})};
  ASSERT_EQ(named.set_device(0), 0);
  EXPECT_NE(unnamed->allocate(4096), 0U);
  EXPECT_EQ(named.free_now(), 64 * kMB - 4096);
}

TEST(MachineSharing, D52_M430_EveryFigureOfAPageKindIsTheDevices) {
  const TestMachine machine{"64M", {{"BELAY_HUGE", "16M"}, {"BELAY_P2P", "8M"}}};
  const MemberPtr one = machine.join(), two = machine.join();
  EXPECT_NE(one->allocate(6 * kMB, kHuge), 0U);
  EXPECT_NE(one->allocate(5 * kMB, kNormal), 0U);
  EXPECT_NE(one->allocate(2 * kMB, ACL_MEM_MALLOC_HUGE_ONLY_P2P), 0U);
  const std::uint32_t attributes[] = {ACL_HBM_MEM,          ACL_HBM_MEM_HUGE,       ACL_HBM_MEM_NORMAL,
                                      ACL_HBM_MEM_P2P_HUGE, ACL_HBM_MEM_P2P_NORMAL, ACL_MEM_HUGE,
                                      ACL_MEM_NORMAL};
  for (const std::uint32_t attribute : attributes) {
    const Member::Figures here = one->info(attribute), there = two->info(attribute);
    EXPECT_EQ(here.free, there.free) << attribute;
    EXPECT_EQ(here.total, there.total) << attribute;
  }
  EXPECT_EQ(two->info(ACL_HBM_MEM).free, 51 * kMB);
  EXPECT_EQ(two->info(ACL_HBM_MEM_HUGE).free, 8 * kMB);
  EXPECT_EQ(two->info(ACL_HBM_MEM_P2P_HUGE).free, 6 * kMB);
}

TEST(MachineSharing, D52_M423_LimitsOfPageKindsHoldForAllProcessesTogether) {
  const TestMachine machine{"64M", {{"BELAY_HUGE", "8M"}, {"BELAY_NORMAL", "4M"}, {"BELAY_P2P", "4M"}}};
  const MemberPtr one = machine.join(), two = machine.join();
  EXPECT_NE(one->allocate(6 * kMB, kHuge), 0U);
  EXPECT_EQ(two->allocate(4 * kMB, kHuge), 0U);
  const std::uint64_t last = two->allocate(2 * kMB, kHuge);
  EXPECT_NE(last, 0U);
  EXPECT_EQ(one->allocate(2 * kMB, kHuge), 0U);
  EXPECT_NE(one->allocate(4 * kMB - 4096, kNormal), 0U);
  EXPECT_EQ(two->allocate(4097, kNormal), 0U);
  EXPECT_NE(two->allocate(4096, kNormal), 0U);
  EXPECT_EQ(two->free(last), 0);
  EXPECT_NE(one->allocate(2 * kMB, ACL_MEM_MALLOC_HUGE_ONLY_P2P), 0U);
}

TEST(MachineSharing, D52_M423_ThePeerToPeerLimitHoldsForAllProcessesTogether) {
  const TestMachine machine{"64M", {{"BELAY_P2P", "4M"}}};
  const MemberPtr one = machine.join(), two = machine.join();
  const std::uint64_t first = one->allocate(2 * kMB, ACL_MEM_MALLOC_HUGE_ONLY_P2P);
  EXPECT_NE(first, 0U);
  EXPECT_NE(two->allocate(2 * kMB, ACL_MEM_MALLOC_HUGE_ONLY_P2P), 0U);
  EXPECT_EQ(two->allocate(4096, ACL_MEM_MALLOC_NORMAL_ONLY_P2P), 0U);
  EXPECT_NE(two->allocate(4096, kNormal), 0U);
  EXPECT_EQ(one->free(first), 0);
  EXPECT_NE(two->allocate(2 * kMB, ACL_MEM_MALLOC_NORMAL_ONLY_P2P), 0U);
  EXPECT_EQ(one->allocate(4096, ACL_MEM_MALLOC_NORMAL_ONLY_P2P), 0U);
}

// What a process has freed stays with it as credit. Others can have it, to the last page.
TEST(MachineSharing, D52_WhatAProcessHasFreedIsForAll_OfWhateverPageKindItWas) {
  const TestMachine machine;
  const MemberPtr one = machine.join(), two = machine.join(), three = machine.join();
  const std::uint32_t policies[] = {kNormal, kHuge, ACL_MEM_MALLOC_NORMAL_ONLY_P2P,
                                    ACL_MEM_MALLOC_HUGE_ONLY_P2P};
  for (const Member* each : {one.get(), two.get()}) {
    for (const std::uint32_t policy : policies) {
      const std::uint64_t block = each->allocate(8 * kMB, policy);
      ASSERT_NE(block, 0U);
      ASSERT_EQ(each->free(block), 0);
    }
  }
  EXPECT_EQ(three->free_now(), 64 * kMB);
  EXPECT_EQ(three->ask({Do::crowd, kNormal, 0, 64 * kKB}).first, 1024U);
  EXPECT_EQ(three->free_now(), 0U);
  for (const std::uint32_t policy : policies) {
    EXPECT_EQ(one->allocate(1, policy), 0U);
    EXPECT_EQ(two->allocate(1, policy), 0U);
  }
}

TEST(MachineSharing, D67_D68_AResetReturnsThisProcesssMemoryOnly) {
  const TestMachine machine;
  const MemberPtr one = machine.join(), two = machine.join();
  const std::uint64_t lost = one->allocate(5 * kMB), kept = two->allocate(3 * kMB);
  ASSERT_EQ(two->write(kept, 3 * kMB, 7), 0);
  ASSERT_EQ(one->reset(0), 0);
  EXPECT_EQ(two->free_now(), 61 * kMB);
  EXPECT_TRUE(two->verify(kept, 3 * kMB, 7));
  EXPECT_EQ(one->free(lost), kBadValue);
  ASSERT_EQ(one->set_device(0), 0);
  EXPECT_EQ(one->free_now(), 61 * kMB);
}

TEST(MachineSharing, D69_PinnedHostMemoryOutlivesAReset_AndIsNoMemoryOfTheDevice) {
  const TestMachine machine;
  const Own own = [](const Order& order) {
    static void* host = nullptr;
    Answer answer;
    if (order.small == 0) {
      answer.code = ::aclrtMallocHost(&host, 64 * kKB);
      if (answer.code == 0) std::memset(host, 42, 64 * kKB);
    } else {
      answer.first = static_cast<unsigned char*>(host)[64 * kKB - 1];
      answer.code = aclrtFreeHost(host);
    }
    return answer;
  };
  const MemberPtr one = machine.join(own), two = machine.join();
  ASSERT_EQ(one->ask({Do::own, 0}).code, 0);
  EXPECT_EQ(two->free_now(), 64 * kMB);
  ASSERT_EQ(one->reset(0), 0);
  const Answer answer = one->ask({Do::own, 1});
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.first, 42U);
}

TEST(MachineSharing, D53_TheTotalIsTheSameForEveryProcess_WhateverIsInUse) {
  const TestMachine machine{"100M"};
  const MemberPtr one = machine.join();
  EXPECT_NE(one->allocate(77 * kMB), 0U);
  const MemberPtr two = machine.join();
  EXPECT_EQ(one->info().total, 100 * kMB);
  EXPECT_EQ(two->info().total, 100 * kMB);
}

TEST(MachineSharing, D52_BytesStayWithTheirProcess_AtEqualAddresses) {
  const TestMachine machine;
  const MemberPtr one = machine.join(), two = machine.join();
  const std::uint64_t here = one->allocate(kMB), there = two->allocate(kMB);
  ASSERT_EQ(one->write(here, kMB, 1), 0);
  ASSERT_EQ(two->write(there, kMB, 2), 0);
  EXPECT_TRUE(one->verify(here, kMB, 1));
  EXPECT_TRUE(two->verify(there, kMB, 2));
  EXPECT_EQ(two->free(there), 0);
  EXPECT_TRUE(one->verify(here, kMB, 1));
}

// --- settings that do not fit together ------------------------------------------------------------------

struct Odd {
  const char *name, *value, *word;
};
class MachineSettings : public ::testing::TestWithParam<Odd> {};

TEST_P(MachineSettings, D52_OtherSettingsThanTheMachineHas_AreRefusedInWordsWithBothValues) {
  const TestMachine machine;
  const MemberPtr first = machine.join();
  const Member odd{machine.with({{GetParam().name, GetParam().value}})};
  EXPECT_EQ(odd.ask({Do::init}).code, 500000);
  EXPECT_EQ(odd.set_device(0), 507033);
  const std::string message = odd.message();
  EXPECT_NE(message.find("'test'"), std::string::npos) << message;
  EXPECT_NE(message.find(std::to_string(first->process())), std::string::npos) << message;
  EXPECT_NE(message.find(std::string{GetParam().word} + " = "), std::string::npos) << message;
  EXPECT_NE(message.find("BELAY_MACHINE"), std::string::npos) << message;
  // It is not on the machine, and the machine is as it was.
  EXPECT_NE(first->allocate(4096), 0U);
  EXPECT_EQ(first->free_now(), 64 * kMB - 4096);
  const MemberPtr next = machine.join();
  EXPECT_EQ(next->free_now(), 64 * kMB - 4096);
}

INSTANTIATE_TEST_SUITE_P(All, MachineSettings,
                         ::testing::Values(Odd{"BELAY_HBM", "66M", "hbm"},
                                           Odd{"BELAY_PRODUCT", "A3", "product"},
                                           Odd{"BELAY_DEVICES", "3", "devices"},
                                           Odd{"BELAY_HUGE", "8M", "huge"},
                                           Odd{"BELAY_NORMAL", "8M", "normal"}, Odd{"BELAY_P2P", "8M", "p2p"},
                                           Odd{"BELAY_HUGE1G", "0", "huge1g"}),
                         [](const auto& info) { return std::string{info.param.word}; });

TEST(MachineSharing, D52_TheMessageTellsBothValues) {
  const TestMachine machine;
  const MemberPtr first = machine.join();
  const Member odd{machine.with({{"BELAY_HBM", "66M"}})};
  ASSERT_EQ(odd.set_device(0), 507033);
  const std::string message = odd.message();
  EXPECT_NE(message.find("67108864"), std::string::npos) << message;
  EXPECT_NE(message.find("69206016"), std::string::npos) << message;
}

TEST(MachineSharing, D52_AnotherFormIsAnotherMachine) {
  const TestMachine machine{"64M", {{"BELAY_PRODUCT", "910"}}};
  const MemberPtr first = machine.join();
  const Member odd{machine.with({{"BELAY_FORM", "RC"}})};
  ASSERT_EQ(odd.set_device(0), 507033);
  const std::string message = odd.message();
  EXPECT_NE(message.find("form = EP"), std::string::npos) << message;
  EXPECT_NE(message.find("form = RC"), std::string::npos) << message;
}

TEST(MachineSharing, D52_TheSameValueInOtherWords_IsTheSameSetting) {
  const TestMachine machine;
  const MemberPtr first = machine.join();
  const Member same{machine.with({{"BELAY_HBM", "65536K"}})};
  EXPECT_EQ(same.set_device(0), 0) << same.message();
  EXPECT_NE(first->allocate(4096), 0U);
  EXPECT_EQ(same.free_now(), 64 * kMB - 4096);
}

// What concerns one process alone may differ.
TEST(MachineSharing, D52_SettingsThatConcernOneProcess_MayDiffer) {
  const TestMachine machine;
  const MemberPtr first = machine.join();
  EXPECT_NE(first->allocate(4096), 0U);
  const std::pair<const char*, const char*> own[] = {
      {"BELAY_KEEP", "0"},          {"BELAY_PIN", "best-effort"},       {"BELAY_FAULTS", "off"},
      {"BELAY_BACKING", "none"},    {"ASCEND_RT_VISIBLE_DEVICES", "0"}, {"BELAY_PAGES", "small"},
      {"BELAY_HOST_ACCESS", "deny"}};
  for (const auto& [name, value] : own) {
    const Member member{machine.with({{name, value}})};
    EXPECT_EQ(member.set_device(0), 0) << name << ": " << member.message();
    EXPECT_EQ(member.free_now(), 64 * kMB - 4096) << name;
  }
}

TEST(MachineSharing, D52_WhenAllHaveEnded_TheNextProcessMaySetTheMachineUpAnew) {
  const TestMachine machine;
  MemberPtr first = machine.join();
  EXPECT_NE(first->allocate(kMB), 0U);
  first->die();
  const Member next{machine.with({{"BELAY_HBM", "80M"}, {"BELAY_DEVICES", "1"}})};
  ASSERT_EQ(next.set_device(0), 0) << next.message();
  EXPECT_EQ(next.free_now(), 80 * kMB);
}

TEST(MachineSharing, D52_NamesThatAreNone_AreRefused) {
  for (const char* name : {"a/b", "..", ".hidden", "with space", "\xC3\xA4", "a:b"}) {
    const TestMachine machine{"64M", {{"BELAY_MACHINE", name}}};
    const MemberPtr member = machine.come();
    EXPECT_NE(member->ask({Do::init}).code, 0) << name;
    EXPECT_NE(member->set_device(0), 0) << name;
    EXPECT_NE(member->message().find("BELAY_MACHINE"), std::string::npos) << name;
  }
  const TestMachine longest{"64M", {{"BELAY_MACHINE", std::string(64, 'x')}}};
  EXPECT_EQ(longest.come()->set_device(0), 0);
  const TestMachine longer{"64M", {{"BELAY_MACHINE", std::string(65, 'x')}}};
  EXPECT_NE(longer.come()->set_device(0), 0);
}

// The machine belongs to nobody: it lives as long as anybody is on it.
TEST(MachineSharing, D52_TheMachineOutlivesItsFounder) {
  const TestMachine machine;
  MemberPtr founder = machine.join();
  MemberPtr second = machine.join();
  const std::uint64_t kept = second->allocate(3 * kMB);
  ASSERT_EQ(second->write(kept, 3 * kMB, 3), 0);
  founder->die();
  founder->wait();
  const MemberPtr third = machine.join();
  EXPECT_EQ(third->free_now(), 61 * kMB);
  EXPECT_NE(third->allocate(kMB), 0U);
  EXPECT_EQ(second->free_now(), 60 * kMB);
  second->die();
  EXPECT_EQ(third->free_now(), 63 * kMB);
  const MemberPtr fourth = machine.join();
  EXPECT_EQ(fourth->free_now(), 63 * kMB);
}

}  // namespace machine_sharing_test
