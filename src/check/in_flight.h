// Which queued work counts as in flight: until the program waited for it, asked and was told that it is done,
// or did either with something that comes after it. That it has run already does not count: the program
// cannot know.
//
// Not thread-safe: whoever feeds it has a lock. Work is named by its stream and its position there. What a
// stream has waited for is kept as the last positions of others that it comes after, so that a wait for it
// covers those as well:
//
//   stream 1: copy, record E        stream 2: wait for E, ...        the program waits for stream 2
//
// Positions with nothing in flight before them are left out; so all of this is short, or empty.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace belay::check {

template <class Work>
class InFlight {
 public:
  static constexpr std::size_t kMost = 65'536;    // in flight at once; of more, the oldest are forgotten
  static constexpr std::size_t kRecords = 4'096;  // of events; a wait for an older one covers all there is

  explicit InFlight(std::size_t most = kMost, std::size_t records = kRecords)
      : most_{most}, records_(records) {}

  std::size_t size() const { return size_; }
  std::size_t objects() const { return objects_.size(); }

  // In the order of the stream. Returns what is forgotten for it, if that is too much.
  std::optional<Work> add(std::uint64_t stream, std::uint64_t position, Work work) {
    std::optional<Work> forgotten;
    Queue& queue = queue_of(stream).queue;
    if (size_ >= most_) {
      if (queue.is_empty()) return work;
      forgotten = queue.pop();
      --size_;
    }
    queue.push({position, std::move(work)});
    ++size_;
    return forgotten;
  }

  // --- what the streams do, in the order in which it is done ---------------------------------------

  void recorded(std::uint64_t stream, std::uint64_t position, std::uint64_t record) {
    Record& slot = records_[record % records_.size()];
    slot.serial = record;
    slot.reached.clear();
    add_reached(slot.reached, stream, position);
  }
  // A stream has waited for the record. How far another stream is: how_far(stream), a position.
  template <class HowFar>
  void joined(std::uint64_t stream, std::uint64_t record, HowFar&& how_far) {
    if (size_ == 0) return;
    const Record& slot = records_[record % records_.size()];
    if (slot.serial != record) return joined_all(stream, how_far);
    merge(queue_of(stream).knows, slot.reached);
  }
  // The same by an object that keeps no records: it stands for all who have set it.
  void set(std::uint64_t stream, std::uint64_t position, std::uint64_t object) {
    if (size_ == 0) return;
    if (objects_.size() >= 2 * objects_left_ + 64) {  // most of them may be destroyed by now
      for (auto& [number, reached] : objects_) prune(reached);
      std::erase_if(objects_, [](const auto& each) { return each.second.empty(); });
      objects_left_ = objects_.size();
    }
    add_reached(objects_[object], stream, position);
  }
  void awaited(std::uint64_t stream, std::uint64_t object) {
    if (const auto found = objects_.find(object); found != objects_.end() && size_ != 0)
      merge(queue_of(stream).knows, found->second);
  }
  // For something that anybody may have done who is done.
  template <class HowFar>
  void joined_all(std::uint64_t stream, HowFar&& how_far) {
    if (size_ == 0) return;
    Reached all;
    for (const auto& [handle, each] : streams_) {
      if (!each.queue.is_empty()) raise(all, {handle, how_far(handle)});
    }
    merge(queue_of(stream).knows, all);
  }

  // --- what the program knows ----------------------------------------------------------------------

  // The stream up to a position, or a record that was made there; `act` gets what is not in flight any more.
  template <class Act>
  void cover(std::uint64_t stream, std::uint64_t position, std::uint64_t record, Act&& act) {
    if (size_ == 0) return;
    const auto found = streams_.find(stream);
    if (const Record& slot = records_[record % records_.size()]; record != 0 && slot.serial == record)
      reached_ = slot.reached;
    else if (found != streams_.end())
      reached_ = found->second.knows;
    else
      reached_.clear();
    raise(reached_, {stream, position});
    for (const Position& each : reached_) cover_stream(each, act);
    // What is covered is of no use in what streams know.
    if (found != streams_.end()) prune(found->second.knows);
  }
  // One task alone: it will not run, or has failed.
  template <class Act>
  void drop(std::uint64_t stream, std::uint64_t position, Act&& act) {
    if (const auto found = streams_.find(stream); found != streams_.end())
      size_ -= found->second.queue.drop(position, act);
  }
  // The stream is destroyed, and nothing of it is in flight.
  template <class Act>
  void ended(std::uint64_t stream, Act&& act) {
    cover(stream, UINT64_MAX, 0, act);
    streams_.erase(stream);
    last_ = nullptr;
  }

