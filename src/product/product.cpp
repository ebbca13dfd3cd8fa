#include "product/product.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/nearest.h"

namespace belay {
namespace {

// --- memory ---------------------------------------------------------------------------------------

// What aclrtGetMemInfo has reported as total on real devices (D-59).
constexpr std::size_t kUsableA2 = 65'464'696'832;   // 62,432 MB in most logs; 62,420 MB in some
constexpr std::size_t kUsableA3 = 65'787'658'240;   // 62,740 MB of each die
constexpr std::size_t kUsable910 = 34'359'738'368;  // 32,768 MB: all that is installed

constexpr Source kSeenA2{Basis::Observed, "D-59: programs on 64 GB cards report this total"};
constexpr Source kSeenA3{Basis::Observed, "D-59: programs report this total for each die"};
constexpr Source kSeen910{Basis::Observed, "D-59: a program on a 32 GB card reports this total"};

// Sizes as sold. The chip files are published with the runtime; D-60 lists what they say.
constexpr Source kChipFile{Basis::Documented, "D-60: the chip's file in the vendor's platform configuration"};
constexpr Source kLikeB2{Basis::Assumed, "as the 910B2, whose variant it is"};
constexpr Source kSold910{Basis::Documented, "D-59: a card of 32 GB"};

// Where only the installed size of a chip is public, the usable part is assumed to be the share that
// a 64 GB A2 card shows, in whole 2 MB pages.
constexpr Source kShare{Basis::Assumed,
                        "the share of the installed size that a 64 GB A2 card shows, 62432 of 65536"};
constexpr std::size_t assumed_usable(std::size_t installed) {
  return round_down(installed / 65536 * 62432, 2_MiB);
}

constexpr Chip with_assumed_share(std::string_view soc, Product product, std::size_t installed,
                                  Source source) {
  return {soc, product, installed, source, assumed_usable(installed), kShare};
}

// No device may be larger than its share of the addresses, 255 GB (memory/device_figures.h).
constexpr std::array kChips{
    Chip{"Ascend910B1", Product::A2, 64_GiB, kChipFile, kUsableA2, kSeenA2},
    Chip{"Ascend910B2", Product::A2, 64_GiB, kChipFile, kUsableA2, kSeenA2},
    with_assumed_share("Ascend910B2C", Product::A2, 64_GiB, kLikeB2),
    Chip{"Ascend910B3", Product::A2, 64_GiB, kChipFile, kUsableA2, kSeenA2},
    with_assumed_share("Ascend910B4", Product::A2, 32_GiB, kChipFile),
    // The status tool shows 65,536 MB on some cards of this name; the file says 32 GB.
    with_assumed_share("Ascend910B4-1", Product::A2, 32_GiB, kChipFile),

    Chip{"Ascend910_9391", Product::A3, 64_GiB, kChipFile, kUsableA3, kSeenA3},
    Chip{"Ascend910_9392", Product::A3, 64_GiB, kChipFile, kUsableA3, kSeenA3},
    Chip{"Ascend910_9381", Product::A3, 64_GiB, kChipFile, kUsableA3, kSeenA3},
    Chip{"Ascend910_9382", Product::A3, 64_GiB, kChipFile, kUsableA3, kSeenA3},
    Chip{"Ascend910_9372", Product::A3, 64_GiB, kChipFile, kUsableA3, kSeenA3},
    Chip{"Ascend910_9362", Product::A3, 64_GiB, kChipFile, kUsableA3, kSeenA3},
    with_assumed_share("Ascend910_9363", Product::A3, 32_GiB, kChipFile),

    // One chip for each size that is sold; many more names share these sizes.
    with_assumed_share("Ascend950PR_9599", Product::A950, 128_GiB, kChipFile),
    with_assumed_share("Ascend950PR_957b", Product::A950, 112_GiB, kChipFile),
    with_assumed_share("Ascend950PR_957d", Product::A950, 96_GiB, kChipFile),
    with_assumed_share("Ascend950PR_957c", Product::A950, 84_GiB, kChipFile),
    with_assumed_share("Ascend950DT_9591", Product::A950, 144_GiB, kChipFile),
    // Its file has a digit wrong, 135,291,569,824; 126 GB is 135,291,469,824.
    with_assumed_share("Ascend950DT_9573", Product::A950, 126_GiB, kChipFile),
    with_assumed_share("Ascend950DT_9582", Product::A950, 96_GiB, kChipFile),
    with_assumed_share("Ascend950DT_9574", Product::A950, 84_GiB, kChipFile),
    with_assumed_share("Ascend950DT_9576", Product::A950, 64_GiB, kChipFile),
    with_assumed_share("Ascend950DT_9578", Product::A950, 56_GiB, kChipFile),

    // A decimal size, as an Atlas 300I Pro card has it.
    with_assumed_share("Ascend310P1", Product::P310, 24'000'000'000, kChipFile),
    with_assumed_share("Ascend310P3", Product::P310, 24'000'000'000, kChipFile),

    Chip{"Ascend910A", Product::T910, 32_GiB, kSold910, kUsable910, kSeen910},
    Chip{"Ascend910", Product::T910, 32_GiB, kSold910, kUsable910, kSeen910},

    with_assumed_share("Ascend310B1", Product::B310, 32_GiB, kChipFile),
    with_assumed_share("Ascend310B4", Product::B310, 32_GiB, {Basis::Assumed, "as Ascend310B1"}),

    with_assumed_share("IPV350", Product::IPV, 2_GiB, {Basis::Assumed, "no size is published"}),
};

// --- products -------------------------------------------------------------------------------------

constexpr Source kHbmFigures{Basis::Observed, "D-59: the total is reported under the HBM attributes"};
constexpr Source kDdrAnswers{Basis::Documented, "M-139: HBM queries return the DDR figures"};

// Guides of the vendor that say how many devices a server has and how they are linked.
constexpr Source kPerNode{Basis::Documented,
                          "the guide of the HCCL performance tester: at most this many devices on one node"};
constexpr Source kScheduling{Basis::Documented, "MindCluster's guide to affinity scheduling"};

// padding: M-35. Pages and P2P are features (product.h). Core counts and L2 sizes: as commonly listed for the
// default chip of each row. No rule fixes them; 0: not known.
constexpr std::array kRows{
    ProductRow{
        .product = Product::A2,
        .family = "Atlas A2",
        .key = "A2",
        .soc = "Ascend910B3",
        .technology = Technology::Hbm,
        .usable_bytes = kUsableA2,
        .padding = 32,
        .devices = 8,
        .ai_cores = 20,
        .vector_cores = 40,
        .ai_cpus = 6,
        .l2_bytes = 192_MiB,
        .npu_arch = 2201,
        .technology_source = kHbmFigures,
        .devices_source = kPerNode,
        .topology = {Links::HccsMesh,
                     1,
                     8,
                     "HCCS between all",
                     {Basis::Documented, "operators of 910B servers report it: HCCS links all eight"}},
    },
    ProductRow{
        .product = Product::A3,
        .family = "Atlas A3",
        .key = "A3",
        .soc = "Ascend910_9391",
        .technology = Technology::Hbm,
        .usable_bytes = kUsableA3,
        .padding = 32,
        .devices = 16,
        .ai_cores = 24,
        .vector_cores = 48,
        .ai_cpus = 6,
        .l2_bytes = 192_MiB,
        .npu_arch = 2201,
        .technology_source = kHbmFigures,
        .devices_source = kScheduling,  // eight modules in a server, two dies each
        .topology = {Links::DiePairs, 2, 16, "pairs of dies by SIO, HCCS between them", kScheduling},
    },
    ProductRow{
        .product = Product::A950,
        .family = "Ascend 950PR/950DT",
        .key = "950",
        .soc = "Ascend950PR_9599",
        .technology = Technology::Hbm,
        .usable_bytes = assumed_usable(128_GiB),
        .padding = 0,
        .devices = 8,
        .ai_cores = 32,
        .vector_cores = 64,
        .ai_cpus = 6,
        .l2_bytes = 128_MiB,
        .npu_arch = 3510,
        .copy_descriptor_bytes = 64,
        .notifies = 65535,
        .technology_source = {Basis::Documented, "the vendor's announcement of 2025: its own HBM"},
        .devices_source = kPerNode,
        .topology = {Links::UbMesh,
                     1,
                     8,
                     "unified bus between all",
                     {Basis::Assumed,
                      "HCCL's rank table guide shows a server of two devices linked this way"}},
    },
    ProductRow{
        .product = Product::P310,
        .family = "Atlas inference series",
        .key = "310P",
        .soc = "Ascend310P3",
        .technology = Technology::Ddr,
        .usable_bytes = assumed_usable(24'000'000'000),
        .padding = 32,
        .devices = 4,
        .ai_cores = 8,
        .vector_cores = 7,
        .ai_cpus = 7,
        .l2_bytes = 16_MiB,
        .npu_arch = 2002,
        .streams = 1024,
        .events = 1023,
        .notifies = 1024,
        .technology_source = kDdrAnswers,
        .devices_source = {Basis::Assumed, "half of the eight chips that an Atlas 800 (model 3000) takes"},
        .topology = {Links::Pcie,
                     1,  // an Atlas 300I Duo has two, of 48 GB each
                     1,
                     "PCIe only",
                     {Basis::Documented, "published specifications of the Atlas 300I cards"}},
    },
    ProductRow{
        .product = Product::T910,
        .family = "Atlas training series",
        .key = "910",
        .soc = "Ascend910A",
        .technology = Technology::Hbm,  // the boards have DDR besides (D-25), which is not emulated
        .usable_bytes = kUsable910,
        .padding = 32,
        .devices = 8,
        .ai_cores = 32,
        .vector_cores = 0,
        .ai_cpus = 14,
        .l2_bytes = 32_MiB,
        .npu_arch = 1001,
        .streams = 2048,
        .events = 65535,
        .notifies = 1024,
        .technology_source = kHbmFigures,
        .devices_source = kPerNode,
        .topology = {Links::HccsGroups, 1, 4, "two groups of 4 by HCCS, PCIe between them", kScheduling},
    },
    ProductRow{
        .product = Product::B310,
        .family = "Atlas 200I/500 A2",
        .key = "310B",
        .soc = "Ascend310B1",
        .technology = Technology::Ddr,
        .usable_bytes = assumed_usable(32_GiB),
        .padding = 32,
        .devices = 1,
        .ai_cores = 1,
        .vector_cores = 1,
        .ai_cpus = 3,
        .l2_bytes = 4_MiB,
        .npu_arch = 3002,
        .streams = 512,
        .notifies = 2048,
        .technology_source = kDdrAnswers,
        .devices_source = {Basis::Assumed, "one module with one chip"},
        .topology = {Links::Alone, 1, 1, "one device", {Basis::Assumed, "one module with one chip"}},
    },
    ProductRow{
        .product = Product::IPV,
        .family = "IPV350",
        .key = "IPV350",
        .soc = "IPV350",
        .technology = Technology::Ddr,
        .usable_bytes = assumed_usable(2_GiB),
        .padding = 32,
        .devices = 1,
        .ai_cores = 1,
        .vector_cores = 1,
        .ai_cpus = 1,
        .l2_bytes = 0,
        .npu_arch = 0,
        .streams = 1024,
        .notifies = 1024,
        .technology_source = {Basis::Assumed, "nothing is published"},
        .devices_source = {Basis::Assumed, "nothing is published"},
        .topology = {Links::Alone, 1, 1, "one device", {Basis::Assumed, "nothing is published"}},
    },
};

// A row repeats one figure of its default chip, because most users of the row want only that one.
static_assert(std::ranges::all_of(kRows, [](const ProductRow& row) {
  const auto chip = std::ranges::find(kChips, row.soc, &Chip::soc);
  return chip != kChips.end() && chip->product == row.product && chip->usable_bytes == row.usable_bytes;
}));

constexpr std::array kAliases{
    Alias{"910B", "Ascend910B3"},
    Alias{"Ascend910B", "Ascend910B3"},
    Alias{"910C", "Ascend910_9391"},
    Alias{"Ascend910C", "Ascend910_9391"},
    Alias{"Ascend910_93", "Ascend910_9391"},
    Alias{"950PR", "Ascend950PR_9599"},
    Alias{"Ascend950PR", "Ascend950PR_9599"},
    Alias{"Ascend950", "Ascend950PR_9599"},
    Alias{"950DT", "Ascend950DT_9591"},
    Alias{"Ascend950DT", "Ascend950DT_9591"},
    Alias{"IPV", "IPV350"},
    Alias{"Ascend310P", "Ascend310P3"},
    Alias{"Ascend310B", "Ascend310B1"},
    Alias{"200I/500 A2", "Ascend310B1"},
};

ChoiceOrNothing choice_of(const Chip& chip) {
  return {true, {&row_of(chip.product), chip.soc, chip.usable_bytes}};
}

}  // namespace

std::span<const ProductRow> products() { return kRows; }
std::span<const Chip> chips() { return kChips; }
std::span<const Alias> aliases() { return kAliases; }

const ProductRow& row_of(Product product) { return *std::ranges::find(kRows, product, &ProductRow::product); }
const Chip& chip_of(std::string_view soc) { return *std::ranges::find(kChips, soc, &Chip::soc); }

std::span<const std::size_t> page_sizes(Product product) {
  static constexpr std::array kSizes{4_KiB, 2_MiB, 1_GiB};
  return std::span{kSizes}.first(has(product, Feature::HugePages1G) ? 3 : 2);
}

ChoiceOrNothing find_product(std::string_view name) {
  for (const ProductRow& row : kRows) {
    if (same_word(name, row.key) || same_word(name, row.family)) return choice_of(chip_of(row.soc));
  }
  const Chip* chip = find_chip(name);
  return chip != nullptr ? choice_of(*chip) : ChoiceOrNothing{false, {}};
}

const Chip* find_chip(std::string_view name) {
  // Also without "Ascend", as npu-smi and people write it.
  constexpr std::string_view kMaker = "Ascend";
  for (const Chip& chip : kChips) {
    if (same_word(name, chip.soc) ||
        (chip.soc.starts_with(kMaker) && same_word(name, chip.soc.substr(kMaker.size()))))
      return &chip;
  }
  for (const Alias& alias : kAliases) {
    if (same_word(name, alias.name)) return &chip_of(alias.soc);
  }
  return nullptr;
}

}  // namespace belay
