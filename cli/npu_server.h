// The emulated machine as npu-smi shows it: cards, the chips on them, and figures of each.
//
// Memory and processes are measured. What there is nothing to measure of (power, temperature, clocks) is a
// constant of the product that varies a little from chip to chip, so that it looks alive and stays the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"
#include "product/product.h"

namespace belay::cli {

struct NpuProcess {
  std::int32_t id;
  std::string name;       // at most 15 characters
  std::size_t megabytes;  // on one chip, rounded up
};

struct NpuChip {
  std::uint32_t device;  // its number on the machine: the logic id and the physical id
  std::uint32_t chip;    // its number on the card
  // In MB of 2^20 bytes; what the device keeps for itself counts as used, as on a card.
  std::size_t used = 0, total = 0;
  std::size_t huge_used = 0, huge_total = 0;  // pages of 2 MB, where device memory is DDR
  std::string power;                          // in W; "-" or "NA" where none is told
  int temperature = 0;                        // in degrees Celsius
  std::vector<NpuProcess> processes;

  std::size_t used_percent() const { return total == 0 ? 0 : used * 100 / total; }
  std::size_t huge_percent() const { return huge_total == 0 ? 0 : huge_used * 100 / huge_total; }
};

struct NpuCard {
  std::uint32_t card;
  std::vector<NpuChip> chips;
};

// What is the same for all chips of a product.
struct NpuModel {
  Product product;
  double power;  // of an idle card, in W; 0: not told
  int temperature;
  unsigned core_mhz, memory_mhz;
  std::string_view pci_device;    // without 0x
  std::string_view product_type;  // empty: the tool says that it is not supported
  bool has_bus;                   // a card in a PCIe slot
  bool has_mcu;                   // and a microcontroller on it, which -m lists as one more chip
};

struct NpuServer {
  const ProductRow* row;
  const NpuModel* model;
  std::string soc;
  std::vector<NpuCard> cards;

  bool hbm() const { return row->technology == Technology::Hbm; }
  bool is(Product product) const { return row->product == product; }
  std::string name() const;       // "910B3", "Ascend910", "Ascend950PR": in the table and of the chip
  std::string long_name() const;  // "Ascend 910B3": of -m
  std::string variant() const;    // "9391": where the name alone does not tell the chip
  std::string bus(const NpuChip& chip) const;  // "0000:81:00.0", or "NA"
};

// Throws UsageError for a machine that cannot be read, and for settings that make no sense.
NpuServer look_at_server();

}  // namespace belay::cli
