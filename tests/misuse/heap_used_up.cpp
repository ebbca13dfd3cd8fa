// a program whose heap is used up gets a code from every call, from whichever allocation on it fails.
//
// malloc and its like are this program's own. In each round a child lets so many allocations succeed and no
// more, and makes all calls; it must come to its end.
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "support/scratch.h"
#include "support/slices.h"

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<long> g_left{-1};  // allocations that may still succeed; negative: all
std::atomic<bool> g_failed{false};

bool may_have() {
  long left = g_left.load();
  while (left > 0 && !g_left.compare_exchange_weak(left, left - 1)) {
  }
  if (left != 0) return true;
  g_failed.store(true);
  errno = ENOMEM;
  return false;
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) { return may_have() ? __libc_malloc(size) : nullptr; }
void* calloc(std::size_t count, std::size_t size) {
  return may_have() ? __libc_calloc(count, size) : nullptr;
}
void* realloc(void* from, std::size_t size) { return may_have() ? __libc_realloc(from, size) : nullptr; }
void* memalign(std::size_t align, std::size_t size) {
  return may_have() ? __libc_memalign(align, size) : nullptr;
}
void* aligned_alloc(std::size_t align, std::size_t size) { return memalign(align, size); }
int posix_memalign(void** out, std::size_t align, std::size_t size) {
  void* made = memalign(align, size);
  if (made == nullptr) return ENOMEM;
  *out = made;
  return 0;
}
}

namespace {

char g_last[64];  // for the parent to name, in memory that both see
char* g_where = g_last;

void note(const char* call) { std::strncpy(g_where, call, sizeof g_last - 1); }

// Any code will do, but no other end.
#define CALL(...)        \
  do {                   \
    note(#__VA_ARGS__);  \
    (void)(__VA_ARGS__); \
  } while (false)

void nothing(void*) {}

void make_all_calls() {
  void *block = nullptr, *other = nullptr, *pinned = nullptr;
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtNotify notify = nullptr;
  aclrtContext context = nullptr;
  std::size_t free = 0, total = 0;
  std::uint32_t count = 0, model = 0;
  aclrtPtrAttributes attributes{};
  CALL(aclInit(nullptr));
  CALL(aclrtGetDeviceCount(&count));
  CALL(aclrtGetSocName());
  CALL(aclrtSetDevice(0));
  CALL(aclGetRecentErrMsg());
  CALL(aclrtCreateContext(&context, 0));
  CALL(aclrtSetCurrentContext(context));
  CALL(aclrtCreateStream(&stream));
  CALL(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  CALL(aclrtCreateNotify(&notify, 0));
  CALL(aclrtMalloc(&block, 3000000, ACL_MEM_MALLOC_HUGE_FIRST));
  CALL(aclrtMalloc(&other, 100, ACL_MEM_MALLOC_NORMAL_ONLY));
  CALL(aclrtMalloc(nullptr, 100, ACL_MEM_MALLOC_NORMAL_ONLY));
  CALL(aclGetRecentErrMsg());
  CALL(aclrtMallocHost(&pinned, 100000));
  CALL(aclrtMemset(block, 3000000, 1, 3000000));
  CALL(aclrtMemcpy(pinned, 100000, block, 100000, ACL_MEMCPY_DEVICE_TO_HOST));
  CALL(aclrtMemcpyAsync(block, 100000, pinned, 100000, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  CALL(aclrtRecordEvent(event, stream));
  CALL(aclrtStreamWaitEvent(stream, event));
  CALL(aclrtMemsetAsync(block, 4096, 2, 4096, stream));
  CALL(aclrtLaunchHostFunc(stream, nothing, nullptr));
  CALL(aclrtSynchronizeStreamWithTimeout(stream, 2000));
  CALL(aclrtQueryEventStatus(event, nullptr));
  CALL(aclrtPointerGetAttributes(block, &attributes));
  CALL(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  CALL(aclmdlLoadFromFile("model.om", &model));
  CALL(aclCreateDataBuffer(block, 64));
  CALL(aclrtFree(block));
  CALL(aclrtFree(block));
  CALL(aclrtFree(other));
  CALL(aclGetRecentErrMsg());
  CALL(aclrtFreeHost(pinned));
  CALL(aclrtDestroyNotify(notify));
  CALL(aclrtDestroyEvent(event));
  CALL(aclrtDestroyStream(stream));
  CALL(aclrtDestroyContext(context));
  CALL(aclrtResetDevice(0));
  CALL(aclFinalize());
  CALL(aclInit(nullptr));
}

}  // namespace

int main() {
  void* shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  g_where = static_cast<char*>(shared);
  const belay_test::Scratch logs;
  ::setenv("BELAY_LEAKS", "off", 1);
  ::setenv("ASCEND_PROCESS_LOG_PATH", logs.path().c_str(), 1);
  int wrong = 0;
  long rounds = 0;
  // Again and again, because threads of the runtime's own allocate, too.
  long passes = belay_test::slice(2L, 30);
  for (long allowed = 0; wrong < 5; ++allowed, ++rounds) {
    std::memset(shared, 0, 4096);
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      g_left.store(allowed);
      make_all_calls();
      ::_exit(g_failed.load() ? 0 : 10);  // 10: there was enough
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child) return 2;
    std::filesystem::remove_all(logs.path() / "debug");  // else each looks through one file more
    if (WIFEXITED(status) && WEXITSTATUS(status) == 10) {
      if (--passes == 0) break;
      allowed = -1;
      continue;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    ++wrong;
    std::printf("FAILED: R-15: after %ld allocations that succeeded, %s ended the program (status %#x)\n",
                allowed, g_where, static_cast<unsigned>(status));
  }
  std::printf("%ld rounds, %d wrong\n", rounds, wrong);
  return wrong == 0 && rounds > 20 ? 0 : 1;
}
