// Random calls of virtual memory, copies and fills among them, each compared with a model: its answer, and
// the bytes that it leaves.
#pragma once

#include <algorithm>
#include <cstring>

#include "support/virtual_calls.h"

namespace belay_test {

class VirtualWorld : public VirtualCalls {
 public:
  using VirtualCalls::VirtualCalls;

  // Every device open and a peer of every other, device 0 current.
  static void open_devices() {
    for (const int device : {2, 1, 0}) {
      EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      for (const int peer : {0, 1, 2}) {
        if (peer != device) {
          EXPECT_EQ(aclrtDeviceEnablePeerAccess(peer, 0), ACL_SUCCESS);
        }
      }
    }
  }

  void step() {
    const unsigned op = below(100);
    if (op < 8)
      reserve_some();
    else if (op < 13)
      release();
    else if (op < 23)
      create();
    else if (op < 30)
      free_handle();
    else if (op < 48)
      map_some();
    else if (op < 57)
      unmap();
    else if (op < 62)
      access();
    else if (op < 66)
      retain();
    else if (op < 69)
      ask();
    else if (op < 77)
      fill();
    else if (op < 85)
      write_from_host();
    else if (op < 98)
      copy();
    else if (alone_ && op == 99 && below(20) == 0)
      reset();
    else
      verify(1);
    ++steps;
  }
  // Compares so many borders, or all of them, with what is there.
  void verify(std::size_t count = ~std::size_t{0}) {
    for (auto& [start, mapping] : model_.mappings) {
      if (!mapping.accessible) continue;
      for (std::size_t i = 0; i < mapping.memory->stripes.size(); ++i) {
        if (count != ~std::size_t{0} && below(64) != 0) continue;
        compare(start + i * kStripe);
        if (--count == 0) return;
      }
    }
  }
  void end() {
    for (const auto& [start, mapping] : model_.mappings)
      expect(aclrtUnmapMem(address(start)), 0, "the last unmap");
    for (const auto& [start, place] : model_.reservations)
      expect(aclrtReleaseMemAddress(address(start)), 0, "the last release");
    for (const auto& memory : model_.memories) {
      for (int i = 0; i < memory->references; ++i)
        expect(aclrtFreePhysical(memory->handle), 0, "the last free");
    }
    model_ = {};
  }

 private:
  // Some stripes inside one reservation, with luck all of them mapped.
  struct Range {
    std::uintptr_t where = 0;
    std::size_t bytes = 0;
  };
  Range some_range() {
    if (model_.reservations.empty()) return {};
    const bool hit = !model_.mappings.empty() && below(6) != 0;
    const std::uintptr_t start = hit ? pick(model_.mappings)->first : some_address();
    const auto place = VirtualModel::around(model_.reservations, start);
    const std::uintptr_t end = place->first + place->second.bytes;
    Range range;
    range.where = start + below(std::min<std::size_t>(20, (end - start) / kStripe)) * kStripe;
    range.bytes = std::min<std::size_t>((1 + below(below(4) == 0 ? 32 : 4)) * kStripe, end - range.where);
    return range;
  }
  int answer_for(const Range& range) const {
    return model_.reachable(range.where, range.bytes) ? 0 : kRefused;
  }

  void fill() {
    const Range range = some_range();
    if (range.bytes == 0) return;
    const std::uint8_t byte = static_cast<std::uint8_t>(below(256));
    const int expected = answer_for(range);
    expect(aclrtMemset(address(range.where), range.bytes, byte, range.bytes), expected, "fill");
    if (expected != 0) return;
    const std::uint64_t word = byte * 0x0101010101010101;
    model_.write(range.where, std::vector<VirtualModel::Stripe>(range.bytes / kStripe, {word, word}));
    check_some(range);
  }
  void write_from_host() {
    const Range range = some_range();
    if (range.bytes == 0) return;
    std::vector<VirtualModel::Stripe> stripes(range.bytes / kStripe);
    for (std::size_t i = 0; i < stripes.size(); ++i) {
      const std::uint64_t first = random_() * 0x100000001U + i, last = ~first;
      std::memcpy(host_.data() + i * kStripe, &first, 8);
      std::memcpy(host_.data() + (i + 1) * kStripe - 8, &last, 8);
      stripes[i] = {first, last};
    }
    const int expected = answer_for(range);
    expect(
        aclrtMemcpy(address(range.where), range.bytes, host_.data(), range.bytes, ACL_MEMCPY_HOST_TO_DEVICE),
        expected, "write");
    if (expected != 0) return;
    model_.write(range.where, stripes);
    check_some(range);
  }
  void copy() {
    Range to = some_range(), from = some_range();
    if (to.bytes == 0) return;
    to.bytes = from.bytes = std::min(to.bytes, from.bytes);
    const auto a = VirtualModel::around(model_.mappings, to.where),
               b = VirtualModel::around(model_.mappings, from.where);
    const auto on_host_too = [&](const auto& each) {
      return each != model_.mappings.end() && each->second.memory->place == kHost;
    };
    if (on_host_too(a) && on_host_too(b)) return;  // overlap through an alias is the program's affair there
    int expected = answer_for(to) != 0 ? answer_for(to) : answer_for(from);
    if (to.where == from.where) expected = 0;
    expect(aclrtMemcpy(address(to.where), to.bytes, address(from.where), to.bytes, ACL_MEMCPY_DEFAULT),
           expected, "copy");
    if (expected != 0 || to.where == from.where) return;
    model_.write(to.where, model_.read(from.where, to.bytes));
    check_some(to);
  }
  void check_some(const Range& range) { compare(range.where + below(range.bytes / kStripe) * kStripe); }
  void compare(std::uintptr_t where) {
    const VirtualModel::Stripe& known = model_.stripe(where);
    std::uint64_t word = 0;
    for (const bool first : {true, false}) {
      const VirtualModel::Word& expected = first ? known.first : known.last;
      if (!expected) continue;
      void* const place = address(first ? where : where + kStripe - 8);
      expect(aclrtMemcpy(&word, 8, place, 8, ACL_MEMCPY_DEVICE_TO_HOST), 0, "read");
      EXPECT_EQ(word, *expected) << "at " << place << " in step " << steps << ", " << seed_text();
    }
  }

  void reset() {
    const int device = static_cast<int>(below(kDevices));
    for (const Ptr& memory : model_.memories) {
      if (memory->place == device) dead_.push_back(memory);
    }
    model_.reset(device);
    expect(aclrtResetDeviceForce(device), 0, "reset");
    open_devices();
  }

  Bytes host_ = Bytes(2 * kMB);
};

}  // namespace belay_test
