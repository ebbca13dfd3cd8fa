#include "check/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "platform/process.h"

namespace belay::check {
namespace {

constexpr const char* kName = "belay-verdict";
constexpr std::size_t kMostEntries = 8192, kLetters = std::size_t{8} << 20;

// Letters are taken by adding to one number; an entry is there when its state says so. So a process may be
// killed at any moment, and costs at most one entry.
struct Record {
  struct Entry {
    std::atomic<std::uint32_t> filled;
    std::int32_t process;
    std::atomic<std::uint64_t> count;
    std::uint32_t at;
    std::array<std::uint32_t, 6> lengths;
  };
  std::atomic<std::uint32_t> entries, processes;
  std::atomic<std::uint64_t> letters, lost;
  std::array<Entry, kMostEntries> all;
  std::array<char, kLetters> text;
};

std::atomic<Record*> g_record{nullptr};
std::array<char, 64> g_name{};  // of this process

Record* record_in(const platform::CommonMemory& memory) {
  return std::launder(reinterpret_cast<Record*>(memory.start()));
}

}  // namespace

VerdictReader::VerdictReader() : memory_{platform::CommonMemory::create(kName, sizeof(Record))} {}

std::string VerdictReader::link() const {
  return memory_.valid() && memory_.shared()
             ? fmt::format("/proc/{}/fd/{}", platform::process_id(), memory_.file())
             : std::string{};
}

std::vector<VerdictEntry> VerdictReader::entries() const {
  std::vector<VerdictEntry> list;
  if (!memory_.valid()) return list;
  const Record& record = *record_in(memory_);
  const std::size_t count = std::min<std::size_t>(record.entries.load(), kMostEntries);
  for (std::size_t i = 0; i < count; ++i) {
    const Record::Entry& entry = record.all[i];
    if (entry.filled.load(std::memory_order_acquire) == 0 || entry.count.load() == 0) continue;
    VerdictEntry& read = list.emplace_back();
    std::size_t at = entry.at;
    std::array<std::string*, 6> fields{&read.id,       &read.of,   &read.rule,
                                       &read.function, &read.text, &read.process_name};
    for (std::size_t field = 0; field < fields.size(); ++field) {
      const std::size_t length = entry.lengths[field];
      if (at > kLetters || length > kLetters - at) break;  // nothing that we wrote
      fields[field]->assign(record.text.data() + at, length);
      at += length;
    }
    read.process = entry.process;
    read.count = entry.count.load();
  }
  return list;
}

std::uint64_t VerdictReader::lost() const { return memory_.valid() ? record_in(memory_)->lost.load() : 0; }

bool VerdictReader::anybody() const { return memory_.valid() && record_in(memory_)->processes.load() != 0; }

void join_verdict(const std::string& link) {
  if (link.empty() || g_record.load() != nullptr) return;
  platform::CommonMemory memory;
  if (platform::CommonMemory::open(link, kName, true, memory) != platform::CommonMemory::Opened::Done ||
      memory.bytes() != sizeof(Record))
    return;
  const std::string name = platform::process_name();
  std::copy_n(name.begin(), std::min(name.size(), g_name.size() - 1), g_name.begin());
  record_in(memory)->processes.fetch_add(1);
  g_record.store(record_in(memory), std::memory_order_release);
  memory.abandon();  // the mapping stays until the end
}

bool has_verdict() { return g_record.load(std::memory_order_acquire) != nullptr; }

std::uint32_t add_to_verdict(const MisuseRow& row, std::string_view rule, std::string_view function,
                             std::string_view text) {
  Record* record = g_record.load(std::memory_order_acquire);
  if (record == nullptr) return kNoPlace;
  const std::string_view name{g_name.data()};
  const std::array<std::string_view, 6> fields{row.id, name_of(row.of), rule, function, text, name};
  std::size_t bytes = 0;
  for (const std::string_view each : fields) bytes += each.size();
  const std::uint32_t number = record->entries.fetch_add(1);
  const std::uint64_t at = number < kMostEntries ? record->letters.fetch_add(bytes) : kLetters;
  if (number >= kMostEntries || at > kLetters || bytes > kLetters - at) {
    record->lost.fetch_add(1);
    return kNoPlace;
  }
  Record::Entry& entry = record->all[number];
  entry.process = platform::process_id();
  entry.at = static_cast<std::uint32_t>(at);
  entry.count.store(1);
  char* to = record->text.data() + at;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    entry.lengths[i] = static_cast<std::uint32_t>(fields[i].size());
    std::memcpy(to, fields[i].data(), fields[i].size());
    to += fields[i].size();
  }
  entry.filled.store(1, std::memory_order_release);
  return number;
}

void verdict_again(std::uint32_t place) {
  if (Record* record = g_record.load(std::memory_order_acquire); record != nullptr && place != kNoPlace)
    record->all[place].count.fetch_add(1);
}

void verdict_meant(std::uint32_t place, std::uint64_t times) {
  if (Record* record = g_record.load(std::memory_order_acquire); record != nullptr && place != kNoPlace)
    record->all[place].count.fetch_sub(times);
}

void forget_verdict() { g_record.store(nullptr); }

}  // namespace belay::check
