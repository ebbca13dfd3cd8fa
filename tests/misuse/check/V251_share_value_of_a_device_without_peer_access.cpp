// Memory of device 0 is imported with device 1 current, and nobody enabled peer access between the two.
// environment: BELAY_MACHINE=check-V251
// ends: 0
#include "two_processes.h"

int main() {
  return in_two_processes(give_by_share_value, [](const Way& other) {
    const Device device;
    must(aclrtSetDevice(1));
#ifndef BUG
    must(aclrtDeviceEnablePeerAccess(0, 0));
#endif
    aclrtDrvMemHandle handle = nullptr;
    must(aclrtMemImportFromShareableHandle(other.hear<std::uint64_t>(), 1, &handle));
    must(aclrtFreePhysical(handle));
    must(aclrtResetDevice(1));
    must(aclrtSetDevice(0));
    must(aclrtResetDevice(0));
    other.say(true);
  });
}
