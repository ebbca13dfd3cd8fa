// Tests run beside each other and with settings of their own, so each has a machine of its own unless it says
// otherwise.
#include <cstdlib>

namespace {
[[maybe_unused]] const int kSet = ::setenv("BELAY_MACHINE", "private", 0);
}  // namespace
