// Why memory cannot be shared or imported, said once for handles and keys.
#pragma once

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/error.h"
#include "memory/backing_store.h"

namespace belay {

inline Refusal no_room_for_shares(const char* rule) {
  return refuse({ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, rule, "EE1023",
                 fmt::format("the emulated machine has no room for more that processes share: {} values and "
                             "keys, {} pieces of memory",
                             machine::kShares, machine::kExtents),
                 "", "close keys with aclrtIpcMemClose and free memory that was shared"});
}

inline Refusal why_not_shared(const char* rule, const BackingStore& backing, Position at) {
  if (backing.keeps_bytes() && !at.file->bytes().is_file()) {
    return unsupported(rule, "the memory is in no file that another process could open",
                       "raise the limit on file sizes (ulimit -f) before the program starts");
  }
  if (backing.pool_is_limit()) {
    return unsupported(
        rule, "the memory is in pages of the kernel's pool (BELAY_PAGES=hugetlb), which are in no file",
        "unset BELAY_PAGES for programs that share memory");
  }
  return no_room_for_shares(rule);
}

inline Refusal share_is_unknown(const char* rule, std::string_view why) {
  return refuse({ACL_ERROR_RT_INVALID_HANDLE, rule, "EE1018",
                 fmt::format("the share value is not known: {}", why), "",
                 "import a value that a process on the same emulated machine (BELAY_MACHINE) exported, while "
                 "the memory exists"});
}

// The file of another process does not open.
inline Refusal cannot_open(const char* rule, std::int32_t process, int why) {
  const std::string about = fmt::format("/proc/{}/fd", process);
  const auto refusal = [&](std::string cause, std::string solution) {
    Refusal made = driver_refuses(
        rule,
        fmt::format("the memory of process {} cannot be opened ({})", process,
                    why == 0 ? std::string{"it is gone"} : std::generic_category().message(why)),
        std::move(solution));
    made->cause = std::move(cause);
    return made;
  };
  if (why == EACCES || why == EPERM) {
    return refusal(fmt::format("the kernel keeps others out of {}: the process cannot be traced "
                               "(PR_SET_DUMPABLE is 0, or it is set-uid), or belongs to another user",
                               about),
                   "let the exporting process stay dumpable: prctl(PR_SET_DUMPABLE, 1)");
  }
  if (why == EMFILE || why == ENFILE) {
    return refusal("each process whose memory is imported takes a descriptor, and the limit is met",
                   "raise the limit on open files (ulimit -n)");
  }
  return refusal(fmt::format("the process has ended, has closed its descriptors, or has other process "
                             "numbers than this one (another pid namespace), so that {} is not its own",
                             about),
                 "import while the exporting process runs, in the same pid namespace");
}

}  // namespace belay
