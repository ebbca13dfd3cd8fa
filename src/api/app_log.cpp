// The application's own lines in the log.
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "acl/acl.h"
#include "platform/process.h"
#include "report/log.h"

using namespace belay;

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* fmt,
               ...) {
  if (func == nullptr || file == nullptr || fmt == nullptr || logLevel < ACL_DEBUG || logLevel > ACL_ERROR)
    return;
  const auto level = static_cast<report::Level>(logLevel);
  try {
    if (!report::wanted(level, report::Module::App)) return;
    constexpr size_t kMost = 1024;  // with the terminating NUL
    std::array<char, kMost> text{};
    const int head =
        std::snprintf(text.data(), kMost, "%d %s:%s:%u: \"", platform::thread_id(), func, file, line);
    size_t used = head < 0 ? 0 : static_cast<size_t>(head);
    if (used < kMost) {
      std::va_list arguments;
      va_start(arguments, fmt);
      const int body = std::vsnprintf(text.data() + used, kMost - used, fmt, arguments);
      va_end(arguments);
      used += body < 0 ? 0 : static_cast<size_t>(body);
    }
    if (used + 1 < kMost) {
      text[used] = '"';
    } else {
      constexpr char kCut[] = "...[truncated]";
      std::memcpy(text.data() + kMost - sizeof kCut, kCut, sizeof kCut);
    }
    report::log(level, report::Module::App, file, line, text.data());
  } catch (...) {
    // A log line is never worth failing for.
  }
}
