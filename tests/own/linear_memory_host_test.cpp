// Padding behind a block that host code reaches.
#include "support/allocators.h"
#include "support/on_product.h"

namespace linear_memory_host_test {

using namespace belay_test;

TEST(LinearMemoryOfTheHost, M40_PaddingBehindTheBlockDoesNotFaultForTheCpu) {
  on_product("A2", {{"BELAY_HOST_ACCESS", "allow"}}, [] {
    for (const Allocator& allocator : all_allocators()) {
      const Block block(allocator, 100, kNormalOnly);
      volatile char* bytes = block.bytes();
      for (std::size_t i = 0; i < 128; ++i) bytes[i] = static_cast<char>(i);
      EXPECT_EQ(bytes[127], 127);
      EXPECT_EQ(contents(block.get(), 100)[99], 99);
    }
  });
}

}  // namespace linear_memory_host_test
