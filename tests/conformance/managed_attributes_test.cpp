// aclrtMemManagedGetAttr and aclrtMemManagedGetAttrs: checks in their order, and the plural form.
#include "support/managed.h"
#include "support/mistakes.h"

namespace managed_attributes_test {

using namespace belay_test;

class ManagedAttributes : public OnTwoDevices {};

using Attribute = aclrtMemManagedRangeAttribute;

constexpr int kReadMostly = ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, kUsers = ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;

struct One {
  int attribute;
  const void* start;
  std::size_t size;
  void* data;
  std::size_t bytes;
  Where where = Where::own;
  int run() const { return query(attribute, start, size, data, bytes); }
};

enum Argument : unsigned {
  kAttribute = 1,
  kStart = 2,
  kSize = 4,
  kData = 8,
  kBytes = 16,
  kCount = 32,
  kSizes = 64
};

TEST_F(ManagedAttributes, V307_V309_V310_V311_V312_TheFirstMistakeDecides) {
  const Contexts contexts;
  const Managed block{kManagedPage};
  Managed gone{kManagedPage};
  void* const was = gone.free_now();
  std::int32_t value = -77, local = 0;
  const One good{kReadMostly, block.get(), 64, &value, 4};
  const std::vector<Mistake<One>> in_order = {
      {"V-307", kBadArgument, kStart, [](One& c) { c.start = nullptr; }},
      {"V-307", kBadArgument, kSize, [](One& c) { c.size = 0; }},
      {"V-307", kBadArgument, kData, [](One& c) { c.data = nullptr; }},
      {"V-309", kBadValue, kAttribute, [](One& c) { c.attribute = 9; }},
      {"V-310", kBadValue, kBytes, [](One& c) { c.bytes = 8; }},
      {"V-311", kBadValue, kStart, [&](One& c) { c.start = &local; }},
      {"V-311", kRefused, kStart, [&](One& c) { c.start = was; }}};
  expect_order("aclrtMemManagedGetAttr", contexts, good, in_order);
  EXPECT_EQ(value, -77) << "nothing was written";
  One without = good;
  without.where = Where::none;
  expect_answer(contexts.run(Where::none, [&] { return without.run(); }), ACL_SUCCESS, "", "V-312");
  EXPECT_EQ(value, 0);
}

struct Several {
  const Attribute* attributes;
  std::size_t count;
  const void* start;
  std::size_t size;
  void* const* data;
  const std::size_t* sizes;
  Where where = Where::own;
  int run() const {
    return aclrtMemManagedGetAttrs(const_cast<Attribute*>(attributes), count, start, size,
                                   const_cast<void**>(data), const_cast<std::size_t*>(sizes));
  }
};

TEST_F(ManagedAttributes, V307_V308_V309_V310_V311_V320_TheFirstMistakeDecides_ForSeveral) {
  const Contexts contexts;
  const Managed block{kManagedPage};
  Managed gone{kManagedPage};
  void* const was = gone.free_now();
  std::int32_t values[2] = {-77, -77}, local = 0;
  void* const data[2] = {&values[0], &values[1]};
  const Attribute good_ones[2] = {as_enum<Attribute>(1), as_enum<Attribute>(2)},
                  bad_ones[2] = {as_enum<Attribute>(1), as_enum<Attribute>(0)};
  const std::size_t good_sizes[2] = {4, 4}, bad_sizes[2] = {4, 3};
  const Several good{good_ones, 2, block.get(), 64, data, good_sizes};
  const std::vector<Mistake<Several>> in_order = {
      {"V-307", kBadArgument, kAttribute, [](Several& c) { c.attributes = nullptr; }},
      {"V-307", kBadArgument, kStart, [](Several& c) { c.start = nullptr; }},
      {"V-307", kBadArgument, kSize, [](Several& c) { c.size = 0; }},
      {"V-307", kBadArgument, kData, [](Several& c) { c.data = nullptr; }},
      {"V-307", kBadArgument, kSizes, [](Several& c) { c.sizes = nullptr; }},
      {"V-308", kBadValue, kCount, [](Several& c) { c.count = 0; }},
      {"V-309", kBadValue, kAttribute, [&](Several& c) { c.attributes = bad_ones; }},
      {"V-310", kBadValue, kSizes, [&](Several& c) { c.sizes = bad_sizes; }},
      {"V-311", kBadValue, kStart, [&](Several& c) { c.start = &local; }},
      {"V-311", kRefused, kStart, [&](Several& c) { c.start = was; }}};
  expect_order("aclrtMemManagedGetAttrs", contexts, good, in_order);
  EXPECT_EQ(values[0], -77) << "one bad entry, and nothing is written";
  EXPECT_EQ(values[1], -77);
  without_context([&] { EXPECT_EQ(good.run(), ACL_SUCCESS) << "V-312"; });
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], -2);
}

TEST_F(ManagedAttributes, V309_OneToEight) {
  const Managed block{64};
  std::int32_t value = 0;
  for (const int attribute : {0, 9, 10, 100, -1, 0x7FFFFFFF})
    EXPECT_EQ(query(attribute, block.get(), 64, &value, 4), kBadValue) << attribute;
  EXPECT_EQ(last_error(), kBadValue);
  for (int attribute = 1; attribute <= 8; ++attribute)
    EXPECT_EQ(query(attribute, block.get(), 64, &value, 4), ACL_SUCCESS) << attribute;
}

