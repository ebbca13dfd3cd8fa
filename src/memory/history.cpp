#include "memory/history.h"

#include "memory/memory.h"
#include "observe/lives.h"
#include "observe/observe.h"

namespace belay {
namespace {

// When and where something began or ended.
struct Moment {
  std::uint32_t site = 0;
  std::uint64_t time_ns = 0;
};

// `size`: of the object, in words.
std::vector<Happened> told(Object object, const std::string& size, const Moment& made, const Moment& ended) {
  const ObjectWords words = words_of(object);
  std::vector<Happened> list;
  if (made.site != 0)
    list.push_back({fmt::format("the {}{} was {}", words.one, size, words.made), made.site, made.time_ns});
  if (ended.site != 0)
    list.push_back({fmt::format("the {} was {}", words.one, words.ended), ended.site, ended.time_ns});
  return list;
}

// What its policy came to: so many bytes in such pages.
std::string size_words(std::size_t asked, Page page, bool read_only, bool p2p) {
  return fmt::format(" of {} in {} pages{}{}", counted(asked, "byte"), amount(page_bytes(page)),
                     p2p ? ", P2P," : "", read_only ? ", read-only," : "");
}

std::vector<Happened> told(const observe::Life& life) {
  std::vector<Happened> list =
      told(life.object, life.bytes == 0 ? std::string{} : fmt::format(" of {}", counted(life.bytes, "byte")),
           {life.made_at, life.made_ns}, {life.ended_at, life.ended_ns});
  if (life.swept && !list.empty() && life.ended_at != 0)
    list.back().what = fmt::format("the {} ended with its device or context", words_of(life.object).one);
  return list;
}

std::vector<Happened> told(const std::optional<observe::Life>& life) {
  return life ? told(*life) : std::vector<Happened>{};
}

}  // namespace

std::vector<Happened> history_of_handle(std::uint64_t handle) {
  if (!observe::keeps_sites()) return {};
  return told(observe::life_of_handle(handle));
}

std::vector<Happened> history_of(Object object, std::uint64_t serial) {
  if (!observe::keeps_sites()) return {};
  return told(observe::life_of(object, serial));
}

std::vector<Happened> history_of_ended(std::uintptr_t address) {
  if (!observe::keeps_sites()) return {};
  return told(observe::ended_at_address(address));
}

Refusal of_dead_handle(Refusal refusal, std::vector<Happened> history) {
  const bool never_was = history.empty() && observe::keeps_sites();
  return as_misuse(std::move(refusal), never_was ? Misuse::UsedUnknown : Misuse::UsedAfterEnd,
                   std::move(history));
}

std::vector<Happened> history_at(const Memory& memory, std::uintptr_t address) {
  if (!observe::keeps_sites()) return {};
  if (memory.is_device_address(address)) {
    if (const std::optional<Block> block = memory.find(address)) {
      if (block->mapped) return told(observe::life_of(Object::Mapping, block->serial));
      return told(Object::DeviceBlock, size_words(block->asked, block->page, block->read_only, block->p2p),
                  {memory.map().site_of(block->start), memory.map().time_of(block->start)}, {});
    }
    if (const std::optional<HeapMap::Ended> ended = memory.map().ended_around(address))
      return told(Object::DeviceBlock, size_words(ended->asked, ended->page, ended->read_only, ended->p2p),
                  {ended->made_at, ended->made_ns}, {ended->ended_at, ended->ended_ns});
  } else if (const std::optional<HostRange> range = memory.host().find(address)) {
    std::vector<Happened> list = told(observe::life_of(Object::HostBlock, range->serial));
    return list.empty() ? told(observe::life_of(Object::Registration, range->serial)) : list;
  } else if (const std::optional<ManagedMemory::Range> managed = memory.managed().find(address)) {
    return told(observe::life_of(Object::Managed, managed->serial));
  }
  return told(observe::ended_at_address(address));
}

}  // namespace belay
