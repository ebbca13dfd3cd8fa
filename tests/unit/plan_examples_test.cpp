// The documents' worked examples (rules file 01, section 5.8), held at compile time.
#include "memory/plan.h"

namespace belay {
namespace plan_examples_test {

constexpr ProductRow kPadded{Product::A2, "", "", "", Technology::Hbm, 0, 32, 0, 0, 0, 0, 0, 0};
constexpr ProductRow k950{Product::A950, "", "", "", Technology::Hbm, 0, 0, 0, 0, 0, 0, 0, 0};
constexpr std::uint32_t kOutside = 99;

constexpr std::size_t bytes_of(std::size_t size, Api api, std::uint32_t policy, const ProductRow& row) {
  return plan(size, policy, api, row)->bytes;
}
constexpr std::size_t cost(std::size_t size, Api api, std::uint32_t policy, const ProductRow& row) {
  return plan(size, policy, api, row)->footprint;
}
constexpr aclError refusal(std::size_t size, Api api, std::uint32_t policy, const ProductRow& row) {
  const PlanResult result = plan(size, policy, api, row);
  return result ? ACL_SUCCESS : result.refusal.code;
}

struct BytesTaken {
  std::size_t size, padded, unpadded;
};
constexpr BytesTaken kBytesTaken[] = {
    {1, 64, 32},
    {31, 64, 32},
    {32, 64, 32},
    {33, 96, 64},
    {64, 96, 64},
    {1048575, 1048608, 1048576},
    {1048576, 1048608, 1048576},
    {1048577, 1048640, 1048608},
    {2097120, 2097152, 2097120},
    {2097152, 2097184, 2097152},
    {2097153, 2097216, 2097184},
    {1073741823, 1073741856, 1073741824},
    {1073741824, 1073741856, 1073741824},
    {1073741825, 1073741888, 1073741856},
    {2040109466, 2040109504, 2040109472},
};
constexpr bool bytes_taken_hold() {
  for (const BytesTaken& row : kBytesTaken) {
    for (const Api api : {Api::Malloc, Api::MallocCached, Api::MediaV1Malloc, Api::MediaV2Malloc}) {
      if (bytes_of(row.size, api, 0, kPadded) != row.padded) return false;
    }
    if (bytes_of(row.size, Api::MallocAlign32, 0, kPadded) != row.unpadded) return false;
    if (bytes_of(row.size, Api::Malloc, 6, kPadded) != row.unpadded) return false;
    if (bytes_of(row.size, Api::Malloc, 0, k950) != row.unpadded) return false;
    for (const Api api :
         {Api::MallocWithCfg, Api::MallocForTaskScheduler, Api::MallocHost, Api::MallocHostWithCfg}) {
      if (bytes_of(row.size, api, 0, kPadded) != row.unpadded) return false;
    }
  }
  return true;
}
static_assert(bytes_taken_hold());  // M-34

struct Footprint {
  std::size_t size, normal_only, huge_only, huge_first, out_of_range, huge1g;
};

constexpr Footprint kPaddedFootprints[] = {
    {1, 4096, 2097152, 4096, 4096, 1073741824},
    {31, 4096, 2097152, 4096, 4096, 1073741824},
    {32, 4096, 2097152, 4096, 4096, 1073741824},
    {33, 4096, 2097152, 4096, 4096, 1073741824},
    {64, 4096, 2097152, 4096, 4096, 1073741824},
    {1048575, 1052672, 2097152, 1052672, 1052672, 1073741824},
    {1048576, 1052672, 2097152, 1052672, 1052672, 1073741824},
    {1048577, 1052672, 2097152, 2097152, 1052672, 1073741824},
    {2097120, 2097152, 2097152, 2097152, 2097152, 1073741824},
    {2097152, 2101248, 4194304, 4194304, 4194304, 1073741824},
    {2097153, 2101248, 4194304, 4194304, 4194304, 1073741824},
    {1073741823, 1073745920, 1075838976, 1075838976, 1075838976, 1073741824},
    {1073741824, 1073745920, 1075838976, 1075838976, 1075838976, 1073741824},
    {1073741825, 1073745920, 1075838976, 1075838976, 1075838976, 2147483648},
    {2040109466, 2040111104, 2040528896, 2040528896, 2040528896, 2147483648},
};
constexpr Footprint kUnpaddedFootprints[] = {
    {1, 4096, 2097152, 4096, 4096, 1073741824},
    {31, 4096, 2097152, 4096, 4096, 1073741824},
    {32, 4096, 2097152, 4096, 4096, 1073741824},
    {33, 4096, 2097152, 4096, 4096, 1073741824},
    {64, 4096, 2097152, 4096, 4096, 1073741824},
    {1048575, 1048576, 2097152, 1048576, 1048576, 1073741824},
    {1048576, 1048576, 2097152, 1048576, 1048576, 1073741824},
    {1048577, 1052672, 2097152, 2097152, 1052672, 1073741824},
    {2097120, 2097152, 2097152, 2097152, 2097152, 1073741824},
    {2097152, 2097152, 2097152, 2097152, 2097152, 1073741824},
    {2097153, 2101248, 4194304, 4194304, 4194304, 1073741824},
    {1073741823, 1073741824, 1073741824, 1073741824, 1073741824, 1073741824},
    {1073741824, 1073741824, 1073741824, 1073741824, 1073741824, 1073741824},
    {1073741825, 1073745920, 1075838976, 1075838976, 1075838976, 2147483648},
    {2040109466, 2040111104, 2040528896, 2040528896, 2040528896, 2147483648},
};

constexpr bool footprints_hold(const Footprint& row, Api api, const ProductRow& product) {
  return cost(row.size, api, 2, product) == row.normal_only &&
         cost(row.size, api, 5, product) == row.normal_only &&
         cost(row.size, api, 1, product) == row.huge_only &&
         cost(row.size, api, 4, product) == row.huge_only &&
         cost(row.size, api, 3, product) == row.huge_only &&
         cost(row.size, api, 0, product) == row.huge_first &&
         cost(row.size, api, kOutside, product) == row.out_of_range &&
         cost(row.size, api, 6, product) == row.huge1g && cost(row.size, api, 7, product) == row.huge1g;
}
constexpr bool footprints_hold() {
  for (const Footprint& row : kPaddedFootprints) {
    if (!footprints_hold(row, Api::Malloc, kPadded)) return false;
  }
  for (const Footprint& row : kUnpaddedFootprints) {
    if (!footprints_hold(row, Api::MallocAlign32, kPadded)) return false;
    if (!footprints_hold(row, Api::MallocWithCfg, kPadded)) return false;
    if (!footprints_hold(row, Api::Malloc, k950)) return false;
  }
  return true;
}
static_assert(footprints_hold());  // M-48 ... M-60, M-79

// The ends of the number line (M-37, M-38, M-39).
static_assert(refusal(SIZE_MAX - 64, Api::Malloc, 1, kPadded) == ACL_ERROR_RT_MEMORY_ALLOCATION);
static_assert(refusal(SIZE_MAX - 63, Api::Malloc, 1, kPadded) == ACL_ERROR_INVALID_PARAM);
static_assert(refusal(SIZE_MAX - 63, Api::Malloc, 6, kPadded) == ACL_ERROR_RT_MEMORY_ALLOCATION);
static_assert(refusal(SIZE_MAX - 32, Api::MallocAlign32, 1, kPadded) == ACL_ERROR_RT_MEMORY_ALLOCATION);
static_assert(refusal(SIZE_MAX - 31, Api::MallocAlign32, 1, kPadded) == ACL_ERROR_INVALID_PARAM);
static_assert(refusal(SIZE_MAX - 31, Api::Malloc, 0, k950) == ACL_ERROR_INVALID_PARAM);
static_assert(refusal(SIZE_MAX - 31, Api::MallocWithCfg, 1, kPadded) == ACL_ERROR_RT_MEMORY_ALLOCATION);
static_assert(refusal(SIZE_MAX - 30, Api::MallocWithCfg, 1, kPadded) == ACL_ERROR_RT_PARAM_INVALID);
static_assert(refusal(SIZE_MAX, Api::MallocHost, 0, kPadded) == ACL_ERROR_RT_PARAM_INVALID);
static_assert(refusal(SIZE_MAX - 63, Api::MediaV1Malloc, 0, kPadded) == ACL_ERROR_INVALID_PARAM);
static_assert(refusal(0, Api::Malloc, 0, kPadded) == ACL_ERROR_INVALID_PARAM);
static_assert(bytes_of(0, Api::MediaV1Malloc, 0, kPadded) == 32);  // M-394

// Pages used: 512 small page-table entries or one (M-422).
static_assert(plan(1_GiB, 1, Api::MallocAlign32, kPadded)->pages() == 512);
static_assert(plan(1_GiB, 6, Api::MallocAlign32, kPadded)->pages() == 1);
static_assert(plan(1_GiB, 1, Api::Malloc, kPadded)->pages() == 513);
static_assert(plan(1_GiB, 7, Api::Malloc, kPadded)->pages() == 1);

// A bandwidth wish changes nothing, READONLY keeps its base (M-57, M-424).
static_assert(cost(1, Api::Malloc, 0x101, kPadded) == 2_MiB);
static_assert(cost(1, Api::Malloc, 0x1000, kPadded) == 4_KiB);
static_assert(plan(1, 0x100001, Api::Malloc, kPadded)->read_only);
static_assert(!plan(1, 0x100008, Api::Malloc, kPadded)->read_only);

}  // namespace plan_examples_test
}  // namespace belay
