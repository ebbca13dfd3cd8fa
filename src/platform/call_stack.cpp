#include "platform/call_stack.h"

#include <unwind.h>

namespace belay::platform {
namespace {

struct Walk {
  std::uintptr_t inside;  // frames that begin below are not wanted
  std::span<std::uintptr_t> returns;
  std::size_t count = 0;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* to) {
  auto& walk = *static_cast<Walk*>(to);
  const auto address = static_cast<std::uintptr_t>(::_Unwind_GetIP(context));
  if (address == 0 || walk.count == walk.returns.size()) return _URC_END_OF_STACK;
  if (static_cast<std::uintptr_t>(::_Unwind_GetCFA(context)) <= walk.inside) return _URC_NO_REASON;
  walk.returns[walk.count++] = address;
  return _URC_NO_REASON;
}

}  // namespace

std::size_t call_stack(const void* inside, std::span<std::uintptr_t> returns) {
  Walk walk{reinterpret_cast<std::uintptr_t>(inside), returns};
  ::_Unwind_Backtrace(step, &walk);
  return walk.count;
}

}  // namespace belay::platform
