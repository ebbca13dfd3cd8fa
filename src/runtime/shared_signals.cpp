#include "runtime/shared_signals.h"

#include <algorithm>
#include <utility>

#include "platform/threads.h"

namespace belay {
namespace {

using schedule::Lock;
using schedule::NotifyState;
using schedule::RemoteRecord;

// How often deaths are looked for where there is no thread to wait for them.
constexpr std::chrono::milliseconds kWithoutWatch{1000};

Refusal gone(const char* rule, const char* what, std::int32_t process) {
  return refuse({ACL_ERROR_RT_IPC_ERROR, rule, "EE2002",
                 fmt::format("{} process {}, which has ended before it recorded it", what, process), "",
                 "find out why that process ended"});
}

}  // namespace

HeldSignal::~HeldSignal() {
  if (!all_.closed_.load()) all_.signals_.release(name);
}

// A record of this process that others may wait for.
struct SharedSignals::Record : schedule::EventRecord {
  using EventRecord::EventRecord;
  std::uint64_t number = 0;  // 0: not published yet
};

// The place where this process waits for a record of another.
struct SharedSignals::Remote : RemoteRecord {
  Remote(Handle event_handle, SharedSignals& shared, SharedEventRef of, machine::Signals::Latest is,
         std::size_t at)
      : RemoteRecord{event_handle}, all{shared}, held{std::move(of)}, latest{is}, place{at} {}
  ~Remote() override {
    if (!all.closed_.load()) all.signals_.give_up(place);
  }
  void look(Lock& lock) override { all.look_at(*this, false, lock); }
  void demand(Lock& lock) override {
    all.signals_.demand(place, latest.recorder);
    all.await(*this, lock);
  }
  Refusal why_lost() const override {
    return gone("R-188", "the stream waits for an event of", machine::Recorder::process(latest.recorder));
  }
  SharedSignals& all;
  const SharedEventRef held;
  const machine::Signals::Latest latest;
  const std::size_t place;
  bool listed = false;  // among those that are demanded
  std::weak_ptr<Remote> self;
};

struct SharedSignals::Flag : schedule::SharedFlag, HeldSignal {
  Flag(SharedSignals& shared, machine::SignalName named) : HeldSignal{shared, named}, all{shared} {}
  ~Flag() override {
    if (place && !all.closed_.load()) all.signals_.give_up(*place);
  }
  void set() override {
    if (!all.closed_.load()) all.signals_.set(name);
  }
  bool take() override { return all.closed_.load() || all.signals_.take(name); }
  void await(bool waits, Lock&) override {
    if (!place || all.closed_.load()) return;
    if (!waits) return all.signals_.demand_no_more(*place);
    all.signals_.demand(*place, name);
    all.call_listener();
  }
  // What is queued here may set it. Else somebody else must, and whoever that is may die.
  Refusal why_lost(Lock&) const override {
    if (all.closed_.load()) return nullptr;
    const machine::Signals::Others others = all.signals_.others(name);
    for (const std::uint64_t each : others.living)
      all.watched_ = all.machine_.death_watch().watch(each) && all.watched_;
    if (!others.living.empty() || others.lost == 0 || all.setter_of(state)) return nullptr;
    return gone("R-211", "the stream waits for a notify, and the last other one who had it was", others.lost);
  }
  SharedSignals& all;
  const NotifyState* state = nullptr;  // that has it
  std::optional<std::size_t> place;    // where this process waits, once it ever did
};

// --- events ---------------------------------------------------------------------------------------

SharedEventRef SharedSignals::make_event(std::uint64_t about) {
  Lock lock = scheduler_.lock();
  if (!start()) return nullptr;
  const std::optional<machine::SignalName> name = signals_.make(about);
  if (!name) return nullptr;
  auto event = std::make_shared<SharedEvent>(*this, *name);
  events_[name->serial] = event;
  return event;
}

SharedEventRef SharedSignals::open_event(const machine::SignalName& name, std::uint64_t& about) {
  Lock lock = scheduler_.lock();
  if (!start()) return nullptr;
  const std::optional<std::uint64_t> opened = signals_.open(name);
  if (!opened) return nullptr;
  about = *opened;
  auto again = std::make_shared<SharedEvent>(*this, name);  // holds it as often as it was opened
  std::erase_if(events_, [](const auto& each) { return each.second.expired(); });
  if (SharedEventRef known = events_[name.serial].lock()) return known;
  events_[name.serial] = again;
  return again;
}

std::shared_ptr<schedule::EventRecord> SharedSignals::new_record(Handle event) {
  return std::make_shared<Record>(event);
}

void SharedSignals::publish(const SharedEventRef& event, const std::shared_ptr<schedule::EventRecord>& record,
                            Lock&) {
  auto own = std::static_pointer_cast<Record>(record);
  own->number = signals_.record(event->name, own->complete);
  event->mine = record;
  if (!own->complete) own_[{event->name.serial, own->number}] = own;
}

void SharedSignals::left(SharedEvent& event, schedule::EventRecord& record, Lock&) {
  const std::uint64_t number = static_cast<Record&>(record).number;
  if (number == 0 || closed_.load()) return;
  signals_.complete(event.name, number);
  own_.erase({event.name.serial, number});
}

SharedSignals::Latest SharedSignals::latest(const SharedEventRef& event, Handle handle, Lock&) {
  for (;;) {
    const machine::Signals::Latest now = signals_.latest(event->name);
    Latest seen;
    seen.recorded = now.number != 0;
    if (now.number != 0 && signals_.is_mine(now.recorder)) {
      seen.mine = event->mine;
      const auto own = own_.find({event->name.serial, now.number});  // of an event that was opened anew
      if (seen.mine == nullptr && own != own_.end()) seen.mine = own->second.lock();
    }
    if (now.done || seen.mine != nullptr) return seen;
    seen.theirs = event->theirs.lock();
    if (seen.theirs != nullptr && static_cast<Remote&>(*seen.theirs).latest == now) return seen;
    // Who completes it either sees that we wait, or has done so before we look again.
    const std::optional<std::size_t> place = signals_.await(event->name, now.number, machine::Wait::Queued);
    seen.no_room = !place;
    if (!place) return seen;
    auto remote = std::make_shared<Remote>(handle, *this, event, now, *place);
    if (signals_.latest(event->name) != now) continue;
    remote->self = remote;
    event->theirs = remote;
    seen.theirs = std::move(remote);
    return seen;
  }
}

// --- notifies -------------------------------------------------------------------------------------

std::optional<machine::SignalName> SharedSignals::share(const std::shared_ptr<NotifyState>& state,
                                                        std::uint64_t about) {
  Lock lock = scheduler_.lock();
  if (state->shared != nullptr) return static_cast<Flag&>(*state->shared).name;
  if (!start()) return std::nullopt;
  const std::optional<machine::SignalName> name = signals_.make(about, state->set);
  if (!name) return std::nullopt;
  add_flag(state, *name);
  // Streams that wait already wait for the others as well.
  if (!state->waiting.empty() && make_room(*state, lock)) state->shared->await(true, lock);
  return name;
}

std::shared_ptr<NotifyState> SharedSignals::open_notify(const machine::SignalName& name, Handle first,
                                                        std::uint64_t& about) {
  Lock lock = scheduler_.lock();
  if (!start()) return nullptr;
  const std::optional<std::uint64_t> opened = signals_.open(name);
  if (!opened) return nullptr;
  about = *opened;
  std::erase_if(notifies_, [](const auto& each) { return each.second.expired(); });
  if (std::shared_ptr<NotifyState> known = notifies_[name.serial].lock()) {
    signals_.release(name);
    return known;
  }
  auto state = std::make_shared<NotifyState>();
  state->notify = first;
  add_flag(state, name);
  return state;
}

void SharedSignals::add_flag(const std::shared_ptr<NotifyState>& state, const machine::SignalName& name) {
  auto flag = std::make_unique<Flag>(*this, name);
  flag->state = state.get();
  notifies_[name.serial] = state;
  state->shared = std::move(flag);
}

bool SharedSignals::make_room(NotifyState& state, Lock&) {
  auto& flag = static_cast<Flag&>(*state.shared);
  if (!flag.place) flag.place = signals_.await(flag.name, 0, machine::Wait::Queued);
  return flag.place.has_value();
}

// The first task here that will set it.
std::optional<SharedSignals::Setter> SharedSignals::setter_of(const NotifyState* state) const {
  std::optional<Setter> found;
  streams_.each([&](Handle, Stream& stream) {
    for (const schedule::Task* task = stream.head.get(); task != nullptr && !found; task = task->next.get()) {
      if (task->sets() == state) found = {&stream, task->position};
    }
  });
  return found;
}

// --- the bell -------------------------------------------------------------------------------------

bool SharedSignals::start() {
  if (started_ || !machine_.is_shared()) return true;
  machine_.death_watch().begin([this] {
    deaths_.fetch_add(1);
    signals_.ring();
  });
  signals_.listen(scheduler_.policy().driven());
  heard_ = signals_.rung();
  started_ = platform::start_thread("belay-bell", [this] { serve(); });
  if (!started_) return false;
  scheduler_.set_outside(this);
  return true;
}

void SharedSignals::serve() {
  Lock lock = scheduler_.lock();
  while (!closing_) {
    if (listening_ || !listens_for_somebody(lock) || !sleep(lock)) needed_.wait(lock);
  }
  started_ = false;
  ended_.notify_all();
}

// Whether anything that may come concerns anybody: a stream or a thread that waits now, or somebody
// elsewhere.
bool SharedSignals::listens_for_somebody(Lock&) {
  if (scheduler_.policy().driven()) return true;
  std::erase_if(demanded_, [](const auto& each) { return each.expired(); });
  return !demanded_.empty() || std::ranges::any_of(notifies_, [](const auto& each) {
    const std::shared_ptr<NotifyState> state = each.second.lock();
    return state != nullptr && !state->waiting.empty();
  });
}

// Somebody waits from now on.
void SharedSignals::call_listener() {
  if (!listening_ && !schedule::Scheduler::this_thread_may_sleep_outside()) needed_.notify_one();
}

void SharedSignals::leave(Lock& lock) {
  if (!listening_ && listens_for_somebody(lock)) needed_.notify_one();
}

bool SharedSignals::sleep(Lock& lock) {
  if (listening_ || closing_ || !started_ || !listens_for_somebody(lock)) return false;
  listening_ = true;
  const std::uint32_t heard = heard_;
  const auto at_most = watched_ ? std::nullopt : std::optional{kWithoutWatch};
  lock.unlock();
  signals_.sleep(heard, at_most);
  lock.lock();
  listening_ = false;
  const std::uint32_t rung = signals_.rung();
  try {
    look_around(lock);
    heard_ = rung;
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): tried again at once
  }
  return true;
}

