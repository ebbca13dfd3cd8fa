// Registering host memory: aclrtHostRegister, aclrtHostRegisterV2, aclrtHostUnregister.
#include <cstring>

#include "support/blocks.h"

namespace host_register_test {

using namespace belay_test;

class HostRegister : public OnDevice {};

constexpr std::uint32_t kMapped = ACL_HOST_REG_MAPPED, kPinnedFlag = ACL_HOST_REG_PINNED;
constexpr std::uint32_t kIo = ACL_HOST_REG_IOMEMORY, kReadOnly = ACL_HOST_REG_READONLY;

aclrtHostRegisterType type_of(unsigned value) { return static_cast<aclrtHostRegisterType>(value); }

aclError register_mapped(void* start, std::uint64_t size) {
  void* address = nullptr;
  return aclrtHostRegister(start, size, ACL_HOST_REGISTER_MAPPED, &address);
}

TEST_F(HostRegister, M194_M195_M196_NullsAndSizeZero_Are100000_BeforeTypeAndContext) {
  Pages memory{1};
  void* address = sentinel();
  const auto calls = [&] {
    EXPECT_EQ(aclrtHostRegister(nullptr, 4096, type_of(0), &address), kBadArgument);
    EXPECT_EQ(aclrtHostRegister(memory.get(), 4096, type_of(0), nullptr), kBadArgument);
    EXPECT_EQ(aclrtHostRegister(memory.get(), 0, type_of(0), &address), kBadArgument);
    EXPECT_EQ(aclrtHostRegister(nullptr, 4096, type_of(2), &address), kBadArgument);
    EXPECT_EQ(aclrtHostRegister(memory.get(), 4096, type_of(2), nullptr), kBadArgument);
    EXPECT_EQ(aclrtHostRegister(memory.get(), 0, type_of(2), &address), kBadArgument);
    EXPECT_EQ(aclrtHostRegister(memory.get(1), 0, type_of(0), &address), kBadArgument);
  };
  calls();
  without_context(calls);
  EXPECT_EQ(address, sentinel());
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(HostRegister, M197_UnknownTypeBits_Are207000_BeforeTheContext) {
  Pages memory{1};
  void* address = sentinel();
  const auto calls = [&] {
    for (const unsigned type : {1U, 2U, 3U, 5U, 9U, 0x10U, 0x14U, 0x10000000U, 0x80000000U, 0xFFFFFFFFU}) {
      EXPECT_EQ(aclrtHostRegister(memory.get(), 4096, type_of(type), &address), kUnsupported) << type;
    }
  };
  calls();
  without_context(calls);
  EXPECT_EQ(address, sentinel());
}

TEST_F(HostRegister, M198_NoContext_Is107002_BeforeTheReservedBitsAndTheAlignment) {
  Pages memory{1};
  without_context([&] {
    void* address = sentinel();
    for (const unsigned type : {0U, 4U, 8U, 12U}) {
      EXPECT_EQ(aclrtHostRegister(memory.get(), 4096, type_of(type), &address), kNoContext) << type;
    }
    EXPECT_EQ(aclrtHostRegister(memory.get(1), 4000, type_of(0), &address), kNoContext);
    EXPECT_EQ(address, sentinel());
    EXPECT_EQ(last_error(), kNoContext);
  });
}

TEST_F(HostRegister, M200_M205_D48_AnyOverlapWithARegisteredRange_Is507910) {
  Pages memory{8};
  ASSERT_EQ(register_mapped(memory.get(2 * 4096), 2 * 4096 + 1), ACL_SUCCESS);  // pages 2, 3 and a byte of 4
  struct Case {
    std::size_t page;
    std::uint64_t size;
    bool overlaps;
  };
  for (const Case& test :
       {Case{2, 2 * 4096 + 1, true}, Case{2, 1, true}, Case{3, 1, true}, Case{4, 4096, true},
        Case{1, 4097, true}, Case{1, 4096, false}, Case{5, 4096, false}, Case{0, 8 * 4096, true},
        Case{0, 2 * 4096, false}, Case{0, 2 * 4096 + 1, true}, Case{1, 4095, false}}) {
    void* const start = memory.get(test.page * 4096);
    void* address = sentinel();
    EXPECT_EQ(aclrtHostRegister(start, test.size, type_of(0), &address),
              test.overlaps ? kRegistered : ACL_SUCCESS)
        << test.page << " " << test.size;
    if (test.overlaps) {
      EXPECT_EQ(address, sentinel());
    } else {
      EXPECT_EQ(aclrtHostUnregister(start), ACL_SUCCESS);
    }
    for (const std::uint32_t flag : {kMapped, kPinnedFlag, kMapped | kPinnedFlag}) {
      EXPECT_EQ(aclrtHostRegisterV2(start, test.size, flag), test.overlaps ? kRegistered : ACL_SUCCESS)
          << test.page << " " << test.size << " " << flag;
      if (!test.overlaps) {
        EXPECT_EQ(aclrtHostUnregister(start), ACL_SUCCESS);
      }
    }
  }
  EXPECT_EQ(aclrtHostUnregister(memory.get(2 * 4096)), ACL_SUCCESS);
}

TEST_F(HostRegister, M200_TheNumberIsTheLastError) {
  Pages memory{1};
  ASSERT_EQ(register_mapped(memory.get(), 4096), ACL_SUCCESS);
  EXPECT_EQ(register_mapped(memory.get(), 4096), kRegistered);
  EXPECT_EQ(last_error(), kRegistered);
  EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
}

TEST_F(HostRegister, M201_M202_InV2_NullAndSizeZero_Are100000_BeforeTheFlag) {
  Pages memory{1};
  const auto calls = [&] {
    EXPECT_EQ(aclrtHostRegisterV2(nullptr, 4096, kMapped), kBadArgument);
    EXPECT_EQ(aclrtHostRegisterV2(nullptr, 4096, 0), kBadArgument);
    EXPECT_EQ(aclrtHostRegisterV2(memory.get(), 0, kMapped), kBadArgument);
    EXPECT_EQ(aclrtHostRegisterV2(memory.get(), 0, 0), kBadArgument);
    EXPECT_EQ(aclrtHostRegisterV2(memory.get(1), 0, kMapped), kBadArgument);
  };
  calls();
  without_context(calls);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(HostRegister, M203_InV2_FlagZeroOrUnknownBits_Are107000_BeforeTheContext) {
  Pages memory{1};
  const auto calls = [&] {
    for (const std::uint32_t flag :
         {0U, 1U, 3U, 0x10U, 0x12U, 0x20000000U, 0x10000001U, 0x80000002U, 0xFFFFFFFFU}) {
      EXPECT_EQ(aclrtHostRegisterV2(memory.get(), 4096, flag), kBadValue) << flag;
      EXPECT_EQ(aclrtHostRegisterV2(memory.get(1), 4000, flag), kBadValue) << flag;
    }
    EXPECT_EQ(last_error(), kBadValue);
  };
  calls();
  without_context(calls);
}

TEST_F(HostRegister, M204_InV2_NoContext_Is107002_BeforeTheReservedBits) {
  Pages memory{1};
  without_context([&] {
    for (const std::uint32_t flag : {kMapped, kPinnedFlag, kIo, kReadOnly}) {
      EXPECT_EQ(aclrtHostRegisterV2(memory.get(), 4096, flag), kNoContext) << flag;
      EXPECT_EQ(aclrtHostRegisterV2(memory.get(1), 4000, flag), kNoContext) << flag;
    }
  });
}

TEST_F(HostRegister, M206_PinnedFlagOnPinnedMemory_Is107000_MappedIsFine) {
  Pinned block{4 * 4096};
  for (const std::size_t offset : {std::size_t{0}, std::size_t{4096}, std::size_t{3 * 4096}}) {
    EXPECT_EQ(aclrtHostRegisterV2(block.get(offset), 4096, kPinnedFlag), kBadValue) << offset;
    EXPECT_EQ(aclrtHostRegisterV2(block.get(offset), 4096, kPinnedFlag | kMapped), kBadValue) << offset;
    EXPECT_EQ(aclrtHostUnregister(block.get(offset)), kNotRegistered) << "a refused call registers nothing";
    EXPECT_EQ(aclrtHostRegisterV2(block.get(offset), 4096, kMapped), ACL_SUCCESS) << offset;
    EXPECT_EQ(aclrtHostUnregister(block.get(offset)), ACL_SUCCESS) << offset;
  }
  EXPECT_EQ(last_error(), kNotRegistered);
}

TEST_F(HostRegister, M207_D48_PointerMustBeAMultipleOf4KB_TheSizeNeedNot) {
  Pages memory{4};
  for (const std::size_t offset : {1U, 8U, 64U, 512U, 2048U, 4095U, 4097U}) {
    void* address = sentinel();
    EXPECT_EQ(aclrtHostRegister(memory.get(offset), 4096, type_of(0), &address), kRefused) << offset;
    EXPECT_EQ(address, sentinel());
    EXPECT_EQ(aclrtHostRegisterV2(memory.get(offset), 4096, kMapped), kRefused) << offset;
    EXPECT_EQ(aclrtHostRegisterV2(memory.get(offset), 4096, kPinnedFlag), kRefused) << offset;
    EXPECT_EQ(last_error(), kRefused);
  }
  for (const std::uint64_t size : {1U, 4095U, 4097U, 8191U}) {
    EXPECT_EQ(register_mapped(memory.get(4096), size), ACL_SUCCESS) << size;
    EXPECT_EQ(aclrtHostUnregister(memory.get(4096)), ACL_SUCCESS);
  }
}

TEST_F(HostRegister, M208_PinnedAndPlainMemory_MayBeRegistered) {
  Pages plain{2};
  Pinned pinned{8192};
  for (void* start : {plain.get(), pinned.get()}) {
    EXPECT_EQ(register_mapped(start, 8192), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostUnregister(start), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostRegisterV2(start, 8192, kMapped), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostUnregister(start), ACL_SUCCESS);
  }
}

TEST_F(HostRegister, M209_M433_ReservedBits_Are207000_BeforeTheAlignment) {
  Pages memory{1};
  void* address = sentinel();
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}}) {
    for (const unsigned type : {4U, 8U, 12U}) {
      EXPECT_EQ(aclrtHostRegister(memory.get(offset), 4000, type_of(type), &address), kUnsupported) << type;
    }
    for (const std::uint32_t flag :
         {kIo, kReadOnly, kIo | kMapped, kReadOnly | kPinnedFlag, kIo | kReadOnly}) {
      EXPECT_EQ(aclrtHostRegisterV2(memory.get(offset), 4000, flag), kUnsupported) << flag;
    }
  }
  EXPECT_EQ(address, sentinel());
}

