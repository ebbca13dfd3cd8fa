// Copies and fills of managed memory, in streams and at once, and file functions straight on it.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "support/gates.h"
#include "support/managed.h"
#include "support/scratch.h"

namespace managed_copies_test {

using namespace belay_test;

class ManagedCopies : public OnDevice {};

const aclrtMemcpyKind kKinds[] = {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST,
                                  ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT};

TEST_F(ManagedCopies, V276_V274_FilledAndCopiedLikeDeviceMemory) {
  const Managed block{3 * kManagedPage};
  const std::size_t whole = 3 * kManagedPage;
  EXPECT_EQ(aclrtMemset(block.get(), whole, 0x6B, whole), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), whole), Bytes(whole, 0x6B));
  const Bytes bytes = pattern(whole - 2, 5);
  write_to(block.get(1), bytes);
  EXPECT_EQ(read_from(block.get(1), bytes.size()), bytes);
  EXPECT_EQ(read_from(block.get(), 1), Bytes{0x6B});
  EXPECT_EQ(read_from(block.get(whole - 1), 1), Bytes{0x6B});
}

TEST_F(ManagedCopies, V274_SynchronousCopiesWithEveryOtherMemory_AndEveryKind) {
  const Managed block{kManagedPage};
  const Device device{4096};
  const Pinned pinned{4096};
  Bytes plain(4096);
  unsigned seed = 10;
  for (void* const other : {device.get(), pinned.get(), static_cast<void*>(plain.data()), block.get(kMB)}) {
    for (const aclrtMemcpyKind kind : kKinds) {
      write_to(other, pattern(4096, ++seed));
      EXPECT_EQ(aclrtMemcpy(block.get(3), 4096, other, 4096, kind), ACL_SUCCESS) << kind;
      EXPECT_EQ(read_from(block.get(3), 4096), pattern(4096, seed)) << kind;
      write_to(block.get(3), pattern(4096, ++seed));
      EXPECT_EQ(aclrtMemcpy(other, 4096, block.get(3), 4096, kind), ACL_SUCCESS) << kind;
      EXPECT_EQ(read_from(other, 4096), pattern(4096, seed)) << kind;
    }
  }
}

TEST_F(ManagedCopies, M274_QueuedCopies_RunInStreamOrder_WhateverTheKind) {
  const Managed block{kManagedPage};
  const Device device{256};
  const Pinned pinned{256};
  Stream stream;
  for (void* const other : {device.get(), pinned.get(), block.get(kMB)}) {
    for (const aclrtMemcpyKind kind : kKinds) {
      write_to(block.get(), pattern(256, 1));
      write_to(other, pattern(256, 2));
      EventGate hold{stream};
      EXPECT_EQ(aclrtMemcpyAsync(block.get(), 256, other, 256, kind, stream), ACL_SUCCESS) << kind;
      EXPECT_EQ(aclrtMemsetAsync(other, 128, 9, 128, default_stream()), ACL_SUCCESS);
      EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
      EXPECT_EQ(read_from(block.get(), 256), pattern(256, 1)) << "it is only queued, kind " << kind;
      hold.open();
      EXPECT_EQ(finish(stream), ACL_SUCCESS);
      Bytes expected = pattern(256, 2);
      std::fill_n(expected.begin(), 128, std::uint8_t{9});
      EXPECT_EQ(read_from(block.get(), 256), expected) << "it took what was there when it ran, kind " << kind;
    }
  }
}

