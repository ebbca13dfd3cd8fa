#include "observe/call_sites.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>

#include "observe/observe.h"
#include "platform/call_stack.h"
#include "platform/modules.h"

namespace belay::observe {

constinit thread_local RecentSite t_recent_sites[kRecentSites];

namespace {

// --- the stacks that are kept -----------------------------------------------------------------------

struct Kept {
  Kept* next;  // of those with the same bucket in the table
  std::uint64_t hash;
  const char* function;
  std::uint32_t number;
  std::uint16_t returns, others;
  std::uint64_t* frames() { return reinterpret_cast<std::uint64_t*>(this + 1); }
  const std::uint64_t* frames() const { return reinterpret_cast<const std::uint64_t*>(this + 1); }
};
static_assert(sizeof(std::uintptr_t) == sizeof(std::uint64_t));

constexpr std::size_t kBuckets = std::size_t{1} << 16;
constexpr std::size_t kOfStackPage = 1024, kStackPages = 256;
using StackPage = std::array<std::atomic<const Kept*>, kOfStackPage>;

constinit std::array<std::atomic<Kept*>, kBuckets> g_stacks;
constinit std::array<std::atomic<StackPage*>, kStackPages> g_by_number;
constinit std::uint32_t g_next = kManySites + 1;  // with the lock
alignas(std::mutex) std::byte g_mutex[sizeof(std::mutex)];
std::mutex& adding() {
  static std::mutex* one = new (g_mutex) std::mutex;
  return *one;
}

struct Stack {
  const char* function;
  std::array<std::uint64_t, 2 * kMostFrames> frames;
  std::size_t returns = 0, others = 0;

