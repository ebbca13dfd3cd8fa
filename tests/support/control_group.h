// A control group with a memory limit, for a child of a test; it goes away again.
//
// The group is made inside of the own one, or inside of the nearest one above that may have such groups (v2),
// so that every limit above holds as before. Where that is not allowed `trouble` says why.
#pragma once

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace belay_test {

class ControlGroup {
 public:
  explicit ControlGroup(std::size_t limit) {
    if (!make("/sys/fs/cgroup/memory" + own("memory"), 1)) make_v2();
    if (path_.empty()) return;
    trouble_.clear();
    const std::string bytes = std::to_string(limit);
    write("memory.swap.max", "0");
    if (!write(version_ == 1 ? "memory.limit_in_bytes" : "memory.max", bytes))
      trouble_ = "the control group takes no memory limit";
  }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;
  ~ControlGroup() {
    if (!path_.empty()) ::rmdir(path_.c_str());  // nobody is left in it
  }

  // Why there is no group; empty when there is.
  const std::string& trouble() const { return trouble_; }
  // The calling process joins.
  bool join() const { return write("cgroup.procs", std::to_string(::getpid())); }

 private:
  // The own group in a tree: "4:memory:/a/b", for v2 "0::/a/b". Empty if there is none.
  static std::string own(const std::string& controller) {
    std::ifstream file{"/proc/self/cgroup"};
    for (std::string line; std::getline(file, line);) {
      const std::size_t first = line.find(':'), second = line.find(':', first + 1);
      if (second == std::string::npos || line.substr(first + 1, second - first - 1) != controller) continue;
      const std::string path = line.substr(second + 1);
      return path == "/" ? "" : path;
    }
    return "";
  }
  bool make(const std::string& parent, int version) {
    struct stat about {};
    const char* const sign = version == 1 ? "/memory.limit_in_bytes" : "/cgroup.subtree_control";
    if (::stat((parent + sign).c_str(), &about) != 0) return false;
    const std::string path = parent + "/belay-test-" + std::to_string(::getpid());
    if (::mkdir(path.c_str(), 0755) != 0) {
      trouble_ = "no control group can be made in " + parent + ": " + std::strerror(errno);
      return false;
    }
    path_ = path;
    version_ = version;
    return true;
  }
  void make_v2() {
    for (std::string group = own("");; group.erase(group.rfind('/'))) {
      std::ifstream file{"/sys/fs/cgroup" + group + "/cgroup.subtree_control"};
      for (std::string word; file >> word;) {
        if (word == "memory") {
          make("/sys/fs/cgroup" + group, 2);
          return;
        }
      }
      if (group.empty()) return;
    }
  }
  bool write(const char* name, const std::string& text) const {
    std::ofstream file{path_ + "/" + name};
    return file && (file << text << std::flush);
  }

  std::string path_;
  int version_ = 0;
  std::string trouble_ = "there are no control groups for memory here";
};

}  // namespace belay_test
