// How a request for physical memory is served: the documented rules as one table and one pure function
// (V-45 … V-52, V-99 … V-119, V-198), like plan.h for blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/size.h"
#include "memory/extent.h"
#include "memory/plan.h"
#include "product/product.h"

namespace belay {

// One row per aclrtMemAttr, in its order. What an attribute is reported as (V-198) is not always itself; the
// same number as kNo: it is not accepted there.
struct PhysicalAttribute {
  static constexpr std::uint8_t kNo = 0xFF;
  std::uint8_t on_device, on_host;
  Page page;
  bool p2p;
  Feature needs;  // on a device

  constexpr bool exists() const { return on_device != kNo || on_host != kNo; }
  constexpr std::uint8_t reported(Side side) const { return side == Side::Device ? on_device : on_host; }
};
inline constexpr PhysicalAttribute kNoPhysicalAttribute{PhysicalAttribute::kNo, PhysicalAttribute::kNo,
                                                        Page::Huge2M, false, Feature::VirtualMemory};
inline constexpr std::array<PhysicalAttribute, 18> kPhysicalAttributes{{
    kNoPhysicalAttribute,                                                                   // DDR_MEM
    kNoPhysicalAttribute,                                                                   // HBM_MEM
    {PhysicalAttribute::kNo, ACL_MEM_HUGE, Page::Huge2M, false, Feature::VirtualMemory},    // DDR_MEM_HUGE
    {PhysicalAttribute::kNo, ACL_MEM_NORMAL, Page::Huge2M, false, Feature::VirtualMemory},  // DDR_MEM_NORMAL
    {ACL_HBM_MEM_HUGE, ACL_HBM_MEM_HUGE, Page::Huge2M, false, Feature::VirtualMemory},
    {ACL_HBM_MEM_NORMAL, ACL_HBM_MEM_NORMAL, Page::Huge2M, false, Feature::VirtualMemory},
    {PhysicalAttribute::kNo, ACL_MEM_P2P_HUGE, Page::Huge2M, true, Feature::VirtualMemory},
    {PhysicalAttribute::kNo, ACL_DDR_MEM_P2P_NORMAL, Page::Huge2M, true, Feature::VirtualMemory},
    kNoPhysicalAttribute,  // HBM_MEM_P2P_HUGE
    kNoPhysicalAttribute,  // HBM_MEM_P2P_NORMAL
    {ACL_HBM_MEM_HUGE1G, ACL_HBM_MEM_HUGE1G, Page::Huge1G, false, Feature::HugePages1G},
    kNoPhysicalAttribute,                                                               // HBM_MEM_P2P_HUGE1G
    {ACL_HBM_MEM_NORMAL, ACL_MEM_NORMAL, Page::Huge2M, false, Feature::VirtualMemory},  // MEM_NORMAL
    {ACL_HBM_MEM_HUGE, ACL_MEM_HUGE, Page::Huge2M, false, Feature::VirtualMemory},      // MEM_HUGE
    {ACL_HBM_MEM_HUGE1G, ACL_MEM_HUGE1G, Page::Huge1G, false, Feature::PhysicalHuge1G},
    {ACL_MEM_P2P_NORMAL, ACL_DDR_MEM_P2P_NORMAL, Page::Huge2M, true, Feature::VirtualMemory},
    {ACL_MEM_P2P_HUGE, ACL_MEM_P2P_HUGE, Page::Huge2M, true, Feature::VirtualMemory},
    {ACL_MEM_P2P_HUGE1G, ACL_MEM_P2P_HUGE1G, Page::Huge1G, true, Feature::PhysicalP2pHuge1G},
}};

constexpr const PhysicalAttribute& physical_attribute(aclrtMemAttr attribute) {
  const auto index = static_cast<std::uint32_t>(attribute);
  return index < kPhysicalAttributes.size() ? kPhysicalAttributes[index] : kNoPhysicalAttribute;
}

struct PhysicalPlan {
  std::size_t asked, bytes;
  Page page;
  bool p2p;
  Side side;
  std::uint32_t device;  // if it is on one
  bool on_node;          // of NUMA; -1: any
  std::int32_t node;
  aclrtMemAttr reported;  // V-198

  constexpr std::size_t pages() const { return bytes / page_bytes(page); }
};

struct PhysicalPlanResult {
  bool ok;
  PhysicalPlan plan;
  PlanRefusal refusal;

