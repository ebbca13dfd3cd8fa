/*
 * Basic types of the runtime: handles, ACL-layer error numbers, data types,
 * data buffers, the application log.
 *
 * Usable from C99 and from C++11 on. Rule numbers such as R-2 refer to the
 * specification of belay.
 */
#ifndef INC_EXTERNAL_ACL_ACL_BASE_RT_H_
#define INC_EXTERNAL_ACL_ACL_BASE_RT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------ */
/* Attributes of declarations                                         */
/* ------------------------------------------------------------------------ */

/* Default visibility, for libraries that are built with hidden symbols. */
#ifdef FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif

#if defined(__GNUC__) && (__GNUC__ >= 6)
#define ACL_DEPRECATED __attribute__((deprecated))
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))
#else
#define ACL_DEPRECATED
#define ACL_DEPRECATED_MESSAGE(message)
#endif

/* ------------------------------------------------------------------------ */
/* Handles                                                            */
/* ------------------------------------------------------------------------ */

/* What nearly every function returns: 0, or an error code. */
typedef int aclError;

typedef void *aclrtStream;
typedef void *aclrtEvent;
typedef void *aclrtContext;
typedef void *aclrtNotify;
typedef void *aclrtCntNotify;
typedef void *aclrtLabel;
typedef void *aclrtLabelList;
typedef void *aclrtMbuf;
typedef void *aclmdlRITask;
typedef void *aclrtTaskGrp;

/* Custom allocators; their callback types are in acl_rt_allocator.h. */
typedef void *aclrtAllocatorDesc;
typedef void *aclrtAllocator;
typedef void *aclrtAllocatorBlock;
typedef void *aclrtAllocatorAddr;

/* An (address, size) pair that owns nothing; see aclCreateDataBuffer. */
typedef struct aclDataBuffer aclDataBuffer;

/* The bits of an IEEE half-precision number. */
typedef uint16_t aclFloat16;

/* ------------------------------------------------------------------------ */
/* ACL-layer error numbers: constants of type int              */
/* ------------------------------------------------------------------------ */

static const int ACL_SUCCESS = 0;    /* Success */
static const int ACL_ERROR_NONE = 0; /* Success, older name */

