// All notifies that a device has.
#pragma once

#include <string>
#include <vector>

#include "support/blocks.h"

namespace belay_test {

// Makes notifies until there are no more; at most a few more than any product has.
inline std::vector<aclrtNotify> all_notifies() {
  std::vector<aclrtNotify> all;
  for (;;) {
    aclrtNotify notify = sentinel();
    const int answer = aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT);
    if (answer != ACL_SUCCESS || all.size() > 70000) {
      EXPECT_EQ(answer, kNoNotifies);
      EXPECT_EQ(notify, sentinel());
      EXPECT_EQ(last_error(), kNoNotifies);
      const std::string text = recent_message();
      EXPECT_TRUE(mentions(text, "EL0010") && mentions(text, "aclrtCreateNotify")) << text;
      return all;
    }
    all.push_back(notify);
  }
}
inline void destroy_notifies(const std::vector<aclrtNotify>& all) {
  for (const aclrtNotify notify : all) EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

}  // namespace belay_test
