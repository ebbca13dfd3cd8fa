// Copies between two devices and the peer access they need.
#include <array>

#include "support/blocks.h"
#include "support/settings.h"

namespace peer_copy_test {

using namespace belay_test;

// A block on each of three devices, filled with its own pattern.
struct ThreeDevices {
  std::array<void*, 3> blocks{};
  ThreeDevices() {
    for (int device = 0; device < 3; ++device) {
      EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      void*& block = blocks[static_cast<std::size_t>(device)];
      EXPECT_EQ(aclrtMalloc(&block, 256, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
      refill(device);
    }
  }
  ThreeDevices(const ThreeDevices&) = delete;
  ThreeDevices& operator=(const ThreeDevices&) = delete;
  ~ThreeDevices() {
    for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
  void refill(int device) { write_to(blocks[static_cast<std::size_t>(device)], own(device)); }
  static Bytes own(int device) { return pattern(256, static_cast<unsigned>(device) + 20); }

  // Copies between two of them with a third, or one of them, current.
  int copy(int current, int from, int to) {
    refill(from);
    refill(to);
    EXPECT_EQ(aclrtSetDevice(current), ACL_SUCCESS);
    const int answer = aclrtMemcpy(blocks[static_cast<std::size_t>(to)], 256,
                                   blocks[static_cast<std::size_t>(from)], 256, ACL_MEMCPY_DEVICE_TO_DEVICE);
    EXPECT_EQ(read_from(blocks[static_cast<std::size_t>(to)], 256), own(answer == ACL_SUCCESS ? from : to))
        << "copied exactly if it says so";
    EXPECT_EQ(read_from(blocks[static_cast<std::size_t>(from)], 256), own(from));
    return answer;
  }
};

void enable(int from, int to) {
  ASSERT_EQ(aclrtSetDevice(from), ACL_SUCCESS);
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(to, 0), ACL_SUCCESS);
}

TEST(PeerCopy, M245_WithoutPeerAccess_Is507899_OnFourProducts_NothingCopied) {
  for (const char* product : {"950", "A2", "310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}, {"BELAY_DEVICES", "3"}}, [&] {
      ThreeDevices devices;
      EXPECT_EQ(devices.copy(0, 0, 1), kRefused) << product;
      EXPECT_EQ(last_error(), kRefused) << product;
      EXPECT_EQ(devices.copy(0, 1, 0), kRefused) << product;
      EXPECT_EQ(devices.copy(2, 0, 1), kRefused) << product;
      enable(0, 1);
      EXPECT_EQ(devices.copy(0, 0, 1), ACL_SUCCESS) << product;
      EXPECT_EQ(devices.copy(0, 1, 0), ACL_SUCCESS) << product;
    });
  }
}

TEST(PeerCopy, M245_R93_TheCurrentDeviceActs_ElseTheOneOfTheSource) {
  in_fresh_process({{"BELAY_DEVICES", "3"}}, [] {
    ThreeDevices devices;
    enable(0, 1);
    EXPECT_EQ(devices.copy(0, 0, 1), ACL_SUCCESS);
    EXPECT_EQ(devices.copy(0, 1, 0), ACL_SUCCESS) << "device 0 reads from its peer";
    EXPECT_EQ(devices.copy(1, 0, 1), kRefused) << "device 1 has enabled nothing";
    EXPECT_EQ(devices.copy(1, 1, 0), kRefused);
    EXPECT_EQ(devices.copy(2, 0, 1), ACL_SUCCESS) << "the device of the source acts";
    EXPECT_EQ(devices.copy(2, 1, 0), kRefused);
    EXPECT_EQ(devices.copy(0, 0, 2), kRefused) << "another pair";
    EXPECT_EQ(devices.copy(0, 2, 0), kRefused);
    enable(1, 0);
    EXPECT_EQ(devices.copy(1, 0, 1), ACL_SUCCESS);
    EXPECT_EQ(devices.copy(2, 1, 0), ACL_SUCCESS);
  });
}

TEST(PeerCopy, M245_DisabledAgain_Is507899) {
  in_fresh_process({{"BELAY_DEVICES", "3"}}, [] {
    ThreeDevices devices;
    enable(0, 1);
    EXPECT_EQ(devices.copy(0, 0, 1), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
    EXPECT_EQ(devices.copy(0, 0, 1), kRefused);
    EXPECT_EQ(devices.copy(0, 1, 0), kRefused);
  });
}

TEST(PeerCopy, M245_OnA3_NoPeerAccessIsNeeded) {
  in_fresh_process({{"BELAY_PRODUCT", "A3"}, {"BELAY_DEVICES", "3"}}, [] {
    ThreeDevices devices;
    for (const int current : {0, 1, 2}) {
      EXPECT_EQ(devices.copy(current, 0, 1), ACL_SUCCESS) << current;
      EXPECT_EQ(devices.copy(current, 1, 0), ACL_SUCCESS) << current;
    }
  });
}

TEST(PeerCopy, M245_On310B_Is207000_NothingCopied) {
  in_fresh_process({{"BELAY_PRODUCT", "310B"}, {"BELAY_DEVICES", "3"}}, [] {
    ThreeDevices devices;
    for (const int current : {0, 1, 2}) {
      EXPECT_EQ(devices.copy(current, 0, 1), kUnsupported) << current;
      EXPECT_EQ(devices.copy(current, 1, 0), kUnsupported) << current;
    }
  });
}

TEST(PeerCopy, M245_M240_TheKindDoesNotMatter_NorDoesTheP2PMark) {
  in_fresh_process({{"BELAY_DEVICES", "2"}}, [] {
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    void *there = nullptr, *here = nullptr;
    ASSERT_EQ(aclrtMalloc(&there, 64, ACL_MEM_MALLOC_NORMAL_ONLY_P2P), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&here, 64, ACL_MEM_MALLOC_NORMAL_ONLY_P2P), ACL_SUCCESS);
    write_to(here, pattern(64, 1));
    for (const int kind : {0, 1, 2, 3, 4, 5}) {
      EXPECT_EQ(aclrtMemcpy(there, 64, here, 64, kind_of(kind)), kRefused) << kind;
    }
    enable(0, 1);
    for (const int kind : {0, 1, 2, 3, 4, 5}) {
      ASSERT_EQ(aclrtMemset(there, 64, kind, 64), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(there, 64, here, 64, kind_of(kind)), ACL_SUCCESS) << kind;
      EXPECT_EQ(read_from(there, 64), pattern(64, 1)) << kind;
    }
    EXPECT_EQ(aclrtFree(there), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(here), ACL_SUCCESS);
  });
}

TEST(PeerCopy, M240_M434_HostToADeviceThatIsNotCurrent_NeedsNoPeerAccess) {
  in_fresh_process({{"BELAY_DEVICES", "2"}}, [] {
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    void* there = nullptr;
    ASSERT_EQ(aclrtMallocAlign32(&there, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    write_to(there, pattern(64, 1));
    EXPECT_EQ(read_from(there, 64), pattern(64, 1));
    const Bytes much(4097);
    EXPECT_EQ(aclrtMemcpy(there, 4097, much.data(), 4097, ACL_MEMCPY_HOST_TO_DEVICE), kRefused);
    EXPECT_EQ(aclrtFree(there), ACL_SUCCESS);
  });
}

}  // namespace peer_copy_test
