// Two mistakes in one call: the one that the function's table lists first decides the answer.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/blocks.h"

namespace belay_test {

// The context a call is made in: that of the test, none at all, or another one of the same device.
enum class Where { own, none, other };

struct AnswerThere {
  int code = 0;
  int last = 0;         // the last error of the calling thread
  std::string message;  // what aclGetRecentErrMsg says there
};

class Contexts {
 public:
  Contexts() {
    EXPECT_EQ(aclrtGetCurrentContext(&own_), ACL_SUCCESS);
    EXPECT_EQ(aclrtCreateContext(&other_, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetCurrentContext(own_), ACL_SUCCESS);
  }
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;
  ~Contexts() { EXPECT_EQ(aclrtDestroyContext(other_), ACL_SUCCESS); }

  // Makes the call on a thread of its own.
  AnswerThere run(Where where, const std::function<int()>& call) const {
    AnswerThere answer;
    std::thread{[&] {
      if (where != Where::none) {
        EXPECT_EQ(aclrtSetCurrentContext(where == Where::own ? own_ : other_), ACL_SUCCESS);
      }
      answer.code = call();
      answer.last = last_error();
      answer.message = recent_message();
    }}.join();
    return answer;
  }

 private:
  aclrtContext own_ = nullptr, other_ = nullptr;
};

// What every failing call leaves behind.
inline void expect_answer(const AnswerThere& answer, int code, const std::string& api,
                          const std::string& about) {
  EXPECT_EQ(answer.code, code) << about;
  if (code == ACL_SUCCESS || code == kBadArgument) {
    EXPECT_EQ(answer.last, ACL_SUCCESS) << about;
  } else if (code != kUnsupported) {
    EXPECT_EQ(answer.last, code) << about;
  }
  if (code == ACL_SUCCESS) {
    EXPECT_EQ(answer.message, "") << about;
  } else {
    EXPECT_NE(answer.message.find(api), std::string::npos) << about << ": " << answer.message;
  }
  const char* const token = code == kBadArgument    ? "EH"
                            : code == kStale        ? "EE1017"
                            : code == kNoContext    ? "EE1018"
                            : code == kOtherContext ? "EE1010"
                                                    : "";
  EXPECT_NE(answer.message.find(token), std::string::npos) << about << ": " << answer.message;
}

template <typename Call>
struct Mistake {
  std::string rule;
  int answer;       // 0 where the row is about a call that succeeds early
  unsigned spoils;  // one bit for each argument; two mistakes cannot share an argument
  std::function<void(Call&)> make;
};

// Every mistake alone, and every pair of them that can be made at once. `Call` knows how to run() and
// `where`.
template <typename Call>
void expect_order(const std::string& api, const Contexts& contexts, const Call& good,
                  const std::vector<Mistake<Call>>& in_order) {
  for (std::size_t first = 0; first < in_order.size(); ++first) {
    Call alone = good;
    in_order[first].make(alone);
    expect_answer(contexts.run(alone.where, [&] { return alone.run(); }), in_order[first].answer, api,
                  in_order[first].rule);
    for (std::size_t second = first + 1; second < in_order.size(); ++second) {
      if ((in_order[first].spoils & in_order[second].spoils) != 0) continue;
      Call both = alone;
      in_order[second].make(both);
      expect_answer(contexts.run(both.where, [&] { return both.run(); }), in_order[first].answer, api,
                    in_order[first].rule + " before " + in_order[second].rule);
    }
  }
}

}  // namespace belay_test
