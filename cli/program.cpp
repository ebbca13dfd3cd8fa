#include "cli/program.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <optional>

#include "cli/command.h"
#include "platform/environment.h"

namespace belay::cli {
namespace {

enum class Kind { Missing, Directory, NotExecutable, Executable };

Kind kind_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return Kind::Missing;
  if (S_ISDIR(info.st_mode)) return Kind::Directory;
  return S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0 ? Kind::Executable : Kind::NotExecutable;
}

FoundProgram judged(const std::string& path) {
  switch (kind_of(path)) {
    case Kind::Executable:
      return {path, kOk, {}};
    case Kind::Directory:
      return {{}, kCannotExecute, fmt::format("'{}' is a directory", path)};
    case Kind::NotExecutable:
      return {{}, kCannotExecute, fmt::format("'{}' is not executable; try: chmod +x {}", path, path)};
    case Kind::Missing:
      break;
  }
  return {{}, kNoSuchProgram, fmt::format("there is no program '{}'", path)};
}

// What of an ELF file matters here.
struct Elf {
  unsigned char word_size, byte_order;
  Elf64_Half machine;
  bool has_interpreter;
};

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& out) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&out), sizeof out));
}

std::optional<Elf> read_elf(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  Elf64_Ehdr header{};
  if (!read_at(file, 0, header.e_ident) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return std::nullopt;
  Elf elf{header.e_ident[EI_CLASS], header.e_ident[EI_DATA], EM_NONE, false};
  if (elf.word_size != ELFCLASS64 || !read_at(file, 0, header)) return elf;
  elf.machine = header.e_machine;
  for (Elf64_Half i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(file, header.e_phoff + std::uint64_t{i} * header.e_phentsize, segment)) break;
    if (segment.p_type == PT_INTERP) elf.has_interpreter = true;
  }
  return elf;
}

}  // namespace

FoundProgram find_program(const std::string& name) {
  if (name.empty()) return {{}, kNoSuchProgram, "the name of the program is empty"};
  if (name.find('/') != std::string::npos) return judged(name);

  const std::string path = platform::environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  std::optional<std::string> not_executable;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string folder = path.substr(at, end - at);
    const std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    at = end + 1;
    const Kind kind = kind_of(candidate);
    if (kind == Kind::Executable) return {candidate, kOk, {}};
    if (kind == Kind::NotExecutable && !not_executable) not_executable = candidate;
  }
  if (not_executable) return judged(*not_executable);
  std::string why = fmt::format("there is no program '{}' in the directories of PATH", name);
  if (kind_of("./" + name) == Kind::Executable) why += fmt::format("; did you mean ./{}?", name);
  return {{}, kNoSuchProgram, why};
}

std::string why_not_intercepted(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    const bool other_user = (info.st_mode & S_ISUID) != 0 && info.st_uid != ::geteuid();
    const bool other_group = (info.st_mode & S_ISGID) != 0 && info.st_gid != ::getegid();
    if (other_user || other_group) {
      return fmt::format(
          "'{}' runs with the rights of another user, and the system does not let belay put its library into "
          "such a program",
          path);
    }
  }
  const std::optional<Elf> program = read_elf(path);
  if (!program) return {};
  const std::optional<Elf> self = read_elf("/proc/self/exe");
  if (self && (program->word_size != self->word_size || program->byte_order != self->byte_order ||
               program->machine != self->machine)) {
    return fmt::format("'{}' is built for another processor than belay's library", path);
  }
  if (!program->has_interpreter) {
    return fmt::format(
        "'{}' is statically linked: it loads no libraries, so belay cannot take the place of libascendcl.so; "
        "link it without -static",
        path);
  }
  return {};
}

}  // namespace belay::cli
