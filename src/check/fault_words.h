// Words put together in a signal handler: nothing is allocated, and what does not fit is left out.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "platform/faults.h"

namespace belay::check {

class FaultWords {
 public:
  // Formats that allocate nothing: %s, %u, %d, %lu, %lx.
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    std::va_list values;
    va_start(values, format);
    const int put = std::vsnprintf(text_ + length_, sizeof text_ - length_, format, values);
    va_end(values);
    if (put > 0) length_ += static_cast<std::size_t>(put);
    if (length_ >= sizeof text_) length_ = sizeof text_ - 1;
  }
  void print() const {
    if (length_ > 0) platform::write_error(text_);
  }

 private:
  char text_[1536] = "";
  std::size_t length_ = 0;
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
