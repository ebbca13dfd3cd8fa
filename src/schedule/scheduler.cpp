#include "schedule/scheduler.h"

#include <algorithm>
#include <future>
#include <utility>

#include "observe/call_sites.h"
#include "observe/observe.h"
#include "platform/process.h"
#include "platform/threads.h"

namespace belay::schedule {
namespace {

using namespace std::chrono_literals;

// A copy is done in pieces, so that an abort need not wait for all of it. Large enough that the C library
// still copies past the caches.
constexpr std::size_t kPiece = 32_MiB;
constexpr unsigned kTasksPerTurn = 32;  // then other streams have theirs
// How long the program may wait, outside of our calls, for a function that we have not called yet.
constexpr auto kLate = 20ms;
// How long streams that can never go on are given before a context that ends drops their tasks.
constexpr auto kStuck = 100ms;
constexpr auto kStuckBesideOthers = 2s;
// How long a runtime that ends waits for functions of the program.
constexpr auto kRetire = 2s;

// How long a worker looks around before it sleeps, and how long a thread that waits looks before it does:
// less than what sleeping and being woken costs.
constexpr auto kLookAround = 20us;
constexpr auto kLookForEnd = 10us;

// Over all schedulers that there are in the life of the process, so that no number comes again.
constinit std::atomic<std::uint64_t> g_last_task{0};
constinit thread_local Stream* t_inside = nullptr;
constinit thread_local bool t_is_worker = false;
constinit thread_local bool t_may_sleep_outside = false;

template <class Seen>
bool look(Clock::duration how_long, Seen&& seen) {
  const Time until = Clock::now() + how_long;
  do {
    for (int i = 0; i < 32; ++i) {
      if (seen()) return true;
      platform::pause();
    }
  } while (Clock::now() < until);
  return false;
}

void describe(Task& task) {
  observe::quietly([&] { task.description = std::make_shared<Description>(task.describe()); });
}

// What is remembered of each thread that submits; anew in the child of a fork, whose scheduler is another.
struct Submitter {
  const Scheduler* of = nullptr;
  std::int32_t thread = 0;
  std::uint32_t last_task = UINT32_MAX;
};
Submitter& this_thread(const Scheduler* scheduler) {
  constinit thread_local Submitter one;
  if (one.of != scheduler) one = {scheduler, platform::thread_id(), UINT32_MAX};
  return one;
}

}  // namespace

InsideCallback::InsideCallback(Stream& stream, std::uint64_t position)
    : before_{std::exchange(t_inside, &stream)}, told_{stream.handle, position} {}
InsideCallback::~InsideCallback() { t_inside = before_; }
Stream* InsideCallback::of_this_thread() { return t_inside; }

void tell(observe::What what, const Stream& stream, const TaskFacts& task, std::int32_t outcome) {
  if (!observe::wanted(what)) [[likely]]
    return;
  static const Description unknown;  // nobody listened when it was submitted
  const Description& does = task.description ? *task.description : unknown;
  observe::Details details = does.details;
  details.stream = stream.handle;
  details.position = task.position;
  observe::deliver(
      {.what = what,
       .actor = what == observe::What::Submitted ? observe::Actor::Thread : observe::Actor::Stream,
       .operation = does.operation,
       .device = static_cast<std::uint8_t>(stream.device()),
       .outcome = outcome,
       .site = task.site,
       .serial = task.sequence,
       .bytes = does.bytes,
       .function = task.api},
      details, does.touches);
}
void tell_done(const Stream& stream, Task& task) {
  tell(observe::What::Done, stream, task);
  task.told_done = true;
}

Scheduler::Scheduler(Policy policy, Told failed, StrayCalls strays)
    : policy_{policy},
      failed_{std::move(failed)},
      strays_{std::move(strays)},
      dice_{policy.seed},
      worth_spinning_{platform::processors() > 1} {}

std::shared_ptr<Stream> Scheduler::open(std::uintptr_t handle, const std::shared_ptr<Group>& group,
                                        StreamTraits traits) {
  auto stream = std::make_shared<Stream>(handle, group, traits);
  const Lock held = lock();
  group->members.push_back(stream.get());
  if (group->stopped) stream->troubled.store(true);
  return stream;
}

bool Scheduler::this_thread_may_sleep_outside() { return t_may_sleep_outside; }

void Scheduler::tell_arrived(Stream& stream) {
  stream.arrived.notify_all();
  if (slept_for_ == &stream) outside_->wake();
}

// --- workers --------------------------------------------------------------------------------------

bool Scheduler::wake_worker(Lock&) {
  if (idle_ > waking_) {
    ++waking_;
    work_.notify_one();
    return true;
  }
  const unsigned most = policy_.mode == Mode::Fifo ? 1 : std::clamp(platform::processors(), 2U, 8U);
  if (workers_ < most && platform::start_thread("belay-worker", [this] { work(); })) ++workers_;
  return workers_ > 0;
}

// Streams are left that could go while all who are awake are at work.
void Scheduler::call_for_help(Lock& lock) {
  if (looking() == 0) wake_worker(lock);
}

// For a moment, without the lock: a program that submits one task after the other need not wake anybody then.
bool Scheduler::look_around(Lock& lock) {
  if (!worth_spinning_ || somebody_looks_around_) return false;
  somebody_looks_around_ = true;
  lock.unlock();
  const bool found = look(kLookAround, [&] { return ready_count_.load(std::memory_order_relaxed) != 0; });
  lock.lock();
  somebody_looks_around_ = false;
  return found;
}

void Scheduler::work() {
  t_is_worker = true;
  Lock held = lock();
  while (!retiring_) {
    if (!stopping()) {
      fire_due(held);
      if (Stream* stream = policy_.mode == Mode::Fifo ? oldest() : ready_first_) {
        turn(*stream, held, policy_.mode == Mode::Fifo ? 1 : kTasksPerTurn, kPiece);
        if (policy_.mode == Mode::Fifo) settle(held);  // one at a time, functions of the program included
        continue;
      }
      if (look_around(held)) continue;
      if (ready_first_ != nullptr) continue;
    }
    ++idle_;
    if (timers_.empty() || stopping()) {
      work_.wait(held);
    } else {
      const Time first = timers_.begin()->first;  // a copy: others may fire it while this one sleeps
      work_.wait_until(held, first);
    }
    --idle_;
    if (waking_ > 0) --waking_;
  }
  --workers_;
  changed(held);
}

// Driven by calls, nobody would ever reach a function of the program that it waits for by means of its own
// (a condition variable, a flag). After a moment of silence this thread goes there.
void Scheduler::work_late() {
  Lock held = lock();
  while (!retiring_) {
    if (late_calls_.empty()) {
      late_.wait(held);
      continue;
    }
    const std::uint64_t first = late_calls_.begin()->first;
    const Time until = Clock::now() + kLate;
    while (!late_calls_.empty() && late_calls_.begin()->first == first &&
           late_.wait_until(held, until) == std::cv_status::no_timeout) {
    }
    while (!late_calls_.empty() && late_calls_.begin()->first == first &&
           step_for(*late_calls_.begin()->second, held, {})) {
    }
    if (!late_calls_.empty() && late_calls_.begin()->first == first) wait_for_change(held, nullptr, {});
  }
  late_started_ = false;
  changed(held);
}

void Scheduler::demand(Stream& stream, std::uint64_t position, Lock&) {
  const bool known = std::ranges::any_of(demands_, [&](const Demand& each) {
    return each.position == position && each.stream.lock().get() == &stream;
  });
  if (known || !policy_.driven() || retiring_) return;
  demands_.push_back({stream.weak_from_this(), position});
  if (!demand_started_)
    demand_started_ = platform::start_thread("belay-demand", [this] { work_on_demand(); });
  demanded_.notify_one();
}

void Scheduler::work_on_demand() {
  Lock held = lock();
  while (!retiring_) {
    std::erase_if(demands_, [](const Demand& each) {
      const std::shared_ptr<Stream> stream = each.stream.lock();
      return stream == nullptr || stream->finished.load(std::memory_order_relaxed) >= each.position;
    });
    if (demands_.empty() || stopping()) {
      demanded_.wait(held);
      continue;
    }
    bool stepped = false;
    for (std::size_t i = 0; i < demands_.size() && !stepped; ++i) {
      const std::shared_ptr<Stream> stream = demands_[i].stream.lock();
      stepped = stream != nullptr && step_for(*stream, held, {});
    }
    if (!stepped) wait_for_change(held, nullptr, {});
  }
  demand_started_ = false;
  changed(held);
}

// --- the list of streams that can go --------------------------------------------------------------

void Scheduler::make_ready(Stream& stream, Lock& lock) {
  if (stream.ready || !can_go(stream)) return;
  stream.ready = true;
  stream.ready_before = ready_last_;
  stream.ready_after = nullptr;
  (ready_last_ != nullptr ? ready_last_->ready_after : ready_first_) = &stream;
  ready_last_ = &stream;
  ++ready_count_;
  if (driven()) {
    changed(lock);
  } else if (&stream != slept_for_) {
    call_for_help(lock);
  }
}

void Scheduler::remove_ready(Stream& stream) {
  if (!stream.ready) return;
  (stream.ready_before != nullptr ? stream.ready_before->ready_after : ready_first_) = stream.ready_after;
  (stream.ready_after != nullptr ? stream.ready_after->ready_before : ready_last_) = stream.ready_before;
  stream.ready_before = stream.ready_after = nullptr;
  stream.ready = false;
  --ready_count_;
}

Stream* Scheduler::oldest() const {
  Stream* found = nullptr;
  for (Stream* each = ready_first_; each != nullptr; each = each->ready_after) {
    if (found == nullptr || each->head->sequence < found->head->sequence) found = each;
  }
  return found;
}

// The stream whose next task brings this one nearer to its end, or none.
Stream* Scheduler::toward(Stream& stream) const {
  Stream* at = &stream;
  for (std::size_t hops = 0; hops < 100'000; ++hops) {
    if (can_go(*at)) return at;
    if (at->running) return nullptr;
    const Task* head = at->head.get();
    if (head == nullptr) break;
    if (head->calls_host() && head->begun) return nullptr;  // goes on when that function returns
    Stream* other = head->waits_for();
    if (other == nullptr || other == at) break;
    at = other;
  }
  return oldest();  // a value or a notify may come from anywhere
}

bool Scheduler::step_at_random(Lock& lock) {
  if (ready_first_ == nullptr) return false;
  Stream* stream = ready_first_;
  for (std::uint64_t skip = dice_.below(ready_count_); skip > 0; --skip) stream = stream->ready_after;
  const std::size_t piece = dice_.below(2) == 0 ? SIZE_MAX : 1 + dice_.below(4096);
  turn(*stream, lock, 1, piece);
  settle(lock);
  return true;
}

bool Scheduler::step_for(Stream& stream, Lock& lock, Deadline deadline) {
  if (!driven()) {
    if (policy_.mode != Mode::Eager || deadline || !stream.ready) return false;
    turn(stream, lock, kTasksPerTurn, kPiece);
    return true;
  }
  if (policy_.mode == Mode::Seed && !stopping()) {
    if (step_at_random(lock)) return true;
  } else if (Stream* next = toward(stream)) {
    turn(*next, lock, 1, kPiece);
    settle(lock);
    return true;
  }
  const std::uint64_t before = moves_;
  fire_due(lock);
  return moves_ != before;
}

// A function of the program ends when it ends. A moment is given to it, so that most programs see the same
// order in every run; one that takes longer holds nobody up.
void Scheduler::settle(Lock& lock) {
  if (host_calls_running_ == 0 || t_inside != nullptr) return;
  ++watchers_;
  changed_.wait_for(lock, kLate, [&] { return host_calls_running_ == 0; });
  --watchers_;
}

// --- running --------------------------------------------------------------------------------------

RunResult Scheduler::run_pieces(Stream& stream, Task& task, std::size_t piece) {
  const bool to_the_end = piece == kPiece;
  const observe::InTask doing{{task.api, task.id(), stream.id, task.site}};
  try {
    for (;;) {
      RunResult result = task.run(piece);
      if (!result.more || !to_the_end || stream.cancel.load(std::memory_order_relaxed)) return result;
    }
  } catch (const std::bad_alloc&) {
    return {false, nullptr, true};
  }
}

// Why the task failed, in words if there is memory for them; null: it did not.
std::shared_ptr<const Error> Scheduler::error_of(RunResult& result, const Stream& stream, const Task& task) {
  if (!result.trouble && !result.no_memory) return nullptr;
  try {
    if (result.no_memory) result.trouble = std::make_unique<Error>(*no_memory_);
    result.trouble->what = fmt::format("task {} of stream {}, submitted by {}, failed: {}", task.id(),
                                       stream.id, task.api, result.trouble->what);
    result.trouble->task = task.sequence;
    if (task.site != 0) {
      std::vector<Happened>& before = result.trouble->before;
      before.insert(before.begin(), {fmt::format("task {} was submitted", task.id()), task.site});
    }
    return std::move(result.trouble);
  } catch (const std::bad_alloc&) {
    return no_memory_;
  }
}

void Scheduler::turn(Stream& stream, Lock& lock, unsigned tasks, std::size_t piece) {
  const std::shared_ptr<Stream> keep = stream.shared_from_this();
  remove_ready(stream);
  for (; tasks > 0 && can_go(stream); --tasks) {
    Task& task = *stream.head;
    Next next = Next::Run;
    RunResult result;
    observe::What how = observe::What::Done;
    if (!std::exchange(task.begun, true)) {
      if (task.calls_host()) {
        forget_host_call(task);
      } else {
        tell(observe::What::Begun, stream, task);
      }
      try {
        next = task.begin(*this, stream, lock);
      } catch (const std::bad_alloc&) {
        result.no_memory = true;
      }
    }
    if (next == Next::Wait) {
      stream.waiting = true;
      changed(lock);
      return;
    }
    if (next == Next::Run) {
      stream.running = true;
      ++running_;
      if (t_is_worker) ++busy_;
      if (ready_first_ != nullptr && !driven()) call_for_help(lock);
      lock.unlock();
      if (!result.no_memory) result = run_pieces(stream, task, piece);
      std::shared_ptr<const Error> error = error_of(result, stream, task);
      if (error)
        tell_failure(stream, task.position, {*error, task.id(), stream.id, task.thread, stream.device()});
      lock.lock();
      stream.running = false;
      --running_;
      if (t_is_worker) --busy_;
      if (error) {
        how = observe::What::Failed;
        tell(how, stream, task, error->code);
        fail(stream, task, std::move(error), lock);
      }
      if (stream.cancel.load(std::memory_order_relaxed)) {
        if (result.more) how = observe::What::Dropped;
        tell_arrived(stream);  // who aborts waits for this
      } else if (result.more) {
        changed(lock);
        continue;
      }
    }
    finish(stream, lock, how);
  }
  make_ready(stream, lock);
}

// The program's functions that hear of it are called on a thread of their own, whoever ran the task: what
// they find there (no last error, the stream's context) must not depend on whether a thread of the program
// happened to help. Where the system has no room for a thread, this one must do.
void Scheduler::tell_failure(Stream& stream, std::uint64_t position, const Failure& failure) {
  const auto tell = [&] {
    const InsideCallback inside{stream, position};
    try {
      stream.group->call_host([&] { failed_(failure); });
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): who asks the stream is still told
    }
  };
  std::shared_ptr<std::promise<void>> told;
  bool started = false;
  try {
    told = std::make_shared<std::promise<void>>();
    started = platform::start_thread("belay-callback", [&, told] {
      tell();
      told->set_value();
    });
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): then on this thread
  }
  started ? told->get_future().wait() : tell();
}

