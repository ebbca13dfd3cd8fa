// Memory for media functions, versions 1 and 2.
#include "acl/acl.h"
#include "acl/ops/acl_dvpp.h"
#include "api/door.h"
#include "hi_dvpp.h"
#include "runtime/allocation.h"

using namespace belay;

aclError acldvppMalloc(void** devPtr, size_t size) {
  return enter("acldvppMalloc",
               [&](Process& p) { return allocate_media(p, Api::MediaV1Malloc, devPtr, size); });
}

aclError acldvppFree(void* devPtr) {
  return enter("acldvppFree", [&](Process& p) -> Status {
    if (devPtr == nullptr) return null_pointer("M-398", "devPtr");
    if (Status here = needs_feature(p, Feature::MediaV1, "M-403"); !here) return here;
    return p.memory().free_media(devPtr);
  });
}

namespace {

// Version 2 has numbers of its own (M-401).
enum class MediaCode : uint32_t {
  IllegalParameter = 0xA0028003,
  NullPointer = 0xA0028006,
  NotSupported = 0xA0028008,
  NoMemory = 0xA002800C,
  NotReady = 0xA0028010,
  Other = 0xA0028015,
};

Status in_media_numbers(Status status, bool null_argument) {
  if (status) return status;
  Refusal refusal = status.take_refusal();
  MediaCode code = MediaCode::Other;
  switch (refusal->code) {
    case ACL_ERROR_INVALID_PARAM:
      code = null_argument ? MediaCode::NullPointer : MediaCode::NoMemory;
      break;  // a size that wraps is too large
    case ACL_ERROR_RT_PARAM_INVALID:
      code = MediaCode::IllegalParameter;
      break;
    case ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
      code = MediaCode::NotSupported;
      break;
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
      code = MediaCode::NoMemory;
      break;
    case ACL_ERROR_RT_CONTEXT_NULL:
      code = MediaCode::NotReady;
      break;
    default:
      break;
  }
  refusal->code = static_cast<aclError>(code);
  refusal->remember = false;
  return refusal;
}

}  // namespace

hi_s32 hi_mpi_dvpp_malloc(hi_u32 dev_id, hi_void** dev_ptr, hi_u64 size) {
  (void)dev_id;  // reserved: memory comes from the current device (M-400)
  return enter("hi_mpi_dvpp_malloc", [&](Process& p) {
    if (dev_ptr != nullptr && size == 0)
      return in_media_numbers(
          rejected("M-401", "size", size, "it must be at least 1", "ask for at least 1 byte"), false);
    return in_media_numbers(allocate_media(p, Api::MediaV2Malloc, dev_ptr, size), dev_ptr == nullptr);
  });
}

hi_s32 hi_mpi_dvpp_free(hi_void* dev_ptr) {
  return enter("hi_mpi_dvpp_free", [&](Process& p) {
    if (dev_ptr == nullptr) return in_media_numbers(null_pointer("M-401", "dev_ptr"), true);
    if (Status here = needs_feature(p, Feature::MediaV2, "M-404"); !here)
      return in_media_numbers(std::move(here), false);
    return in_media_numbers(p.memory().free_media(dev_ptr), false);
  });
}
