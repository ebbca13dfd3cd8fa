#include "cli/products.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/words.h"
#include "cli/colour.h"
#include "cli/help.h"
#include "cli/request.h"
#include "cli/table.h"
#include "memory/device_figures.h"

namespace belay::cli {
namespace {

struct ProductsArguments {
  std::string name;
  bool json = false;
};

std::string_view name_of(Technology technology) { return technology == Technology::Hbm ? "HBM" : "DDR"; }

std::string_view yes_or_no(bool so) { return so ? "yes" : "no"; }

// Pages, P2P and padding are rules of the interface rather than figures of a machine.
Source rule(std::string_view text) { return {Basis::Documented, text}; }

std::string pages_text(Product product) {
  std::vector<std::string> sizes;
  for (const std::size_t bytes : page_sizes(product)) sizes.push_back(amount(bytes));
  return fmt::format("{}", fmt::join(sizes, ", "));
}

std::vector<std::string_view> other_names(const ProductRow& row) {
  std::vector<std::string_view> names;
  for (const Alias& alias : aliases()) {
    if (chip_of(alias.soc).product == row.product) names.push_back(alias.name);
  }
  return names;
}

// --- as text --------------------------------------------------------------------------------------

// An assumed figure in a table carries a star.
std::string starred(const std::string& figure, Basis basis) {
  return basis == Basis::Assumed ? figure + "*" : figure;
}

void print_list() {
  Table table{{Align::Left, Align::Left, Align::Left, Align::Right, Align::Left, Align::Right, Align::Right,
               Align::Left, Align::Left, Align::Right, Align::Left}};
  table.heading({"name", "family", "SoC", "devices", "memory", "installed", "usable", "pages", "P2P",
                 "padding", "links"});
  for (const ProductRow& row : products()) {
    const Chip& chip = chip_of(row.soc);
    table.row({std::string{row.key}, std::string{row.family}, std::string{row.soc},
               starred(fmt::format("{}", row.devices), row.devices_source.basis),
               starred(std::string{name_of(row.technology)}, row.technology_source.basis),
               starred(amount(chip.installed_bytes), chip.installed_source.basis),
               starred(amount(chip.usable_bytes), chip.usable_source.basis), pages_text(row.product),
               std::string{yes_or_no(has(row.product, Feature::P2pPolicies))}, fmt::format("{}", row.padding),
               starred(std::string{row.topology.text}, row.topology.source.basis)});
  }
  fmt::print("{}\n", table.text(output_width()));
  fmt::print(
      "Memory is that of each device, for the SoC named. * assumed: no figure is published.\n"
      "'belay products NAME' lists the chips of a product, and where each figure comes from.\n");
}

void print_figures(const ProductRow& row, const Chip& chip) {
  Table table{{Align::Left, Align::Left, Align::Left, Align::Left}};
  const auto line = [&table](const char* figure, std::string value, const Source& source) {
    table.row({figure, std::move(value), std::string{name_of(source.basis)}, std::string{source.text}});
  };
  table.heading({"figure", "value", "basis", "source"});
  line("memory", std::string{name_of(row.technology)}, row.technology_source);
  line("  installed", bytes_and_amount(chip.installed_bytes), chip.installed_source);
  line("  usable", bytes_and_amount(chip.usable_bytes), chip.usable_source);
  line("devices", fmt::format("{}", row.devices), row.devices_source);
  line("links", std::string{row.topology.text}, row.topology.source);
  table.row({"  on one card", fmt::format("{}", row.topology.dies_per_card)});
  table.row({"  linked together", fmt::format("{}", row.topology.linked)});
  line("pages", pages_text(row.product), rule("M-70: who has 1 GB pages"));
  line("P2P policies", std::string{yes_or_no(has(row.product, Feature::P2pPolicies))},
       rule("M-69: who has them"));
  line("padding", row.padding == 0 ? "none" : amount(row.padding), rule("M-35: what aclrtMalloc adds"));
  line("forms", has(row.product, Feature::HostForm) ? "EP, RC, OPEN_CTRL_CPU" : "EP",
       rule("M-437: where host and device can be one"));
  fmt::print("{}", table.text(output_width()));
}

void print_chips(const ProductRow& row, const Chip& chosen) {
  Table table{{Align::Left, Align::Right, Align::Left, Align::Right, Align::Left}};
  table.heading({"chip", "installed", "basis", "usable", "basis"});
  for (const Chip& chip : chips()) {
    if (chip.product != row.product) continue;
    table.row({fmt::format("{}{}", chip.soc, chip.soc == chosen.soc ? " (this)" : ""),
               amount(chip.installed_bytes), std::string{name_of(chip.installed_source.basis)},
               fmt::format("{}", chip.usable_bytes), std::string{name_of(chip.usable_source.basis)}});
  }
  fmt::print("\n{}", table.text(output_width()));
}

void print_one(const Choice& choice) {
  const ProductRow& row = *choice.row;
  const Chip& chip = chip_of(choice.soc);
  const std::string_view name = chip.soc == row.soc ? row.key : chip.soc;
  fmt::print("{}\n", paint(Style::Bold, fmt::format("{}: {}, {}", row.key, row.family, chip.soc)));
  if (const auto names = other_names(row); !names.empty())
    fmt::print("also understood: {}\n", fmt::join(names, ", "));
  fmt::print("\n");
  print_figures(row, chip);
  print_chips(row, chip);
  fmt::print(
      "\nTo choose it:\n"
      "  belay run --product {0} -- ./my_program\n"
      "  BELAY_PRODUCT={0} ./my_program\n"
      "  belay run --product {0} --devices 2 --hbm 4G -- ./my_program\n"
      "--devices sets the number of devices, --hbm the memory of each, at most {1}.\n",
      name, amount(kMostDeviceBytes));
}

// --- as JSON --------------------------------------------------------------------------------------

using Json = nlohmann::ordered_json;

template <class Value>
Json figure_json(const Value& value, const Source& source) {
  return {{"value", value}, {"basis", name_of(source.basis)}, {"source", source.text}};
}

Json chip_json(const Chip& chip) {
  return {{"soc", chip.soc},
          {"installed_bytes", figure_json(chip.installed_bytes, chip.installed_source)},
          {"usable_bytes", figure_json(chip.usable_bytes, chip.usable_source)}};
}

Json product_json(const ProductRow& row, const Chip& chosen) {
  Json json;
  json["key"] = row.key;
  json["family"] = row.family;
  json["soc"] = chosen.soc;
  json["default_soc"] = row.soc;
  json["aliases"] = other_names(row);
  json["devices"] = figure_json(row.devices, row.devices_source);
  json["memory"] = figure_json(name_of(row.technology), row.technology_source);
  json["installed_bytes"] = figure_json(chosen.installed_bytes, chosen.installed_source);
  json["usable_bytes"] = figure_json(chosen.usable_bytes, chosen.usable_source);
  json["most_bytes"] = kMostDeviceBytes;
  json["page_bytes"] = page_sizes(row.product);
  json["p2p"] = has(row.product, Feature::P2pPolicies);
  json["padding_bytes"] = row.padding;
  json["host_forms"] = has(row.product, Feature::HostForm);
  json["topology"] = {
      {"links", name_of(row.topology.links)},        {"dies_per_card", row.topology.dies_per_card},
      {"linked_devices", row.topology.linked},       {"text", row.topology.text},
      {"basis", name_of(row.topology.source.basis)}, {"source", row.topology.source.text}};
  json["chips"] = Json::array();
  for (const Chip& chip : chips()) {
    if (chip.product == row.product) json["chips"].push_back(chip_json(chip));
  }
  return json;
}

// --- the command ----------------------------------------------------------------------------------

int show_products(const ProductsArguments& arguments) {
  if (arguments.name.empty()) {
    if (!arguments.json) {
      print_list();
      return kOk;
    }
    Json json = Json::array();
    for (const ProductRow& row : products()) json.push_back(product_json(row, chip_of(row.soc)));
    fmt::print("{}\n", Json{{"products", json}}.dump(2));
    return kOk;
  }
  const Choice choice = read_product(arguments.name);
  if (arguments.json) {
    fmt::print("{}\n", product_json(*choice.row, chip_of(choice.soc)).dump(2));
  } else {
    print_one(choice);
  }
  return kOk;
}

}  // namespace

Action add_products(CLI::App& belay) {
  auto arguments = std::make_shared<ProductsArguments>();
  CLI::App& app =
      *belay.add_subcommand("products", "List the Ascend products that can be emulated, and their figures")
           ->group("Commands");
  app.add_option("NAME", arguments->name, "show this one in full: A2, A3, 950, ... or a SoC name")
      ->option_text(" ");
  app.add_flag("--json", arguments->json, "print as JSON");
  set_help(app, "belay products [NAME] [--json]",
           "Each figure is observed (programs on real devices reported it), documented (a published\n"
           "source has it) or assumed (no source has it; chosen to be plausible).\n\n"
           "Examples:\n"
           "  belay products                               one row for each product\n"
           "  belay products A3                            one in full: chips, figures, sources\n"
           "  belay products Ascend910B4                   the same for another chip of A2\n"
           "  belay products 950 --json                    for tools\n"
           "  belay run --product Ascend910B4 -- ./my_program");
  return [arguments] { return show_products(*arguments); };
}

}  // namespace belay::cli