void Scheduler::fail(Stream& stream, const Task& task, std::shared_ptr<const Error> error, Lock&) {
  if (stream.error == nullptr) {
    stream.error = error;
    stream.troubled.store(true, std::memory_order_release);
    stream.error_position = task.position;
  }
  Group& group = *stream.group;
  const bool stops = std::ranges::any_of(group.members, [](const Stream* each) {
    return each->stop_on_failure.load(std::memory_order_relaxed);
  });
  if (!stops || group.stopped) return;
  group.stopped = std::move(error);
  group.culprit = &stream;
  for (Stream* each : group.members) {
    each->troubled.store(true, std::memory_order_release);
    remove_ready(*each);
    tell_arrived(*each);
  }
}

void Scheduler::finish(Stream& stream, Lock& lock, observe::What how) {
  const std::unique_ptr<Task> done = std::move(stream.head);
  // Who calls functions of the program tells when, and a failure was told.
  if (!done->calls_host() && !done->told_done && how != observe::What::Failed) tell(how, stream, *done);
  stream.head = std::move(done->next);
  if (!stream.head) stream.tail = nullptr;
  done->leave(lock);
  stream.cancel.store(false, std::memory_order_relaxed);
  const std::uint64_t finished = stream.finished.load(std::memory_order_relaxed) + 1;
  stream.finished.store(finished, std::memory_order_release);
  if (finished >= stream.wanted) {
    stream.wanted = kNobody;
    tell_arrived(stream);
  }
  changed(lock);
}

