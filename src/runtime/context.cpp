#include "runtime/context.h"

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "memory/thread_cache.h"
#include "platform/thread_end.h"

namespace belay {

constinit thread_local Context* t_bound = nullptr;

namespace {

// Keeps the context alive while this thread is bound to it. That of the main thread stays: static
// destructors may still call.
constinit thread_local std::shared_ptr<Context>* t_kept = nullptr;
// Where it is: without the heap, which may be used up, and without a destructor (platform/thread_end.h).
alignas(std::shared_ptr<Context>) constinit thread_local std::byte t_room[sizeof(std::shared_ptr<Context>)]{};

constinit thread_local Handle t_lost = 0;

void let_go() {
  t_bound = nullptr;
  ThreadCache::forget_device();
  if (t_kept != nullptr) std::destroy_at(std::exchange(t_kept, nullptr));
}

std::atomic<Handle> g_next_handle{0xBE1A00001000};

}  // namespace

Handle new_handle() { return g_next_handle.fetch_add(0x100, std::memory_order_relaxed); }

Handle Contexts::lost() { return t_lost; }

void Contexts::lose() {
  t_lost = bound()->handle;
  bind(nullptr);
}

std::shared_ptr<Context> Contexts::bind(std::shared_ptr<Context> context) {
  if (t_kept == nullptr) {
    t_kept = new (t_room) std::shared_ptr<Context>;
    (void)platform::at_thread_end(let_go);  // else it stays
  }
  t_bound = context.get();
  if (t_bound != nullptr) t_lost = 0;
  ThreadCache::forget_device();
  return std::exchange(*t_kept, std::move(context));
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
