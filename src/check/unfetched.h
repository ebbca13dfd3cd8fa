// Calls that failed, and whose error the thread never asked for: by aclGetRecentErrMsg, aclrtGetLastError or
// aclrtPeekAtLastError.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace belay::check {

// `found`: it is a finding of another class already.
void note_failure(const char* function, const Error& error, std::uint32_t site, bool found);
// The calling thread asks for its errors.
void note_fetch();
// What is left, as findings.
void report_unfetched();
void forget_unfetched();  // in the child of a fork

}  // namespace belay::check
