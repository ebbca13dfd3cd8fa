#include "cli/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/code_names.h"
#include "base/words.h"

namespace belay::cli {
namespace {

constexpr std::uint32_t kBandwidth = ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH;
constexpr std::uint32_t kReadOnly = ACL_MEM_ACCESS_USER_SPACE_READONLY;
constexpr std::size_t kMediaWindow = 16_GiB;  // M-400

bool is_configured(Api api) { return api == Api::MallocWithCfg || api == Api::MallocForTaskScheduler; }

// Version 2 of the media interface answers in numbers of its own, which have no names in its header (M-401).
Refused refusal(Api api, aclError code, std::string rule, std::string text) {
  if (api == Api::MediaV2Malloc) {
    switch (code) {
      case ACL_ERROR_RT_PARAM_INVALID:
        return {0xA0028003, "illegal parameter", std::move(rule), std::move(text)};
      case ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
        return {0xA0028008, "not supported", std::move(rule), std::move(text)};
      case ACL_ERROR_INVALID_PARAM:  // a size that wraps is too large
      case ACL_ERROR_RT_MEMORY_ALLOCATION:
        return {0xA002800C, "no memory", std::move(rule), std::move(text)};
      default:
        break;
    }
  }
  return {static_cast<std::uint32_t>(code), code_name(code), std::move(rule), std::move(text)};
}

struct Availability {
  Feature feature;
  const char* rule;
};
Availability needed_by(const Request& request) {
  switch (request.api) {
    case Api::Malloc:
    case Api::MallocAlign32:
      return {Feature::EveryChip, ""};
    case Api::MallocCached:
    case Api::MallocWithCfg:
    case Api::MallocForTaskScheduler:
    case Api::MallocHost:
    case Api::MallocHostWithCfg:
      return {Feature::AllButIpv, "M-8"};
    case Api::MediaV1Malloc:
      return {Feature::MediaV1, request.product.row->product == Product::A950 ? "M-403" : "M-404"};
    case Api::MediaV2Malloc:
      return {Feature::MediaV2, "M-404"};
  }
  return {Feature::EveryChip, ""};
}

// The checks of a call in their order, apart from those on pointers and on the context.
std::optional<Refused> why_refused(const Request& request, const PlanResult& planned) {
  const Api api = request.api;
  const ProductRow& product = *request.product.row;
  if (host_is_device(request.form) && !has(product.product, Feature::HostForm)) {
    return refusal(Api::Malloc, ACL_ERROR_RT_DEV_SETUP_ERROR, "M-437",
                   fmt::format("{} has no {} form", product.family, name_of(request.form)));
  }
  if (api == Api::MediaV2Malloc && request.size == 0)
    return refusal(api, ACL_ERROR_RT_PARAM_INVALID, "M-401", "size must not be 0");
  const auto from_plan = [&] {
    return refusal(api, planned.refusal.code, planned.refusal.rule, planned.refusal.text);
  };
  // The configured calls look only for size 0 before the context.
  if (!planned && planned.refusal.before_context && (!is_configured(api) || request.size == 0))
    return from_plan();
  if (const Availability needed = needed_by(request); !has(product.product, needed.feature)) {
    return refusal(api, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, needed.rule,
                   fmt::format("{} does not have {}", product.family, function_name(api)));
  }
  if (!planned) return from_plan();
  if (is_media(api) && has(product.product, Feature::MediaWindow16G) && planned->footprint > kMediaWindow) {
    return refusal(api, ACL_ERROR_RT_MEMORY_ALLOCATION, "M-400",
                   "media memory of a process is at most 16 GB");
  }
  return std::nullopt;
}

const char* shortage_rule(Api api) {
  switch (api) {
    case Api::Malloc:
    case Api::MallocAlign32:
    case Api::MallocCached:
      return "M-86";
    case Api::MallocWithCfg:
    case Api::MallocForTaskScheduler:
      return "M-105";
    case Api::MallocHost:
      return "M-174";
    case Api::MallocHostWithCfg:
      return "M-184";
    case Api::MediaV1Malloc:
      return "M-396";
    case Api::MediaV2Malloc:
      return "M-401";
  }
  return "";
}

// Ids in the order in which the decisions are taken, each once.
class Citations {
 public:
  void add(std::string id) {
    if (!id.empty() && std::ranges::find(ids_, id) == ids_.end()) ids_.push_back(std::move(id));
  }
  std::vector<std::string> take() { return std::move(ids_); }

