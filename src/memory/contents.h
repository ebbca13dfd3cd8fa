// The bytes of device memory.
//
// Host code cannot touch a device address; the runtime reaches the bytes through views of its own.
// Memory is committed when it is first written, granule by granule. Until then it reads as a pattern:
// fresh memory is not initialised, and never happens to be zero (M-13). Freed memory keeps its pages
// for the next user up to a bound; beyond it they go back to the system at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/heap_map.h"
#include "platform/shared_bytes.h"

namespace belay {

inline constexpr unsigned char kFreshByte = 0xBE;

enum class HostAccess : std::uint8_t { Deny, Allow };

class Contents {
 public:
  Contents(HeapMap& map, HostAccess access, std::size_t keep_bytes);

  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  ~Contents();

  // All ranges must be allocated: the caller has looked (transfer.h).
  bool write(std::uintptr_t to, const void* from, std::size_t bytes);
  bool read(std::uintptr_t from, void* to, std::size_t bytes);
  bool fill(std::uintptr_t to, unsigned char value, std::size_t bytes);
  bool fill32(std::uintptr_t to, std::uint32_t value, std::size_t words);
  bool copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes);  // as if through a temporary

  // A block begins or ends here.
  bool begin(std::uintptr_t start, std::size_t bytes, bool read_only);
  void end(std::uintptr_t start, std::size_t bytes, bool read_only);

  bool host_may_touch() const { return access_ == HostAccess::Allow; }
  std::size_t committed() const { return file_.committed(); }
  void abandon() { file_.abandon(); }

 private:
  static bool start_table(Heap& heap, std::uint8_t shift);
  bool carve(Heap& heap, std::size_t index, HeapClass heap_class);
  bool prepare(Heap& heap, std::uintptr_t start);
  bool all_committed(const Heap& heap, std::size_t offset, std::size_t bytes) const;
  std::size_t count_committed(const Heap& heap, std::size_t offset, std::size_t bytes) const;
  bool commit(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes);
  bool put(Heap& heap, std::size_t index, std::size_t offset, const void* from, std::size_t bytes);
  bool let_host_touch(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes, bool read_only);
  void discard(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes);

  template <class Do>
  bool by_heap(std::uintptr_t address, std::size_t bytes, Do&& act);

  HeapMap& map_;
  HostAccess access_;
  std::size_t keep_bytes_;
  platform::SharedBytes file_;
  std::mutex committing_;
  std::vector<std::unique_ptr<std::atomic<std::uint64_t>, void (*)(void*)>> old_tables_;
  std::atomic<std::size_t> idle_{0};  // committed bytes that belong to no block
};

}  // namespace belay
