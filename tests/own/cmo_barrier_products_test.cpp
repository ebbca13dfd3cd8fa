// Cache operations with barriers, which only Atlas 200I/500 A2 has, and only for streams of models.
#include "support/as_enum.h"
#include "support/on_product.h"
#include "support/products.h"
#include "support/streams.h"

namespace cmo_barrier_products_test {

using namespace belay_test;

int g_local = 0;

int operate(void* start, std::size_t size, int type, std::uint32_t barrier, aclrtStream stream = nullptr) {
  return aclrtCmoAsyncWithBarrier(start, size, as_enum<aclrtCmoType>(type), barrier, stream);
}

aclrtBarrierTaskInfo barriers(std::size_t count, int type = ACL_RT_CMO_TYPE_INVALID, std::uint32_t id = 1) {
  aclrtBarrierTaskInfo info{};
  info.barrierNum = count;
  for (auto& one : info.cmoInfo) one = {as_enum<aclrtCmoType>(type), id};
  return info;
}
int wait(aclrtBarrierTaskInfo info, aclrtStream stream = nullptr, std::uint32_t flag = 0) {
  return aclrtCmoWaitBarrier(&info, stream, flag);
}

constexpr int kInvalid = ACL_RT_CMO_TYPE_INVALID;

TEST(CmoBarrierProducts, V362_V363_V367_V368_M418_OnlyOn310B) {
  expect_only_on({"310B"}, {{"aclrtCmoAsyncWithBarrier", [] { return operate(&g_local, 4, 0, 0); },
                             [] { return operate(nullptr, 4, 0, 0); }, true},
                            {"aclrtCmoWaitBarrier", [] { return wait(barriers(1)); },
                             [] { return aclrtCmoWaitBarrier(nullptr, nullptr, 0); }, true}});
}

TEST(CmoBarrierProducts, V363_V368_BeforeTheOtherArguments) {
  for (const char* product : {"950", "A3", "A2", "310P", "910", "IPV350"}) {
    on_product(product, [] {
      EXPECT_EQ(operate(&g_local, 0, 9, 77), kUnsupported);
      EXPECT_EQ(wait(barriers(1, 0, 0)), kUnsupported);
      EXPECT_EQ(wait(barriers(0)), kBadArgument) << "V-367 is of the outer layer";
      EXPECT_EQ(wait(barriers(7)), kBadArgument);
    });
  }
}

TEST(CmoBarrierProducts, V362_V364_SizeAndType) {
  on_product("310B", [] {
    EXPECT_EQ(operate(nullptr, 0, 9, 77), kBadArgument);
    EXPECT_EQ(operate(&g_local, 0, 0, 0), kBadValue);
    EXPECT_EQ(operate(&g_local, 0, kInvalid, 1), kBadValue);
    for (const int type : {4, 5, 100, -1}) {
      for (const std::uint32_t barrier : {0U, 1U})
        EXPECT_EQ(operate(&g_local, 4, type, barrier), kUnsupported) << type;
    }
  });
}

TEST(CmoBarrierProducts, V365_OnlyInvalidHasABarrier) {
  on_product("310B", [] {
    EXPECT_EQ(operate(&g_local, 4, kInvalid, 0), kBadValue);
    EXPECT_EQ(last_error(), kBadValue);
    for (const int type : {0, 1, 3}) {
      for (const std::uint32_t barrier : {1U, 2U, 0xFFFFFFFFU})
        EXPECT_EQ(operate(&g_local, 4, type, barrier), kBadValue) << type << " with " << barrier;
    }
  });
}

TEST(CmoBarrierProducts, V366_AllElseIs507000_OnEveryStream) {
  for (const char* form : {"EP", "RC"}) {
    on_product("310B", {{"BELAY_FORM", form}}, [] {
      Stream stream;
      for (const aclrtStream in : {stream.get(), aclrtStream{nullptr}}) {
        for (const int type : {0, 1, 3}) EXPECT_EQ(operate(&g_local, 4, type, 0, in), kInternal) << type;
        for (const std::uint32_t barrier : {1U, 7U, 0xFFFFFFFFU})
          EXPECT_EQ(operate(&g_local, 4, kInvalid, barrier, in), kInternal) << barrier;
        EXPECT_EQ(last_error(), kInternal);
      }
      EXPECT_TRUE(idle(stream)) << "nothing was queued";
    });
  }
}

TEST(CmoBarrierProducts, V367_OneToSixBarriers) {
  on_product("310B", [] {
    for (const std::size_t count : {std::size_t{0}, std::size_t{7}, std::size_t{8}, ~std::size_t{0}})
      EXPECT_EQ(wait(barriers(count)), kBadArgument) << count;
    EXPECT_EQ(last_error(), ACL_SUCCESS);
    for (std::size_t count = 1; count <= 6; ++count) EXPECT_EQ(wait(barriers(count)), kInternal) << count;
  });
}

TEST(CmoBarrierProducts, V369_EveryUsedEntryIsInvalidWithAnId) {
  on_product("310B", [] {
    for (std::size_t bad = 0; bad < 6; ++bad) {
      for (const int type : {0, 1, 3, 4}) {
        aclrtBarrierTaskInfo info = barriers(6);
        info.cmoInfo[bad].cmoType = as_enum<aclrtCmoType>(type);
        EXPECT_EQ(wait(info), kBadValue) << bad << " is " << type;
        info.barrierNum = bad;
        if (bad > 0) {
          EXPECT_EQ(wait(info), kInternal) << "unused entries do not matter";
        }
      }
      aclrtBarrierTaskInfo info = barriers(6);
      info.cmoInfo[bad].barrierId = 0;
      EXPECT_EQ(wait(info), kBadValue) << bad;
    }
  });
}

TEST(CmoBarrierProducts, V370_V371_V372_AllElseIs507000_WhateverTheFlag_AndTheStreamGoesOn) {
  on_product("310B", [] {
    Stream stream;
    const Marks marks;
    for (const std::uint32_t flag : {0U, 1U, 0xFFFFFFFFU}) {
      EXPECT_EQ(wait(barriers(2), stream, flag), kInternal) << flag;
      EXPECT_EQ(last_error(), kInternal);
    }
    EXPECT_TRUE(idle(stream)) << "nothing was queued";
    marks.queue(stream);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_TRUE(marks.set()) << "no barrier holds it";
  });
}

}  // namespace cmo_barrier_products_test
