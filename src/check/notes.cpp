#include "check/notes.h"

#include <fmt/format.h>

#include "observe/observe.h"
#include "report/log.h"

namespace belay::check {
namespace {

void hear_notes(const observe::Batch& events) {
  events.each([](const observe::Told& told) {
    report::log(report::Level::Warning, report::Module::Runtime, "notes.cpp", __LINE__,
                fmt::format("{} [rule {}]", told.text, told.details->rule));
  });
}

}  // namespace

// Only where warnings are logged at all: nobody pays for words that nobody reads.
void log_notes() {
  if (report::wanted(report::Level::Warning, report::Module::Runtime))
    observe::listen(hear_notes, {.wanted = observe::bit(observe::What::Noted), .at_once = true});
}

}  // namespace belay::check
