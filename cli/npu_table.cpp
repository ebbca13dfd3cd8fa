#include "cli/npu_table.h"

#include <fmt/format.h>

#include <vector>

namespace belay::cli {
namespace {

// Three kinds of table: cards with HBM, chips without, and the Ascend 950. Widths are those between two bars.
struct Shape {
  std::vector<std::size_t> cells;      // of a chip
  std::vector<std::size_t> processes;  // of the line above and below them
  std::size_t tool, driver;            // widths of the two versions
  std::string_view heading;
};

constexpr std::string_view kHbmHeading =
    "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n"
    "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n";
constexpr std::string_view kDieHeading =
    "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n"
    "| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n";
constexpr std::string_view kDdrHeading =
    "| NPU     Name                  | Health          | Power(W)     Temp(C)           "
    "Hugepages-Usage(page) |\n"
    "| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                       "
    " |\n";
constexpr std::string_view k950Heading =
    "| NPU ID | Name             | Health        | Power(W)    Temp(C)           Hugepages-Usage(page) |\n"
    "|        |                  | Bus-Id        | NPU Util(%) Memory-Usage(MB)  HBM-Usage(MB)         |\n";

Shape shape_of(const NpuServer& server) {
  if (server.is(Product::A950)) return {{8, 18, 15, 53}, {27, 15, 53}, 40, 37, k950Heading};
  if (!server.hbm()) return {{31, 17, 54}, {31, 17, 54}, 40, 44, kDdrHeading};
  return {{27, 15, 52}, {27, 15, 52}, 24, 52, server.is(Product::A3) ? kDieHeading : kHbmHeading};
}

std::string line(const std::vector<std::size_t>& cells, char stroke) {
  std::string text = "+";
  for (const std::size_t width : cells) text += std::string(width, stroke) + "+";
  return text + "\n";
}

std::size_t table_width(const Shape& shape) {
  std::size_t width = 1;
  for (const std::size_t cell : shape.cells) width += cell + 1;
  return width;
}

std::string edge(const Shape& shape) { return line({table_width(shape) - 2}, '-'); }

std::string hbm_rows(const NpuServer& server, const NpuCard& card, const NpuChip& chip) {
  const std::string place = server.is(Product::A3) ? fmt::format("{:<5} {:<20}", chip.chip, chip.device)
                                                   : fmt::format("{:<26}", chip.chip);
  return fmt::format("| {:<5} {:<20}| {:<13} | {:<11} {:<17} {:<5}/ {:<13} |\n", card.card, server.name(),
                     "OK", chip.power, chip.temperature, 0, 0) +
         fmt::format("| {}| {:<13} | {:<11} {:<5}/ {:<10} {:<5}/ {:<13} |\n", place, server.bus(chip), 0, 0,
                     0, chip.used, chip.total);
}

std::string ddr_rows(const NpuServer& server, const NpuCard& card, const NpuChip& chip) {
  return fmt::format("| {:<7} {:<22}| {:<15} | {:<12} {:<17} {:<6}/ {:<13} |\n", card.card, server.name(),
                     "OK", chip.power, chip.temperature, chip.huge_used, chip.huge_total) +
         fmt::format("| {:<7} {:<22}| {:<15} | {:<12} {:<5}/ {:<32} |\n", chip.chip, chip.device,
                     server.bus(chip), 0, chip.used, chip.total);
}

std::string rows_of_950(const NpuServer& server, const NpuCard& card, const NpuChip& chip) {
  return fmt::format("| {:<6} | {:<16} | {:<13} | {:<11} {:<17} {:<6}/ {:<13} |\n", card.card, server.name(),
                     "OK", chip.power, chip.temperature, 0, 0) +
         fmt::format("| {:<6} | {:<16} | {:<13} | {:<11} {:<5}/ {:<10} {:<6}/ {:<13} |\n", "", "",
                     server.bus(chip), 0, 0, 0, chip.used, chip.total);
}

std::string rows(const NpuServer& server, const NpuCard& card, const NpuChip& chip) {
  if (server.is(Product::A950)) return rows_of_950(server, card, chip);
  return server.hbm() ? hbm_rows(server, card, chip) : ddr_rows(server, card, chip);
}

std::string process_row(const NpuServer& server, const NpuCard& card, const NpuChip& chip,
                        const NpuProcess& process) {
  if (server.is(Product::A950))
    return fmt::format("| {:<26}| {:<13} | {:<24} | {:<24} |\n", card.card, process.id, process.name,
                       process.megabytes);
  if (!server.hbm())
    return fmt::format("| {:<7} {:<22}| {:<15} | {:<24} | {:<25} |\n", card.card, chip.chip, process.id,
                       process.name, process.megabytes);
  return fmt::format("| {:<7} {:<18}| {:<13} | {:<24} | {:<23} |\n", card.card, chip.chip, process.id,
                     process.name, process.megabytes);
}

std::string_view process_heading(const NpuServer& server) {
  if (server.is(Product::A950))
    return "| NPU ID                    | Process id    | Process name             | Process memory(MB)      "
           " |\n";
  if (!server.hbm())
    return "| NPU     Chip                  | Process id      | Process name             | Process "
           "memory(MB)        |\n";
  return "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      "
         "|\n";
}

std::string process_table(const NpuServer& server, const Shape& shape) {
  const std::string below = line(shape.processes, '=');
  std::string text = line(shape.processes, '-') + std::string{process_heading(server)} + below;
  for (const NpuCard& card : server.cards) {
    std::string of_card;
    for (const NpuChip& chip : card.chips) {
      for (const NpuProcess& process : chip.processes) of_card += process_row(server, card, chip, process);
    }
    if (of_card.empty())
      of_card = fmt::format("{:<{}}|\n", fmt::format("| No running processes found in NPU {:<7}", card.card),
                            table_width(shape) - 1);
    text += of_card + below;
  }
  return text;
}

}  // namespace

std::string npu_table(const NpuServer& server) {
  const Shape shape = shape_of(server);
  std::string text = edge(shape);
  text += fmt::format("| npu-smi {:<{}} Version: {:<{}} |\n", BELAY_DRIVER_VERSION, shape.tool,
                      BELAY_DRIVER_VERSION, shape.driver);
  text += line(shape.cells, '-') + std::string{shape.heading} + line(shape.cells, '=');
  for (const NpuCard& card : server.cards) {
    for (const NpuChip& chip : card.chips) {
      if (chip.chip != 0) text += edge(shape);
      text += rows(server, card, chip);
    }
    text += line(shape.cells, '=');
  }
  // Chips that are the machine's own processor list no processes.
  if (server.is(Product::B310) || server.is(Product::IPV)) return text;
  return text + process_table(server, shape);
}

}  // namespace belay::cli
