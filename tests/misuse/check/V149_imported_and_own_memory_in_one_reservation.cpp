// Memory of another process and memory of its own are mapped next to each other.
// environment: BELAY_MACHINE=check-V149
// ends: 0
#include "two_processes.h"

int main() {
  return in_two_processes(give_by_share_value, [](const Way& other) {
    const Device device;
    aclrtDrvMemHandle own = physical_memory(), imported = nullptr;
    must(aclrtMemImportFromShareableHandle(other.hear<std::uint64_t>(), 0, &imported));
    void *first = nullptr, *second = nullptr;
    must(aclrtReserveMemAddress(&first, 2 * kGranule, 0, nullptr, 0));
    must(aclrtReserveMemAddress(&second, kGranule, 0, nullptr, 0));
    must(aclrtMapMem(first, kGranule, 0, own, 0));
#ifdef BUG
    void* const next = static_cast<char*>(first) + kGranule;
#else
    void* const next = second;
#endif
    must(aclrtMapMem(next, kGranule, 0, imported, 0));
    must(aclrtUnmapMem(next));
    must(aclrtUnmapMem(first));
    must(aclrtReleaseMemAddress(first));
    must(aclrtReleaseMemAddress(second));
    must(aclrtFreePhysical(imported));
    must(aclrtFreePhysical(own));
    other.say(true);
  });
}