  template <class Act>
  void for_each(Act&& act) {
    for (auto& [handle, each] : streams_) each.queue.for_each(act);
  }

 private:
  struct Position {
    std::uint64_t stream, position;
  };
  using Reached = std::vector<Position>;
  struct Record {
    std::uint64_t serial = 0;
    Reached reached;
  };
  struct Item {
    std::uint64_t position;
    Work work;
  };
  // First in, first out, in one piece that is used again.
  class Queue {
   public:
    bool is_empty() const { return first_ == items_.size(); }
    std::uint64_t first() const { return items_[first_].position; }
    void push(Item item) {
      if (first_ > 1024 && first_ > items_.size() / 2) {
        items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
      }
      items_.push_back(std::move(item));
    }
    Work pop() {
      Work work = std::move(items_[first_].work);
      if (++first_ == items_.size()) {
        items_.clear();
        first_ = 0;
      }
      return work;
    }
    template <class Act>
    std::size_t drop(std::uint64_t position, Act& act) {
      std::size_t dropped = 0;
      for (std::size_t i = first_; i < items_.size() && items_[i].position <= position;) {
        if (items_[i].position != position) {
          ++i;
          continue;
        }
        act(items_[i].work);
        items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(i));
        ++dropped;
      }
      if (is_empty()) {
        items_.clear();
        first_ = 0;
      }
      return dropped;
    }
    template <class Act>
    void for_each(Act& act) {
      for (std::size_t i = first_; i < items_.size(); ++i) act(items_[i].work);
    }

   private:
    std::vector<Item> items_;
    std::size_t first_ = 0;
  };
  struct Stream {
    Queue queue;
    Reached knows;
  };

  Stream& queue_of(std::uint64_t stream) {
    if (last_ == nullptr || last_stream_ != stream) {
      last_ = &streams_[stream];
      last_stream_ = stream;
    }
    return *last_;
  }

  static void raise(Reached& reached, const Position& to) {
    for (Position& each : reached) {
      if (each.stream != to.stream) continue;
      each.position = std::max(each.position, to.position);
      return;
    }
    reached.push_back(to);
  }
  bool matters(const Position& at) const {
    const auto found = streams_.find(at.stream);
    return found != streams_.end() && !found->second.queue.is_empty() &&
           found->second.queue.first() <= at.position;
  }
  void prune(Reached& reached) const {
    std::erase_if(reached, [&](const Position& each) { return !matters(each); });
  }
  void merge(Reached& into, const Reached& from) const {
    prune(into);
    for (const Position& each : from) {
      if (matters(each)) raise(into, each);
    }
  }
  void add_reached(Reached& into, std::uint64_t stream, std::uint64_t position) const {
    if (size_ == 0) return into.clear();
    if (const auto found = streams_.find(stream); found != streams_.end()) merge(into, found->second.knows);
    if (matters({stream, position})) raise(into, {stream, position});
  }
  template <class Act>
  void cover_stream(const Position& up_to, Act& act) {
    const auto found = streams_.find(up_to.stream);
    if (found == streams_.end()) return;
    Queue& queue = found->second.queue;
    while (!queue.is_empty() && queue.first() <= up_to.position) {
      Work work = queue.pop();
      --size_;
      act(work);
    }
  }

  const std::size_t most_;
  std::size_t size_ = 0;
  std::unordered_map<std::uint64_t, Stream> streams_;
  std::unordered_map<std::uint64_t, Reached> objects_;  // notifies
  std::size_t objects_left_ = 0;  // when those that stand for nothing were last left out
  std::vector<Record> records_;   // by serial number, the last of each place
  Reached reached_;               // while it is covered
  std::uint64_t last_stream_ = 0;
  Stream* last_ = nullptr;
};

}  // namespace belay::check
