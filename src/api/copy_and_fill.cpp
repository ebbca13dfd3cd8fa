// Synchronous copies and fills.
#include "acl/acl.h"
#include "api/door.h"
#include "runtime/copying.h"

using namespace belay;

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  return enter("aclrtMemcpy", [&](Process& p) { return copy(p, dst, destMax, src, count, kind); });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
  return enter("aclrtMemcpy2d",
               [&](Process& p) { return copy_2d(p, dst, dpitch, src, spitch, width, height, kind); });
}

aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                          size_t* failIndex) {
  return enter("aclrtMemcpyBatch", [&](Process& p) -> Status {
    if (failIndex == nullptr) return null_pointer("M-276", "failIndex");
    StoredLast<size_t> fail{failIndex, SIZE_MAX};
    return copy_batch(p, {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                      fail.value);
  });
}

aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                            aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs) {
  return enter("aclrtMemcpyBatchV2", [&](Process& p) {
    size_t nobody_asks = 0;
    return copy_batch(p, {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                      nobody_asks);
  });
}

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* descSize) {
  return enter("aclrtGetMemcpyDescSize", [&](Process& p) { return copy_descriptor_size(p, kind, descSize); });
}

aclError aclrtSetMemcpyDesc(void* desc, aclrtMemcpyKind kind, void* srcAddr, void* dstAddr, size_t count,
                            void* config) {
  return enter("aclrtSetMemcpyDesc", [&](Process& p) {
    return set_copy_descriptor(p, desc, kind, srcAddr, dstAddr, count, config);
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return enter("aclrtMemset", [&](Process& p) { return fill(p, devPtr, maxCount, value, count); });
}

aclError aclrtMemsetD32(void* ptr, size_t memSize, uint32_t value, size_t N) {
  return enter("aclrtMemsetD32", [&](Process& p) { return fill_d32(p, ptr, memSize, value, N); });
}
