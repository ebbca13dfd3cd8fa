// The part of `belay smi` that shows what processes have given to each other.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace belay::cli {

// Of these devices; of all, memory of the host as well.
struct SharesShown {
  const machine::Seen& seen;
  const std::vector<std::uint32_t>& devices;
  bool whole;
};
std::string shares_text(const SharesShown& shown);
nlohmann::ordered_json shares_json(const SharesShown& shown);

}  // namespace belay::cli
