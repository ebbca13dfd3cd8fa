// A process imports the same share value twice on one device: it has one handle twice, and frees it twice.
// environment: BELAY_MACHINE=check-V31
// ends: 0
#include "two_processes.h"

int main() {
  return in_two_processes(give_by_share_value, [](const Way& other) {
    const Device device;
    const auto value = other.hear<std::uint64_t>();
    aclrtDrvMemHandle handle = nullptr;
    must(aclrtMemImportFromShareableHandle(value, 0, &handle));
#ifdef BUG
    aclrtDrvMemHandle again = nullptr;
    must(aclrtMemImportFromShareableHandle(value, 0, &again));
    must(aclrtFreePhysical(again));
#endif
    must(aclrtFreePhysical(handle));
    other.say(true);
  });
}
