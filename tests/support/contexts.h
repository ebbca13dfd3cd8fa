// Contexts that a test makes besides the one of its device.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "acl/acl.h"

namespace belay_test {

inline aclrtContext current_context() {
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  return context;
}

// An explicit context, which is current until the end of the scope; then the one before is again.
class OwnContext {
 public:
  explicit OwnContext(std::int32_t device = 0) : before_{current_context()} {
    EXPECT_EQ(aclrtCreateContext(&handle_, device), ACL_SUCCESS);
  }
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;
  ~OwnContext() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclrtDestroyContext(handle_), ACL_SUCCESS);
    }
    leave();
  }
  aclrtContext get() const { return handle_; }
  void enter() const { EXPECT_EQ(aclrtSetCurrentContext(handle_), ACL_SUCCESS); }
  void leave() const { EXPECT_EQ(aclrtSetCurrentContext(before_), ACL_SUCCESS); }
  aclrtContext forget() {
    aclrtContext const was = handle_;
    handle_ = nullptr;
    return was;
  }

 private:
  aclrtContext before_;
  aclrtContext handle_ = nullptr;
};

// A context that is there but not current, unless the test enters it for a while.
class Elsewhere : public OwnContext {
 public:
  explicit Elsewhere(std::int32_t device = 0) : OwnContext{device} { leave(); }
  // A stream of this context; it goes with it.
  aclrtStream stream() const {
    aclrtStream made = nullptr;
    enter();
    EXPECT_EQ(::aclrtCreateStream(&made), ACL_SUCCESS);
    leave();
    return made;
  }
};

}  // namespace belay_test
