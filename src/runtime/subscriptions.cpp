#include "runtime/subscriptions.h"

namespace belay {
namespace {

Refusal subscribed_otherwise(const char* rule, std::string what, std::string solution) {
  return refuse({ACL_ERROR_RT_STREAM_SUBSCRIBE, rule, "EE1006", std::move(what), "", std::move(solution)});
}

Refusal wrong_thread(const char* rule, std::string what, std::string solution) {
  return refuse({ACL_ERROR_RT_THREAD_SUBSCRIBE, rule, "EE1006", std::move(what), "", std::move(solution)});
}

}  // namespace

Status Subscriptions::add(schedule::Scheduler& scheduler, std::uint64_t thread, schedule::Stream& stream) {
  const schedule::Lock lock = scheduler.lock();
  if (stream.subscriber != nullptr) {
    return subscribed_otherwise(
        "R-190",
        fmt::format("thread {} is subscribed to stream {} already", stream.subscriber->thread, stream.id),
        "subscribe each stream once; unsubscribe it before another thread takes it");
  }
  if (stream.uses_host_functions) {
    return subscribed_otherwise("R-190",
                                fmt::format("stream {} was used with aclrtLaunchHostFunc", stream.id),
                                "use one of the two ways on a stream, not both");
  }
  const auto found = subscribers_.find(thread);
  if (found != subscribers_.end() && found->second->device != stream.device()) {
    return wrong_thread("R-190",
                        fmt::format("thread {} serves streams of device {}, and stream {} is on device {}",
                                    thread, found->second->device, stream.id, stream.device()),
                        "let one thread serve the streams of one device");
  }
  if (found == subscribers_.end() && subscribers_.size() >= kMostThreads) {
    return refuse({ACL_ERROR_RT_INTERNAL_ERROR, "R-190", "EE1021",
                   fmt::format("{} threads are subscribed, which is the most there can be", kMostThreads), "",
                   "let one thread serve several streams"});
  }
  std::shared_ptr<schedule::Subscriber>& subscriber = subscribers_[thread];
  if (subscriber == nullptr) subscriber = std::make_shared<schedule::Subscriber>(thread, stream.device());
  subscriber->streams.push_back(&stream);
  stream.subscriber = subscriber;
  ++stream.subscriptions;
  return done();
}

Status Subscriptions::remove(schedule::Scheduler& scheduler, std::uint64_t thread, schedule::Stream& stream) {
  schedule::Lock lock = scheduler.lock();
  if (stream.subscriber == nullptr) {
    return subscribed_otherwise("R-191", fmt::format("no thread is subscribed to stream {}", stream.id),
                                "unsubscribe each subscribed stream once");
  }
  if (stream.subscriber->thread != thread) {
    return wrong_thread("R-191",
                        fmt::format("stream {} is served by thread {}, not by {}", stream.id,
                                    stream.subscriber->thread, thread),
                        "pass the thread that was subscribed");
  }
  drop(scheduler, stream, lock);
  return done();
}

void Subscriptions::drop(schedule::Scheduler& scheduler, schedule::Stream& stream, schedule::Lock& lock) {
  const std::shared_ptr<schedule::Subscriber> subscriber = stream.subscriber;
  if (subscriber == nullptr) return;
  schedule::unsubscribe(scheduler, stream, lock);
  if (subscriber->streams.empty()) subscribers_.erase(subscriber->thread);
}

Status Subscriptions::process(schedule::Scheduler& scheduler, std::uint64_t thread,
                              schedule::Deadline deadline) {
  schedule::Lock lock = scheduler.lock();
  const auto found = subscribers_.find(thread);
  const std::shared_ptr<schedule::Subscriber> subscriber =
      found == subscribers_.end() ? nullptr : found->second;
  const schedule::Fetched fetched = subscriber == nullptr
                                        ? schedule::Fetched::NotSubscribed
                                        : schedule::fetch_calls(scheduler, subscriber, deadline, lock);
  switch (fetched) {
    case schedule::Fetched::Called:
      return done();
    case schedule::Fetched::NotSubscribed:
      return wrong_thread("R-195", "the calling thread is not subscribed to any stream",
                          "subscribe it with aclrtSubscribeReport, which takes pthread_self() of the thread");
    case schedule::Fetched::TimedOut:
      break;
  }
  return refuse({ACL_ERROR_RT_REPORT_TIMEOUT, "R-195", "EE1002", "no callback came in the given time", "",
                 "call again; programs do so in a loop"});
}

}  // namespace belay
