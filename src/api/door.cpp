#include "api/door.h"

#include "memory/history.h"
#include "observe/call_sites.h"
#include "observe/stack_words.h"

namespace belay {

constinit std::atomic<HearRefusal> g_hear_refusal{nullptr};

namespace {
void hear_refusal(const char* api, const Error& error, std::uint32_t site) {
  if (const HearRefusal hear = g_hear_refusal.load(std::memory_order_acquire)) hear(api, error, site);
}

std::string places_of(const Error& error, std::uint32_t site) {
  constexpr std::string_view kIndent = "        ";
  return observe::happened_words("the call was made", site, kIndent) +
         observe::happened_words(error.before, kIndent);
}

// A thread that is bound to a context which another one has destroyed has none, and can hardly know why.
void add_lost_context(Error& error) {
  const Handle lost = Contexts::lost();
  if (error.code != ACL_ERROR_RT_CONTEXT_NULL || error.misuse != Misuse::None || lost == 0) return;
  std::vector<Happened> history = history_of_handle(lost);
  if (history.empty()) return;
  error.misuse = Misuse::UsedAfterEnd;
  error.before = std::move(history);
}

aclError tell_refusal(const char* api, const Error& error) noexcept {
  if (observe::wanted(observe::What::Refused)) [[unlikely]] {
    const Context* context = Contexts::current();
    observe::deliver({.what = observe::What::Refused,
                      .device = static_cast<std::uint8_t>(context == nullptr ? 0 : context->device),
                      .outcome = error.code,
                      .function = api},
                     {.rule = error.rule}, {}, error.what);
  }
  std::string places;
  if (observe::keeps_sites()) [[unlikely]] {
    const std::uint32_t site = observe::site_of_this_call();
    observe::quietly([&] { places = places_of(error, site); });
    observe::quietly([&] { hear_refusal(api, error, site); });
  } else {
    observe::quietly([&] { hear_refusal(api, error, 0); });
  }
  return report::fail(api, error, std::move(places));
}

}  // namespace

aclError refused(const char* api, Error& error) noexcept {
  if (observe::keeps_sites()) [[unlikely]]
    observe::quietly([&] { add_lost_context(error); });
  return tell_refusal(api, error);
}

aclError refused_in_need(const char* api, aclError code, const char* rule, CatalogCode catalog,
                         const char* what) noexcept {
  try {
    return tell_refusal(api, {code, rule, catalog, what, "", ""});
  } catch (const std::bad_alloc&) {
    return report::fail_without_words(code);
  }
}

void thread_ended(const char* api) noexcept {
  platform::explain_ended_thread(fmt::format("a callback that {} called", api), "R-202");
}

}  // namespace belay
