#include "observe/lives.h"

#include <deque>
#include <mutex>
#include <new>
#include <unordered_map>

#include "base/of_process.h"

namespace belay::observe {
namespace {

// What has ended is remembered up to a bound.
constexpr std::size_t kMostEnded = 16'384;

struct Key {  // handles and serial numbers are counted apart
  Object object;
  std::uint64_t serial;
  bool operator==(const Key&) const = default;
};
struct HashOfKey {
  std::size_t operator()(const Key& key) const {
    return (key.serial + static_cast<std::uint64_t>(key.object)) * 0x9E3779B97F4A7C15U;
  }
};

struct Lives {
  std::mutex mutex;
  std::unordered_map<Key, Life, HashOfKey> all;
  std::deque<Key> ended;
};
constinit OfProcess<Lives> g_lives;
Lives& lives() { return g_lives.get(); }

}  // namespace

void note_life(const Event& event) {
  if (event.object == Object::None || event.object == Object::DeviceBlock) return;
  const bool begins = event.what == What::Created || event.what == What::Allocated;
  Lives& known = lives();
  const std::lock_guard lock{known.mutex};
  Life& life = known.all[{event.object, event.serial}];
  if (begins) {
    life = {event.object, event.serial, event.address, event.bytes, event.site};
    life.made_ns = event.time_ns;
    return;
  }
  life.object = event.object;
  life.serial = event.serial;
  if (life.address == 0) life.address = event.address;
  life.ended_at = event.site;
  life.ended_ns = event.time_ns;
  life.ended = true;
  life.swept = (event.flags & Event::kSwept) != 0;
  known.ended.push_back({event.object, event.serial});
  if (known.ended.size() <= kMostEnded) return;
  known.all.erase(known.ended.front());
  known.ended.pop_front();
}

std::optional<Life> life_of(Object object, std::uint64_t serial) {
  Lives& known = lives();
  const std::lock_guard lock{known.mutex};
  const auto found = known.all.find({object, serial});
  return found == known.all.end() ? std::nullopt : std::optional{found->second};
}

std::uint32_t made_at(Object object, std::uint64_t serial) {
  const std::optional<Life> life = life_of(object, serial);
  return life ? life->made_at : 0;
}

std::optional<Life> peek_life(Object object, std::uint64_t serial) {
  Lives* known = g_lives.if_any();
  if (known == nullptr) return std::nullopt;
  const std::unique_lock lock{known->mutex, std::try_to_lock};
  if (!lock) return std::nullopt;
  const auto found = known->all.find({object, serial});
  return found == known->all.end() ? std::nullopt : std::optional{found->second};
}

std::optional<Life> life_of_handle(std::uint64_t handle) {
  for (const Object object : {Object::Stream, Object::Event, Object::Notify, Object::CountNotify,
                              Object::Context, Object::DataBuffer}) {
    if (const std::optional<Life> life = life_of(object, handle)) return life;
  }
  return std::nullopt;
}

std::optional<Life> ended_at_address(std::uintptr_t address) {
  Lives& known = lives();
  const std::lock_guard lock{known.mutex};
  for (auto key = known.ended.rbegin(); key != known.ended.rend(); ++key) {
    const Life& life = known.all[*key];
    // A handle is a number, and nothing is behind it: the next one belongs to something else.
    const bool has_bytes = life.object != Object::Physical && life.object != Object::HostPhysical;
    if (life.address == address || (has_bytes && address - life.address < life.bytes)) return life;
  }
  return std::nullopt;
}

void forget_lives() { g_lives.set_aside(); }

}  // namespace belay::observe