void Scheduler::changed(Lock&) {
  ++moves_;
  if (watchers_ > 0) changed_.notify_all();
}

void Scheduler::release(Stream& stream, std::uint64_t sequence, Lock& lock) {
  if (!stream.head || stream.head->sequence != sequence || !stream.waiting) return;
  stream.waiting = false;
  finish(stream, lock);
  make_ready(stream, lock);
}

void Scheduler::resume(Stream& stream, std::uint64_t sequence, Lock& lock) {
  if (!stream.head || stream.head->sequence != sequence || !stream.waiting) return;
  stream.waiting = false;
  changed(lock);
  make_ready(stream, lock);
}

void Scheduler::let_go(Stream& stream, Lock& lock) {
  stream.held = false;
  make_ready(stream, lock);
}

void Scheduler::call_left(Stream& stream, Lock&) {
  --stream.calls_inside;
  if (stream.ended && --stray_calls_ == 0) strays_(false);
}

void Scheduler::host_call_ended(Lock& lock) {
  --host_calls_running_;
  changed(lock);
}

// --- time -----------------------------------------------------------------------------------------

void Scheduler::call_at(Time time, Stream& stream, Lock& lock, bool moves) {
  const bool first = timers_.empty() || time < timers_.begin()->first;
  timers_.emplace(time, Timer{stream.weak_from_this(), stream.head->sequence, moves});
  if (moves) ++delays_;
  if (!first) return;
  if (driven()) {
    changed(lock);
  } else {
    wake_worker(lock);  // one of them sleeps until the first of these times
  }
}

