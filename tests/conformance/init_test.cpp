// Starting the runtime: how often, by whom, in which order.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/scratch.h"

namespace init_test {

using belay_test::in_fresh_process;
using belay_test::recent_message;
using belay_test::Scratch;

constexpr std::size_t kTenMB = 10 * belay_test::kMB;

TEST(Init, R23_TheFirstCallCountsOne) {
  in_fresh_process([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    std::uint64_t count = 99;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 0U);
  });
}

TEST(Init, R24_R35_R36_TwiceAndTwiceFinalized) {
  in_fresh_process([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  });
}

TEST(Init, R24_EveryFurtherCallAddsOne) {
  in_fresh_process([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    std::uint64_t count = 0;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 9U);
  });
}

TEST(Init, R24_TheConfigurationOfAFurtherCallIsNotOpened) {
  const Scratch scratch;
  const std::string broken = scratch.write("broken.json", "{{{");
  const std::string other = scratch.write("other.json", R"({"err_msg_mode": "1"})");
  in_fresh_process([&] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(scratch.sub("missing.json").c_str()), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclInit(broken.c_str()), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclInit(other.c_str()), ACL_ERROR_REPEAT_INITIALIZE);
    std::uint64_t count = 0;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 3U);
  });
}

TEST(Init, R25_FourWaysToHaveNoConfiguration) {
  const Scratch scratch;
  const std::string empty = scratch.write("empty.json", "");
  const std::string braces = scratch.write("braces.json", "{}");
  const std::array<const char*, 4> paths = {nullptr, "", empty.c_str(), braces.c_str()};
  for (const char* path : paths) {
    in_fresh_process([path] {
      EXPECT_EQ(aclInit(path), ACL_SUCCESS) << (path == nullptr ? "NULL" : path);
      std::int32_t device = 0;
      EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
      EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    });
  }
}

TEST(Init, R25_R28_NoPathAndAnEmptyFileAreTheSameText) {
  const Scratch scratch;
  const std::string empty = scratch.write("empty.json", "");
  in_fresh_process([&] {
    const std::array<const char*, 4> paths = {nullptr, empty.c_str(), "", nullptr};
    for (const char* path : paths) {
      EXPECT_EQ(aclInit(path), ACL_SUCCESS);
      EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    }
  });
}

