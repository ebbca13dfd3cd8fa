// Functions that every CANN has had and belay does not run: models, operators, profiling, queues, dump, media
// processing. They are made from the tables in api/absent, so that a program that names one compiles and
// links (C-22).
#pragma once

#include "acl/acl_base.h"

namespace belay {

// The answer of all of them: 207000. The first one called in a process says on stderr what is missing.
aclError absent(const char* function) noexcept;

}  // namespace belay
