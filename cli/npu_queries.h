// What npu-smi answers besides its table: one key and one value a line, lists, the topology.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/npu_server.h"

namespace belay::cli {

std::string npu_list(const NpuServer& server);      // -l
std::string npu_mapping(const NpuServer& server);   // -m
std::string npu_topology(const NpuServer& server);  // -t topo

// -t TYPE of a card, or of one chip of it; nothing where the product does not answer that.
std::optional<std::string> npu_query(const NpuServer& server, std::string_view type, const NpuCard& card,
                                     const NpuChip* only);

// The columns of `watch`, by their letters; empty: all.
std::string npu_watch_heading(const std::string& letters);
std::string npu_watch_row(const NpuServer& server, const NpuCard& card, const NpuChip& chip,
                          const std::string& letters);
inline constexpr std::string_view kWatchLetters = "ptaicmbnu";

}  // namespace belay::cli
