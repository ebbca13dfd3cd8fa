#include "schedule/host_calls.h"

#include <exception>
#include <utility>

#include "observe/observe.h"
#include "platform/files.h"
#include "platform/threads.h"

namespace belay::schedule {

void HostCall::call() const {
  const InsideCallback inside{*stream, task.position};
  tell(observe::What::Begun, *stream, task);
  if (observe::wanted(observe::What::Waited)) [[unlikely]] {  // so does whoever it tells
    observe::deliver({.what = observe::What::Waited,
                      .device = static_cast<std::uint8_t>(stream->device()),
                      .site = task.site,
                      .function = task.api},
                     {.stream = stream->handle, .position = task.position - 1});
  }
  try {
    function(argument);
  } catch (...) {
    if (platform::thread_ends())
      platform::explain_ended_thread(fmt::format("a callback of stream {}", stream->id), "R-202");
    std::string what = "of an unknown type";
    try {
      throw;
    } catch (const std::exception& exception) {
      what = fmt::format("({})", exception.what());
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
    platform::print_line(
        true,
        fmt::format("belay: an exception {} left a callback of stream {}. It cannot be caught there [rule "
                    "R-202]; catch it inside the callback.\n",
                    what, stream->id));
    std::terminate();
  }
  tell(observe::What::Done, *stream, task);
}

bool HostThread::post(std::shared_ptr<HostCall> call, const std::shared_ptr<Group>& group, Lock& lock) {
  if (!started_) {
    started_ =
        platform::start_thread("belay-callback", [self = shared_from_this(), group] { self->serve(group); });
    if (!started_) return false;
    scheduler_.host_thread_began(lock);
  }
  calls_.push_back(std::move(call));
  came_.notify_one();
  return true;
}

void HostThread::close(Lock&) {
  closed_ = true;
  came_.notify_one();
}

void HostThread::serve(const std::shared_ptr<Group>& group) {
  Lock held = scheduler_.lock();
  for (;;) {
    if (calls_.empty()) {
      if (closed_) {
        scheduler_.host_thread_ends(held);
        return;
      }
      came_.wait(held);
      continue;
    }
    const std::shared_ptr<HostCall> call = std::move(calls_.front());
    calls_.pop_front();
    if (!call->dropped) {
      call->executing = true;
      scheduler_.call_entered(*call->stream, held);
      held.unlock();
      group->call_host([&] { call->call(); });
      held.lock();
      call->executing = false;
      scheduler_.call_left(*call->stream, held);
      call->dropped ? scheduler_.let_go(*call->stream, held)
                    : scheduler_.release(*call->stream, call->task.sequence, held);
    }
    scheduler_.host_call_ended(held);
  }
}

Next HostFunctionTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  call_ = std::make_shared<HostCall>(HostCall{function_, argument_, stream.shared_from_this(), *this});
  std::shared_ptr<HostThread>& server = stream.group->host_thread;
  if (server == nullptr) server = std::make_shared<HostThread>(scheduler);
  if (!server->post(call_, stream.group, lock)) return Next::Run;  // which fails
  scheduler.host_call_began(lock);
  return Next::Wait;
}

RunResult HostFunctionTask::run(std::size_t) {
  return {false, refuse({ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "R-198", "EE1021",
                         "no thread could be started to call host functions",
                         "the system or a limit of this user allows no more threads", "raise ulimit -u"})};
}

void HostFunctionTask::drop(Scheduler&, Stream& stream, Lock&) {
  if (call_ == nullptr || !call_->executing) tell(observe::What::Dropped, stream, *this);
  if (call_ == nullptr) return;
  call_->dropped = true;
  stream.held = call_->executing;
}

Next CallbackTask::begin(Scheduler&, Stream& stream, Lock&) {
  const std::shared_ptr<Subscriber>& subscriber = stream.subscriber;
  if (subscriber == nullptr || stream.subscriptions != subscription_) {
    observe::note("R-191", [&] {
      return fmt::format("a callback of stream {} is dropped: its subscription was ended", stream.id);
    });
    tell(observe::What::Dropped, stream, *this);
    return Next::Finished;
  }
  call_ =
      std::make_shared<HostCall>(HostCall{function_, argument_, stream.shared_from_this(), *this, blocks_});
  call_->owed = true;
  subscriber->calls.push_back(call_);
  subscriber->came.notify_all();
  return blocks_ ? Next::Wait : Next::Finished;
}

void CallbackTask::drop(Scheduler&, Stream& stream, Lock&) {
  if (!executing()) tell(observe::What::Dropped, stream, *this);
  if (call_ == nullptr) return;
  call_->dropped = true;
  stream.held = call_->executing;
  if (stream.subscriber != nullptr) std::erase(stream.subscriber->calls, call_);
}

Caller CallbackTask::caller() const {
  const Subscriber* subscriber = call_ == nullptr ? nullptr : call_->stream->subscriber.get();
  const bool may_come = subscriber != nullptr && subscriber->thread != platform::this_thread();
  if (!may_come) return Caller::Nobody;
  return subscriber->inside > 0 ? Caller::OnItsWay : Caller::Expected;
}

void unsubscribe(Scheduler& scheduler, Stream& stream, Lock& lock) {
  const std::shared_ptr<Subscriber> subscriber = std::exchange(stream.subscriber, nullptr);
  if (subscriber == nullptr) return;
  std::erase(subscriber->streams, &stream);
  for (auto each = subscriber->calls.begin(); each != subscriber->calls.end();) {
    const std::shared_ptr<HostCall> call = *each;
    if (call->stream.get() != &stream) {
      ++each;
      continue;
    }
    each = subscriber->calls.erase(each);
    tell(observe::What::Dropped, stream, call->task);
    observe::note("R-191", [&] {
      return fmt::format("a callback of stream {} was never fetched and is dropped", stream.id);
    });
    if (call->blocks) scheduler.release(stream, call->task.sequence, lock);
  }
  subscriber->came.notify_all();
}

namespace {

Fetched wait_and_call(Scheduler& scheduler, const std::shared_ptr<Subscriber>& subscriber, Deadline deadline,
                      Lock& lock) {
  while (subscriber->calls.empty()) {
    if (subscriber->streams.empty()) return Fetched::NotSubscribed;
    if (deadline && Clock::now() >= *deadline) return Fetched::TimedOut;
    if (scheduler.is_driven()) {
      Stream* next = subscriber->streams.front();
      for (Stream* each : subscriber->streams) {
        if (each->head && !each->waiting) next = each;
      }
      scheduler.wait_for_change(lock, next, deadline);
    } else if (deadline) {
      subscriber->came.wait_until(lock, *deadline);
    } else {
      subscriber->came.wait(lock);
    }
  }
  // As many as are ready now: one that comes meanwhile is for the next call.
  for (std::size_t ready = subscriber->calls.size(); ready > 0 && !subscriber->calls.empty(); --ready) {
    const std::shared_ptr<HostCall> call = std::move(subscriber->calls.front());
    subscriber->calls.pop_front();
    call->executing = true;
    call->owed = false;
    scheduler.host_call_began(lock);
    scheduler.call_entered(*call->stream, lock);
    lock.unlock();
    call->call();
    lock.lock();
    call->executing = false;
    scheduler.call_left(*call->stream, lock);
    scheduler.host_call_ended(lock);
    if (!call->blocks) continue;
    call->dropped ? scheduler.let_go(*call->stream, lock)
                  : scheduler.release(*call->stream, call->task.sequence, lock);
  }
  return Fetched::Called;
}

}  // namespace

Fetched fetch_calls(Scheduler& scheduler, const std::shared_ptr<Subscriber>& subscriber, Deadline deadline,
                    Lock& lock) {
  ++subscriber->inside;
  const Fetched fetched = wait_and_call(scheduler, subscriber, deadline, lock);
  --subscriber->inside;
  return fetched;
}

}  // namespace belay::schedule
