#include "report/log.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/environment.h"
#include "platform/files.h"
#include "platform/process.h"
#include "report/log_files.h"
#include "report/repetitions.h"

namespace belay::report {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames{"DEBUG", "INFO", "WARNING", "ERROR"};
constexpr std::array<std::string_view, 5> kModuleNames{"ASCENDCL", "RUNTIME", "DRV", "APP", "GE"};
// Modules that ASCEND_MODULE_LOG_LEVEL may name although belay never writes as them.
constexpr std::array<std::string_view, 14> kOtherModules{"SLOG",   "IDEDD", "HCCL",     "FMK", "CCU",
                                                         "DVPP",   "CCE",   "HDC",      "MDC", "DEVMM",
                                                         "KERNEL", "TDT",   "TEFUSION", "OP"};

std::optional<Level> level_from(std::string_view text) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '4') return std::nullopt;
  return static_cast<Level>(text[0] - '0');
}

struct Setup {
  std::array<Level, kModuleNames.size()> levels{};
  bool print = false;
  std::string directory;
  std::size_t most_files = kUsualLogFiles;
};

// "MOD=level:MOD=level"; any mistake voids the whole variable.
void apply_module_levels(std::string_view text, Setup& setup) {
  Setup changed = setup;
  while (true) {
    const std::size_t colon = text.find(':');
    const std::string_view item = text.substr(0, colon);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return;
    const std::optional<Level> level = level_from(item.substr(equals + 1));
    if (!level) return;
    const std::string_view name = item.substr(0, equals);
    bool known = false;
    for (std::size_t i = 0; i < kModuleNames.size(); ++i) {
      if (kModuleNames[i] != name) continue;
      changed.levels[i] = *level;
      known = true;
    }
    for (const std::string_view other : kOtherModules) known = known || other == name;
    if (!known) return;
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
  }
  setup = changed;
}

Setup read_setup() {
  Setup setup;
  setup.levels.fill(
      level_from(platform::environment("ASCEND_GLOBAL_LOG_LEVEL").value_or("")).value_or(Level::Error));
  if (const auto modules = platform::environment("ASCEND_MODULE_LOG_LEVEL"))
    apply_module_levels(*modules, setup);
  const auto newer = platform::environment("ASCEND_LOG_PRINT_TO_STDOUT");
  const auto older = platform::environment("ASCEND_SLOG_PRINT_TO_STDOUT");
  setup.print = (newer ? *newer : older.value_or("")) == "1";
  if (const auto path = platform::environment("ASCEND_PROCESS_LOG_PATH"); path && !path->empty()) {
    setup.directory = *path;
  } else if (const auto work = platform::environment("ASCEND_WORK_PATH"); work && !work->empty()) {
    setup.directory = *work + "/log";
  } else if (const auto home = platform::environment("HOME"); home && !home->empty()) {
    setup.directory = *home + "/ascend/log";
  }
  const std::string count = platform::environment("ASCEND_HOST_LOG_FILE_NUM").value_or("");
  if (!count.empty() && count.size() <= 4 && count.find_first_not_of("0123456789") == std::string::npos) {
    const std::size_t wished = std::stoul(count);
    if (wished >= 1 && wished <= kMostLogFiles) setup.most_files = wished;
  }
  return setup;
}

class Log {
 public:
  Log()
      : setup_{read_setup()},
        files_{setup_.directory.empty() ? "" : setup_.directory + "/debug/plog", setup_.most_files} {}

  bool wanted(Level level, Module module) const {
    return level >= setup_.levels[static_cast<std::size_t>(module)];
  }

  void write(LogLine line) {
    const std::lock_guard lock{mutex_};
    line.stamp = platform::time_stamp();  // inside the lock, so that times rise
    if (setup_.print) {
      // Among the program's own output a line stands where it happened, or it misleads.
      platform::print_line(false, line.text());
      return;
    }
    append_all(repetitions_.add(std::move(line), platform::clock_ticks()));
  }

  // Waits only a little for a thread that writes: it may have been interrupted by a signal handler that calls
  // exit.
  void end() {
    for (int waited = 0; !mutex_.try_lock(); ++waited) {
      if (waited >= 100) return;
      platform::sleep_briefly();
    }
    const std::lock_guard lock{mutex_, std::adopt_lock};
    append_all(repetitions_.end());
  }

  // In a forked child: whatever the parent was about to write, it writes itself.
  void abandon() { files_.abandon(); }

 private:
  void append_all(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) files_.append(line);
  }

  Setup setup_;
  std::mutex mutex_;
  Repetitions repetitions_;
  LogFiles files_;
};

// Never destroyed: the program's static destructors may still log.
std::atomic<Log*> g_log{nullptr};
Log& the_log() {
  Log* log = g_log.load(std::memory_order_acquire);
  if (log != nullptr) return *log;
  // No lock: a thread that forks while another holds one would leave it locked in the child for ever.
  auto ours = std::make_unique<Log>();
  if (g_log.compare_exchange_strong(log, ours.get(), std::memory_order_acq_rel)) return *ours.release();
  return *log;
}

}  // namespace

bool wanted(Level level, Module module) { return level < Level::Nothing && the_log().wanted(level, module); }

void log(Level level, Module module, const char* place, std::uint32_t line, const std::string& text) {
  if (!wanted(level, module)) return;
  the_log().write({fmt::format("[{}] {}({},{}):", kLevelNames[static_cast<std::size_t>(level)],
                               kModuleNames[static_cast<std::size_t>(module)], platform::process_id(),
                               platform::process_name()),
                   {},
                   fmt::format("[{}:{}]{}", place, line, text)});
}

void end_log() noexcept {
  try {
    if (Log* log = g_log.load(std::memory_order_acquire)) log->end();
  } catch (...) {
    // A count is not worth failing for.
  }
}

void restart_log() {
  static auto* of_parents = new std::vector<Log*>;  // kept reachable, never used again
  if (Log* old = g_log.exchange(nullptr)) {
    old->abandon();
    of_parents->push_back(old);
  }
}

}  // namespace belay::report
