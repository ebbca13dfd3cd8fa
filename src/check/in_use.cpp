#include "check/in_use.h"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "check/findings.h"
#include "observe/observe.h"

namespace belay::check {
namespace {

// Tasks that are queued or run, and what each touches; and by that, which tasks there are.
struct Pending {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> extents_of;  // a task -> what it touches
  std::unordered_map<std::uint64_t, std::vector<TaskInUse>> users_of;        // an extent -> tasks, in order
};
std::atomic<Pending*> g_pending{nullptr};
std::atomic<Memory*> g_used_memory{nullptr};

void submit(Pending& pending, const observe::Told& told) {
  std::vector<std::uint64_t> extents;
  for (const observe::Touch& each : told.touches) {
    if (each.extent != 0) extents.push_back(each.extent);
  }
  if (extents.empty()) return;
  const observe::Event& event = told.event;
  const std::lock_guard lock{pending.mutex};
  for (const std::uint64_t each : extents)
    pending.users_of[each].push_back({event.serial, event.function_name(), event.site});
  pending.extents_of.emplace(event.serial, std::move(extents));
}

void end(Pending& pending, std::uint64_t task) {
  const std::lock_guard lock{pending.mutex};
  const auto found = pending.extents_of.find(task);
  if (found == pending.extents_of.end()) return;
  for (const std::uint64_t each : found->second) {
    const auto users = pending.users_of.find(each);
    if (users == pending.users_of.end()) continue;
    std::erase_if(users->second, [task](const TaskInUse& one) { return one.number == task; });
    if (users->second.empty()) pending.users_of.erase(users);
  }
  pending.extents_of.erase(found);
}

void give_back(Pending& pending, const observe::Event& event, std::uint64_t extent) {
  if ((event.flags & observe::Event::kSwept) != 0) return;  // a reset has waited, or dropped the work
  std::optional<TaskInUse> user;
  {
    const std::lock_guard lock{pending.mutex};
    const auto users = pending.users_of.find(extent);
    if (users != pending.users_of.end() && !users->second.empty()) user = users->second.front();
  }
  if (!user) return;
  Memory* memory = g_used_memory.load(std::memory_order_acquire);
  const std::uint32_t made_at =
      event.object == Object::DeviceBlock && memory != nullptr ? memory->map().site_of(event.address) : 0;
  report_finding(freed_in_use(event.function_name(), event.site, event.object, event.address, event.bytes,
                              made_at, *user));
}

void hear_use(const observe::Batch& events) {
  Pending* pending = g_pending.load(std::memory_order_acquire);
  if (pending == nullptr) return;
  events.each([&](const observe::Told& told) {
    switch (told.event.what) {
      case observe::What::Submitted:
        return submit(*pending, told);
      case observe::What::Done:
      case observe::What::Failed:
      case observe::What::Dropped:
        return end(*pending, told.event.serial);
      case observe::What::Freed:
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
  g_pending.store(kept->emplace_back(std::make_unique<Pending>()).get(), std::memory_order_release);
  using observe::What;
  observe::listen(hear_use, {.wanted = observe::bits(What::Submitted, What::Done, What::Failed, What::Dropped,
                                                     What::Freed, What::Destroyed),
                             .at_once = true});
}

void stop_watching_use() {
  observe::unlisten(hear_use);
  g_used_memory.store(nullptr);
  g_pending.store(nullptr);
}

}  // namespace belay::check
