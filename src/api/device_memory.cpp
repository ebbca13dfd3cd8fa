// Device memory: allocate, free, cache calls.
#include "acl/acl.h"
#include "api/door.h"
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

using fastpath::Watched;

template <Api api>
[[gnu::noinline]] aclError malloc_slow(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return enter(observe::function_of(kCall<api>),
               [&](Process& p) { return allocate(p, api, devPtr, size, policy); });
}
template <Api api, Watched watched>
[[gnu::noinline]] aclError malloc_by_policy(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                            ThreadCache& cache) {
  observe::Ring* ring = watched == Watched::Yes ? observe::t_plain_ring : nullptr;
  return fastpath::allocate_by_policy<watched>(cache, api, devPtr, size, policy, {ring, kCall<api>},
                                               [=] { return malloc_slow<api>(devPtr, size, policy); });
}
template <Api api>
aclError malloc_watched(void** devPtr, size_t size, aclrtMemMallocPolicy policy);
template <Api api>
[[gnu::noinline]] aclError malloc_made_ready(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return observe::make_ready() ? malloc_watched<api>(devPtr, size, policy)
                               : malloc_slow<api>(devPtr, size, policy);
}
template <Api api>
[[gnu::noinline]] aclError malloc_watched(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  observe::Ring* ring = observe::t_plain_ring;
  if (!ring->has_room()) [[unlikely]]
    return malloc_made_ready<api>(devPtr, size, policy);
  const auto slow = [=] { return malloc_slow<api>(devPtr, size, policy); };
  return fastpath::allocate_huge_first<Watched::Yes>(
      api, devPtr, size, policy, {ring, kCall<api>},
      [=](ThreadCache& cache) { return malloc_by_policy<api, Watched::Yes>(devPtr, size, policy, cache); },
      slow, slow);
}
template <Api api>
[[gnu::always_inline]] inline aclError malloc_fast(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return fastpath::allocate_huge_first<Watched::No>(
      api, devPtr, size, policy, {nullptr, kCall<api>},
      [=](ThreadCache& cache) { return malloc_by_policy<api, Watched::No>(devPtr, size, policy, cache); },
      [=] { return malloc_watched<api>(devPtr, size, policy); },
      [=] { return malloc_slow<api>(devPtr, size, policy); });
}

[[gnu::noinline]] aclError free_slow(void* devPtr) {
  return enter("aclrtFree", [&](Process& p) -> Status {
    if (devPtr == nullptr) return null_pointer("M-110", "devPtr");
    return p.memory().free_device(devPtr);
  });
}
template <Watched watched>
[[gnu::noinline]] aclError free_any(void* devPtr, ThreadCache& cache, std::uint64_t index,
                                    std::uint64_t word) {
  const auto start = reinterpret_cast<std::uintptr_t>(devPtr);
  return fastpath::free_any<watched>(cache, {start, cache.heap_at(start), index, word}, observe::t_plain_ring,
                                     [=] { return free_slow(devPtr); });
}
template <Watched watched, class Other>
[[gnu::always_inline]] inline aclError free_by(void* devPtr, observe::Ring* ring, Other&& in_another_state) {
  return fastpath::free_ordinary<watched>(
      devPtr, ring,
      [=](ThreadCache& cache, const fastpath::FoundBlock& block) {
        return free_any<watched>(devPtr, cache, block.index, block.word);
      },
      in_another_state, [=] { return free_slow(devPtr); });
}
aclError free_watched(void* devPtr);
[[gnu::noinline]] aclError free_made_ready(void* devPtr) {
  return observe::make_ready() ? free_watched(devPtr) : free_slow(devPtr);
}
[[gnu::noinline]] aclError free_watched(void* devPtr) {
  observe::Ring* ring = observe::t_plain_ring;
  if (!ring->has_room()) [[unlikely]]
    return free_made_ready(devPtr);
  return free_by<Watched::Yes>(devPtr, ring, [=] { return free_slow(devPtr); });
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
  return free_by<Watched::No>(devPtr, nullptr, [=] { return free_watched(devPtr); });
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
