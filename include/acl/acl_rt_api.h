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

} /* extern "C++" */

#endif /* __cplusplus */

#endif /* INC_EXTERNAL_ACL_ACL_RT_API_H_ */
