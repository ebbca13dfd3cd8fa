// What a program of streams may see.
//
// Each operation is a node, an edge is an order that the documents promise (R-17, R-165, R-170, R-193, R-208,
// P-42, M-241, M-265, R-139). Memory is made of words ("cells") of 8 bytes. Of a read the model tells the set
// of values that some legal order could have shown to it: those of the writes that are not overwritten before
// it in every order. Where the program is free of races the set has one element.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <set>
#include <vector>

namespace belay_test {

inline constexpr std::size_t kMostNodes = 768;
using Nodes = std::bitset<kMostNodes>;
using NodeId = std::size_t;
using Cell = std::size_t;

enum class Fate : std::uint8_t {
  sure,     // happens, or has happened
  unsure,   // its stream was aborted: it has happened, or in part, or not, and will not happen any more
  dropped,  // its stream was aborted before it could start
};
enum class Race : std::uint8_t { none, some, with_a_fill };

class HappensBefore {
 public:
  explicit HappensBefore(std::size_t cells) : cells_(cells) {}

  std::size_t size() const { return nodes_.size(); }

  // Forgets everything. The next node is the first; give every cell its value with that one.
  void clear() {
    nodes_.clear();
    held_.reset();
    for (Touched& each : cells_) each = {};
  }

  NodeId add(const std::vector<NodeId>& after) {
    nodes_.push_back({after, {}, before_one_after(after), Fate::sure, false});
    return nodes_.size() - 1;
  }
  // An order that became known later.
  void order(NodeId first, NodeId then) {
    nodes_.at(then).after.push_back(first);
    close();
  }
  bool before(NodeId first, NodeId then) const { return nodes_.at(then).before.test(first); }
  // All that happens before a node that follows these.
  Nodes before_one_after(const std::vector<NodeId>& after) const {
    Nodes all;
    for (const NodeId each : after) {
      all |= nodes_.at(each).before;
      all.set(each);
    }
    return all;
  }

  // --- waits that nothing can end yet ---
  void hold(NodeId wait) { held_.set(wait); }
  void release(NodeId wait) { held_.reset(wait); }
  // It cannot have happened: it is such a wait or follows one.
  bool held(NodeId node) const { return held_.test(node) || held(nodes_.at(node).before); }
  bool held(const Nodes& before) const { return (before & held_).any(); }

  // --- aborts ---
  Fate fate(NodeId node) const { return nodes_.at(node).fate; }
  void set_fate(NodeId node, Fate fate) { nodes_.at(node).fate = fate; }
  // `first` is over before `then`, but what came before `first` need not be.
  void order_alone(NodeId first, NodeId then) {
    nodes_.at(then).after_alone.push_back(first);
    close();
  }
  void forget_order(NodeId first, NodeId then) {
    std::erase(nodes_.at(then).after, first);
    close();
  }

  // --- what a node does with memory ---
  void stores(NodeId node, Cell cell, std::uint64_t value) { write(cell, {node, true, value, 0, 0}); }
  // What `reader` finds in `from` goes to `to`.
  void moves(NodeId node, Cell to, NodeId reader, Cell from) { write(to, {node, false, 0, reader, from}); }
  void fills(NodeId node, Cell cell, std::uint64_t value) {
    stores(node, cell, value);
    nodes_.at(node).is_fill = true;
  }
  void reads(NodeId node, Cell cell) { cells_.at(cell).reads.push_back(node); }

  // The cells that a node reads, and those that it writes.
  std::pair<std::set<Cell>, std::set<Cell>> touched(NodeId node) const {
    std::set<Cell> read, written;
    for (Cell cell = 0; cell < cells_.size(); ++cell) {
      if (std::ranges::count(cells_[cell].reads, node) != 0) read.insert(cell);
      if (std::ranges::count(cells_[cell].writes, node, &Write::node) != 0) written.insert(cell);
    }
    return {read, written};
  }

  // Whether an operation with these before it would race for the cell. Fills are not promised to write words
  // as a whole, so nothing may race with them.
  Race race(const Nodes& before, Cell cell, bool writes, bool fills = false) const {
    Race found = Race::none;
    const auto meet = [&](NodeId other) {
      if (before.test(other) || nodes_[other].fate == Fate::dropped) return;
      found = fills || nodes_[other].is_fill ? Race::with_a_fill : std::max(found, Race::some);
    };
    for (const Write& each : cells_.at(cell).writes) meet(each.node);
    if (writes) {
      for (const NodeId each : cells_.at(cell).reads) meet(each);
    }
    return found;
  }

  std::set<std::uint64_t> may_see(NodeId reader, Cell cell) const {
    std::set<std::uint64_t> values;
    std::set<std::pair<NodeId, Cell>> seen;
    collect(reader, cell, values, seen);
    return values;
  }

 private:
  struct Node {
    std::vector<NodeId> after, after_alone;
    Nodes before;
    Fate fate;
    bool is_fill;
  };
  struct Write {
    NodeId node;
    bool is_constant;
    std::uint64_t value;
    NodeId reader;
    Cell from;
  };
  struct Touched {
    std::vector<Write> writes;
    std::vector<NodeId> reads;
  };

  void write(Cell cell, const Write& write) { cells_.at(cell).writes.push_back(write); }

  void collect(NodeId reader, Cell cell, std::set<std::uint64_t>& values,
               std::set<std::pair<NodeId, Cell>>& seen) const {
    if (!seen.emplace(reader, cell).second) return;
    const std::vector<Write>& writes = cells_.at(cell).writes;
    for (const Write& each : writes) {
      if (each.node == reader || fate(each.node) == Fate::dropped) continue;
      if (before(reader, each.node) || held(each.node)) continue;
      const bool overwritten = std::ranges::any_of(writes, [&](const Write& other) {
        return fate(other.node) == Fate::sure && before(each.node, other.node) && before(other.node, reader);
      });
      if (overwritten) continue;
      if (each.is_constant)
        values.insert(each.value);
      else
        collect(each.reader, each.from, values, seen);
    }
  }

  // The promises have no cycle, but a node may be younger than one that follows it.
  void close() {
    std::vector<bool> done(nodes_.size(), false);
    for (NodeId each = 0; each < nodes_.size(); ++each) close(each, done);
  }
  void close(NodeId id, std::vector<bool>& done) {
    if (done[id]) return;
    done[id] = true;
    for (const NodeId each : nodes_[id].after) close(each, done);
    nodes_[id].before = before_one_after(nodes_[id].after);
    for (const NodeId each : nodes_[id].after_alone) nodes_[id].before.set(each);
  }

  std::vector<Node> nodes_;
  std::vector<Touched> cells_;
  Nodes held_;
};

}  // namespace belay_test
