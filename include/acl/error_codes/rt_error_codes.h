/*
 * Error numbers of the runtime layer.
 *
 * Every name here is a macro, so that programs can test for it with #ifdef and
 * use it as a case label. ACL-layer numbers are constants in
 * acl_base_rt.h, graph-engine numbers are constants in ge_error_codes.h.
 */
#ifndef INC_EXTERNAL_ACL_ERROR_CODES_RT_ERROR_CODES_H_
#define INC_EXTERNAL_ACL_ERROR_CODES_RT_ERROR_CODES_H_

#define ACL_RT_SUCCESS 0 /* Success */

/* 1xxxxx: the caller or its environment is wrong */
#define ACL_ERROR_RT_PARAM_INVALID                   107000 /* Argument rejected by the runtime */
#define ACL_ERROR_RT_INVALID_DEVICEID                107001 /* No such device */
#define ACL_ERROR_RT_CONTEXT_NULL                    107002 /* Thread has no live context */
#define ACL_ERROR_RT_STREAM_CONTEXT                  107003 /* Stream is not of the current context */
#define ACL_ERROR_RT_MODEL_CONTEXT                   107004 /* Model is not of the current context */
#define ACL_ERROR_RT_STREAM_MODEL                    107005 /* Stream is not bound to the model */
#define ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID         107006 /* Event has no usable time yet */
#define ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL        107007 /* End before start */
#define ACL_ERROR_RT_ADDR_UNALIGNED                  107008 /* Address alignment wrong */
#define ACL_ERROR_RT_FILE_OPEN                       107009 /* File could not be opened */
#define ACL_ERROR_RT_FILE_WRITE                      107010 /* File could not be written */
#define ACL_ERROR_RT_STREAM_SUBSCRIBE                107011 /* Stream subscription missing, doubled or in the other mode */
#define ACL_ERROR_RT_THREAD_SUBSCRIBE                107012 /* Thread subscription missing or doubled */
#define ACL_ERROR_RT_GROUP_NOT_SET                   107013 /* Compute group not chosen */
#define ACL_ERROR_RT_GROUP_NOT_CREATE                107014 /* No such compute group */
#define ACL_ERROR_RT_STREAM_NO_CB_REG                107015 /* Callback on a stream without a subscribed thread */
#define ACL_ERROR_RT_INVALID_MEMORY_TYPE             107016 /* Memory type not valid here */
#define ACL_ERROR_RT_INVALID_HANDLE                  107017 /* Handle destroyed or of the wrong kind */
#define ACL_ERROR_RT_INVALID_MALLOC_TYPE             107018 /* Allocation type not valid here */
#define ACL_ERROR_RT_WAIT_TIMEOUT                    107019 /* Internal wait expired; retry */
#define ACL_ERROR_RT_TASK_TIMEOUT                    107020 /* A task took too long */
#define ACL_ERROR_RT_SYSPARAMOPT_NOT_SET             107021 /* Option never set in this context */
#define ACL_ERROR_RT_DEVICE_TASK_ABORT               107022 /* Collides with a running device abort */
#define ACL_ERROR_RT_STREAM_ABORT                    107023 /* Stream is being cleared */
#define ACL_ERROR_RT_CAPTURE_DEPENDENCY              107024 /* Capture: wait without record */
#define ACL_ERROR_RT_STREAM_UNJOINED                 107025 /* Capture: side stream never joined back */
#define ACL_ERROR_RT_MODEL_CAPTURED                  107026 /* Model is capturing */
#define ACL_ERROR_RT_STREAM_CAPTURED                 107027 /* Stream is capturing */
#define ACL_ERROR_RT_EVENT_CAPTURED                  107028 /* Event is part of a capture */
#define ACL_ERROR_RT_STREAM_NOT_CAPTURED             107029 /* Stream is not capturing */
#define ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT        107030 /* Call not allowed in this capture mode */
#define ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT         107031 /* Default stream not allowed in capture */
#define ACL_ERROR_STREAM_CAPTURE_CONFLICT            107032 /* Captures tied together by an event */
#define ACL_ERROR_STREAM_TASK_GROUP_STATUS           107033 /* Task-group calls unbalanced */
#define ACL_ERROR_STREAM_TASK_GROUP_INTR             107034 /* Task group interrupted */
#define ACL_ERROR_RT_TASK_ABORT_STOP                 107035 /* Abort stopped before its last phase */
#define ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED        107036 /* End without begin on this stream */
#define ACL_ERROR_RT_MODEL_RUNNING                   107037 /* Model still running */
#define ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD     107038 /* Begin and end on different threads */
#define ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY        107039 /* Caller's array too small */
#define ACL_ERROR_RT_MODEL_UPDATE_FAILED             107040 /* Model update failed */
#define ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC        107041 /* Async call would become sync during capture */
#define ACL_ERROR_RT_SYMBOL_NOT_FOUND                107042 /* Global variable name unknown */
#define ACL_ERROR_RT_INVALID_SYMBOL                  107043 /* Not a registered device variable */
#define ACL_ERROR_RT_INVALID_DEVICE_FUNCTION         107044 /* Not a registered kernel */
#define ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING       107045 /* Sub-graph still capturing */

