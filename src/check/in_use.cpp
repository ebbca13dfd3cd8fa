#include "check/in_use.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "check/done_streams.h"
#include "check/findings.h"
#include "check/host_buffers.h"
#include "check/kept.h"
#include "observe/lives.h"
#include "observe/observe.h"

namespace belay::check {
namespace {

// A task that uses some memory, and the bytes that it writes there.
struct User {
  TaskInUse task;
  std::uint64_t stream, position;
  std::uint64_t first_written, end_written;
};
struct Users {
  std::vector<User> all;  // also some that are done by now
  std::size_t left = 0;   // when those were last left out
};
struct Pending {
  DoneStreams streams;
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Users> of_extent;
  std::size_t left = 0;                      // extents, when those without a user were last left out
  std::unordered_set<std::uint64_t> doomed;  // tasks whose memory was given back, as was reported

  void leave_out_done(Users& users) {
    std::erase_if(users.all, [&](const User& each) { return streams.is_done(each.stream, each.position); });
    users.left = users.all.size();
  }
};
std::atomic<Pending*> g_pending{nullptr};
std::atomic<Memory*> g_used_memory{nullptr};

void submit(Pending& pending, const observe::Told& told) {
  const observe::Event& event = told.event;
  if (told.details == nullptr) return;
  const std::uint64_t stream = told.details->stream;
  const std::lock_guard lock{pending.mutex};
  bool added = false;
  for (const observe::Touch& each : told.touches) {
    // What was taken during the call is not needed any more (M-269).
    if (each.extent == 0 || (event.operation == observe::Operation::CopyTaken && !each.writes)) continue;
    if (!std::exchange(added, true)) pending.streams.add(stream);
    Users& users = pending.of_extent[each.extent];
    if (users.all.size() >= 2 * users.left + 64) pending.leave_out_done(users);
    users.all.push_back(
        {{event.serial, event.function_name(), event.site},
         stream,
         told.details->position,
         each.offset,
         each.writes ? each.offset + (each.rows - 1) * each.pitch + each.bytes : each.offset});
  }
  constexpr std::size_t kMany = 4096;  // those that nobody uses any more are kept for their next use
  if (!added || pending.of_extent.size() <= std::max(kMany, 2 * pending.left)) return;
  for (auto& [extent, users] : pending.of_extent) pending.leave_out_done(users);
  std::erase_if(pending.of_extent, [](const auto& each) { return each.second.all.empty(); });
  pending.left = pending.of_extent.size();
}

// One task alone, perhaps before others that were submitted earlier.
void drop(Pending& pending, const observe::Told& told) {
  const std::lock_guard lock{pending.mutex};
  for (const observe::Touch& each : told.touches) {
    const auto found = pending.of_extent.find(each.extent);
    if (found != pending.of_extent.end())
      std::erase_if(found->second.all,
                    [&](const User& user) { return user.task.number == told.event.serial; });
  }
}

// A stream saw a word that it waited for. Who wrote it has done so then, although that it is done may be told
// only after this: a program may free the word as soon as the wait is over.
void see_word(Pending& pending, const observe::Touch& word) {
  const std::lock_guard lock{pending.mutex};
  const auto found = pending.of_extent.find(word.extent);
  if (found == pending.of_extent.end()) return;
  std::erase_if(found->second.all, [&](const User& user) {
    return user.first_written < word.offset + word.bytes && word.offset < user.end_written &&
           pending.streams.is_done(user.stream, user.position - 1);
  });
}

void give_back(Pending& pending, const observe::Event& event, std::uint64_t extent) {
  if ((event.flags & observe::Event::kSwept) != 0) return;  // a reset has waited, or dropped the work
  if (event.object == Object::HostBlock && watches_host_buffers()) return;  // told there, by another rule
  TaskInUse user{};
  {
    const std::lock_guard lock{pending.mutex};
    const auto found = pending.of_extent.find(extent);
    if (found == pending.of_extent.end()) return;
    pending.leave_out_done(found->second);
    if (found->second.all.empty()) return;
    user = found->second.all.front().task;
    constexpr std::size_t kMostDoomed = 65'536;
    for (const User& each : found->second.all) {
      if (pending.doomed.size() < kMostDoomed) pending.doomed.insert(each.task.number);
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
        return submit(*pending, told);
      case observe::What::Done:
        if (told.event.operation == observe::Operation::WaitValue) {
          for (const observe::Touch& each : told.touches) see_word(*pending, each);
        }
        if (told.details != nullptr) pending->streams.done(told.details->stream, told.details->position);
        return;
      case observe::What::Failed:
      case observe::What::Dropped:
        return drop(*pending, told);
      case observe::What::GivenBack:
        return give_back(*pending, told.event, told.event.serial);
      case observe::What::Destroyed:
        if (told.event.object == Object::Mapping && told.details != nullptr)
          give_back(*pending, told.event, told.details->object);
        if (told.event.object == Object::Stream) pending->streams.destroyed(told.event.serial);
        if (told.event.object == Object::Managed) give_back(*pending, told.event, told.event.serial);
        return;
      default:
        return;
    }
  });
}

}  // namespace

void watch_use(Memory& memory) {
  g_used_memory.store(&memory);
  memory.mark_use(true);
  g_pending.store(make_anew<Pending>(), std::memory_order_release);
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
