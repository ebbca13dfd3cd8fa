/*
 * C++ overloads of the runtime functions, for typed pointers (R-6, M-413,
 * M-414). Each only forwards; sizes stay in bytes. In C this header is
 * acl_rt.h and nothing more.
 *
 * Beware: the typed aclrtMalloc goes to aclrtMallocWithCfg, so it neither takes
 * the 32 further bytes of the C function nor decodes the policy as that does.
 */
#ifndef INC_EXTERNAL_ACL_ACL_RT_API_H_
#define INC_EXTERNAL_ACL_ACL_RT_API_H_

#include "acl_rt.h"

#ifdef __cplusplus

/* Templates have C++ linkage even if the header is included from an extern "C" block. */
extern "C++" {

/* ------------------------------------------------------------------------ */
/* Waiting with a limit: milliseconds, and seconds for a stream       */
/* ------------------------------------------------------------------------ */

inline aclError aclrtSynchronizeDevice(int32_t timeout)
{
    return ::aclrtSynchronizeDeviceWithTimeout(timeout);
}

inline aclError aclrtSynchronizeStream(aclrtStream stream, int32_t timeout)
{
    return ::aclrtSynchronizeStreamWithTimeout(stream, timeout);
}

inline aclError aclrtSynchronizeEvent(aclrtEvent event, int32_t timeout)
{
    return ::aclrtSynchronizeEventWithTimeout(event, timeout);
}

inline aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    return ::aclrtStreamWaitEventWithTimeout(stream, event, timeout);
}

/* ------------------------------------------------------------------------ */
/* Streams, events and the time limit of operators                    */
/* ------------------------------------------------------------------------ */

inline aclError aclrtCreateStream(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    return ::aclrtCreateStreamWithConfig(stream, priority, flag);
}

/* Goes to aclrtCreateEventExWithFlag, not to aclrtCreateEventWithFlag. */
inline aclError aclrtCreateEvent(aclrtEvent *event, uint32_t flag)
{
    return ::aclrtCreateEventExWithFlag(event, flag);
}

/* In microseconds, not in seconds as the C function. */
inline aclError aclrtSetOpExecuteTimeOut(uint64_t timeout, uint64_t *actualTimeout)
{
    return ::aclrtSetOpExecuteTimeOutV2(timeout, actualTimeout);
}

/* ------------------------------------------------------------------------ */
/* Allocation (M-413, M-414)                                                */
/* ------------------------------------------------------------------------ */

/* Device memory with an explicit policy. */
template <typename T>
inline aclError aclrtMalloc(T **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg = nullptr)
{
    void **const untyped = reinterpret_cast<void **>(devPtr);
    return ::aclrtMallocWithCfg(untyped, size, policy, cfg);
}

/* Device memory, huge pages first. */
template <typename T>
inline aclError aclrtMalloc(T **devPtr, size_t size, aclrtMallocConfig *cfg = nullptr)
{
    void **const untyped = reinterpret_cast<void **>(devPtr);
    return ::aclrtMallocWithCfg(untyped, size, ACL_MEM_MALLOC_HUGE_FIRST, cfg);
}

/* Page-locked host memory. */
template <typename T>
inline aclError aclrtMallocHost(T **hostPtr, size_t size, aclrtMallocConfig *cfg = nullptr)
{
    void **const untyped = reinterpret_cast<void **>(hostPtr);
    return ::aclrtMallocHostWithCfg(untyped, size, cfg);
}

/* ------------------------------------------------------------------------ */
/* Questions                                                                */
/* ------------------------------------------------------------------------ */

template <typename T>
inline aclError aclrtPointerGetAttributes(const T *ptr, aclrtPtrAttributes *attributes)
{
    const void *const untyped = ptr;
    return ::aclrtPointerGetAttributes(untyped, attributes);
}

/* ------------------------------------------------------------------------ */
/* Managed memory (V-8)                                                     */
/* ------------------------------------------------------------------------ */

