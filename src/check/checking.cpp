#include "check/checking.h"

#include <atomic>

#include "check/accesses.h"
#include "check/contents.h"
#include "check/early_access.h"
#include "check/findings.h"
#include "check/growth.h"
#include "check/habits.h"
#include "check/host_buffers.h"
#include "check/in_use.h"
#include "check/mark_requests.h"
#include "check/shortage.h"
#include "check/unfetched.h"
#include "check/verdict.h"
#include "observe/observe.h"
#include "platform/environment.h"
#include "report/messages.h"

namespace belay::check {
namespace {

void hear_hints(const observe::Batch& events) {
  events.each([](const observe::Told& told) {
    report_finding(
        hint(told.event.function_name(), std::string{told.text}, told.details->rule, told.event.site));
  });
}

std::atomic<Memory*> g_checked_memory{nullptr};

}  // namespace

void start_checking(Memory& memory, const CheckSettings& settings) {
  g_checked_memory.store(&memory, std::memory_order_release);
  start_finding(settings);  // also where nothing is looked for any more: a restart may turn it off
  if (!settings.on()) return stop_checking();
  join_verdict(platform::environment(kVerdictVariable).value_or(""));
  report::on_fetch(note_fetch);
  if (settings.wants(MisuseClass::Hints))
    observe::listen(hear_hints, {.wanted = observe::bit(observe::What::Noted), .at_once = true});
  if (settings.wants(MisuseClass::Lifetime)) watch_use(memory);
  judge_accesses(memory, settings);
  if (settings.level == CheckSettings::Level::All && settings.wants(MisuseClass::Contents))
    watch_contents(memory);
  if (settings.wants(MisuseClass::Hints)) watch_habits(memory, settings.level == CheckSettings::Level::All);
  watch_host_buffers(memory, {.buffers = settings.wants(MisuseClass::Host),
                              .changes = settings.level == CheckSettings::Level::All,
                              .hints = settings.wants(MisuseClass::Hints),
                              .accesses = settings.watch_host && settings.wants(MisuseClass::Host)});
}

void stop_checking() {
  report::on_fetch(nullptr);
  observe::unlisten(hear_hints);
  stop_watching_use();
  stop_judging_accesses();
  stop_watching_contents();
  stop_watching_habits();
  stop_watching_host_buffers();
  clear_mark();
}

void hear_refusal(const char* function, const Error& error, std::uint32_t site) {
  if (Memory* memory = g_checked_memory.load(std::memory_order_acquire); error.shortage && memory != nullptr)
    explain_shortage(*memory, function, *error.shortage, site);
  if (!check_settings().on()) return;
  const bool misused = error.misuse != Misuse::None && is_checked(row_of(error.misuse)->of);
  if (misused && !(error.task != 0 && is_doomed(error.task)))
    report_finding(refused_call(function, error, site));
  note_failure(function, error, site, misused);
}

int end_checking() {
  if (!check_settings().on() && found_count() == 0) return 0;
  tell_late_findings();
  tell_pending_contents();
  tell_early_accesses();
  tell_habits();
  report_blocked_calls();
  report_unfetched();
  if (has_verdict()) return 0;  // `belay check` sums up
  print_end_of_findings();
  return exit_code_of_findings();
}

void forget_checking() {
  g_checked_memory.store(nullptr);
  forget_early_accesses();
  forget_contents();
  forget_habits();
  forget_blocked_calls();
  forget_findings();
  forget_marks();
  forget_mark_requests();
  forget_unfetched();
  forget_verdict();
}

}  // namespace belay::check
