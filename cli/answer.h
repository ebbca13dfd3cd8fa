// What the library would answer to a request for memory, and the rules that say so.
//
// The plan itself is the library's own (memory/plan.h). Added here is what stands around it in a call:
// whether the product has the function, and what a shortage would lead to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/request.h"

namespace belay::cli {

struct Refused {
  std::uint32_t code;
  std::string_view name;
  std::string rule;
  std::string text;
};

struct Answer {
  Request request;
  std::optional<Plan> plan;  // one of the two
  std::optional<Refused> refused;
  std::vector<std::string> rules;  // ids, each once
  std::string hint;                // how to get the same for less; mostly empty

  // What shortage leads to in the end, after other pages were tried (plan->when_short).
  Refused shortage;
  bool fits = true;  // into an empty device of the product

  bool padded() const;
  // Entries in page tables: one per page (M-422). Media blocks are cut in 4 KB but lie in 2 MB pages.
  std::size_t page_table_entries() const;
};

Answer answer(const Request& request);

// What decoding makes of the policy (M-424), in words.
std::string policy_as_read(const Request& request);

}  // namespace belay::cli
