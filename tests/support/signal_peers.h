// Processes that share events and notifies, steered step by step.
//
// Handles and keys pass from one to another through memory that they have from the test process.
#pragma once

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "belay/belay.h"
#include "support/members.h"
#include "support/on_product.h"
#include "support/waiting.h"

namespace belay_test {

inline constexpr int kIpcError = 507022;

// What all of them see.
struct Board {
  std::array<aclrtIpcEventHandle, 64> handles{};
  std::array<std::array<char, 80>, 64> keys{};
  std::array<std::atomic<std::uint32_t>, 64> words{};
};
inline Board& new_board() {
  void* const at = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) std::abort();
  return *new (at) Board;
}

enum class Step : std::uint32_t {
  create,  // event
  give,    // event -> board
  open,    // event, from the board
  destroy,
  record,        // event, stream
  wait,          // event, stream, seconds
  query,         // event -> status
  synchronize,   // event, milliseconds
  finish,        // stream, milliseconds
  query_stream,  // stream -> status
  stamp,         // stream, word: a function of the host that writes the number of the call there
  abort,         // stream
  create_notify,
  export_notify,  // notify -> board, flags
  import_notify,
  destroy_notify,
  record_notify,
  wait_notify,
  reset_notify,
  allow,  // notify, process
  restart,
  become,      // another program
  fork_child,  // it stays until the process is killed
  reset_device,
};

// Events, notifies and streams of one process, by number.
class Peer {
 public:
  explicit Peer(Board& board) : board_{board} {}

  Answer operator()(const Order& order) {
    Answer answer;
    const std::size_t which = order.pointer;
    aclrtEvent& event = events_[which];
    aclrtNotify& notify = notifies_[which];
    switch (static_cast<Step>(order.small)) {
      case Step::create:
        answer.code = aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC);
        break;
      case Step::give:
        answer.code = aclrtIpcGetEventHandle(event, &board_.handles.at(which));
        break;
      case Step::open:
        answer.code = aclrtIpcOpenEventHandle(board_.handles.at(which), &event);
        break;
      case Step::destroy:
        answer.code = aclrtDestroyEvent(event);
        events_.erase(which);
        break;
      case Step::record:
        answer.code = aclrtRecordEvent(event, stream(order.size));
        break;
      case Step::wait:
        answer.code = ::aclrtStreamWaitEventWithTimeout(stream(order.size), event,
                                                        static_cast<std::int32_t>(order.seed));
        break;
      case Step::query: {
        aclrtEventRecordedStatus status{};
        answer.code = aclrtQueryEventStatus(event, &status);
        answer.first = static_cast<std::uint64_t>(status);
        break;
      }
      case Step::synchronize:
        answer.code = ::aclrtSynchronizeEventWithTimeout(event, static_cast<std::int32_t>(order.seed));
        break;
      case Step::finish:
        answer.code =
            ::aclrtSynchronizeStreamWithTimeout(stream(order.size), static_cast<std::int32_t>(order.seed));
        break;
      case Step::query_stream: {
        aclrtStreamStatus status{};
        answer.code = aclrtStreamQuery(stream(order.size), &status);
        answer.first = static_cast<std::uint64_t>(status);
        break;
      }
      case Step::stamp:
        answer.code = aclrtLaunchHostFunc(
            stream(order.size), [](void* word) { static_cast<std::atomic<std::uint32_t>*>(word)->store(1); },
            &board_.words.at(which));
        break;
      case Step::abort:
        answer.code = aclrtStreamAbort(stream(order.size));
        break;
      case Step::create_notify:
        answer.code = aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT);
        break;
      case Step::export_notify:
        answer.code = aclrtNotifyGetExportKey(notify, board_.keys.at(which).data(), 80, order.seed);
        break;
      case Step::import_notify:
        answer.code = aclrtNotifyImportByKey(&notify, board_.keys.at(which).data(), 0);
        break;
      case Step::destroy_notify:
        answer.code = aclrtDestroyNotify(notify);
        notifies_.erase(which);
        break;
      case Step::record_notify:
        answer.code = aclrtRecordNotify(notify, stream(order.size));
        break;
      case Step::wait_notify:
        answer.code =
            aclrtWaitAndResetNotify(notify, stream(order.size), static_cast<std::uint32_t>(order.seed));
        break;
      case Step::reset_notify:
        answer.code = aclrtNotifyBatchReset(&notify, 1);
        break;
      case Step::allow: {
        auto process = static_cast<std::int32_t>(order.seed);
        answer.code = aclrtNotifySetImportPid(notify, &process, 1);
        break;
      }
      case Step::restart:
        answer.code = belay_restart();
        events_.clear();
        notifies_.clear();
        streams_.clear();
        break;
      case Step::become:
        ::execl("/bin/sleep", "sleep", "1000", nullptr);
        break;
      case Step::fork_child: {
        const pid_t child = ::fork();
        if (child == 0) {
          ::alarm(3);  // then it ends as well
          for (const int output : {1, 2}) ::close(output);
          for (;;) ::pause();
        }
        answer.code = child > 0 ? 0 : -1;
        break;
      }
      case Step::reset_device:
        answer.code = aclrtResetDeviceForce(0);
        streams_.clear();
        if (answer.code == 0) answer.code = aclrtSetDevice(0);
        break;
    }
    return answer;
  }

 private:
  aclrtStream stream(std::size_t which) {
    aclrtStream& one = streams_[which];
    if (one == nullptr) EXPECT_EQ(aclrtCreateStream(&one), ACL_SUCCESS);
    return one;
  }
  Board& board_;
  std::map<std::size_t, aclrtEvent> events_;
  std::map<std::size_t, aclrtNotify> notifies_;
  std::map<std::size_t, aclrtStream> streams_;
};

