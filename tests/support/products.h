// Which products have a function. A missing one answers 207000 after the 100000 checks and the context.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "support/device_fixture.h"
#include "support/settings.h"

namespace belay_test {

struct Function {
  std::string name;
  std::function<aclError()> call;           // with good arguments, a device is set
  std::function<aclError()> refused_first;  // breaks a 100000 rule; may be empty
  bool needs_context = false;
};

inline const std::set<std::string> kProducts = {"950", "A3", "A2", "310B", "310P", "910", "IPV350"};

inline void expect_missing(const Function& function) {
  SCOPED_TRACE(function.name);
  if (function.refused_first) {
    EXPECT_EQ(function.refused_first(), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(function.call(),
            function.needs_context ? ACL_ERROR_RT_CONTEXT_NULL : ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(function.call(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS) << "a missing function is no last error";
  if (function.refused_first) {
    EXPECT_EQ(function.refused_first(), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

inline void expect_present(const Function& function) {
  SCOPED_TRACE(function.name);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_NE(function.call(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

// Every function on every product, each product in a process of its own.
inline void expect_only_on(const std::set<std::string>& products, const std::vector<Function>& functions) {
  for (const std::string& product : kProducts) {
    in_fresh_process({{"BELAY_PRODUCT", product}, {"BELAY_DEVICES", "2"}}, [&] {
      SCOPED_TRACE(product);
      for (const Function& function : functions) {
        if (products.count(product) != 0) {
          expect_present(function);
        } else {
          expect_missing(function);
        }
      }
    });
  }
}

inline void expect_all_but_ipv(const std::vector<Function>& functions) {
  expect_only_on({"950", "A3", "A2", "310B", "310P", "910"}, functions);
}

}  // namespace belay_test
