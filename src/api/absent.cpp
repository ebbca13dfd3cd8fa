#include "api/absent.h"

#include <atomic>

#include "api/door.h"
#include "platform/files.h"
#include "platform/process.h"

namespace belay {
namespace {

constexpr const char* kWhat = "belay runs no models, operators or media processing";

// Once in a process; a forked child is another one.
bool is_first() {
  static constinit std::atomic<std::int32_t> said{0};
  const std::int32_t process = platform::process_id();
  return said.exchange(process) != process;
}

}  // namespace

aclError absent(const char* function) noexcept {
  return enter(function, [&](Process&) -> Status {
    if (is_first()) {
      platform::print_line(
          true,
          fmt::format(
              "belay: {} was called: {}. Such calls answer 207000, or NULL where they return an object; "
              "memory, streams and events work. 'belay check-program PROGRAM' lists them [rule C-22]\n",
              function, kWhat));
    }
    return unsupported("C-22",
                       fmt::format("{}; {} is there so that programs compile and link", kWhat, function),
                       "run this part on a card");
  });
}

}  // namespace belay
