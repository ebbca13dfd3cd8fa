#include "runtime/virtual_memory.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/read_once.h"
#include "base/words.h"
#include "memory/physical_plan.h"
#include "platform/pinned.h"
#include "runtime/memory_tasks.h"

namespace belay {
namespace {

// What of the machine has these functions at all (V-23, V-85).
Status needs_virtual_memory(const Process& process) {
  if (host_is_device(process.settings().memory.form)) {
    return unsupported(
        "V-85", fmt::format("{} has no virtual memory: host and device share one", machine_in_words(process)),
        "allocate with aclrtMalloc, or use the EP form");
  }
  return needs_feature(process, Feature::VirtualMemory, "V-23");
}

Refusal from_plan(const PlanRefusal& why, const aclrtPhysicalMemProp& prop, std::size_t size) {
  std::string what = fmt::format("{} bytes with memAttr {} at location type {}, id {}: {}", size,
                                 static_cast<int>(prop.memAttr), static_cast<int>(prop.location.type),
                                 prop.location.id, why.text);
  switch (why.code) {
    case ACL_ERROR_INVALID_PARAM:
      return refuse({why.code, why.rule, "EH0009", std::move(what), "", why.cure});
    case ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
      return unsupported(why.rule, std::move(what), why.cure);
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
      return out_of_memory(why.rule, std::move(what), "", why.cure);
    default:
      return refuse({why.code, why.rule, "EE1011", std::move(what), "", why.cure});
  }
}

// The argument as it stands at this moment.
aclrtPhysicalMemProp taken(const aclrtPhysicalMemProp* prop) {
  return {read_once(prop->handleType),
          read_once(prop->allocationType),
          read_once(prop->memAttr),
          {read_once(prop->location.id), read_once(prop->location.type)},
          read_once(prop->reserve)};
}

Status check_device(const Process& process, const aclrtPhysicalMemProp& prop, const char* rule) {
  if (prop.location.type != ACL_MEM_LOCATION_TYPE_DEVICE || process.has_device(prop.location.id))
    return done();
  return bad_device(rule, prop.location.id, process.device_count());
}

Refusal not_open(std::uint32_t device) {
  return refuse({ACL_ERROR_RT_INVALID_HANDLE, "V-123", "EE1018",
                 fmt::format("device {} is not open in this process", device), "",
                 fmt::format("call aclrtSetDevice({}) first", device)});
}

std::uint64_t number_of(aclrtDrvMemHandle handle) { return reinterpret_cast<std::uint64_t>(handle); }

Status check_reserve(const ReserveArguments& wish, const char* null_rule, const char* size_rule,
                     const char* flags_rule) {
  if (wish.out == nullptr) return null_pointer(null_rule, "virPtr");
  if (wish.size == 0) return bad_value(size_rule, "size", wish.size, "at least 1");
  if (wish.flags > 1) return bad_value(flags_rule, "flags", wish.flags, "0");
  return done();
}

// The output is NULL after everything that the driver refuses (V-82).
Status stored(void** out, Result<std::uintptr_t> start) {
  *out = start ? reinterpret_cast<void*>(*start) : nullptr;
  if (start) return done();
  return start.take_refusal();
}

// Of which number a wished address must be a multiple (V-77).
std::size_t alignment_for(std::size_t size) {
  return size > 512_MiB ? 1_GiB : std::max(2_MiB, std::bit_ceil(size));
}

Result<std::uintptr_t> reserve(Process& process, const ReserveArguments& wish) {
  if (wish.alignment != 0)
    return rejected("V-69", "alignment", wish.alignment, "the runtime chooses the alignment", "pass 0");
  const std::uintptr_t wished = address_of(wish.wished);
  if (wished != 0 && !has(process.product().product, Feature::WishedAddresses)) {
    return unsupported("V-79", fmt::format("{} does not take a wished address", process.product().family),
                       "pass NULL as expectPtr");
  }
  if (wished != 0 && wished % alignment_for(wish.size) != 0) {
    return rejected(
        "V-70", "expectPtr", hex(wished),
        fmt::format("{} bytes must start at a multiple of {}", wish.size, amount(alignment_for(wish.size))),
        "round the address up, or pass NULL");
  }
  if (Status opened = needs_opened_device(process, "V-71"); !opened) return opened.take_refusal();
  return process.memory().virtual_memory().reserve(wish.size, wished);
}

Result<std::uintptr_t> reserve_high(Process& process, const ReserveArguments& wish) {
  constexpr std::uintptr_t kLowest = 24_TiB;
  const std::uintptr_t wished = address_of(wish.wished);
  if (wished == 0)
    return unsupported("V-87", "without an address nothing can be reserved here", "pass one from 40 TB up");
  if (wish.size % 1_GiB != 0)
    return rejected("V-88", "size", wish.size, "it is not a multiple of 1 GB", "round it up");
  if (wish.alignment != 0)
    return rejected("V-88", "alignment", wish.alignment, "the runtime chooses the alignment", "pass 0");
  if (wished % 1_GiB != 0)
    return rejected("V-88", "expectPtr", hex(wished), "it is not a multiple of 1 GB", "round it up");
  if (Status opened = needs_opened_device(process); !opened) return opened.take_refusal();
  if (wished < kLowest)
    return rejected("V-89", "expectPtr", hex(wished), fmt::format("it is below {}", hex(kLowest)),
                    "pass an address from 40 TB up");
  return process.memory().virtual_memory().reserve_high(wish.size, wished);
}

}  // namespace

// --- addresses ------------------------------------------------------------------------------------

Status reserve_addresses(Process& process, const ReserveArguments& wish) {
  if (Status plain = check_reserve(wish, "V-66", "V-67", "V-68"); !plain) return plain;
  if (Status here = needs_virtual_memory(process); !here) return here;
  return stored(wish.out, reserve(process, wish));
}

Status reserve_high_addresses(Process& process, const ReserveArguments& wish) {
  if (Status plain = check_reserve(wish, "V-86", "V-86", "V-86"); !plain) return plain;
  if (Status here = needs_feature(process, Feature::HighAddresses, "V-90"); !here) return here;
  return stored(wish.out, reserve_high(process, wish));
}

Status release_addresses(Process& process, void* start) {
  if (start == nullptr) return null_pointer("V-93", "virPtr");
  if (Status here = needs_virtual_memory(process); !here) return here;
  if (Status opened = needs_opened_device(process); !opened) return opened;
  return process.memory().virtual_memory().release(address_of(start));
}

// --- memory ---------------------------------------------------------------------------------------

Status allocate_physical(Process& process, aclrtDrvMemHandle* out, std::size_t size,
                         const aclrtPhysicalMemProp* prop, std::uint64_t flags) {
  if (out == nullptr) return null_pointer("V-99", "handle");
  if (prop == nullptr) return null_pointer("V-100", "prop");
  if (size != 0 && flags != 0) return bad_value("V-102", "flags", flags, "0");
  const aclrtPhysicalMemProp wish = taken(prop);
  const PhysicalPlanResult planned = plan_physical(size, wish, process.product());
  if (!planned && planned.refusal.code == ACL_ERROR_INVALID_PARAM)
    return from_plan(planned.refusal, wish, size);
  if (Status here = needs_virtual_memory(process); !here) return here;
  if (Status there = check_device(process, wish, "V-108"); !there) return there;
  const bool on_node = wish.location.type == ACL_MEM_LOCATION_TYPE_HOST_NUMA;
  if (on_node && process.current() == nullptr) return no_context("V-109");
  if (!planned) return from_plan(planned.refusal, wish, size);
  if (on_node && planned->node != platform::kAnyNode &&
      (planned->node < 0 || planned->node >= platform::memory_nodes())) {
    return driver_refuses("V-115",
                          fmt::format("NUMA node {} does not exist; this machine has {}", planned->node,
                                      counted(static_cast<std::size_t>(platform::memory_nodes()), "node")),
                          "pass a node that exists, or -1 (0xFFFFFFFF) for any");
  }
  if (Status opened = needs_opened_device(process); !opened) return opened;
  if (planned->side == Side::Device && !process.is_open(planned->device)) {
    return not_open(planned->device);
  }
  const Handle handle = new_handle();
  if (Status made = process.memory().allocate_physical(handle, *planned); !made) return made;
  if (planned->side == Side::Device && !process.is_open(planned->device)) {
    // Another thread has reset the device meanwhile, and may have looked for its memory before this was
    // there.
    (void)process.memory().virtual_memory().free(handle);
    return not_open(planned->device);
  }
  if (planned->asked != planned->bytes) {
    observe::note("V-119", [&] {
      return fmt::format(
          "{} bytes of physical memory are not whole pages: they take {}, and published drivers refuse "
          "such a size",
          planned->asked, planned->bytes);
    });
  }
  *out = reinterpret_cast<aclrtDrvMemHandle>(handle);
  return done();
}

Status free_physical(Process& process, aclrtDrvMemHandle handle) {
  if (handle == nullptr) return null_pointer("V-126", "handle");
  if (Status here = needs_virtual_memory(process); !here) return here;
  if (Status opened = needs_opened_device(process); !opened) return opened;
  return process.memory().virtual_memory().free(number_of(handle));
}

Status granularity(Process& process, const aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option,
                   std::size_t* out) {
  if (prop == nullptr) return null_pointer("V-53", "prop");
  if (out == nullptr) return null_pointer("V-54", "granularity");
  const aclrtPhysicalMemProp wish = taken(prop);
  if (const PlanRefusal why = physical::check_attribute(wish, "V-55", "V-56"); why.code != ACL_SUCCESS)
    return from_plan(why, wish, 0);
  if (Status here = needs_virtual_memory(process); !here) return here;
  if (Status there = check_device(process, wish, "V-57"); !there) return there;
  if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM && option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    return unsupported("V-58", fmt::format("there is no granularity option {}", static_cast<int>(option)),
                       "pass ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM or _RECOMMENDED");
  }
  const aclrtMemLocationType type = wish.location.type;
  if (type != ACL_MEM_LOCATION_TYPE_DEVICE && !physical::is_host(type)) {
    return rejected(type == ACL_MEM_LOCATION_TYPE_UNREGISTERED ? "V-60" : "V-59", "prop->location.type",
                    static_cast<int>(type), "physical memory is on a device or on the host",
                    "pass ACL_MEM_LOCATION_TYPE_DEVICE, _HOST or _HOST_NUMA");
  }
  if (const PlanRefusal why = physical::check_pages(wish, process.product(), "V-61"); why.code != ACL_SUCCESS)
    return from_plan(why, wish, 0);
  if (wish.reserve != 0)
    return rejected("V-62", "prop->reserve", wish.reserve, "it must be 0",
                    "set all of the structure to 0 first");
  *out = page_bytes(physical_attribute(wish.memAttr).page);
  return done();
}

