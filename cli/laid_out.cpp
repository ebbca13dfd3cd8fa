#include "cli/laid_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "cli/command.h"

namespace belay::cli {
namespace {

namespace fs = std::filesystem;

// Enough to tell whether a small text is still the one that was written (FNV-1a).
std::uint64_t sum_of(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const char each : text) sum = (sum ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
  return sum;
}

std::string text_of(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string sum_word(std::string_view text) { return fmt::format("{:016x}", sum_of(text)); }

[[noreturn]] void cannot(const char* what, const fs::path& path, const std::error_code& error) {
  throw UsageError{fmt::format("'{}' cannot be {}: {}", path.string(), what, error.message()),
                   error == std::errc::permission_denied || error == std::errc::read_only_file_system
                       ? "run it as root (sudo), or name a directory of your own: --root ~/Ascend"
                       : "name another directory: --root DIR"};
}

void make(const LaidOut& thing) {
  std::error_code error;
  switch (thing.kind) {
    case LaidOut::Kind::Directory:
      fs::create_directory(thing.path, error);
      break;
    case LaidOut::Kind::Link:
      fs::create_symlink(thing.content, thing.path, error);
      break;
    case LaidOut::Kind::File: {
      std::ofstream file{thing.path, std::ios::binary};
      errno = file.is_open() ? 0 : errno;
      file << thing.content;
      file.close();
      if (!file) error = {errno != 0 ? errno : EIO, std::generic_category()};
    }
  }
  if (error) cannot("made", thing.path, error);
}

// Whether it is still there as it was made. `content` is what a list says: a target or a sum.
bool unchanged(LaidOut::Kind kind, const fs::path& path, const std::string& content) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  switch (kind) {
    case LaidOut::Kind::Directory:
      return fs::is_directory(status);
    case LaidOut::Kind::Link:
      return fs::is_symlink(status) && fs::read_symlink(path, error) == content;
    case LaidOut::Kind::File:
      return fs::is_regular_file(status) && sum_word(text_of(path)) == content;
  }
  return false;
}

constexpr std::string_view kWords[] = {"directory", "link", "file"};

// Lines of "link<TAB>path<TAB>target".
Layout read_list(const fs::path& root) {
  Layout list;
  std::ifstream file{list_file(root)};
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find('\t');
    const std::size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
    if (second == std::string::npos) continue;
    const auto word = std::ranges::find(kWords, std::string_view{line}.substr(0, first));
    if (word == std::end(kWords)) continue;
    list.push_back({static_cast<LaidOut::Kind>(word - std::begin(kWords)),
                    line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return list;
}

// Last made, first removed. A directory stays if something else is in it.
std::vector<fs::path> remove_all(const Layout& list) {
  std::vector<fs::path> left;
  for (auto thing = list.rbegin(); thing != list.rend(); ++thing) {
    std::error_code error;
    if (fs::symlink_status(thing->path, error).type() == fs::file_type::not_found) continue;
    if (!unchanged(thing->kind, thing->path, thing->content)) {
      left.push_back(thing->path);
      continue;
    }
    fs::remove(thing->path, error);
    if (error == std::errc::directory_not_empty)
      left.push_back(thing->path);
    else if (error)
      cannot("removed", thing->path, error);
  }
  return left;
}

}  // namespace

fs::path list_file(const fs::path& root) { return root / ".belay-toolkit"; }

bool is_laid_out(const fs::path& root) {
  std::error_code error;
  return fs::is_regular_file(list_file(root), error);
}

std::vector<fs::path> taken(const fs::path& root, const Layout& wanted) {
  std::vector<fs::path> found;
  const Layout list = read_list(root);
  const auto ours = [&](const LaidOut& thing) {
    const auto listed = std::ranges::find(list, thing.path, &LaidOut::path);
    return listed != list.end() && unchanged(listed->kind, listed->path, listed->content);
  };
  for (const LaidOut& thing : wanted) {
    if (ours(thing)) continue;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(thing.path, error);
    if (status.type() == fs::file_type::not_found) continue;
    const bool below = thing.path != root && thing.path.string().starts_with(root.string() + "/");
    if (thing.kind == LaidOut::Kind::Directory && fs::is_directory(thing.path, error) && !below) continue;
    found.push_back(thing.path);
  }
  return found;
}

void lay_out(const fs::path& root, const Layout& wanted, const std::vector<fs::path>& kept) {
  Layout made;
  try {
    for (const LaidOut& thing : wanted) {
      std::error_code error;
      const bool there = thing.kind == LaidOut::Kind::Directory && fs::is_directory(thing.path, error);
      if (there && std::ranges::find(kept, thing.path) == kept.end()) continue;  // another's
      if (!there) make(thing);
      made.push_back(thing);
      if (thing.kind == LaidOut::Kind::File) made.back().content = sum_word(thing.content);
    }
    std::string text;
    for (const LaidOut& thing : made) {
      text += fmt::format("{}\t{}\t{}\n", kWords[static_cast<int>(thing.kind)], thing.path.string(),
                          thing.content);
    }
    make({LaidOut::Kind::File, list_file(root), text});
  } catch (const UsageError&) {
    remove_all(made);
    throw;
  }
}

std::vector<fs::path> take_back(const fs::path& root) {
  const Layout list = read_list(root);
  // The list first, because the root goes only when it is empty.
  std::error_code error;
  fs::remove(list_file(root), error);
  if (error) cannot("removed", list_file(root), error);
  return remove_all(list);
}

}  // namespace belay::cli
