#include "observe/call_sites.h"

#include <array>
#include <mutex>
#include <new>
#include <unordered_map>

#include "observe/observe.h"
#include "platform/call_stack.h"

namespace belay::observe {
namespace {

constexpr std::size_t kDeepest = 32;
constexpr std::uint32_t kUnknown = 1;

struct HashOfStack {
  std::size_t operator()(const CallStack& stack) const {
    std::size_t hash = stack.returns.size();
    const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15U; };
    for (const std::uintptr_t each : stack.returns) mix(each);
    for (const std::uint64_t each : stack.of_interpreter) mix(each);
    return hash;
  }
};

struct Sites {
  std::mutex mutex;
  std::unordered_map<CallStack, std::uint32_t, HashOfStack> numbers;
  std::vector<const CallStack*> stacks{nullptr, nullptr};  // by number; the first two are nobody's
};
Sites& sites() {
  static auto* all = new Sites;  // used until the very end
  return *all;
}

}  // namespace

std::uint32_t site_of_this_call() {
  try {
    CallStack stack;
    std::array<std::uintptr_t, kDeepest> returns;
    stack.returns.assign(returns.data(), returns.data() + platform::call_stack(t_call.stack, returns));
    if (const InterpreterFrames add = g_interpreter_frames.load(std::memory_order_acquire)) {
      stack.of_interpreter.resize(kDeepest);
      stack.of_interpreter.resize(std::min(add(stack.of_interpreter.data(), kDeepest), kDeepest));
    }
    Sites& all = sites();
    const std::lock_guard lock{all.mutex};
    const auto [found, is_new] =
        all.numbers.try_emplace(std::move(stack), static_cast<std::uint32_t>(all.stacks.size()));
    if (is_new) all.stacks.push_back(&found->first);
    return found->second;
  } catch (const std::bad_alloc&) {
    return kUnknown;
  }
}

void renew_sites() { new (&sites().mutex) std::mutex; }

CallStack stack_of(std::uint32_t site) {
  Sites& all = sites();
  const std::lock_guard lock{all.mutex};
  return site < all.stacks.size() && all.stacks[site] != nullptr ? *all.stacks[site] : CallStack{};
}

}  // namespace belay::observe
