#include "cli/physical_answer.h"

#include <array>

#include "base/code_names.h"
#include "base/words.h"
#include "cli/word_list.h"

namespace belay::cli {
namespace {

struct AttributeWord {
  std::string_view name;  // of the enum
  std::string_view nick;  // what may be written as well
  std::uint32_t value;
};
constexpr std::array kAttributes{
    AttributeWord{"ACL_DDR_MEM", "DDR", ACL_DDR_MEM},
    AttributeWord{"ACL_HBM_MEM", "HBM", ACL_HBM_MEM},
    AttributeWord{"ACL_DDR_MEM_HUGE", "DDR_HUGE", ACL_DDR_MEM_HUGE},
    AttributeWord{"ACL_DDR_MEM_NORMAL", "DDR_NORMAL", ACL_DDR_MEM_NORMAL},
    AttributeWord{"ACL_HBM_MEM_HUGE", "HBM_HUGE", ACL_HBM_MEM_HUGE},
    AttributeWord{"ACL_HBM_MEM_NORMAL", "HBM_NORMAL", ACL_HBM_MEM_NORMAL},
    AttributeWord{"ACL_DDR_MEM_P2P_HUGE", "DDR_P2P_HUGE", ACL_DDR_MEM_P2P_HUGE},
    AttributeWord{"ACL_DDR_MEM_P2P_NORMAL", "DDR_P2P_NORMAL", ACL_DDR_MEM_P2P_NORMAL},
    AttributeWord{"ACL_HBM_MEM_P2P_HUGE", "HBM_P2P_HUGE", ACL_HBM_MEM_P2P_HUGE},
    AttributeWord{"ACL_HBM_MEM_P2P_NORMAL", "HBM_P2P_NORMAL", ACL_HBM_MEM_P2P_NORMAL},
    AttributeWord{"ACL_HBM_MEM_HUGE1G", "HBM_HUGE1G", ACL_HBM_MEM_HUGE1G},
    AttributeWord{"ACL_HBM_MEM_P2P_HUGE1G", "HBM_P2P_HUGE1G", ACL_HBM_MEM_P2P_HUGE1G},
    AttributeWord{"ACL_MEM_NORMAL", "NORMAL", ACL_MEM_NORMAL},
    AttributeWord{"ACL_MEM_HUGE", "HUGE", ACL_MEM_HUGE},
    AttributeWord{"ACL_MEM_HUGE1G", "HUGE1G", ACL_MEM_HUGE1G},
    AttributeWord{"ACL_MEM_P2P_NORMAL", "P2P_NORMAL", ACL_MEM_P2P_NORMAL},
    AttributeWord{"ACL_MEM_P2P_HUGE", "P2P_HUGE", ACL_MEM_P2P_HUGE},
    AttributeWord{"ACL_MEM_P2P_HUGE1G", "P2P_HUGE1G", ACL_MEM_P2P_HUGE1G},
};
static_assert(kAttributes.size() == kPhysicalAttributes.size());

struct LocationWord {
  std::string_view name, nick;
  aclrtMemLocationType value;
};
constexpr std::array kLocations{
    LocationWord{"ACL_MEM_LOCATION_TYPE_DEVICE", "device", ACL_MEM_LOCATION_TYPE_DEVICE},
    LocationWord{"ACL_MEM_LOCATION_TYPE_HOST", "host", ACL_MEM_LOCATION_TYPE_HOST},
    LocationWord{"ACL_MEM_LOCATION_TYPE_HOST_NUMA", "numa", ACL_MEM_LOCATION_TYPE_HOST_NUMA},
};

Refused refusal(aclError code, std::string rule, std::string text) {
  return {static_cast<std::uint32_t>(code), code_name(code), std::move(rule), std::move(text)};
}

// The checks of the call in their order, apart from those on pointers, devices and the context.
std::optional<Refused> why_refused(const PhysicalRequest& request, const PhysicalPlanResult& planned) {
  const ProductRow& product = *request.product.row;
  if (host_is_device(request.form) && !has(product.product, Feature::HostForm)) {
    return refusal(ACL_ERROR_RT_DEV_SETUP_ERROR, "M-437",
                   fmt::format("{} has no {} form", product.family, name_of(request.form)));
  }
  const auto from_plan = [&] {
    return refusal(planned.refusal.code, planned.refusal.rule, planned.refusal.text);
  };
  if (!planned && planned.refusal.before_context) return from_plan();
  if (host_is_device(request.form)) {
    return refusal(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "V-85",
                   fmt::format("the {} form has no virtual memory", name_of(request.form)));
  }
  if (!has(product.product, Feature::VirtualMemory)) {
    return refusal(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "V-23",
                   fmt::format("{} does not have {}", product.family, kPhysicalFunction));
  }
  if (!planned) return from_plan();
  return std::nullopt;
}

std::vector<std::string> cite_all(const PhysicalAnswer& answer) {
  const PhysicalRequest& request = answer.request;
  const PhysicalPlan& plan = *answer.plan;
  const bool giant = plan.page == Page::Huge1G;
  const bool hbm = attribute_name(request.attribute).starts_with("ACL_HBM");
  std::vector<std::string> ids{"V-49", giant ? "V-46" : "V-45"};
  if (giant) ids.emplace_back("V-52");
  if (hbm && plan.side == Side::Host) ids.emplace_back("V-50");
  if (hbm && plan.side == Side::Device && request.product.row->product == Product::P310)
    ids.emplace_back("V-51");
  if (answer.waste() != 0) ids.emplace_back(giant ? "V-117" : "V-116");
  for (const char* id : {"V-119", "V-37", "V-198"}) ids.emplace_back(id);
  ids.push_back(answer.shortage.rule);
  return ids;
}

}  // namespace

bool names_physical(std::string_view api) {
  return same_word(api, kPhysicalNick) || same_word(api, kPhysicalFunction);
}

std::uint32_t read_attribute(std::string_view text) {
  if (const std::optional<std::uint32_t> number = whole_number<std::uint32_t>(text)) return *number;
  std::string word{text};
  std::ranges::replace(word, '-', '_');
  for (const AttributeWord& each : kAttributes) {
    // Also without ACL_, as in MEM_HUGE.
    if (same_word(word, each.name) || same_word(word, each.name.substr(4)) || same_word(word, each.nick))
      return each.value;
  }
  unknown("attribute", word, nicks(kAttributes));
}

aclrtMemLocationType read_location(std::string_view text) {
  for (const LocationWord& each : kLocations) {
    if (same_word(text, each.nick) || same_word(text, each.name)) return each.value;
  }
  unknown("location", text, nicks(kLocations));
}

std::string attribute_name(std::uint32_t attribute) {
  return attribute < kAttributes.size() ? std::string{kAttributes[attribute].name}
                                        : fmt::format("{}", attribute);
}

std::string_view location_name(aclrtMemLocationType location) {
  return std::ranges::find(kLocations, location, &LocationWord::value)->name;
}

PhysicalAnswer answer(const PhysicalRequest& request) {
  const aclrtPhysicalMemProp prop{ACL_MEM_HANDLE_TYPE_NONE,
                                  ACL_MEM_ALLOCATION_TYPE_PINNED,
                                  static_cast<aclrtMemAttr>(request.attribute),
                                  {0, request.location},
                                  0};
  const PhysicalPlanResult planned = plan_physical(request.size, prop, *request.product.row);
  PhysicalAnswer result{};
  result.request = request;
  if (std::optional<Refused> why = why_refused(request, planned)) {
    result.rules = {why->rule};
    if (why->rule == "V-107" || why->rule == "V-106") result.rules.emplace_back("V-49");
    if (why->rule == "V-111") result.rules.emplace_back("V-52");
    result.refused = std::move(why);
    return result;
  }
  result.plan = *planned;
  result.shortage = refusal(ACL_ERROR_RT_MEMORY_ALLOCATION, "V-118", "not enough memory");
  result.fits = planned->side == Side::Host || planned->bytes <= request.product.usable_bytes;
  result.rules = cite_all(result);
  if (result.waste() != 0) {
    result.hint = fmt::format("ask for {} bytes: published drivers may refuse a size that is not whole pages",
                              planned->bytes);
  }
  return result;
}

}  // namespace belay::cli
