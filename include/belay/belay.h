/*
 * belay's own functions, for test programs and tools. None of them exists in a CANN toolkit: a program that must
 * run on both looks them up with dlsym.
 */
#ifndef BELAY_BELAY_H_
#define BELAY_BELAY_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Page-locked host memory, in place of a device number. */
enum { BELAY_HOST = -1 };

/*
 * Ends everything that this process has (streams, contexts, devices, every block of device and page-locked memory,
 * the count of aclInit, messages) and leaves the emulated machine. The next call starts again, with the settings that
 * the environment has then. Older handles and addresses are invalid. No other thread may be inside a call, and a
 * callback or host function must not call it (507000).
 */
ACL_FUNC_VISIBILITY int belay_end(void);

/* The same, and starts again at once. Returns 0, or an error code if the new settings are wrong; aclGetRecentErrMsg
 * returns the message. */
ACL_FUNC_VISIBILITY int belay_restart(void);

/* A number that rises with every end and restart, and in the child of a fork: objects that were made under another
 * number are gone. */
ACL_FUNC_VISIBILITY uint64_t belay_generation(void);

/* Number of devices that this process sees. */
ACL_FUNC_VISIBILITY uint32_t belay_device_count(void);

/* Starts to record peaks and serial numbers of blocks; the functions below do so by themselves. Opens no device, so it
 * can be called before anything else. */
ACL_FUNC_VISIBILITY void belay_watch(void);

/* What this process holds on a device: blocks and physical memory. Bytes are charged bytes: whole pages. */
typedef struct belayUse {
    size_t blocks;
    size_t bytes;
    size_t peakBytes; /* the most since the start or belay_reset_peak */
} belayUse;

/* Both return 0, or -1 if there is no such device. They need no context and open no device. */
ACL_FUNC_VISIBILITY int belay_memory_use(int32_t device, belayUse *use);
ACL_FUNC_VISIBILITY int belay_reset_peak(int32_t device);

typedef struct belayBlock {
    uint64_t address; /* of physical memory: its handle */
    size_t asked;    /* by the caller */
    size_t bytes;    /* charged */
    size_t pageSize;
    uint64_t serial; /* rises with every allocation, from 1 at each start */
} belayBlock;

/* Writes up to `room` live blocks and returns how many there are; SIZE_MAX if there is no such device. */
ACL_FUNC_VISIBILITY size_t belay_blocks(int32_t device, belayBlock *blocks, size_t room);

/*
 * What was found so far in a program that is checked (BELAY_CHECK, `belay check`): each mistake once for each place in
 * the program. The strings live as long as the process.
 */
typedef struct belayFinding {
    const char *id;        /* "double-free" */
    const char *className; /* "lifetime" */
    const char *rule;      /* "M-111", or empty */
    const char *function;  /* of AscendCL; empty if none was called */
    const char *text;      /* all of it, as it is printed: several lines */
    uint64_t count;        /* how often, up to now, without those that were accepted */
    int fails;             /* whether it decides the exit code */
} belayFinding;

/* Writes up to `room` of them, from number `from` on, the first of which is 0, and returns how many there are in all. */
ACL_FUNC_VISIBILITY size_t belay_findings(size_t from, belayFinding *findings, size_t room);

/* For a test that makes a mistake on purpose: takes `times` off the count of the finding with this number, and returns
 * what is left. A finding whose count is 0 decides no exit code and is not in the verdict of `belay check`. */
ACL_FUNC_VISIBILITY uint64_t belay_accept_finding(size_t number, uint64_t times);

/* Looks for what can only be seen at an end: errors that this thread and others that are gone never asked for. */
ACL_FUNC_VISIBILITY void belay_end_of_test(void);

/* Sets a mark, and returns how many objects (blocks, streams, mappings, ...) are alive that were made since the mark
 * before. In a program that is checked for leaks, each group of them is a finding. The first mark returns 0. */
ACL_FUNC_VISIBILITY size_t belay_mark(void);

/*
 * For traces (BELAY_TRACE, `belay run --trace`): names of the program's own. Without a trace they do nothing. A range is
 * of the thread that begins it, and lies within the one that it has begun before. Names are copied.
 */