void SharedSignals::await(Remote& remote, Lock&) {
  if (!remote.listed) demanded_.push_back(remote.self);
  remote.listed = true;
  watched_ = machine_.death_watch().watch(remote.latest.recorder) && watched_;
  call_listener();
}

// Whether nothing is left to wait for.
bool SharedSignals::look_at(RemoteRecord& record, bool may_be_gone, Lock& lock) {
  auto& remote = static_cast<Remote&>(record);
  if (remote.complete || remote.lost) return true;
  // What a process has done is seen by whoever sees that it is gone. Where it died before it had told us, the
  // event itself may know.
  const bool is_gone = may_be_gone && machine_.death_watch().gone(remote.latest.recorder);
  if (signals_.is_done(remote.place) ||
      (is_gone && signals_.latest(remote.held->name) == remote.latest.when_done())) {
    remote.finish(scheduler_, lock);
    scheduler_.changed(lock);  // threads wait for it as well
  } else if (is_gone) {
    remote.lose(scheduler_, lock);
  }
  return remote.complete || remote.lost;
}

void SharedSignals::look_around(Lock& lock) {
  const std::uint64_t deaths = deaths_.load();
  const bool somebody_died = std::exchange(deaths_seen_, deaths) != deaths || !watched_;
  std::vector<std::shared_ptr<Remote>> waited_for;
  for (const std::weak_ptr<Remote>& each : demanded_) {
    if (std::shared_ptr<Remote> remote = each.lock()) waited_for.push_back(std::move(remote));
  }
  demanded_.clear();
  for (const std::shared_ptr<Remote>& each : waited_for) {
    each->listed = !look_at(*each, somebody_died, lock);
    if (each->listed) demanded_.push_back(each);
  }
  std::vector<std::shared_ptr<NotifyState>> notifies;
  for (const auto& [serial, each] : notifies_) {
    if (std::shared_ptr<NotifyState> state = each.lock(); state != nullptr && !state->waiting.empty())
      notifies.push_back(std::move(state));
  }
  for (const std::shared_ptr<NotifyState>& each : notifies) each->look_again(scheduler_, lock);
  look_at_demands(lock);
}

