/* What the library answers to requests for memory: one line each, to be compared with `belay explain`. With
   the argument "physical": to requests for physical memory. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"
#include "acl/ops/acl_dvpp.h"
#include "hi_dvpp.h"

static aclError with_cfg(void** out, size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMallocWithCfg(out, size, policy, NULL);
}
static aclError for_scheduler(void** out, size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMallocForTaskScheduler(out, size, policy, NULL);
}
static aclError host(void** out, size_t size, aclrtMemMallocPolicy policy) {
  (void)policy;
  return aclrtMallocHost(out, size);
}
static aclError host_with_cfg(void** out, size_t size, aclrtMemMallocPolicy policy) {
  (void)policy;
  return aclrtMallocHostWithCfg(out, size, NULL);
}
static aclError media_v1(void** out, size_t size, aclrtMemMallocPolicy policy) {
  (void)policy;
  return acldvppMalloc(out, size);
}
static aclError media_v2(void** out, size_t size, aclrtMemMallocPolicy policy) {
  (void)policy;
  return hi_mpi_dvpp_malloc(0, out, size);
}

static const struct Function {
  const char* name;
  aclError (*allocate)(void** out, size_t size, aclrtMemMallocPolicy policy);
  int takes_policy;
  aclError (*release)(void* block);
} kFunctions[] = {
    {"aclrtMalloc", aclrtMalloc, 1, aclrtFree},
    {"aclrtMallocAlign32", aclrtMallocAlign32, 1, aclrtFree},
    {"aclrtMallocCached", aclrtMallocCached, 1, aclrtFree},
    {"aclrtMallocWithCfg", with_cfg, 1, aclrtFree},
    {"aclrtMallocForTaskScheduler", for_scheduler, 1, aclrtFree},
    {"aclrtMallocHost", host, 0, aclrtFreeHost},
    {"aclrtMallocHostWithCfg", host_with_cfg, 0, aclrtFreeHost},
    {"acldvppMalloc", media_v1, 0, aclrtFree},
    {"hi_mpi_dvpp_malloc", media_v2, 0, aclrtFree},
};
/* Small enough to be pinned, or so large that arithmetic decides. */
static const size_t kSizes[] = {0,       1, 1048576, 1048577, 2097120, 2097152, SIZE_MAX - 64, SIZE_MAX - 31,
                                SIZE_MAX};
static const unsigned kPolicies[] = {0, 1, 2, 3, 6, 7, 8, 0x101, 0x1100, 0x100001, 0x100006};

static size_t free_bytes(void) {
  size_t free = 0;
  size_t total = 0;
  (void)aclrtGetMemInfo(ACL_HBM_MEM, &free, &total);
  return free;
}

static void probe(const struct Function* function, size_t size, unsigned policy) {
  void* block = NULL;
  const size_t before = free_bytes();
  const aclError code = function->allocate(&block, size, (aclrtMemMallocPolicy)policy);
  const size_t cost = before - free_bytes();
  aclrtPtrAttributes attributes = {0};
  if (code == ACL_SUCCESS) {
    (void)aclrtPointerGetAttributes(block, &attributes);
    (void)function->release(block);
  }
  printf("%s %zu ", function->name, size);
  if (function->takes_policy) {
    printf("%u", policy);
  } else {
    printf("-");
  }
  printf(" %u %zu %u\n", (unsigned)code, cost, (unsigned)attributes.pageSize);
}

static const struct Location {
  const char* name;
  aclrtMemLocation place;
} kLocations[] = {
    {"device", {0, ACL_MEM_LOCATION_TYPE_DEVICE}},
    {"host", {0, ACL_MEM_LOCATION_TYPE_HOST}},
    {"numa", {UINT32_MAX, ACL_MEM_LOCATION_TYPE_HOST_NUMA}}, /* any node */
};
static const size_t kPhysicalSizes[] = {0, 1, 2097152, 2097153, SIZE_MAX - 2097151, SIZE_MAX};

static void probe_physical(const struct Location* location, unsigned attribute, size_t size) {
  aclrtPhysicalMemProp prop = {ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_ALLOCATION_TYPE_PINNED,
                               (aclrtMemAttr)attribute, location->place, 0};
  aclrtPhysicalMemProp found = prop;
  aclrtDrvMemHandle handle = NULL;
  size_t granularity = 0;
  const size_t before = free_bytes();
  const aclError code = aclrtMallocPhysical(&handle, size, &prop, 0);
  const size_t cost = before - free_bytes();
  if (code == ACL_SUCCESS) {
    (void)aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity);
    (void)aclrtMemGetAllocationPropertiesFromHandle(handle, &found);
    (void)aclrtFreePhysical(handle);
  }
  printf("%s %u %zu %u %zu %zu %u\n", location->name, attribute, size, (unsigned)code, cost, granularity,
         code == ACL_SUCCESS ? (unsigned)found.memAttr : 0);
}

static void probe_all_physical(void) {
  printf("location attribute size code cost granularity reported\n");
  for (size_t l = 0; l < sizeof kLocations / sizeof kLocations[0]; ++l) {
    for (unsigned attribute = 0; attribute <= 18; ++attribute) {
      for (size_t s = 0; s < sizeof kPhysicalSizes / sizeof kPhysicalSizes[0]; ++s) {
        probe_physical(&kLocations[l], attribute, kPhysicalSizes[s]);
      }
    }
  }
}

int main(int count, char** words) {
  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
    return 1;
  }
  if (count > 1 && strcmp(words[1], "physical") == 0) {
    probe_all_physical();
    return aclFinalize() == ACL_SUCCESS ? 0 : 1;
  }
  printf("function size policy code cost page\n");
  for (size_t f = 0; f < sizeof kFunctions / sizeof kFunctions[0]; ++f) {
    for (size_t s = 0; s < sizeof kSizes / sizeof kSizes[0]; ++s) {
      const size_t policies = kFunctions[f].takes_policy ? sizeof kPolicies / sizeof kPolicies[0] : 1;
      for (size_t p = 0; p < policies; ++p) {
        probe(&kFunctions[f], kSizes[s], kPolicies[p]);
      }
    }
  }
  return aclFinalize() == ACL_SUCCESS ? 0 : 1;
}