Status physical_properties(Process& process, aclrtDrvMemHandle handle, aclrtPhysicalMemProp* out) {
  if (handle == nullptr) return null_pointer("V-196", "handle");
  if (out == nullptr) return null_pointer("V-196", "prop");
  if (Status here = needs_virtual_memory(process); !here) return here;
  const std::optional<PhysicalPlan> plan = process.memory().virtual_memory().plan_of(number_of(handle));
  if (!plan)
    return bad_value("V-197", "handle", hex(number_of(handle)),
                     "a handle of aclrtMallocPhysical that is alive");
  if (has(process.product().product, Feature::NewerDriver) &&
      process.memory().virtual_memory().is_imported(number_of(handle))) {
    return unsupported(
        "V-200", fmt::format("{} does not tell the properties of imported memory", process.product().family),
        "ask in the process that made it, and pass the answer on");
  }
  const aclrtMemLocationType type = plan->side == Side::Device ? ACL_MEM_LOCATION_TYPE_DEVICE
                                    : plan->on_node            ? ACL_MEM_LOCATION_TYPE_HOST_NUMA
                                                               : ACL_MEM_LOCATION_TYPE_HOST;
  const std::uint32_t id = plan->side == Side::Device ? plan->device : static_cast<std::uint32_t>(plan->node);
  *out = {ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_ALLOCATION_TYPE_PINNED, plan->reported, {id, type}, 0};
  return done();
}

