#include "runtime/context.h"

#include <utility>

namespace belay {
namespace {

constinit thread_local Context* t_bound = nullptr;

std::shared_ptr<Context>& owner() {
  thread_local std::shared_ptr<Context> context;  // keeps it alive while this thread is bound
  return context;
}

}  // namespace

Context* Contexts::bound() { return t_bound; }

void Contexts::bind(std::shared_ptr<Context> context) {
  t_bound = context.get();
  owner() = std::move(context);
}

std::shared_ptr<Context> Contexts::create(std::uint32_t device, bool primary) {
  const std::lock_guard lock{mutex_};
  const Handle handle = next_;
  next_ += 0x100;
  auto context = std::make_shared<Context>(device, primary, handle, handle + 0x80);
  live_.emplace(handle, context);
  return context;
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
  context->alive.store(false, std::memory_order_release);
  ended_.emplace(handle, context);
  if (bound() == context.get()) bind(nullptr);
  return End::Ended;
}

}  // namespace belay
