#include "cli/npu_queries.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace belay::cli {
namespace {

constexpr std::size_t kKeyWidth = 30, kEccKeyWidth = 40;

template <class Value>
std::string pair(std::string_view key, const Value& value, std::size_t width = kKeyWidth) {
  return fmt::format("\t{:<{}} : {}\n", key, width, value);
}

std::string columns(const std::vector<std::string>& cells) {
  std::string text = "\t";
  for (const std::string& cell : cells) text += fmt::format("{:<{}} ", cell, kKeyWidth);
  text.pop_back();
  return text + "\n";
}

// --- of one chip ------------------------------------------------------------------------------------

std::string usages(const NpuServer& server, const NpuChip& chip) {
  std::string text;
  if (server.hbm()) {
    text += pair("DDR Capacity(MB)", 0) + pair("DDR Usage Rate(%)", 0) +
            pair("DDR Hugepages Total(page)", 0) + pair("DDR Hugepages Usage Rate(%)", 0) +
            pair("HBM Capacity(MB)", chip.total) + pair("HBM Usage Rate(%)", chip.used_percent());
  } else {
    text += pair("DDR Capacity(MB)", chip.total) + pair("DDR Usage Rate(%)", chip.used_percent()) +
            pair("DDR Hugepages Total(page)", chip.huge_total) +
            pair("DDR Hugepages Usage Rate(%)", chip.huge_percent());
  }
  // Nothing computes: kernels do not run here.
  text += pair("Aicore Usage Rate(%)", 0);
  if (server.hbm()) text += pair("Aivector Usage Rate(%)", 0);
  if (server.is(Product::P310)) text += pair("Vectorcore Usage Rate(%)", 0);
  text += pair("Aicpu Usage Rate(%)", 0) + pair("Ctrlcpu Usage Rate(%)", 1) +
          pair("DDR Bandwidth Usage Rate(%)", 0);
  if (server.hbm())
    text += pair("HBM Bandwidth Usage Rate(%)", 0) + pair("NPU Utilization(%)", 0) +
            pair("Aicube Usage Rate(%)", 0);
  if (server.is(Product::P310)) {
    for (const char* part : {"VPC", "VDEC", "VENC", "JPEGE", "JPEGD"})
      text += pair(fmt::format("DVPP {} Usage Rate(%)", part), 0);
  }
  return text;
}

std::string memory(const NpuServer& server, const NpuChip& chip) {
  if (!server.hbm()) {
    const std::string all = server.is(Product::P310) ? pair("Total DDR Capacity(MB)", chip.total) : "";
    return all + pair("DDR Capacity(MB)", chip.total) +
           pair("DDR Clock Speed(MHz)", server.model->memory_mhz);
  }
  return pair("DDR Capacity(MB)", 0) + pair("DDR Clock Speed(MHz)", 0) +
         pair("HBM Capacity(MB)", chip.total) + pair("HBM Clock Speed(MHz)", server.model->memory_mhz) +
         pair("HBM Temperature(C)", chip.temperature + 1) + pair("HBM Manufacturer ID", "0x57");
}

std::string common(const NpuServer& server, const NpuChip& chip) {
  std::string text = pair("Memory Usage Rate(%)", server.hbm() ? 0 : chip.used_percent());
  if (server.hbm()) text += pair("HBM Usage Rate(%)", chip.used_percent());
  return text + pair("Aicore Usage Rate(%)", 0) + pair("Aicore Freq(MHZ)", server.model->core_mhz) +
         pair("Aicore curFreq(MHZ)", server.model->core_mhz) + pair("Aicore Count", server.row->ai_cores) +
         pair("Temperature(C)", chip.temperature) +
         pair("NPU Real-time Power(W)", chip.power == "-" ? "NA" : chip.power);
}

std::string health(const NpuServer& server) {
  return pair(server.is(Product::A950) ? "Health" : "Health Status", "OK") + pair("Error Code", "NA") +
         pair("Error Information", "NA");
}

std::string ecc(const NpuServer& server) {
  std::string text;
  for (const char* count :
       {"Error Count", "Aggregate Total Err Cnt", "Isolated Pages Count", "Next-Isolated Pages Count"}) {
    for (const char* bits : {"Single", "Double"})
      text += pair(fmt::format("{} {} Bit {}", server.hbm() ? "HBM" : "DDR", bits, count), 0, kEccKeyWidth);
  }
  return text;
}

std::string processes(const NpuChip& chip) {
  if (chip.processes.empty()) return "\tNo process in device.\n";
  std::string text;
  for (const NpuProcess& process : chip.processes)
    text += fmt::format("\tProcess id:{:<7} Process name:{:<17} Process memory(MB):{}\n", process.id,
                        process.name, process.megabytes);
  return text;
}

// --- boards -----------------------------------------------------------------------------------------

constexpr std::string_view kFirmware = "7.7.0.6.236";

std::string serial(const NpuCard& card) { return fmt::format("BELAY{:07}", card.card); }

std::string die_id(const NpuChip& chip, std::uint32_t kind) {
  return fmt::format("{:08X} {:08X} {:08X} {:08X} {:08X}", 0xBE1A0000U + kind, 0x20260000U + chip.device,
                     0x0C1DU, chip.device, 0x2000000U);
}

std::string board(const NpuServer& server, const NpuCard& card) {
  std::string text =
      pair("NPU ID", card.card) + pair("Product Name", fmt::format("belay {}", server.row->key));
  if (server.is(Product::A950)) text += pair("NPU Name", server.variant()) + pair("Chip Name", server.name());
  text += pair("Model", "NA") + pair("Manufacturer", "belay") + pair("Serial Number", serial(card)) +
          pair("Software Version", BELAY_DRIVER_VERSION) + pair("Firmware Version", kFirmware) +
          pair("Compatibility", "OK") + pair("Board ID", "0x28");
  if (server.is(Product::A3)) text += pair("Main Board ID", "0x0");
  return text + pair("PCB ID", "A") + pair("BOM ID", "1") + pair("PCIe Bus Info", server.bus(card.chips[0])) +
         pair("Slot ID", card.card) + pair("Class ID", "NA") + pair("PCI Vendor ID", "0x19E5") +
         pair("PCI Device ID", fmt::format("0x{}", server.model->pci_device)) +
         pair("Subsystem Vendor ID", "0x19E5") + pair("Subsystem Device ID", "0x3005") +
         pair("Chip Count", card.chips.size());
}

std::string board_of_chip(const NpuServer& server, const NpuCard& card, const NpuChip& chip) {
  std::string text = pair("NPU ID", card.card);
  const bool by_variant = !server.variant().empty();
  if (by_variant) text += pair("NPU Name", server.variant());
  text += pair("Chip ID", chip.chip);
  if (!by_variant) text += pair("Chip Type", "Ascend");
  return text + pair("Chip Name", server.name()) + pair("Chip Version", "V1") + pair("Board ID", "0x28") +
         pair("PCB ID", "NA") + pair("BOM ID", "1") + pair("VDie ID", die_id(chip, 1)) +
         pair("NDie ID", die_id(chip, 2)) + pair("Chip Position ID", chip.chip) +
         pair("PCIe Bus Info", server.bus(chip)) + pair("Firmware Version", kFirmware);
}

// --- links ------------------------------------------------------------------------------------------

std::string_view link_between(const NpuServer& server, std::uint32_t one, std::uint32_t other) {
  if (one == other) return "X";
  const Topology& topology = server.row->topology;
  switch (topology.links) {
    case Links::HccsMesh:
      return "HCCS";
    case Links::DiePairs:
      return one / topology.dies_per_card == other / topology.dies_per_card ? "SIO" : "HCCS_SW";
    case Links::UbMesh:
      return "UB";
    case Links::HccsGroups:
      return one / topology.linked == other / topology.linked ? "HCCS" : "SYS";
    case Links::Pcie:
    case Links::Alone:
      break;
  }
  return "PHB";
}

// All CPUs of the host, which is what processes can be bound to.
std::string cpu_list() { return fmt::format("0-{}", std::max(::sysconf(_SC_NPROCESSORS_CONF), 1L) - 1); }

constexpr std::string_view kLegend =
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  SYS  = Path traversing PCIe and NUMA nodes. Nodes are connected through SMP, such as QPI, UPI.\n"
    "  PHB  = Path traversing PCIe and the PCIe host bridge of a CPU.\n"
    "  PIX  = Path traversing a single PCIe switch\n"
    "  PXB  = Path traversing multiple PCIe switches\n"
    "  HCCS = Connection traversing HCCS.\n"
    "  HCCS_SW = Connection traversing HCCS and its switch.\n"
    "  SIO  = Connection of two dies of a module.\n"
    "  UB   = Connection traversing the unified bus.\n";

// --- watch ------------------------------------------------------------------------------------------

struct Watched {
  char letter;
  std::string_view title;
  std::string (*value)(const NpuServer& server, const NpuChip& chip);
};

std::string zero(const NpuServer&, const NpuChip&) { return "0"; }

constexpr std::array kWatched{
    Watched{'p', "Pwr(W)",
            [](const NpuServer&, const NpuChip& chip) { return chip.power == "-" ? "NA" : chip.power; }},
    Watched{'t', "Temp(C)",
            [](const NpuServer&, const NpuChip& chip) { return fmt::format("{}", chip.temperature); }},
    Watched{'a', "AI Core(%)", zero},
    Watched{'i', "AI Cpu(%)", zero},
    Watched{'c', "Ctrl Cpu(%)", [](const NpuServer&, const NpuChip&) { return std::string{"1"}; }},
    Watched{'m', "Memory(%)",
            [](const NpuServer&, const NpuChip& chip) { return fmt::format("{}", chip.used_percent()); }},
    Watched{'b', "Memory BW(%)", zero},
    Watched{'n', "NPU Util(%)",
            [](const NpuServer& server, const NpuChip&) { return std::string{server.hbm() ? "0" : "NA"}; }},
    Watched{'u', "AI Cube(%)",
            [](const NpuServer& server, const NpuChip&) { return std::string{server.hbm() ? "0" : "NA"}; }},
};

bool chosen(const Watched& column, const std::string& letters) {
  return letters.empty() || letters.find(column.letter) != std::string::npos;
}

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

std::string npu_list(const NpuServer& server) {
  std::string text = pair("Total Count", server.cards.size()) + "\n";
  for (const NpuCard& card : server.cards) {
    text += pair("NPU ID", card.card);
    if (server.is(Product::A950))
      text += pair("Product Name", fmt::format("belay {}", server.row->key)) +
              pair("Serial Number", serial(card));
    else
      text += pair("Chip Count", card.chips.size());
    text += "\n";
  }
  return text;
}

std::string npu_mapping(const NpuServer& server) {
  const bool is_950 = server.is(Product::A950);
  const bool physical = is_950 || server.is(Product::A3);
  std::vector<std::string> heading{"NPU ID"};
  if (is_950) heading.emplace_back("Slot ID");
  heading.emplace_back("Chip ID");
  if (!is_950) heading.emplace_back("Chip Logic ID");
  if (physical) heading.emplace_back("Chip Phy-ID");
  heading.emplace_back("Chip Name");
  std::string text = columns(heading);
  for (const NpuCard& card : server.cards) {
    const std::string id = fmt::format("{}", card.card);
    const auto row = [&](std::size_t chip, const std::string& device, const std::string& name) {
      std::vector<std::string> cells{id};
      if (is_950) cells.push_back(id);
      cells.push_back(fmt::format("{}", chip));
      if (!is_950) cells.push_back(device);
      if (physical) cells.push_back(device);
      cells.push_back(name);
      return columns(cells);
    };
    for (const NpuChip& chip : card.chips)
      text += row(chip.chip, fmt::format("{}", chip.device), server.long_name());
    if (server.model->has_mcu) text += row(card.chips.size(), "-", "Mcu");
  }
  return text;
}

std::string npu_topology(const NpuServer& server) {
  const std::string_view word = server.is(Product::A3) ? "Phy-ID" : "NPU";
  const std::size_t digits = 11 - word.size();
  std::vector<std::uint32_t> devices;
  for (const NpuCard& card : server.cards) {
    for (const NpuChip& chip : card.chips) devices.push_back(chip.device);
  }
  std::string text = "\t   ";
  for (const std::uint32_t device : devices) text += fmt::format("{}{:<{}}", word, device, digits);
  text += "CPU Affinity\n";
  for (const std::uint32_t device : devices) {
    text += fmt::format("{}{:<{}}", word, device, digits);
    for (const std::uint32_t other : devices)
      text += fmt::format("{:<11}", link_between(server, device, other));
    text += cpu_list() + "\n";
  }
  return text + std::string{kLegend};
}

std::optional<std::string> npu_query(const NpuServer& server, std::string_view type, const NpuCard& card,
                                     const NpuChip* only) {
  if (type == "board") return only == nullptr ? board(server, card) : board_of_chip(server, card, *only);
  if (type == "product") {
    if (server.model->product_type.empty()) return std::nullopt;
    return pair("Product Type", server.model->product_type);
  }
  const auto of_chip = [&](const NpuChip& chip) -> std::optional<std::string> {
    if (type == "usages") return usages(server, chip);
    if (type == "memory") return memory(server, chip);
    if (type == "common") return common(server, chip);
    if (type == "health") return health(server);
    if (type == "temp")
      return pair(server.hbm() ? "NPU Temperature (C)" : "Temperature (C)", chip.temperature);
    if (type == "power" && server.model->power != 0)
      return pair("NPU Real-time Power(W)", chip.power == "-" ? "NA" : chip.power);
    if (type == "ecc") return ecc(server);
    if (type == "proc-mem") return processes(chip);
    return std::nullopt;
  };
  if (only != nullptr) return of_chip(*only);
  const bool one_chip = server.is(Product::A950);  // which then is not counted or named
  const bool chip_first = type == "common" || server.is(Product::B310);
  std::string text = pair("NPU ID", card.card);
  if (!one_chip) text += pair("Chip Count", card.chips.size());
  text += "\n";
  for (const NpuChip& chip : card.chips) {
    const std::optional<std::string> fields = of_chip(chip);
    if (!fields) return std::nullopt;
    const std::string number = one_chip ? "" : pair("Chip ID", chip.chip);
    text += (chip_first ? number + *fields : *fields + number) + "\n";
  }
  return text;
}

std::string npu_watch_heading(const std::string& letters) {
  std::string text = fmt::format("{:<12} {:<12} ", "NpuID(Idx)", "ChipId(Idx)");
  for (const Watched& column : kWatched) {
    if (chosen(column, letters)) text += fmt::format("{:<12} ", column.title);
  }
  return without_trailing_blanks(std::move(text));
}

std::string npu_watch_row(const NpuServer& server, const NpuCard& card, const NpuChip& chip,
                          const std::string& letters) {
  std::string text = fmt::format("{:<12} {:<12} ", card.card, chip.chip);
  for (const Watched& column : kWatched) {
    if (chosen(column, letters)) text += fmt::format("{:<12} ", column.value(server, chip));
  }
  return without_trailing_blanks(std::move(text));
}

}  // namespace belay::cli
