// How a request for memory is served: the documented rules as one table and one pure function.
//
// No clock, no lock, no device: plan() runs at compile time (tests/unit asserts the documents' worked
// examples), in tests, in `belay explain` and in front of every allocation. What it decides: how many
// bytes a request takes, which pages serve it, what it costs, and which of the documented refusals it
// meets. What it does not know: whether the device still has those pages (machine/page_quota.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "acl/acl_rt.h"
#include "base/size.h"
#include "product/product.h"

namespace belay {

enum class Page : std::uint8_t { Normal, Huge2M, Huge1G };

constexpr std::size_t page_bytes(Page page) {
  switch (page) {
    case Page::Normal:
      return 4_KiB;
    case Page::Huge2M:
      return 2_MiB;
    case Page::Huge1G:
      return 1_GiB;
  }
  return 0;
}

enum class Api : std::uint8_t {
  Malloc,
  MallocAlign32,
  MallocCached,
  MallocWithCfg,
  MallocForTaskScheduler,
  MallocHost,
  MallocHostWithCfg,
  MediaV1Malloc,
  MediaV2Malloc,
};

enum class Form : std::uint8_t { EP, RC, OpenCtrlCpu };
inline constexpr std::array<std::string_view, 3> kFormNames{"EP", "RC", "OPEN_CTRL_CPU"};
constexpr std::string_view name_of(Form form) { return kFormNames[static_cast<std::size_t>(form)]; }
constexpr bool host_is_device(Form form) { return form != Form::EP; }

// One row per documented policy. Requests of at most `normal_up_to` bytes get normal pages; others the
// page `first`, and when those run out `when_short` (the same page again means: fail).
struct PolicyRule {
  std::uint32_t policy;
  Page first, when_short;
  std::size_t normal_up_to;
  bool p2p;
  const char* rule;
};

inline constexpr PolicyRule kPolicyRules[] = {
    {0, Page::Huge2M, Page::Normal, 1_MiB, false, "M-48"},  // HUGE_FIRST
    {1, Page::Huge2M, Page::Huge2M, 0, false, "M-50"},      // HUGE_ONLY
    {2, Page::Normal, Page::Normal, 0, false, "M-51"},      // NORMAL_ONLY
    {3, Page::Huge2M, Page::Normal, 0, true, "M-52"},       // HUGE_FIRST_P2P: no 1 MB line
    {4, Page::Huge2M, Page::Huge2M, 0, true, "M-53"},       // HUGE_ONLY_P2P
    {5, Page::Normal, Page::Normal, 0, true, "M-54"},       // NORMAL_ONLY_P2P
    {6, Page::Huge1G, Page::Huge1G, 0, false, "M-55"},      // HUGE1G_ONLY
    {7, Page::Huge1G, Page::Huge1G, 0, true, "M-56"},       // HUGE1G_ONLY_P2P
};

// Any other value: huge pages from 2 MB asked for, with the fall-back of HUGE_FIRST, never an error.
inline constexpr PolicyRule kOutOfRange{0xFFFFFFFF, Page::Huge2M, Page::Normal, 2_MiB - 1, false, "M-60"};
// Pinned host memory, and host memory of the RC form.
inline constexpr PolicyRule kHostRule{0xFFFFFFFF, Page::Normal, Page::Normal, 0, false, "M-80"};
// Media memory pays with huge pages, but only for the 4 KB units it takes (M-428).
inline constexpr PolicyRule kMediaRule{0xFFFFFFFF, Page::Huge2M, Page::Huge2M, 0, false, "M-397"};

struct DecodedPolicy {
  const PolicyRule* rule;
  bool read_only;
};

constexpr bool is_media(Api api) { return api == Api::MediaV1Malloc || api == Api::MediaV2Malloc; }
constexpr bool is_host(Api api) { return api == Api::MallocHost || api == Api::MallocHostWithCfg; }

// M-424; M-62 for the cached call, which compares the whole value.
constexpr DecodedPolicy decode(std::uint32_t policy, Api api, Product product) {
  if (is_host(api)) return {&kHostRule, false};
  if (is_media(api)) return {&kMediaRule, false};
  if (api == Api::MallocCached) {
    const bool listed = policy <= 2 || policy == 6;
    return {listed ? &kPolicyRules[policy] : &kOutOfRange, false};
  }
  constexpr std::uint32_t kReadOnly = ACL_MEM_ACCESS_USER_SPACE_READONLY;
  constexpr std::uint32_t kFlags =
      ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_ACCESS_USER_SPACE_READONLY;
  const std::uint32_t base = policy & ~kFlags;
  if (base > 7) return {&kOutOfRange, false};
  return {&kPolicyRules[base], (policy & kReadOnly) != 0 && has(product, Feature::ReadOnlyBlocks)};
}

struct Plan {
  std::size_t asked;      // what the caller owns
  std::size_t bytes;      // after rounding to 32 and padding (M-34)
  std::size_t footprint;  // what the device is charged: bytes rounded up to the unit in use (M-79)
  Page page;              // as reported
  Page when_short;        // page taken when those run out; the same page: none
  std::size_t footprint_when_short;
  bool p2p, read_only, media;
  const char* bytes_rule;
  const char* page_rule;

