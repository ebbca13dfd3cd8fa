// Tells what happened to whoever listens.
//
// Whoever does something publishes a plain event (event.h) and does not know who hears it. Events of a thread
// go through a ring of its own (ring.h) and reach a listener in their order, in batches: when the ring is
// full, or when somebody asks (`flush`). A listener must not call back into the runtime, and never changes an
// answer. What nobody listens to costs one load.
//
//   publish ──┬─► ring of the thread ──► drain ──► listeners   on whichever thread drains
//             │                            ▲
//             │                     full ──┴── flush: a question, the end of a thread or of the process
//             └─► listeners that want it at once, one event at a time
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>

#include "observe/event.h"
#include "observe/ring.h"

namespace belay::observe {

using Listener = void (*)(const Batch& events);
using Mask = std::uint32_t;
constexpr Mask bit(What what) { return Mask{1} << static_cast<unsigned>(what); }
template <class... More>
constexpr Mask bits(More... what) {
  return (bit(what) | ...);
}

inline constexpr Mask kBlocks = bits(What::Allocated, What::Freed);
inline constexpr Mask kLives = kBlocks | bits(What::Created, What::Destroyed);
inline constexpr Mask kTasks = bits(What::Submitted, What::Begun, What::Done, What::Failed, What::Dropped);

// What a listener wants to hear; nobody pays for events that nobody asked for. It gets others, too, if they
// are in the same ring.
struct Wish {
  Mask wanted = 0;
  // Before the call goes on, and nothing but what is wanted. Always the same for one listener: what is on its
  // way while that changes would reach it both ways.
  bool at_once = false;
  bool time = false;
  // The same, but not of blocks that are told by whoever has a plain ring: the listener knows when it read
  // that.
  bool time_when_delivered = false;
  bool facts = false;  // blocks remember who made and who freed them, and when (memory/block_facts.h)
  // Copies too that are plainly right: between memory of the program and the inside of one block, as stated.
  bool plain_copies = true;
};
// Both under the lock under which the runtime is made (src/library), or another that covers them all.
void listen(Listener listener, const Wish& wish);
// When it returns, the listener has heard of everything before, and is not called any more.
void unlisten(Listener listener);
// Listeners hear of everything that any thread has published. Not from inside a listener.
void flush();
// Listeners of rings hear of everything that this thread has published before; also from a listener at once.
void flush_this_thread();
// Events that a listener could not take: it had no memory for them.
std::uint64_t lost();
// In the child of a fork: nobody listens, and what was not told is the parent's to tell.
void forget_parent();

// Rings of threads that have none yet are made in places that others can read when this process is dead;
// where there is none left, on the heap.
struct RingPlaces {
  void* (*take)();
  void (*give)(void* ring);
};
void keep_rings(const RingPlaces& places);

// A number that nothing had before.
std::uint64_t next_serial();

// What the calling thread is at: the function of the interface that it called last, where in the program that
// returns to, whether it is still in there, the stream that called the program's function that made the call,
// and the task of a stream that it does meanwhile.
struct Call {
  const char* function = "";
  std::uintptr_t caller = 0;
  bool inside = false;
  std::uint64_t stream = 0, position = 0;
  struct Task {
    const char* function = nullptr;  // that submitted it
    std::uint32_t id = 0;
    std::int32_t stream = 0;
    std::uint32_t site = 0;  // from where (call_sites.h)
  } task;
};
extern constinit thread_local Call t_call __attribute__((tls_model("initial-exec")));
extern constinit thread_local Ring* t_ring __attribute__((tls_model("initial-exec")));
// The same where events of this thread need nothing besides themselves: it is not in a callback. Else this
// one, which never has room.
extern constinit Ring g_no_ring;
extern constinit thread_local Ring* t_plain_ring __attribute__((tls_model("initial-exec")));

inline void enter_call(const char* function, const void* caller, bool inside) {
  t_call.function = function;
  t_call.caller = reinterpret_cast<std::uintptr_t>(caller);
  t_call.inside = inside;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // a handler that explains a fault reads it
}
inline void leave_call() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_call.inside = false;
}

