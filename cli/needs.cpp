#include "cli/needs.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace belay::cli {
namespace {

constexpr std::array<std::string_view, 3> kBeginnings{"acl", "hi_mpi_", "Hccl"};

// A file in memory, read with care: whatever it says of itself may be wrong.
class Image {
 public:
  explicit Image(std::string bytes) : bytes_{std::move(bytes)} {}

  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    T value{};
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof value) return std::nullopt;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::string_view text(const Elf64_Shdr& strings, std::uint64_t offset) const {
    if (offset >= strings.sh_size || strings.sh_offset > bytes_.size()) return {};
    const std::string_view all = std::string_view{bytes_}.substr(strings.sh_offset, strings.sh_size);
    if (offset >= all.size()) return {};
    const std::string_view rest = all.substr(offset);
    return rest.substr(0, rest.find('\0'));
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
};

bool is_of_ascendcl(std::string_view name) {
  return std::ranges::any_of(kBeginnings, [&](std::string_view each) { return name.starts_with(each); });
}

}  // namespace

std::optional<Needs> needs_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  const Image image{std::string{std::istreambuf_iterator<char>{file}, {}}};
  const auto header = image.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return std::nullopt;
  const auto section = [&](std::uint64_t number) {
    return image.at<Elf64_Shdr>(header->e_shoff + number * sizeof(Elf64_Shdr));
  };
  // Programs and libraries have a table for the loader; objects have the other one only.
  std::optional<Elf64_Shdr> symbols, needed;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto each = section(i);
    if (!each) break;
    if (each->sh_type == SHT_DYNSYM || (each->sh_type == SHT_SYMTAB && !symbols)) symbols = each;
    if (each->sh_type == SHT_DYNAMIC) needed = each;
  }
  if (!symbols) return std::nullopt;

  Needs needs;
  const auto for_each = [&]<class Entry>(const Elf64_Shdr& table, auto&& act, Entry) {
    const auto strings = section(table.sh_link);
    const std::uint64_t bytes = std::min<std::uint64_t>(table.sh_size, image.size());
    for (std::uint64_t offset = 0; strings && offset + sizeof(Entry) <= bytes; offset += sizeof(Entry)) {
      if (const auto entry = image.at<Entry>(table.sh_offset + offset)) act(*entry, *strings);
    }
  };
  for_each(
      *symbols,
      [&](const Elf64_Sym& symbol, const Elf64_Shdr& strings) {
        const std::string_view name = image.text(strings, symbol.st_name);
        if (symbol.st_shndx == SHN_UNDEF && is_of_ascendcl(name)) needs.functions.emplace_back(name);
      },
      Elf64_Sym{});
  if (needed) {
    for_each(
        *needed,
        [&](const Elf64_Dyn& entry, const Elf64_Shdr& strings) {
          if (entry.d_tag == DT_NEEDED) needs.libraries.emplace_back(image.text(strings, entry.d_un.d_val));
        },
        Elf64_Dyn{});
  }
  std::ranges::sort(needs.functions);
  const auto twice = std::ranges::unique(needs.functions);
  needs.functions.erase(twice.begin(), twice.end());
  return needs;
}

}  // namespace belay::cli
