// Device memory that processes lend by key: who may import it, what both see, and that it is over when the
// exporter likes.
#include "support/sharing.h"

namespace sharing_keys_test {

using namespace belay_test;

constexpr std::size_t k4MB = 4 * kMB;
constexpr std::size_t kAll = 64 * kMB;

TEST(Keys, V391_V432_V434_V476_C16_AKeyIsMade_Listed_Imported_UsedAndClosed) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t block = a->allocate(k4MB);
  ASSERT_EQ(a->write(block, k4MB, 1), 0);
  const std::string key = a.key(block, k4MB, kListed);
  EXPECT_EQ(key.size(), 64U);
  ASSERT_EQ(a.allow_key(key, b.pid()), 0);
  const std::uint64_t there = b.imported(key);
  EXPECT_TRUE(b->verify(there, k4MB, 1));
  ASSERT_EQ(b->write(there + 12345, kMB, 2), 0);
  EXPECT_TRUE(a->verify(block + 12345, kMB, 2));
  EXPECT_EQ(b->free_now(), a->free_now());
  EXPECT_EQ(b.close_key(key), 0);
  EXPECT_EQ(b.read_code(there), kRefused);
  EXPECT_EQ(b.free(there), kBadValue);
  EXPECT_EQ(a.close_key(key), 0);
  EXPECT_TRUE(a->verify(block + 12345, kMB, 2)) << "closing frees nothing (V-434)";
  EXPECT_EQ(a.free(block), 0);
  EXPECT_EQ(a->free_now(), kAll);
}

TEST(Keys, V393_V414_V415_V477_D110_OnlyListedProcessesImport) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t block = a->allocate(k4MB);
  const std::string listed = a.key(block, k4MB, kListed), open = a.key(block, k4MB, kOpen);
  EXPECT_NE(listed, open) << "two keys of one block (V-396)";
  EXPECT_EQ(b.import_key(listed).code, kRefused);
  EXPECT_EQ(a.import_key(listed).code, kRefused);
  EXPECT_EQ(b.import_key(open).code, 0);
  EXPECT_EQ(a.import_key(open).code, 0);
  EXPECT_EQ(a.close_key(open), 0) << "first the import (V-435)";
  EXPECT_EQ(b.import_key(open).code, 0);
  EXPECT_EQ(a.close_key(open), 0);
  EXPECT_EQ(b.import_key(open).code, kRefused);
}

TEST(Keys, V418_V478_V479_ImportedTwice_ItIsTheSamePointer_AndEachImportIsClosed) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t block = a->allocate(k4MB);
  ASSERT_EQ(a->write(block, k4MB, 3), 0);
  const std::string key = a.key(block, k4MB);
  const std::uint64_t there = b.imported(key);
  EXPECT_EQ(b.imported(key), there);
  EXPECT_EQ(b.close_key(key), 0);
  EXPECT_TRUE(b->verify(there, k4MB, 3));
  EXPECT_EQ(b.close_key(key), 0);
  EXPECT_EQ(b.read_code(there), kRefused);
  EXPECT_EQ(b.close_key(key), kRefused);
}

TEST(Keys, V433_V480_V481_V482_V483_TheExporterEndsIt_AndTheImporterHasNothingAnyMore) {
  const TestMachine machine;
  const Party b = party(machine), witness = party(machine);
  for (const char* const how : {"close", "free", "reset", "exit", "kill"}) {
    SCOPED_TRACE(how);
    const Party a = party(machine);
    const std::uint64_t block = a->allocate(k4MB);
    ASSERT_EQ(a->write(block, k4MB, 4), 0);
    const std::string key = a.key(block, k4MB), way = how;
    const std::uint64_t there = b.imported(key);
    EXPECT_TRUE(b->verify(there, k4MB, 4));
    if (way == "close") {
      EXPECT_EQ(a.close_key(key), 0);
    } else if (way == "free") {
      EXPECT_EQ(a.free(block), 0);
    } else if (way == "reset") {
      EXPECT_EQ(a->reset(), 0);
    } else if (way == "exit") {
      a->end(Way::exit);
    } else {
      a->die();
    }
    EXPECT_EQ(b.read_code(there), kRefused);
    EXPECT_NE(b->message().find("process " + std::to_string(a.pid())), std::string::npos) << b->message();
    EXPECT_EQ(b.fill(there, k4MB, 1), kRefused);
    EXPECT_EQ(witness->free_now(), way == "close" ? kAll - k4MB : kAll) << "at once, though it is mapped";
    EXPECT_EQ(b.import_key(key).code, kRefused);
    EXPECT_EQ(witness.import_key(key).code, kRefused) << "V-483";
    EXPECT_EQ(b.free(there), kBadValue);
    EXPECT_EQ(b.close_key(key), 0);
    EXPECT_EQ(b.close_key(key), kRefused);
  }
}