void Scheduler::fire_due(Lock& lock) {
  if (timers_.empty()) return;
  const Time now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const Timer timer = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    if (timer.moves) --delays_;
    const std::shared_ptr<Stream> stream = timer.stream.lock();
    if (!stream || !stream->head || stream->head->sequence != timer.sequence || !stream->waiting) continue;
    const Next next = stream->head->due(*this, *stream, lock);
    if (next == Next::Wait) continue;
    stream->waiting = false;
    if (next == Next::Finished) finish(*stream, lock);
    changed(lock);
    make_ready(*stream, lock);
  }
}

// --- the program's side ---------------------------------------------------------------------------

Status Scheduler::submit(Stream& stream, std::unique_ptr<Task> task, std::uint64_t* position_out) {
  task->api = observe::t_call.function;
  if (observe::wanted(observe::kTasks)) [[unlikely]]
    describe(*task);
  if (observe::keeps_sites()) [[unlikely]]
    task->site = observe::site_of_this_call();
  Submitter& submitter = this_thread(this);
  task->thread = submitter.thread;
  if (t_inside != nullptr) [[unlikely]] {
    observe::note("R-200", [&] {
      return fmt::format("{} was called from inside a callback, where programs must not submit work",
                         task->api);
    });
  }
  Lock held = lock();
  if (stream.ended) {
    return refuse({ACL_ERROR_RT_INVALID_HANDLE, "R-136", "EE1017", "another thread has destroyed the stream",
                   "", "do not use a stream while another thread destroys it"});
  }
  if (aborting(stream.device())) [[unlikely]] {
    return refuse({ACL_ERROR_RT_DEVICE_TASK_ABORT, "R-230", "EE1018",
                   fmt::format("the tasks of device {} are being aborted", stream.device()), "",
                   "submit again when aclrtDeviceTaskAbort has returned"});
  }
  if (stream.group->stopped) [[unlikely]]
    return std::make_unique<Error>(*stream.group->stopped);
  if (!driven() && workers_ == 0 && !wake_worker(held)) {
    return refuse({ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "R-265", "EE1021",
                   "no thread could be started to run tasks",
                   "the system or a limit of this user allows no more threads", "raise ulimit -u"});
  }
  task->sequence = ++g_last_task;
  submitter.last_task = task->id();
  const std::uint64_t position = stream.submitted.load(std::memory_order_relaxed) + 1;
  task->position = position;
  if (position_out != nullptr) *position_out = position;
  stream.submitted.store(position, std::memory_order_release);
  tell(observe::What::Submitted, stream, *task);
  if (stream.clearing) {
    drop_task(stream, std::move(task), held);
    return done();
  }
  const bool calls_host = task->calls_host();
  const std::uint64_t sequence = task->sequence;
  Task* added = task.get();
  (stream.tail != nullptr ? stream.tail->next : stream.head) = std::move(task);
  stream.tail = added;
  make_ready(stream, held);
  if (!driven()) return done();
  if (calls_host) {
    late_calls_.emplace(sequence, &stream);
    if (!late_started_) late_started_ = platform::start_thread("belay-late", [this] { work_late(); });
    late_.notify_one();
  }
  if (policy_.mode == Mode::Seed && !stopping()) {
    while (dice_.below(2) == 0 && step_at_random(held)) {
    }
  }
  return done();
}

