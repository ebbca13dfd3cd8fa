#include "runtime/context.h"

#include <utility>
#include <vector>

#include "memory/thread_cache.h"
#include "platform/process.h"

namespace belay {

constinit thread_local Context* t_bound = nullptr;

namespace {

// Keeps the context alive while this thread is bound to it. The main thread's objects are destroyed
// before static destructors run, which may still call: its last context is kept for ever then.
constinit thread_local bool t_owner_gone = false;

void keep_for_ever(std::shared_ptr<Context> context) {
  static auto* kept = new std::vector<std::shared_ptr<Context>>;
  static auto* mutex = new std::mutex;
  const std::lock_guard lock{*mutex};
  kept->push_back(std::move(context));
}

struct Owner {
  std::shared_ptr<Context> context;
  ~Owner() {
    t_owner_gone = true;
    if (platform::process_id() == platform::thread_id()) {
      if (context != nullptr) keep_for_ever(std::move(context));
    } else {
      t_bound = nullptr;
      ThreadCache::forget_device();
    }
  }
};
Owner& owner() {
  thread_local Owner one;
  return one;
}

std::atomic<Handle> g_next_handle{0xBE1A00001000};

}  // namespace

Handle new_handle() { return g_next_handle.fetch_add(0x100, std::memory_order_relaxed); }

std::shared_ptr<Context> Contexts::bind(std::shared_ptr<Context> context) {
  t_bound = context.get();
  ThreadCache::forget_device();
  if (!t_owner_gone) return std::exchange(owner().context, std::move(context));
  if (context != nullptr) keep_for_ever(std::move(context));
  return nullptr;
}

std::shared_ptr<Context> Contexts::add(bool primary, std::shared_ptr<schedule::Group> group,
                                       StreamRef default_stream) {
  auto context = std::make_shared<Context>(primary, std::move(group), std::move(default_stream));
  const std::lock_guard lock{mutex_};
  live_.emplace(context->handle, context);
  return context;
}

std::vector<std::shared_ptr<Context>> Contexts::all() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::shared_ptr<Context>> contexts;
  for (const auto& [handle, context] : live_) contexts.push_back(context);
  return contexts;
}

std::shared_ptr<Context> Contexts::find(Handle handle) const {
  const std::lock_guard lock{mutex_};
  const auto found = live_.find(handle);
  return found == live_.end() ? nullptr : found->second;
}

Contexts::End Contexts::end(Handle handle) {
  const std::lock_guard lock{mutex_};
  std::erase_if(ended_, [](const auto& entry) { return entry.second.expired(); });
  const auto found = live_.find(handle);
  if (found == live_.end()) return ended_.contains(handle) ? End::EndedButBound : End::Unknown;
  const std::shared_ptr<Context> context = std::move(found->second);
  live_.erase(found);
  ended_.emplace(handle, context);
  if (bound() == context.get()) bind(nullptr);
  return End::Ended;
}

}  // namespace belay