TEST_F(ManagedCopies, M274_OutOfManagedMemoryToo_InOrderWithFills) {
  const Managed block{kManagedPage};
  const Pinned seen{10 * 64};
  const Device device{64};
  Stream stream;
  EventGate hold{stream};
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(aclrtMemsetAsync(block.get(), 64, static_cast<int>(i + 1), 64, stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(device.get(), 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
              ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(seen.get(i * 64), 64, i % 2 == 0 ? device.get() : block.get(), 64,
                               ACL_MEMCPY_DEVICE_TO_HOST, stream),
              ACL_SUCCESS);
  }
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(read_from(seen.get(i * 64), 64), Bytes(64, static_cast<std::uint8_t>(i + 1))) << i;
}

TEST_F(ManagedCopies, M274_M265_ThePageableEndStillWaits) {
  const Managed block{kManagedPage};
  write_to(block.get(), pattern(64, 1));
  Bytes plain(64);
  Stream stream;
  EventGate hold{stream};
  EXPECT_EQ(aclrtMemsetAsync(block.get(), 64, 8, 64, stream), ACL_SUCCESS);
  const OpensLater opens{hold};
  EXPECT_EQ(aclrtMemcpyAsync(plain.data(), 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST, stream),
            ACL_SUCCESS);
  EXPECT_TRUE(opens.opening()) << "it came back before the stream could go on";
  EXPECT_EQ(plain, Bytes(64, 8)) << "the bytes are there when it returns";
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(ManagedCopies, M274_V274_RowsOfAPlane) {
  const Managed block{kManagedPage};
  const Pinned pinned{64};
  std::memcpy(pinned.get(), pattern(64, 6).data(), 64);
  Stream stream;
  EXPECT_EQ(aclrtMemset(block.get(), 256, 0, 256), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy2dAsync(block.get(), 64, pinned.get(), 16, 16, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream),
            ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  const Bytes got = read_from(block.get(), 256), sent = pattern(64, 6);
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 64; ++column)
      EXPECT_EQ(got[row * 64 + column], column < 16 ? sent[row * 16 + column] : 0) << row << ' ' << column;
  }
}

TEST_F(ManagedCopies, V274_RowsAtOnce_AndFillsOfWords) {
  const Managed block{kManagedPage};
  Bytes rows = pattern(64, 7), back(64);
  EXPECT_EQ(aclrtMemcpy2d(block.get(), 32, rows.data(), 16, 16, 4, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy2d(back.data(), 16, block.get(), 32, 16, 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(back, rows);
  EXPECT_EQ(aclrtMemsetD32(block.get(4), 64, 0x04030201, 2), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(4), 8), (Bytes{1, 2, 3, 4, 1, 2, 3, 4}));
  Stream stream;
  EXPECT_EQ(aclrtMemsetD32Async(block.get(4), 64, 0x08070605, 2, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(4), 8), (Bytes{5, 6, 7, 8, 5, 6, 7, 8}));
}

TEST_F(ManagedCopies, V277_M272_ACopyToAFreedBlock_IsRefused) {
  Managed block{kManagedPage};
  Bytes plain(64);
  void* const was = block.free_now();
  EXPECT_EQ(aclrtMemset(was, 64, 1, 64), kRefused);
  EXPECT_EQ(aclrtMemcpy(plain.data(), 64, was, 64, ACL_MEMCPY_DEVICE_TO_HOST), kRefused);
  EXPECT_EQ(aclrtMemcpy(was, 64, plain.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kRefused);
}

TEST_F(ManagedCopies, V277_M239_ARangeThatLeavesTheBlock_IsRefused) {
  const Managed block{kManagedPage + 1};
  const std::size_t whole = 2 * kManagedPage;
  EXPECT_EQ(aclrtMemset(block.get(), whole, 1, whole), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(block.get(whole - 1), 2, 2, 2), kRefused);
  EXPECT_EQ(aclrtMemset(block.get(), whole + 1, 2, whole + 1), kRefused);
  EXPECT_EQ(read_from(block.get(), whole), Bytes(whole, 1)) << "nothing was written";
}

TEST_F(ManagedCopies, V274_FilesAreReadIntoItAndWrittenFromIt) {
  const Scratch files;
  const Bytes bytes = pattern(3 * kMB, 8);
  const std::string in = files.write("in", std::string(bytes.begin(), bytes.end())), out = files.sub("out");
  const Managed block{2 * kManagedPage};
  const Device device{3 * kMB};
  int file = ::open(in.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::read(file, block.get(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ASSERT_EQ(::close(file), 0);
  EXPECT_EQ(aclrtMemcpy(device.get(), bytes.size(), block.get(), bytes.size(), ACL_MEMCPY_DEVICE_TO_DEVICE),
            ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), bytes.size()), bytes) << "the device sees what the file had";
  EXPECT_EQ(aclrtMemset(block.get(), kKB, 0x77, kKB), ACL_SUCCESS);
  file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(file, block.get(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ASSERT_EQ(::close(file), 0);
  Bytes expected = bytes;
  std::fill_n(expected.begin(), kKB, std::uint8_t{0x77});
  EXPECT_EQ(read_text(out), std::string(expected.begin(), expected.end()));
}

}  // namespace managed_copies_test
