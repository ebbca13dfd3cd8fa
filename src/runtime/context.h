// Contexts, and which one each thread works in.
//
// A thread has one binding: none, the default context of a device, or an explicit one. Reading
// it is one thread-local load and one flag. Handles are numbers of our own that are never used twice,
// so a stale or made-up one is found out by looking it up, not by following it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace belay {

using Handle = std::uintptr_t;

struct Context {
  Context(std::uint32_t on_device, bool is_primary, Handle own, Handle stream)
      : device{on_device}, primary{is_primary}, handle{own}, default_stream{stream} {}

  const std::uint32_t device;
  const bool primary;
  const Handle handle, default_stream;
  std::atomic<bool> alive{true};
  std::mutex mutex;
  std::array<std::optional<std::int64_t>, 3> parameters;
};

class Contexts {
 public:
  std::shared_ptr<Context> create(std::uint32_t device, bool primary);

  // A live context by its handle, or null.
  std::shared_ptr<Context> find(Handle handle) const;
  enum class End : std::uint8_t { Ended, Unknown, EndedButBound };
  End end(Handle handle);

  // The calling thread's binding. `bound` may be dead; `current` is null then.
  static Context* bound();
  static Context* current() {
    Context* context = bound();
    return context != nullptr && context->alive.load(std::memory_order_acquire) ? context : nullptr;
  }
  static void bind(std::shared_ptr<Context> context);  // null: unbind

 private:
  mutable std::mutex mutex_;
  std::map<Handle, std::shared_ptr<Context>> live_;
  std::map<Handle, std::weak_ptr<Context>> ended_;  // still bound by some thread
};

}  // namespace belay