// Code of the program is called from inside a call, and may make calls itself.
class CallOfProgram {
 public:
  CallOfProgram() : before_{t_call} { t_call.inside = false; }
  ~CallOfProgram() { t_call = before_; }
  CallOfProgram(const CallOfProgram&) = delete;
  CallOfProgram& operator=(const CallOfProgram&) = delete;

 private:
  const Call before_;
};

// The same, in the name of a stream.
class InCallback {
 public:
  InCallback(std::uint64_t stream, std::uint64_t position) : before_{t_call} {
    t_call = {"", 0, false, stream, position, {}};
    t_plain_ring = &g_no_ring;
  }
  ~InCallback() {
    t_call = before_;
    t_plain_ring = before_.stream == 0 && t_ring != nullptr ? t_ring : &g_no_ring;
  }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

 private:
  const Call before_;
};

// The thread does a task of a stream.
class InTask {
 public:
  explicit InTask(const Call::Task& task) : before_{t_call.task} { t_call.task = task; }
  ~InTask() { t_call.task = before_; }
  InTask(const InTask&) = delete;
  InTask& operator=(const InTask&) = delete;

 private:
  const Call::Task before_;
};

// What anybody wants: bits of What, and higher up more about each event.
inline constexpr std::uint64_t kTime = std::uint64_t{1} << 32, kBlocksAtOnce = std::uint64_t{1} << 33,
                               kFacts = std::uint64_t{1} << 34;
// Call sites are kept (call_sites.h), and of more than one frame each.
inline constexpr std::uint64_t kSites = std::uint64_t{1} << 35, kStacks = std::uint64_t{1} << 36;
inline constexpr std::uint64_t kPlainCopies = std::uint64_t{1} << 37;
inline constexpr std::uint64_t kTimeWhenDelivered = std::uint64_t{1} << 38;
inline std::atomic<std::uint64_t> g_wanted{0};

inline bool wanted(Mask mask) { return (g_wanted.load(std::memory_order_relaxed) & mask) != 0; }
inline bool wanted(What what) { return wanted(bit(what)); }
inline bool wants_plain_copies() { return (g_wanted.load(std::memory_order_relaxed) & kPlainCopies) != 0; }

// Whether blocks are written down: somebody hears of them, or their call sites are kept.
inline bool keeps_blocks() { return (g_wanted.load(std::memory_order_relaxed) & (kBlocks | kSites)) != 0; }
inline bool keeps_sites() { return (g_wanted.load(std::memory_order_relaxed) & kSites) != 0; }
void recount_wishes();

// Fills in who, where and when, as far as it is not there yet and somebody wants to know.
void complete(Event& event);
void deliver(const Event& event, Details details = {}, std::span<const Touch> touches = {},
             std::string_view text = {});

// Only to those who want it at once; whoever reads the ring knows of it.
void deliver_at_once(const Event& event);
void count_lost();
// Listening changes no answer: where there is no memory to tell something, that is counted and nothing else.
template <class Tell>
void quietly(Tell&& tell) {
  try {
    tell();
  } catch (const std::bad_alloc&) {
    count_lost();
  }
}

inline void publish(const Event& event) {
  if (wanted(event.what) || keeps_sites()) [[unlikely]]
    deliver(event);
}

// The words are made only where somebody listens.
template <class Words>
void note(const char* rule, Words&& words) {
  if (!wanted(What::Noted)) return;
  deliver({.what = What::Noted}, {.rule = rule}, {}, words());
}

// Whether blocks may be told by whoever has a plain ring: no event needs anything besides itself, and none
// must be told at once.
inline bool blocks_are_plain() {
  return (g_wanted.load(std::memory_order_relaxed) & (kTime | kStacks | kFacts | kBlocksAtOnce)) == 0;
}
// So that there is a plain ring, with room in it. False where there can be none, or nobody listens to blocks.
bool make_ready();

}  // namespace belay::observe
