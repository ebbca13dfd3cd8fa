#include "check/shadow.h"

#include <algorithm>
#include <array>

namespace belay::check {
namespace {

constexpr std::uint64_t kChunk = 4096, kLeaf = 64 * kChunk;

}  // namespace

struct Shadow::Bits {
  std::array<std::uint64_t, kChunk / 64> words{};
  std::uint32_t written = 0;

  // Up to `end`, from `start` on: how far bits are the same, and what they are.
  std::pair<std::uint64_t, bool> run(std::uint64_t start, std::uint64_t end) const {
    const bool first = (words[start / 64] >> start % 64 & 1) != 0;
    std::uint64_t at = start;
    while (at < end) {
      const std::uint64_t same = (first ? ~words[at / 64] : words[at / 64]) >> at % 64;
      if (same != 0)
        return {std::min<std::uint64_t>(end, at + static_cast<unsigned>(std::countr_zero(same))), first};
      at = (at / 64 + 1) * 64;
    }
    return {end, first};
  }
  void change(std::uint64_t start, std::uint64_t end, bool to) {
    for (std::uint64_t at = start; at < end;) {
      const std::uint64_t stop = std::min(end, (at / 64 + 1) * 64);
      const std::uint64_t mask = ~std::uint64_t{0} >> (64 - (stop - at)) << at % 64;
      std::uint64_t& word = words[at / 64];
      written -= static_cast<std::uint32_t>(std::popcount(word & mask));
      word = to ? word | mask : word & ~mask;
      written += static_cast<std::uint32_t>(std::popcount(word & mask));
      at = stop;
    }
  }
};

struct Shadow::Leaf {
  static Leaf* all() {
    static Leaf* const one = new Leaf;  // used until the very end
    return one;
  }
  static Bits* all_bits() {
    static Bits* const one = new Bits;
    return one;
  }

  Leaf() = default;
  Leaf(std::size_t count, bool written) : chunks(count, written ? all_bits() : nullptr) {}
  Leaf(const Leaf&) = delete;
  Leaf& operator=(const Leaf&) = delete;
  ~Leaf() {
    for (Bits*& each : chunks) drop(each);
  }
  static void drop(Bits*& bits) {
    if (bits != all_bits()) delete bits;
    bits = nullptr;
  }
  bool is(const Bits* state) const {
    return std::ranges::all_of(chunks, [state](const Bits* each) { return each == state; });
  }

