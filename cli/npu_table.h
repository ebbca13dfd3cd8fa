// The table of `npu-smi info`, to the column: other people's programs take it apart.
#pragma once

#include <string>

#include "cli/npu_server.h"

namespace belay::cli {

std::string npu_table(const NpuServer& server);

}  // namespace belay::cli
