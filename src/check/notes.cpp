#include "check/notes.h"

#include <fmt/format.h>

#include "observe/observe.h"
#include "report/log.h"

namespace belay::check {
namespace {

void hear_note(const observe::Event& event) {
  report::log(report::Level::Warning, report::Module::Runtime, "notes.cpp", __LINE__,
              fmt::format("{} [rule {}]", event.text, event.rule));
}

}  // namespace

// Only where warnings are logged at all: nobody pays for words that nobody reads.
void log_notes() {
  if (report::wanted(report::Level::Warning, report::Module::Runtime))
    observe::listen(hear_note, observe::bit(observe::What::Noted));
}

}  // namespace belay::check