std::uint32_t Scheduler::last_task_of_this_thread() const { return this_thread(this).last_task; }

// Whether a callback that waits for the stream waits for itself: it is of that stream, or what is queued
// there must be called by the thread that it occupies.
bool Scheduler::needs_this_thread(const Stream& stream, std::uint64_t position) {
  if (t_inside == &stream) return true;
  const bool same_thread = t_inside->uses_host_functions
                               ? stream.uses_host_functions && stream.group == t_inside->group
                               : stream.subscriber != nullptr && stream.subscriber == t_inside->subscriber;
  if (!same_thread) return false;
  for (const Task* each = stream.head.get(); each != nullptr && each->position <= position;
       each = each->next.get()) {
    if (each->calls_host()) return true;
  }
  return false;
}

Arrival Scheduler::wait(Lock& lock, Stream& stream, std::uint64_t position, Deadline deadline) {
  const std::shared_ptr<Stream> keep = stream.shared_from_this();
  Stream::Waiter waiter{position};
  stream.waiters.push_back(&waiter);
  const bool may_sleep_outside = outside_ != nullptr && policy_.mode == Mode::Eager && !deadline;
  t_may_sleep_outside = may_sleep_outside;
  const auto leaves = [&](void*) {
    std::erase(stream.waiters, &waiter);
    t_may_sleep_outside = false;
    if (may_sleep_outside) outside_->leave(lock);
  };
  const std::unique_ptr<void, decltype(leaves)> present{&waiter, leaves};
  bool looked = false;
  for (;;) {
    if (waiter.dropped) return stream.ended ? Arrival::Ended : Arrival::Cleared;
    if (stream.finished.load(std::memory_order_relaxed) >= position) return Arrival::Reached;
    if (stream.group->stopped) return Arrival::Stopped;
    if (t_inside != nullptr && needs_this_thread(stream, position)) return Arrival::OwnCallback;
    if (deadline && Clock::now() >= *deadline) return Arrival::TimedOut;
    if (step_for(stream, lock, deadline)) continue;
    if (driven()) {
      wait_for_change(lock, nullptr, deadline);
      continue;
    }
    if (worth_spinning_ && stream.running && !std::exchange(looked, true)) {
      lock.unlock();
      look(kLookForEnd, [&] { return stream.finished.load(std::memory_order_relaxed) >= position; });
      lock.lock();
      continue;
    }
    stream.wanted = std::min(stream.wanted, position);
    if (may_sleep_outside && stream.waiting && slept_for_ == nullptr) {
      slept_for_ = &stream;
      const bool slept = outside_->sleep(lock);
      slept_for_ = nullptr;
      if (slept && stream.ready) {  // this thread helps with it, and has no time for others
        outside_->leave(lock);
        step_for(stream, lock, deadline);
      }
      if (slept) continue;
    }
    if (deadline) {
      stream.arrived.wait_until(lock, *deadline);
    } else {
      stream.arrived.wait(lock);
    }
  }
}

