// What a random program knows of its memory: which bytes are written, and which queued work uses them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "acl/acl.h"

namespace planted {

// Some of the bytes of an area.
class Bytes {
 public:
  struct Run {
    std::size_t start, end;
  };

  void add(std::size_t start, std::size_t end) {
    if (start >= end) return;
    auto at = runs_.lower_bound(start);
    if (at != runs_.begin() && std::prev(at)->second >= start) --at;
    while (at != runs_.end() && at->first <= end) {
      start = std::min(start, at->first);
      end = std::max(end, at->second);
      at = runs_.erase(at);
    }
    runs_[start] = end;
  }
  void remove(std::size_t start, std::size_t end) {
    const std::map<std::size_t, std::size_t> before = std::exchange(runs_, {});
    for (const auto& [first, last] : before) {
      add(first, std::min(last, start));
      add(std::max(first, end), last);
    }
  }
  // What is known of `count` bytes of another area is known of these.
  void carry(std::size_t start, const Bytes& other, std::size_t from, std::size_t count) {
    remove(start, start + count);
    for (const auto& [first, last] : other.runs_) {
      const std::size_t begin = std::max(first, from), end = std::min(last, from + count);
      if (begin < end) add(start + begin - from, start + end - from);
    }
  }
  bool has(std::size_t start, std::size_t end) const {
    const auto after = runs_.upper_bound(start);
    return after != runs_.begin() && std::prev(after)->second >= end;
  }
  std::vector<Run> runs() const {
    std::vector<Run> all;
    for (const auto& [start, end] : runs_) all.push_back({start, end});
    return all;
  }

 private:
  std::map<std::size_t, std::size_t> runs_;
};

// How far each stream has come, as far as somebody knows: who waits knows what the other one knew.
class Clock {
 public:
  std::uint64_t at(std::size_t stream) const { return stream < reached_.size() ? reached_[stream] : 0; }
  void reach(std::size_t stream, std::uint64_t position) {
    if (stream >= reached_.size()) reached_.resize(stream + 1);
    reached_[stream] = std::max(reached_[stream], position);
  }
  void learn(const Clock& other) {
    for (std::size_t i = 0; i < other.reached_.size(); ++i) reach(i, other.reached_[i]);
  }

 private:
  std::vector<std::uint64_t> reached_;
};

enum class Place : std::uint8_t { Device, Mapped, Managed, Pinned, Registered, Pageable };

struct Use {
  std::size_t stream;
  std::uint64_t position;
  bool writes;
};

struct Area {
  Place place;
  std::size_t device;  // of host memory: none
  char* at;
  std::size_t bytes;
  bool read_only, huge_only;
  Bytes written;
  std::vector<Use> uses;
  // Mapped: what is mapped there, 2 MB each, and what is freed already.
  std::vector<aclrtDrvMemHandle> pieces;

  bool is_on_device() const { return place == Place::Device || place == Place::Mapped; }
  bool is_on_host() const { return !is_on_device() && place != Place::Managed; }
  // Whoever knows so much may read it, or write it.
  bool is_free_for(const Clock& known, bool writes) const {
    return std::ranges::none_of(
        uses, [&](const Use& use) { return (use.writes || writes) && known.at(use.stream) < use.position; });
  }
};

struct Stream {
  std::size_t number, device;
  aclrtStream handle;  // null: the default one
  std::uint64_t position = 0;
  Clock known{};  // what comes before its next task
};

struct Event {
  std::size_t device;
  aclrtEvent handle;
  std::optional<Clock> recorded{};
};

}  // namespace planted
