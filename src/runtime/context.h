// Contexts, and which one each thread works in.
//
// A thread has one binding: none, the default context of a device, or an explicit one. Reading
// it is one thread-local load and one flag.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "memory/fast_path_state.h"
#include "runtime/handles.h"
#include "runtime/streams.h"

namespace belay {

struct Context {
  Context(bool is_primary, std::shared_ptr<schedule::Group> of, StreamRef stream)
      : device{of->device},
        primary{is_primary},
        handle{new_handle()},
        group{std::move(of)},
        default_stream{std::move(stream)} {}

  const std::uint32_t device;
  const bool primary;
  const Handle handle;
  const std::shared_ptr<schedule::Group> group;  // of its streams
  const StreamRef default_stream;
  std::atomic<bool> alive{true};
  std::mutex mutex;
  std::array<std::optional<std::int64_t>, 3> parameters;
};

// Reached without a call.
extern constinit thread_local Context* t_bound __attribute__((tls_model("initial-exec")));

class Contexts {
 public:
  std::shared_ptr<Context> add(bool primary, std::shared_ptr<schedule::Group> group,
                               StreamRef default_stream);

  std::vector<std::shared_ptr<Context>> all() const;
  // A live context by its handle, or null.
  std::shared_ptr<Context> find(Handle handle) const;
  enum class End : std::uint8_t { Ended, Unknown, EndedButBound };
  // Takes it from the program: nobody can bind it any more. Functions that its streams still call find it
  // current until it is dead.
  End end(Handle handle);
  static void reap(Context& context) {
    context.alive.store(false, std::memory_order_seq_cst);
    FastPathState::next_epoch();  // threads that are bound to it look again
  }

  // The calling thread's binding. `bound` may be dead; `current` is null then.
  static Context* bound() { return t_bound; }
  static Context* current() {
    Context* context = bound();
    return context != nullptr && context->alive.load(std::memory_order_acquire) ? context : nullptr;
  }
  static std::shared_ptr<Context> bind(std::shared_ptr<Context> context);  // null: unbind; returns the former
  // The thread's context was ended by somebody else: it has none from now on, and remembers which.
  static void lose();
  static Handle lost();  // 0: none, or it was bound to another since

 private:
  mutable std::mutex mutex_;
  std::map<Handle, std::shared_ptr<Context>> live_;
  std::map<Handle, std::weak_ptr<Context>> ended_;  // still bound by some thread
};

}  // namespace belay
