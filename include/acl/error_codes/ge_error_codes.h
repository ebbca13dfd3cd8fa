/*
 * Error numbers of the graph engine.
 *
 * belay never returns them: they are here because programs name them
 * . They are constants of type uint32_t.
 */
#ifndef INC_EXTERNAL_ACL_ERROR_CODES_GE_ERROR_CODES_H_
#define INC_EXTERNAL_ACL_ERROR_CODES_GE_ERROR_CODES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1xxxxx: the caller or its environment is wrong */
static const uint32_t ACL_ERROR_GE_PARAM_INVALID = 145000U; /* Argument rejected */
static const uint32_t ACL_ERROR_GE_EXEC_NOT_INIT = 145001U; /* Not initialised */
static const uint32_t ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID = 145002U; /* Model path wrong */
static const uint32_t ACL_ERROR_GE_EXEC_MODEL_ID_INVALID = 145003U; /* Model id wrong */
static const uint32_t ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID = 145006U; /* Model size wrong */
static const uint32_t ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID = 145007U; /* Model address wrong */
static const uint32_t ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID = 145008U; /* Queue id wrong */
static const uint32_t ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED = 145009U; /* Loaded twice */
static const uint32_t ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID = 145011U; /* Dynamic input address wrong */
static const uint32_t ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID = 145012U; /* Dynamic input length wrong */
static const uint32_t ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID = 145013U; /* Dynamic batch size wrong */
static const uint32_t ACL_ERROR_GE_AIPP_BATCH_EMPTY = 145014U; /* Image pre-processing batch wrong */
static const uint32_t ACL_ERROR_GE_AIPP_NOT_EXIST = 145015U; /* No image pre-processing */
static const uint32_t ACL_ERROR_GE_AIPP_MODE_INVALID = 145016U; /* Image pre-processing mode wrong */
static const uint32_t ACL_ERROR_GE_OP_TASK_TYPE_INVALID = 145017U; /* Task type wrong */
static const uint32_t ACL_ERROR_GE_OP_KERNEL_TYPE_INVALID = 145018U; /* Kernel type wrong */
static const uint32_t ACL_ERROR_GE_PLGMGR_PATH_INVALID = 145019U; /* Plug-in library missing or too deep */
static const uint32_t ACL_ERROR_GE_FORMAT_INVALID = 145020U; /* Tensor format wrong */
static const uint32_t ACL_ERROR_GE_SHAPE_INVALID = 145021U; /* Tensor shape wrong */
static const uint32_t ACL_ERROR_GE_DATATYPE_INVALID = 145022U; /* Data type wrong */

/* 2xxxxx: resources or hardware do not fit */
static const uint32_t ACL_ERROR_GE_MEMORY_ALLOCATION = 245000U; /* Out of memory */
static const uint32_t ACL_ERROR_GE_MEMORY_OPERATE_FAILED = 245001U; /* Memory set or copy failed */
static const uint32_t ACL_ERROR_GE_DEVICE_MEMORY_OPERATE_FAILED = 245002U; /* Device memory operation failed */

/* 3xxxxx: business state */
static const uint32_t ACL_ERROR_GE_SUBHEALTHY = 345102U; /* Degraded but usable after redeploy */
static const uint32_t ACL_ERROR_GE_USER_RAISE_EXCEPTION = 345103U; /* User function threw */
static const uint32_t ACL_ERROR_GE_DATA_NOT_ALIGNED = 345104U; /* Outputs out of step */

/* 5xxxxx: internal failures */
static const uint32_t ACL_ERROR_GE_INTERNAL_ERROR = 545000U; /* Unknown internal error */
static const uint32_t ACL_ERROR_GE_LOAD_MODEL = 545001U; /* Model load failed */
static const uint32_t ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED = 545002U; /* Model partition load failed */
static const uint32_t ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED = 545003U; /* Weight partition load failed */
static const uint32_t ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED = 545004U; /* Task partition load failed */
static const uint32_t ACL_ERROR_GE_EXEC_LOAD_KERNEL_PARTITION_FAILED = 545005U; /* Kernel partition load failed */
static const uint32_t ACL_ERROR_GE_EXEC_RELEASE_MODEL_DATA = 545006U; /* Model data not released */
static const uint32_t ACL_ERROR_GE_COMMAND_HANDLE = 545007U; /* Internal command failed */
static const uint32_t ACL_ERROR_GE_GET_TENSOR_INFO = 545008U; /* Tensor info unavailable */
static const uint32_t ACL_ERROR_GE_UNLOAD_MODEL = 545009U; /* Unload failed */
static const uint32_t ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT = 545601U; /* Model run timed out */
static const uint32_t ACL_ERROR_GE_REDEPLOYING = 545602U; /* Redeploy in progress */

/* A second name of 245002 that is found in documents. */
#ifndef ACL_ERROR_GE_DEVICE_MEMORY_ALLOCATION_FAILED
#define ACL_ERROR_GE_DEVICE_MEMORY_ALLOCATION_FAILED ACL_ERROR_GE_DEVICE_MEMORY_OPERATE_FAILED
#endif

#ifdef __cplusplus
}
#endif

#endif /* INC_EXTERNAL_ACL_ERROR_CODES_GE_ERROR_CODES_H_ */
