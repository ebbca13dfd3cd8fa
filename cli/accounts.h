// What a trace adds up to: by process, device and call site. Read twice: the first time finds the peaks, the
// second who held what then.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recording/reader.h"

namespace belay::cli {

struct Sum {
  std::uint64_t times = 0, bytes = 0;
  void add(std::uint64_t some) {
    ++times;
    bytes += some;
  }
};

// Blocks and physical memory of one call site on one device.
struct HeldBySite {
  Sum made;                   // bytes as asked for
  std::uint64_t charged = 0;  // of all that were made, in whole pages
  Sum at_peak, left;          // charged bytes; left: never freed by the program
};

struct PlaceAccount {
  Sum made, freed, swept;                   // bytes as asked for; swept: with the device, not by the program
  std::uint64_t charged = 0, returned = 0;  // bytes in whole pages, all that came and went
  std::uint64_t used = 0, peak = 0, peak_ns = 0;  // as the events add up
  std::uint64_t peak_told =
      0;  // as the process knew it: exact, where events of threads are some microseconds apart
  std::array<Sum, 3> by_page{};             // made, charged bytes: 4 KB, 2 MB, 1 GB
  std::map<std::string, HeldBySite> sites;  // by label, or call site in words
};

struct RefusedCalls {
  std::uint64_t times = 0, first_ns = 0;
  std::string rule, text;  // of the first
};

struct ProcessAccount {
  std::map<std::uint32_t, PlaceAccount> places;  // devices; recording::kHostPlace
  std::array<Sum, recording::kWays> copies;
  Sum fills;
  std::map<std::pair<std::string, std::int32_t>, RefusedCalls> refused;  // function and code; tasks too
  std::uint64_t events = 0, tasks = 0, ranges = 0;
};

struct Accounts {
  std::vector<ProcessAccount> processes;
  std::uint64_t events = 0, last_ns = 0;
};
// Names frames first (trace_frames.h).
Accounts account_for(recording::Trace& trace);

std::string place_name(std::uint32_t place);  // "device 0", "host, pinned"

}  // namespace belay::cli
