// Where in the program a call was made, as a number of 4 bytes: the same function called from the same stack
// has the same number. Kept only where a setting asks for it (BELAY_STACKS).
//
// Each different stack is kept once, for ever, up to a bound; what is new is looked up without a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace belay::observe {

// --- what is kept ---------------------------------------------------------------------------------

inline constexpr unsigned kMostFrames = 32;

// 0: none. 1: only the address that a call returns to, without walking the stack. From then on all that is
// made and ended knows where. Under the lock under which the runtime is made.
void keep_stacks(unsigned frames);
inline std::atomic<unsigned> g_stack_frames{0};
inline unsigned stack_frames() { return g_stack_frames.load(std::memory_order_relaxed); }

// An interpreter adds its own frames, innermost first: writes at most `room` numbers of its own and returns
// how many there are. Asked on the thread that calls, while it calls.
using InterpreterFrames = std::size_t (*)(std::uint64_t* frames, std::size_t room);
inline std::atomic<InterpreterFrames> g_interpreter_frames{nullptr};
// What a number of its own means; the words stay for ever, the file may be null. Asked at any time, on any
// thread.
struct InterpreterFrame {
  const char *function, *file;
  std::uint32_t line;
};
using DescribeFrame = bool (*)(std::uint64_t frame, InterpreterFrame& words);
inline std::atomic<DescribeFrame> g_describe_frame{nullptr};

// --- taking ---------------------------------------------------------------------------------------

inline constexpr std::uint32_t kManySites = 1;  // more different ones than are kept

// Of the call that this thread is in; 0: nobody wants to know.
std::uint32_t site_of_this_call();
// Of code of the program that is in no call, whose frames a signal handler has taken: return addresses,
// innermost first, and frames of an interpreter.
std::uint32_t site_of_frames(std::span<const std::uintptr_t> returns,
                             std::span<const std::uint64_t> of_interpreter);

// The same where only the return address is wanted, for a call that is not entered (fastpath). A key is that
// address and which of up to four functions it was.
struct RecentSite {
  std::uint64_t key = 0;
  std::uint32_t site = 0;
};
inline constexpr std::size_t kRecentSites = 8;
extern constinit thread_local RecentSite t_recent_sites[kRecentSites]
    __attribute__((tls_model("initial-exec")));
// 0: it is not at hand, and `find_site` would put it there.
[[gnu::always_inline]] inline std::uint32_t site_at_hand(const void* caller, unsigned which) {
  const std::uint64_t key = reinterpret_cast<std::uint64_t>(caller) << 2 | which;
  const RecentSite& recent = t_recent_sites[(key >> 4) % kRecentSites];
  return recent.key == key ? recent.site : 0;
}
void find_site(const void* caller, unsigned which, const char* function);

// --- reading --------------------------------------------------------------------------------------

struct CallStack {
  const char* function = "";                  // of the interface, that was called
  std::vector<std::uintptr_t> returns;        // addresses in the program, innermost first
  std::vector<std::uint64_t> of_interpreter;  // as it numbers them
  bool operator==(const CallStack&) const = default;
};
CallStack stack_of(std::uint32_t site);
// The same without allocating, for signal handlers: calls act(function, returns, count, of_interpreter,
// count).
using ActOnStack = void (*)(void* with, const char* function, const std::uintptr_t* returns,
                            std::size_t count, const std::uint64_t* of_interpreter, std::size_t others);
void look_at_stack(std::uint32_t site, ActOnStack act, void* with);

void renew_sites();  // in the child of a fork, where another thread may have held the lock

}  // namespace belay::observe
