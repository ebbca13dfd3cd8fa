#include "check/mark_requests.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <vector>

#include "base/of_process.h"
#include "platform/common_memory.h"
#include "platform/directories.h"
#include "platform/shared_word.h"
#include "platform/threads.h"

namespace belay::check {
namespace {

constexpr const char* kMarksName = "belay-marks";
constexpr std::chrono::milliseconds kPatience{10'000};

struct Requests {
  platform::SharedWord asked, answered;  // each request is the next number
  std::atomic<std::uint64_t> grown;      // of the last answer
};
Requests& requests_in(const platform::CommonMemory& memory) {
  return *std::launder(reinterpret_cast<Requests*>(memory.start()));
}

struct Answering {
  std::atomic<bool> started{false};
  platform::CommonMemory memory;
};
constinit OfProcess<Answering> g_answering;

void answer_for_ever(Requests& requests, SetMark set) {
  std::uint32_t done = 0;
  while (true) {
    const std::uint32_t asked = requests.asked.load(std::memory_order_acquire);
    if (asked == done) {
      platform::wait_for_change(requests.asked, asked);
      continue;
    }
    requests.grown.store(set());
    requests.answered.store(asked, std::memory_order_release);
    platform::tell_of_change(requests.answered);
    done = asked;
  }
}

}  // namespace

// Where there is no such memory or no thread, the command says that the process cannot be asked.
void answer_mark_requests(SetMark set) {
  Answering& one = g_answering.get();
  if (one.started.exchange(true)) return;
  platform::CommonMemory memory = platform::CommonMemory::create(kMarksName, sizeof(Requests));
  if (!memory.valid()) return;
  Requests& requests = requests_in(memory);
  if (platform::start_thread("belay-marks", [&requests, set] { answer_for_ever(requests, set); }))
    one.memory = std::move(memory);
}

void forget_mark_requests() {
  if (Answering* parents = g_answering.if_any()) parents->memory.abandon();
  g_answering.set_aside();
}

MarkAnswer ask_for_mark(std::int32_t process) {
  using Outcome = MarkAnswer::Outcome;
  const std::string directory = fmt::format("/proc/{}/fd", process);
  const platform::Listing files = platform::list_directory(directory);
  if (!files.readable) return {files.exists ? Outcome::NotAllowed : Outcome::NoProcess};
  platform::CommonMemory memory;
  for (const std::string& each : files.names) {
    if (platform::CommonMemory::open(fmt::format("{}/{}", directory, each), kMarksName, true, memory) ==
        platform::CommonMemory::Opened::Done)
      break;
  }
  if (!memory.valid() || memory.bytes() < sizeof(Requests)) return {Outcome::NotChecked};
  Requests& requests = requests_in(memory);
  const std::uint32_t number = requests.asked.fetch_add(1) + 1;
  platform::tell_of_change(requests.asked);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    const std::uint32_t answered = requests.answered.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(answered - number) >= 0) return {Outcome::Done, requests.grown.load()};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return {Outcome::Silent};
    platform::wait_for_change(requests.answered, answered, left);
  }
}

}  // namespace belay::check