  constexpr explicit operator bool() const { return ok; }
  constexpr const PhysicalPlan* operator->() const { return &plan; }
  constexpr const PhysicalPlan& operator*() const { return plan; }
};

namespace physical {

constexpr PlanRefusal kNone{ACL_SUCCESS, false, "", "", ""};
constexpr bool is_host(aclrtMemLocationType type) {
  return type == ACL_MEM_LOCATION_TYPE_HOST || type == ACL_MEM_LOCATION_TYPE_HOST_NUMA;
}

// Attribute and place together, before anything else is looked at: V-55 and V-56, or V-106 and V-107.
constexpr PlanRefusal check_attribute(const aclrtPhysicalMemProp& prop, const char* rule_of_ddr,
                                      const char* rule_of_rest) {
  const PhysicalAttribute& attribute = physical_attribute(prop.memAttr);
  if (prop.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && attribute.exists() &&
      attribute.on_device == PhysicalAttribute::kNo) {
    return {ACL_ERROR_INVALID_PARAM, true, rule_of_ddr, "devices have no memory of the DDR attributes",
            "use ACL_HBM_MEM_HUGE, or ACL_MEM_HUGE, which exists on both sides"};
  }
  if (!attribute.exists()) {
    return {ACL_ERROR_INVALID_PARAM, true, rule_of_rest, "physical memory has no such attribute",
            "use ACL_HBM_MEM_HUGE or ACL_MEM_HUGE for pages of 2 MB, ACL_HBM_MEM_HUGE1G for 1 GB"};
  }
  return kNone;
}

// 1 GB pages where there are none: V-61, V-111.
constexpr PlanRefusal check_pages(const aclrtPhysicalMemProp& prop, const ProductRow& product,
                                  const char* rule) {
  const PhysicalAttribute& attribute = physical_attribute(prop.memAttr);
  if (attribute.page != Page::Huge1G) return kNone;
  if (is_host(prop.location.type)) {
    return {ACL_ERROR_RT_FEATURE_NOT_SUPPORT, false, rule, "the host has no 1 GB pages",
            "use an attribute of 2 MB pages, such as ACL_MEM_HUGE"};
  }
  if (!has(product.product, attribute.needs)) {
    return {ACL_ERROR_RT_FEATURE_NOT_SUPPORT, false, rule,
            "this product does not have 1 GB pages of that attribute",
            "use an attribute of 2 MB pages, such as ACL_HBM_MEM_HUGE"};
  }
  return kNone;
}

}  // namespace physical

// What aclrtMallocPhysical makes of its arguments. Left out: whether device, node and memory are there.
constexpr PhysicalPlanResult plan_physical(std::size_t size, const aclrtPhysicalMemProp& prop,
                                           const ProductRow& product) {
  const auto no = [](const PlanRefusal& why) { return PhysicalPlanResult{false, {}, why}; };
  const auto first = [&](const char* rule, const char* text, const char* cure) {
    return no({ACL_ERROR_INVALID_PARAM, true, rule, text, cure});
  };
  const aclrtMemLocationType type = prop.location.type;
  if (size == 0) return first("V-101", "the size must not be 0", "ask for at least 1 byte");
  if (prop.handleType != ACL_MEM_HANDLE_TYPE_NONE)
    return first("V-103", "there is only one type of handle", "set handleType to ACL_MEM_HANDLE_TYPE_NONE");
  if (prop.allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED)
    return first("V-104", "all physical memory is pinned",
                 "set allocationType to ACL_MEM_ALLOCATION_TYPE_PINNED");
  if (type == ACL_MEM_LOCATION_TYPE_UNREGISTERED || type == ACL_MEM_LOCATION_TYPE_MANAGED)
    return first("V-105", "physical memory is on a device or on the host",
                 "set location.type to ACL_MEM_LOCATION_TYPE_DEVICE, _HOST or _HOST_NUMA");
  if (const PlanRefusal why = physical::check_attribute(prop, "V-106", "V-107"); why.code != ACL_SUCCESS)
    return no(why);
  if (const PlanRefusal why = physical::check_pages(prop, product, "V-111"); why.code != ACL_SUCCESS)
    return no(why);
  const auto later = [&](const char* rule, const char* text, const char* cure) {
    return no({ACL_ERROR_RT_PARAM_INVALID, false, rule, text, cure});
  };
  if (type != ACL_MEM_LOCATION_TYPE_DEVICE && !physical::is_host(type))
    return later("V-112", "there is no such location",
                 "set location.type to ACL_MEM_LOCATION_TYPE_DEVICE, _HOST or _HOST_NUMA");
  if (prop.reserve != 0) return later("V-113", "reserve must be 0", "set all of the structure to 0 first");
  if (type == ACL_MEM_LOCATION_TYPE_HOST && prop.location.id != 0)
    return no({ACL_ERROR_RT_FEATURE_NOT_SUPPORT, false, "V-114", "the host is number 0",
               "set location.id to 0; ACL_MEM_LOCATION_TYPE_HOST_NUMA names a node"});

  const PhysicalAttribute& attribute = physical_attribute(prop.memAttr);
  const Size bytes = round_up(size, page_bytes(attribute.page));
  if (!bytes)
    return no({ACL_ERROR_RT_MEMORY_ALLOCATION, false, "V-118", "nothing is that large",
               "check the computation of the size"});
  const Side side = type == ACL_MEM_LOCATION_TYPE_DEVICE ? Side::Device : Side::Host;
  return {true,
          {size, *bytes, attribute.page, attribute.p2p, side, side == Side::Device ? prop.location.id : 0,
           type == ACL_MEM_LOCATION_TYPE_HOST_NUMA, static_cast<std::int32_t>(prop.location.id),
           static_cast<aclrtMemAttr>(attribute.reported(side))},
          physical::kNone};
}

}  // namespace belay
