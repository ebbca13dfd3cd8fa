// Memory of the program that asynchronous copies take for pinned.
#pragma once

#include <cstdint>

#include "support/blocks.h"

namespace belay_test {

// Page-aligned memory of the program that is registered, so that it counts as pinned (M-212).
class Registered {
 public:
  explicit Registered(std::uint32_t flag = ACL_HOST_REG_PINNED) : memory_{1} {
    EXPECT_EQ(aclrtHostRegisterV2(memory_.get(), 4096, flag), ACL_SUCCESS);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() { EXPECT_EQ(aclrtHostUnregister(memory_.get()), ACL_SUCCESS); }
  void* get(std::size_t offset = 0) const { return memory_.get(offset); }

 private:
  Pages memory_;
};

}  // namespace belay_test
