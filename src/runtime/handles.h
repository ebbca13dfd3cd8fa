// Handles: numbers of our own that are never used twice, so that a stale or made-up one is found out by
// looking it up, not by following it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace belay {

using Handle = std::uintptr_t;

// Of any kind. Not even used twice across a fork: the parent's handles mean nothing in the child.
Handle new_handle();

template <class T>
class HandleTable {
 public:
  std::shared_ptr<T> find(Handle handle) const {
    const std::shared_lock lock{mutex_};
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  void add(Handle handle, std::shared_ptr<T> object) {
    const std::unique_lock lock{mutex_};
    objects_.emplace(handle, std::move(object));
  }
  // The object, for the one caller that takes it away.
  std::shared_ptr<T> take(Handle handle) {
    const std::unique_lock lock{mutex_};
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  template <class Act>
  void each(Act&& act) const {
    const std::shared_lock lock{mutex_};
    for (const auto& [handle, object] : objects_) act(handle, *object);
  }
  template <class Wanted>
  std::vector<std::shared_ptr<T>> all(Wanted&& wanted) const {
    std::vector<std::shared_ptr<T>> chosen;
    const std::shared_lock lock{mutex_};
    for (const auto& [handle, object] : objects_) {
      if (wanted(*object)) chosen.push_back(object);
    }
    return chosen;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<Handle, std::shared_ptr<T>> objects_;
};

// Small numbers from 0, a limited count of them, the smallest free one first.
class Numbers {
 public:
  void set_limit(std::uint32_t limit) { limit_ = limit; }
  std::optional<std::uint32_t> take() {
    const std::lock_guard lock{mutex_};
    std::uint32_t number = next_;
    if (!returned_.empty()) {
      number = returned_.top();
      returned_.pop();
    } else if (next_ == limit_) {
      return std::nullopt;
    } else {
      ++next_;
    }
    ++used_;
    return number;
  }
  void give(std::uint32_t number) {
    const std::lock_guard lock{mutex_};
    returned_.push(number);
    --used_;
  }
  std::uint32_t available() const {
    const std::lock_guard lock{mutex_};
    return limit_ - used_;
  }

 private:
  std::uint32_t limit_ = 0;
  mutable std::mutex mutex_;
  std::uint32_t next_ = 0, used_ = 0;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> returned_;
};

}  // namespace belay
