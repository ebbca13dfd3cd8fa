// Reads at random places of a piece of memory, one 64-byte line each.
//
// Where the next read goes is computed, not looked up in a table, so that nothing but the reads themselves
// uses the caches. The places are a function of the seed alone: every page kind is read at the same places in
// the same order, and gives the same checksum.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

// Gives each line a number of its own. Must come before the reads.
void fill_lines(std::byte* start, std::size_t bytes);

struct Timed {
  double ns_per_read;
  std::uint64_t checksum;
};

// Each read waits for the value of the one before: what a single read costs.
Timed dependent_reads(const std::byte* start, std::size_t bytes, std::uint64_t reads, std::uint64_t seed);

// No read waits for another: the processor overlaps as many as it can.
Timed independent_reads(const std::byte* start, std::size_t bytes, std::uint64_t reads, std::uint64_t seed);

// Dependent, and always the same line of each 4 KB. The data is a 64th of the memory it is spread over and
// stays in the caches much longer, so what remains is the cost of finding it. Where pages are as large as
// they claim to be, spreading the data costs next to nothing.
Timed sparse_reads(const std::byte* start, std::size_t bytes, std::uint64_t reads, std::uint64_t seed);

}  // namespace bench
