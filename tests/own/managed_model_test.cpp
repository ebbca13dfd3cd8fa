// Random advises, prefetches, fills and copies of managed memory, compared with a model by page after every
// step: what is known of random ranges, and how many pages are on each device.
#include <iostream>

#include "support/managed_model.h"
#include "support/on_product.h"
#include "support/properties.h"
#include "support/streams.h"

namespace managed_model_test {

using namespace belay_test;

constexpr std::size_t kPages = 6, kDeviceBytes = 64 * kMB;

struct Command {
  unsigned op = 0;
  std::uint64_t bits = 0;
};
void showValue(const Command& command, std::ostream& to) { to << command.op << ":" << command.bits; }

class World {
 public:
  World() : block_{kPages * kManagedPage}, model_{kPages} { contexts_[0] = open(0), contexts_[1] = open(1); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    for (const int device : {0, 1}) {
      if (aclrtSetCurrentContext(contexts_[device]) == ACL_SUCCESS) aclrtResetDevice(device);
    }
    (void)aclrtSetDevice(0);
    last_error();
    recent_message();
  }

  void step(const Command& command) {
    bits_ = command.bits;
    RC_ASSERT(aclrtSetCurrentContext(contexts_[current_]) == ACL_SUCCESS);
    // A range of bytes, which touches the pages of `range`.
    const std::size_t first = pick(kPages), last = first + pick(kPages - first);
    const std::size_t start = first * kManagedPage + pick_offset();
    const std::size_t end = last * kManagedPage + 1 + pick_offset();
    void* const from = block_.get(start);
    const std::size_t size = end > start ? end - start : 1;
    range_ = {first, last + 1};
    switch (command.op) {
      case 0:
      case 1:
        expect(advise(from, size, ACL_MEM_ADVISE_SET_READ_MOSTLY, side()), 0);
        model_.set_read_mostly(range_);
        break;
      case 2: {
        const auto where = side();
        expect(no_longer_read_mostly(from, size, where), 0);
        model_.unset_read_mostly(range_, where);
        break;
      }
      case 3:
      case 4: {
        const auto where = side();
        const bool fits = model_.prefer(range_, where);
        expect(prefer(from, size, where), fits ? 0 : kRefused);
        break;
      }
      case 5:
        expect(prefer_nothing(from, size), 0);
        model_.prefer_nothing(range_);
        break;
      case 6:
      case 7: {
        const auto where = device_or_host();
        const bool on = pick(3) != 0;
        expect(on ? used_by(from, size, where) : no_longer_used_by(from, size, where), 0);
        model_.set_user(range_, where, on);
        break;
      }
      case 8:
      case 9: {
        const auto where = side();
        expect(::aclrtMemManagedPrefetchAsync(from, size, where, 0, nullptr), 0);
        expect(finish(nullptr), 0);
        model_.prefetch(range_, where);
        break;
      }
      case 10:
        expect(pick(2) == 0 ? aclrtMemset(from, size, 1, size) : queued_fill(from, size), 0);
        model_.use(range_, current_, true);
        break;
      case 11:
      case 12: {
        Bytes bytes(size);
        const bool by_host = pick(3) == 0, write = pick(2) == 0;
        const aclrtMemcpyKind kind = by_host ? ACL_MEMCPY_HOST_TO_HOST : ACL_MEMCPY_DEFAULT;
        expect(write ? aclrtMemcpy(from, size, bytes.data(), size, kind)
                     : aclrtMemcpy(bytes.data(), size, from, size, kind),
               0);
        model_.use(range_, by_host ? ManagedModel::kHost : current_, write);
        break;
      }
      default:
        current_ = static_cast<int>(pick(2));
    }
    check();
  }

