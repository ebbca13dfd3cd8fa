// aclrtMemsetD32.
#include <cstring>
#include <limits>

#include "support/blocks.h"

namespace memset_d32_test {

using namespace belay_test;

class MemsetD32 : public OnDevice {};

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

Bytes words(std::uint32_t value, std::size_t count) {
  Bytes bytes(count * 4);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes.data() + i * 4, &value, 4);
  return bytes;
}

TEST_F(MemsetD32, M382_M5_NoWords_Is0_BeforeEverythingElse) {
  Device block{64};
  write_to(block.get(), pattern(64, 1));
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemsetD32(nullptr, 0, 1, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetD32(block.get(1), 0, 1, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetD32(block.get(kGB), 64, 1, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetD32(block.get(), 64, 1, 0), ACL_SUCCESS);
  };
  calls();
  without_context(calls);
  EXPECT_EQ(read_from(block.get(), 64), pattern(64, 1));
}

TEST_F(MemsetD32, M383_M384_NullAndUnaligned_Are100000_BeforeTheContext) {
  Device block{64};
  write_to(block.get(), pattern(64, 1));
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemsetD32(nullptr, 64, 1, 1), kBadArgument);
    EXPECT_EQ(aclrtMemsetD32(nullptr, 0, 1, 1), kBadArgument);
    for (const std::size_t offset : {1U, 2U, 3U, 5U, 7U}) {
      EXPECT_EQ(aclrtMemsetD32(block.get(offset), 16, 1, 1), kBadArgument) << offset;
      EXPECT_EQ(aclrtMemsetD32(block.get(kGB + offset), 16, 1, 1), kBadArgument) << "before the look-up";
    }
  };
  calls();
  without_context(calls);
  EXPECT_EQ(read_from(block.get(), 64), pattern(64, 1));
  EXPECT_EQ(aclrtMemsetD32(block.get(4), 60, 1, 1), ACL_SUCCESS);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(MemsetD32, M385_MoreWordsThanRoom_Is100000_AlsoWhereTheProductWouldWrap) {
  Device block{64};
  write_to(block.get(), pattern(64, 1));
  struct Case {
    std::size_t room, count;
    bool fits;
  };
  const auto calls = [&](bool only_bad) {
    for (const Case& test :
         {Case{0, 1, false}, Case{3, 1, false}, Case{4, 1, true}, Case{5, 1, true}, Case{7, 2, false},
          Case{8, 2, true}, Case{63, 16, false}, Case{64, 16, true}, Case{64, kMax, false},
          Case{64, (kMax >> 2U) + 1, false}, Case{64, (kMax >> 2U) + 2, false},
          Case{64, (kMax >> 1U) + 1, false}, Case{kMax, (kMax >> 2U) + 1, false}, Case{kMax, kMax, false}}) {
      if (test.fits && only_bad) continue;
      EXPECT_EQ(aclrtMemsetD32(block.get(), test.room, 7, test.count), test.fits ? ACL_SUCCESS : kBadArgument)
          << test.room << " " << test.count;
    }
  };
  calls(true);
  without_context([&] { calls(true); });
  EXPECT_EQ(read_from(block.get(), 64), pattern(64, 1));
  calls(false);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(MemsetD32, M386_DeviceAddressInNoBlock_Is507899_BeforeTheContext) {
  Device other{64};
  Device gone{64, ACL_MEM_MALLOC_HUGE_ONLY};
  void* const was = gone.free_now();
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemsetD32(was, 64, 1, 1), kRefused);
    EXPECT_EQ(aclrtMemsetD32(other.get(kGB), 64, 1, 1), kRefused);
  };
  calls();
  EXPECT_EQ(last_error(), kRefused);
  without_context(calls);
}

TEST_F(MemsetD32, M387_PlainHostMemory_Is100000_BeforeTheContext) {
  alignas(4) std::uint8_t on_stack[16] = {};
  std::vector<std::uint32_t> on_heap(4);
  static std::uint32_t is_static[4];
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemsetD32(on_stack, 16, 1, 4), kBadArgument);
    EXPECT_EQ(aclrtMemsetD32(on_heap.data(), 16, 1, 4), kBadArgument);
    EXPECT_EQ(aclrtMemsetD32(is_static, 16, 1, 4), kBadArgument);
  };
  calls();
  without_context(calls);
  EXPECT_EQ(on_stack[0], 0);
  EXPECT_EQ(on_heap, std::vector<std::uint32_t>(4));
  EXPECT_EQ(is_static[3], 0U);
}

