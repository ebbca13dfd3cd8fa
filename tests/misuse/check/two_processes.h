// Programs of two processes on one machine: one that gives memory away, and one that makes the mistake, which
// is the one that this began as.
#pragma once

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

// A way to the other process.
class Way {
 public:
  explicit Way(int end) : end_{end} {}
  template <class T>
  void say(const T& what) const {
    must(::send(end_, &what, sizeof what, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof what));
  }
  template <class T>
  T hear() const {
    T what{};
    must(::recv(end_, &what, sizeof what, MSG_WAITALL) == static_cast<ssize_t>(sizeof what));
    return what;
  }

 private:
  int end_;
};

struct Key {
  char text[65];
};

// Before the first call of AscendCL: a child cannot use what its parent has.
template <class Giver, class Taker>
int in_two_processes(Giver&& giver, Taker&& taker) {
  int ends[2];
  must(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const pid_t child = ::fork();
  must(child >= 0);
  ::close(ends[child == 0 ? 0 : 1]);
  if (child == 0) {
    giver(Way{ends[1]});
    return 0;
  }
  taker(Way{ends[0]});
  int status = 0;
  must(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}

// Gives a block of device 0 away by a key, until the other has done with it.
inline void give_by_key(const Way& other, std::size_t bytes = kGranule) {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, bytes, 7, bytes));
  Key key;
  must(aclrtIpcMemGetExportKey(block, bytes, key.text, sizeof key.text,
                               ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
  other.say(key);
  (void)other.hear<bool>();
  must(aclrtIpcMemClose(key.text));
  must(aclrtFree(block));
}

inline aclrtDrvMemHandle physical_memory(std::uint32_t device = 0) {
  aclrtPhysicalMemProp prop{ACL_MEM_HANDLE_TYPE_NONE,
                            ACL_MEM_ALLOCATION_TYPE_PINNED,
                            ACL_HBM_MEM_HUGE,
                            {device, ACL_MEM_LOCATION_TYPE_DEVICE},
                            0};
  aclrtDrvMemHandle handle = nullptr;
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
  return handle;
}

// The same with physical memory of device 0, by its share value.
inline void give_by_share_value(const Way& other) {
  const Device device;
  const aclrtDrvMemHandle handle = physical_memory();
  std::uint64_t value = 0;
  must(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE,
                                       ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, &value));
  other.say(value);
  (void)other.hear<bool>();
  must(aclrtFreePhysical(handle));
}
