// Device memory: allocate, free, cache calls.
#include "acl/acl.h"
#include "api/door.h"
#include "base/words.h"
#include "fastpath/fast_path.h"
#include "runtime/allocation.h"
#include "runtime/copying.h"
#include "runtime/stream_calls.h"

using namespace belay;

// The call tree is drawn in fastpath/fast_path.h. Each function is kept out of the way of the one before, and
// called last.
namespace {

template <Api api>
constexpr observe::Operation kCall = api == Api::Malloc          ? observe::Operation::Malloc
                                     : api == Api::MallocAlign32 ? observe::Operation::MallocAlign32
                                                                 : observe::Operation::MallocCached;

using fastpath::Noted;

// Where the call returns to. Every function here is called last, so that it is the program's in each.
#define BELAY_CALLER __builtin_return_address(0)

constexpr unsigned number_of(observe::Operation call) {
  return static_cast<unsigned>(call) - static_cast<unsigned>(observe::Operation::Malloc);
}

template <Noted noted>
[[gnu::always_inline]] inline fastpath::Teller teller_of(observe::Operation call, const void* caller) {
  return {has_events(noted) ? observe::t_plain_ring : nullptr, call,
          has_sites(noted) ? observe::site_at_hand(caller, number_of(call)) : 0};
}
template <Noted noted>
constexpr bool lacks_site(const fastpath::Teller& teller) {
  return has_sites(noted) && teller.site == 0;
}

template <Api api>
[[gnu::noinline]] aclError malloc_slow(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return enter(observe::function_of(kCall<api>),
               [&](Process& p) { return allocate(p, api, devPtr, size, policy); });
}
template <Api api, Noted noted>
[[gnu::noinline]] aclError malloc_by_policy(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                            ThreadCache& cache) {
  const auto slow = [=] { return malloc_slow<api>(devPtr, size, policy); };
  fastpath::Teller teller = teller_of<noted>(kCall<api>, BELAY_CALLER);
  if (lacks_site<noted>(teller)) return slow();
  if (has_events(noted)) teller.policy = fastpath::policy_told(policy);
  return fastpath::allocate_by_policy<noted>(cache, api, devPtr, size, policy, teller, slow);
}
template <Api api>
aclError malloc_noted(void** devPtr, size_t size, aclrtMemMallocPolicy policy);
template <Api api>
[[gnu::noinline]] aclError malloc_made_ready(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return observe::make_ready() ? malloc_noted<api>(devPtr, size, policy)
                               : malloc_slow<api>(devPtr, size, policy);
}
// The next one from there has its call site at hand.
template <Api api>
[[gnu::noinline]] aclError malloc_from_new_site(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  observe::find_site(BELAY_CALLER, number_of(kCall<api>), observe::function_of(kCall<api>));
  return malloc_slow<api>(devPtr, size, policy);
}
template <Api api, Noted noted>
[[gnu::noinline]] aclError malloc_noted_as(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  if (has_events(noted) && !observe::t_plain_ring->has_room()) [[unlikely]]
    return malloc_made_ready<api>(devPtr, size, policy);
  const fastpath::Teller teller = teller_of<noted>(kCall<api>, BELAY_CALLER);
  if (lacks_site<noted>(teller)) [[unlikely]]
    return malloc_from_new_site<api>(devPtr, size, policy);
  const auto slow = [=] { return malloc_slow<api>(devPtr, size, policy); };
  return fastpath::allocate_huge_first<noted>(
      api, devPtr, size, policy, teller,
      [=](ThreadCache& cache) { return malloc_by_policy<api, noted>(devPtr, size, policy, cache); }, slow,
      slow);
}
template <Api api>
[[gnu::noinline]] aclError malloc_noted(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  switch (fastpath::noted_now()) {
    case Noted::Events:
      return malloc_noted_as<api, Noted::Events>(devPtr, size, policy);
    case Noted::Sites:
      return malloc_noted_as<api, Noted::Sites>(devPtr, size, policy);
    case Noted::Both:
      return malloc_noted_as<api, Noted::Both>(devPtr, size, policy);
    case Noted::Nothing:
      break;
  }
  return malloc_slow<api>(devPtr, size, policy);
}
template <Api api>
[[gnu::always_inline]] inline aclError malloc_fast(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return fastpath::allocate_huge_first<Noted::Nothing>(
      api, devPtr, size, policy, {nullptr, kCall<api>, 0},
      [=](ThreadCache& cache) { return malloc_by_policy<api, Noted::Nothing>(devPtr, size, policy, cache); },
      [=] { return malloc_noted<api>(devPtr, size, policy); },
      [=] { return malloc_slow<api>(devPtr, size, policy); });
}

[[gnu::noinline]] aclError free_slow(void* devPtr) {
  return enter("aclrtFree", [&](Process& p) -> Status {
    if (devPtr == nullptr) return null_pointer("M-110", "devPtr");
    return p.memory().free_device(devPtr);
  });
}
template <Noted noted>
[[gnu::noinline]] aclError free_any(void* devPtr, ThreadCache& cache, std::uint64_t index,
                                    std::uint64_t word) {
  const auto start = reinterpret_cast<std::uintptr_t>(devPtr);
  const fastpath::Teller teller = teller_of<noted>(observe::Operation::Free, BELAY_CALLER);
  if (lacks_site<noted>(teller)) return free_slow(devPtr);
  return fastpath::free_any<noted>(cache, {start, cache.heap_at(start), index, word}, teller,
                                   [=] { return free_slow(devPtr); });
}
template <Noted noted, class Other>
[[gnu::always_inline]] inline aclError free_by(void* devPtr, const fastpath::Teller& teller,
                                               Other&& in_another_state) {
  return fastpath::free_ordinary<noted>(
      devPtr, teller,
      [=](ThreadCache& cache, const fastpath::FoundBlock& block) {
        return free_any<noted>(devPtr, cache, block.index, block.word);
      },
      in_another_state, [=] { return free_slow(devPtr); });
}
aclError free_noted(void* devPtr);
[[gnu::noinline]] aclError free_made_ready(void* devPtr) {
  return observe::make_ready() ? free_noted(devPtr) : free_slow(devPtr);
}
[[gnu::noinline]] aclError free_from_new_site(void* devPtr) {
  observe::find_site(BELAY_CALLER, number_of(observe::Operation::Free), "aclrtFree");
  return free_slow(devPtr);
}
template <Noted noted>
[[gnu::noinline]] aclError free_noted_as(void* devPtr) {
  if (has_events(noted) && !observe::t_plain_ring->has_room()) [[unlikely]]
    return free_made_ready(devPtr);
  const fastpath::Teller teller = teller_of<noted>(observe::Operation::Free, BELAY_CALLER);
  if (lacks_site<noted>(teller)) [[unlikely]]
    return free_from_new_site(devPtr);
  return free_by<noted>(devPtr, teller, [=] { return free_slow(devPtr); });
}
[[gnu::noinline]] aclError free_noted(void* devPtr) {
  switch (fastpath::noted_now()) {
    case Noted::Events:
      return free_noted_as<Noted::Events>(devPtr);
    case Noted::Sites:
      return free_noted_as<Noted::Sites>(devPtr);
    case Noted::Both:
      return free_noted_as<Noted::Both>(devPtr);
    case Noted::Nothing:
      break;
  }
  return free_slow(devPtr);
}

}  // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return malloc_fast<Api::Malloc>(devPtr, size, policy);
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return malloc_fast<Api::MallocAlign32>(devPtr, size, policy);
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return malloc_fast<Api::MallocCached>(devPtr, size, policy);
}

aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg) {
  return enter("aclrtMallocWithCfg", [&](Process& p) {
    return allocate_configured(p, Api::MallocWithCfg, devPtr, size, policy, cfg);
  });
}

aclError aclrtMallocForTaskScheduler(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                     aclrtMallocConfig* cfg) {
  return enter("aclrtMallocForTaskScheduler", [&](Process& p) {
    return allocate_configured(p, Api::MallocForTaskScheduler, devPtr, size, policy, cfg);
  });
}

aclError aclrtFree(void* devPtr) {
  return free_by<Noted::Nothing>(devPtr, {}, [=] { return free_noted(devPtr); });
}

aclError aclrtFreeWithDevSync(void* devPtr) {
  return enter("aclrtFreeWithDevSync", [&](Process& p) -> Status {
    if (devPtr == nullptr) return null_pointer("M-120", "devPtr");
    if (Status ready = needs_context(p, "M-121", Feature::AllButIpv); !ready) return ready;
    if (Status waited = synchronize_device(p, -1, "M-122"); !waited) return waited;
    return p.memory().free_device(devPtr);
  });
}

namespace {

// Caches are coherent: both calls check their arguments and do nothing (M-125 ... M-130).
aclError cache_call(const char* api, const void* pointer, size_t size, bool stops_at_abort) {
  return enter(api, [&](Process& p) -> Status {
    if (pointer == nullptr) return null_pointer("M-125", "devPtr");
    if (size == 0) return bad_value("M-126", "size", size, "at least 1");
    if (Status ready = needs_context(p, "M-127", Feature::AllButIpv); !ready) return ready;
    ASSIGN_OR_RETURN(const Context* context, current_context(p, "M-127"));
    const auto start = reinterpret_cast<std::uintptr_t>(pointer);
    const std::optional<Block> block = p.memory().find(start);
    if (!block || size > block->start + block->footprint - start) {
      observe::note("M-130", [&] {
        return fmt::format("the {} bytes at {} are not inside one block of device memory", size, hex(start));
      });
    }
    if (stops_at_abort && p.scheduler().aborting(context->device))
      return being_aborted("M-128", context->device);
    return done();
  });
}

}  // namespace

aclError aclrtMemFlush(void* devPtr, size_t size) { return cache_call("aclrtMemFlush", devPtr, size, true); }

aclError aclrtMemInvalidate(void* devPtr, size_t size) {
  return cache_call("aclrtMemInvalidate", devPtr, size, false);
}

aclError aclrtDeviceL2CacheFlush(...) {
  return enter("aclrtDeviceL2CacheFlush",
               [](Process& p) { return needs_context(p, "R-276", Feature::EveryChip); });
}