TEST_F(MemsetD32, M387_M391_PinnedAndRegisteredHostMemory_AreFilled) {
  Pinned pinned{64};
  EXPECT_EQ(aclrtMemsetD32(pinned.get(4), 60, 0x01020304, 15), ACL_SUCCESS);
  EXPECT_EQ(Bytes(at(pinned.get(), 4), at(pinned.get(), 64)), words(0x01020304, 15));
  Pages memory{1};
  for (const std::uint32_t flag :
       {static_cast<std::uint32_t>(ACL_HOST_REG_MAPPED), static_cast<std::uint32_t>(ACL_HOST_REG_PINNED)}) {
    ASSERT_EQ(aclrtHostRegisterV2(memory.get(), 4096, flag), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetD32(memory.get(), 4096, flag + 5, 1024), ACL_SUCCESS);
    EXPECT_EQ(Bytes(at(memory.get(), 0), at(memory.get(), 4096)), words(flag + 5, 1024));
    ASSERT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetD32(memory.get(), 4096, 0, 1024), kBadArgument) << "plain memory again";
  }
}

TEST_F(MemsetD32, M389_NoContext_Is107002_NothingWritten_BeforeTheRange) {
  Device block{64};
  write_to(block.get(), pattern(64, 1));
  Pinned pinned{64};
  write_to(pinned.get(), pattern(64, 2));
  without_context([&] {
    EXPECT_EQ(aclrtMemsetD32(block.get(), 64, 1, 16), kNoContext);
    EXPECT_EQ(aclrtMemsetD32(block.get(), 8192, 1, 2048), kNoContext);
    EXPECT_EQ(aclrtMemsetD32(pinned.get(), 64, 1, 16), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
  });
  EXPECT_EQ(read_from(block.get(), 64), pattern(64, 1));
  EXPECT_EQ(read_from(pinned.get(), 64), pattern(64, 2));
}

TEST_F(MemsetD32, M391_ExactlyTheWordsAskedFor_InNativeByteOrder) {
  Device block{3 * 4096};
  for (const std::uint32_t value : {0U, 1U, 0x01020304U, 0x80000000U, 0xFFFFFFFFU}) {
    for (const std::size_t offset : {0U, 4U, 4092U, 4096U}) {
      for (const std::size_t count : {1U, 2U, 3U, 1023U, 1024U, 1025U}) {
        Bytes expected = pattern(3 * 4096, 9);
        write_to(block.get(), expected);
        EXPECT_EQ(aclrtMemsetD32(block.get(offset), count * 4, value, count), ACL_SUCCESS);
        const Bytes written = words(value, count);
        std::copy(written.begin(), written.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
        EXPECT_EQ(read_from(block.get(), expected.size()), expected)
            << value << " " << offset << " " << count;
      }
    }
  }
}

TEST_F(MemsetD32, M434_M391_RangeByPage_OneWordMoreIs507899_NothingWritten) {
  Device block{100};
  EXPECT_EQ(aclrtMemsetD32(block.get(), kMax, 5, 1024), ACL_SUCCESS) << "inside the last page";
  EXPECT_EQ(aclrtMemsetD32(block.get(), kMax, 6, 1025), kRefused);
  EXPECT_EQ(aclrtMemsetD32(block.get(4), kMax, 6, 1024), kRefused);
  EXPECT_EQ(aclrtMemsetD32(block.get(), kMax, 6, kMax >> 2U), kRefused);
  EXPECT_EQ(last_error(), kRefused);
  EXPECT_EQ(read_from(block.get(), 4096), words(5, 1024));
}

TEST_F(MemsetD32, M386_TheDeviceAddressOfARegistration_Is507899) {
  Pages memory{1};
  void* address = nullptr;
  ASSERT_EQ(aclrtHostRegister(memory.get(), 4096, ACL_HOST_REGISTER_MAPPED, &address), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetD32(address, 64, 1, 16), kRefused);
  EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
}

}  // namespace memset_d32_test
