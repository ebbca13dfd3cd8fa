// The door that every call comes through, but for aclrtMalloc and aclrtFree when they have all at hand
// (fastpath/fast_path.h): who is asked, and how a refusal becomes a number.
//
// No exception passes it, and no shim repeats what is common to all: finding the runtime of this
// process, noting which function the thread is in, keeping the message and the last error of a refusal and
// telling listeners of it.
#pragma once

#include <atomic>
#include <new>

#include "base/result.h"
#include "observe/observe.h"
#include "platform/threads.h"
#include "product/product.h"
#include "report/messages.h"
#include "runtime/process.h"

namespace belay {

// The runtime of this process, made at first use (src/library). Throws only when the host is out of memory.
extern constinit std::atomic<Process*> g_process;
Process& make_running();
inline Process* running_if_any() { return g_process.load(std::memory_order_acquire); }
inline Process& running() {
  Process* made = running_if_any();
  return made != nullptr ? *made : make_running();
}

aclError refused(const char* api, Error& error) noexcept;
// Who hears of refusals with all that is known of them, and where in the program (0: not kept); null: nobody.
using HearRefusal = void (*)(const char* api, const Error& error, std::uint32_t site);
extern constinit std::atomic<HearRefusal> g_hear_refusal;
// Where there may be no memory left for words.
aclError refused_in_need(const char* api, aclError code, const char* rule, CatalogCode catalog,
                         const char* what) noexcept;

// A callback has ended the thread that the call came on.
[[noreturn]] void thread_ended(const char* api) noexcept;

// `caller`: where in the program the call returns to.
template <class Act>
[[gnu::always_inline]] inline aclError answered(const char* api, Act&& act,
                                                const void* caller = __builtin_return_address(0)) noexcept {
  observe::enter_call(api, caller, true);
  struct Leave {
    ~Leave() { observe::leave_call(); }
  } const at_the_end;
  try {
    Status status = act();
    if (status) [[likely]]
      return ACL_SUCCESS;
    return refused(api, *status.take_refusal());
  } catch (const std::bad_alloc&) {
    return refused_in_need(api, ACL_ERROR_BAD_ALLOC, "", "EH0010", "the heap of this process is used up");
  } catch (...) {
    if (platform::thread_ends()) thread_ended(api);
    return refused_in_need(api, ACL_ERROR_INTERNAL_ERROR, "R-15", "EH9999",
                           "an unexpected error inside the runtime");
  }
}

// The answer of a call that asks for something.
template <class Out, class Value>
Status give(Out* out, const Value& value) {
  *out = value;
  return done();
}

// An output that is stored when the call is over, and not before: where it points may be one of the inputs.
template <class Out>
struct StoredLast {
  StoredLast(Out* to, const Out& at_first) : out{to}, value{at_first} {}
  StoredLast(const StoredLast&) = delete;
  StoredLast& operator=(const StoredLast&) = delete;
  ~StoredLast() { *out = value; }
  Out* const out;
  Out value;
};

// Failures that are an ordinary answer do not become the thread's last error.
inline Status unremembered(Status status) {
  if (status) return status;
  Refusal refusal = status.take_refusal();
  refusal->remember = false;
  return refusal;
}

// Not inline: what a call has before it should not pay for what is in here.
template <class Act>
[[gnu::noinline]] aclError enter_from(const void* caller, const char* api, Act& act) noexcept {
  return answered(
      api, [&]() -> Status { return act(running()); }, caller);
}
template <class Act>
[[gnu::always_inline]] inline aclError enter(const char* api, Act&& act) noexcept {
  return enter_from(__builtin_return_address(0), api, act);
}

}  // namespace belay
