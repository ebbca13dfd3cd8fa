// A random program that uses memory rightly, step by step, and knows what it has, what is written and what is
// in flight. A mistake can be planted between two steps (plants.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "areas.h"

namespace planted {

inline constexpr std::size_t kGranule = std::size_t{2} << 20;  // of virtual memory

// A call that should work did not.
struct Trouble : std::runtime_error {
  using runtime_error::runtime_error;
};
inline void must(aclError code, const char* call, int line) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  throw Trouble{std::string{call} + " returned " + std::to_string(code) + " at line " + std::to_string(line) +
                ": " + (message == nullptr ? "" : message)};
}
#define MUST(...) ::planted::must((__VA_ARGS__), #__VA_ARGS__, __LINE__)

// What should be reported, and where.
struct Expected {
  std::string misuse, function;  // empty: nothing; none
  std::string file;
  int line = 0;
};

// What concerns other threads as well: waits for a whole device, which return their errors, and waits for
// words, which count as waits for all that was queued before.
enum Features : unsigned { kStreams = 1, kVirtual = 2, kWide = 4 };

// What programs of several threads have in common.
struct Devices {
  explicit Devices(std::size_t count);  // from aclInit on
  void close();                         // to aclFinalize
  std::vector<aclrtContext> contexts;
  // Gives back what must be reported as lost before.
  std::vector<std::function<void()>> after_resets, after_end;
};

class RandomProgram {
 public:
  RandomProgram(std::mt19937 random, unsigned features, Devices& devices);
  ~RandomProgram();
  RandomProgram(const RandomProgram&) = delete;
  RandomProgram& operator=(const RandomProgram&) = delete;

  void step();
  void end();  // gives everything back

  // --- for plants --------------------------------------------------------------------------------------
  Expected expected;
  void expect_at(const char* function, const char* file, int line) {
    expected = {expected.misuse, function, file, line};
  }
  std::size_t pick(std::size_t choices) { return random_() % choices; }
  bool has(unsigned feature) const { return (features_ & feature) != 0; }
  std::size_t any_device() { return pick(devices_.contexts.size()); }
  void use(std::size_t device);  // its default context becomes the current one
  // One that no queued work uses, made where there is none. If it is on a device, that is the current one
  // then.
  Area& idle(Place place, std::size_t bytes = 1);
  Area& make(Place place, std::size_t bytes, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST);
  void fill(Area& area);  // now, and all of it
  void give_back(Area& area);
  void forget(const Area& area);  // the plant has given it back, or lost it
  Stream& any_stream();           // of the device
  Stream& make_stream();
  void forget(const Stream& stream);
  void submitted(Stream& stream, const std::vector<Area*>& read, const std::vector<Area*>& written);
  void wait_for(Stream& stream);
  void wait_for_all();
  // Pageable memory, all of which is written; for what is over when the call returns.
  char* scratch(std::size_t bytes);
  std::size_t device() const { return device_; }
  Devices& devices() { return devices_; }

 private:
  Area* choose(const std::function<bool(const Area&)>& fits);
  Area* choose_for(Stream* stream, bool writes, const std::function<bool(const Area&)>& fits);
  Stream* choose_stream();
  void touched(Stream* stream, const std::vector<Area*>& read, const std::vector<Area*>& written);
  void wrote(Area& to, std::size_t start, const Area& from, std::size_t begin, std::size_t bytes);
  std::size_t some(std::size_t most);
  bool pick_written(const Area& area, Bytes::Run& range);
  aclrtMemcpyKind kind(const Area& to, const Area& from);

  void make_something();
  void give_something_back();
  void change_host_memory();
  void fill_some(Stream* stream);
  void copy(Stream* stream);
  void copy_through_buffer(Stream* stream);
  void copy_rows(Stream* stream);
  void copy_batch(Stream* stream);
  void send_word();
  void prefetch();
  void call_back();
  void record();
  void wait_for_event();
  void learn();
  void make_or_end_objects();
  void make_mapping(std::size_t pieces);
  void end_mapping(Area& area);
  void destroy(Stream& stream);

  std::mt19937 random_;
  const unsigned features_;
  Devices& devices_;
  std::size_t device_ = 0;
  std::vector<std::unique_ptr<Area>> areas_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Event> events_;
  std::size_t streams_made_ = 0;
  std::uint64_t words_ = 0;
  Clock known_;  // to the program
  std::vector<char> scratch_;
};

}  // namespace planted