// --- mapping --------------------------------------------------------------------------------------

Status map_memory(Process& process, const MapArguments& wish, bool accessible) {
  if (wish.start == nullptr) return null_pointer("V-132", "virPtr");
  if (wish.handle == nullptr) return null_pointer("V-133", "handle");
  if (wish.size == 0) return bad_value("V-134", "size", wish.size, "the size of the physical memory");
  if (wish.flags != 0) return bad_value("V-135", "flags", wish.flags, "0");
  if (Status here = needs_virtual_memory(process); !here) return here;
  if (wish.offset != 0)
    return rejected("V-136", "offset", wish.offset, "physical memory is mapped from its start", "pass 0");
  if (Status opened = needs_opened_device(process); !opened) return opened;
  return process.memory().virtual_memory().map(
      {address_of(wish.start), wish.size, number_of(wish.handle), accessible});
}

Status unmap_memory(Process& process, void* start) {
  if (start == nullptr) return null_pointer("V-161", "virPtr");
  if (Status here = needs_virtual_memory(process); !here) return here;
  if (Status opened = needs_opened_device(process); !opened) return opened;
  return process.memory().virtual_memory().unmap(address_of(start));
}

Status map_selected_link(Process& process, void* to, std::size_t size, void* from, std::uint32_t link) {
  if (to == nullptr) return null_pointer("V-207", "virPtrDst");
  if (from == nullptr) return null_pointer("V-207", "virPtrSrc");
  if (size == 0) return bad_value("V-207", "size", size, "the size of both ranges");
  if (link > ACL_RT_MEM_LINK_IDX_1)
    return bad_value("V-207", "linkIdx", link, "ACL_RT_MEM_LINK_IDX_0 or ACL_RT_MEM_LINK_IDX_1");
  if (Status here = needs_feature(process, Feature::SelectedLinks, "V-208"); !here) return here;
  if (Status opened = needs_opened_device(process); !opened) return opened;
  return process.memory().virtual_memory().map_again(address_of(to), size, address_of(from));
}

