#include "product/product.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace belay {
namespace {

// Where only the installed size of a chip is public, the usable part is assumed to be the share that
// a 64 GB A2 card shows (62,432 of 65,536 MB), in whole 2 MB pages.
constexpr std::size_t assumed_usable(std::size_t installed) {
  return round_down(installed / 65536 * 62432, 2_MiB);
}

// usable_bytes: A2, A3 and 910 as observed (D-59), the others assumed from the installed size (D-60).
// Core counts and L2 sizes: as commonly listed for the default chip of each row. No rule fixes them; 0: not
// known.
constexpr std::array kRows{
    ProductRow{Product::A2, "Atlas A2", "A2", "Ascend910B3", Technology::Hbm, 65'464'696'832, 32, 8, 20, 40,
               6, 192_MiB, 2201},
    ProductRow{Product::A3, "Atlas A3", "A3", "Ascend910_9391", Technology::Hbm, 65'787'658'240, 32, 16, 24,
               48, 6, 192_MiB, 2201},
    ProductRow{Product::A950, "Ascend 950PR/950DT", "950", "Ascend950PR_9599", Technology::Hbm,
               assumed_usable(128_GiB), 0, 8, 32, 64, 6, 128_MiB, 3510, 64},
    ProductRow{Product::P310, "Atlas inference series", "310P", "Ascend310P3", Technology::Ddr,
               assumed_usable(24'000'000'000), 32, 4, 8, 7, 7, 16_MiB, 2002},
    ProductRow{Product::T910, "Atlas training series", "910", "Ascend910A", Technology::Hbm, 34'359'738'368,
               32, 8, 32, 0, 14, 32_MiB, 1001},
    ProductRow{Product::B310, "Atlas 200I/500 A2", "310B", "Ascend310B1", Technology::Ddr,
               assumed_usable(32_GiB), 32, 1, 1, 1, 3, 4_MiB, 3002},
    ProductRow{Product::IPV, "IPV350", "IPV350", "IPV350", Technology::Ddr, assumed_usable(2_GiB), 32, 1, 1,
               1, 1, 0, 0},
};

// Further SoC names that select a product (installed sizes: D-60).
constexpr std::array kChips{
    Chip{"Ascend910B1", Product::A2, 65'464'696'832},
    Chip{"Ascend910B2", Product::A2, 65'464'696'832},
    Chip{"Ascend910B3", Product::A2, 65'464'696'832},
    Chip{"Ascend910B4", Product::A2, assumed_usable(32_GiB)},
    Chip{"Ascend910B4-1", Product::A2, assumed_usable(32_GiB)},
    Chip{"Ascend910_9391", Product::A3, 65'787'658'240},
    Chip{"Ascend910_9381", Product::A3, 65'787'658'240},
    Chip{"Ascend910_9372", Product::A3, 65'787'658'240},
    Chip{"Ascend910_9362", Product::A3, 65'787'658'240},
    Chip{"Ascend910_9363", Product::A3, assumed_usable(32_GiB)},
    Chip{"Ascend950PR_9599", Product::A950, assumed_usable(128_GiB)},
    Chip{"Ascend950DT_9591", Product::A950, assumed_usable(144_GiB)},
    Chip{"Ascend310P1", Product::P310, assumed_usable(24'000'000'000)},
    Chip{"Ascend310P3", Product::P310, assumed_usable(24'000'000'000)},
    Chip{"Ascend910A", Product::T910, 34'359'738'368},
    Chip{"Ascend910", Product::T910, 34'359'738'368},
    Chip{"Ascend310B1", Product::B310, assumed_usable(32_GiB)},
    Chip{"Ascend310B4", Product::B310, assumed_usable(32_GiB)},
    Chip{"IPV350", Product::IPV, assumed_usable(2_GiB)},
};

struct Alias {
  std::string_view name;
  Product product;
};
constexpr std::array kAliases{
    Alias{"910B", Product::A2},          Alias{"Ascend910B", Product::A2},
    Alias{"910C", Product::A3},          Alias{"Ascend910C", Product::A3},
    Alias{"Ascend910_93", Product::A3},  Alias{"950PR", Product::A950},
    Alias{"Ascend950PR", Product::A950}, Alias{"Ascend950", Product::A950},
    Alias{"IPV", Product::IPV},          Alias{"Ascend310P", Product::P310},
    Alias{"Ascend310B", Product::B310},  Alias{"200I/500 A2", Product::B310},
};

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::span<const ProductRow> products() { return kRows; }
std::span<const Chip> chips() { return kChips; }

const ProductRow& row_of(Product product) { return *std::ranges::find(kRows, product, &ProductRow::product); }

ChoiceOrNothing find_product(std::string_view name) {
  const auto whole = [](const ProductRow& row) {
    return ChoiceOrNothing{true, {&row, row.soc, row.usable_bytes}};
  };
  for (const ProductRow& row : kRows) {
    if (same_word(name, row.key) || same_word(name, row.family)) return whole(row);
  }
  for (const Chip& chip : kChips) {
    if (same_word(name, chip.soc)) return {true, {&row_of(chip.product), chip.soc, chip.usable_bytes}};
  }
  for (const Alias& alias : kAliases) {
    if (same_word(name, alias.name)) return whole(row_of(alias.product));
  }
  if (same_word(name, "950DT") || same_word(name, "Ascend950DT")) return find_product("Ascend950DT_9591");
  return {false, {}};
}

}  // namespace belay
