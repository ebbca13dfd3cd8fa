#include "memory/host_history.h"

#include <array>
#include <atomic>

namespace belay {

namespace {

struct Entry {
  std::atomic<std::uintptr_t> start{0};
  std::atomic<std::size_t> asked{0}, bytes{0};
  std::atomic<bool> registered{false}, managed{false};
  std::atomic<const char*> made_by{nullptr}, ended_by{nullptr};
  std::atomic<std::uint32_t> made_at{0}, ended_at{0};
};

// Beyond the end of the runtime: a block may be used after aclFinalize.
constinit std::array<Entry, 1024> g_entries{};
constinit std::atomic<std::uint64_t> g_count{0};

}  // namespace

// Holds nothing meanwhile: whoever is in a handler of this thread sees the stores in their order, and another
// thread may read the wrong words in any case.
void remember_ended(const HostFacts& facts) {
  constexpr auto kOrder = std::memory_order_release;
  Entry& entry = g_entries[g_count.fetch_add(1) % g_entries.size()];
  entry.bytes.store(0, kOrder);
  entry.start.store(facts.start, kOrder);
  entry.asked.store(facts.asked, kOrder);
  entry.registered.store(facts.registered, kOrder);
  entry.managed.store(facts.managed, kOrder);
  entry.made_by.store(facts.made_by, kOrder);
  entry.ended_by.store(facts.ended_by, kOrder);
  entry.made_at.store(facts.made_at, kOrder);
  entry.ended_at.store(facts.ended_at, kOrder);
  entry.bytes.store(facts.bytes, kOrder);
}

std::optional<HostFacts> ended_around(std::uintptr_t address) {
  const std::uint64_t count = g_count.load();
  for (std::uint64_t back = 1; back <= count && back <= g_entries.size(); ++back) {
    const Entry& entry = g_entries[(count - back) % g_entries.size()];
    const HostFacts facts{entry.start.load(),      entry.asked.load(),   entry.bytes.load(),
                          entry.registered.load(), entry.managed.load(), entry.made_by.load(),
                          entry.ended_by.load(),   entry.made_at.load(), entry.ended_at.load()};
    if (facts.holds(address)) return facts;
  }
  return std::nullopt;
}

}  // namespace belay
