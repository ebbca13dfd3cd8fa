// Random sequences of allocations, frees, copies, fills, queries, device switches and resets, compared
// with a reference model after every step, on devices so small that shortages are common.
#include <algorithm>
#include <cstring>
#include <iostream>

#include "acl/ops/acl_dvpp.h"
#include "support/blocks.h"
#include "support/properties.h"
#include "support/reference_model.h"
#include "support/settings.h"

namespace belay_test {

// What a step does depends on the state it meets, so that any part of a sequence is a sequence too.
struct ModelCommand {
  unsigned op = 0;
  std::uint64_t bits = 0;
};

void showValue(const ModelCommand& command, std::ostream& to) {
  to << command.op << ":" << std::hex << command.bits << std::dec;
}

}  // namespace belay_test

namespace model_test {

using namespace belay_test;

std::uint64_t steps_done = 0;

constexpr std::size_t kArea = 16384;
const std::size_t kSizes[] = {
    1,           31,        32,           33,           64,           1000,         4032,        4063,
    4064,        4065,      4096,         4097,         9000,         kMB - 32,     kMB - 31,    kMB - 1,
    kMB,         kMB + 1,   2 * kMB - 64, 2 * kMB - 33, 2 * kMB - 32, 2 * kMB - 31, 2 * kMB - 1, 2 * kMB,
    2 * kMB + 1, 5 * kMB,   15 * kMB,     31 * kMB,     64 * kMB,     64 * kMB + 1, 0,           kTop,
    kTop - 30,   kTop - 31, kTop - 32,    kTop - 63,    kTop - 64,    kTop / 2};
const unsigned kPolicies[] = {0,        0,        1,      1,      2,        2,         2,
                              3,        4,        5,      6,      7,        0x100,     0x1000,
                              0x1100,   0x101,    0x1002, 0x1005, 0x100000, 0x100001,  0x100002,
                              0x101002, 0x100006, 8,      99,     0x200,    0xFFFFFFFF};

class World {
 public:
  explicit World(const Limits& limits) : model_{limits}, limits_{limits} {
    for (auto& area : areas_) {
      area.assign(kArea, 0);
      Region region;
      region.start = number(area.data());
      region.size = region.footprint = kArea;
      model_.add(region);
      model_.write(region.start, ReferenceModel::Contents(kArea, std::uint8_t{0}));
    }
    set_device(0);
    set_device(1);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    for (const auto& [start, region] : model_.regions()) {
      if (region.place == Place::pinned) (void)aclrtFreeHost(reinterpret_cast<void*>(start));
    }
    for (const int device : {0, 1}) (void)aclrtResetDeviceForce(device);
    (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    (void)aclGetRecentErrMsg();
  }

  void step(const ModelCommand& command) {
    bits_ = command.bits;
    const unsigned op = command.op;
    if (op < 32)
      allocate();
    else if (op < 45)
      free_block();
    else if (op < 52)
      free_wrongly();
    else if (op < 57)
      allocate_host();
    else if (op < 61)
      free_host();
    else if (op < 71)
      fill();
    else if (op < 90)
      copy();
    else if (op < 94)
      ask();
    else if (op < 96)
      set_device(pick(2));
    else if (op < 98)
      reset_device(pick(2));
    else
      peers(op == 98);
    check_books();
    ++steps_done;
  }

  // Every byte that was ever written and is still there.
  void check_contents() {
    if (current_ < 0) set_device(counts_[0] == 0 ? 0 : 1);  // the one that was reset last
    for (const auto& [start, region] : model_.regions()) {
      for (const auto& [page, known] : region.known) {
        const std::size_t offset = page * kNormalPage;
        compare(start + offset, std::min(kNormalPage, region.footprint - offset));
      }
    }
  }

 private:
  // The next few bits of the command, as a number below `choices`.
  int pick(std::size_t choices) {
    const std::uint64_t value = bits_ % choices;
    bits_ = bits_ / choices + 0x9E3779B97F4A7C15U * (bits_ % 255);
    return static_cast<int>(value);
  }
  template <typename List>
  auto pick_from(const List& list) {
    return list[static_cast<std::size_t>(pick(std::size(list)))];
  }

  std::vector<std::uintptr_t> all(Place place) const {
    std::vector<std::uintptr_t> starts;
    for (const auto& [start, region] : model_.regions()) {
      if (region.place == place) starts.push_back(start);
    }
    return starts;
  }
  static void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

  // The answer must be the expected one; a failure of the inner layer is the last error too.
  static void expect(int got, int expected) {
    RC_ASSERT(got == expected);
    if (expected >= 107000 && expected != 207000)
      RC_ASSERT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == expected);
  }