// A member that has those, and the calls that the test asks of it.
class SignalPeer {
 public:
  SignalPeer(const TestMachine& machine, Board& board, const Settings& more = {}, bool sets_device = true)
      : member_{std::make_unique<Member>(
            machine.with(more),
            [peer = std::make_shared<Peer>(board)](const Order& order) { return (*peer)(order); })} {
    if (sets_device) EXPECT_EQ(member_->set_device(0), 0) << member_->message();
  }
  Member& operator*() const { return *member_; }
  Member* operator->() const { return member_.get(); }

  int create(std::size_t event) const { return ask(Step::create, event); }
  int give(std::size_t event) const { return ask(Step::give, event); }
  int open(std::size_t event) const { return ask(Step::open, event); }
  int destroy(std::size_t event) const { return ask(Step::destroy, event); }
  int record(std::size_t event, std::size_t stream = 0) const { return ask(Step::record, event, stream); }
  int wait(std::size_t event, std::size_t stream = 0, std::uint64_t seconds = 0) const {
    return ask(Step::wait, event, stream, seconds);
  }
  int synchronize(std::size_t event, std::int32_t milliseconds = kForLong) const {
    return ask(Step::synchronize, event, 0, static_cast<std::uint64_t>(milliseconds));
  }
  bool complete(std::size_t event) const {
    const Answer answer = member_->ask({Do::own, number_of(Step::query), event});
    EXPECT_EQ(answer.code, 0);
    return answer.first == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }
  int query(std::size_t event) const { return ask(Step::query, event); }
  int finish(std::size_t stream = 0, std::int32_t milliseconds = kForLong) const {
    return ask(Step::finish, 0, stream, static_cast<std::uint64_t>(milliseconds));
  }
  // Begins to, so that others can be asked meanwhile.
  void begin_finish(std::size_t stream = 0) const {
    member_->send({Do::own, number_of(Step::finish), 0, stream, static_cast<std::uint64_t>(kForLong)});
  }
  int end_finish() const { return member_->hear().code; }
  bool idle(std::size_t stream = 0) const {
    const Answer answer = member_->ask({Do::own, number_of(Step::query_stream), 0, stream});
    EXPECT_EQ(answer.code, 0);
    return answer.first == ACL_STREAM_STATUS_COMPLETE;
  }
  int stamp(std::size_t word, std::size_t stream = 0) const { return ask(Step::stamp, word, stream); }
  int abort(std::size_t stream = 0) const { return ask(Step::abort, 0, stream); }
  int create_notify(std::size_t notify) const { return ask(Step::create_notify, notify); }
  int export_notify(std::size_t notify,
                    std::uint64_t flags = ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION) const {
    return ask(Step::export_notify, notify, 0, flags);
  }
  int import_notify(std::size_t notify) const { return ask(Step::import_notify, notify); }
  int destroy_notify(std::size_t notify) const { return ask(Step::destroy_notify, notify); }
  int record_notify(std::size_t notify, std::size_t stream = 0) const {
    return ask(Step::record_notify, notify, stream);
  }
  int wait_notify(std::size_t notify, std::size_t stream = 0, std::uint64_t seconds = 0) const {
    return ask(Step::wait_notify, notify, stream, seconds);
  }
  int reset_notify(std::size_t notify) const { return ask(Step::reset_notify, notify); }
  int allow(std::size_t notify, pid_t process) const {
    return ask(Step::allow, notify, 0, static_cast<std::uint64_t>(process));
  }
  int restart() const { return ask(Step::restart); }
  int reset_device() const { return ask(Step::reset_device); }
  int fork_child() const { return ask(Step::fork_child); }
  void become_another_program() const {
    member_->send({Do::own, number_of(Step::become)});
    EXPECT_TRUE(member_->gone());
  }

 private:
  static constexpr std::int32_t kForLong = 50'000;  // ms
  static std::uint32_t number_of(Step step) { return static_cast<std::uint32_t>(step); }
  int ask(Step step, std::uint64_t which = 0, std::uint64_t size = 0, std::uint64_t seed = 0) const {
    return member_->ask({Do::own, number_of(step), which, size, seed}).code;
  }
  MemberPtr member_;
};

// Makes an event in one process and opens it in others.
inline void share_event(std::size_t event, const SignalPeer& maker,
                        const std::vector<const SignalPeer*>& others) {
  ASSERT_EQ(maker.create(event), 0) << maker->message();
  ASSERT_EQ(maker.give(event), 0) << maker->message();
  for (const SignalPeer* each : others) ASSERT_EQ(each->open(event), 0) << (*each)->message();
}
inline void share_notify(std::size_t notify, const SignalPeer& maker,
                         const std::vector<const SignalPeer*>& others) {
  ASSERT_EQ(maker.create_notify(notify), 0) << maker->message();
  ASSERT_EQ(maker.export_notify(notify), 0) << maker->message();
  for (const SignalPeer* each : others) ASSERT_EQ(each->import_notify(notify), 0) << (*each)->message();
}

inline const std::vector<std::string>& schedules_of_peers() {
  static const std::vector<std::string> all{"eager", "fifo", "lazy", "seed:1", "seed:7"};
  return all;
}

}  // namespace belay_test