template <typename T>
inline aclError aclrtMemAllocManaged(T **devPtr, size_t size, uint32_t flags = ACL_RT_MEM_ATTACH_GLOBAL)
{
    void **const untyped = reinterpret_cast<void **>(devPtr);
    return ::aclrtMemAllocManaged(untyped, static_cast<uint64_t>(size), flags);
}

template <typename T>
inline aclError aclrtMemManagedPrefetchAsync(const T *ptr, size_t size, aclrtMemManagedLocation location,
                                             uint32_t flags, aclrtStream stream)
{
    const void *const untyped = ptr;
    return ::aclrtMemManagedPrefetchAsync(untyped, size, location, flags, stream);
}

template <typename T>
inline aclError aclrtMemManagedPrefetchBatchAsync(const T **ptrs, size_t *sizes, size_t count,
                                                  aclrtMemManagedLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                                  size_t numPrefetchLocs, uint64_t flags, aclrtStream stream)
{
    return ::aclrtMemManagedPrefetchBatchAsync(reinterpret_cast<const void **>(ptrs), sizes, count, prefetchLocs,
                                               prefetchLocIdxs, numPrefetchLocs, flags, stream);
}

/* One place for all entries. */
template <typename T>
inline aclError aclrtMemManagedPrefetchBatchAsync(const T **ptrs, size_t *sizes, size_t count,
                                                  aclrtMemManagedLocation prefetchLoc, uint64_t flags,
                                                  aclrtStream stream)
{
    size_t first = 0;
    return ::aclrtMemManagedPrefetchBatchAsync(reinterpret_cast<const void **>(ptrs), sizes, count, &prefetchLoc,
                                               &first, 1, flags, stream);
}

/* ------------------------------------------------------------------------ */
/* Registration of host memory (M-414)                                      */
/* ------------------------------------------------------------------------ */

template <typename T>
inline aclError aclrtHostRegister(T *ptr, uint64_t size, aclrtHostRegisterType type, T **devPtr)
{
    void *const start = ptr;
    return ::aclrtHostRegister(start, size, type, reinterpret_cast<void **>(devPtr));
}

/* With the ACL_HOST_REG_... flags. */
template <typename T>
inline aclError aclrtHostRegister(T *ptr, uint64_t size, uint32_t flag)
{
    return ::aclrtHostRegisterV2(ptr, size, flag);
}

template <typename T>
inline aclError aclrtHostGetDevicePointer(T *pHost, T **pDevice, uint32_t flag)
{
    void *const start = pHost;
    return ::aclrtHostGetDevicePointer(start, reinterpret_cast<void **>(pDevice), flag);
}

template <typename T>
inline aclError aclrtHostUnregister(T *ptr)
{
    void *const start = ptr;
    return ::aclrtHostUnregister(start);
}

/* ------------------------------------------------------------------------ */
/* Copies                                                                   */
/* ------------------------------------------------------------------------ */

template <typename T, typename U>
inline aclError aclrtMemcpy(T *dst, size_t destMax, const U *src, size_t count, aclrtMemcpyKind kind)
{
    void *const to = dst;
    const void *const from = src;
    return ::aclrtMemcpy(to, destMax, from, count, kind);
}

template <typename T, typename U>
inline aclError aclrtMemcpy2d(T *dst, size_t dpitch, const U *src, size_t spitch, size_t width, size_t height,
                              aclrtMemcpyKind kind)
{
    void *const to = dst;
    const void *const from = src;
    return ::aclrtMemcpy2d(to, dpitch, from, spitch, width, height, kind);
}

template <typename T, typename U>
inline aclError aclrtMemcpyAsync(T *dst, size_t destMax, const U *src, size_t count, aclrtMemcpyKind kind,
                                 aclrtStream stream)
{
    void *const to = dst;
    const void *const from = src;
    return ::aclrtMemcpyAsync(to, destMax, from, count, kind, stream);
}