  void allocate() {
    const auto api = static_cast<Api>(pick(6));
    const std::size_t size = pick(3) == 0 ? static_cast<std::size_t>(pick(20000)) : pick_from(kSizes);
    const unsigned policy = pick_from(kPolicies);
    const ReferenceModel::Outcome expected = model_.allocation(api, size, policy, current_);
    void* block = sentinel();
    expect(call(api, &block, size, policy), expected.answer);
    if (expected.answer != 0) {
      RC_ASSERT(number(block) == (expected.answer == 207001 ? 0 : number(sentinel())));
      return;
    }
    const std::size_t alignment = api == Api::dvpp ? 128 : expected.reported_page;
    RC_ASSERT(number(block) % alignment == 0);
    RC_ASSERT(!model_.overlaps(number(block), expected.footprint));
    Region region;
    region.place = Place::device;
    region.device = current_;
    region.start = number(block);
    region.size = std::max(size, std::size_t{1});
    region.footprint = expected.footprint;
    region.reported_page = expected.reported_page;
    region.page = expected.page;
    region.read_only = expected.read_only;
    model_.add(region);
  }
  static int call(Api api, void** block, std::size_t size, unsigned policy) {
    switch (api) {
      case Api::malloc:
        return aclrtMalloc(block, size, policy_of(policy));
      case Api::align32:
        return aclrtMallocAlign32(block, size, policy_of(policy));
      case Api::cached:
        return aclrtMallocCached(block, size, policy_of(policy));
      case Api::with_cfg:
        return aclrtMallocWithCfg(block, size, policy_of(policy), nullptr);
      case Api::task_scheduler:
        return aclrtMallocForTaskScheduler(block, size, policy_of(policy), nullptr);
      case Api::dvpp:
        break;
    }
    return acldvppMalloc(block, size);
  }

  void free_block() {
    const auto blocks = all(Place::device);
    if (blocks.empty()) return;
    const std::uintptr_t start = pick_from(blocks);
    const int way = pick(4);
    if (way == 0) {
      expect(aclrtFreeWithDevSync(pointer(start)), current_ < 0 ? 107002 : 0);
      if (current_ < 0) return;
    } else {
      expect(way == 1 ? acldvppFree(pointer(start)) : aclrtFree(pointer(start)), 0);
    }
    gone(start);
  }
  void gone(std::uintptr_t start) {
    model_.remove(start);
    freed_.push_back(start);
    if (freed_.size() > 64) freed_.erase(freed_.begin());
  }

  void free_wrongly() {
    const auto blocks = all(Place::device), hosts = all(Place::pinned);
    int local = 0;
    switch (pick(7)) {
      case 0:
        expect(aclrtFree(nullptr), 100000);
        break;
      case 1:
        expect(aclrtFree(&local), 107000);
        break;
      case 2:
        if (!freed_.empty()) {
          const std::uintptr_t start = pick_from(freed_);
          if (!model_.regions().contains(start)) expect(aclrtFree(pointer(start)), 107000);
        }
        break;
      case 3:
        if (!blocks.empty()) {
          const Region& region = model_.regions().at(pick_from(blocks));
          const std::size_t inside = 1 + static_cast<std::size_t>(pick(region.footprint - 1));
          expect(aclrtFree(pointer(region.start + inside)), 107000);
        }
        break;
      case 4:
        if (!blocks.empty()) expect(aclrtFreeHost(pointer(pick_from(blocks))), 107000);
        break;
      case 5:
        if (!hosts.empty())
          expect(aclrtFreeHost(pointer(pick_from(hosts) + 1 + static_cast<std::size_t>(pick(63)))), 107000);
        break;
      default:
        expect(aclrtFreeHost(areas_[0].data()), 107000);
    }
  }

