// Copies and fills of mapped memory: across mappings, into holes, through aliases.
#include "support/gates.h"
#include "support/stripes.h"
#include "support/virtual_memory.h"

namespace virtual_copies_test {

using namespace belay_test;

class MappedCopies : public OnDevice {};

// A reservation with `count` handles of 2 MB side by side, from its second granule on.
struct Row {
  explicit Row(std::size_t count, const aclrtPhysicalMemProp& prop = of_device())
      : place{(count + 2) * k2MB} {
    for (std::size_t i = 0; i < count; ++i) {
      memory.push_back(std::make_unique<Physical>(k2MB, prop));
      mapped.push_back(std::make_unique<Mapped>(place.get((i + 1) * k2MB), *memory.back()));
    }
  }
  void* get(std::size_t offset = 0) const { return place.get(k2MB + offset); }
  Reserved place;
  std::vector<std::unique_ptr<Physical>> memory;
  std::vector<std::unique_ptr<Mapped>> mapped;
};

TEST_F(MappedCopies, V152_V154_WhatCanBeDoneWithABlockCanBeDoneHere) {
  const MappedBlock here{4 * kMB};
  const Bytes bytes = stripes(4 * kMB, 1);
  write_to(here.get(), bytes);
  EXPECT_EQ(read_from(here.get(), 4 * kMB), bytes);
  const Device block{4 * kMB, ACL_MEM_MALLOC_HUGE_ONLY};
  EXPECT_EQ(aclrtMemcpy(block.get(), 4 * kMB, here.get(), 4 * kMB, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 4 * kMB), bytes);
  EXPECT_EQ(aclrtMemset(here.get(), 4 * kMB, 0x11, 4 * kMB), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(here.get(1), 100, block.get(3), 100, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(read_from(here.get(1), 100), Bytes(bytes.begin() + 3, bytes.begin() + 103));
  EXPECT_EQ(read_from(here.get(), 1), Bytes{0x11});
  EXPECT_EQ(aclrtMemsetD32(here.get(8), 16, 0x01020304, 4), ACL_SUCCESS);
  EXPECT_EQ(read_from(here.get(8), 4), (Bytes{4, 3, 2, 1}));
}

TEST_F(MappedCopies, V154_AcrossTheBordersOfAdjacentMappings) {
  for (const aclrtPhysicalMemProp& prop : mappable({of_device(), of_host()})) {
    const Row row{4, prop};
    const Bytes bytes = stripes(4 * k2MB, 2);
    write_to(row.get(), bytes);
    EXPECT_EQ(read_from(row.get(), 4 * k2MB), bytes);
    for (const std::size_t border : {k2MB, 2 * k2MB, 3 * k2MB}) {
      for (const std::size_t before : {0U, 1U, 7U, 4096U}) {
        const Bytes part = pattern(2 * before + 1, 9);
        write_to(row.get(border - before), part);
        EXPECT_EQ(read_from(row.get(border - before), part.size()), part);
      }
    }
    EXPECT_EQ(aclrtMemset(row.get(k2MB - 5), 2 * k2MB, 0x77, k2MB + 10), ACL_SUCCESS);
    EXPECT_EQ(read_from(row.get(2 * k2MB), 5), Bytes(5, 0x77));
    // From one row to another whose borders lie elsewhere.
    const Row other{4, prop};
    EXPECT_EQ(aclrtMemcpy(other.get(kMB), 7 * kMB, row.get(), 7 * kMB, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
    EXPECT_EQ(read_from(other.get(kMB), 7 * kMB), read_from(row.get(), 7 * kMB));
  }
}

TEST_F(MappedCopies, V154_TheOrderOfHandlesIsThatOfTheAddresses) {
  const Reserved place{6 * kMB};
  const Physical a, b, c;
  {
    const Mapped one{place.get(), a}, two{place.get(k2MB), b}, three{place.get(2 * k2MB), c};
    write_to(place.get(), stripes(6 * kMB, 3));
  }
  const Bytes bytes = stripes(6 * kMB, 3);
  const Mapped one{place.get(), c}, two{place.get(k2MB), a}, three{place.get(2 * k2MB), b};
  const Bytes got = read_from(place.get(), 6 * kMB);
  const auto piece = [](const Bytes& all, std::size_t i) {
    return Bytes(all.begin() + static_cast<long>(i * k2MB), all.begin() + static_cast<long>((i + 1) * k2MB));
  };
  EXPECT_EQ(piece(got, 0), piece(bytes, 2));
  EXPECT_EQ(piece(got, 1), piece(bytes, 0));
  EXPECT_EQ(piece(got, 2), piece(bytes, 1));
}

TEST_F(MappedCopies, V154_M239_ARangeWithAHoleIsRefused_AndNothingIsMoved) {
  for (const aclrtPhysicalMemProp& prop : mappable({of_device(), of_host()})) {
    Row row{3, prop};
    write_to(row.get(), stripes(3 * k2MB, 4));
    row.mapped[1].reset();
    Bytes host = pattern(3 * k2MB, 5);
    struct Range {
      std::size_t offset, size;
      bool good;
    };
    for (const Range& range :
         {Range{k2MB - 1, 1, true}, Range{k2MB - 1, 2, false}, Range{k2MB, 1, false},
          Range{2 * k2MB - 1, 1, false}, Range{2 * k2MB - 1, 2, false}, Range{2 * k2MB, 1, true},
          Range{0, 3 * k2MB, false}, Range{3 * k2MB - 1, 1, true}, Range{3 * k2MB - 1, 2, false},
          Range{3 * k2MB, 1, false}}) {
      const int expected = range.good ? static_cast<int>(ACL_SUCCESS) : kRefused;
      void* const where = row.get(range.offset);
      EXPECT_EQ(aclrtMemcpy(host.data(), range.size, where, range.size, ACL_MEMCPY_DEVICE_TO_HOST), expected)
          << range.offset;
      EXPECT_EQ(aclrtMemcpy(where, range.size, host.data(), range.size, ACL_MEMCPY_HOST_TO_DEVICE), expected)
          << range.offset;
      EXPECT_EQ(aclrtMemset(where, range.size, 0, range.size), expected) << range.offset;
      if (range.good) write_to(where, Bytes(1, stripes(3 * k2MB, 4)[range.offset]));
    }
    EXPECT_EQ(aclrtMemset(row.place.get(k2MB - 1), 2, 0, 2), kRefused) << "before the first";
    const Bytes bytes = stripes(3 * k2MB, 4);
    EXPECT_EQ(read_from(row.get(), k2MB), Bytes(bytes.begin(), bytes.begin() + static_cast<long>(k2MB)));
    last_error();
  }
}

TEST_F(MappedCopies, V150_TwoAddressesShowTheSameBytes) {
  const Reserved place{16 * kMB}, elsewhere{8 * kMB};
  const Physical memory{4 * kMB};
  const Mapped first{place.get(), memory}, second{place.get(8 * kMB), memory},
      third{elsewhere.get(2 * kMB), memory};
  const Mapped* const all[] = {&first, &second, &third};
  unsigned seed = 1;
  for (const Mapped* from : all) {
    for (const std::size_t offset : {std::size_t{0}, k2MB - 50, 4 * kMB - 100}) {
      write_to(from->get(offset), pattern(100, ++seed));
      for (const Mapped* to : all) EXPECT_EQ(read_from(to->get(offset), 100), pattern(100, seed));
    }
    ASSERT_EQ(aclrtMemset(from->get(kMB), 64, static_cast<int>(seed), 64), ACL_SUCCESS);
    for (const Mapped* to : all)
      EXPECT_EQ(read_from(to->get(kMB), 64), Bytes(64, static_cast<std::uint8_t>(seed)));
  }
  // A copy from one view to another of the same bytes changes nothing.
  const Bytes before = read_from(first.get(), 4 * kMB);
  EXPECT_EQ(aclrtMemcpy(second.get(), 4 * kMB, third.get(), 4 * kMB, ACL_MEMCPY_DEVICE_TO_DEVICE),
            ACL_SUCCESS);
  EXPECT_EQ(read_from(first.get(), 4 * kMB), before);
}

TEST_F(MappedCopies, V150_OverlapThroughAnAliasGoesAsThroughATemporary) {
  const Reserved place{16 * kMB};
  const Physical memory{4 * kMB};
  const Mapped first{place.get(), memory}, second{place.get(8 * kMB), memory};
  const Bytes bytes = stripes(4 * kMB, 6);
  for (const bool forward : {true, false}) {
    write_to(first.get(), bytes);
    void *const to = forward ? second.get(1000) : second.get(), *const from =
                                                                    forward ? first.get() : first.get(1000);
    EXPECT_EQ(aclrtMemcpy(to, 3 * kMB, from, 3 * kMB, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    const long start = forward ? 0 : 1000;
    EXPECT_EQ(read_from(first.get(forward ? 1000 : 0), 3 * kMB),
              Bytes(bytes.begin() + start, bytes.begin() + start + static_cast<long>(3 * kMB)))
        << forward;
  }
}

TEST_F(MappedCopies, V151_V155_BytesStayWithTheMemory_NotWithTheAddress) {
  const Reserved place{32 * kMB};
  const Physical memory{4 * kMB};
  const Bytes bytes = stripes(4 * kMB, 7);
  {
    const Mapped mapped{place.get(), memory};
    write_to(mapped.get(), bytes);
  }
  for (const std::size_t offset : {0U, 2U, 8U, 28U}) {
    const Mapped mapped{place.get(offset * kMB), memory};
    EXPECT_EQ(read_from(mapped.get(), 4 * kMB), bytes) << offset;
  }
  const Reserved other{4 * kMB};
  const Mapped mapped{other.get(), memory};
  EXPECT_EQ(read_from(mapped.get(), 4 * kMB), bytes) << "in another reservation";
}

TEST_F(MappedCopies, V84_V154_BetweenDevices_SynchronousAndQueued) {
  const AlsoOpen other{1};
  const MappedBlock here, there{k2MB, of_device(1)};
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  const Bytes bytes = stripes(k2MB, 8);
  write_to(here.get(), bytes);
  EXPECT_EQ(aclrtMemcpy(there.get(), k2MB, here.get(), k2MB, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(read_from(there.get(), k2MB), bytes);
  ASSERT_EQ(aclrtMemset(here.get(), k2MB, 0, k2MB), ACL_SUCCESS);
  const Stream stream;
  EXPECT_EQ(aclrtMemcpyAsync(here.get(), k2MB, there.get(), k2MB, ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
            ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(here.get(), k2MB), bytes);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
}

TEST_F(MappedCopies, V154_QueuedCopiesFillsAndWords) {
  const Row row{2};
  const Pinned pinned{4096};
  const Stream stream;
  EventGate hold{stream};
  EXPECT_EQ(aclrtMemsetAsync(row.get(), 4 * kMB, 0, 4 * kMB, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWrite(row.get(k2MB), 0x1122334455667788, 0, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWait(row.get(k2MB), 0x1122334455667788, ACL_STREAM_WAIT_VALUE_EQ, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(pinned.get(), 4096, row.get(k2MB - 8), 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(row.get(2 * k2MB - 1), 2, 0, 2, stream), kRefused) << "a hole, at the call";
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(pinned.get(), 16),
            (Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}));
}

TEST_F(MappedCopies, V154_RowsAcrossABorder_AndIntoAHole) {
  Row row{2};
  const Bytes bytes = pattern(16 * 100, 1);
  // 16 rows of 100 bytes, 1000 apart, half of them on either side of the border.
  void* const to = row.get(k2MB - 7950);
  ASSERT_EQ(aclrtMemcpy2d(to, 1000, bytes.data(), 100, 100, 16, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  Bytes got(bytes.size());
  ASSERT_EQ(aclrtMemcpy2d(got.data(), 100, to, 1000, 100, 16, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(got, bytes);
  row.mapped[1].reset();
  EXPECT_EQ(aclrtMemcpy2d(to, 1000, bytes.data(), 100, 100, 16, ACL_MEMCPY_HOST_TO_DEVICE), kRefused);
  EXPECT_EQ(aclrtMemcpy2d(to, 1000, bytes.data(), 100, 50, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS)
      << "the rows before the hole";
}

TEST_F(MappedCopies, V154_ABatch) {
  const MappedBlock here{4 * kMB};
  Bytes bytes = pattern(200, 1), got(200);
  const auto batch = [](void* to, void* from, std::size_t size, aclrtMemLocationType to_type,
                        aclrtMemLocationType from_type) {
    aclrtMemcpyBatchAttr attribute{};
    attribute.dstLoc = {0, to_type};
    attribute.srcLoc = {0, from_type};
    std::size_t start = 0, fail = 0;
    return aclrtMemcpyBatch(&to, &size, &from, &size, 1, &attribute, &start, 1, &fail);
  };
  EXPECT_EQ(batch(here.get(k2MB - 100), bytes.data(), 200, ACL_MEM_LOCATION_TYPE_DEVICE,
                  ACL_MEM_LOCATION_TYPE_HOST),
            ACL_SUCCESS);
  EXPECT_EQ(
      batch(got.data(), here.get(k2MB - 100), 200, ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_LOCATION_TYPE_DEVICE),
      ACL_SUCCESS);
  EXPECT_EQ(got, bytes);
  EXPECT_NE(batch(here.get(4 * kMB - 100), bytes.data(), 200, ACL_MEM_LOCATION_TYPE_DEVICE,
                  ACL_MEM_LOCATION_TYPE_HOST),
            ACL_SUCCESS)
      << "over the end";
}

TEST_F(MappedCopies, V153_V154_MappedHostMemoryIsHostMemory) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  for (const aclrtPhysicalMemProp& prop : {of_host(), of_host(ACL_HBM_MEM_HUGE), of_node()}) {
    const MappedBlock host{4 * kMB, prop}, device{4 * kMB};
    const Bytes bytes = stripes(4 * kMB, 9);
    write_to(host.get(), bytes);
    EXPECT_EQ(aclrtMemcpy(device.get(), 4 * kMB, host.get(), 4 * kMB, ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_SUCCESS);
    EXPECT_EQ(read_from(device.get(), 4 * kMB), bytes);
    ASSERT_EQ(aclrtMemset(host.get(), 4 * kMB, 1, 4 * kMB), ACL_SUCCESS);
    const Stream stream;
    EXPECT_EQ(aclrtMemcpyAsync(host.get(), 4 * kMB, device.get(), 4 * kMB, ACL_MEMCPY_DEVICE_TO_HOST, stream),
              ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(read_from(host.get(), 4 * kMB), bytes);
  }
}

}  // namespace virtual_copies_test
