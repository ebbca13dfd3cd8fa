// The JSON file that aclInit may be given (R-25 ... R-30).
#pragma once

#include "base/result.h"
#include "runtime/lifecycle.h"

namespace belay::config {

Result<InitConfiguration> read_init_file(const char* path);

}  // namespace belay::config