/* 1xxxxx: the caller or its environment is wrong */
static const int ACL_ERROR_INVALID_PARAM = 100000; /* An argument failed the first check */
static const int ACL_ERROR_UNINITIALIZE = 100001; /* The needed init call is missing (dump, profiling) */
static const int ACL_ERROR_REPEAT_INITIALIZE = 100002; /* Initialised already; harmless from aclInit */
static const int ACL_ERROR_INVALID_FILE = 100003; /* File missing or unreadable */
static const int ACL_ERROR_WRITE_FILE = 100004; /* Could not write a file */
static const int ACL_ERROR_INVALID_FILE_SIZE = 100005; /* File size not acceptable */
static const int ACL_ERROR_PARSE_FILE = 100006; /* File content cannot be parsed */
static const int ACL_ERROR_FILE_MISSING_ATTR = 100007; /* A required entry is missing in the file */
static const int ACL_ERROR_FILE_ATTR_INVALID = 100008; /* An entry in the file has a bad value */
static const int ACL_ERROR_INVALID_DUMP_CONFIG = 100009; /* Dump settings wrong */
static const int ACL_ERROR_INVALID_PROFILING_CONFIG = 100010; /* Profiling settings wrong */
static const int ACL_ERROR_INVALID_MODEL_ID = 100011; /* No such model */
static const int ACL_ERROR_DESERIALIZE_MODEL = 100012; /* Model could not be deserialised */
static const int ACL_ERROR_PARSE_MODEL = 100013; /* Model could not be parsed */
static const int ACL_ERROR_READ_MODEL_FAILURE = 100014; /* Model file could not be read */
static const int ACL_ERROR_MODEL_SIZE_INVALID = 100015; /* Model size wrong */
static const int ACL_ERROR_MODEL_MISSING_ATTR = 100016; /* Model lacks an attribute */
static const int ACL_ERROR_MODEL_INPUT_NOT_MATCH = 100017; /* Inputs do not fit the model */
static const int ACL_ERROR_MODEL_OUTPUT_NOT_MATCH = 100018; /* Outputs do not fit the model */
static const int ACL_ERROR_MODEL_NOT_DYNAMIC = 100019; /* Model has no dynamic shapes */
static const int ACL_ERROR_OP_TYPE_NOT_MATCH = 100020; /* Operator type differs */
static const int ACL_ERROR_OP_INPUT_NOT_MATCH = 100021; /* Operator inputs differ */
static const int ACL_ERROR_OP_OUTPUT_NOT_MATCH = 100022; /* Operator outputs differ */
static const int ACL_ERROR_OP_ATTR_NOT_MATCH = 100023; /* Operator attributes differ */
static const int ACL_ERROR_OP_NOT_FOUND = 100024; /* Operator unknown */
static const int ACL_ERROR_OP_LOAD_FAILED = 100025; /* Operator could not be loaded */
static const int ACL_ERROR_UNSUPPORTED_DATA_TYPE = 100026; /* Data type not supported */
static const int ACL_ERROR_FORMAT_NOT_MATCH = 100027; /* Tensor format differs */
static const int ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED = 100028; /* No kernel selector registered */
static const int ACL_ERROR_KERNEL_NOT_FOUND = 100029; /* Kernel not registered */
static const int ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED = 100030; /* Selector registered twice */
static const int ACL_ERROR_KERNEL_ALREADY_REGISTERED = 100031; /* Kernel registered twice */
static const int ACL_ERROR_INVALID_QUEUE_ID = 100032; /* No such queue */
static const int ACL_ERROR_REPEAT_SUBSCRIBE = 100033; /* Subscribed twice */
static const int ACL_ERROR_STREAM_NOT_SUBSCRIBE = 100034; /* Old; use 107015 */
static const int ACL_ERROR_THREAD_NOT_SUBSCRIBE = 100035; /* Old; use 107012 */
static const int ACL_ERROR_WAIT_CALLBACK_TIMEOUT = 100036; /* Old; use 507012 */
static const int ACL_ERROR_REPEAT_FINALIZE = 100037; /* Finalised already */
static const int ACL_ERROR_NOT_STATIC_AIPP = 100038; /* Old; use 145015 */
static const int ACL_ERROR_COMPILING_STUB_MODE = 100039; /* The link-time stub library is loaded at run time */
static const int ACL_ERROR_GROUP_NOT_SET = 100040; /* Old; use 107013 */
static const int ACL_ERROR_GROUP_NOT_CREATE = 100041; /* Old; use 107014 */
static const int ACL_ERROR_PROF_ALREADY_RUN = 100042; /* A profiling task exists */
static const int ACL_ERROR_PROF_NOT_RUN = 100043; /* Profiling not initialised */
static const int ACL_ERROR_DUMP_ALREADY_RUN = 100044; /* A dump task exists */
static const int ACL_ERROR_DUMP_NOT_RUN = 100045; /* Dump not initialised */
static const int ACL_ERROR_PROF_REPEAT_SUBSCRIBE = 148046; /* Model subscribed twice */
static const int ACL_ERROR_PROF_API_CONFLICT = 148047; /* Two profiling styles mixed */
static const int ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG = 148048; /* Operator-cache setting wrong */
static const int ACL_ERROR_INVALID_OPP_PATH = 148049; /* The operator path missing or wrong */
static const int ACL_ERROR_OP_UNSUPPORTED_DYNAMIC = 148050; /* Operator has no dynamic shape */
static const int ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED = 148051; /* Dependent object still exists */
static const int ACL_ERROR_UNSUPPORTED_JPEG = 148052; /* JPEG coding not supported */
static const int ACL_ERROR_INVALID_BUNDLE_MODEL_ID = 148053; /* No such bundle model */

/* 2xxxxx: resources or hardware do not fit */
static const int ACL_ERROR_BAD_ALLOC = 200000; /* Host allocation failed */
static const int ACL_ERROR_API_NOT_SUPPORT = 200001; /* Function not available */
static const int ACL_ERROR_INVALID_DEVICE = 200002; /* Old; use 107001 */
static const int ACL_ERROR_MEMORY_ADDRESS_UNALIGNED = 200003; /* Address alignment wrong */
static const int ACL_ERROR_RESOURCE_NOT_MATCH = 200004; /* Objects do not belong together */
static const int ACL_ERROR_INVALID_RESOURCE_HANDLE = 200005; /* Handle invalid or in use */
static const int ACL_ERROR_FEATURE_UNSUPPORTED = 200006; /* Feature not available (peer-access flags) */
static const int ACL_ERROR_PROF_MODULES_UNSUPPORTED = 200007; /* Profiling option not available */

/* 3xxxxx: business state */
static const int ACL_ERROR_STORAGE_OVER_LIMIT = 300000; /* Storage limit exceeded */

/* 5xxxxx: internal failures */
static const int ACL_ERROR_INTERNAL_ERROR = 500000; /* Unknown internal error */
static const int ACL_ERROR_FAILURE = 500001; /* Internal error */
static const int ACL_ERROR_GE_FAILURE = 500002; /* Error in the graph engine */
static const int ACL_ERROR_RT_FAILURE = 500003; /* Error in the runtime */
static const int ACL_ERROR_DRV_FAILURE = 500004; /* Error in the driver */
static const int ACL_ERROR_PROFILING_FAILURE = 500005; /* Error in profiling */

