// What went wrong, said once, where the fact is known.
//
// An Error carries the number that the C caller receives, the rule that was broken, the message
// code of the catalogue and three sentences for people. The name of the function that was
// called is added at the door (src/api). Each kind of mistake has a maker of its own below, so that
// a place that refuses reads as a sentence and the wording lives in one file.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl_base.h"
#include "base/catalog.h"
#include "base/misuse.h"
#include "base/words.h"

namespace belay {

// Where in the program something happened that an error has to do with.
struct Happened {
  std::string what;           // "the block was freed"
  std::uint32_t site;         // observe/call_sites.h
  std::uint64_t time_ns = 0;  // when; 0: not known
};

// A device had too little memory for a request.
struct Shortage {
  std::uint32_t device;
  std::size_t asked, needed;        // bytes: by the program, and in pages
  std::size_t page, page_if_short;  // sizes; the same: there is no other
  bool p2p;
};

struct Error {
  aclError code;
  const char* rule;     // "M-86"; empty when no single rule applies
  CatalogCode catalog;  // "EL0004"
  std::string what;     // one sentence with the values
  std::string cause;    // empty: not applicable
  std::string solution;
  bool remember = true;  // kept as the thread's last error if its code is one of those
  Misuse misuse = Misuse::None;
  std::vector<Happened> before{};  // where known
  std::uint64_t task = 0;          // the number of the task that failed; 0: the call itself did
  std::optional<Shortage> shortage{};
};

using Refusal = std::unique_ptr<Error>;

inline Refusal refuse(Error error) { return std::make_unique<Error>(std::move(error)); }

// The same refusal, known to be a mistake of that kind, and where what it is about began and ended.
inline Refusal as_misuse(Refusal refusal, Misuse misuse, std::vector<Happened> before = {}) {
  refusal->misuse = misuse;
  refusal->before = std::move(before);
  return refusal;
}

// --- first layer: 100000 -------------------------------------------------------------------------

inline Refusal null_pointer(const char* rule, const char* parameter) {
  return refuse({ACL_ERROR_INVALID_PARAM, rule, "EH0002", fmt::format("parameter {} is NULL", parameter), "",
                 fmt::format("pass a valid pointer as {}", parameter)});
}

template <class Value>
Refusal bad_value(const char* rule, const char* parameter, const Value& value, std::string_view expected) {
  return refuse(
      {ACL_ERROR_INVALID_PARAM, rule, "EH0007",
       fmt::format("value {} of parameter {} is not accepted; expected: {}", value, parameter, expected), "",
       fmt::format("pass {} as {}", expected, parameter)});
}

// --- second layer: 107xxx and up -----------------------------------------------------------------

template <class Value>
Refusal rejected(const char* rule, const char* parameter, const Value& value, std::string reason,
                 std::string solution) {
  return refuse({ACL_ERROR_RT_PARAM_INVALID, rule, "EE1011",
                 fmt::format("value {} of parameter {} is not accepted: {}", value, parameter, reason), "",
                 std::move(solution)});
}

inline Refusal no_context(const char* rule) {
  return refuse({ACL_ERROR_RT_CONTEXT_NULL, rule, "EE1018", "the calling thread has no current context",
                 "no device was set on this thread, or its context was destroyed or reset",
                 "call aclrtSetDevice or aclrtSetCurrentContext on this thread first"});
}

template <class Id>
Refusal bad_device(const char* rule, Id id, std::uint32_t count) {
  return refuse({ACL_ERROR_RT_INVALID_DEVICEID, rule, "EL0002",
                 fmt::format("device {} does not exist; this process sees {}, numbered from 0", id,
                             counted(count, "device")),
                 "",
                 "aclrtGetDeviceCount returns how many there are; ASCEND_RT_VISIBLE_DEVICES may hide some"});
}

inline Refusal unsupported(const char* rule, std::string what, std::string solution) {
  return refuse({ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rule, "EE1016", std::move(what), "", std::move(solution)});
}

inline Refusal out_of_memory(const char* rule, std::string what, std::string cause, std::string solution) {
  return refuse({ACL_ERROR_RT_MEMORY_ALLOCATION, rule, "EL0004", std::move(what), std::move(cause),
                 std::move(solution)});
}

inline Refusal driver_refuses(const char* rule, std::string what, std::string solution) {
  return refuse({ACL_ERROR_RT_DRV_INTERNAL_ERROR, rule, "EL0003", std::move(what), "", std::move(solution)});
}

}  // namespace belay
