// Copies, fills and words that are queued on a stream.
#include "acl/acl.h"
#include "api/door.h"
#include "runtime/async_copying.h"

using namespace belay;

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  return enter("aclrtMemcpyAsync", [&](Process& p) {
    return copy_async(p, dst, destMax, src, count, kind, stream, Feature::AllButIpv);
  });
}

aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  return enter("aclrtMemcpyAsyncWithCondition", [&](Process& p) {
    return copy_async(p, dst, destMax, src, count, kind, stream, Feature::EveryChip);
  });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return enter("aclrtMemcpy2dAsync", [&](Process& p) {
    return copy_2d_async(p, dst, dpitch, src, spitch, width, height, kind, stream);
  });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                               size_t* failIndex, aclrtStream stream) {
  return enter("aclrtMemcpyBatchAsync", [&](Process& p) -> Status {
    if (failIndex == nullptr) return null_pointer("M-276", "failIndex");
    StoredLast<size_t> fail{failIndex, SIZE_MAX};
    return copy_batch_async(p, {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                            fail.value, stream);
  });
}

aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                                 aclrtStream stream) {
  return enter("aclrtMemcpyBatchAsyncV2", [&](Process& p) {
    size_t nobody_asks = 0;
    return copy_batch_async(p, {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                            nobody_asks, stream);
  });
}

aclError aclrtMemcpyAsyncWithDesc(void* desc, aclrtMemcpyKind kind, aclrtStream stream) {
  return enter("aclrtMemcpyAsyncWithDesc",
               [&](Process& p) { return copy_by_descriptor(p, desc, kind, stream); });
}

aclError aclrtMemcpyAsyncWithOffset(void** dst, size_t destMax, size_t dstDataOffset, const void** src,
                                    size_t count, size_t srcDataOffset, aclrtMemcpyKind kind,
                                    aclrtStream stream) {
  return enter("aclrtMemcpyAsyncWithOffset", [&](Process& p) {
    return copy_by_offset(p, {dst, destMax, dstDataOffset, src, count, srcDataOffset}, kind, stream);
  });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  return enter("aclrtMemsetAsync",
               [&](Process& p) { return fill_async(p, devPtr, maxCount, value, count, stream); });
}

aclError aclrtMemsetD32Async(void* ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream) {
  return enter("aclrtMemsetD32Async",
               [&](Process& p) { return fill_d32_async(p, ptr, memSize, value, N, stream); });
}

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return enter("aclrtValueWrite", [&](Process& p) { return write_value(p, devAddr, value, flag, stream); });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return enter("aclrtValueWait", [&](Process& p) { return wait_value(p, devAddr, value, flag, stream); });
}