TEST_F(HostRegister, M433_OrderOfTheLateChecks_BitsAlignmentRegisteredPinned) {
  Pinned block{4 * 4096};
  ASSERT_EQ(aclrtHostRegisterV2(block.get(), 2 * 4096, kMapped), ACL_SUCCESS);
  void* address = sentinel();
  // Registered already, and a reserved bit.
  EXPECT_EQ(aclrtHostRegister(block.get(), 4096, type_of(4), &address), kUnsupported);
  EXPECT_EQ(aclrtHostRegisterV2(block.get(), 4096, kReadOnly | kMapped), kUnsupported);
  // Registered already, and not aligned.
  EXPECT_EQ(aclrtHostRegister(block.get(64), 4096, type_of(0), &address), kRefused);
  EXPECT_EQ(aclrtHostRegisterV2(block.get(64), 4096, kMapped), kRefused);
  // Not aligned, and PINNED on pinned memory.
  EXPECT_EQ(aclrtHostRegisterV2(block.get(3 * 4096 + 64), 64, kPinnedFlag), kRefused);
  // Registered already, and PINNED on pinned memory.
  EXPECT_EQ(aclrtHostRegisterV2(block.get(), 4096, kPinnedFlag), kRegistered);
  EXPECT_EQ(aclrtHostRegisterV2(block.get(4096), 2 * 4096, kPinnedFlag | kMapped), kRegistered);
  EXPECT_EQ(aclrtHostUnregister(block.get()), ACL_SUCCESS);
}

