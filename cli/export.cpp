#include "cli/export.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/words.h"
#include "cli/help.h"
#include "cli/trace_frames.h"

namespace belay::cli {
namespace {

using observe::What;
using recording::Record;
using recording::Trace;

struct ExportArguments {
  std::string file, format, out;
};

constexpr std::array kWhatNames{
    "allocated",     "freed",          "copied",        "filled",    "submitted", "begun",
    "done",          "failed",         "dropped",       "waited",    "created",   "destroyed",
    "device opened", "device closing", "device closed", "finalised", "refused",   "given back",
    "noted",         "range begun",    "range ended",   "labelled",  "marked"};

// A stream of text: a file, or standard output.
class Out {
 public:
  explicit Out(const std::string& path)
      : file_{path.empty() ? stdout : std::fopen(path.c_str(), "w")}, path_{path} {
    if (file_ == nullptr) throw UsageError{fmt::format("'{}' cannot be written", path)};
  }
  ~Out() {
    if (!path_.empty()) std::fclose(file_);
  }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::print(file_, format, std::forward<Values>(values)...);
  }
  void finish() {
    if (std::fflush(file_) != 0 || std::ferror(file_) != 0)
      throw std::runtime_error{fmt::format("'{}' cannot be written to its end", path_)};
  }

 private:
  std::FILE* file_;
  std::string path_;
};

std::string quoted_json(std::string_view text) {
  return nlohmann::json(std::string{text}).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}
// A cell of CSV, in quotes where it must be.
std::string cell(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string{text};
  std::string quoted = "\"";
  for (const char each : text) quoted += each == '"' ? "\"\"" : std::string(1, each);
  return quoted + '"';
}

double microseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }

// --- Chrome, Perfetto -----------------------------------------------------------------------------

// Counters are by process, so each device of a process is one of its own: its number behind that of the
// process.
class Chrome {
 public:
  Chrome(const Trace& trace, Out& out) : trace_{trace}, out_{out}, used_(trace.processes().size()) {
    out_.put("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (std::uint32_t i = 0; i < trace.processes().size(); ++i) {
      const recording::ProcessFacts& facts = trace.processes()[i];
      name("process_name", pid(i), 0, fmt::format("{} ({})", facts.name, facts.process));
    }
  }
  void see(const Record& record) {
    if (record.kind != recording::Kind::Event) return;
    const double at = microseconds(record.time_ns);
    if (record.is_block()) return count(record, at);
    switch (record.what) {
      case What::Copied:
      case What::Filled:
        return event("X", at, pid(record.process), record.thread, function(record),
                     fmt::format(",\"dur\":0,\"args\":{{\"bytes\":{}}}", record.bytes));
      case What::RangeBegun:
        return event("B", at, pid(record.process), record.thread, record.text, "");
      case What::RangeEnded:
        return event("E", at, pid(record.process), record.thread, "", "");
      case What::Marked:
      case What::Refused:
        return event("i", at, pid(record.process), record.thread,
                     record.what == What::Marked ? "mark" : std::string{function(record)} + " refused",
                     fmt::format(",\"s\":\"t\",\"args\":{{\"code\":{},\"why\":{}}}", record.outcome,
                                 quoted_json(record.text)));
      case What::Begun:
        begun_[{record.process, record.serial}] = record.time_ns;
        return;
      case What::Done:
      case What::Failed:
        return task(record);
      default:
        return;
    }
  }
  void finish() { out_.put("\n]}}\n"); }

