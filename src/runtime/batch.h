// The arguments of a batch copy, and the checks that both of its forms make on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "memory/transfer.h"

namespace belay {

class Process;

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

// The lists of a batch, each entry taken at the check that comes to it first: a size that fitted its room is
// the size that is copied, whoever writes into the lists meanwhile. No check reads further than it has to:
// what is refused at its third entry may have no fourth.
class BatchLists {
 public:
  explicit BatchLists(const BatchArguments& arguments) : arguments_{arguments} {}

  // M-277 ... M-283. False: all sizes are 0, and there is nothing to do.
  Result<bool> take_arrays(const Process& process);
  Status take_starts(std::size_t most_items);  // M-285 ... M-289
  std::vector<BatchItem> take_items() const;   // M-296; their attributes lie in the batch

 private:
  BatchArguments arguments_;
  std::vector<std::size_t> sizes_, rooms_, starts_;
  std::vector<aclrtMemcpyBatchAttr> attributes_;
};

}  // namespace belay
