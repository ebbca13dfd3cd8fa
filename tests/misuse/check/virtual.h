// Physical memory of device 0 for the programs that map it.
#pragma once

#include "program.h"

inline aclrtPhysicalMemProp on_device_0() {
  return {ACL_MEM_HANDLE_TYPE_NONE,
          ACL_MEM_ALLOCATION_TYPE_PINNED,
          ACL_HBM_MEM_HUGE,
          {0, ACL_MEM_LOCATION_TYPE_DEVICE},
          0};
}
inline aclrtPhysicalMemProp on_host() {
  return {ACL_MEM_HANDLE_TYPE_NONE,
          ACL_MEM_ALLOCATION_TYPE_PINNED,
          ACL_MEM_HUGE,
          {0, ACL_MEM_LOCATION_TYPE_HOST},
          0};
}
