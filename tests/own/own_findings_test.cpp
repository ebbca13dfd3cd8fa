// belay_findings and its companions: what test programs ask about the mistakes that were found.
#include <csetjmp>
#include <csignal>
#include <string>
#include <vector>

#include "belay/belay.h"
#include "support/device_fixture.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace own_findings_test {

using namespace belay_test;

// One frame: a place is the line of the call, whatever the compiler makes of those who call it.
const Settings kChecked{{"BELAY_CHECK", "all,classes=lifetime+leaks+errors,print-limit=0"},
                        {"BELAY_STACKS", "1"}};

std::vector<belayFinding> found_from(std::size_t from = 0) {
  std::vector<belayFinding> found(belay_findings(0, nullptr, 0) - from);
  EXPECT_EQ(belay_findings(from, found.data(), found.size()), from + found.size());
  return found;
}

void* allocate(std::size_t bytes = 1000) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  return block;
}

[[gnu::noinline]] void free_twice() {
  void* block = allocate();
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
}

TEST(OwnFindings, AreToldOnceForEachPlaceAndCounted) {
  in_fresh_process(kChecked, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(belay_findings(0, nullptr, 0), 0U);
    for (int i = 0; i < 3; ++i) free_twice();
    const std::vector<belayFinding> found = found_from();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_STREQ(found[0].id, "double-free");
    EXPECT_STREQ(found[0].className, "lifetime");
    EXPECT_STREQ(found[0].rule, "M-111");
    EXPECT_STREQ(found[0].function, "aclrtFree");
    EXPECT_EQ(found[0].count, 3U);
    EXPECT_EQ(found[0].fails, 1);
    EXPECT_EQ(belay_findings(1, nullptr, 0), 1U);
    EXPECT_EQ(belay_findings(7, nullptr, 0), 1U) << "beyond the last";
  });
}

TEST(OwnFindings, ErrorsAreFoundAtTheEndOfATestAndDoNotFail) {
  in_fresh_process(kChecked, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    EXPECT_NE(aclrtMalloc(&block, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(belay_findings(0, nullptr, 0), 0U);
    belay_end_of_test();
    ASSERT_EQ(found_from().size(), 1U);
    EXPECT_STREQ(found_from()[0].className, "errors");
    EXPECT_EQ(found_from()[0].fails, 0);
  });
}

TEST(OwnFindings, AChildDoesNotHaveThoseOfItsParent) {
  in_fresh_process(kChecked, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    free_twice();
    const belayFinding of_parent = found_from()[0];
    in_fresh_process(kChecked, [&of_parent] {
      EXPECT_EQ(belay_findings(0, nullptr, 0), 0U);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void* block = allocate();
      EXPECT_NE(aclrtFree(static_cast<char*>(block) + 8), ACL_SUCCESS);
      ASSERT_EQ(found_from().size(), 1U);
      EXPECT_STREQ(found_from()[0].id, "free-inside-block");
      EXPECT_NE(std::string{found_from()[0].text}.find("belay: free-inside-block: "), std::string::npos);
      EXPECT_NE(std::string{of_parent.text}.find("belay: double-free: "), std::string::npos);
    });
  });
}

TEST(OwnFindings, ARestartKeepsThemAndMayTurnTheCheckOff) {
  in_fresh_process(kChecked, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    free_twice();
    ::setenv("BELAY_CHECK", "off", 1);
    ASSERT_EQ(belay_restart(), 0);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    free_twice();
    ASSERT_EQ(found_from().size(), 1U);
    EXPECT_EQ(found_from()[0].count, 1U);
    ::setenv("BELAY_CHECK", "all,classes=lifetime+leaks+errors,print-limit=0", 1);
    ASSERT_EQ(belay_restart(), 0);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    free_twice();
    ASSERT_EQ(found_from().size(), 1U);
    EXPECT_EQ(found_from()[0].count, 2U);
  });
}