void Scheduler::asked(Stream& stream, Lock& lock) {
  if (!driven()) return;
  if (policy_.mode != Mode::Seed || stopping()) {
    step_for(stream, lock, {});
    return;
  }
  while (dice_.below(2) == 0) {
    if (!step_for(stream, lock, {})) return;
  }
}

void Scheduler::asked_for_any(Lock& lock) {
  if (driven() && ready_first_ != nullptr) asked(*ready_first_, lock);
}

void Scheduler::wait_for_change(Lock& lock, Stream* stream, Deadline deadline) {
  if (stream != nullptr && step_for(*stream, lock, deadline)) return;
  if (driven() && !timers_.empty() && (!deadline || timers_.begin()->first < *deadline))
    deadline = timers_.begin()->first;
  ++watchers_;
  const std::uint64_t before = moves_;
  const auto moved = [&] { return moves_ != before; };
  if (deadline) {
    changed_.wait_until(lock, *deadline, moved);
  } else {
    changed_.wait(lock, moved);
  }
  --watchers_;
  if (driven()) fire_due(lock);
}

bool Scheduler::nothing_moves() const {
  return running_ == 0 && ready_count_ == 0 && host_calls_running_ == 0 && delays_ == 0;
}

// Follows what a stream waits for: as long as somebody there can next, it may still come.
Scheduler::Hope Scheduler::hope_of(const Stream& stream) {
  const Stream* at = &stream;
  for (std::size_t hops = 0; hops < 100'000; ++hops) {
    if (!at->head || !at->waiting) return Hope::Comes;
    if (at->head->calls_host() && at->head->executing()) return Hope::Comes;
    const Stream* other = at->head->waits_for();
    if (other == nullptr || other == &stream) {
      switch (at->head->caller()) {
        case Caller::OnItsWay:
          return Hope::Comes;
        case Caller::Expected:
          return Hope::MayCome;
        case Caller::Nobody:
          return Hope::None;
      }
    }
    at = other;
  }
  return Hope::None;  // a ring that does not lead back here
}

