// Each Ascend chip as a row of data.
//
// What differs between products is looked up here and nowhere else: no file above this room asks
// "is it a 910B?". Rows come from the rules named in their comments; figures without a public source
// are marked as assumed, in data, so that tools can show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/size.h"
#include "product/source.h"
#include "product/topology.h"

namespace belay {

// Products as the documents group them. The value is also the bit in a ProductSet.
enum class Product : std::uint8_t { A950, A3, A2, B310, P310, T910, IPV };

using ProductSet = std::uint8_t;
constexpr ProductSet bit(Product p) { return static_cast<ProductSet>(1U << static_cast<unsigned>(p)); }

namespace sets {
inline constexpr ProductSet k950 = bit(Product::A950), kA3 = bit(Product::A3), kA2 = bit(Product::A2),
                            k310B = bit(Product::B310), k310P = bit(Product::P310), k910 = bit(Product::T910),
                            kIPV = bit(Product::IPV);
inline constexpr ProductSet kAllButIpv = k950 | kA3 | kA2 | k310B | k310P | k910;
inline constexpr ProductSet kAll = kAllButIpv | kIPV;
}  // namespace sets

// What only some products have. Each is answered by one set (M-8, R-266, the table of 01 section 1).
enum class Feature : std::uint8_t {
  EveryChip,            // functions that every product has
  AllButIpv,            // ... every product but IPV350
  HostRegistration,     // M-199
  HostMapQuery,         // M-227
  BatchCopy,            // M-283
  CopyDescriptors,      // M-325
  FillD32,              // M-390
  UsageByModule,        // M-152
  MediaV1,              // acldvpp*, M-403
  MediaV2,              // hi_mpi_*, M-404
  MediaWindow16G,       // M-400
  P2pPolicies,          // M-69
  HugePages1G,          // M-70
  ReadOnlyBlocks,       // M-72
  UnifiedHostVa,        // vaFlag 1, M-183
  PeerAccess,
  PeerCopyNeedsEnable,  // M-245
  PeerCopy,             // M-245: 310B has none
  Identity,             // uuid, PCI id, device limits: R-266
  HostForm,             // RC and Control-CPU-open forms, M-437
  NarrowPolicies,       // only base policies 0 to 5 pass the first check, M-67
  P2pFigures,           // P2P attributes of aclrtGetMemInfo, M-142
  MediaIsDevice,        // media memory is device memory, M-162
  SimtLimits,
  LinkAttributes,       // device attributes 408 and 409, R-81
  Copy2dAsRc,
  Copy2dAsOpenCtrlCpu,  // two-dimensional copies in those forms, M-321
  Copy2dOnDevice,       // queued, from device to device: M-312
  OffsetCopy,           // M-354
  StreamControl,        // abort, stop, overflow switch, record and wait flags, batch reset: R-266
  OpWaitTimeout,
  ValueOperations,      // P-9
  InfNan,               // floating point goes on with infinities
  Saturation,           // ... or stays at the largest number: R-101
  HardwareSync,
  CountNotifies,        // R-277 ... R-282
  FaultReports,         // damaged memory and other faults: R-270 ... R-272
  VirtualMemory,        // V-486
  WishedAddresses,      // V-79
  PhysicalHuge1G,       // ACL_MEM_HUGE1G, V-52
  PhysicalP2pHuge1G,    // ACL_MEM_P2P_HUGE1G, V-52
  HighAddresses,        // reservations without UC memory: V-90
  SelectedLinks,        // V-208, V-520
  FabricHandles,        // V-259
  IpcKeys,              // V-390, V-486
  KeyLinks,             // other servers and links of keys: V-406, V-423
  ManagedMemory,        // V-278
  PeerMapping,          // aclrtMemP2PMap, V-486
  CacheOperations,      // V-357, V-373
  CacheBarriers,        // V-363
  SharedSignals,        // events and notifies of several processes
  ServerPids,           // processes are named by their server: R-211, V-406
  NewerDriver,          // in small things: V-75, V-162, V-175, V-204, V-374
};

constexpr ProductSet supported_on(Feature feature) {
  using namespace sets;
  switch (feature) {
    case Feature::EveryChip:
      return kAll;
    case Feature::AllButIpv:
    case Feature::HostMapQuery:
    case Feature::VirtualMemory:
      return kAllButIpv;
    case Feature::WishedAddresses:
      return kAllButIpv & static_cast<ProductSet>(~k950);
    case Feature::HostRegistration:
    case Feature::BatchCopy:
    case Feature::FillD32:
    case Feature::Identity:
    case Feature::Copy2dOnDevice:
    case Feature::StreamControl:
    case Feature::ValueOperations:
    case Feature::InfNan:
    case Feature::FaultReports:
    case Feature::SharedSignals:
    case Feature::CacheOperations:
      return k950 | kA3 | kA2;
    case Feature::Saturation:
      return kAll & static_cast<ProductSet>(~k950);
    case Feature::OffsetCopy:
      return k950 | kA3 | kA2 | k910;
    case Feature::OpWaitTimeout:
      return k950 | kA3 | kA2 | k310B | k910;
    case Feature::CopyDescriptors:
      return k950 | kA3 | kA2 | k310B;
    case Feature::UsageByModule:
      return kA3 | kA2 | k310B | k310P | k910;
    case Feature::MediaV1:
      return kA3 | kA2 | k310B | k310P | k910;
    case Feature::MediaV2:
      return kA3 | kA2 | k310B | k310P;
    case Feature::MediaWindow16G:
      return kA3 | kA2 | k310P;
    case Feature::P2pPolicies:
      return k950 | kA3 | kA2 | k310P | k910;
    case Feature::HugePages1G:
      return k950 | kA3 | kA2;
    case Feature::ReadOnlyBlocks:
      return kAllButIpv;
    case Feature::UnifiedHostVa:
    case Feature::HardwareSync:
    case Feature::PhysicalHuge1G:
    case Feature::ManagedMemory:
      return kA3 | kA2;
    case Feature::PhysicalP2pHuge1G:
    case Feature::HighAddresses:
    case Feature::SelectedLinks:
    case Feature::FabricHandles:
    case Feature::KeyLinks:
    case Feature::ServerPids:
      return kA3;
    case Feature::CacheBarriers:
      return k310B;
    case Feature::PeerAccess:
    case Feature::PeerMapping:
    case Feature::IpcKeys:
      return k950 | kA3 | kA2 | k310P | k910;
    case Feature::PeerCopyNeedsEnable:
      return k950 | kA2 | k310P | k910;
    case Feature::PeerCopy:
      return kAll & static_cast<ProductSet>(~k310B);
    case Feature::HostForm:
      return k310B | k310P | k910 | kIPV;
    case Feature::NarrowPolicies:
      return kIPV;
    case Feature::P2pFigures:
      return kAllButIpv;
    case Feature::MediaIsDevice:
    case Feature::SimtLimits:
    case Feature::LinkAttributes:
    case Feature::CountNotifies:
    case Feature::NewerDriver:
      return k950;
    case Feature::Copy2dAsRc:
      return kAllButIpv & static_cast<ProductSet>(~k310B);
    case Feature::Copy2dAsOpenCtrlCpu:
      return kAllButIpv & static_cast<ProductSet>(~k310P);
  }
  return 0;
}

constexpr bool has(Product product, Feature feature) { return (supported_on(feature) & bit(product)) != 0; }

enum class Technology : std::uint8_t { Hbm, Ddr };

struct ProductRow {
  Product product;
  std::string_view family;  // as the documents call it
  std::string_view key;     // short name for BELAY_PRODUCT
  std::string_view soc;     // what aclrtGetSocName answers by default
  Technology technology;
  std::size_t usable_bytes;  // what aclrtGetMemInfo reports as total (M-143, D-59): that of the default chip
  std::size_t padding;       // bytes added by aclrtMalloc (M-34, M-35)
  std::uint32_t devices;     // of the default machine
  std::uint32_t ai_cores, vector_cores, ai_cpus;
  std::size_t l2_bytes;
  std::int64_t npu_arch;
  std::size_t copy_descriptor_bytes = 32;  // M-327
  // On each device. Streams: R-131. Events with a hardware number: R-160. Notifies: R-206.
  std::uint32_t streams = 1984, events = 65536, notifies = 8192;
  Source technology_source{};
  Source devices_source{};
  Topology topology{};
};

// The PCI bus of a device: where servers of this kind have their cards.
constexpr std::uint32_t pci_bus_of(std::uint32_t device) { return 0x81 + device; }

// A chip of a product: its name, and how much memory it has.
struct Chip {
  std::string_view soc;
  Product product;
  std::size_t installed_bytes;  // as sold
  Source installed_source;
  std::size_t usable_bytes;  // what is left once the device's own system has taken its part
  Source usable_source;
};

// Another name of a chip, as people and tools write it.
struct Alias {
  std::string_view name;
  std::string_view soc;
};

std::span<const ProductRow> products();
std::span<const Chip> chips();
std::span<const Alias> aliases();
const ProductRow& row_of(Product product);
const Chip& chip_of(std::string_view soc);  // of a name that chips() or a row has

// The page sizes of a product, smallest first: 4 KB and 2 MB on all, 1 GB where the feature is (M-70, D-24).
std::span<const std::size_t> page_sizes(Product product);

// A product chosen by name: a key ("A2", "910B"), a family name or a SoC name. Empty if unknown.
struct Choice {
  const ProductRow* row;
  std::string_view soc;
  std::size_t usable_bytes;
};
struct ChoiceOrNothing {
  bool found;
  Choice choice;
};
ChoiceOrNothing find_product(std::string_view name);

// A chip by its own name or another that people write; null if unknown.
const Chip* find_chip(std::string_view name);

}  // namespace belay
