#include "runtime/memory_queries.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/words.h"

namespace belay {
namespace {

enum class Portion : std::uint8_t { All, Normal, Huge, Giant };
enum class Asks : std::uint8_t { Hbm, Ddr, Whatever };  // the memory that the attribute names

struct AttributeRow {
  Asks technology;
  Portion share;
  bool p2p;
};
// One row per aclrtMemAttr, in its order (M-16, M-137).
constexpr std::array<AttributeRow, 18> kAttributes{{
    {Asks::Ddr, Portion::All, false},
    {Asks::Hbm, Portion::All, false},
    {Asks::Ddr, Portion::Huge, false},
    {Asks::Ddr, Portion::Normal, false},
    {Asks::Hbm, Portion::Huge, false},
    {Asks::Hbm, Portion::Normal, false},
    {Asks::Ddr, Portion::Huge, true},
    {Asks::Ddr, Portion::Normal, true},
    {Asks::Hbm, Portion::Huge, true},
    {Asks::Hbm, Portion::Normal, true},
    {Asks::Hbm, Portion::Giant, false},
    {Asks::Hbm, Portion::Giant, true},
    {Asks::Whatever, Portion::Normal, false},
    {Asks::Whatever, Portion::Huge, false},
    {Asks::Whatever, Portion::Giant, false},
    {Asks::Whatever, Portion::Normal, true},
    {Asks::Whatever, Portion::Huge, true},
    {Asks::Whatever, Portion::Giant, true},
}};

Amounts figures(const DeviceMemory& device, Portion share, bool p2p) {
  switch (share) {
    case Portion::All:
      return device.pool();
    case Portion::Normal:
      return device.figures(Page::Normal, p2p);
    case Portion::Huge:
      return device.figures(Page::Huge2M, p2p);
    case Portion::Giant:
      return device.figures(Page::Huge1G, p2p);
  }
  return {};
}

// M-151. Numbers that belay knows no name for are reserved, those beyond the list unknown.
std::string_view module_name(std::uint8_t module) {
  switch (module) {
    case 3:
      return "HCCL";
    case 6:
      return "DVPP";
    case 7:
      return "RUNTIME";
    case 33:
      return "APP";
    case 36:
      return "AICPU";
    case 39:
      return "FE";
    case 45:
      return "GE";
    case 48:
      return "ASCENDCL";
    case 63:
      return "OP";
    default:
      return module == 0 || module >= 77 ? "UNKNOWN" : "Reserved";
  }
}

}  // namespace

Status memory_info(Process& process, aclrtMemAttr attribute, std::size_t* free, std::size_t* total) {
  if (free == nullptr) return null_pointer("M-131", "free");
  if (total == nullptr) return null_pointer("M-132", "total");
  const auto index = static_cast<std::uint32_t>(attribute);
  if (index >= kAttributes.size()) {
    return refuse({ACL_ERROR_RT_INVALID_MEMORY_TYPE, "M-133", "EE1003",
                   fmt::format("value {} of parameter attr is not accepted; expected: 0 to 17", index), "",
                   "pass a member of aclrtMemAttr"});
  }
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "M-134"));
  const AttributeRow& row = kAttributes[index];
  const ProductRow& product = process.product();
  if (row.share == Portion::Giant && !has(product.product, Feature::HugePages1G)) {
    return unsupported("M-135", fmt::format("{} has no 1 GB pages", product.family),
                       "ask for another attribute");
  }
  if (row.p2p && !has(product.product, Feature::P2pFigures))
    return unsupported("M-142", "IPV350 has no P2P memory", "ask for another attribute");
  // HBM questions on a DDR chip are answered as DDR ones; DDR on an HBM chip is memory it does not have.
  const bool absent = row.technology == Asks::Ddr && product.technology == Technology::Hbm;
  const Amounts amounts =
      absent ? Amounts{0, 0} : figures(process.memory().device(context->device), row.share, row.p2p);
  *free = amounts.free;
  *total = amounts.total;
  return done();
}

Status memory_usage(Process& process, std::int32_t device, aclrtMemUsageInfo* list, std::size_t room,
                    std::size_t* filled) {
  if (list == nullptr) return null_pointer("M-144", "memUsageInfo");
  if (filled == nullptr) return null_pointer("M-145", "outputNum");
  if (!has(process.product().product, Feature::UsageByModule))
    return needs_context(process, "M-149", Feature::UsageByModule);
  *filled = 0;
  if (room == 0)
    return rejected("M-147", "inputNum", room, "there is no room for an entry",
                    "pass an array of at least one entry");
  if (!process.has_device(device)) return bad_device("M-148", device, process.device_count());
  if (process.current() == nullptr || !process.is_open(static_cast<std::uint32_t>(device)))
    return no_context("M-149");
  const std::vector<ModuleUsage> usage = process.memory().device(static_cast<std::uint32_t>(device)).usage();
  // `filled` may lie in the list, or be written by others: it bounds nothing, and is stored last.
  const std::size_t entries = std::min(room, usage.size());
  for (std::size_t i = 0; i < entries; ++i) {
    aclrtMemUsageInfo entry{};
    const std::string_view name = module_name(usage[i].module);
    std::memcpy(entry.name, name.data(), name.size());
    entry.curMemSize = usage[i].current;
    entry.memPeakSize = usage[i].peak;
    list[i] = entry;
  }
  *filled = entries;
  return done();
}