 private:
  static std::uint64_t pid(std::uint32_t process) { return (std::uint64_t{process} + 1) * 1000; }
  std::string_view function(const Record& record) const {
    return trace_.text(record.process, record.function);
  }
  void event(const char* phase, double at, std::uint64_t pid, std::uint64_t tid, std::string_view name,
             const std::string& more) {
    out_.put("{}{{\"ph\":\"{}\",\"ts\":{:.3f},\"pid\":{},\"tid\":{},\"name\":{}{}}}", first_ ? "" : ",\n",
             phase, at, pid, tid, quoted_json(name), more);
    first_ = false;
  }
  void name(const char* what, std::uint64_t pid, std::uint64_t tid, const std::string& name) {
    event("M", 0, pid, tid, what, fmt::format(",\"args\":{{\"name\":{}}}", quoted_json(name)));
  }
  void count(const Record& record, double at) {
    const std::uint32_t place = record.place();
    std::uint64_t& used = used_[record.process][place];
    used = record.what == What::Allocated ? used + record.charged() : used - std::min(used, record.charged());
    const std::string counter =
        place == recording::kHostPlace ? "pinned host memory" : fmt::format("memory of device {}", place);
    event("C", at, pid(record.process), 0, counter, fmt::format(",\"args\":{{\"bytes\":{}}}", used));
  }
  void task(const Record& record) {
    const auto found = begun_.find({record.process, record.serial});
    const std::uint64_t begun = found == begun_.end() ? record.time_ns : found->second;
    if (found != begun_.end()) begun_.erase(found);
    const std::uint64_t lane = 1'000'000'000 + record.stream % 1'000'000'000;  // beside the threads
    if (streams_.try_emplace({record.process, record.stream}, true).second)
      name("thread_name", pid(record.process), lane, fmt::format("stream {:#x}", record.stream));
    event("X", microseconds(begun), pid(record.process), lane, function(record),
          fmt::format(",\"dur\":{:.3f},\"args\":{{\"bytes\":{},\"task\":{},\"code\":{}}}",
                      microseconds(record.time_ns - begun), record.bytes, record.serial, record.outcome));
  }

  const Trace& trace_;
  Out& out_;
  bool first_ = true;
  std::vector<std::map<std::uint32_t, std::uint64_t>> used_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> begun_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, bool> streams_;
};

// --- msMemScope -----------------------------------------------------------------------------------

class MsMemScope {
 public:
  MsMemScope(const Trace& trace, Out& out) : trace_{trace}, out_{out}, used_(trace.processes().size()) {
    out_.put(
        "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,Call "
        "Stack(Python),Call "
        "Stack(C)\n");
  }
  void see(const Record& record) {
    if (record.kind != recording::Kind::Event) return;
    if (record.what == What::RangeBegun || record.what == What::RangeEnded) {
      return row(record, "MSTX", record.what == What::RangeBegun ? "Range_start" : "Range_end",
                 fmt::format("\"{}\"", without_quotes(record.text)), "N/A", "N/A", "N/A");
    }
    if (!record.is_block()) return;
    const bool host = record.is_host_memory();
    std::uint64_t& used = used_[record.process][record.place()];
    used = record.what == What::Allocated ? used + record.charged() : used - std::min(used, record.charged());
    std::string attributes = fmt::format("allocation_id:{},addr:{:#018x},size:{},total:{},used:{}",
                                         record.serial, record.address, record.bytes, used, used);
    if (!host && record.what == What::Allocated) {
      attributes += fmt::format(",page_type:{},alloc_type:{}",
                                record.page_shift >= 30   ? "giant"
                                : record.page_shift >= 21 ? "huge"
                                                          : "normal",
                                record.object == Object::Physical ? "create" : "alloc");
    }
    row(record, record.what == What::Allocated ? "MALLOC" : "FREE", host ? "HOST_PINNED" : "HAL", "N/A",
        host ? "cpu" : fmt::format("{}", record.device), fmt::format("{:#018x}", record.address),
        fmt::format("\"{{{}}}\"", attributes));
  }
  void finish() {}