  constexpr std::size_t unit() const { return media ? 4_KiB : page_bytes(page); }
  constexpr std::size_t pages() const { return footprint / unit(); }
  constexpr std::size_t waste() const { return footprint - asked; }
};

// A refusal of plan(). `before_context` tells on which side of the context check it stands.
struct PlanRefusal {
  aclError code;
  bool before_context;
  const char* rule;
  const char* text;
  const char* cure;
};

struct PlanResult {
  bool ok;
  Plan plan;
  PlanRefusal refusal;

  constexpr explicit operator bool() const { return ok; }
  constexpr const Plan* operator->() const { return &plan; }
  constexpr const Plan& operator*() const { return plan; }
};

constexpr bool pads(Api api, Page page, const ProductRow& product) {
  const bool padded_family = api == Api::Malloc || api == Api::MallocCached || is_media(api);
  // 1 GB pages are scarce: the documents drop the padding rather than spill into a second page (M-419).
  return padded_family && page != Page::Huge1G && product.padding != 0;
}

constexpr PlanResult plan(std::size_t size, std::uint32_t policy, Api api, const ProductRow& product,
                          Form form = Form::EP) {
  const auto no = [](aclError code, bool before_context, const char* rule, const char* text,
                     const char* cure) {
    return PlanResult{false, {}, {code, before_context, rule, text, cure}};
  };
  constexpr const char* kCheckSize = "check the computation of the size";
  if (size == 0 && !is_media(api)) {
    return no(ACL_ERROR_INVALID_PARAM, true, is_host(api) ? "M-171" : "M-82", "the size must not be 0",
              "ask for at least 1 byte");
  }
  if (has(product.product, Feature::NarrowPolicies) && !is_host(api) && !is_media(api)) {
    const std::uint32_t low = policy & 0xFFU;
    if (low > 5) {
      return no(ACL_ERROR_INVALID_PARAM, true, "M-67",
                "IPV350 accepts the base policies HUGE_FIRST, HUGE_ONLY and NORMAL_ONLY",
                "choose one of these");
    }
  }

  const DecodedPolicy decoded = decode(policy, api, product.product);
  const PolicyRule& rule = *decoded.rule;
  const bool giant = rule.first == Page::Huge1G;

  // The lines at 1 MB and 2 MB are judged on the size asked for, not on the padded one: exactly 1 MB
  // stays on normal pages, yet would cross the line once 32 bytes are added (M-49).
  const Page page = size > rule.normal_up_to || is_media(api) ? rule.first : Page::Normal;
  const bool padded = pads(api, page, product);

  // Where arithmetic may wrap, each family has its own line and its own answer (M-37, M-38, M-393).
  const bool first_layer =
      api == Api::Malloc || api == Api::MallocCached || api == Api::MallocAlign32 || is_media(api);
  if (first_layer) {
    const bool wide =
        is_media(api) || ((api == Api::Malloc || api == Api::MallocCached) && !giant && product.padding != 0);
    if (!add(size, wide ? 64 : 32)) {
      return no(ACL_ERROR_INVALID_PARAM, true, is_media(api) ? "M-393" : "M-83",
                "the size overflows when it is rounded up", kCheckSize);
    }
  } else if (size > SIZE_MAX - 31) {
    return no(ACL_ERROR_RT_PARAM_INVALID, false, is_host(api) ? "M-173" : "M-103",
              "the size overflows when it is rounded up", kCheckSize);
  }

  if (rule.p2p && !has(product.product, Feature::P2pPolicies)) {
    return no(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, false, "M-69", "P2P policies are not supported",
              "choose a policy without P2P, or another product with BELAY_PRODUCT");
  }
  if (giant && (!has(product.product, Feature::HugePages1G) || host_is_device(form))) {
    return no(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, false, "M-70", "1 GB pages are not supported",
              "choose a policy without 1 GB pages, or 950, A3 or A2 with BELAY_PRODUCT, in the EP form");
  }
  if (giant && decoded.read_only) {
    return no(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, false, "M-76", "1 GB pages cannot be read-only",
              "leave out ACL_MEM_ACCESS_USER_SPACE_READONLY, or choose smaller pages");
  }

  const Size bytes = add(round_up(size, 32), padded ? 32 : 0);
  Plan result{};
  result.asked = size;
  result.bytes = bytes.value_or(0);
  result.page = page;
  result.when_short = page == Page::Normal ? Page::Normal : rule.when_short;
  result.p2p = rule.p2p;
  result.read_only = decoded.read_only;
  result.media = is_media(api);
  result.bytes_rule = giant ? "M-419" : (padded || first_layer ? "M-34" : "M-36");
  result.page_rule = rule.rule;
  const Size footprint = round_up(bytes, result.unit());
  if (!footprint) {
    return no(ACL_ERROR_RT_MEMORY_ALLOCATION, false, "M-39", "no device is that large", kCheckSize);
  }
  result.footprint = *footprint;
  result.footprint_when_short =
      result.when_short == page ? *footprint : *round_up(bytes, page_bytes(result.when_short));
  return {true, result, {}};
}

}  // namespace belay
