// Memory in use over time, in a bounded number of points: where some are left out, the highest and the lowest
// state of each part are kept.
#pragma once

#include <cstdint>
#include <vector>

#include "story/ledger.h"

namespace belay::story {

// Where a part of a run lies, between 0 and 1: half by time and half by how much happened, so that neither
// bursts nor long calm parts are lost.
class Course {
 public:
  Course(std::uint64_t duration, std::uint64_t changes) : duration_{duration}, changes_{changes} {}
  // Which of `parts` the n-th change is in.
  std::uint64_t part(std::uint64_t change, std::uint64_t time, std::uint64_t parts) const {
    if (changes_ <= parts) return change;
    const double by_time = duration_ == 0 ? 0 : static_cast<double>(time) / static_cast<double>(duration_);
    const double by_change = static_cast<double>(change) / static_cast<double>(changes_);
    return static_cast<std::uint64_t>((by_time + by_change) / 2 * static_cast<double>(parts));
  }
  std::uint64_t changes() const { return changes_; }

 private:
  std::uint64_t duration_, changes_;
};

struct Point {
  std::uint64_t time = 0, change = 0;
  KindBytes bytes{};
};

class Curve {
 public:
  Curve(const Course& course, std::uint64_t parts) : course_{course}, parts_{parts} {}

  void add(const Point& point) {
    const std::uint64_t part = course_.part(point.change, point.time, parts_);
    if (part != part_) flush();
    part_ = part;
    const std::uint64_t bytes = sum(point.bytes);
    if (!any_ || bytes > sum(high_.bytes)) high_ = point;
    if (!any_ || bytes < sum(low_.bytes)) low_ = point;
    any_ = true;
    if (!peaked_ || bytes > sum(peak_.bytes)) peak_ = point;
    peaked_ = true;
    last_ = point;
  }
  // All of them, once there are no more; the last state is the last point.
  std::vector<Point> finish() {
    flush();
    if (peaked_ && (points_.empty() || points_.back().change != last_.change)) points_.push_back(last_);
    return std::move(points_);
  }
  const Point& peak() const { return peak_; }

 private:
  void flush() {
    if (!any_) return;
    const bool high_first = high_.change < low_.change;
    points_.push_back(high_first ? high_ : low_);
    if (high_.change != low_.change) points_.push_back(high_first ? low_ : high_);
    any_ = false;
  }

  Course course_;
  std::uint64_t parts_, part_ = UINT64_MAX;
  bool any_ = false, peaked_ = false;
  Point high_, low_, peak_, last_;
  std::vector<Point> points_;
};

}  // namespace belay::story
