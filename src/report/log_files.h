// The files of the log: one that is written, and those before it, of this process and of others.
//
// A process keeps as many files as ASCEND_HOST_LOG_FILE_NUM says. All processes of a user that write
// into the same directory, dead ones included, together keep what one process may write, and no more than
// a thousand files. A file that a live process is writing stays, whatever the sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/append_file.h"

namespace belay::report {

inline constexpr std::uint64_t kLogFileBytes = std::uint64_t{20} * 1024 * 1024;
inline constexpr std::size_t kUsualLogFiles = 10;
inline constexpr std::size_t kMostLogFiles = 1000;  // also of all processes together

// Exactly the names that belay gives: plog-<process>_<20 digits of time>.log.
bool is_log_name(const std::string& name);

// Makes room beside `current`, the oldest first: in what this process keeps, then in what all keep together.
// `removes` answers false for a file that stays because it is in use.
void make_room(std::vector<platform::OwnFile> files, const std::string& current, std::size_t files_of_process,
               const std::function<bool(const std::string& name)>& removes);

class LogFiles {
 public:
  LogFiles(std::string directory, std::size_t files_of_process);

  // A place that cannot be written is given up in silence: no call may fail for the log.
  void append(const std::string& line);
  // In a forked child: lets go of the parent's file, which would look as if it were in use.
  void abandon() { file_.abandon(); }

 private:
  void open_next();

  std::string directory_;
  std::size_t files_of_process_;
  platform::AppendFile file_;
  std::uint64_t written_ = 0;
  bool given_up_ = false;
};

}  // namespace belay::report