void SharedSignals::look_at_demands(Lock& lock) {
  if (!scheduler_.policy().driven() || closed_.load() || !started_) return;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> demands;
  signals_.for_each_demand(
      [&](std::uint64_t serial, std::uint64_t record) { demands.emplace_back(serial, record); });
  for (const auto& demand : demands) {
    if (const auto own = own_.find(demand); own != own_.end()) {
      const std::shared_ptr<Record> record = own->second.lock();
      const StreamRef stream = record == nullptr ? nullptr : record->stream.lock();
      if (stream != nullptr) scheduler_.demand(*stream, record->position, lock);
    } else if (const auto notify = notifies_.find(demand.first); notify != notifies_.end()) {
      const std::shared_ptr<NotifyState> state = notify->second.lock();
      const std::optional<Setter> setter = state == nullptr ? std::nullopt : setter_of(state.get());
      if (setter) scheduler_.demand(*setter->stream, setter->position, lock);
    }
  }
}

void SharedSignals::close() {
  Lock lock = scheduler_.lock();
  closing_ = true;
  scheduler_.set_outside(nullptr);
  if (started_) {
    needed_.notify_all();
    signals_.ring();
    ended_.wait(lock, [&] { return !started_; });
    machine_.death_watch().end();
  }
  signals_.release_all();
  closed_.store(true);
}

}  // namespace belay