 private:
  std::vector<std::string> ids_;
};

void cite_policy(const Request& request, const Plan& plan, Citations& cite) {
  const std::uint32_t policy = request.policy;
  const std::string_view page_rule = plan.page_rule;
  if (request.api == Api::MallocCached && page_rule == "M-60") cite.add("M-62");
  if (policy > 7 && request.api != Api::MallocCached) {
    cite.add(is_configured(request.api) ? "M-64" : "M-424");
    const std::uint32_t wish = policy & kBandwidth;
    if (page_rule != "M-60") {
      if (wish == kBandwidth)
        cite.add("M-65");
      else if (wish == policy)
        cite.add("M-57");
      else if (wish != 0)
        cite.add("M-425");
      if ((policy & kReadOnly) != 0) cite.add(plan.read_only ? "M-78" : "M-72");
    }
  }
}

std::vector<std::string> cite_all(const Answer& answer) {
  const Request& request = answer.request;
  const Plan& plan = *answer.plan;
  Citations cite;
  if (takes_policy(request.api)) cite_policy(request, plan, cite);

  cite.add("M-34");
  const bool other_product_pads = pads(request.api, plan.page, row_of(Product::A2));
  if (request.product.row->padding == 0 && other_product_pads) cite.add("M-35");
  if (plan.page == Page::Huge1G) cite.add("M-419");
  if (is_configured(request.api)) cite.add("M-36");
  if (request.api == Api::MediaV1Malloc && request.size == 0) cite.add("M-394");

  cite.add(plan.page_rule);
  if (std::string_view{plan.page_rule} == "M-48") cite.add("M-49");
  if (is_host(request.api) && host_is_device(request.form)) cite.add("M-438");
  cite.add(is_host(request.api) ? "M-80" : plan.media ? "M-428" : "M-79");
  if (!is_host(request.api) && !plan.media) cite.add("M-422");
  if (plan.p2p) {
    cite.add("M-423");
    cite.add(plan.page == Page::Huge1G ? "M-70" : "M-69");
  }
  if (plan.when_short != plan.page) cite.add("M-421");
  cite.add(answer.shortage.rule);
  return cite.take();
}

// A request that spills into one more page by its padding alone can be had for less (M-79).
std::string hint_for(const Answer& answer) {
  const Plan& plan = *answer.plan;
  if (!answer.padded() || plan.unit() == page_bytes(Page::Normal)) return {};
  const std::size_t padding = answer.request.product.row->padding;
  const std::size_t without = round_up(plan.bytes - padding, plan.unit()).value_or(plan.footprint);
  if (without == plan.footprint) return {};
  return fmt::format(
      "the {} bytes of padding spill into another page: {} bytes cost {}, and so does this size through "
      "aclrtMallocAlign32",
      padding, without - padding, amount(without));
}

}  // namespace

bool Answer::padded() const { return plan && pads(request.api, plan->page, *request.product.row); }

std::size_t Answer::page_table_entries() const {
  if (!plan) return 0;
  return round_up(plan->footprint, page_bytes(plan->page)).value_or(0) / page_bytes(plan->page);
}

Answer answer(const Request& request) {
  const ProductRow& product = *request.product.row;
  const PlanResult planned = belay::plan(request.size, request.policy, request.api, product, request.form);
  Answer result{};
  result.request = request;
  if (std::optional<Refused> why = why_refused(request, planned)) {
    result.rules = {why->rule};
    const bool media_number = code_name(static_cast<aclError>(why->code)).empty();
    if (media_number && why->rule != "M-401") result.rules.emplace_back("M-401");
    result.refused = std::move(why);
    return result;
  }
  result.plan = *planned;
  const bool on_host = is_host(request.api) && !host_is_device(request.form);
  result.shortage = refusal(request.api, ACL_ERROR_RT_MEMORY_ALLOCATION, shortage_rule(request.api),
                            on_host ? "the system does not lock that many pages" : "not enough memory");
  const std::size_t usable = request.product.usable_bytes;
  result.fits = on_host || planned->footprint <= usable || planned->footprint_when_short <= usable;
  result.rules = cite_all(result);
  result.hint = hint_for(result);
  return result;
}

std::string policy_as_read(const Request& request) {
  if (!takes_policy(request.api)) return fmt::format("{} takes none", function_name(request.api));
  const DecodedPolicy decoded = decode(request.policy, request.api, request.product.row->product);
  if (decoded.rule == &kOutOfRange) {
    return request.api == Api::MallocCached && request.policy <= 7
               ? "not one that aclrtMallocCached knows: 2 MB pages from 2 MB on"
               : "outside the enum: 2 MB pages from 2 MB on";
  }
  std::string text = policy_name(decoded.rule->policy);
  if (request.api == Api::MallocCached) return text;
  if ((request.policy & kBandwidth) != 0) text += ", the bandwidth flag has no effect";
  if ((request.policy & kReadOnly) != 0)
    text += decoded.read_only ? ", read-only" : ", read-only is ignored on this product";
  return text;
}

}  // namespace belay::cli