  std::vector<Bits*> chunks;  // null: nothing is written
};

Shadow::~Shadow() {
  for (Leaf* each : leaves_) {
    if (each != Leaf::all()) delete each;
  }
}

std::size_t Shadow::chunks_of(std::size_t leaf) const {
  return (std::min(kLeaf, bytes_ - leaf * kLeaf) + kChunk - 1) / kChunk;
}

void Shadow::change(std::uint64_t start, std::uint64_t bytes, bool written) {
  if (start >= bytes_) return;
  const std::uint64_t end = start + std::min(bytes, bytes_ - start);
  for (std::uint64_t at = start; at < end;) {
    const std::size_t number = at / kLeaf;
    const std::uint64_t stop = std::min(end, (number + 1) * kLeaf);
    if (number >= leaves_.size()) {
      if (!written) return;
      leaves_.resize((end + kLeaf - 1) / kLeaf);
    }
    Leaf*& leaf = leaves_[number];
    if (leaf != (written ? Leaf::all() : nullptr)) {
      if (at == number * kLeaf && stop == std::min(bytes_, (number + 1) * kLeaf)) {
        if (leaf != Leaf::all()) delete leaf;
        leaf = written ? Leaf::all() : nullptr;
      } else {
        change_in_leaf(number, at - number * kLeaf, stop - number * kLeaf, written);
      }
    }
    at = stop;
  }
}

void Shadow::change_in_leaf(std::size_t number, std::uint64_t start, std::uint64_t end, bool written) {
  Leaf*& leaf = leaves_[number];
  if (leaf == nullptr || leaf == Leaf::all()) leaf = new Leaf{chunks_of(number), leaf != nullptr};
  const std::uint64_t whole = std::min(kLeaf, bytes_ - number * kLeaf);
  bool became = false;
  for (std::uint64_t at = start; at < end;) {
    const std::size_t index = at / kChunk;
    const std::uint64_t first = index * kChunk, last = std::min(whole, first + kChunk);
    const std::uint64_t stop = std::min(end, last);
    Bits*& chunk = leaf->chunks[index];
    Bits* const state = written ? Leaf::all_bits() : nullptr;
    if (chunk != state) {
      if (chunk == nullptr || chunk == Leaf::all_bits()) {
        const bool was_written = chunk != nullptr;
        if (at != first || stop != last) {
          chunk = new Bits;
          if (was_written) chunk->change(0, last - first, true);
        }
      }
      if (at == first && stop == last) {
        Leaf::drop(chunk);
        chunk = state;
      } else {
        chunk->change(at - first, stop - first, written);
        if (chunk->written == (written ? last - first : 0)) {
          Leaf::drop(chunk);
          chunk = state;
        }
      }
      became = became || chunk == state;
    }
    at = stop;
  }
  if (!became || !leaf->is(written ? Leaf::all_bits() : nullptr)) return;
  delete leaf;
  leaf = written ? Leaf::all() : nullptr;
}

template <class Act>
void Shadow::each_run(std::uint64_t start, std::uint64_t bytes, Act&& act) const {
  if (start >= bytes_) return;
  const std::uint64_t end = start + std::min(bytes, bytes_ - start);
  std::uint64_t begun = start;
  bool state = false;
  const auto add = [&](std::uint64_t from, bool written) {
    if (written == state) return;
    if (from != begun) act(begun, from - begun, state);
    begun = from;
    state = written;
  };
  for (std::uint64_t at = start; at < end;) {
    const std::size_t number = at / kLeaf;
    if (number >= leaves_.size()) {
      add(at, false);
      break;
    }
    const std::uint64_t stop = std::min(end, (number + 1) * kLeaf);
    const Leaf* leaf = leaves_[number];
    if (leaf == nullptr || leaf == Leaf::all()) {
      add(at, leaf != nullptr);
      at = stop;
      continue;
    }
    while (at < stop) {
      const std::uint64_t chunk_start = at / kChunk * kChunk,
                          chunk_stop = std::min(stop, chunk_start + kChunk);
      const Bits* bits = leaf->chunks[at % kLeaf / kChunk];
      if (bits == nullptr || bits == Leaf::all_bits()) {
        add(at, bits != nullptr);
        at = chunk_stop;
        continue;
      }
      while (at < chunk_stop) {
        const auto [until, written] = bits->run(at - chunk_start, chunk_stop - chunk_start);
        add(at, written);
        at = chunk_start + until;
      }
    }
  }
  if (end != begun) act(begun, end - begun, state);
}

Shadow::Missing Shadow::missing(std::uint64_t start, std::uint64_t bytes) const {
  Missing all;
  each_run(start, bytes, [&](std::uint64_t at, std::uint64_t length, bool written) {
    if (written) return;
    if (all.bytes == 0) all.first = at;
    all.bytes += length;
  });
  return all;
}

void Shadow::carry(std::uint64_t to, const Shadow& from, std::uint64_t start, std::uint64_t bytes) {
  if (this == &from) {  // what is looked at must not change meanwhile
    Shadow between{bytes};
    between.carry(0, from, start, bytes);
    return carry(to, between, 0, bytes);
  }
  from.each_run(start, bytes, [&](std::uint64_t at, std::uint64_t length, bool written) {
    change(to + (at - start), length, written);
  });
  if (start + bytes > from.bytes_) {  // nobody knows what is there
    const std::uint64_t known = from.bytes_ > start ? from.bytes_ - start : 0;
    set(to + known, bytes - known);
  }
}

std::size_t Shadow::memory() const {
  std::size_t sum = leaves_.capacity() * sizeof(Leaf*);
  for (const Leaf* leaf : leaves_) {
    if (leaf == nullptr || leaf == Leaf::all()) continue;
    sum += sizeof(Leaf) + leaf->chunks.capacity() * sizeof(Bits*);
    for (const Bits* bits : leaf->chunks)
      sum += bits != nullptr && bits != Leaf::all_bits() ? sizeof(Bits) : 0;
  }
  return sum;
}

}  // namespace belay::check
