#include "api/absent.h"

#include "api/door.h"
#include "platform/files.h"

namespace belay {
namespace {

constexpr const char* kWhat = "belay runs no models, operators or media processing";

constinit platform::SaidBy g_said_by{0};

}  // namespace

aclError absent(const char* function) noexcept {
  return enter(function, [&](Process&) -> Status {
    platform::say_once(g_said_by, [&] {
      return fmt::format(
          "{} was called: {}. Such calls return 207000, or NULL where they return an object; "
          "memory, streams and events work. 'belay check-program PROGRAM' lists them [rule C-22]",
          function, kWhat);
    });
    return unsupported("C-22",
                       fmt::format("{}; {} exists only so that programs compile and link", kWhat, function),
                       "run this part on a card");
  });
}

}  // namespace belay
