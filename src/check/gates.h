// Tasks that the program itself lets go on, or that are its own code: until they are done it may fill what is
// behind them in their stream. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace belay::check {

class Gates {
 public:
  void add(std::uint64_t task, std::uint64_t stream) {
    if (pending_.emplace(task, stream).second) ++of_stream_[stream];
  }
  void drop(std::uint64_t task) {
    const auto found = pending_.find(task);
    if (found == pending_.end()) return;
    if (--of_stream_[found->second] == 0) of_stream_.erase(found->second);
    pending_.erase(found);
  }
  bool any(std::uint64_t stream) const { return of_stream_.contains(stream); }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> pending_;  // streams
  std::unordered_map<std::uint64_t, std::size_t> of_stream_;
};

}  // namespace belay::check
