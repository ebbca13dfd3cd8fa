#include "platform/address_space.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace belay::platform {
namespace {

// The raw call: ThreadSanitizer's interceptor drops address hints.
void* raw_mmap(std::uintptr_t at, std::size_t bytes, int flags) {
  const long got =
      ::syscall(SYS_mmap, at, bytes, PROT_NONE, flags | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return reinterpret_cast<void*>(got);
}

// Whether `has` is true for the rights ("rw-p") of any mapping in a range. `unknown` where the system does
// not tell.
template <class Has>
bool any_mapping(std::uintptr_t base, std::size_t bytes, bool unknown, Has&& has) {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return unknown;
  bool found = false;
  char line[512];
  while (!found && std::fgets(line, sizeof line, maps) != nullptr) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char rights[8] = "";
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, rights) != 3) continue;
    found = from < base + bytes && to > base && has(rights);
  }
  std::fclose(maps);
  return found;
}

// Every byte unmapped or PROT_NONE? Then the numbers can be used although the range is not ours.
bool inaccessible(std::uintptr_t base, std::size_t bytes) {
  return !any_mapping(base, bytes, true,
                      [](const char* rights) { return std::strncmp(rights, "---", 3) != 0; });
}

bool under_valgrind() {
  // Valgrind needs seconds per reserved terabyte, and tells of itself through its preload.
  const char* preload = std::getenv("LD_PRELOAD");
  return preload != nullptr && std::strstr(preload, "vgpreload") != nullptr;
}

void keep_out_of_dumps_and_children(void* at, std::size_t bytes) {
  ::madvise(at, bytes, MADV_DONTDUMP);
  ::madvise(at, bytes, MADV_DONTFORK);
}

}  // namespace

AddressRange reserve_addresses(std::span<const AddressWish> wishes, bool to_map) {
  const bool may_map = !under_valgrind();
  for (const auto& [base, bytes] : wishes) {
    if (may_map || base == 0) {
      void* got = raw_mmap(base, bytes, base == 0 ? 0 : MAP_FIXED_NOREPLACE);
      const bool mapped = reinterpret_cast<long>(got) > 0;
      if (mapped && (base == 0 || got == reinterpret_cast<void*>(base))) {
        keep_out_of_dumps_and_children(got, bytes);
        return {reinterpret_cast<std::uintptr_t>(got), bytes, true};
      }
      if (mapped) ::munmap(got, bytes);  // kernels before 4.17
    }
    if (base != 0 && !to_map && inaccessible(base, bytes)) return {base, bytes, false};
  }
  return {};
}

bool has_unwritable_part(std::uintptr_t start, std::size_t bytes) {
  return any_mapping(start, bytes, false, [](const char* rights) { return rights[1] != 'w'; });
}

void release_addresses(const AddressRange& range) {
  if (range.reserved) ::munmap(reinterpret_cast<void*>(range.base), range.bytes);
}

bool map_memory(std::uintptr_t start, std::size_t bytes, bool reserved) {
  const long got = ::syscall(
      SYS_mmap, start, bytes, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (reserved ? MAP_FIXED : MAP_FIXED_NOREPLACE), -1, 0);
  if (got <= 0) return false;
  if (got != static_cast<long>(start)) {  // kernels before 4.17
    ::munmap(reinterpret_cast<void*>(got), bytes);
    return false;
  }
  keep_out_of_dumps_and_children(reinterpret_cast<void*>(start), bytes);
  return true;
}

AddressRange reserve_for_memory(std::span<const AddressWish> wishes) {
  for (const AddressWish& wish : wishes) {
    const AddressRange range = reserve_addresses({&wish, 1});
    if (range.base == 0) continue;
    if (range.reserved) return range;
    if (!map_memory(range.base, 2_MiB, false)) continue;
    hide_pages(range.base, 2_MiB, false);
    return range;
  }
  return {};
}

void hide_pages(std::uintptr_t start, std::size_t bytes, bool reserved) {
  if (!reserved) {
    ::munmap(reinterpret_cast<void*>(start), bytes);
    return;
  }
  void* hidden = raw_mmap(start, bytes, MAP_FIXED);
  if (reinterpret_cast<long>(hidden) <= 0) {
    // The limit on mappings is met: without them there is room for one in their place, and if not, what is
    // not mapped faults as well.
    ::munmap(reinterpret_cast<void*>(start), bytes);
    hidden = raw_mmap(start, bytes, MAP_FIXED_NOREPLACE);
  }
  if (reinterpret_cast<long>(hidden) > 0) keep_out_of_dumps_and_children(hidden, bytes);
}

std::optional<std::size_t> most_mappings() {
  std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re");
  if (file == nullptr) return std::nullopt;
  std::size_t most = 0;
  const bool read = std::fscanf(file, "%zu", &most) == 1;
  std::fclose(file);
  return read ? std::optional{most} : std::nullopt;
}

bool protect_pages(void* start, std::size_t bytes, bool writable) {
  return ::mprotect(start, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

}  // namespace belay::platform