  void allocate_host() {
    if (all(Place::pinned).size() >= 24) return;
    const std::size_t size = static_cast<std::size_t>(pick(12000));
    void* block = sentinel();
    expect(aclrtMallocHost(&block, size), size == 0 ? 100000 : current_ < 0 ? 107002 : 0);
    if (size == 0 || current_ < 0) return;
    RC_ASSERT(number(block) % 64 == 0);
    RC_ASSERT(!model_.overlaps(number(block), size));
    Region region;
    region.place = Place::pinned;
    region.start = number(block);
    region.size = size;
    region.footprint = up_to(size, kNormalPage);
    model_.add(region);
  }
  void free_host() {
    const auto blocks = all(Place::pinned);
    if (blocks.empty()) return;
    const std::uintptr_t start = pick_from(blocks);
    expect(pick(2) == 0 ? aclrtFreeHost(pointer(start)) : aclrtFree(pointer(start)), 0);
    model_.remove(start);
  }

  // One end of a copy or fill. Host ends stay inside their block; device ends may run over.
  struct End {
    std::uintptr_t address = 0;
    bool device = false;
    std::size_t room = kTop;
  };
  End end() {
    const int kind = pick(10);
    const auto blocks = all(Place::device), hosts = all(Place::pinned);
    if (kind == 0 && !freed_.empty()) {
      const std::uintptr_t start = pick_from(freed_);
      const auto next = model_.regions().lower_bound(start);
      const bool pinned_there =
          (model_.find(start) != nullptr && model_.find(start)->place == Place::pinned) ||
          (next != model_.regions().end() && next->second.place == Place::pinned &&
           next->first - start < kArea);
      if (!pinned_there) return {start, true, kTop};
    }
    if (kind < 6 && !blocks.empty()) {
      const Region& region = model_.regions().at(pick_from(blocks));
      const std::size_t edges[] = {0,
                                   1,
                                   31,
                                   region.size - 1,
                                   region.footprint - 1,
                                   region.footprint - 64,
                                   static_cast<std::size_t>(pick(region.footprint))};
      return {region.start + pick_from(edges), true, kTop};
    }
    const bool pinned = kind < 8 && !hosts.empty();
    const Region& region = model_.regions().at(pick_from(pinned ? hosts : all(Place::pageable)));
    const std::size_t offset = static_cast<std::size_t>(pick(region.size));
    return {region.start + offset, false, region.size - offset};
  }
  std::size_t length(std::size_t room) {
    const std::size_t lengths[] = {
        1, 2, 7, 63, 64, 65, 300, 4095, 4096, 4097, static_cast<std::size_t>(pick(200))};
    return std::min(pick_from(lengths), room);
  }
  // The room that the caller claims: nearly always enough.
  std::size_t claim(std::size_t count) {
    switch (pick(12)) {
      case 0:
        return count - (count > 0 ? 1 : 0);
      case 1:
        return 0;
      case 2:
        return kTop;
      default:
        return count;
    }
  }

  void fill() {
    const End to = end();
    const std::size_t count = length(to.room), room = claim(count);
    const int value = pick(512) - 100;
    int expected = 0;
    if (count != 0) {
      if (current_ < 0)
        expected = 107002;
      else if (count > room)
        expected = 107000;
      else if (to.device && !model_.allocated(to.address, count, true))
        expected = 507899;
    }
    expect(aclrtMemset(pointer(to.address), room, value, count), expected);
    if (expected == 0 && count != 0) {
      const auto byte = static_cast<std::uint8_t>(static_cast<unsigned>(value) & 0xFFU);
      model_.write(to.address, ReferenceModel::Contents(count, byte));
    }
  }

