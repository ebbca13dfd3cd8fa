#include "check/in_use.h"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "check/findings.h"
#include "observe/lives.h"
#include "observe/observe.h"

namespace belay::check {
namespace {

// By what is touched: how many tasks are queued or run, and the last of them.
struct Users {
  std::uint64_t tasks = 0;
  TaskInUse last{};
};
struct Pending {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Users> of_extent;
};
std::atomic<Pending*> g_pending{nullptr};
std::atomic<Memory*> g_used_memory{nullptr};

void submit(Pending& pending, const observe::Told& told) {
  const std::lock_guard lock{pending.mutex};
  for (const observe::Touch& each : told.touches) {
    if (each.extent == 0) continue;
    Users& users = pending.of_extent[each.extent];
    ++users.tasks;
    users.last = {told.event.serial, told.event.function_name(), told.event.site};
  }
}

void end(Pending& pending, const observe::Told& told) {
  const std::lock_guard lock{pending.mutex};
  for (const observe::Touch& each : told.touches) {
    const auto found = pending.of_extent.find(each.extent);
    if (found == pending.of_extent.end()) continue;
    if (found->second.tasks > 0) --found->second.tasks;
  }
  constexpr std::size_t kMany = 4096;  // those that nobody uses any more are kept for their next use
  if (pending.of_extent.size() > kMany)
    std::erase_if(pending.of_extent, [](const auto& each) { return each.second.tasks == 0; });
}

void give_back(Pending& pending, const observe::Event& event, std::uint64_t extent) {
  if ((event.flags & observe::Event::kSwept) != 0) return;  // a reset has waited, or dropped the work
  TaskInUse user{};
  {
    const std::lock_guard lock{pending.mutex};
    const auto found = pending.of_extent.find(extent);
    if (found == pending.of_extent.end() || found->second.tasks == 0) return;
    user = found->second.last;
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
        return submit(*pending, told);
      case observe::What::Done:
      case observe::What::Failed:
      case observe::What::Dropped:
        return end(*pending, told);
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

void stop_watching_use() {
  if (Memory* memory = g_used_memory.load()) memory->mark_use(false);
  observe::unlisten(hear_use);
  g_used_memory.store(nullptr);
  g_pending.store(nullptr);
}

}  // namespace belay::check
