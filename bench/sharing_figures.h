// A question about sharing: what belay takes for it, and its peer right after it, round by round.
#pragma once

#include <acl/acl.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace bench {

struct Figure {
  std::string question, peer;
  double bar;                            // ours / theirs must not be larger; 0: no bar
  std::vector<double> ours{}, theirs{};  // microseconds
};

inline double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

inline void check(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  fmt::print(stderr, "{} failed with {}\n{}\n", what, code, text != nullptr ? text : "");
  std::exit(1);
}
#define CHECK(call) ::bench::check(call, #call)

}  // namespace bench
