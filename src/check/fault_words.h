// Words put together in a signal handler: nothing is allocated, and what does not fit is left out.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

#include "observe/stack_words.h"
#include "platform/faults.h"
#include "platform/symbolizer.h"

namespace belay::check {

class FaultWords {
 public:
  // The large room is for one at a time; a handler may run on a small stack.
  FaultWords() {
    if (g_taken.exchange(true)) return;
    text_ = g_large;
    room_ = sizeof g_large;
  }
  ~FaultWords() {
    if (text_ == g_large) g_taken.store(false);
  }
  FaultWords(const FaultWords&) = delete;
  FaultWords& operator=(const FaultWords&) = delete;

  // Formats that allocate nothing: %s, %u, %d, %lu, %lx.
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    std::va_list values;
    va_start(values, format);
    const int put = std::vsnprintf(text_ + length_, room_ - length_, format, values);
    va_end(values);
    if (put > 0) length_ += static_cast<std::size_t>(put);
    if (length_ >= room_) length_ = room_ - 1;
  }

  // Where in the program: the lines of a stack below a title, or without one further out. What is not known
  // is left out.
  void add_stack(const char* title, std::uint32_t site) {
    add_below(title,
              [&](char* to, std::size_t room) { return observe::put_stack_words(site, kIndent, to, room); });
  }
  void add_stack(const char* title, std::span<const std::uintptr_t> returns,
                 std::span<const std::uint64_t> of_interpreter) {
    add_below(title, [&](char* to, std::size_t room) {
      const std::string_view indent = title == nullptr ? kOuterIndent : kIndent;
      return observe::put_stack_words(returns, of_interpreter, indent, to, room);
    });
  }
  // The same at the very end.
  void remember(const char* title, std::uint32_t site) {
    if (site != 0 && remembered_ < sizeof later_ / sizeof later_[0]) later_[remembered_++] = {title, site};
  }

  // What was said so far becomes a finding, below a headline and the lines that `add_place` adds: the first
  // sentence stays, the second is what to do.
  template <class AddPlace>
  void make_finding(std::string_view id, std::string_view headline, std::string_view of,
                    AddPlace&& add_place) {
    const std::size_t said = length_;
    add("belay: %.*s: %.*s [%.*s]\n", static_cast<int>(id.size()), id.data(),
        static_cast<int>(headline.size()), headline.data(), static_cast<int>(of.size()), of.data());
    add_place();
    std::rotate(text_, text_ + said, text_ + length_);
    std::size_t at = length_ - said;
    for (const std::string_view more : {"  ", "  what to do: "}) at = insert_after_name(at, more);
  }
  // The rule that the words name; empty: none.
  std::string_view rule() const {
    constexpr std::string_view kBefore = "[rule ";
    const std::string_view all{text_, length_};
    const std::size_t at = all.find(kBefore);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = all.substr(at + kBefore.size());
    return rest.substr(0, std::min(rest.find(']'), rest.size()));
  }

  // All of it.
  std::string_view finished() {
    for (std::size_t i = 0; i < remembered_; ++i) add_stack(later_[i].title, later_[i].site);
    remembered_ = 0;
    return {text_, length_};
  }
  void print() {
    (void)finished();
    if (length_ > 0) platform::print_symbolised(text_, length_);
  }
  bool is_empty() const { return length_ == 0; }

 private:
  static constexpr std::string_view kIndent = "belay:     ", kOuterIndent = "belay:   ";
  static inline char g_large[32 * 1024];
  static inline std::atomic<bool> g_taken{false};

  // Behind "belay: " of the line that begins here, as far as there is room; returns where the next line
  // begins.
  std::size_t insert_after_name(std::size_t line, std::string_view more) {
    constexpr std::string_view kName = "belay: ";
    const std::string_view all{text_, length_};
    if (!all.substr(std::min(line, length_)).starts_with(kName) || length_ + more.size() >= room_)
      return length_;
    const std::size_t at = line + kName.size();
    std::memmove(text_ + at + more.size(), text_ + at, length_ - at + 1);
    std::memcpy(text_ + at, more.data(), more.size());
    length_ += more.size();
    const std::size_t end = std::string_view{text_, length_}.find('\n', at);
    return end == std::string_view::npos ? length_ : end + 1;
  }

  template <class Put>
  void add_below(const char* title, Put&& put) {
    const std::size_t before = length_;
    if (title != nullptr) add("belay:   %s:\n", title);
    const std::size_t lines = length_ + 1 < room_ ? put(text_ + length_, room_ - length_ - 1) : 0;
    length_ = lines == 0 ? before : length_ + lines;
    text_[length_] = '\0';
  }

  char small_[1536] = "";
  char* text_ = small_;
  std::size_t room_ = sizeof small_;
  std::size_t length_ = 0;
  struct Later {
    const char* title;
    std::uint32_t site;
  } later_[4] = {};
  std::size_t remembered_ = 0;
};

inline unsigned long number(std::uintptr_t value) { return static_cast<unsigned long>(value); }

// Who made the access: a task, a call, or code of the program.
struct Toucher {
  bool ours;
  const char* function;  // of ours, if it is known
  bool in_task;
  unsigned task;
  int stream;

  void name(FaultWords& words) const {
    if (in_task)
      words.add("task %u of stream %d, submitted by %s,", task, stream, function);
    else
      words.add("%s", !ours ? "host code" : function != nullptr ? function : "a call of AscendCL");
  }
};

}  // namespace belay::check