TEST_F(ManagedAttributes, V310_FourBytes_AListAnyMultiple) {
  const Managed block{64};
  std::int32_t values[300];
  for (int attribute = 1; attribute <= 8; ++attribute) {
    for (const std::size_t bytes : {0, 1, 2, 3, 5, 7, 8, 12, 400, 1200}) {
      const bool list = attribute == kUsers && bytes != 0 && bytes % 4 == 0;
      EXPECT_EQ(query(attribute, block.get(), 64, values, bytes), list ? ACL_SUCCESS : kBadValue)
          << attribute << " with " << bytes;
    }
  }
}

TEST_F(ManagedAttributes, V310_ExactlyTheBytesOfTheListAreWritten) {
  const Managed block{64};
  EXPECT_EQ(used_by(block.get(), 64, device_side(2)), ACL_SUCCESS);
  for (const std::size_t room : {1U, 2U, 5U}) {
    std::vector<std::int32_t> list(8, -77);
    EXPECT_EQ(query(kUsers, block.get(), 64, list.data(), room * 4), ACL_SUCCESS);
    EXPECT_EQ(list[0], 2);
    for (std::size_t i = 1; i < list.size(); ++i)
      EXPECT_EQ(list[i], i < room ? -2 : -77) << i << " of " << room;
  }
}

TEST_F(ManagedAttributes, V311_RangesThatLeaveTheBlock) {
  const Managed block{2 * kManagedPage};
  const Device device{64};
  const Pinned pinned{64};
  std::int32_t value = 0;
  for (void* const start : {device.get(), pinned.get(), static_cast<void*>(&value)})
    EXPECT_EQ(query(kReadMostly, start, 1, &value, 4), kBadValue) << start;
  EXPECT_EQ(query(kReadMostly, block.get(), 2 * kManagedPage, &value, 4), ACL_SUCCESS);
  EXPECT_EQ(query(kReadMostly, block.get(2 * kManagedPage - 1), 1, &value, 4), ACL_SUCCESS);
  EXPECT_EQ(query(kReadMostly, block.get(2 * kManagedPage - 1), 2, &value, 4), kRefused);
  EXPECT_EQ(query(kReadMostly, block.get(2 * kManagedPage), 1, &value, 4), kRefused);
  EXPECT_EQ(last_error(), kRefused);
}

TEST_F(ManagedAttributes, V320_SeveralAnswerAsEachAlone) {
  const Managed block{3 * kManagedPage};
  EXPECT_EQ(read_mostly(block.page(0), 1), ACL_SUCCESS);
  EXPECT_EQ(prefer(block.get(), 3 * kManagedPage, device_side(1)), ACL_SUCCESS);
  for (const int device : {1, 5, 6}) EXPECT_EQ(used_by(block.page(1), 1, device_side(device)), ACL_SUCCESS);
  for (const std::size_t start : {std::size_t{0}, kManagedPage, 2 * kManagedPage}) {
    for (const std::size_t size : {std::size_t{1}, 3 * kManagedPage - start}) {
      Attribute attributes[8];
      std::int32_t together[8][4], alone[8][4];
      void* data[8];
      std::size_t sizes[8];
      for (int i = 0; i < 8; ++i) {
        attributes[i] = as_enum<Attribute>(8 - i);  // in another order than that of their numbers
        data[i] = together[i];
        sizes[i] = 8 - i == kUsers ? 16 : 4;
        std::fill_n(together[i], 4, -77);
        std::fill_n(alone[i], 4, -77);
        EXPECT_EQ(query(8 - i, block.get(start), size, alone[i], sizes[i]), ACL_SUCCESS);
      }
      EXPECT_EQ(aclrtMemManagedGetAttrs(attributes, 8, block.get(start), size, data, sizes), ACL_SUCCESS);
      for (int i = 0; i < 8; ++i) {
        for (int entry = 0; entry < 4; ++entry)
          EXPECT_EQ(together[i][entry], alone[i][entry]) << 8 - i << " at " << start << " + " << size;
      }
    }
  }
}

TEST_F(ManagedAttributes, V320_OneBadEntryAnywhere_NothingIsWritten) {
  const Managed block{64};
  for (std::size_t bad = 0; bad < 3; ++bad) {
    for (const bool by_size : {true, false}) {
      Attribute attributes[3] = {as_enum<Attribute>(1), as_enum<Attribute>(3), as_enum<Attribute>(4)};
      std::int32_t values[3] = {-77, -77, -77};
      void* data[3] = {&values[0], &values[1], &values[2]};
      std::size_t sizes[3] = {4, 4, 4};
      if (by_size)
        sizes[bad] = 6;
      else
        attributes[bad] = as_enum<Attribute>(11);
      EXPECT_EQ(aclrtMemManagedGetAttrs(attributes, 3, block.get(), 64, data, sizes), kBadValue) << bad;
      for (const std::int32_t value : values) EXPECT_EQ(value, -77) << bad;
      data[bad] = nullptr;
      EXPECT_NE(aclrtMemManagedGetAttrs(attributes, 3, block.get(), 64, data, sizes), ACL_SUCCESS) << bad;
    }
  }
}

}  // namespace managed_attributes_test
