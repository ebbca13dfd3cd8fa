// What client programs do and rely on.
#include <array>
#include <cctype>
#include <cstring>
#include <numeric>

#include "support/as_enum.h"
#include "support/batch.h"
#include "support/captured_process.h"

namespace {

using namespace belay_test;

TEST(ClientHabits, C11_WithoutInit_EverythingWorks) {
  in_fresh_process({}, [] {
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

TEST(ClientHabits, C11_SocNames_OfEveryProductThatTellsIt) {
  for (const char* product : {"950", "A3", "A2", "310B", "310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      const char* const text = aclrtGetSocName();
      ASSERT_NE(text, nullptr) << product;
      const std::string name = text;
      EXPECT_FALSE(name.empty()) << product;
      for (const char c : name) {
        EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-')
            << product << name;
      }
    });
  }
}

TEST(ClientHabits, C12_InitTwice_Is100002_AndHarmsNothing) {
  in_fresh_process({}, [] {
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

TEST(ClientHabits, C15_AtLeastFourDevices_EachWithMemory) {
  ::unsetenv("BELAY_DEVICES");
  ::unsetenv("BELAY_PRODUCT");
  in_fresh_process({}, [] {
    std::uint32_t count = 0;
    ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
    EXPECT_GE(count, 4U);
    for (int device = 0; device < 4; ++device) {
      ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      Device block{64};
      aclrtPtrAttributes attributes{};
      EXPECT_EQ(aclrtPointerGetAttributes(block.get(), &attributes), ACL_SUCCESS);
      EXPECT_EQ(attributes.location.id, static_cast<std::uint32_t>(device));
    }
  });
}

// Asks for things that some system lacks and goes on with something else.
void probe() {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* block = nullptr;
  const int giant = aclrtMalloc(&block, 1, ACL_MEM_MALLOC_HUGE1G_ONLY);
  EXPECT_TRUE(giant == kUnsupported || giant == kShortage || giant == kBadArgument) << giant;
  const int peers = aclrtMalloc(&block, std::size_t{1} << 45U, ACL_MEM_MALLOC_HUGE_ONLY_P2P);
  EXPECT_NE(peers, ACL_SUCCESS);
  std::size_t free = 0, total = 0;
  (void)aclrtGetMemInfo(ACL_HBM_MEM_HUGE1G, &free, &total);
  (void)aclrtGetMemInfo(as_enum<aclrtMemAttr>(99), &free, &total);
  (void)aclrtSetDevice(1000);
  (void)aclrtFree(&free);
  (void)aclrtMemcpy(&free, 1, nullptr, 8, ACL_MEMCPY_DEFAULT);
  aclrtHostMemMapCapability capability = ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
  (void)aclrtHostMemMapCapabilities(0, ACL_RT_HAC_TYPE_CCU, &capability);
  EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS) << "and goes on";
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST(ClientHabits, C19_AProbe_GetsAnErrorCode_AndStdoutStaysClean) {
  for (const char* product : {"A2", "310B", "310P", "910", "IPV350"}) {
    const Ending ending = run_captured({{"BELAY_PRODUCT", product}, {"BELAY_HBM", "64M"}}, [] {
      probe();
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    });
    EXPECT_TRUE(ending.clean()) << product << ending;
    EXPECT_EQ(ending.out, "") << product;
  }
}

TEST(ClientHabits, C19_LeaksAndMisuse_PrintNothingToStdoutEither) {
  const Ending ending = run_captured({}, [] {
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

}  // namespace
