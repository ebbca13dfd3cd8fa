// What clients of the runtime do first, on each product.
#include <cctype>
#include <cstring>

#include "support/as_enum.h"
#include "support/blocks.h"
#include "support/settings.h"

namespace client_products_test {

using namespace belay_test;

TEST(ClientProducts, C11_SocNames_OfEveryProductThatTellsIt) {
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

TEST(ClientProducts, C15_AtLeastFourDevices_EachWithMemory) {
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

TEST(ClientProducts, C19_AProbe_GetsAnErrorCode_AndStdoutStaysClean) {
  for (const char* product : {"A2", "310B", "310P", "910", "IPV350"}) {
    const Ending ending = run_captured({{"BELAY_PRODUCT", product}, {"BELAY_HBM", "64M"}}, [] {
      probe();
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    });
    EXPECT_TRUE(ending.clean()) << product << ending;
    EXPECT_EQ(ending.out, "") << product;
  }
}

}  // namespace client_products_test
