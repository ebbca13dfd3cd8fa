#include "platform/modules.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace belay::platform {
namespace {

using List = std::vector<const Module*>;  // the latest last

struct Known {
  std::mutex mutex;
  std::vector<std::unique_ptr<const List>> lists;  // a reader may have an older one
  std::atomic<const List*> list{nullptr};
  std::atomic<unsigned long long> changes{0};  // of the loader when it was asked last
};
Known& known() {
  static auto* one = new Known;  // used until the very end
  return *one;
}

struct Look {
  unsigned long long changes = 0;
  bool whole = false;
  std::vector<Module> found;
};

std::string program_path() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string{path, static_cast<std::size_t>(length)} : std::string{};
}

std::string in_hex(const unsigned char* bytes, std::size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::string build_id_in(const char* notes, std::size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes, sizeof head);
    const std::size_t name = (head.n_namesz + 3U) & ~std::size_t{3},
                      value = (head.n_descsz + 3U) & ~std::size_t{3};
    if (name > bytes - sizeof head || value > bytes - sizeof head - name) break;
    const char* text = notes + sizeof head;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(text, "GNU", 4) == 0)
      return in_hex(reinterpret_cast<const unsigned char*>(text + name), head.n_descsz);
    notes += sizeof head + name + value;
    bytes -= sizeof head + name + value;
  }
  return {};
}

int look_at(dl_phdr_info* of, std::size_t, void* to) {
  auto& look = *static_cast<Look*>(to);
  look.changes = of->dlpi_adds + of->dlpi_subs;
  if (!look.whole) {
    if (look.changes == known().changes.load(std::memory_order_acquire)) return 1;
    look.whole = true;
  }
  Module module{of->dlpi_name, {}, UINTPTR_MAX, 0, of->dlpi_addr};
  if (module.path.empty() && look.found.empty()) module.path = program_path();
  for (int i = 0; i < of->dlpi_phnum; ++i) {
    const auto& part = of->dlpi_phdr[i];
    const std::uintptr_t begin = of->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) {
      module.begin = std::min(module.begin, begin);
      module.end = std::max(module.end, begin + part.p_memsz);
    } else if (part.p_type == PT_NOTE && module.build_id.empty()) {
      module.build_id = build_id_in(reinterpret_cast<const char*>(begin), part.p_memsz);
    }
  }
  if (module.begin < module.end) look.found.push_back(std::move(module));
  return 0;
}

bool same(const Module& a, const Module& b) {
  return a.begin == b.begin && a.end == b.end && a.path == b.path && a.build_id == b.build_id;
}

}  // namespace

void learn_modules() {
  Look look;
  ::dl_iterate_phdr(look_at, &look);
  if (!look.whole) return;
  Known& all = known();
  const std::lock_guard lock{all.mutex};
  // Those that are loaded now behind those that were.
  auto list = std::make_unique<List>();
  List now;
  const List none;
  const List* before = all.list.load();
  for (Module& each : look.found) {
    const auto old = std::ranges::find_if(before == nullptr ? none : *before,
                                          [&](const Module* one) { return same(*one, each); });
    now.push_back(before != nullptr && old != before->end() ? *old : new Module{std::move(each)});
  }
  if (before != nullptr) {
    std::ranges::copy_if(*before, std::back_inserter(*list),
                         [&](const Module* one) { return std::ranges::find(now, one) == now.end(); });
  }
  list->insert(list->end(), now.begin(), now.end());
  all.list.store(all.lists.emplace_back(std::move(list)).get(), std::memory_order_release);
  all.changes.store(look.changes, std::memory_order_release);
}

void renew_modules() { new (&known().mutex) std::mutex; }

const Module* module_around(std::uintptr_t address) {
  const List* list = known().list.load(std::memory_order_acquire);
  if (list == nullptr) return nullptr;
  const auto found = std::find_if(list->rbegin(), list->rend(), [address](const Module* each) {
    return address - each->begin < each->end - each->begin;
  });
  return found == list->rend() ? nullptr : *found;
}

}  // namespace belay::platform
