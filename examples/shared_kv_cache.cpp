// Two processes and one KV cache: one fills it, the other reads it, and events tell each when it may go on.
//
// So do servers for language models that prefill in one process and decode in another. The first process
// exports device memory as an IPC key, names the process that may import it, and shares two events for each
// half of the memory: that it is filled, and that it was read. The bytes never go through a pipe; only
// short messages do: that a record is queued, so that the other can queue its wait for it. Nobody polls.
//
// With the argument "dies", the first process is killed in the middle. What waits for it then fails with
// 507022, its memory is gone (507899), and the other process goes on.
//
// Both must be on one emulated machine: not with BELAY_MACHINE=private.
//
// Usage: shared_kv_cache [dies]
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr size_t kLayers = 12;
constexpr size_t kLayerBytes = 4 * 1024 * 1024;  // the KV of one layer: half of what is shared
constexpr size_t kHalves = 2;
constexpr size_t kDeathAt = 4;  // of the layers
constexpr size_t kKeyBytes = 65;

void check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d\n%s", call, code, message != nullptr ? message : "");
  std::exit(1);
}
#define CHECK(call) check(call, #call)

// Messages between the two: plain values, and whether they came.
template <class T>
void say(int to, const T& what) {
  if (send(to, &what, sizeof what, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof what)) std::exit(1);
}
template <class T>
bool hear(int from, T& what) {
  return recv(from, &what, sizeof what, MSG_WAITALL) == static_cast<ssize_t>(sizeof what);
}

struct Invitation {  // what the other process needs
  char key[kKeyBytes];
  aclrtIpcEventHandle filled[kHalves];
};
struct Reply {
  aclrtIpcEventHandle was_read[kHalves];
};

unsigned char kv_of(size_t layer) { return static_cast<unsigned char>(17 * layer + 5); }

aclrtEvent event_to_share(aclrtIpcEventHandle& handle) {
  aclrtEvent event = nullptr;
  CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
  CHECK(aclrtIpcGetEventHandle(event, &handle));
  return event;
}

// A function in the stream that ends the process: what is queued behind it never runs.
std::atomic<bool> queued_all{false};
void die(void*) {
  while (!queued_all) {
  }
  std::raise(SIGKILL);
}

// --- the process that fills ---------------------------------------------------------------------------

