#include "api/door.h"

namespace belay {

aclError refused(const char* api, const Error& error) noexcept {
  if (observe::wanted(observe::What::Refused)) [[unlikely]] {
    const Context* context = Contexts::current();
    observe::deliver({.what = observe::What::Refused,
                      .device = static_cast<std::uint8_t>(context == nullptr ? 0 : context->device),
                      .outcome = error.code,
                      .function = api},
                     {.rule = error.rule}, {}, error.what);
  }
  return report::fail(api, error);
}

aclError refused_in_need(const char* api, aclError code, const char* rule, CatalogCode catalog,
                         const char* what) noexcept {
  try {
    return refused(api, {code, rule, catalog, what, "", ""});
  } catch (const std::bad_alloc&) {
    return report::fail_without_words(code);
  }
}

void thread_ended(const char* api) noexcept {
  platform::explain_ended_thread(fmt::format("a callback that {} called", api), "R-202");
}

}  // namespace belay