 private:
  static std::string without_quotes(std::string_view text) {
    std::string safe = harmless(text);
    std::replace(safe.begin(), safe.end(), '"', '\'');
    return safe;
  }
  void row(const Record& record, const char* event, const char* type, const std::string& name,
           const std::string& device, const std::string& address, const std::string& attributes) {
    const std::string stack = site_words(trace_, record.process, record.site);
    out_.put("{},{},{},{},{},{},{},{},{},{},N/A,{}\n", number_++, event, type, name, record.time_ns,
             trace_.processes()[record.process].process, record.thread, device, address, attributes,
             stack.empty() ? "N/A" : fmt::format("\"{}\"", without_quotes(stack)));
  }

  const Trace& trace_;
  Out& out_;
  std::uint64_t number_ = 0;
  std::vector<std::map<std::uint32_t, std::uint64_t>> used_;
};

// --- CSV ------------------------------------------------------------------------------------------

class Csv {
 public:
  Csv(const Trace& trace, Out& out) : trace_{trace}, out_{out} {
    out_.put(
        "time_ns,process,thread,event,object,function,device,serial,address,bytes,charged_bytes,page_bytes,"
        "stream,"
        "position,outcome,rule,text,where\n");
  }
  void see(const Record& record) {
    if (record.kind != recording::Kind::Event) return;
    const std::string_view object =
        record.object == Object::None ? std::string_view{} : words_of(record.object).one;
    out_.put("{},{},{},{},{},{},{},{},{:#x},{},{},{},{:#x},{},{},{},{},{}\n", record.time_ns,
             trace_.processes()[record.process].process, record.thread,
             kWhatNames[static_cast<std::size_t>(record.what)], object,
             cell(trace_.text(record.process, record.function)), record.device, record.serial, record.address,
             record.bytes, record.charged(),
             record.page_shift == 0 ? 0 : std::uint64_t{1} << record.page_shift, record.stream,
             record.position, record.outcome, cell(trace_.text(record.process, record.rule)),
             cell(harmless(record.text)), cell(site_words(trace_, record.process, record.site)));
  }
  void finish() {}

 private:
  const Trace& trace_;
  Out& out_;
};

template <class Viewer>
void write(Trace& trace, Out& out) {
  Viewer viewer{trace, out};
  for (recording::Records records = trace.records(); const Record* each = records.next();) viewer.see(*each);
  viewer.finish();
  out.finish();
}

int export_trace(const ExportArguments& arguments) {
  Trace trace;
  if (const std::string why = trace.open(arguments.file); !why.empty()) throw UsageError{why};
  name_frames(trace);
  Out out{arguments.out};
  if (arguments.format == "chrome")
    write<Chrome>(trace, out);
  else if (arguments.format == "msmemscope")
    write<MsMemScope>(trace, out);
  else
    write<Csv>(trace, out);
  for (const std::string& each : trace.remarks()) fmt::print(stderr, "note: {}\n", harmless(each));
  return kOk;
}

}  // namespace

Action add_export(CLI::App& belay) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App& app = *belay.add_subcommand("export", "Write a trace for other viewers")->group("Commands");
  app.add_option("FILE", arguments->file, "a trace, made by belay run --trace")->required();
  app.add_option("--to", arguments->format, "chrome (also for Perfetto), msmemscope or csv")
      ->required()
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"chrome", "msmemscope", "csv"}));
  app.add_option("-o,--output", arguments->out, "a file; without it, standard output")->type_name("OUT");
  set_help(app, "belay export FILE --to FORMAT [-o OUT]",
           "Sizes are bytes. chrome: used memory as counters, copies and tasks as slices. msmemscope: the "
           "rows of\n"
           "its CSV for what was allocated and freed. csv: a row for each event.\n\n"
           "Exit code: 0; 2 the file cannot be read or written, or wrong use.\n\n"
           "Examples:\n"
           "  belay export run.trace --to chrome -o run.json        open it in ui.perfetto.dev\n"
           "  belay export run.trace --to csv | head");
  return [arguments] { return export_trace(*arguments); };
}

}  // namespace belay::cli
