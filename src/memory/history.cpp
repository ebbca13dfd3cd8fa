#include "memory/history.h"

#include "memory/memory.h"
#include "observe/lives.h"
#include "observe/observe.h"

namespace belay {
namespace {

void add(std::vector<Happened>& list, std::string what, std::uint32_t site) {
  if (site != 0) list.push_back({std::move(what), site});
}

std::vector<Happened> told(Object object, std::uint32_t made_at, std::uint32_t ended_at) {
  const ObjectWords words = words_of(object);
  std::vector<Happened> list;
  add(list, fmt::format("the {} was {}", words.one, words.made), made_at);
  add(list, fmt::format("the {} was {}", words.one, words.ended), ended_at);
  return list;
}

std::vector<Happened> told(const observe::Life& life) {
  std::vector<Happened> list = told(life.object, life.made_at, life.ended_at);
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
      return told(Object::DeviceBlock, memory.map().site_of(block->start), 0);
    }
    if (const std::optional<HeapMap::Ended> ended = memory.map().ended_around(address))
      return told(Object::DeviceBlock, ended->made_at, ended->ended_at);
  } else if (const std::optional<HostRange> range = memory.host().find(address)) {
    std::vector<Happened> list = told(observe::life_of(Object::HostBlock, range->serial));
    return list.empty() ? told(observe::life_of(Object::Registration, range->serial)) : list;
  } else if (const std::optional<ManagedMemory::Range> managed = memory.managed().find(address)) {
    return told(observe::life_of(Object::Managed, managed->serial));
  }
  return told(observe::ended_at_address(address));
}

}  // namespace belay