bool Scheduler::drain(Lock& lock, std::span<const std::shared_ptr<Stream>> streams) {
  for (const std::shared_ptr<Stream>& each : streams) {
    if (t_inside != nullptr && t_inside->group == each->group) return false;
  }
  const auto is_busy = [](const std::shared_ptr<Stream>& each) {
    return each->head && each->traits.runs && !each->group->stopped;
  };
  const auto finished = [&] {
    std::uint64_t sum = 0;
    for (const std::shared_ptr<Stream>& each : streams) sum += each->finished.load(std::memory_order_relaxed);
    return sum;
  };
  Time stuck_since = Clock::now();  // these streams
  Time quiet_since = stuck_since;   // all of the process
  std::uint64_t done = finished();
  for (;;) {
    const auto busy = std::ranges::find_if(streams, is_busy);
    if (busy == streams.end()) return true;
    const std::uint64_t before = moves_;
    const bool stepped = step_for(**busy, lock, {});
    const Time now = Clock::now();
    Hope hope = Hope::None;  // the best of all
    for (const std::shared_ptr<Stream>& each : streams) {
      if (is_busy(each)) hope = std::max(hope, hope_of(*each));
    }
    if (hope == Hope::Comes || finished() != std::exchange(done, finished())) stuck_since = now;
    if (moves_ != before || hope != Hope::None || !nothing_moves()) quiet_since = now;
    if (stepped) continue;
    if (now - quiet_since >= kStuck || now - stuck_since >= kStuckBesideOthers) {
      observe::note("R-119", [&] {
        return fmt::format("stream {} waits for something that cannot happen; its tasks are dropped",
                           (*busy)->id);
      });
      for (const std::shared_ptr<Stream>& each : streams) {
        if (is_busy(each)) clear(*each, lock);
      }
      continue;
    }
    ++watchers_;
    const std::uint64_t seen = moves_;
    changed_.wait_until(lock, std::min(quiet_since + kStuck, stuck_since + kStuckBesideOthers),
                        [&] { return moves_ != seen; });
    --watchers_;
    if (moves_ != seen) quiet_since = Clock::now();
  }
}

std::shared_ptr<const Error> Scheduler::take_error(Stream& stream, std::uint64_t position, Lock&) {
  if (stream.group->stopped) return stream.group->stopped;
  if (stream.error == nullptr || stream.error_position > position) return nullptr;
  stream.troubled.store(false, std::memory_order_relaxed);
  return std::exchange(stream.error, nullptr);
}

