// What aclrtMallocPhysical would answer to a request, and the rules that say so.
//
// The plan itself is the library's own (memory/physical_plan.h). Added here is what stands around it in a
// call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.h"
#include "memory/physical_plan.h"

namespace belay::cli {

struct PhysicalRequest {
  std::size_t size = 0;
  std::uint32_t attribute = ACL_HBM_MEM_HUGE;
  aclrtMemLocationType location = ACL_MEM_LOCATION_TYPE_DEVICE;
  Choice product{};
  Form form = Form::EP;
};

inline constexpr std::string_view kPhysicalFunction = "aclrtMallocPhysical", kPhysicalNick = "physical";
bool names_physical(std::string_view api);
// Both throw UsageError for a word that they do not know.
std::uint32_t read_attribute(std::string_view text);  // a name or a number
aclrtMemLocationType read_location(std::string_view text);
// "ACL_HBM_MEM_HUGE", or the number of a value outside the enum.
std::string attribute_name(std::uint32_t attribute);
std::string_view location_name(aclrtMemLocationType location);

struct PhysicalAnswer {
  PhysicalRequest request;
  std::optional<PhysicalPlan> plan;  // one of the two
  std::optional<Refused> refused;
  std::vector<std::string> rules;  // ids, each once
  std::string hint;                // mostly empty
  Refused shortage;
  bool fits = true;  // into an empty device of the product

  std::size_t waste() const { return plan ? plan->bytes - plan->asked : 0; }
};

PhysicalAnswer answer(const PhysicalRequest& request);

}  // namespace belay::cli
