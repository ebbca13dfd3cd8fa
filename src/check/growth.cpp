#include "check/growth.h"

#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "base/of_process.h"
#include "check/findings.h"
#include "observe/lives.h"
#include "observe/observe.h"

namespace belay::check {
namespace {

struct One {
  Object object;
  std::uint64_t serial;
  std::size_t bytes = 0;
  std::uintptr_t address = 0;
  std::uint32_t site = 0;
};

struct Mark {
  std::mutex mutex;
  bool set = false;
  std::set<std::pair<Object, std::uint64_t>> alive;
};
constinit OfProcess<Mark> g_mark;
Mark& mark() { return g_mark.get(); }

std::vector<One> alive_now(Memory& memory, const std::vector<observe::Alive>& others) {
  std::vector<One> all;
  std::vector<Block> blocks;
  for (std::uint32_t device = 0; device < memory.settings().devices(); ++device)
    memory.map().for_each_block(device, [&](const Block& block) { blocks.push_back(block); });
  for (const Block& block : blocks) {
    const std::uint64_t serial = memory.map().name(block.start);
    if (serial != 0)
      all.push_back(
          {Object::DeviceBlock, serial, block.footprint, block.start, memory.map().site_of(block.start)});
  }
  const auto add_born = [&all](const observe::Event& born) {
    all.push_back({born.object, born.serial, born.footprint() != 0 ? born.footprint() : born.bytes,
                   born.address, born.site});
  };
  memory.host().for_each_block(add_born);
  memory.host().for_each_registration(add_born);
  memory.managed().for_each(add_born);
  memory.virtual_memory().for_each_physical([&](const Physical& each) {
    const Object object = each.extent->side == Side::Host ? Object::HostPhysical : Object::Physical;
    all.push_back({object, each.extent->number, each.plan.bytes, each.handle,
                   observe::made_at(object, each.extent->number)});
  });
  memory.virtual_memory().for_each_mapping([&](const Mapping& each) {
    all.push_back({Object::Mapping, each.serial, each.bytes, each.start,
                   observe::made_at(Object::Mapping, each.serial)});
  });
  memory.virtual_memory().for_each_reservation([&](const Reservation& each) {
    all.push_back({Object::Reservation, each.serial, each.bytes, each.start,
                   observe::made_at(Object::Reservation, each.serial)});
  });
  memory.virtual_memory().for_each_imported([&](const Physical& each) {
    all.push_back({Object::ImportedPhysical, each.extent->number, each.plan.bytes, each.handle,
                   observe::made_at(Object::ImportedPhysical, each.extent->number)});
  });
  for (const IpcKeys::One& each : memory.keys().all()) {
    const Object object = each.imported ? Object::ImportedKey : Object::Key;
    all.push_back({object, each.serial, each.bytes, each.start, observe::made_at(object, each.serial)});
  }
  for (const observe::Alive& each : others)
    all.push_back({each.object, each.serial, 0, 0, observe::made_at(each.object, each.serial)});
  return all;
}

}  // namespace

std::size_t set_mark(Memory& memory, const std::vector<observe::Alive>& others) {
  const std::vector<One> now = alive_now(memory, others);
  std::map<std::pair<Object, std::uint32_t>, Leak> groups;
  std::size_t grown = 0;
  {
    Mark& before = mark();
    const std::lock_guard lock{before.mutex};
    for (const One& each : now) {
      if (!before.set || before.alive.contains({each.object, each.serial})) continue;
      ++grown;
      const ObjectWords words = words_of(each.object);
      Leak& leak = groups[{each.object, each.site}];
      leak.one = words.one;
      leak.several = words.several;
      leak.given_back_with = words.given_back_with;
      leak.made = words.made;
      leak.site = each.site;
      ++leak.count;
      leak.bytes += each.bytes;
      if (leak.first == 0 || each.address < leak.first) leak.first = each.address;
    }
    before.set = true;
    before.alive.clear();
    for (const One& each : now) before.alive.emplace(each.object, each.serial);
  }
  if (is_checked(MisuseClass::Leaks)) {
    for (const auto& [key, leak] : groups) report_finding(grown_since_mark(leak));
  }
  return grown;
}

void set_mark_at_nothing() {
  Mark& one = mark();
  const std::lock_guard lock{one.mutex};
  one.set = true;
  one.alive.clear();
}

void clear_mark() {
  Mark* one = g_mark.if_any();
  if (one == nullptr) return;
  const std::lock_guard lock{one->mutex};
  one->alive.clear();
}

void forget_marks() { g_mark.set_aside(); }

}  // namespace belay::check
