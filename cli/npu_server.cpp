#include "cli/npu_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/harmless.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/held.h"
#include "cli/machines.h"
#include "platform/environment.h"

namespace belay::cli {
namespace {

// Idle cards as people show them; for products that nobody shows, chosen to be plausible.
constexpr std::array kModels{
    NpuModel{Product::A2, 89.4, 36, 1800, 1600, "D802", "", true, true},
    NpuModel{Product::A3, 172.6, 35, 1800, 1600, "D803", "", true, true},
    NpuModel{Product::A950, 191.2, 47, 1650, 2000, "D806", "", true, false},
    NpuModel{Product::P310, 0, 44, 1080, 2133, "D500", "Atlas 300I Pro", true, true},
    NpuModel{Product::T910, 67.8, 39, 1000, 1200, "D801", "Atlas 300T", true, true},
    NpuModel{Product::B310, 8.2, 48, 500, 4266, "D105", "Atlas 200I A2", false, false},
    NpuModel{Product::IPV, 2.4, 41, 400, 2133, "D107", "IPV350", false, false},
};

std::size_t in_megabytes(std::size_t bytes) { return (bytes + 1_MiB - 1) / 1_MiB; }

machine::Seen find_machine() {
  const std::string wished = platform::environment("BELAY_MACHINE").value_or("");
  machine::Seen seen;
  // Nobody else sees a private machine; a process with these settings would get one like this.
  if (same_word(wished, machine::kPrivateName)) return as_settings_say(seen);
  seen = machine::look_at(find_place(), choose_machine(""));
  if (!seen.trouble.empty())
    throw UsageError{fmt::format("machine '{}' cannot be read: {}", seen.name, seen.trouble),
                     "end the processes that are on it, or use another machine (BELAY_MACHINE)"};
  return seen.live ? seen : as_settings_say(std::move(seen));
}

void add_memory(NpuChip& shown, const NpuServer& server, const machine::Seen& seen) {
  const Held in_use = held(seen.on_device[shown.device]);
  const std::size_t usable = seen.limits.total * 4_KiB;
  const Chip* sold = find_chip(server.soc);
  // A device of another size than the chip's (BELAY_HBM) keeps nothing for itself.
  const std::size_t total = sold != nullptr && sold->usable_bytes == usable ? sold->installed_bytes : usable;
  shown.total = total / 1_MiB;
  shown.used = std::min(in_megabytes(total - usable + in_use.all()), shown.total);
  if (server.hbm()) return;
  const std::uint64_t limit = seen.limits.of_page[1];
  shown.huge_used = in_use.huge_2m / 2_MiB;
  shown.huge_total = (limit == machine::kNoLimit ? usable : std::min(usable, limit * 4_KiB)) / 2_MiB;
}

void add_processes(NpuChip& shown, const machine::Seen& seen) {
  constexpr std::size_t kMostProcesses = 8, kNameLength = 15;
  for (const machine::ProcessSeen& process : seen.processes) {
    if (process.peaks[shown.device] == 0 || shown.processes.size() == kMostProcesses) continue;
    std::string name = harmless(process.name).substr(0, kNameLength);
    std::ranges::replace(name, '|', '_');  // which would end a cell
    shown.processes.push_back({process.process, name.empty() ? "-" : name,
                               in_megabytes(held(process.on_device[shown.device]).all())});
  }
}

NpuChip chip_of_machine(const NpuServer& server, const machine::Seen& seen, std::uint32_t device) {
  NpuChip shown{
      .device = device, .chip = device % server.row->topology.dies_per_card, .power = {}, .processes = {}};
  const NpuModel& model = *server.model;
  shown.temperature = model.temperature + static_cast<int>(device * 7 % 5);
  if (model.power == 0)
    shown.power = "NA";
  else if (shown.chip != 0)
    shown.power = "-";  // the first die tells that of the card
  else
    shown.power = fmt::format("{:.1f}", model.power + static_cast<double>(device * 3 % 7) * 0.6);
  add_memory(shown, server, seen);
  add_processes(shown, seen);
  return shown;
}

}  // namespace

std::string NpuServer::name() const {
  constexpr std::string_view kMaker = "Ascend";
  if (is(Product::A3) || is(Product::A950)) return soc.substr(0, soc.find('_'));
  return soc.starts_with(kMaker) ? soc.substr(kMaker.size()) : soc;
}

std::string NpuServer::long_name() const {
  if (is(Product::A3) || is(Product::A950) || is(Product::IPV)) return name();
  return "Ascend " + name();
}

std::string NpuServer::variant() const {
  const std::size_t at = soc.find('_');
  return at == std::string::npos ? std::string{} : soc.substr(at + 1);
}

std::string NpuServer::bus(const NpuChip& chip) const {
  return model->has_bus ? fmt::format("0000:{:02X}:00.0", pci_bus_of(chip.device)) : "NA";
}

NpuServer look_at_server() {
  const machine::Seen seen = find_machine();
  const ChoiceOrNothing found = find_product(seen.product);
  if (!found.found)
    throw UsageError{fmt::format("machine '{}' is a product '{}' that this version does not know", seen.name,
                                 seen.product)};
  NpuServer server{found.choice.row, nullptr, seen.soc, {}};
  server.model = &*std::ranges::find(kModels, server.row->product, &NpuModel::product);
  for (std::uint32_t device = 0; device < seen.devices; ++device) {
    const std::uint32_t card = device / server.row->topology.dies_per_card;
    if (server.cards.size() == card) server.cards.push_back({card, {}});
    server.cards.back().chips.push_back(chip_of_machine(server, seen, device));
  }
  return server;
}

}  // namespace belay::cli
