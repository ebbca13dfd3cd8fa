// A client in C++11 that includes every header from inside an extern "C" block,
// and once more outside. It is built with "private" defined to "public" and with
// the older string layout of the C++ library.

extern "C" {
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
}

#include "acl/acl.h"
#include "acl/acl_rt_api.h"
#include "hi_dvpp.h"

#ifndef private
#error "this file is meant to be built with private=public"
#endif

extern "C" {
size_t client_cxx11_sizes(void);
int client_cxx11_overloads(void);
}

size_t client_cxx11_sizes(void) {
  return sizeof(aclrtMallocAttribute) + sizeof(aclrtMallocConfig) + sizeof(aclrtMemLocation) +
         sizeof(aclrtPtrAttributes) + sizeof(aclrtMemcpyBatchAttr) + sizeof(aclrtMemUsageInfo) +
         sizeof(aclrtMemMallocPolicy);
}

// The overloads exist with C++ linkage although the block above was extern "C".
int client_cxx11_overloads(void) {
  return static_cast<int>(sizeof(decltype(aclrtMalloc(static_cast<float**>(nullptr), 1))) +
                          sizeof(decltype(aclrtMallocHost(static_cast<char**>(nullptr), 1))) +
                          sizeof(decltype(aclrtSynchronizeDevice(1))) +
                          sizeof(decltype(aclrtCreateEvent(nullptr, 1))));
}
