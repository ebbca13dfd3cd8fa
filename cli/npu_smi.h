// The command `npu-smi`, as scripts written for a machine with cards call it.
//
// It is this program under another name, and keeps to the vendor's tool in what it prints, where it prints
// (errors too go to standard output) and how it ends.
#pragma once

#include <string>
#include <vector>

namespace belay::cli {

int npu_smi(const std::vector<std::string>& words);

}  // namespace belay::cli
