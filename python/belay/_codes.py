"""The numbers that a memory program meets, with the vendor's name and a few words.

See docs/errors.md. Numbers that are not here are told as numbers.
"""

from __future__ import annotations

REPEAT_INITIALIZE = 100002
INVALID_PARAM = 100000
CONTEXT_NULL = 107002
CONTEXT_RELEASED = 507007

CODES: dict[int, tuple[str, str]] = {
    100000: ("ACL_ERROR_INVALID_PARAM", "an argument is wrong"),
    100002: ("ACL_ERROR_REPEAT_INITIALIZE", "initialised already"),
    100003: ("ACL_ERROR_INVALID_FILE", "the file is missing or cannot be read"),
    100006: ("ACL_ERROR_PARSE_FILE", "the file is not JSON"),
    100037: ("ACL_ERROR_REPEAT_FINALIZE", "finalised already"),
    107000: ("ACL_ERROR_RT_PARAM_INVALID", "an argument is wrong"),
    107001: ("ACL_ERROR_RT_INVALID_DEVICEID", "no such device"),
    107002: ("ACL_ERROR_RT_CONTEXT_NULL", "no device is set on this thread"),
    107003: ("ACL_ERROR_RT_STREAM_CONTEXT", "the stream belongs to another context"),
    107006: ("ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID", "the event has no time yet"),
    107007: ("ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL", "the end is before the start"),
    107011: ("ACL_ERROR_RT_STREAM_SUBSCRIBE", "the stream is not subscribed, or is subscribed already"),
    107012: ("ACL_ERROR_RT_THREAD_SUBSCRIBE", "the thread is not subscribed, or is subscribed already"),
    107015: ("ACL_ERROR_RT_STREAM_NO_CB_REG", "no thread is subscribed to callbacks of the stream"),
    107016: ("ACL_ERROR_RT_INVALID_MEMORY_TYPE", "no such kind of memory"),
    107017: ("ACL_ERROR_RT_INVALID_HANDLE", "the handle was destroyed, or is another kind of object"),
    107020: ("ACL_ERROR_RT_TASK_TIMEOUT", "a task took too long"),
    107021: ("ACL_ERROR_RT_SYSPARAMOPT_NOT_SET", "the option was never set"),
    107022: ("ACL_ERROR_RT_DEVICE_TASK_ABORT", "the device is being aborted"),
    107023: ("ACL_ERROR_RT_STREAM_ABORT", "the stream is being aborted"),
    200000: ("ACL_ERROR_BAD_ALLOC", "the host is out of memory"),
    200006: ("ACL_ERROR_FEATURE_UNSUPPORTED", "not supported"),
    207000: ("ACL_ERROR_RT_FEATURE_NOT_SUPPORT", "not supported"),
    207001: ("ACL_ERROR_RT_MEMORY_ALLOCATION", "out of memory"),
    207004: ("ACL_ERROR_RT_NO_DEVICE", "no device can be used"),
    207007: ("ACL_ERROR_RT_NO_EVENT_RESOURCE", "out of events"),
    207008: ("ACL_ERROR_RT_NO_STREAM_RESOURCE", "out of streams"),
    207009: ("ACL_ERROR_RT_NO_NOTIFY_RESOURCE", "out of notifies"),
    500000: ("ACL_ERROR_INTERNAL_ERROR", "internal error, or a wrong setting"),
    500001: ("ACL_ERROR_FAILURE", "a wrong value in the init file"),
    507000: ("ACL_ERROR_RT_INTERNAL_ERROR", "internal error"),
    507007: ("ACL_ERROR_RT_CONTEXT_RELEASE_ERROR", "released already"),
    507012: ("ACL_ERROR_RT_REPORT_TIMEOUT", "no callback came in time"),
    507033: ("ACL_ERROR_RT_DEV_SETUP_ERROR", "a wrong setting"),
    507046: ("ACL_ERROR_RT_STREAM_SYNC_TIMEOUT", "the stream or device was not done in time"),
    507047: ("ACL_ERROR_RT_EVENT_SYNC_TIMEOUT", "the event was not done in time"),
    507052: ("ACL_ERROR_RT_COPY_DATA", "the host has no memory left for a copy"),
    507899: ("ACL_ERROR_RT_DRV_INTERNAL_ERROR", "a range that cannot be copied or filled"),
    507910: ("ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "the host range is registered already"),
    507911: ("ACL_ERROR_HOST_MEMORY_NOT_REGISTERED", "the host range was never registered"),
}
