#include "random_reads.h"

#include <ctime>

namespace bench {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kMayBeCached = std::size_t{64} << 20;

// Where the i-th of the places lies that may be read.
struct EveryLine {
  static constexpr std::size_t kStep = kLine;
  static std::uint64_t offset(std::uint64_t i) { return i * kLine; }
};
struct OneLineIn4K {
  static constexpr std::size_t kStep = 4096;
  // Not the same line in all: they would compete for a few sets of the caches.
  static std::uint64_t offset(std::uint64_t i) {
    return i * kStep + ((i * 0x9e3779b97f4a7c15U) >> 58) * kLine;
  }
};

// Linear congruential (Knuth); only its upper half is used, which is the random one.
constexpr std::uint64_t next(std::uint64_t x) { return x * 6364136223846793005U + 1442695040888963407U; }

template <typename Places>
std::uint64_t value(const std::byte* start, std::uint64_t i) {
  return *reinterpret_cast<const std::uint64_t*>(start + Places::offset(i));
}

template <typename Places>
std::uint64_t random_value(const std::byte* start, std::uint64_t places, std::uint64_t x) {
  return value<Places>(start, ((x >> 32) * places) >> 32);  // 0 … places - 1, up to 2^32 places
}

template <typename Places>
std::uint64_t one_by_one(const std::byte* start, std::uint64_t places, std::uint64_t reads, std::uint64_t x) {
  for (std::uint64_t i = 0; i < reads; ++i) x = next(x ^ random_value<Places>(start, places, x));
  return x;
}

template <typename Places>
std::uint64_t overlapping(const std::byte* start, std::uint64_t places, std::uint64_t reads,
                          std::uint64_t x) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < reads; ++i) {
    x = next(x);
    sum += random_value<Places>(start, places, x);
  }
  return sum;
}

// The time that this thread had a processor, so that other programs on the machine count less.
double thread_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <typename Places, typename Run>
Timed timed(Run run, const std::byte* start, std::size_t bytes, std::uint64_t reads, std::uint64_t seed) {
  const std::uint64_t places = bytes / Places::kStep;
  // Caches and TLB hold what another page kind left there. Put that right off the clock: what may fit into a
  // cache is read whole, then come random reads like those that count.
  std::uint64_t before = 0;
  if (places * kLine <= kMayBeCached) {
    for (std::uint64_t i = 0; i < places; ++i) before += value<Places>(start, i);
  }
  before += run(start, places, reads / 2, seed + 1);
  const double began = thread_ns();
  const std::uint64_t sum = run(start, places, reads, seed);
  return {(thread_ns() - began) / static_cast<double>(reads), sum ^ before};
}

}  // namespace

void fill_lines(std::byte* start, std::size_t bytes) {
  for (std::uint64_t line = 0; line < bytes / kLine; ++line) {
    *reinterpret_cast<std::uint64_t*>(start + line * kLine) = next(line);
  }
}

Timed dependent_reads(const std::byte* start, std::size_t bytes, std::uint64_t reads, std::uint64_t seed) {
  return timed<EveryLine>(one_by_one<EveryLine>, start, bytes, reads, seed);
}

Timed independent_reads(const std::byte* start, std::size_t bytes, std::uint64_t reads, std::uint64_t seed) {
  return timed<EveryLine>(overlapping<EveryLine>, start, bytes, reads, seed);
}

Timed sparse_reads(const std::byte* start, std::size_t bytes, std::uint64_t reads, std::uint64_t seed) {
  return timed<OneLineIn4K>(one_by_one<OneLineIn4K>, start, bytes, reads, seed);
}

}  // namespace bench