  void copy() {
    const End to = end(), from = end();
    const std::size_t count = length(std::min(to.room, from.room)), room = claim(count);
    const bool apart = to.address + count <= from.address || from.address + count <= to.address;
    if (!to.device && !from.device && !apart && to.address != from.address && current_ < 0)
      return;  // two faults
    const int expected = copy_answer(to, from, count, room, apart);
    const auto source_before = expected == 0 && count != 0 && to.address != from.address
                                   ? model_.read(from.address, count)
                                   : ReferenceModel::Contents{};
    expect(aclrtMemcpy(pointer(to.address), room, pointer(from.address), count, kind_of(pick(6))), expected);
    if (!source_before.empty()) {
      model_.write(to.address, source_before);
      compare(to.address, count);
    }
  }
  int copy_answer(const End& to, const End& from, std::size_t count, std::size_t room, bool apart) const {
    if (count == 0) return 0;
    if (count > room) return 107000;
    if (to.address == from.address) return 0;
    if (current_ < 0) return 107002;
    if (!to.device && !from.device) return apart ? 0 : 107000;
    if (to.device && !model_.allocated(to.address, count, true)) return 507899;
    if (from.device && !model_.allocated(from.address, count, false)) return 507899;
    if (to.device && from.device) {
      const int there = model_.find(to.address)->device, here = model_.find(from.address)->device;
      if (there != here) {
        const int acting = current_ == there || current_ == here ? current_ : here;
        if (!peers_[static_cast<std::size_t>(acting)]) return 507899;
      }
    }
    return 0;
  }
  // The library's bytes against the known ones.
  void compare(std::uintptr_t start, std::size_t count) {
    const auto expected = model_.read(start, count);
    Bytes got(count);
    if (model_.find(start)->place == Place::device) {
      RC_ASSERT(aclrtMemcpy(got.data(), count, pointer(start), count, ACL_MEMCPY_DEVICE_TO_HOST) ==
                ACL_SUCCESS);
    } else {
      std::memcpy(got.data(), pointer(start), count);
    }
    for (std::size_t i = 0; i < count; ++i) RC_ASSERT(!expected[i] || *expected[i] == got[i]);
  }

  void ask() {
    if (counts_[0] + counts_[1] == 0) return;  // no device is open
    const End where = end();
    const Region* const region = model_.find(where.address);
    if (region != nullptr && where.address - region->start >= region->size) return;
    aclrtPtrAttributes got{};
    expect(aclrtPointerGetAttributes(pointer(where.address), &got), region == nullptr ? 507899 : 0);
    if (region == nullptr) return;
    const bool device = region->place == Place::device, pinned = region->place == Place::pinned;
    RC_ASSERT(got.location.type == (device   ? ACL_MEM_LOCATION_TYPE_DEVICE
                                    : pinned ? ACL_MEM_LOCATION_TYPE_HOST
                                             : ACL_MEM_LOCATION_TYPE_UNREGISTERED));
    RC_ASSERT(got.location.id == static_cast<std::uint32_t>(device ? region->device : 0));
    RC_ASSERT(got.pageSize == (device ? region->reported_page : pinned ? kNormalPage : 0));
  }

