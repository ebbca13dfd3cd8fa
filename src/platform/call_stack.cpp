#include "platform/call_stack.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

namespace belay::platform {
namespace {

// --- the ways to walk -----------------------------------------------------------------------------

// It must not be linked: then it would take the place of the unwinder of the whole program.
using UnwindQuickly = int (*)(void** returns, int most);
std::atomic<UnwindQuickly> g_unwind{nullptr};

struct Walk {
  std::span<std::uintptr_t> returns;
  std::size_t count = 0;
};
_Unwind_Reason_Code step(_Unwind_Context* context, void* to) {
  auto& walk = *static_cast<Walk*>(to);
  const auto address = static_cast<std::uintptr_t>(::_Unwind_GetIP(context));
  if (address == 0 || walk.count == walk.returns.size()) return _URC_END_OF_STACK;
  walk.returns[walk.count++] = address;
  return _URC_NO_REASON;
}

// All frames, ours included.
std::size_t whole_stack(std::span<std::uintptr_t> returns) {
  if (const UnwindQuickly unwind = g_unwind.load(std::memory_order_acquire)) {
    const int count = unwind(reinterpret_cast<void**>(returns.data()), static_cast<int>(returns.size()));
    return static_cast<std::size_t>(std::max(count, 0));
  }
  Walk walk{returns};
  ::_Unwind_Backtrace(step, &walk);
  return walk.count;
}

// --- this library ---------------------------------------------------------------------------------

struct Code {
  std::uintptr_t begin = 0, end = 0;
};

int find_code(dl_phdr_info* of, std::size_t, void* to) {
  const auto here = reinterpret_cast<std::uintptr_t>(&find_code);
  for (int i = 0; i < of->dlpi_phnum; ++i) {
    const auto& part = of->dlpi_phdr[i];
    const std::uintptr_t begin = of->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || here - begin >= part.p_memsz) continue;
    const bool is_program = of->dlpi_name == nullptr || *of->dlpi_name == '\0';
    if (!is_program) *static_cast<Code*>(to) = {begin, begin + part.p_memsz};
    return 1;
  }
  return 0;
}

const Code& own_code() {
  static const Code found = [] {
    Code code;
    ::dl_iterate_phdr(find_code, &code);
    return code;
  }();
  return found;
}

// Frames of ours between the program and here.
constexpr std::size_t kMostOfOurs = 24;
constexpr std::size_t kMost = 64;

std::size_t copy_from(std::span<const std::uintptr_t> all, std::size_t first,
                      std::span<std::uintptr_t> returns) {
  const std::size_t count = std::min(returns.size(), all.size() - first);
  std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first), count, returns.begin());
  return count;
}

}  // namespace

void prepare_call_stacks() {
  static std::once_flag once;
  std::call_once(once, [] {
    (void)own_code();
    // It takes a lock when a thread has ended, after the thread sanitizer has let go of that thread.
    if (::dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr) return;
    void* library = ::dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    if (void* found = ::dlsym(library, "unw_backtrace"))
      g_unwind.store(reinterpret_cast<UnwindQuickly>(found), std::memory_order_release);
  });
}

bool walks_quickly() { return g_unwind.load(std::memory_order_acquire) != nullptr; }

bool in_this_library(std::uintptr_t instruction) {
  const Code& code = own_code();
  return instruction - code.begin < code.end - code.begin;
}

[[gnu::noinline]] std::size_t call_stack(std::uintptr_t caller, std::span<std::uintptr_t> returns) {
  std::array<std::uintptr_t, kMost> all;
  const std::size_t wanted = std::min(returns.size() + kMostOfOurs, all.size());
  const std::size_t count = whole_stack(std::span{all}.first(wanted));
  const std::span<const std::uintptr_t> there = std::span{all}.first(count);
  if (caller != 0 && !in_this_library(caller)) {
    if (const auto found = std::ranges::find(there, caller); found != there.end())
      return copy_from(there, static_cast<std::size_t>(found - there.begin()), returns);
  }
  const auto outside = std::ranges::find_if_not(there, in_this_library);
  const std::size_t first = static_cast<std::size_t>(outside - there.begin());
  if (first < count && first != 0) return copy_from(there, first, returns);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const auto found = std::ranges::find(there, here);
  return copy_from(there, found == there.end() ? 0 : static_cast<std::size_t>(found - there.begin()),
                   returns);
}

std::size_t stack_at_fault(std::uintptr_t instruction, std::span<std::uintptr_t> returns) {
  if (returns.empty()) return 0;
  returns[0] = instruction;
  if (returns.size() == 1 || !walks_quickly()) return 1;
  std::array<std::uintptr_t, kMost> all;
  const std::size_t count = whole_stack(all);
  const std::span<const std::uintptr_t> there = std::span{all}.first(count);
  const auto found = std::ranges::find(there, instruction);
  if (found == there.end()) return 1;
  return copy_from(there, static_cast<std::size_t>(found - there.begin()), returns);
}

}  // namespace belay::platform
