#include "observe/stack_words.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "observe/call_sites.h"
#include "platform/clock.h"
#include "platform/modules.h"
#include "platform/symbolizer.h"

namespace belay::observe {
namespace {

// Whole lines; what does not fit is left out.
class Lines {
 public:
  Lines(std::string_view indent, char* to, std::size_t room) : indent_{indent}, to_{to}, room_{room} {}

  void add_frame(std::uintptr_t address) {
    const std::size_t before = length_;
    begin();
    const std::size_t put = platform::put_frame_token(address, to_ + length_, room_ - length_);
    length_ += put;
    end(before, put != 0);
  }
  void add(const InterpreterFrame& frame) {
    const std::size_t before = length_;
    begin();
    const int put = frame.file == nullptr
                        ? std::snprintf(to_ + length_, room_ - length_, "%s", frame.function)
                        : std::snprintf(to_ + length_, room_ - length_, "%s (%s:%u)", frame.function,
                                        frame.file, frame.line);
    const bool fits = put > 0 && static_cast<std::size_t>(put) < room_ - length_;
    if (fits) length_ += static_cast<std::size_t>(put);
    end(before, fits);
  }
  std::size_t length() const { return length_; }

 private:
  void begin() {
    put(indent_);
    put("at ");
  }
  void end(std::size_t before, bool fits) {
    if (fits && length_ < room_)
      to_[length_++] = '\n';
    else
      length_ = before;
  }
  void put(std::string_view text) {
    const std::size_t count = std::min(text.size(), room_ - length_);
    std::memcpy(to_ + length_, text.data(), count);
    length_ += count;
  }

  const std::string_view indent_;
  char* const to_;
  const std::size_t room_;
  std::size_t length_ = 0;
};

enum class Whose : unsigned char { Program, Binding, Interpreter, System };
Whose whose(std::uintptr_t address) {
  const platform::Module* module = platform::module_around(address);
  if (module == nullptr) return Whose::Program;
  const std::string_view path{module->path};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  // Threads begin there; those that call the program back begin with us.
  for (const std::string_view system : {"libc.so", "libpthread.so", "libstdc++.so", "libascendcl.so"}) {
    if (name.starts_with(system)) return Whose::System;
  }
  // The interpreter is /usr/bin/python3.11 itself, or a library. A module python_x.so is the program's, and
  // so is the _native.so of another package.
  const bool is_program = name.find(".so") == std::string_view::npos;
  if (name.starts_with("libpython") || (is_program && name.starts_with("python"))) return Whose::Interpreter;
  const bool calls_us = name == "acl.so" || path.ends_with("/belay/_native.so") ||
                        name.starts_with("_ctypes.") || name.starts_with("libffi.so");
  return calls_us ? Whose::Binding : Whose::Program;
}

// What every program and every thread begins with.
std::size_t without_start(const std::uintptr_t* returns, std::size_t count) {
  std::size_t end = count;
  if (end > 1 && whose(returns[end - 1]) == Whose::Program && whose(returns[end - 2]) == Whose::System) --end;
  while (end > 1 && whose(returns[end - 1]) == Whose::System) --end;
  return end;
}

template <class To>
void add_stack(To& lines, const std::uintptr_t* returns, std::size_t count, const std::uint64_t* others,
               std::size_t more) {
  count = without_start(returns, count);
  const DescribeFrame describe = g_describe_frame.load(std::memory_order_acquire);
  if (more == 0 || describe == nullptr) {
    for (std::size_t i = 0; i < count; ++i) lines.add_frame(returns[i]);
    return;
  }
  for (std::size_t i = 0; i < count && whose(returns[i]) != Whose::Interpreter; ++i) {
    if (whose(returns[i]) == Whose::Program) lines.add_frame(returns[i]);
  }
  for (std::size_t i = 0; i < more; ++i) {
    InterpreterFrame frame{};
    if (describe(others[i], frame)) lines.add(frame);
  }
}

struct Frames {
  TellCode tell_code;
  TellFrame tell_frame;
  void* with;
  void add_frame(std::uintptr_t address) const { tell_code(with, address); }
  void add(const InterpreterFrame& frame) const { tell_frame(with, frame); }
};

}  // namespace

void each_frame(std::uint32_t site, TellCode tell_code, TellFrame tell_frame, void* with) {
  Frames frames{tell_code, tell_frame, with};
  look_at_stack(
      site,
      [](void* to, const char*, const std::uintptr_t* returns, std::size_t count, const std::uint64_t* others,
         std::size_t more) { add_stack(*static_cast<Frames*>(to), returns, count, others, more); },
      &frames);
}

std::size_t put_stack_words(std::uint32_t site, std::string_view indent, char* to, std::size_t room) {
  Lines lines{indent, to, room};
  look_at_stack(
      site,
      [](void* with, const char*, const std::uintptr_t* returns, std::size_t count,
         const std::uint64_t* others,
         std::size_t more) { add_stack(*static_cast<Lines*>(with), returns, count, others, more); },
      &lines);
  return lines.length();
}

std::size_t put_stack_words(std::span<const std::uintptr_t> returns,
                            std::span<const std::uint64_t> of_interpreter, std::string_view indent, char* to,
                            std::size_t room) {
  Lines lines{indent, to, room};
  add_stack(lines, returns.data(), returns.size(), of_interpreter.data(), of_interpreter.size());
  return lines.length();
}

// Nothing below a tenth of a second: it tells nobody anything, and the clock is rough.
std::string age_words(std::uint64_t time_ns) {
  const std::uint64_t now = platform::rough_time_ns();
  if (time_ns == 0 || now < time_ns || now - time_ns < 100'000'000) return {};
  const double seconds = static_cast<double>(now - time_ns) * 1e-9;
  if (seconds < 120) return fmt::format(", {:.1f} s ago", seconds);
  return seconds < 7200 ? fmt::format(", {:.0f} min ago", seconds / 60)
                        : fmt::format(", {:.1f} h ago", seconds / 3600);
}

std::string happened_words(std::string_view what, std::uint32_t site, std::string_view indent,
                           std::uint64_t time_ns) {
  if (site == kManySites) return fmt::format("{}{} (more different places than are kept)\n", indent, what);
  const std::string lines = stack_words(site, std::string{indent} + "  ");
  if (lines.empty()) return {};
  return fmt::format("{}{} by {}{}:\n{}", indent, what, stack_of(site).function, age_words(time_ns), lines);
}

std::string happened_words(const std::vector<Happened>& before, std::string_view indent) {
  std::string text;
  for (const Happened& each : before) text += happened_words(each.what, each.site, indent, each.time_ns);
  return text;
}

std::string stack_words(std::uint32_t site, std::string_view indent) {
  std::string text(64 * 1024, '\0');
  text.resize(put_stack_words(site, indent, text.data(), text.size()));
  return text;
}

}  // namespace belay::observe