  std::size_t count() const { return returns + others; }
  std::uint64_t hash() const {
    std::uint64_t sum = reinterpret_cast<std::uintptr_t>(function) + returns;
    for (std::size_t i = 0; i < count(); ++i) {
      sum = (sum ^ frames[i]) * 0x9E3779B97F4A7C15U;
      sum ^= sum >> 29;
    }
    return sum;
  }
  bool is(const Kept& kept) const {
    return kept.function == function && kept.returns == returns && kept.others == others &&
           std::memcmp(kept.frames(), frames.data(), count() * sizeof frames[0]) == 0;
  }
};

const Kept* find(const Stack& stack, std::uint64_t hash) {
  for (const Kept* each = g_stacks[hash % kBuckets].load(std::memory_order_acquire); each != nullptr;
       each = each->next) {
    if (each->hash == hash && stack.is(*each)) return each;
  }
  return nullptr;
}

std::uint32_t add(const Stack& stack, std::uint64_t hash) {
  try {
    platform::learn_modules();  // before the lock; for whatever is unloaded later
    const std::lock_guard lock{adding()};
    if (const Kept* found = find(stack, hash)) return found->number;
    if (g_next == kStackPages * kOfStackPage) return kManySites;
    std::atomic<StackPage*>& page = g_by_number[g_next / kOfStackPage];
    if (page.load() == nullptr) page.store(new StackPage{}, std::memory_order_release);
    void* room = ::operator new(sizeof(Kept) + stack.count() * sizeof(std::uint64_t));
    std::atomic<Kept*>& bucket = g_stacks[hash % kBuckets];
    Kept* kept = new (room) Kept{bucket.load(),
                                 hash,
                                 stack.function,
                                 g_next,
                                 static_cast<std::uint16_t>(stack.returns),
                                 static_cast<std::uint16_t>(stack.others)};
    std::copy_n(stack.frames.begin(), stack.count(), kept->frames());
    (*page.load())[g_next % kOfStackPage].store(kept, std::memory_order_release);
    bucket.store(kept, std::memory_order_release);
    return g_next++;
  } catch (const std::bad_alloc&) {
    return kManySites;
  }
}

std::uint32_t number_of(const Stack& stack) {
  const std::uint64_t hash = stack.hash();
  const Kept* found = find(stack, hash);
  return found != nullptr ? found->number : add(stack, hash);
}

const Kept* kept_as(std::uint32_t site) {
  if (site <= kManySites || site >= kStackPages * kOfStackPage) return nullptr;
  const StackPage* page = g_by_number[site / kOfStackPage].load(std::memory_order_acquire);
  return page == nullptr ? nullptr : (*page)[site % kOfStackPage].load(std::memory_order_acquire);
}

// --- taking -----------------------------------------------------------------------------------------

// Only the return address, unless that one is ours: a build without last calls has functions between.
std::uint32_t site_from(const char* function, std::uintptr_t caller, unsigned frames) {
  Stack stack{function, {}, 0, 0};
  const std::span room{reinterpret_cast<std::uintptr_t*>(stack.frames.data()), frames};
  if (frames == 1 && caller != 0 && !platform::in_this_library(caller)) {
    room[0] = caller;
    stack.returns = 1;
  } else {
    stack.returns = platform::call_stack(caller, room);
  }
  if (const InterpreterFrames more = g_interpreter_frames.load(std::memory_order_acquire))
    stack.others = std::min<std::size_t>(more(&stack.frames[stack.returns], frames), frames);
  return number_of(stack);
}

}  // namespace

void keep_stacks(unsigned frames) {
  frames = std::min(frames, kMostFrames);
  if (frames > 1) platform::prepare_call_stacks();
  if (frames == 1) (void)platform::in_this_library(0);  // so that a handler need not find out
  g_stack_frames.store(frames);
  recount_wishes();
}

namespace {
// Loops make one call again and again.
struct LastSite {
  std::uintptr_t caller = 0;
  const char* function = nullptr;
  std::uint32_t site = 0;
};
constinit thread_local LastSite t_last_site;
}  // namespace

std::uint32_t site_of_this_call() {
  const unsigned frames = stack_frames();
  if (frames == 0) return 0;
  const Call& call = t_call;
  const bool is_plain = frames == 1 && g_interpreter_frames.load(std::memory_order_acquire) == nullptr;
  if (is_plain && call.caller == t_last_site.caller && call.function == t_last_site.function)
    return t_last_site.site;
  const std::uint32_t site = site_from(call.function, call.caller, frames);
  if (is_plain && call.caller != 0 && !platform::in_this_library(call.caller))
    t_last_site = {call.caller, call.function, site};
  return site;
}

std::uint32_t site_of_frames(std::span<const std::uintptr_t> returns,
                             std::span<const std::uint64_t> of_interpreter) {
  Stack stack{"",
              {},
              std::min<std::size_t>(returns.size(), kMostFrames),
              std::min<std::size_t>(of_interpreter.size(), kMostFrames)};
  if (stack.count() == 0) return 0;
  std::copy_n(returns.begin(), stack.returns, stack.frames.begin());
  std::copy_n(of_interpreter.begin(), stack.others, stack.frames.begin() + stack.returns);
  return number_of(stack);
}

// An interpreter has many lines for one address; so has a function of ours in between. Those go the slow way.
void find_site(const void* caller, unsigned which, const char* function) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (g_interpreter_frames.load(std::memory_order_acquire) != nullptr || platform::in_this_library(address))
    return;
  const std::uint64_t key = std::uint64_t{address} << 2 | which;
  t_recent_sites[(key >> 4) % kRecentSites] = {key, site_from(function, address, 1)};
}

// --- reading ----------------------------------------------------------------------------------------

void look_at_stack(std::uint32_t site, ActOnStack act, void* with) {
  if (const Kept* kept = kept_as(site)) {
    act(with, kept->function, reinterpret_cast<const std::uintptr_t*>(kept->frames()), kept->returns,
        kept->frames() + kept->returns, kept->others);
  }
}

CallStack stack_of(std::uint32_t site) {
  CallStack stack;
  look_at_stack(
      site,
      [](void* to, const char* function, const std::uintptr_t* returns, std::size_t count,
         const std::uint64_t* others, std::size_t more) {
        *static_cast<CallStack*>(to) = {function, {returns, returns + count}, {others, others + more}};
      },
      &stack);
  return stack;
}

void renew_sites() { new (&adding()) std::mutex; }

}  // namespace belay::observe
