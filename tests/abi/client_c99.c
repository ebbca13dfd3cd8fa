/* A client in C99 that includes every header, several of them more than once. */

#include "acl/acl.h"
#include "acl/acl_base.h"
#include "acl/acl_base_mdl.h"
#include "acl/acl_base_rt.h"
#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_rt.h"
#include "acl/acl_rt_allocator.h"
#include "acl/acl_rt_api.h"
#include "acl/dvpp/hi_dvpp.h"
#include "acl/error_codes/ge_error_codes.h"
#include "acl/error_codes/rt_error_codes.h"
#include "acl/media/hi_dvpp.h"
#include "acl/ops/acl_dvpp.h"
#include "hi_dvpp.h"

#include "acl/acl.h"
#include "acl/acl_rt.h"
#include "hi_dvpp.h"

/* A second declaration must agree with the first one. */
extern aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);
extern aclError aclrtMallocHost(void** hostPtr, size_t size);
extern aclError aclFinalize(void);
extern int32_t hi_mpi_dvpp_malloc(uint32_t dev_id, void** dev_ptr, uint64_t size);

size_t client_c99_sizes(void);
int client_c99_classify(aclError error);

/* M-17: these two are named with the word enum. */
static enum aclrtMemPgType pages = HUGE_PAGE_TYPE;
static enum aclrtMemType memory = P2P_DDR_TYPE;

/* it can be called with whatever arguments a program has. Nothing is called here. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wdeprecated-non-prototype"
#endif
typedef char
    flush_takes_anything[sizeof(aclrtDeviceL2CacheFlush()) == sizeof(aclError) &&
                                 sizeof(aclrtDeviceL2CacheFlush(0)) == sizeof(aclError) &&
                                 sizeof(aclrtDeviceL2CacheFlush(0, "", sizeof(int))) == sizeof(aclError)
                             ? 1
                             : -1];

size_t client_c99_sizes(void) {
  const aclrtMallocAttribute attribute = {ACL_RT_MEM_ATTR_DEVICE_ID, {.deviceId = 3}};
  aclrtMallocAttribute list[1];
  aclrtMallocConfig config;

  list[0] = attribute;
  config.attrs = list;
  config.numAttrs = 1;
  return sizeof(attribute) + sizeof(config) + sizeof(aclrtMemLocation) + sizeof(aclrtPtrAttributes) +
         sizeof(aclrtMemcpyBatchAttr) + sizeof(aclrtMemUsageInfo) + sizeof(aclrtMemMallocPolicy) +
         (size_t)pages + (size_t)memory + (size_t)config.attrs[0].value.deviceId;
}

int client_c99_classify(aclError error) {
  if (error == ACL_ERROR_INVALID_PARAM) {
    return 1;
  }
  if ((uint32_t)error == ACL_ERROR_GE_PARAM_INVALID) {
    return 2;
  }
  switch (error) {
    case ACL_ERROR_RT_CONTEXT_NULL:
      return 3;
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
      return 4;
    default:
      return 0;
  }
}
