#include "cli/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "base/words.h"
#include "cli/colour.h"
#include "cli/help.h"
#include "cli/report_page.h"
#include "cli/trace_frames.h"

namespace belay::cli {
namespace {

struct ReportArguments {
  std::string trace, page;
};

// A page that is half written must not look like one: it gets its name when it is complete.
std::string write_page(const std::string& path, const std::string& text) {
  const std::string draft = path + ".part";
  std::FILE* file = std::fopen(draft.c_str(), "wb");
  if (file == nullptr) return std::strerror(errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(draft.c_str(), path.c_str()) == 0) return {};
  const std::string why = std::strerror(errno);
  std::remove(draft.c_str());
  return why;
}

// For a person who waits: how far it is. Silent for what is quick, and for files.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  void at(double share) {
    if (!is_person_) return;
    shown_ = true;
    fmt::print(stderr, "\rreading the trace: {:3.0f} %", share * 100);
  }

 private:
  bool is_person_ = isatty(STDERR_FILENO) != 0, shown_ = false;
};

int report(const ReportArguments& arguments) {
  recording::Trace trace;
  if (const std::string why = trace.open(arguments.trace); !why.empty()) {
    fmt::print(stderr, "{} {}\n", complaint("belay report"), why);
    fmt::print(stderr, "a trace is what 'belay run --trace FILE -- program' writes\n");
    return kUsage;
  }
  name_frames(trace);
  const story::Story story = [&] {
    ProgressLine line;
    return story::tell(trace, [&line](double share) { line.at(share); });
  }();
  const std::string page = arguments.page.empty() ? arguments.trace + ".html" : arguments.page;
  const std::string name = arguments.trace.substr(arguments.trace.rfind('/') + 1);
  const std::string text = report_page({name, trace, story});
  if (page == "-") {
    fmt::print("{}", text);
    return kOk;
  }
  if (const std::string why = write_page(page, text); !why.empty()) {
    fmt::print(stderr, "{} {} cannot be written: {}\n", complaint("belay report"), page, why);
    return kUsage;
  }
  for (const std::string& remark : trace.remarks()) fmt::print(stderr, "belay report: {}\n", remark);
  fmt::print("{} tells of {} of {}; open it in a browser\n", page, counted(story.records, "record"),
             counted(trace.processes().size(), "process", "processes"));
  return kOk;
}

}  // namespace

Action add_report(CLI::App& belay) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App& app =
      *belay.add_subcommand("report", "Make a page of a trace: where memory went, when, and why it ran out")
           ->group("Commands");
  app.add_option("FILE", arguments->trace, "a trace, as 'belay run --trace FILE' writes it")
      ->option_text(" ")
      ->required();
  app.add_option("-o,--output", arguments->page, "the page; - for standard output\ndefault: FILE.html")
      ->type_name("PAGE");
  set_help(
      app, "belay report FILE [-o PAGE]",
      "The page is one file, which opens from the disk: no server, no network. It shows used memory over\n"
      "time; who holds it at any moment, and where; streams, copies and waits; waste by cause; temporary\n"
      "blocks; what was never freed; and why memory ran out, with what would have fitted. Peaks, holders,\n"
      "leaks and refusals are in it as text too, in exact bytes. docs/report.md explains it.\n"
      "Exit code: 0, or 2 if the trace cannot be read or the page not be written.\n\n"
      "Examples:\n"
      "  belay run --trace run.trace -- ./prog        write a trace\n"
      "  belay report run.trace                       make run.trace.html of it\n"
      "  belay report run.trace -o memory.html        under another name");
  return [arguments] { return report(*arguments); };
}

}  // namespace belay::cli