/* 2xxxxx: resources or hardware do not fit */
#define ACL_ERROR_RT_FEATURE_NOT_SUPPORT             207000 /* Not available on this product, driver or object */
#define ACL_ERROR_RT_MEMORY_ALLOCATION               207001 /* Out of memory */
#define ACL_ERROR_RT_MEMORY_FREE                     207002 /* Memory could not be freed */
#define ACL_ERROR_RT_AICORE_OVER_FLOW                207003 /* Numeric overflow on AI Core */
#define ACL_ERROR_RT_NO_DEVICE                       207004 /* No usable device */
#define ACL_ERROR_RT_RESOURCE_ALLOC_FAIL             207005 /* Driver resource exhausted */
#define ACL_ERROR_RT_NO_PERMISSION                   207006 /* Permission denied */
#define ACL_ERROR_RT_NO_EVENT_RESOURCE               207007 /* Out of events */
#define ACL_ERROR_RT_NO_STREAM_RESOURCE              207008 /* Out of streams */
#define ACL_ERROR_RT_NO_NOTIFY_RESOURCE              207009 /* Out of notifies */
#define ACL_ERROR_RT_NO_MODEL_RESOURCE               207010 /* Out of models */
#define ACL_ERROR_RT_NO_CDQ_RESOURCE                 207011 /* Out of internal queues */
#define ACL_ERROR_RT_OVER_LIMIT                      207012 /* Queue limit exceeded */
#define ACL_ERROR_RT_QUEUE_EMPTY                     207013 /* Queue empty */
#define ACL_ERROR_RT_QUEUE_FULL                      207014 /* Queue full */
#define ACL_ERROR_RT_REPEATED_INIT                   207015 /* Queue initialised twice */
#define ACL_ERROR_RT_AIVEC_OVER_FLOW                 207016 /* Numeric overflow on vector core */
#define ACL_ERROR_RT_OVER_FLOW                       207017 /* Numeric overflow */
#define ACL_ERROR_RT_DEVICE_OOM                      207018 /* Device memory exhausted while running */
#define ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP   207019 /* Driver cannot update this operator */
#define ACL_ERROR_RT_TIMEOUT                         207020 /* Driver call timed out */
#define ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED         207021 /* Link type not available */

