// What client programs do and rely on.
#include <cctype>
#include <cstring>
#include <numeric>

#include "support/as_enum.h"
#include "support/batch.h"
#include "support/captured_process.h"
#include "support/fresh_process.h"

namespace client_habits_test {

using namespace belay_test;

TEST(ClientHabits, C11_WithoutInit_EverythingWorks) {
  in_fresh_process([] {
    const char* const name = aclrtGetSocName();  // before any device is set
    ASSERT_NE(name, nullptr);
    EXPECT_STRNE(name, "");
    for (const char* c = name; *c != '\0'; ++c) {
      EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(*c)) != 0 || *c == '_' || *c == '-') << name;
    }
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Device block{100};
    write_to(block.get(), pattern(100, 1));
    EXPECT_EQ(read_from(block.get(), 100), pattern(100, 1));
    EXPECT_STREQ(aclrtGetSocName(), name);
  });
}

TEST(ClientHabits, C12_InitTwice_Is100002_AndHarmsNothing) {
  in_fresh_process([] {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    write_to(block, pattern(64, 1));
    EXPECT_EQ(aclInit(nullptr), 100002);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(read_from(block, 64), pattern(64, 1));
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  });
}

class ClientMemory : public OnDevice {};

TEST_F(ClientMemory, C13_StackMemoryAndVectorData_AreCopiedAndFilled) {
  Device block{1024};
  float on_stack[4] = {1.5F, 2.5F, 3.5F, 4.5F};
  std::vector<double> numbers(64);
  std::iota(numbers.begin(), numbers.end(), 0.25);
  EXPECT_EQ(aclrtMemcpy(block.get(), sizeof on_stack, on_stack, sizeof on_stack, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(block.get(512), 512, numbers.data(), 512, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  float back_on_stack[4] = {};
  std::vector<double> back(64);
  EXPECT_EQ(aclrtMemcpy(back_on_stack, sizeof back_on_stack, block.get(), sizeof on_stack,
                        ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(back.data(), 512, block.get(512), 512, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(on_stack, back_on_stack, sizeof on_stack), 0);
  EXPECT_EQ(back, numbers);
  EXPECT_EQ(aclrtMemset(back.data(), 512, 0, 512), ACL_SUCCESS);
  EXPECT_EQ(back, std::vector<double>(64));
  EXPECT_EQ(aclrtMemset(on_stack, sizeof on_stack, 0, sizeof on_stack), ACL_SUCCESS);
  EXPECT_EQ(on_stack[3], 0.0F);
  const char text[] = "a string literal";
  EXPECT_EQ(aclrtMemcpy(block.get(), 1024, text, sizeof text, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), sizeof text), Bytes(text, text + sizeof text));
}

TEST_F(ClientMemory, C14_BatchCopies_StoreNoItem_OnSuccess) {
  for (const std::size_t count : {1U, 2U, 100U}) {
    Items items{count};
    Batch batch = items.up();
    for (const std::size_t before : {std::size_t{0}, kUnset}) {
      batch.fail = before;
      ASSERT_EQ(batch.run(), ACL_SUCCESS);
      EXPECT_EQ(batch.fail, std::numeric_limits<std::size_t>::max());
    }
  }
}

TEST(ClientHabits, C19_LeaksAndMisuse_PrintNothingToStdoutEither) {
  const Ending ending = run_captured([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(at(block, 1)), kBadValue);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(ending.out, "");
}

TEST_F(ClientMemory, C20_ADestinationSizeFarTooLarge_IsAccepted) {
  Device block{64};
  Bytes host = pattern(64, 1);
  for (const std::size_t room : {std::size_t{65}, kGB, number(block.get()), number(host.data()),
                                 std::numeric_limits<std::size_t>::max()}) {
    ASSERT_EQ(aclrtMemset(block.get(), room, 0, 64), ACL_SUCCESS) << room;
    EXPECT_EQ(aclrtMemcpy(block.get(), room, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS)
        << room;
    EXPECT_EQ(read_from(block.get(), 64), host) << room;
    Bytes back(64);
    EXPECT_EQ(aclrtMemcpy(back.data(), room, block.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS)
        << room;
    EXPECT_EQ(back, host) << room;
  }
}

}  // namespace client_habits_test