// --- taking work back -----------------------------------------------------------------------------

void Scheduler::drop_task(Stream& stream, std::unique_ptr<Task> task, Lock& lock) {
  if (task->calls_host()) {
    forget_host_call(*task);
  } else {
    tell(observe::What::Dropped, stream, *task);
  }
  task->drop(*this, stream, lock);
  task->leave(lock);
  stream.finished.fetch_add(1, std::memory_order_release);
}

void Scheduler::drop_queue(Stream& stream, Lock& lock) {
  for (Stream::Waiter* each : stream.waiters) {
    if (each->position > stream.finished.load(std::memory_order_relaxed)) each->dropped = true;
  }
  std::unique_ptr<Task> chain;
  if (stream.running) {
    stream.cancel.store(true, std::memory_order_relaxed);
    chain = std::move(stream.head->next);
    stream.tail = stream.head.get();
  } else {
    chain = std::move(stream.head);
    stream.tail = nullptr;
    stream.waiting = false;
    remove_ready(stream);
  }
  while (chain) {
    std::unique_ptr<Task> next = std::move(chain->next);
    drop_task(stream, std::move(chain), lock);
    chain = std::move(next);
  }
  stream.wanted = kNobody;
  tell_arrived(stream);
  changed(lock);
}

void Scheduler::clear(Stream& stream, Lock& lock) {
  const std::shared_ptr<Stream> keep = stream.shared_from_this();
  stream.clearing = true;
  drop_queue(stream, lock);
  while (stream.running && t_inside != &stream) stream.arrived.wait(lock);
  stream.clearing = false;
  stream.error = nullptr;
  Group& group = *stream.group;
  if (!group.stopped) stream.troubled.store(false, std::memory_order_relaxed);
  if (group.culprit != &stream) return;
  group.culprit = nullptr;
  group.stopped = nullptr;
  for (Stream* each : group.members) {
    each->troubled.store(each->error != nullptr, std::memory_order_relaxed);
    make_ready(*each, lock);
  }
}

void Scheduler::skip(Stream& stream, Lock& lock) {
  if (stream.running) {
    stream.cancel.store(true, std::memory_order_relaxed);
    return;
  }
  if (!stream.waiting || (stream.head->calls_host() && stream.head->executing())) return;
  stream.waiting = false;
  std::unique_ptr<Task> head = std::move(stream.head);
  stream.head = std::move(head->next);
  if (!stream.head) stream.tail = nullptr;
  drop_task(stream, std::move(head), lock);
  stream.wanted = kNobody;
  tell_arrived(stream);
  changed(lock);
  make_ready(stream, lock);
}

void Scheduler::end(Stream& stream, Lock& lock) {
  stream.ended = true;
  if (stream.calls_inside != 0 && std::exchange(stray_calls_, stray_calls_ + stream.calls_inside) == 0)
    strays_(true);
  drop_queue(stream, lock);
  std::erase(stream.group->members, &stream);
  if (stream.group->culprit == &stream) stream.group->culprit = nullptr;
}

bool Scheduler::retire() {
  Lock held = lock();
  retiring_ = true;
  ++watchers_;
  const Time patience = Clock::now() + kRetire;
  while (workers_ > 0 || late_started_ || demand_started_ || host_threads_ > 0 || host_calls_running_ > 0) {
    if (Clock::now() > patience && workers_ == 0 && !late_started_ && !demand_started_) break;
    work_.notify_all();
    demanded_.notify_all();
    changed(held);
    late_.notify_all();
    changed_.wait_for(held, 10ms);  // a worker that looks around is not asleep yet and hears no call
  }
  --watchers_;
  return host_threads_ == 0 && host_calls_running_ == 0;
}

void Scheduler::stop_at_exit() {
  Lock held = lock();
  stopping_.store(true, std::memory_order_relaxed);
  ++watchers_;
  changed_.wait_for(held, 500ms, [&] { return running_ == 0; });
  --watchers_;
  for (Stream* each = ready_first_; each != nullptr; each = each->ready_after) tell_arrived(*each);
}

}  // namespace belay::schedule