// Of a process that does this and then exits as usual.
int exit_code(const std::function<void()>& body) {
  const auto and_exit = [&body] {
    body();
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  return WEXITSTATUS(run_captured(kChecked, and_exit).status);
}

TEST(OwnFindings, WhatWasAcceptedDecidesNoExitCode) {
  const auto one_mistake = [] {
    (void)aclrtSetDevice(0);
    free_twice();
  };
  EXPECT_EQ(exit_code(one_mistake), 86);
  EXPECT_EQ(exit_code([&] {
              one_mistake();
              EXPECT_EQ(belay_accept_finding(0, 1), 0U);
            }),
            0);
  EXPECT_EQ(exit_code([&] {
              for (int i = 0; i < 2; ++i) one_mistake();
              EXPECT_EQ(belay_accept_finding(0, 1), 1U);
            }),
            86);
  EXPECT_EQ(exit_code([&] {
              one_mistake();
              EXPECT_EQ(belay_accept_finding(5, 1), 0U) << "there is none";
              EXPECT_EQ(belay_accept_finding(0, 9), 0U) << "more than there are";
            }),
            0);
  EXPECT_EQ(exit_code([&] {
              one_mistake();
              ::setenv("BELAY_CHECK", "off", 1);
              (void)belay_restart();
            }),
            86)
      << "what was found before the check was turned off";
}

TEST(Marks, FindWhatWasMadeSinceTheOneBefore) {
  in_fresh_process(kChecked, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* before = allocate();
    EXPECT_EQ(belay_mark(), 0U);
    void* block = allocate();
    void* given_back = allocate();
    ASSERT_EQ(aclrtFree(given_back), ACL_SUCCESS);
    EXPECT_EQ(belay_mark(), 1U);
    ASSERT_EQ(found_from().size(), 1U);
    EXPECT_STREQ(found_from()[0].id, "growth");
    EXPECT_EQ(belay_mark(), 0U) << "told once";
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(before), ACL_SUCCESS);
  });
}

TEST(OwnFindings, AHostTouchThatTheProgramSurvivesIsOne) {
  if (kUnderASanitizer) GTEST_SKIP() << "the sanitizer ends the program";
  const auto touch = [] {
    static sigjmp_buf back;
    struct sigaction act {};
    act.sa_handler = [](int) { siglongjmp(back, 1); };
    act.sa_flags = SA_NODEFER;
    // Before the library's, which passes on what it has explained.
    sigaction(SIGSEGV, &act, nullptr);
    (void)aclrtSetDevice(0);
    auto* block = static_cast<volatile char*>(allocate());
    if (sigsetjmp(back, 1) == 0) block[7] = 1;
    const std::vector<belayFinding> found = found_from();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_STREQ(found[0].id, "host-touch");
    EXPECT_STREQ(found[0].className, "host");
    EXPECT_EQ(std::string{found[0].text}.rfind("belay: host-touch: host code ", 0), 0U) << found[0].text;
    EXPECT_NE(std::string{found[0].text}.find("byte 7 of the block"), std::string::npos) << found[0].text;
    EXPECT_NE(std::string{found[0].text}.find("belay:   what to do: "), std::string::npos) << found[0].text;
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EQ(WEXITSTATUS(run_captured({{"BELAY_CHECK", "all,classes=host,print-limit=0"}}, touch).status), 86);
}

TEST(Marks, WithoutARuntimeNothingIsThereAndNoneIsStarted) {
  in_fresh_process(kChecked, [] {
    EXPECT_EQ(belay_mark(), 0U);
    ::setenv("BELAY_HBM", "64M", 1);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    std::size_t left = 0, all = 0;
    ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &left, &all), ACL_SUCCESS);
    EXPECT_EQ(all, 64 * kMB) << "the setting was read after the mark";
    (void)allocate();
    EXPECT_EQ(belay_mark(), 1U);
  });
}

// Serial numbers begin anew, so the one block looks like the other.
TEST(Marks, OutliveARestart) {
  in_fresh_process(kChecked, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    (void)allocate();
    EXPECT_EQ(belay_mark(), 0U);
    ASSERT_EQ(belay_restart(), 0);
    EXPECT_EQ(belay_mark(), 0U);
    ASSERT_EQ(belay_restart(), 0);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    (void)allocate();
    EXPECT_EQ(belay_mark(), 1U);
  });
}

TEST(BlockSite, SaysWhereABlockWasAllocatedAndFreed) {
  in_fresh_process({{"BELAY_STACKS", "4"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    char text[4096];
    EXPECT_EQ(belay_block_site(&text, text, sizeof text), 0U) << "no block";
    void* block = allocate();
    const std::size_t length = belay_block_site(block, text, sizeof text);
    EXPECT_EQ(length, std::string{text}.size());
    EXPECT_EQ(std::string{text}.rfind(
                  "the block of 1000 bytes in 4 KB pages was allocated by aclrtMalloc:\n  at ", 0),
              0U)
        << text;
    char start[8];
    EXPECT_EQ(belay_block_site(block, start, sizeof start), length);
    EXPECT_STREQ(start, "the blo");
    EXPECT_EQ(belay_block_site(static_cast<char*>(block) + 10, nullptr, 0), length) << "inside it";
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    ASSERT_GT(belay_block_site(block, text, sizeof text), length);
    EXPECT_NE(std::string{text}.find("the block was freed by aclrtFree:\n  at "), std::string::npos) << text;
  });
}

TEST(BlockSite, IsEmptyWhereNoStacksAreKept) {
  in_fresh_process({{"BELAY_STACKS", "off"}}, [] {
    EXPECT_EQ(belay_block_site(nullptr, nullptr, 0), 0U) << "no runtime";
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(belay_block_site(allocate(), nullptr, 0), 0U);
  });
}

}  // namespace own_findings_test
