// How the devices of one server reach each other. A description for people and tools: copies take no
// longer over a slow link, and aclrtGetDevicesTopo answers as R-83 says.
#pragma once

#include <cstdint>
#include <string_view>

#include "product/source.h"

namespace belay {

enum class Links : std::uint8_t {
  Alone,       // one device
  Pcie,        // cards that meet on the host's PCIe
  HccsGroups,  // HCCS within a group, PCIe between groups
  HccsMesh,    // HCCS from each device to each other
  DiePairs,    // two dies on a module by SIO, the modules by HCCS
  UbMesh,      // the unified bus from each device to each other
};

constexpr std::string_view name_of(Links links) {
  switch (links) {
    case Links::Alone:
      return "alone";
    case Links::Pcie:
      return "pcie";
    case Links::HccsGroups:
      return "hccs_groups";
    case Links::HccsMesh:
      return "hccs_mesh";
    case Links::DiePairs:
      return "die_pairs";
    case Links::UbMesh:
      return "ub_mesh";
  }
  return {};
}

struct Topology {
  Links links = Links::Alone;
  std::uint32_t dies_per_card = 1;  // devices on one card or module
  std::uint32_t linked = 1;         // devices that such links join, without the host's PCIe
  std::string_view text;            // a few words for a table
  Source source;
};

}  // namespace belay
