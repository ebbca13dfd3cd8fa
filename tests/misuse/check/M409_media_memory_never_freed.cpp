// Media memory is still there when the device is reset.
#include "acl/media/hi_dvpp.h"
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(hi_mpi_dvpp_malloc(0, &block, kBytes) == 0);
#ifndef BUG
  must(hi_mpi_dvpp_free(block) == 0);
#endif
}