Status set_link(Process& process, aclrtDrvMemHandle handle, aclrtMemLinkType link) {
  if (handle == nullptr) return null_pointer("V-518", "handle");
  const auto number = static_cast<std::uint32_t>(link);
  if (number > ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH)
    return rejected("V-519", "adviceLink", number, "there is no such link",
                    "pass a member of aclrtMemLinkType");
  if (Status here = needs_feature(process, Feature::SelectedLinks, "V-520"); !here) return here;
  if (number > ACL_RT_MEM_ACCESS_LINK_HCCS) {
    return refuse({ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED, "V-519", "EE1016",
                   fmt::format("{} has no unified bus (link {})", process.product().family, number), "",
                   "pass ACL_RT_MEM_ACCESS_LINK_SIO or ACL_RT_MEM_ACCESS_LINK_HCCS"});
  }
  if (process.memory().virtual_memory().lives(number_of(handle))) return done();
  return rejected("V-35", "handle", hex(number_of(handle)), "no physical memory has this handle",
                  "pass a handle that is alive");
}

// --- access ---------------------------------------------------------------------------------------

namespace {

// V-171 … V-173. Ids are those of the machine (V-26).
Result<Grantee> grantee(const Process& process, const aclrtMemLocation& location,
                        const char* rule = nullptr) {
  const auto no = [&](const char* own, const char* parameter, std::uint32_t value, std::string why) {
    return rejected(
        rule != nullptr ? rule : own, parameter, value, std::move(why),
        "pass ACL_MEM_LOCATION_TYPE_HOST with id 0, or ACL_MEM_LOCATION_TYPE_DEVICE with the number of a "
        "device");
  };
  if (location.type != ACL_MEM_LOCATION_TYPE_HOST && location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
    return no("V-171", "location.type", static_cast<std::uint32_t>(location.type),
              "it is neither host nor device");
  const bool host = location.type == ACL_MEM_LOCATION_TYPE_HOST;
  if (host && location.id != 0) return no("V-172", "location.id", location.id, "the host is number 0");
  if (!host && location.id >= process.settings().machine.devices) {
    return no("V-173", "location.id", location.id,
              fmt::format("the machine has {}", counted(process.settings().machine.devices, "device")));
  }
  return Grantee{host, location.id};
}

}  // namespace

Status set_access(Process& process, void* start, std::size_t size, const aclrtMemAccessDesc* descriptors,
                  std::size_t count) {
  if (Status here = needs_virtual_memory(process); !here) return here;
  if (start == nullptr) return rejected("V-168", "virPtr", "NULL", "there is no mapping", "pass its start");
  if (descriptors == nullptr)
    return rejected("V-168", "desc", "NULL", "there is nothing to grant", "pass at least one descriptor");
  if (count == 0) return rejected("V-169", "count", count, "there is nothing to grant", "pass at least 1");
  if (Status opened = needs_opened_device(process); !opened) return opened;
  VirtualMemory& memory = process.memory().virtual_memory();
  const bool each_once = has(process.product().product, Feature::NewerDriver);
  std::vector<aclrtMemLocation> named;
  for (std::size_t i = 0; i < count; ++i) {
    const auto flags = static_cast<std::uint32_t>(read_once(descriptors[i].flags));
    const aclrtMemLocation location{read_once(descriptors[i].location.id),
                                    read_once(descriptors[i].location.type)};
    if (flags == ACL_RT_MEM_ACCESS_FLAGS_NONE || flags == ACL_RT_MEM_ACCESS_FLAGS_READ) {
      return as_misuse(
          unsupported("V-170",
                      fmt::format("descriptor {}: only reading and writing together can be granted", i),
                      "pass ACL_RT_MEM_ACCESS_FLAGS_READWRITE"),
          Misuse::AccessNotGranted);
    }
    if (flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE) {
      return as_misuse(rejected("V-170", "desc.flags", flags, "there is no such access",
                                "pass ACL_RT_MEM_ACCESS_FLAGS_READWRITE"),
                       Misuse::AccessNotGranted);
    }
    ASSIGN_OR_RETURN(const Grantee to, grantee(process, location));
    if (Status fits = memory.check_mapping(address_of(start), size); !fits) return fits;
    const auto same = [&](const aclrtMemLocation& other) {
      return other.type == location.type && other.id == location.id;
    };
    if (each_once && std::ranges::any_of(named, same))
      return rejected("V-175", "desc", i, "an earlier descriptor names the same location",
                      "name each location once");
    named.push_back(location);
    if (Status granted = memory.grant(address_of(start), to); !granted) return granted;
  }
  return done();
}

Status get_access(Process& process, void* address, const aclrtMemLocation* location, std::uint64_t* out) {
  if (address == nullptr) return null_pointer("V-186", "virPtr");
  if (location == nullptr) return null_pointer("V-186", "location");
  if (out == nullptr) return null_pointer("V-186", "flag");
  if (Status here = needs_virtual_memory(process); !here) return here;
  ASSIGN_OR_RETURN(const Grantee who,
                   grantee(process, {read_once(location->id), read_once(location->type)}, "V-187"));
  if (Status opened = needs_opened_device(process); !opened) return opened;
  ASSIGN_OR_RETURN(const bool granted,
                   process.memory().virtual_memory().is_granted(address_of(address), who));
  *out = granted ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
  return done();
}

Status retain_handle(Process& process, void* start, aclrtDrvMemHandle* out) {
  if (start == nullptr) return null_pointer("V-191", "virPtr");
  if (out == nullptr) return null_pointer("V-191", "handle");
  if (Status here = needs_virtual_memory(process); !here) return here;
  if (Status opened = needs_opened_device(process); !opened) return opened;
  ASSIGN_OR_RETURN(const std::uint64_t handle, process.memory().virtual_memory().retain(address_of(start)));
  *out = reinterpret_cast<aclrtDrvMemHandle>(handle);
  return done();
}

}  // namespace belay