Status check_memory_type(Process& process, void** addresses, std::uint32_t count, std::uint32_t types,
                         std::uint32_t* result, std::uint32_t reserve) {
  if (addresses == nullptr) return null_pointer("M-153", "addrList");
  if (result == nullptr) return null_pointer("M-154", "checkResult");
  if (!has(process.product().product, Feature::AllButIpv))
    return needs_context(process, "M-159", Feature::AllButIpv);
  *result = 0;
  if (reserve != 0) return rejected("M-156", "reserve", reserve, "it is reserved", "pass 0");
  if (count == 0) return rejected("M-157", "size", count, "the list is empty", "pass at least one address");
  constexpr std::uint32_t kKnown = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD;
  if ((types & ~kKnown) != 0)
    return rejected("M-158", "memType", fmt::format("{:#x}", types), "it has unknown bits",
                    "OR together ACL_RT_MEM_TYPE_DEV, _DVPP and _RSVD");
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "M-159"));
  if (count > 1024)
    return rejected("M-160", "size", count, "more than 1024 addresses", "ask in several calls");
  const bool one_kind =
      has(process.product().product, Feature::MediaIsDevice);  // there media memory is device memory (M-162)
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(addresses[i]);
    if (const std::optional<std::int32_t> bound = process.memory().virtual_memory().bound_at(address)) {
      const bool here = *bound == kUnbound || *bound == static_cast<std::int32_t>(context->device);
      if (!here || (types & ACL_RT_MEM_TYPE_RSVD) == 0) return done();
      continue;
    }
    const std::optional<Block> block = process.memory().find(address);
    if (!block || block->device != context->device || block->origin == Origin::Host) return done();
    std::uint32_t type = block->origin == Origin::Malloc ? ACL_RT_MEM_TYPE_DEV : ACL_RT_MEM_TYPE_DVPP;
    if (one_kind) type = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP;
    if ((types & type) == 0) return done();
  }
  *result = 1;
  return done();
}

Status pointer_attributes(Process& process, const void* pointer, aclrtPtrAttributes* attributes) {
  if (pointer == nullptr) return null_pointer("M-163", "ptr");
  if (attributes == nullptr) return null_pointer("M-164", "attributes");
  if (Status here = needs_feature(process, Feature::AllButIpv); !here) return here;
  if (Status opened = needs_opened_device(process, "M-165"); !opened) return opened;
  const Location where = process.memory().locate(pointer);
  aclrtMemLocation location{0, ACL_MEM_LOCATION_TYPE_UNREGISTERED};
  std::size_t page = 0;
  switch (where.kind) {
    case Location::Kind::Unallocated:
      if (process.memory().virtual_memory().is_reserved(where.address)) {
        return refuse({ACL_ERROR_RT_INVALID_HANDLE, "V-350", "EE1018",
                       fmt::format("{}: {}", hex(pointer), process.memory().describe(where.address)), "",
                       "map physical memory there with aclrtMapMem first"});
      }
      return process.memory().asked_after_free(
          driver_refuses("M-165",
                         fmt::format("{}: {}", hex(pointer), process.memory().describe(where.address)),
                         "ask about memory that is allocated"),
          where.address);
    case Location::Kind::Alias:
      return driver_refuses("M-169",
                            fmt::format("{} is a device address of registered host memory", hex(pointer)),
                            "ask about its host address");
    case Location::Kind::Device:
      location = {where.device(), ACL_MEM_LOCATION_TYPE_DEVICE};
      page = page_bytes(where.block.page);
      break;
    case Location::Kind::Pinned:
      location = {0, ACL_MEM_LOCATION_TYPE_HOST};
      page =
          where.block.mapped && process.memory().virtual_memory().is_outside(where.address) ? 2_MiB : 4_KiB;
      break;
    case Location::Kind::Managed:
      location = {0, ACL_MEM_LOCATION_TYPE_MANAGED};
      page = kManagedPage;
      break;
    case Location::Kind::Pageable:
      break;
  }
  attributes->location = location;
  attributes->pageSize = static_cast<std::uint32_t>(page);
  return done();
}

namespace {

struct Extents {
  std::uintptr_t start;
  std::size_t footprint, asked;
};

std::optional<Extents> extents_of(Process& process, std::uintptr_t address) {
  const Memory& memory = process.memory();
  if (const std::optional<Block> block = memory.find(address))
    return Extents{block->start, block->footprint, block->asked};
  if (const std::optional<HostFacts> pinned = memory.host().block_around(address))
    return Extents{pinned->start, pinned->bytes, pinned->asked};
  if (const std::optional<ManagedMemory::Range> managed = memory.managed().find(address))
    return Extents{managed->start, managed->bytes, managed->asked};
  return std::nullopt;
}

}  // namespace

Status address_range(Process& process, void* pointer, void** base, std::size_t* bytes) {
  if (pointer == nullptr) return null_pointer("V-201", "ptr");
  if (Status here = needs_feature(process, Feature::VirtualMemory, "V-23"); !here) return here;
  if (base == nullptr && bytes == nullptr)
    return rejected("V-202", "pbase", "NULL", "psize is NULL as well", "pass a pointer for one of the two");
  if (Status opened = needs_opened_device(process); !opened) return opened;
  const std::optional<Extents> found = extents_of(process, reinterpret_cast<std::uintptr_t>(pointer));
  if (!found) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    return process.memory().asked_after_free(
        rejected("V-205", "ptr", hex(pointer), process.memory().describe(address),
                 "pass an address of a block, or one that is mapped"),
        address);
  }
  if (base != nullptr) *base = reinterpret_cast<void*>(found->start);
  if (bytes != nullptr)
    *bytes = has(process.product().product, Feature::NewerDriver) ? found->asked : found->footprint;
  return done();
}

}  // namespace belay
