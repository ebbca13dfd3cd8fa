#include "machine/death_watch.h"

#include <mutex>
#include <set>
#include <utility>

#include "base/of_process.h"
#include "machine/process_table.h"
#include "platform/process.h"
#include "platform/threads.h"

namespace belay::machine {

namespace {

// They stay when a machine is left, and know nothing of it but which file its state was.
struct Watchers {
  std::mutex mutex;
  const DeathWatch* serving = nullptr;
  std::set<std::pair<std::uint64_t, std::uint64_t>> watched;  // machine and process
};
constinit OfProcess<Watchers> g_watchers;

using LockWait = std::optional<platform::CommonMemory::LockWait>;

void wait_for_end_of(std::uint64_t machine, std::uint64_t recorder, const LockWait& lock_wait) {
  Watchers& all = g_watchers.get();
  if (lock_wait) (void)platform::CommonMemory::wait(*lock_wait);
  for (;;) {
    {
      const std::lock_guard lock{all.mutex};
      if (all.serving == nullptr || all.serving->over(machine, recorder)) {
        all.watched.erase({machine, recorder});
        return;
      }
    }
    platform::wait_for_end(Recorder::process(recorder));
  }
}

}  // namespace

void forget_death_watch() { g_watchers.set_aside(); }

void DeathWatch::begin(std::function<void()> told) {
  Watchers& all = g_watchers.get();
  const std::lock_guard lock{all.mutex};
  told_ = std::move(told);
  all.serving = this;
}

void DeathWatch::end() {
  Watchers& all = g_watchers.get();
  const std::lock_guard lock{all.mutex};
  if (all.serving == this) all.serving = nullptr;
}

bool DeathWatch::gone(std::uint64_t recorder) const {
  const std::size_t row = Recorder::row(recorder);
  const auto same = [&] { return Recorder::same_life(recorder, state_.rows[row].life.load()); };
  return !same() || !processes_.lives(row) || !same();
}

bool DeathWatch::over(std::uint64_t machine, std::uint64_t recorder) const {
  if (machine != memory_.inode()) return true;
  if (!gone(recorder)) return false;
  told_();
  return true;
}

bool DeathWatch::watch(std::uint64_t recorder) {
  const std::uint64_t machine = memory_.inode();
  Watchers& all = g_watchers.get();
  const std::lock_guard lock{all.mutex};
  if (!all.watched.emplace(machine, recorder).second) return true;
  const LockWait wait = memory_.wait_for_unlock(Recorder::row(recorder));
  if (platform::start_thread("belay-watch", [=] { wait_for_end_of(machine, recorder, wait); })) return true;
  all.watched.erase({machine, recorder});
  return false;
}

}  // namespace belay::machine
