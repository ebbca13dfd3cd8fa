#include "trace/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "platform/process.h"

namespace belay::trace {
namespace {

constexpr const char* kName = "belay-run";

struct Joined {
  RunRecord* record;
  std::uint32_t image;
};
std::atomic<Joined*> g_joined{nullptr};  // never destroyed: rings are in there until the very end

RunRecord* record_in(const platform::CommonMemory& memory) {
  return std::launder(reinterpret_cast<RunRecord*>(memory.start()));
}

Joined* join(const std::string& link) {
  if (Joined* joined = g_joined.load(std::memory_order_acquire)) return joined;
  platform::CommonMemory memory;
  if (platform::CommonMemory::open(link, kName, true, memory) != platform::CommonMemory::Opened::Done ||
      memory.bytes() != sizeof(RunRecord))
    return nullptr;
  RunRecord* record = record_in(memory);
  memory.abandon();  // the mapping stays until the end, and programs count descriptors
  const std::uint32_t image = record->images.fetch_add(1) + 1;
  auto* joined = new Joined{record, image};
  g_joined.store(joined, std::memory_order_release);
  return joined;
}

}  // namespace

ProcessRecord* place_in_run(const std::string& link) {
  Joined* joined = link.empty() ? nullptr : join(link);
  if (joined == nullptr) return nullptr;
  const std::uint32_t number = joined->record->processes.fetch_add(1);
  if (number >= RunRecord::kMostProcesses) return nullptr;
  RunRecord::ProcessPlace& place = joined->record->process_places[number];
  auto* made = new (place.record.data()) ProcessRecord{};
  made->image = joined->image;
  place.filled.store(true, std::memory_order_release);
  return made;
}

void* ring_place() {
  Joined* joined = g_joined.load(std::memory_order_acquire);
  if (joined == nullptr) return nullptr;
  for (RunRecord::RingPlace& place : joined->record->ring_places) {
    std::uint32_t nobody = 0;
    if (place.image.load(std::memory_order_relaxed) == 0 &&
        place.image.compare_exchange_strong(nobody, joined->image))
      return place.ring.data();
  }
  return nullptr;
}

void leave_ring_place(void* ring) {
  Joined* joined = g_joined.load(std::memory_order_acquire);
  const auto found =
      std::ranges::find(joined->record->ring_places, ring,
                        [](RunRecord::RingPlace& place) -> void* { return place.ring.data(); });
  if (found != joined->record->ring_places.end()) found->image.store(0, std::memory_order_release);
}

void forget_run() {
  static auto* of_parents = new std::vector<Joined*>;  // kept reachable; the memory itself was not inherited
  if (Joined* joined = g_joined.exchange(nullptr)) of_parents->push_back(joined);
}

RunRecorder::RunRecorder() : memory_{platform::CommonMemory::create(kName, sizeof(RunRecord))} {}

std::string RunRecorder::link() const {
  return memory_.valid() && memory_.shared()
             ? fmt::format("/proc/{}/fd/{}", platform::process_id(), memory_.file())
             : std::string{};
}

std::vector<RunRecorder::Seen> RunRecorder::look() const {
  std::vector<Seen> all;
  if (!memory_.valid()) return all;
  const RunRecord& record = *record_in(memory_);
  const std::size_t processes = std::min<std::size_t>(record.processes.load(), RunRecord::kMostProcesses);
  for (std::size_t i = 0; i < processes; ++i) {
    const RunRecord::ProcessPlace& place = record.process_places[i];
    if (!place.filled.load(std::memory_order_acquire)) continue;
    Seen& seen =
        all.emplace_back(Seen{std::launder(reinterpret_cast<const ProcessRecord*>(place.record.data())), {}});
    seen.record->sum_into_after_end(seen.tally);
  }
  // What a program left in its rings belongs to the last machine that it was on.
  for (const RunRecord::RingPlace& place : record.ring_places) {
    const std::uint32_t image = place.image.load(std::memory_order_acquire);
    if (image == 0) continue;
    const auto whose = std::ranges::find(all.rbegin(), all.rend(), image,
                                         [](const Seen& seen) { return seen.record->image; });
    if (whose == all.rend()) continue;
    const auto& ring = *std::launder(reinterpret_cast<const observe::Ring*>(place.ring.data()));
    ring.unread().each([&](const observe::Told& told) { whose->tally.count(told); });
  }
  return all;
}

std::vector<std::pair<std::uint32_t, const observe::Ring*>> RunRecorder::traced_rings() const {
  std::vector<std::pair<std::uint32_t, const observe::Ring*>> rings;
  if (!memory_.valid()) return rings;
  const RunRecord& record = *record_in(memory_);
  const std::size_t processes = std::min<std::size_t>(record.processes.load(), RunRecord::kMostProcesses);
  for (const RunRecord::RingPlace& place : record.ring_places) {
    const std::uint32_t image = place.image.load(std::memory_order_acquire);
    if (image == 0) continue;
    std::uint32_t traced_as = 0;  // the last machine that the program was on
    for (std::size_t i = 0; i < processes; ++i) {
      const auto& process =
          *std::launder(reinterpret_cast<const ProcessRecord*>(record.process_places[i].record.data()));
      if (record.process_places[i].filled.load(std::memory_order_acquire) && process.image == image)
        traced_as = process.traced_as.load();
    }
    const auto& ring = *std::launder(reinterpret_cast<const observe::Ring*>(place.ring.data()));
    if (traced_as != 0 && ring.has_unread()) rings.emplace_back(traced_as - 1, &ring);
  }
  return rings;
}

}  // namespace belay::trace