 private:
  static aclrtContext open(int device) {
    aclrtContext context = nullptr;
    RC_ASSERT(aclrtSetDevice(device) == ACL_SUCCESS);
    RC_ASSERT(aclrtGetCurrentContext(&context) == ACL_SUCCESS);
    return context;
  }
  static void expect(int got, int expected) { RC_ASSERT(got == expected); }
  static int queued_fill(void* start, std::size_t size) {
    const int answer = aclrtMemsetAsync(start, size, 1, size, nullptr);
    return answer != ACL_SUCCESS ? answer : finish(nullptr);
  }

  std::size_t pick(std::size_t choices) {
    const std::uint64_t value = bits_ % choices;
    bits_ = bits_ / choices + 0x9E3779B97F4A7C15U * (bits_ % 255);
    return value;
  }
  std::size_t pick_offset() {
    const std::size_t offsets[] = {0, 1, 4096, kManagedPage / 2, kManagedPage - 1};
    return offsets[pick(5)];
  }
  aclrtMemManagedLocation side() {
    const aclrtMemManagedLocation all[] = {device_side(0), device_side(1), host_side(), node_side(0)};
    return all[pick(4)];
  }
  // Not a node: in the list of users its number could not be told from that of a device.
  aclrtMemManagedLocation device_or_host() {
    const aclrtMemManagedLocation all[] = {device_side(0), device_side(1), host_side()};
    return all[pick(3)];
  }

  void check() {
    for (int i = 0; i < 4; ++i) {
      const std::size_t first = pick(kPages), last = first + pick(kPages - first);
      const ManagedModel::Range range = i == 0 ? range_ : ManagedModel::Range{first, last + 1};
      void* const start = block_.page(range.first);
      const std::size_t size = (range.second - range.first) * kManagedPage;
      RC_ASSERT(is_read_mostly(start, size) == model_.is_read_mostly(range));
      compare(preferred(start, size), model_.preferred(range));
      compare(last_prefetch(start, size), model_.last_prefetch(range));
      RC_ASSERT(users(start, size) == model_.users(range));
    }
    for (const int device : {0, 1}) {
      RC_ASSERT(aclrtSetCurrentContext(contexts_[device]) == ACL_SUCCESS);
      std::size_t free = 0, total = 0;
      RC_ASSERT(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS);
      RC_ASSERT((kDeviceBytes - free) / kManagedPage == model_.pages_on(device));
      RC_ASSERT((kDeviceBytes - free) % kManagedPage == 0U);
    }
  }
  static void compare(const Reported& got, const Reported& expected) {
    RC_ASSERT(got.location == expected.location);
    RC_ASSERT(got.id == expected.id);
    RC_ASSERT(got.type == expected.type);
  }

  Managed block_;
  ManagedModel model_;
  ManagedModel::Range range_;
  aclrtContext contexts_[2] = {};
  int current_ = 0;
  std::uint64_t bits_ = 0;
};

TEST(ManagedByModel, V297_V299_V301_V313_V319_V327_RandomSequences_AgreeWithTheModel) {
  on_product("A2", {{"BELAY_DEVICES", "2"}, {"BELAY_HBM", "64M"}}, [] {
    const auto command =
        rc::gen::resize(rc::kNominalSize, rc::gen::apply(
                                              [](unsigned op, std::uint64_t bits) {
                                                return Command{op, bits};
                                              },
                                              rc::gen::inRange<unsigned>(0, 14),
                                              rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 62U)));
    const auto sequence = rc::gen::shrink(
        rc::gen::noShrink(rc::gen::container<std::vector<Command>>(120, command)),
        [](const std::vector<Command>& commands) { return rc::shrink::removeChunks(commands); });
    std::size_t steps = 0;
    EXPECT_TRUE(holds("managed memory agrees with the model", 12, 500, [&] {
      World world;
      for (const Command& one : *sequence) {
        world.step(one);
        ++steps;
      }
    }));
    EXPECT_GE(steps, 120U * static_cast<std::size_t>(slice(12, 500)));
  });
}

}  // namespace managed_model_test
