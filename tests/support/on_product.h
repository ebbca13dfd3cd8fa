// Bodies that run on a product of their choice.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "acl/acl.h"
#include "support/settings.h"

namespace belay_test {

// Runs the body in a process of its own on the named product, with device 0 set.
inline void on_product(const std::string& product, Settings settings, const std::function<void()>& body) {
  SCOPED_TRACE("product " + product);
  settings.emplace_back("BELAY_PRODUCT", product);
  settings.emplace_back("BELAY_LEAKS", "off");
  in_fresh_process(settings, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    body();
  });
}

inline void on_product(const std::string& product, const std::function<void()>& body) {
  on_product(product, {}, body);
}

}  // namespace belay_test
