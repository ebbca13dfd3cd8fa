#include "report/log_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "platform/files.h"
#include "platform/process.h"

namespace belay::report {
namespace {

constexpr std::string_view kHead = "plog-", kTail = ".log";
constexpr std::size_t kTimeDigits = 20;  // of platform::time_digits(); the vendor's have 17

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view time_in(std::string_view name) {
  return name.substr(name.size() - kTail.size() - kTimeDigits, kTimeDigits);
}

std::string head_of_this_process() { return fmt::format("{}{}_", kHead, platform::process_id()); }

}  // namespace

bool is_log_name(const std::string& name) {
  const std::string_view text = name;
  if (!text.starts_with(kHead) || !text.ends_with(kTail)) return false;
  const std::size_t line = text.find('_');
  if (line == std::string_view::npos || text.size() != line + 1 + kTimeDigits + kTail.size()) return false;
  return all_digits(text.substr(kHead.size(), line - kHead.size())) && all_digits(time_in(text));
}

void make_room(std::vector<platform::OwnFile> files, const std::string& current, std::size_t files_of_process,
               const std::function<bool(const std::string& name)>& removes) {
  std::ranges::stable_sort(files, {}, [](const platform::OwnFile& each) { return time_in(each.name); });
  std::erase_if(files, [&](const platform::OwnFile& each) { return each.name == current; });
  const std::string own = head_of_this_process();
  std::size_t count = 1, own_count = 1;  // with the current one, which is empty
  std::uint64_t bytes = 0;
  for (const platform::OwnFile& each : files) {
    ++count;
    own_count += each.name.starts_with(own) ? 1U : 0U;
    bytes += each.bytes;
  }
  // Who wants few files does not shorten what others have written.
  const std::uint64_t most_bytes = std::max(files_of_process, kUsualLogFiles) * kLogFileBytes;
  const auto remove_where = [&](auto too_many) {
    std::erase_if(files, [&](const platform::OwnFile& each) {
      if (!too_many(each) || !removes(each.name)) return false;
      --count;
      own_count -= each.name.starts_with(own) ? 1U : 0U;
      bytes -= each.bytes;
      return true;
    });
  };
  remove_where([&](const platform::OwnFile& each) {
    return own_count > files_of_process && each.name.starts_with(own);
  });
  remove_where([&](const platform::OwnFile&) { return count > kMostLogFiles || bytes > most_bytes; });
}

LogFiles::LogFiles(std::string directory, std::size_t files_of_process)
    : directory_{std::move(directory)}, files_of_process_{files_of_process}, given_up_{directory_.empty()} {}

void LogFiles::append(const std::string& line) {
  if (given_up_) return;
  if (written_ + line.size() > kLogFileBytes || !file_.is_there()) open_next();
  if (given_up_ || !file_.append(line)) given_up_ = true;
  written_ += line.size();
}

void LogFiles::open_next() {
  using Created = platform::AppendFile::Created;
  given_up_ = !platform::make_directories(directory_);
  if (given_up_) return;
  std::string name;
  Created created = Created::TryAnotherName;
  // Each attempt has a later time in its name.
  for (int attempt = 0; attempt < 100 && created == Created::TryAnotherName; ++attempt) {
    name = fmt::format("{}{}{}", head_of_this_process(), platform::time_digits(), kTail);
    created = file_.create(directory_ + "/" + name);
  }
  given_up_ = created != Created::Done;
  if (given_up_) return;
  written_ = 0;
  make_room(platform::own_files(directory_, is_log_name), name, files_of_process_,
            [this](const std::string& each) {
              const platform::Removal removal = platform::remove_if_left_behind(directory_, each);
              // Without locks nothing is known of others, but what this process has closed is not in use.
              const bool by_us = each.starts_with(head_of_this_process());
              return removal == platform::Removal::Done || (removal == platform::Removal::Unknown && by_us &&
                                                            platform::remove_file(directory_ + "/" + each));
            });
}

}  // namespace belay::report
