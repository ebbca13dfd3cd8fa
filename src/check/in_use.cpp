#include "check/in_use.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "check/findings.h"
#include "memory/history.h"
#include "observe/lives.h"
#include "observe/observe.h"

namespace belay::check {
namespace {

// By what is touched: the tasks that are queued or run, in the order in which they were submitted. Most end
// in that order, too.
using Users = std::deque<TaskInUse>;
struct Pending {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Users> of_extent;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> of_task;  // extents
  std::unordered_set<std::uint64_t> doomed;  // tasks whose memory was given back, as was reported
};
std::atomic<Pending*> g_pending{nullptr};
std::atomic<Memory*> g_used_memory{nullptr};

void submit(Pending& pending, const observe::Told& told) {
  const observe::Event& event = told.event;
  const std::lock_guard lock{pending.mutex};
  std::vector<std::uint64_t>* extents = nullptr;
  for (const observe::Touch& each : told.touches) {
    // What was taken during the call is not needed any more (M-269).
    if (each.extent == 0 || (event.operation == observe::Operation::CopyTaken && !each.writes)) continue;
    pending.of_extent[each.extent].push_back({event.serial, event.function_name(), event.site});
    if (extents == nullptr) extents = &pending.of_task[event.serial];
    extents->push_back(each.extent);
  }
}

// Of cache operations nobody asks whether there is anything at their addresses.
void judge_cache_operation(const observe::Told& told) {
  const Memory* memory = g_used_memory.load(std::memory_order_acquire);
  if (memory == nullptr) return;
  for (const observe::Touch& each : told.touches) {
    if (each.extent != 0 || !memory->is_device_address(each.address)) continue;
    report_finding(used_without_question(told.event.function_name(), told.event.site, each.address,
                                         each.bytes, history_at(*memory, each.address)));
  }
}

// What a task has touched in the end may be more than was known of it before: some find addresses in memory.
void end(Pending& pending, std::uint64_t number) {
  const std::lock_guard lock{pending.mutex};
  const auto ended = pending.of_task.find(number);
  if (ended == pending.of_task.end()) return;
  for (const std::uint64_t each : ended->second) {
    const auto found = pending.of_extent.find(each);
    if (found == pending.of_extent.end()) continue;
    Users& users = found->second;
    const auto task = std::ranges::find(users, number, &TaskInUse::number);
    if (task != users.end()) users.erase(task);
  }
  pending.of_task.erase(ended);
  constexpr std::size_t kMany = 4096;  // those that nobody uses any more are kept for their next use
  if (pending.of_extent.size() > kMany)
    std::erase_if(pending.of_extent, [](const auto& each) { return each.second.empty(); });
}

void give_back(Pending& pending, const observe::Event& event, std::uint64_t extent) {
  if ((event.flags & observe::Event::kSwept) != 0) return;  // a reset has waited, or dropped the work
  TaskInUse user{};
  {
    const std::lock_guard lock{pending.mutex};
    const auto found = pending.of_extent.find(extent);
    if (found == pending.of_extent.end() || found->second.empty()) return;
    user = found->second.front();
    constexpr std::size_t kMostDoomed = 65'536;
    for (const TaskInUse& each : found->second) {
      if (pending.doomed.size() < kMostDoomed) pending.doomed.insert(each.number);
    }
  }
  Memory* memory = g_used_memory.load(std::memory_order_acquire);
  std::uint32_t made_at = 0;
  if (event.object == Object::DeviceBlock) {
    if (memory != nullptr) made_at = memory->map().site_of(event.address);
  } else if (const std::optional<observe::Life> life = observe::life_of(event.object, event.serial)) {
    made_at = life->made_at;
  }
  report_finding(freed_in_use(event.function_name(), event.site, event.object, event.address, event.bytes,
                              made_at, user));
}

void hear_use(const observe::Batch& events) {
  Pending* pending = g_pending.load(std::memory_order_acquire);
  if (pending == nullptr) return;
  events.each([&](const observe::Told& told) {
    switch (told.event.what) {
      case observe::What::Submitted:
        if (told.event.operation == observe::Operation::CacheOperation) judge_cache_operation(told);
        return submit(*pending, told);
      case observe::What::Done:
      case observe::What::Failed:
      case observe::What::Dropped:
        return end(*pending, told.event.serial);
      case observe::What::GivenBack:
        return give_back(*pending, told.event, told.event.serial);
      case observe::What::Destroyed:
        if (told.event.object == Object::Mapping && told.details != nullptr)
          give_back(*pending, told.event, told.details->object);
        if (told.event.object == Object::Managed) give_back(*pending, told.event, told.event.serial);
        return;
      default:
        return;
    }
  });
}

}  // namespace

void watch_use(Memory& memory) {
  static auto* kept = new std::vector<std::unique_ptr<Pending>>;  // a straggler may still hold an older one
  g_used_memory.store(&memory);
  memory.mark_use(true);
  g_pending.store(kept->emplace_back(std::make_unique<Pending>()).get(), std::memory_order_release);
  using observe::What;
  observe::listen(hear_use, {.wanted = observe::bits(What::Submitted, What::Done, What::Failed, What::Dropped,
                                                     What::GivenBack, What::Destroyed),
                             .at_once = true});
}

bool is_doomed(std::uint64_t task) {
  Pending* pending = g_pending.load(std::memory_order_acquire);
  if (pending == nullptr) return false;
  const std::lock_guard lock{pending->mutex};
  return pending->doomed.contains(task);
}

void stop_watching_use() {
  if (Memory* memory = g_used_memory.load()) memory->mark_use(false);
  observe::unlisten(hear_use);
  g_used_memory.store(nullptr);
  g_pending.store(nullptr);
}

}  // namespace belay::check
