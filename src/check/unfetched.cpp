#include "check/unfetched.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/of_process.h"
#include "check/findings.h"
#include "platform/process.h"

namespace belay::check {
namespace {

struct Failure {
  std::int32_t thread;
  const char* function;
  aclError code;
  std::string what;
  const char* rule;
  std::uint32_t site;
};

// Each place of a program once for each thread: it may fail for ever.
constexpr std::size_t kMost = 4096;

struct Failures {
  std::mutex mutex;
  std::vector<Failure> all;
};
constinit OfProcess<Failures> g_failures;
Failures& failures() { return g_failures.get(); }

// What many programs ask for in order to find out, that memory is used up (which is explained at once), that
// the time of a wait is over, and what starting twice returns.
bool is_an_answer(std::string_view function, aclError code) {
  switch (code) {
    case ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
    case ACL_ERROR_RT_STREAM_SYNC_TIMEOUT:
    case ACL_ERROR_RT_EVENT_SYNC_TIMEOUT:
    case ACL_ERROR_RT_REPORT_TIMEOUT:
    case ACL_ERROR_REPEAT_INITIALIZE:
    case ACL_ERROR_REPEAT_FINALIZE:
      return true;
    case ACL_ERROR_RT_THREAD_SUBSCRIBE:  // not yet
      return function == "aclrtProcessReport" || function == "aclrtProcessHostFunc";
    default:
      return false;
  }
}

}  // namespace

void note_failure(const char* function, const Error& error, std::uint32_t site, bool found) {
  const CheckSettings::ApiErrors mode = check_settings().api_errors;
  if (!is_checked(MisuseClass::Errors) || mode == CheckSettings::ApiErrors::Off) return;
  if (is_an_answer(function, error.code) || found) return;
  if (mode == CheckSettings::ApiErrors::All)
    return report_finding(error_not_fetched(function, error.code, error.what, site, error.rule));
  Failures& list = failures();
  const std::int32_t thread = platform::thread_id();
  const std::lock_guard lock{list.mutex};
  if (list.all.size() == kMost) return;
  const bool known = std::ranges::any_of(list.all, [&](const Failure& each) {
    return each.thread == thread && each.site == site && each.code == error.code;
  });
  if (!known) list.all.push_back({thread, function, error.code, error.what, error.rule, site});
}

void note_fetch() {
  Failures* list = g_failures.if_any();
  if (list == nullptr) return;
  const std::int32_t thread = platform::thread_id();
  const std::lock_guard lock{list->mutex};
  std::erase_if(list->all, [thread](const Failure& each) { return each.thread == thread; });
}

void report_unfetched() {
  std::vector<Failure> left;
  {
    Failures& list = failures();
    const std::lock_guard lock{list.mutex};
    left.swap(list.all);
  }
  for (const Failure& each : left)
    report_finding(error_not_fetched(each.function, each.code, each.what, each.site, each.rule));
}

void forget_unfetched() { g_failures.set_aside(); }

}  // namespace belay::check