  void set_device(int device) {
    int& count = counts_[static_cast<std::size_t>(device)];
    if (count == 3) return;
    expect(aclrtSetDevice(device), 0);
    ++count;
    current_ = device;
  }
  void reset_device(int device) {
    int& count = counts_[static_cast<std::size_t>(device)];
    expect(aclrtResetDevice(device), count == 0 ? 507007 : 0);
    if (count == 0 || --count != 0) return;
    for (const std::uintptr_t start : all(Place::device)) {
      if (model_.regions().at(start).device == device) gone(start);
    }
    if (current_ == device) current_ = -1;
    peers_[static_cast<std::size_t>(device)] = false;
    const int other = 1 - device;
    int status = 0;
    RC_ASSERT(aclrtDevicePeerAccessStatus(device, other, &status) == ACL_SUCCESS);
    RC_ASSERT(status == 0);
    RC_ASSERT(aclrtDevicePeerAccessStatus(other, device, &status) == ACL_SUCCESS);
    peers_[static_cast<std::size_t>(other)] = status == 1;  // the rules leave open whether this end goes too
  }
  void peers(bool on) {
    const int other = 1 - std::max(current_, 0);
    expect(on ? aclrtDeviceEnablePeerAccess(other, 0) : aclrtDeviceDisablePeerAccess(other),
           current_ < 0 ? 107002 : 0);
    if (current_ >= 0) peers_[static_cast<std::size_t>(current_)] = on;
  }

  void check_books() {
    std::size_t free = 0, total = 0;
    if (current_ < 0) {
      RC_ASSERT(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == 107002);
      return;
    }
    RC_ASSERT(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS);
    RC_ASSERT(total == limits_.total);
    RC_ASSERT(free == model_.free(current_));
    RC_ASSERT(aclrtGetMemInfo(ACL_HBM_MEM_HUGE, &free, &total) == ACL_SUCCESS);
    RC_ASSERT(free == model_.free_huge(current_));
    RC_ASSERT(aclrtGetMemInfo(ACL_HBM_MEM_NORMAL, &free, &total) == ACL_SUCCESS);
    RC_ASSERT(free == model_.free(current_) - model_.free_huge(current_));
  }

  ReferenceModel model_;
  Limits limits_;
  std::array<Bytes, 2> areas_;
  std::array<int, 2> counts_{};
  std::array<bool, 2> peers_{};  // from this device to the other
  std::vector<std::uintptr_t> freed_;
  int current_ = -1;
  std::uint64_t bits_ = 0;
};

// So many sequences of `length` steps, in a process with small devices.
void run_model(Settings settings, const Limits& limits, std::size_t length, int part, int full) {
  settings.insert(settings.end(), {{"BELAY_DEVICES", "2"}, {"BELAY_HBM", "64M"}, {"BELAY_LEAKS", "off"}});
  in_fresh_process(settings, [&] {
    const auto command =
        rc::gen::resize(rc::kNominalSize, rc::gen::apply(
                                              [](unsigned op, std::uint64_t bits) {
                                                return ModelCommand{op, bits};
                                              },
                                              rc::gen::inRange<unsigned>(0, 100),
                                              rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 62U)));
    const auto sequence = rc::gen::shrink(
        rc::gen::noShrink(rc::gen::container<std::vector<ModelCommand>>(length, command)),
        [](const std::vector<ModelCommand>& commands) { return rc::shrink::removeChunks(commands); });
    EXPECT_TRUE(holds("the library agrees with the model", part, full, [&] {
      const std::vector<ModelCommand> commands = *sequence;
      World world{limits};
      for (const ModelCommand& one : commands) world.step(one);
      world.check_contents();
    }));
    std::cout << steps_done << " steps" << std::endl;
    EXPECT_GE(steps_done, static_cast<std::size_t>(slice(part, full)) * length);
  });
}

TEST(Model, M430_M416_M111_M239_M371_M405_RandomSequences_AgreeWithTheModel) {
  run_model({}, {64 * kMB, {}, {}}, 1100, 4, 100);
}

TEST(Model, M430_M421_M111_RandomSequences_WithALimitForEachPageKind_AgreeWithTheModel) {
  run_model({{"BELAY_HUGE", "40M"}, {"BELAY_NORMAL", "24M"}}, {64 * kMB, 40 * kMB, 24 * kMB}, 300, 10, 120);
}

}  // namespace model_test