TEST(Init, R26_R221_APathThatCannotBeOpened) {
  const Scratch scratch;
  const std::string missing = scratch.sub("missing.json");
  const std::string below_a_file = scratch.write("plain", "{}") + "/acl.json";
  in_fresh_process([&] {
    EXPECT_EQ(aclInit(missing.c_str()), ACL_ERROR_INVALID_FILE);
    const std::string text = recent_message();
    EXPECT_NE(text.find("EH0003"), std::string::npos) << text;
    EXPECT_NE(text.find(missing), std::string::npos) << text;
    EXPECT_EQ(aclInit(below_a_file.c_str()), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(aclInit(std::string(10000, 'x').c_str()), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE) << "nothing was counted";
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << "a failed call may be repeated";
  });
}

TEST(Init, R26_LinksAndRelativePathsAreFollowed) {
  const Scratch scratch;
  scratch.write("dir/acl.json", R"({"note": 1})");
  std::filesystem::create_symlink("dir/acl.json", scratch.path() / "link.json");
  std::filesystem::create_symlink("nowhere.json", scratch.path() / "broken.json");
  in_fresh_process([&] {
    ASSERT_EQ(::chdir(scratch.path().c_str()), 0);
    EXPECT_EQ(aclInit("broken.json"), ACL_ERROR_INVALID_FILE);
    for (const char* path : {"link.json", "./dir/acl.json", "dir/../dir/acl.json"}) {
      EXPECT_EQ(aclInit(path), ACL_SUCCESS) << path;
      EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    }
  });
}

TEST(Init, R26_OnlyRegularFiles) {
  const Scratch scratch;
  const std::string pipe = scratch.sub("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  in_fresh_process([&] {
    ::alarm(20);  // a pipe must not be waited for
    EXPECT_EQ(aclInit(scratch.path().c_str()), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(aclInit("/dev/null"), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(aclInit(pipe.c_str()), ACL_ERROR_INVALID_FILE);
    ::alarm(0);
  });
}

TEST(Init, R26_TenMBAreAcceptedAndOneByteMoreIsNot) {
  const Scratch scratch;
  const std::string head = R"({"note": ")", tail = R"("})";
  const std::string fits = head + std::string(kTenMB - head.size() - tail.size(), 'x') + tail;
  const std::string full = scratch.write("full.json", fits);
  const std::string over = scratch.write("over.json", fits + "\n");
  in_fresh_process([&] {
    EXPECT_EQ(aclInit(over.c_str()), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(aclInit(full.c_str()), ACL_SUCCESS);
  });
}

TEST(Init, R26_AnUnreadableFile) {
  const Scratch scratch;
  const std::string file = scratch.write("locked.json", "{}");
  ASSERT_EQ(::chmod(file.c_str(), 0), 0);
  in_fresh_process([&] {
    // Nothing is unreadable for the superuser: the child becomes somebody else.
    if (::geteuid() == 0) ASSERT_TRUE(::setgid(65534) == 0 && ::setuid(65534) == 0);
    EXPECT_EQ(aclInit(file.c_str()), ACL_ERROR_INVALID_FILE);
  });
}

TEST(Init, R27_R221_TextThatIsNotJson) {
  const Scratch scratch;
  const std::vector<std::string> texts = {"{",
                                          "}",
                                          R"({"a": })",
                                          R"({"a" 1})",
                                          R"({"a": 1)",
                                          "not json",
                                          R"({"a": 1} tail)",
                                          R"({a: 1})",
                                          "{\"a\": \"open}"};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string file = scratch.write("bad" + std::to_string(i) + ".json", texts[i]);
    in_fresh_process([&] {
      EXPECT_EQ(aclInit(file.c_str()), ACL_ERROR_PARSE_FILE) << texts[i];
      const std::string text = recent_message();
      EXPECT_NE(text.find("EH0004"), std::string::npos) << text;
      EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << "a failed call may be repeated";
    });
  }
}

std::string nested(std::size_t objects, std::size_t arrays) {
  std::string head, tail;
  for (std::size_t i = 0; i < objects; ++i) {
    head += R"({"a":)";
    tail = "}" + tail;
  }
  for (std::size_t i = 0; i < arrays; ++i) {
    head += "[";
    tail = "]" + tail;
  }
  return head + "1" + tail;
}

TEST(Init, R27_TenLevelsAreTheLimit) {
  const Scratch scratch;
  const auto answer = [&](const std::string& text, aclError expected) {
    const std::string file = scratch.write("nested.json", text);
    in_fresh_process([&] { EXPECT_EQ(aclInit(file.c_str()), expected) << text; });
  };
  answer(nested(10, 0), ACL_SUCCESS);
  answer(nested(11, 0), ACL_ERROR_PARSE_FILE);
  answer(nested(1, 10), ACL_SUCCESS);
  answer(nested(1, 11), ACL_ERROR_PARSE_FILE);
  answer(nested(10, 10), ACL_SUCCESS);
  answer(nested(200, 0), ACL_ERROR_PARSE_FILE);
  answer(R"({"a":"{{{{{{{{{{{{{{[[[[[[[[[[[[[["})", ACL_SUCCESS);
  answer(R"({"a":{},"b":{},"c":{},"d":{},"e":{},"f":{},"g":{},"h":{},"i":{},"j":{},"k":{}})", ACL_SUCCESS);
}

TEST(Init, R27_DeepNestingDoesNotCrash) {
  const Scratch scratch;
  const std::string file = scratch.write("deep.json", nested(0, 0).insert(0, std::string(1000000, '[')));
  in_fresh_process([&] { EXPECT_EQ(aclInit(file.c_str()), ACL_ERROR_PARSE_FILE); });
}

TEST(Init, R28_R43_TheTextOfTheFirstCallHoldsForTheProcess) {
  const Scratch scratch;
  const std::string first = scratch.write("first.json", R"({"note": 1})");
  const std::string copy = scratch.write("elsewhere/copy.json", R"({"note": 1})");
  const std::string spaced = scratch.write("spaced.json", R"({"note":  1})");
  const std::string other = scratch.write("other.json", R"({"note": 2})");
  in_fresh_process([&] {
    EXPECT_EQ(aclInit(first.c_str()), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclInit(other.c_str()), ACL_ERROR_INVALID_PARAM);
    const std::string text = recent_message();
    EXPECT_NE(text.find("EH0004"), std::string::npos) << text;
    EXPECT_EQ(aclInit(spaced.c_str()), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE) << "nothing was counted";
    EXPECT_EQ(aclInit(copy.c_str()), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclInit(first.c_str()), ACL_SUCCESS);
  });
}

TEST(Init, R28_NoConfigurationFirst) {
  const Scratch scratch;
  const std::string file = scratch.write("one.json", R"({"note": 1})");
  const std::string braces = scratch.write("braces.json", "{}");
  in_fresh_process([&] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclInit(file.c_str()), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclInit(braces.c_str()), ACL_ERROR_INVALID_PARAM) << "as a text {} is not empty";
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  });
}

TEST(Init, R28_AFailedCallSetsNoText) {
  const Scratch scratch;
  const std::string refused = scratch.write("refused.json", R"({"err_msg_mode": "7"})");
  const std::string good = scratch.write("good.json", R"({"err_msg_mode": "0"})");
  in_fresh_process([&] {
    EXPECT_EQ(aclInit(refused.c_str()), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclInit(good.c_str()), ACL_SUCCESS);
  });
}

TEST(Init, R33_R24_R18_ThreadsTogetherCountEachCall) {
  in_fresh_process([] {
    constexpr std::size_t kThreads = 64;
    std::array<aclError, kThreads> answers{};
    std::atomic<std::size_t> ready{0};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([i, &answers, &ready] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        answers[i] = aclInit(nullptr);
      });
    }
    for (std::thread& thread : threads) thread.join();
    int first = 0, further = 0;
    for (const aclError answer : answers) {
      first += answer == ACL_SUCCESS;
      further += answer == ACL_ERROR_REPEAT_INITIALIZE;
    }
    EXPECT_EQ(first, 1);
    EXPECT_EQ(further, 63);
    std::uint64_t count = 0;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
    EXPECT_EQ(count, kThreads - 1);
  });
}

}  // namespace init_test