ACL_FUNC_VISIBILITY void belay_range_push(const char *name);
ACL_FUNC_VISIBILITY void belay_range_pop(void);
/* What the program calls the block around an address, such as "kv-cache". Returns 0, or -1 if no block is there. */
ACL_FUNC_VISIBILITY int belay_label(const void *address, const char *name);
/* Begins a trace of this process in a file, anew, with the blocks that are alive; no other thread may allocate or free
 * meanwhile. `limit`: the most bytes of the file, 0: 1 GB. NULL in place of the file ends the trace. Returns 0, or an
 * error code; aclGetRecentErrMsg returns the message. */
ACL_FUNC_VISIBILITY int belay_trace(const char *file, uint64_t limit);

/* One part of a block that a program cuts itself. */
typedef struct belaySegment {
    size_t offset; /* from the base */
    size_t bytes;  /* that are used */
} belaySegment;

/*
 * Whether a plan for cutting a block into segments keeps to the rule of the documents (M-45): each takes its bytes
 * rounded up to 32, plus 32, begins at a multiple of 64 (media memory: 128), and the last one ends in the block. `base`
 * is an address in the block, from which offsets count; segments may come in any order. Memory of the host needs no
 * such room: there they must only not overlap. Returns 0, or an error code; aclGetRecentErrMsg returns what is wrong
 * with the first that is, and in a program that is checked it is a finding.
 */
ACL_FUNC_VISIBILITY int belay_check_segments(const void *base, const belaySegment *segments, size_t count);

/* Where in the program the block around an address was allocated, and freed if it is: lines of text with function, file
 * and line. Like snprintf: writes at most `room` bytes with the final 0, and returns the length of the whole text; 0 if
 * that is not known (BELAY_STACKS is off, or there never was a block). */
ACL_FUNC_VISIBILITY size_t belay_block_site(const void *address, char *text, size_t room);

/* Whether host code may read and write at an address, as far as the runtime knows: 0 for device memory, unless
 * BELAY_HOST_ACCESS=allow is set or host and device are one (BELAY_FORM). */
ACL_FUNC_VISIBILITY int belay_host_may_touch(const void *address);
/* Whether host code may read and write device memory. */
ACL_FUNC_VISIBILITY int belay_host_may_touch_devices(void);

/* Sets a function that is called for each callback of aclrtLaunchCallback that was accepted and will never run, because
 * its stream or its subscription ended first. It may be called on any thread, while the runtime holds a lock: it must
 * neither wait nor call any function of the runtime. NULL removes it. */
ACL_FUNC_VISIBILITY void belay_on_dropped_callback(void (*told)(void (*fn)(void *), void *userData));

/* For interpreters: sets a function that is asked for the frames of the calling thread, whenever a listener needs to
 * know where in the program a call was made. It writes at most `room` numbers of its own, innermost first, and
 * returns how many there are; the same place must have the same number. It runs inside the call, on its thread: it must
 * not call any function of the runtime. NULL removes it. */
ACL_FUNC_VISIBILITY void belay_on_call_site(size_t (*frames)(uint64_t *numbers, size_t room));

/* What one of these numbers means. The words must live as long as the process; a frame without a file has NULL there. */
typedef struct belayFrame {
    const char *function;
    const char *file;
    uint32_t line;
} belayFrame;

/* Sets the function that tells: it returns 0 if it knows the number. It is asked at any time, on any thread, even in a
 * signal handler: it must neither wait nor allocate nor call any function of the runtime. NULL removes it. */
ACL_FUNC_VISIBILITY void belay_on_frame(int (*describe)(uint64_t number, belayFrame *frame));

/* How many frames of a stack are kept (BELAY_STACKS): 0 if nobody asks for any, -1 if that is not known yet, because the
 * next call will start the runtime. */
ACL_FUNC_VISIBILITY int belay_stack_frames(void);

/* Does what a function of AscendCL does that belay does not implement: returns 207000, with a message, and prints one
 * line on stderr for the first in a process. The name must live as long as the process. */
ACL_FUNC_VISIBILITY int belay_not_run(const char *function);

#ifdef __cplusplus
}
#endif

#endif
