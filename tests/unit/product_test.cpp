#include "product/product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "memory/device_figures.h"
#include "memory/plan.h"

namespace belay {
namespace product_test {

TEST(ProductData, EveryRowHasItsDefaultChipAndEveryChipARow) {
  std::set<Product> seen;
  for (const ProductRow& row : products()) {
    EXPECT_TRUE(seen.insert(row.product).second) << row.key;
    const Chip& chip = chip_of(row.soc);
    EXPECT_EQ(chip.soc, row.soc);
    EXPECT_EQ(chip.product, row.product) << row.key;
    EXPECT_EQ(chip.usable_bytes, row.usable_bytes) << row.key;
  }
  std::set<std::string_view> names;
  for (const Chip& chip : chips()) {
    EXPECT_TRUE(seen.contains(chip.product)) << chip.soc;
    EXPECT_TRUE(names.insert(chip.soc).second) << chip.soc << " stands twice";
  }
}

TEST(ProductData, UsableMemoryFitsIntoWhatIsInstalledAndIntoTheBooks) {
  for (const Chip& chip : chips()) {
    EXPECT_GT(chip.usable_bytes, 0U) << chip.soc;
    EXPECT_LE(chip.usable_bytes, chip.installed_bytes) << chip.soc;
    EXPECT_LE(chip.installed_bytes, kMostDeviceBytes) << chip.soc;
    EXPECT_EQ(chip.usable_bytes % 2_MiB, 0U) << chip.soc << ": not in whole 2 MB pages";
  }
}

TEST(ProductData, EveryFigureSaysWhereItComesFrom) {
  for (const ProductRow& row : products()) {
    for (const Source& source : {row.technology_source, row.devices_source, row.topology.source}) {
      EXPECT_FALSE(source.text.empty()) << row.key;
      EXPECT_FALSE(name_of(source.basis).empty()) << row.key;
    }
    EXPECT_FALSE(row.topology.text.empty()) << row.key;
    EXPECT_FALSE(name_of(row.topology.links).empty()) << row.key;
  }
  for (const Chip& chip : chips()) {
    EXPECT_FALSE(chip.installed_source.text.empty()) << chip.soc;
    EXPECT_FALSE(chip.usable_source.text.empty()) << chip.soc;
  }
}

TEST(ProductData, LinksAgreeWithTheNumberOfDevices) {
  for (const ProductRow& row : products()) {
    const Topology& topology = row.topology;
    EXPECT_EQ(row.devices % topology.dies_per_card, 0U) << row.key;
    EXPECT_EQ(row.devices % topology.linked, 0U) << row.key;
    EXPECT_EQ(topology.links == Links::Alone, row.devices == 1) << row.key;
    const bool all = topology.links == Links::HccsMesh || topology.links == Links::DiePairs ||
                     topology.links == Links::UbMesh;
    if (all) {
      EXPECT_EQ(topology.linked, row.devices) << row.key;
    }
  }
  EXPECT_EQ(row_of(Product::A3).topology.dies_per_card, 2U);
  EXPECT_EQ(row_of(Product::T910).topology.linked, 4U);
}

TEST(ProductData, D24_M70_PageSizesFollowTheFeature) {
  for (const ProductRow& row : products()) {
    const auto sizes = page_sizes(row.product);
    ASSERT_GE(sizes.size(), 2U) << row.key;
    EXPECT_EQ(sizes[0], page_bytes(Page::Normal));
    EXPECT_EQ(sizes[1], page_bytes(Page::Huge2M));
    EXPECT_EQ(sizes.size() == 3, has(row.product, Feature::HugePages1G)) << row.key;
    EXPECT_EQ(sizes.back() == page_bytes(Page::Huge1G), has(row.product, Feature::HugePages1G)) << row.key;
  }
}

TEST(ProductData, D59_M143_UsableTotalsAreThoseOfRealDevices) {
  const std::map<std::string_view, std::size_t> wanted{
      {"A2", 65'464'696'832}, {"A3", 65'787'658'240}, {"910", 34'359'738'368}};
  for (const auto& [name, bytes] : wanted) {
    const Choice choice = find_product(name).choice;
    EXPECT_EQ(choice.usable_bytes, bytes) << name;
    EXPECT_EQ(chip_of(choice.soc).usable_source.basis, Basis::Observed) << name;
  }
  // Nothing else has been reported, so everything else is marked as a guess.
  for (const Chip& chip : chips()) {
    const auto is_usable = [&](const auto& pair) { return pair.second == chip.usable_bytes; };
    if (chip.usable_source.basis == Basis::Observed) {
      EXPECT_TRUE(std::ranges::any_of(wanted, is_usable)) << chip.soc;
    }
  }
}

TEST(ProductData, D60_InstalledSizesAreThoseOfTheChipFiles) {
  const std::map<std::string_view, std::size_t> wanted{
      {"Ascend910B1", 64_GiB},    {"Ascend910B2", 64_GiB},         {"Ascend910B3", 64_GiB},
      {"Ascend910B4", 32_GiB},    {"Ascend910B4-1", 32_GiB},       {"Ascend910_9362", 64_GiB},
      {"Ascend910_9363", 32_GiB}, {"Ascend910_9372", 64_GiB},      {"Ascend910_9381", 64_GiB},
      {"Ascend910_9382", 64_GiB}, {"Ascend910_9391", 64_GiB},      {"Ascend910_9392", 64_GiB},
      {"Ascend310B1", 32_GiB},    {"Ascend310P1", 24'000'000'000}, {"Ascend310P3", 24'000'000'000},
  };
  for (const auto& [soc, bytes] : wanted) {
    ASSERT_TRUE(find_product(soc).found) << soc;
    EXPECT_EQ(chip_of(soc).installed_bytes, bytes) << soc;
    EXPECT_EQ(chip_of(soc).installed_source.basis, Basis::Documented) << soc;
  }
}

TEST(ProductData, D60_The950ComesInEverySizeThatIsSold) {
  std::set<std::size_t> pr;
  std::set<std::size_t> dt;
  for (const Chip& chip : chips()) {
    if (chip.soc.starts_with("Ascend950PR")) pr.insert(chip.installed_bytes);
    if (chip.soc.starts_with("Ascend950DT")) dt.insert(chip.installed_bytes);
  }
  EXPECT_EQ(pr, (std::set{128_GiB, 112_GiB, 96_GiB, 84_GiB}));
  EXPECT_EQ(dt, (std::set{144_GiB, 126_GiB, 96_GiB, 84_GiB, 64_GiB, 56_GiB}));
}

TEST(ProductData, AliasesLeadToAChip) {
  for (const Alias& alias : aliases()) {
    const ChoiceOrNothing found = find_product(alias.name);
    ASSERT_TRUE(found.found) << alias.name;
    EXPECT_EQ(found.choice.soc, alias.soc);
    EXPECT_EQ(found.choice.row->product, chip_of(alias.soc).product);
  }
  EXPECT_EQ(find_product("910b").choice.soc, row_of(Product::A2).soc);
  EXPECT_EQ(find_product("950DT").choice.soc, "Ascend950DT_9591");
}

}  // namespace product_test
}  // namespace belay