// Freed by its exporter while it is mapped elsewhere, a range is nobody's, but given to nobody either.
TEST(Keys, V433_ARangeIsNotGivenOutAgainWhileSomebodyMapsIt) {
  const TestMachine machine{"2G"};
  const Party a = party(machine), b = party(machine);
  const std::uint64_t block = a->allocate(k4MB);
  const std::string key = a.key(block, k4MB);
  const std::uint64_t there = b.imported(key);
  ASSERT_EQ(a.free(block), 0);
  std::vector<std::uint64_t> others;
  for (int i = 0; i < 8; ++i) others.push_back(a->allocate(k4MB));
  EXPECT_EQ(std::ranges::count(others, block), 0);
  for (const std::uint64_t each : others) EXPECT_EQ(a.free(each), 0);
  EXPECT_EQ(b.close_key(key), 0);
  bool again = false;
  for (int i = 0; i < 300 && !again; ++i) again = a->allocate(k4MB) == block;  // more than the heap holds
  EXPECT_TRUE(again);
  EXPECT_EQ(b.read_code(there), kRefused);
}

TEST(Keys, V386_V388_V389_V395_V484_WhatCanBeExported) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t block = a->allocate(100'000, ACL_MEM_MALLOC_NORMAL_ONLY);
  ASSERT_EQ(a->write(block, 100'000, 5), 0);
  for (const std::size_t off : {1U, 4095U, 4097U})
    EXPECT_EQ(a.export_key(block + off, 10).code, kRefused) << off;
  const std::string part = a.key(block + 8192, 20'000);
  const std::uint64_t there = b.imported(part);
  ASSERT_EQ(a->write(block + 8192, 20'000, 6), 0);
  EXPECT_TRUE(b->verify(there, 20'000, 6));
  EXPECT_EQ(b.fill(there, 20'480, 0), 0) << "whole pages";
  EXPECT_EQ(b.fill(there, 20'481, 0), kRefused) << "and no byte more";
  EXPECT_EQ(b.fill(there - 1, 1, 0), kRefused);
  EXPECT_EQ(a.export_key(block, 102'400).code, 0);
  EXPECT_EQ(a.export_key(block, 102'401).code, kRefused);
  EXPECT_EQ(b.export_key(there, 4096).code, kRefused) << "V-421";
  const std::uint64_t large = a->allocate(k4MB, ACL_MEM_MALLOC_HUGE_ONLY);
  EXPECT_EQ(a.export_key(large + 4096, 10).code, kRefused);
  EXPECT_EQ(a.export_key(large + k2MB, 10).code, 0);
}

TEST(Keys, V166_V387_V394_V460_V461_MappedMemory_StaysMappedAsLongAsItHasAKey) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t handle = a.physical(8 * kMB), place = a.map(handle, 8 * kMB);
  ASSERT_EQ(a->write(place, 8 * kMB, 7), 0);
  const std::string key = a.key(place + k2MB, k4MB);
  EXPECT_EQ(a.only_unmap(place), kRefused);
  const std::uint64_t there = b.imported(key);
  ASSERT_EQ(a->write(place + k2MB, k4MB, 8), 0);
  EXPECT_TRUE(b->verify(there, k4MB, 8));
  EXPECT_EQ(b.fill(there, k4MB + 1, 0), kRefused);
  EXPECT_EQ(a.close_key(key), 0);
  EXPECT_EQ(b.read_code(there), kRefused);
  EXPECT_EQ(a.unmap(place), 0);
  const std::uint64_t exported = a.map(handle, 8 * kMB);
  (void)a.value(handle);
  EXPECT_EQ(a.export_key(exported, k2MB).code, kRefused);
}

TEST(Keys, V399_V401_V402_V485_TheList) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t block = a->allocate(k4MB);
  const std::string key = a.key(block, k4MB, kListed), open = a.key(block, k4MB, kOpen);
  EXPECT_EQ(a.allow_key(key, 1, 31), 0);
  EXPECT_EQ(a.allow_key(key, 32, 31), 0);
  EXPECT_EQ(a.allow_key(key, 1, 32), kBadValue);
  EXPECT_EQ(a.allow_key(key, 1, 0), kBadValue);
  EXPECT_EQ(a.allow_key(key, 0), kRefused);
  EXPECT_EQ(a.allow_key(key, a.pid()), kRefused);
  EXPECT_EQ(a.allow_key(open, b.pid()), 207006);
  EXPECT_EQ(b.allow_key(key, b.pid()), kRefused);
  EXPECT_EQ(b.allow_key(std::string(64, '0'), b.pid()), kRefused);
}

TEST(Keys, V412_V413_ForgedAndTruncatedKeys) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t block = a->allocate(k4MB);
  const std::string key = a.key(block, k4MB);
  EXPECT_EQ(b.import_key("").code, kBadValue);
  EXPECT_EQ(b.import_key(key + "0").code, kBadValue);
  EXPECT_EQ(b.import_key(std::string(100, 'a')).code, kBadValue);
  for (std::size_t length = 1; length < key.size(); ++length)
    ASSERT_EQ(b.import_key(key.substr(0, length)).code, kRefused) << length;
  for (std::size_t bit = 0; bit < key.size() * 8; ++bit) {
    std::string wrong = key;
    wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ 1 << bit % 8);
    if (wrong.find('\0') != std::string::npos) continue;
    ASSERT_EQ(b.import_key(wrong).code, kRefused) << "bit " << bit;
  }
  EXPECT_EQ(b.import_key(key).code, 0);
}

TEST(Keys, V41_D116_AnImporterIsKilled_AndTheExporterGetsItsRangeBack) {
  const TestMachine machine;
  const Party a = party(machine);
  const std::uint64_t block = a->allocate(k4MB);
  ASSERT_EQ(a->write(block, k4MB, 9), 0);
  const std::string key = a.key(block, k4MB);
  const Party b = party(machine);
  ASSERT_EQ(b->write(b.imported(key), kMB, 10), 0);
  b->die();
  EXPECT_TRUE(a->verify(block, kMB, 10));
  ASSERT_EQ(a.free(block), 0);
  EXPECT_EQ(a->free_now(), kAll);
}

TEST(Keys, V42_AResetOfTheImporter_ClosesItsImports) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t block = a->allocate(k4MB);
  const std::string key = a.key(block, k4MB);
  const std::uint64_t there = b.imported(key);
  ASSERT_EQ(b->reset(), 0);
  ASSERT_EQ(b->set_device(), 0);
  EXPECT_EQ(b.read_code(there), kRefused);
  EXPECT_EQ(b.close_key(key), kRefused);
  EXPECT_EQ(b.import_key(key).code, 0);
  EXPECT_EQ(a.close_key(key), 0);
}

TEST(Keys, V391_AThousandKeysOfOneBlock_EndWithIt) {
  const TestMachine machine{"256M"};
  const Party a = party(machine), b = party(machine);
  std::vector<std::string> keys;
  const std::uint64_t block = a->allocate(k4MB);
  for (int i = 0; i < 1000; ++i) keys.push_back(a.key(block + static_cast<std::uint64_t>(i) * 4096, 4096));
  for (const std::string& each : keys) ASSERT_EQ(b.import_key(each).code, 0);
  EXPECT_EQ(a.free(block), 0);
  for (const std::string& each : keys) ASSERT_EQ(b.close_key(each), 0);
  EXPECT_EQ(a->free_now(), 256 * kMB);
}

}  // namespace sharing_keys_test
