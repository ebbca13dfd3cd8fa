// The arguments of a batch copy, and the checks that both of its forms make on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "memory/transfer.h"

namespace belay {

struct BatchArguments {
  void** to;
  std::size_t* rooms;
  void** from;
  std::size_t* sizes;
  std::size_t count;
  aclrtMemcpyBatchAttr* attributes;
  std::size_t* attribute_starts;
  std::size_t attribute_count;
};

inline constexpr std::size_t kMostItemsAtOnce = 4096;  // M-287: only where the copy is done at once

Status check_batch_arrays(const BatchArguments& batch);                              // M-280 ... M-282
Status check_batch_attributes(const BatchArguments& batch, std::size_t most_items);  // M-285 ... M-289
std::vector<BatchItem> batch_items(const BatchArguments& batch);                     // M-296

}  // namespace belay