/* ------------------------------------------------------------------------ */
/* Data types                                                       */
/* ------------------------------------------------------------------------ */

typedef enum aclDataType {
    ACL_DT_UNDEFINED = -1,
    ACL_FLOAT = 0,
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_UINT8 = 4,
    ACL_INT16 = 6,
    ACL_UINT16 = 7,
    ACL_UINT32 = 8,
    ACL_INT64 = 9,
    ACL_UINT64 = 10,
    ACL_DOUBLE = 11,
    ACL_BOOL = 12,
    ACL_STRING = 13,
    ACL_COMPLEX64 = 16,
    ACL_COMPLEX128 = 17,
    ACL_BF16 = 27,
    ACL_INT4 = 29,
    ACL_UINT1 = 30,
    ACL_COMPLEX32 = 33,
    ACL_HIFLOAT8 = 34,
    ACL_FLOAT8_E5M2 = 35,
    ACL_FLOAT8_E4M3FN = 36,
    ACL_FLOAT8_E8M0 = 37,
    ACL_FLOAT6_E3M2 = 38,
    ACL_FLOAT6_E2M3 = 39,
    ACL_FLOAT4_E2M1 = 40,
    ACL_FLOAT4_E1M2 = 41
} aclDataType;

/* Bytes of one element; 0 for strings and for the undefined type. */
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

/* Half to single precision; infinities and NaN become finite numbers. */
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);

/* Single to half precision, nearest even, saturating. */
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

/* ------------------------------------------------------------------------ */
/* Data buffers                                            */
/* ------------------------------------------------------------------------ */

/*
 * Makes a buffer object from an address and a size. Neither is checked and the
 * memory stays the caller's. NULL only when the host has no memory left. Free
 * the object with aclDestroyDataBuffer.
 */
ACL_FUNC_VISIBILITY aclDataBuffer *aclCreateDataBuffer(void *data, size_t size);

/* Frees the object, not the memory that it names. */
ACL_FUNC_VISIBILITY aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer);

/* Replaces address and size; the former memory is not freed. */
ACL_FUNC_VISIBILITY aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size);

/* The address, NULL for a NULL object. */
ACL_FUNC_VISIBILITY void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer);

/* The size cut to 32 bits; aclGetDataBufferSizeV2 has all of it. */
ACL_DEPRECATED_MESSAGE("aclGetDataBufferSize cuts the size to 32 bits: call aclGetDataBufferSizeV2")
ACL_FUNC_VISIBILITY uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer);

/* The size, 0 for a NULL object. */
ACL_FUNC_VISIBILITY size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer);

/* ------------------------------------------------------------------------ */
/* Application log                                         */
/* ------------------------------------------------------------------------ */

typedef enum aclLogLevel {
    ACL_DEBUG = 0,
    ACL_INFO = 1,
    ACL_WARNING = 2,
    ACL_ERROR = 3
} aclLogLevel;

/* Writes one line, printf style, under the module APP; at most 1024 bytes. */
ACL_FUNC_VISIBILITY void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
                                   const char *fmt, ...);

/* aclAppLog(level, ..., fmt, ...) with the place of use filled in. */
#define ACL_APP_LOG(level, ...) aclAppLog((level), __func__, __FILE__, __LINE__, __VA_ARGS__)

/* ------------------------------------------------------------------------ */
/* What the machine can do                             */
/* ------------------------------------------------------------------------ */

typedef enum aclCannAttr {
    ACL_CANN_ATTR_UNDEFINED = -1,
    ACL_CANN_ATTR_INF_NAN = 0,
    ACL_CANN_ATTR_BF16 = 1,
    ACL_CANN_ATTR_JIT_COMPILE = 2
} aclCannAttr;

typedef enum aclDeviceInfo {
    ACL_DEVICE_INFO_UNDEFINED = -1,
    ACL_DEVICE_INFO_AI_CORE_NUM = 0,
    ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
    ACL_DEVICE_INFO_L2_SIZE = 2
} aclDeviceInfo;

/* The SoC name, a string that is never freed; NULL on failure. */
ACL_FUNC_VISIBILITY const char *aclrtGetSocName(void);

/* The attributes that can be asked for; the list belongs to the library. */
ACL_FUNC_VISIBILITY aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num);

/* 1 when the attribute is there, else 0. */
ACL_FUNC_VISIBILITY aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value);

/* One figure of a device: core counts, L2 size in bytes. */
ACL_FUNC_VISIBILITY aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value);

#ifdef __cplusplus
}
#endif

#endif /* INC_EXTERNAL_ACL_ACL_BASE_RT_H_ */