TEST_F(HostRegister, M219_UnregisterNull_Is100000) {
  EXPECT_EQ(aclrtHostUnregister(nullptr), kBadArgument);
  without_context([] { EXPECT_EQ(aclrtHostUnregister(nullptr), kBadArgument); });
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(HostRegister, M220_UnregisterWithoutContext_Is107002_AndTheRegistrationStays) {
  Pages memory{1};
  ASSERT_EQ(register_mapped(memory.get(), 4096), ACL_SUCCESS);
  without_context([&] {
    EXPECT_EQ(aclrtHostUnregister(memory.get()), kNoContext);
    EXPECT_EQ(aclrtHostUnregister(memory.get(64)), kNoContext);
  });
  EXPECT_EQ(register_mapped(memory.get(), 4096), kRegistered);
  EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
}

TEST_F(HostRegister, M222_D48_NotTheStartOfARegistration_Is507911_ASecondCallToo) {
  Pages memory{3};
  EXPECT_EQ(aclrtHostUnregister(memory.get()), kNotRegistered);
  ASSERT_EQ(register_mapped(memory.get(4096), 8192), ACL_SUCCESS);
  for (const std::size_t offset : {0U, 4095U, 4097U, 4096U + 64U, 8192U, 12287U}) {
    EXPECT_EQ(aclrtHostUnregister(memory.get(offset)), kNotRegistered) << offset;
  }
  EXPECT_EQ(aclrtHostUnregister(memory.get(4096)), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(memory.get(4096)), kNotRegistered);
  EXPECT_EQ(last_error(), kNotRegistered);
  Pinned pinned{4096};
  EXPECT_EQ(aclrtHostUnregister(pinned.get()), kNotRegistered) << "pinned is not registered";
  Device device{64};
  EXPECT_EQ(aclrtHostUnregister(device.get()), kNotRegistered);
}

TEST_F(HostRegister, M213_UnregisteringLeavesTheMemoryAndItsContents) {
  Pages memory{2};
  const Bytes before(at(memory.get(), 0), at(memory.get(), 8192));
  for (const std::uint32_t flag : {kMapped, kPinnedFlag, kMapped | kPinnedFlag}) {
    ASSERT_EQ(aclrtHostRegisterV2(memory.get(), 8192, flag), ACL_SUCCESS) << flag;
    *at(memory.get(), 8191) = static_cast<std::uint8_t>(before[8191] + 1);
    EXPECT_EQ(std::memcmp(memory.get(), before.data(), 8191), 0);
    EXPECT_EQ(aclrtFreeHost(memory.get()), kBadValue) << "it is no block of aclrtMallocHost";
    ASSERT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
    EXPECT_EQ(std::memcmp(memory.get(), before.data(), 8191), 0);
    EXPECT_EQ(*at(memory.get(), 8191), static_cast<std::uint8_t>(before[8191] + 1));
    *at(memory.get(), 8191) = before[8191];
  }
}

}  // namespace host_register_test
