/*
 * Media memory, interfaces of version 1 (M-392 to M-399, M-436).
 */
#ifndef INC_EXTERNAL_ACL_OPS_ACL_DVPP_H_
#define INC_EXTERNAL_ACL_OPS_ACL_DVPP_H_

#include "../acl.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Device memory for media functions: starts at a multiple of 128 and comes from
 * huge pages (M-397). The contents are undefined. Free it with acldvppFree.
 */
ACL_FUNC_VISIBILITY aclError acldvppMalloc(void **devPtr, size_t size);

/* Frees a block of acldvppMalloc; needs no context (M-398). */
ACL_FUNC_VISIBILITY aclError acldvppFree(void *devPtr);

#ifdef __cplusplus
}
#endif

#endif /* INC_EXTERNAL_ACL_OPS_ACL_DVPP_H_ */
