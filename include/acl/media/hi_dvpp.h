/*
 * Media memory, interfaces of version 2 (M-400 to M-404, M-436).
 *
 * They return 0 or codes of their own, 0xA0028000 and up (M-401).
 */
#ifndef INC_EXTERNAL_ACL_MEDIA_HI_DVPP_H_
#define INC_EXTERNAL_ACL_MEDIA_HI_DVPP_H_

#include "../acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t hi_s32;
typedef uint32_t hi_u32;
typedef uint64_t hi_u64;
typedef void hi_void;

/*
 * Device memory of the current device for media functions; starts at a multiple
 * of 128. dev_id is ignored (M-400). Free it with hi_mpi_dvpp_free.
 */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_dvpp_malloc(hi_u32 dev_id, hi_void **dev_ptr, hi_u64 size);

/* Frees a block of hi_mpi_dvpp_malloc (M-401, M-402). */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_dvpp_free(hi_void *dev_ptr);

#ifdef __cplusplus
}
#endif

#endif /* INC_EXTERNAL_ACL_MEDIA_HI_DVPP_H_ */
