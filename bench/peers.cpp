#include "peers.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace bench {
namespace {

struct Library {
  const char *name, *file, *malloc, *free, *package;
};
constexpr Library kLibraries[] = {
    {"mimalloc", "libmimalloc.so.2", "mi_malloc", "mi_free", "libmimalloc2.0"},
    {"jemalloc", "libjemalloc.so.2", "malloc", "free", "libjemalloc2"},
    {"tcmalloc", "libtcmalloc_minimal.so.4", "tc_malloc", "tc_free", "libtcmalloc-minimal4"},
};

Peers load() {
  Peers found{{DeviceAllocator{}, HostAllocator{"glibc", std::malloc, std::free}}, {}};
  for (const Library& each : kLibraries) {
    // Local: its malloc must not become that of the program.
    void* library = dlopen(each.file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      found.missing.push_back(fmt::format("{} (package {}): {}", each.name, each.package, dlerror()));
      continue;
    }
    const auto malloc = reinterpret_cast<void* (*)(std::size_t)>(dlsym(library, each.malloc));
    const auto free = reinterpret_cast<void (*)(void*)>(dlsym(library, each.free));
    if (malloc == nullptr || free == nullptr)
      found.missing.push_back(fmt::format("{}: {} has no {}", each.name, each.file, each.malloc));
    else
      found.allocators.emplace_back(HostAllocator{each.name, malloc, free});
  }
  return found;
}

}  // namespace

void fail(const char* what, aclError code) {
  const char* text = code != ACL_SUCCESS ? aclGetRecentErrMsg() : nullptr;
  fmt::print(stderr, "{} failed{}\n{}\n", what, code != ACL_SUCCESS ? fmt::format(" with {}", code) : "",
             text != nullptr ? text : "");
  std::_Exit(1);  // other threads may be in the middle of their loops
}

const Peers& peers() {
  static const Peers all = load();
  return all;
}

void use_device() {
  static const bool started = [] {
    check(aclInit(nullptr), "aclInit");
    return true;
  }();
  thread_local bool bound = false;
  if (bound || !started) return;
  check(aclrtSetDevice(0), "aclrtSetDevice");
  bound = true;
}

void make_room_for_peers(char** arguments) {
  constexpr const char* kVariable = "GLIBC_TUNABLES";
  constexpr const char* kRoom = "glibc.rtld.optional_static_tls=16384";
  const char* set = std::getenv(kVariable);
  if (set != nullptr && std::strstr(set, "optional_static_tls") != nullptr) return;
  const std::string all = set != nullptr && *set != '\0' ? fmt::format("{}:{}", set, kRoom) : kRoom;
  setenv(kVariable, all.c_str(), 1);
  execv("/proc/self/exe", arguments);
  fail("starting anew with room for jemalloc");
}

}  // namespace bench