int prefill(int peer, bool dies) {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream));
  void *cache = nullptr, *computed[kHalves] = {};
  CHECK(aclrtMalloc(&cache, kHalves * kLayerBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  for (void*& each : computed) CHECK(aclrtMallocHost(&each, kLayerBytes));

  Invitation invitation{};
  aclrtEvent filled[kHalves], was_read[kHalves];
  for (size_t half = 0; half < kHalves; ++half) filled[half] = event_to_share(invitation.filled[half]);
  CHECK(aclrtIpcMemGetExportKey(cache, kHalves * kLayerBytes, invitation.key, kKeyBytes, 0));
  int32_t reader = 0;
  if (!hear(peer, reader)) return 1;
  CHECK(aclrtIpcMemSetImportPid(invitation.key, &reader, 1));
  say(peer, invitation);
  Reply reply{};
  if (!hear(peer, reply)) return 1;
  for (size_t half = 0; half < kHalves; ++half)
    CHECK(aclrtIpcOpenEventHandle(reply.was_read[half], &was_read[half]));

  for (size_t layer = 0; layer < kLayers; ++layer) {
    const size_t half = layer % kHalves;
    if (layer >= kHalves) {  // what was here before: our bytes are on the device, the other has read them
      size_t read = 0;
      if (!hear(peer, read)) return 1;
      CHECK(aclrtSynchronizeEvent(filled[half]));
      CHECK(aclrtStreamWaitEvent(stream, was_read[half]));
    }
    if (dies && layer == kDeathAt) CHECK(aclrtLaunchHostFunc(stream, die, nullptr));
    std::memset(computed[half], kv_of(layer), kLayerBytes);  // what a model would compute
    CHECK(aclrtMemcpyAsync(static_cast<char*>(cache) + half * kLayerBytes, kLayerBytes, computed[half],
                           kLayerBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK(aclrtRecordEvent(filled[half], stream));
    say(peer, layer);
    if (dies && layer == kDeathAt) {
      for (size_t read = 0; read < kDeathAt;) {  // until the other waits for this layer
        if (!hear(peer, read)) return 1;
      }
      queued_all = true;
      CHECK(aclrtSynchronizeStream(stream));
    }
  }

  // The importer closes first.
  size_t closed = 0;
  for (size_t left = 0; left < kHalves + 1; ++left) {
    if (!hear(peer, closed)) return 1;
  }
  CHECK(aclrtSynchronizeStream(stream));
  for (size_t half = 0; half < kHalves; ++half) {
    CHECK(aclrtDestroyEvent(filled[half]));
    CHECK(aclrtDestroyEvent(was_read[half]));
    CHECK(aclrtFreeHost(computed[half]));
  }
  CHECK(aclrtIpcMemClose(invitation.key));
  CHECK(aclrtFree(cache));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}

// --- the process that reads ---------------------------------------------------------------------------

bool all_bytes_are(const std::vector<unsigned char>& bytes, unsigned char what) {
  for (const unsigned char byte : bytes) {
    if (byte != what) return false;
  }
  return true;
}

int decode(int peer) {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream));
  void *theirs = nullptr, *own = nullptr;
  CHECK(aclrtMalloc(&own, kLayers * kLayerBytes, ACL_MEM_MALLOC_HUGE_FIRST));

  int32_t me = 0;
  CHECK(aclrtDeviceGetBareTgid(
      &me));  // as the device knows this process; in a container it differs from getpid()
  say(peer, me);
  Invitation invitation{};
  if (!hear(peer, invitation)) return 1;
  CHECK(aclrtIpcMemImportByKey(&theirs, invitation.key, 0));
  Reply reply{};
  aclrtEvent filled[kHalves], was_read[kHalves];
  for (size_t half = 0; half < kHalves; ++half) {
    CHECK(aclrtIpcOpenEventHandle(invitation.filled[half], &filled[half]));
    was_read[half] = event_to_share(reply.was_read[half]);
  }
  say(peer, reply);

  size_t read = 0, layer = 0;
  while (read < kLayers && hear(peer, layer)) {
    const size_t half = layer % kHalves;
    CHECK(aclrtStreamWaitEvent(stream, filled[half]));
    CHECK(aclrtMemcpyAsync(static_cast<char*>(own) + layer * kLayerBytes, kLayerBytes,
                           static_cast<char*>(theirs) + half * kLayerBytes, kLayerBytes,
                           ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    CHECK(aclrtRecordEvent(was_read[half], stream));
    say(peer, layer);
    ++read;
    if (aclrtSynchronizeStream(stream) == ACL_SUCCESS) continue;
    // The other process has ended, and what this stream waits for will never come.
    const char* message = aclGetRecentErrMsg();
    std::printf("layer %zu never came:\n%s", layer, message != nullptr ? message : "");
    --read;
    break;
  }

  bool good = true;
  std::vector<unsigned char> bytes(kLayerBytes);
  for (size_t i = 0; i < read; ++i) {
    CHECK(aclrtMemcpy(bytes.data(), kLayerBytes, static_cast<char*>(own) + i * kLayerBytes, kLayerBytes,
                      ACL_MEMCPY_DEVICE_TO_HOST));
    good = good && all_bytes_are(bytes, kv_of(i));
  }
  std::printf("%zu layers of %zu bytes came over: %s\n", read, kLayerBytes, good ? "as expected" : "WRONG");
  if (read < kLayers) {
    const aclError gone =
        aclrtMemcpy(bytes.data(), kLayerBytes, theirs, kLayerBytes, ACL_MEMCPY_DEVICE_TO_HOST);
    std::printf("a copy from the memory of the process that ended: %d\n", gone);
  }

  for (size_t half = 0; half < kHalves; ++half) {
    CHECK(aclrtDestroyEvent(filled[half]));
    CHECK(aclrtDestroyEvent(was_read[half]));
  }
  CHECK(aclrtIpcMemClose(invitation.key));  // also where the other has ended
  if (read == kLayers) say(peer, read);
  CHECK(aclrtFree(own));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  std::printf("done\n");
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool dies = argc > 1 && std::strcmp(argv[1], "dies") == 0;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  // Before the first call of AscendCL: a child of fork cannot use what its parent has.
  const pid_t child = fork();
  if (child < 0) return 1;
  close(ends[child == 0 ? 0 : 1]);
  if (child == 0) return prefill(ends[1], dies);
  const int result = decode(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const bool as_meant = dies ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                             : WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return as_meant ? result : 1;
}
