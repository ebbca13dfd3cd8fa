// Tests run beside each other and with settings of their own, so each has a machine of its own unless it says
// otherwise.
#include <cstdlib>

namespace {
[[maybe_unused]] const int kSet = ::setenv("BELAY_MACHINE", "private", 0);
}  // namespace

#if defined(__SANITIZE_ADDRESS__)
// Undefined behaviour is a trap (cmake/sanitizers.cmake); this prints where.
extern "C" __attribute__((visibility("default"), used)) const char* __asan_default_options() {  // NOLINT
  return "handle_sigill=1";
}
#elif defined(__SANITIZE_THREAD__)
// Tests fork, and their children start threads, which the sanitizer allows only when told.
extern "C" __attribute__((visibility("default"), used)) const char* __tsan_default_options() {  // NOLINT
  return "die_after_fork=0";
}
#endif