template <typename T, typename U>
inline aclError aclrtMemcpy2dAsync(T *dst, size_t dpitch, const U *src, size_t spitch, size_t width, size_t height,
                                   aclrtMemcpyKind kind, aclrtStream stream)
{
    void *const to = dst;
    const void *const from = src;
    return ::aclrtMemcpy2dAsync(to, dpitch, from, spitch, width, height, kind, stream);
}

/* ------------------------------------------------------------------------ */
/* Batch copies (M-414): failIndex decides which C function is called       */
/* ------------------------------------------------------------------------ */

template <typename T, typename U>
inline aclError aclrtMemcpyBatch(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs)
{
    return ::aclrtMemcpyBatchV2(reinterpret_cast<void **>(dsts), destMaxs, reinterpret_cast<void **>(srcs), sizes,
                                numBatches, attrs, attrsIndexes, numAttrs);
}

template <typename T, typename U>
inline aclError aclrtMemcpyBatch(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs,
                                 size_t *failIndex)
{
    return ::aclrtMemcpyBatch(reinterpret_cast<void **>(dsts), destMaxs, reinterpret_cast<void **>(srcs), sizes,
                              numBatches, attrs, attrsIndexes, numAttrs, failIndex);
}

/* One attribute for all items. */
template <typename T, typename U>
inline aclError aclrtMemcpyBatch(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr attr)
{
    size_t first = 0;
    return ::aclrtMemcpyBatchV2(reinterpret_cast<void **>(dsts), destMaxs, reinterpret_cast<void **>(srcs), sizes,
                                numBatches, &attr, &first, 1);
}

template <typename T, typename U>
inline aclError aclrtMemcpyBatch(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr attr, size_t *failIndex)
{
    size_t first = 0;
    return ::aclrtMemcpyBatch(reinterpret_cast<void **>(dsts), destMaxs, reinterpret_cast<void **>(srcs), sizes,
                              numBatches, &attr, &first, 1, failIndex);
}

template <typename T, typename U>
inline aclError aclrtMemcpyBatchAsync(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
                                      aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs,
                                      aclrtStream stream)
{
    return ::aclrtMemcpyBatchAsyncV2(reinterpret_cast<void **>(dsts), destMaxs, reinterpret_cast<void **>(srcs),
                                     sizes, numBatches, attrs, attrsIndexes, numAttrs, stream);
}

template <typename T, typename U>
inline aclError aclrtMemcpyBatchAsync(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
                                      aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs,
                                      size_t *failIndex, aclrtStream stream)
{
    return ::aclrtMemcpyBatchAsync(reinterpret_cast<void **>(dsts), destMaxs, reinterpret_cast<void **>(srcs), sizes,
                                   numBatches, attrs, attrsIndexes, numAttrs, failIndex, stream);
}

/* One attribute for all items. */
template <typename T, typename U>
inline aclError aclrtMemcpyBatchAsync(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
                                      aclrtMemcpyBatchAttr attr, aclrtStream stream)
{
    size_t first = 0;
    return ::aclrtMemcpyBatchAsyncV2(reinterpret_cast<void **>(dsts), destMaxs, reinterpret_cast<void **>(srcs),
                                     sizes, numBatches, &attr, &first, 1, stream);
}

template <typename T, typename U>
inline aclError aclrtMemcpyBatchAsync(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
                                      aclrtMemcpyBatchAttr attr, size_t *failIndex, aclrtStream stream)
{
    size_t first = 0;
    return ::aclrtMemcpyBatchAsync(reinterpret_cast<void **>(dsts), destMaxs, reinterpret_cast<void **>(srcs), sizes,
                                   numBatches, &attr, &first, 1, failIndex, stream);
}

} /* extern "C++" */

#endif /* __cplusplus */

#endif /* INC_EXTERNAL_ACL_ACL_RT_API_H_ */