/* 5xxxxx: internal failures */
#define ACL_ERROR_RT_INTERNAL_ERROR                  507000 /* Runtime internal error, incl. all pool errors */
#define ACL_ERROR_RT_TS_ERROR                        507001 /* Device scheduler error */
#define ACL_ERROR_RT_STREAM_TASK_FULL                507002 /* Stream queue full */
#define ACL_ERROR_RT_STREAM_TASK_EMPTY               507003 /* Stream queue empty */
#define ACL_ERROR_RT_STREAM_NOT_COMPLETE             507004 /* Stream still busy */
#define ACL_ERROR_RT_END_OF_SEQUENCE                 507005 /* AI CPU work finished */
#define ACL_ERROR_RT_EVENT_NOT_COMPLETE              507006 /* Event still pending */
#define ACL_ERROR_RT_CONTEXT_RELEASE_ERROR           507007 /* Context already released or being released (over-reset) */
#define ACL_ERROR_RT_SOC_VERSION                     507008 /* Chip name unavailable */
#define ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT           507009 /* Unknown task type */
#define ACL_ERROR_RT_LOST_HEARTBEAT                  507010 /* Device scheduler does not respond */
#define ACL_ERROR_RT_MODEL_EXECUTE                   507011 /* Model run failed */
#define ACL_ERROR_RT_REPORT_TIMEOUT                  507012 /* No callback arrived in time */
#define ACL_ERROR_RT_SYS_DMA                         507013 /* DMA hardware error */
#define ACL_ERROR_RT_AICORE_TIMEOUT                  507014 /* AI Core timed out */
#define ACL_ERROR_RT_AICORE_EXCEPTION                507015 /* AI Core fault */
#define ACL_ERROR_RT_AICORE_TRAP_EXCEPTION           507016 /* AI Core trap */
#define ACL_ERROR_RT_AICPU_TIMEOUT                   507017 /* AI CPU timed out */
#define ACL_ERROR_RT_AICPU_EXCEPTION                 507018 /* AI CPU fault */
#define ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR          507019 /* Dump did not respond */
#define ACL_ERROR_RT_AICPU_MODEL_RSP_ERR             507020 /* Model did not respond */
#define ACL_ERROR_RT_PROFILING_ERROR                 507021 /* Profiling failed */
#define ACL_ERROR_RT_IPC_ERROR                       507022 /* Inter-process error */
#define ACL_ERROR_RT_MODEL_ABORT_NORMAL              507023 /* Model ended */
#define ACL_ERROR_RT_KERNEL_UNREGISTERING            507024 /* Kernel is being removed */
#define ACL_ERROR_RT_RINGBUFFER_NOT_INIT             507025 /* Ring buffer not ready */
#define ACL_ERROR_RT_RINGBUFFER_NO_DATA              507026 /* Ring buffer empty */
#define ACL_ERROR_RT_KERNEL_LOOKUP                   507027 /* Internal kernel missing */
#define ACL_ERROR_RT_KERNEL_DUPLICATE                507028 /* Internal kernel twice */
#define ACL_ERROR_RT_DEBUG_REGISTER_FAIL             507029 /* Debug registration failed */
#define ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL           507030 /* Debug removal failed */
#define ACL_ERROR_RT_LABEL_CONTEXT                   507031 /* Label of another context */
#define ACL_ERROR_RT_PROGRAM_USE_OUT                 507032 /* Too many programs registered */
#define ACL_ERROR_RT_DEV_SETUP_ERROR                 507033 /* Device could not start */
#define ACL_ERROR_RT_VECTOR_CORE_TIMEOUT             507034 /* Vector core timed out */
#define ACL_ERROR_RT_VECTOR_CORE_EXCEPTION           507035 /* Vector core fault */
#define ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION      507036 /* Vector core trap */
#define ACL_ERROR_RT_CDQ_BATCH_ABNORMAL              507037 /* Internal queue allocation error */
#define ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR           507038 /* Die mode cannot change */
#define ACL_ERROR_RT_DIE_SET_ERROR                   507039 /* Die cannot be chosen */
#define ACL_ERROR_RT_INVALID_DIEID                   507040 /* No such die */
#define ACL_ERROR_RT_DIE_MODE_NOT_SET                507041 /* Die mode missing */
#define ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW       507042 /* AI Core read out of bounds */
#define ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW      507043 /* AI Core write out of bounds */
#define ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW  507044 /* Vector core read out of bounds */
#define ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW 507045 /* Vector core write out of bounds */
#define ACL_ERROR_RT_STREAM_SYNC_TIMEOUT             507046 /* Stream or device synchronise timed out */
#define ACL_ERROR_RT_EVENT_SYNC_TIMEOUT              507047 /* Event synchronise timed out */
#define ACL_ERROR_RT_FFTS_PLUS_TIMEOUT               507048 /* Internal task timed out */
#define ACL_ERROR_RT_FFTS_PLUS_EXCEPTION             507049 /* Internal task fault */
#define ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION        507050 /* Internal task trap */
#define ACL_ERROR_RT_SEND_MSG                        507051 /* Queue message not sent */
#define ACL_ERROR_RT_COPY_DATA                       507052 /* Queue copy failed */
#define ACL_ERROR_RT_DEVICE_MEM_ERROR                507053 /* Uncorrectable memory error on this device */
#define ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR         507054 /* Multi-bit ECC error */
#define ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR        507055 /* Probable memory error on a peer */
#define ACL_ERROR_RT_LINK_ERROR                      507056 /* Link between devices broke */
#define ACL_ERROR_RT_SUSPECT_REMOTE_ERROR            507057 /* Peer memory faulty or local access out of range */
#define ACL_ERROR_RT_DRV_INTERNAL_ERROR              507899 /* Driver internal error */
#define ACL_ERROR_RT_AICPU_INTERNAL_ERROR            507900 /* AI CPU internal error */
#define ACL_ERROR_RT_SOCKET_CLOSE                    507901 /* Host-device connection closed */
#define ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR         507902 /* AI CPU scheduling failed */
#define ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED      507903 /* Capture broken */
#define ACL_ERROR_RT_COMM_OP_RETRY_FAIL              507904 /* Collective retry failed */
#define ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT              507905 /* Snapshot lock timed out */
#define ACL_ERROR_SNAPSHOT_LOCK_FAILED               507906 /* Snapshot lock failed */
#define ACL_ERROR_SNAPSHOT_UNLOCK_FAILED             507907 /* Snapshot unlock failed */
#define ACL_ERROR_SNAPSHOT_BACKUP_FAILED             507908 /* Snapshot backup failed */
#define ACL_ERROR_SNAPSHOT_RESTORE_FAILED            507909 /* Snapshot restore failed */
#define ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED     507910 /* Host range registered already */
#define ACL_ERROR_HOST_MEMORY_NOT_REGISTERED         507911 /* Host range was never registered */
#define ACL_ERROR_SNAPSHOT_CALLBACK_FAILED           507912 /* Snapshot callback failed */
#define ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED  507913 /* Snapshot callback not registered */
#define ACL_ERROR_RT_L3_PORT_ERROR                   507914 /* L3 port error */
#define ACL_ERROR_RT_CCU_TIMEOUT                     507915 /* Collective unit timed out */
#define ACL_ERROR_RT_CCU_EXCEPTION                   507916 /* Collective unit fault */

/* A second spelling of 207018 that is found in documents. */
#ifndef ACL_ERROR_RT_DEVIDE_OOM
#define ACL_ERROR_RT_DEVIDE_OOM ACL_ERROR_RT_DEVICE_OOM
#endif

#endif /* INC_EXTERNAL_ACL_ERROR_CODES_RT_ERROR_CODES_H_ */
