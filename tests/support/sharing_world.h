// Processes that share memory at random, one step after the other, each compared with a model: what a call
// answers, what memory contains wherever somebody can see it, and what the devices have left.
#pragma once

#include <algorithm>
#include <deque>
#include <iostream>
#include <iterator>
#include <random>
#include <utility>

#include "support/sharing_model.h"
#include "support/signal_peers.h"
#include "support/slices.h"

namespace belay_test {

namespace sharing {

// What a process of such a world can do besides. `order.small` also says on which device.
enum AskMore : std::uint32_t {
  open_devices = 100,
  books,    // -> what each device has left, in the text
  write,    // pointer, size, seed: words at the borders of stripes
  read,     // pointer, size -> the words there, in the text
  copy,     // pointer, size, seed: from
  reset,    // the device, whoever uses it
  reserve,  // size -> address
  release,
  map_at,         // pointer, seed: handle, size
  retain,         // pointer -> handle
  block,          // size -> pointer
  range,          // pointer -> start, bytes
  allow_another,  // pointer, size, seed: device
  export_second,  // as export_value, allow_value and import_value, in the second generation
  allow_second,
  import_second,
  signals = 200,  // steps of signal_peers.h from here on
};
inline constexpr std::uint32_t kDeviceShift = 16;

inline std::uint64_t first_word(std::uint64_t seed, std::size_t stripe) {
  return (seed << 16U | 0xA11CE) * 0x9E3779B97F4A7C15 + stripe;
}

inline Answer carry_out_more(const Order& order) {
  using Model = SharingModel;
  constexpr std::size_t kStripe = Model::kStripe;
  static Bytes host(8 * kMB);
  Answer answer;
  Order plain = order;
  plain.small &= (1U << kDeviceShift) - 1;
  const auto device = static_cast<std::int32_t>(order.small >> kDeviceShift);
  void* const pointer = reinterpret_cast<void*>(order.pointer);
  if (plain.small != open_devices && (answer.code = aclrtSetDevice(device)) != 0) return answer;
  const auto open_all = [&] {
    for (std::int32_t each = 0; each < 3; ++each) {
      if ((answer.code = aclrtSetDevice(each)) != 0) return;
      for (std::int32_t peer = 0; peer < 3; ++peer) {
        if (peer != each) (void)aclrtDeviceEnablePeerAccess(peer, 0);  // perhaps it is on
      }
    }
  };
  switch (plain.small) {
    case open_devices:
      open_all();
      break;
    case books:
      for (std::size_t each = 0; each < Model::kDevices && answer.code == 0; ++each) {
        std::size_t free = 0, total = 0;
        answer.code = aclrtSetDevice(static_cast<std::int32_t>(each));
        if (answer.code == 0) answer.code = aclrtGetMemInfo(ACL_HBM_MEM, &free, &total);
        std::memcpy(answer.text.data() + 8 * each, &free, 8);
      }
      break;
    case write:
      for (std::size_t offset = 0; offset < order.size; offset += kStripe) {
        const std::uint64_t word = first_word(order.seed, offset / kStripe), last = ~word;
        std::memcpy(host.data() + offset, &word, 8);
        std::memcpy(host.data() + offset + kStripe - 8, &last, 8);
      }
      answer.code = aclrtMemcpy(pointer, order.size, host.data(), order.size, ACL_MEMCPY_HOST_TO_DEVICE);
      break;
    case read:
      answer.code = aclrtMemcpy(host.data(), order.size, pointer, order.size, ACL_MEMCPY_DEVICE_TO_HOST);
      for (std::size_t stripe = 0; stripe < order.size / kStripe; ++stripe) {
        std::memcpy(answer.text.data() + 16 * stripe, host.data() + stripe * kStripe, 8);
        std::memcpy(answer.text.data() + 16 * stripe + 8, host.data() + (stripe + 1) * kStripe - 8, 8);
      }
      break;
    case copy:
      answer.code = aclrtMemcpy(pointer, order.size, reinterpret_cast<void*>(order.seed), order.size,
                                ACL_MEMCPY_DEVICE_TO_DEVICE);
      break;
    case reset:
      answer.code = aclrtResetDeviceForce(device);
      if (answer.code == 0) open_all();
      break;
    case reserve: {
      void* place = nullptr;
      answer.code = belay_test::reserve(&place, order.size);
      answer.first = number(place);
      break;
    }
    case release:
      answer.code = aclrtReleaseMemAddress(pointer);
      break;
    case map_at:
      answer.code = belay_test::map(pointer, order.size, reinterpret_cast<void*>(order.seed));
      break;
    case retain: {
      aclrtDrvMemHandle handle = nullptr;
      answer.code = aclrtMemRetainAllocationHandle(pointer, &handle);
      answer.first = number(handle);
      break;
    }
    case block: {
      void* made = nullptr;
      answer.code = ::aclrtMallocAlign32(&made, order.size, ACL_MEM_MALLOC_NORMAL_ONLY);
      answer.first = number(made);
      break;
    }
    case range: {
      void* start = nullptr;
      std::size_t bytes = 0;
      answer.code = aclrtMemGetAddressRange(pointer, &start, &bytes);
      answer.first = number(start);
      answer.second = bytes;
      break;
    }
    case allow_another:
      answer.code = set_access(pointer, order.size, grant_device(static_cast<std::uint32_t>(order.seed)));
      break;
    case export_second:
      answer.code = aclrtMemExportToShareableHandleV2(pointer, order.size, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                                      &answer.first);
      break;
    case allow_second: {
      std::uint64_t value = order.pointer;
      auto pid = static_cast<std::int32_t>(order.seed);
      answer.code = aclrtMemSetPidToShareableHandleV2(&value, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &pid, 1);
      break;
    }
    case import_second: {
      std::uint64_t value = order.pointer;
      aclrtDrvMemHandle handle = nullptr;
      answer.code =
          aclrtMemImportFromShareableHandleV2(&value, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &handle);
      answer.first = number(handle);
      break;
    }
    default:
      answer = carry_out(plain);
  }
  return answer;
}

}  // namespace sharing

class SharingWorld {
  std::mt19937 random_;
  std::size_t below(std::size_t limit) { return random_() % limit; }
  template <typename List>
  auto pick(List& list) {
    return std::next(list.begin(), static_cast<long>(below(list.size())));
  }

 public:
  static constexpr std::size_t kProcesses = 4, kTotal = 24 * kMB;

  // On A3 there are fabric handles, too. With signals device 0 is not reset: it has them.
  SharingWorld(std::mt19937 random, const std::string& product, bool with_signals)
      : random_{random},
        fabric_{product == "A3"},
        with_signals_{with_signals},
        machine_{"24M", {{"BELAY_DEVICES", "3"}, {"BELAY_PRODUCT", product}}} {}

  void step() {
    ++steps;
    if (running_.empty() || (seats_.size() < kProcesses && below(20) == 0)) return come();
    if (steps % 97 == 0) wake();
    if (steps % 41 == 0 && !running_.empty()) {
      me_ = *pick(running_);
      seat_ = &seats_.at(me_);
      return touch_what_ended();
    }
    me_ = *pick(running_);
    seat_ = &seats_.at(me_);
    const unsigned op = below(1000);
    if (op < 60)
      create();
    else if (op < 110)
      allocate();
    else if (op < 160)
      free_handle();
    else if (op < 190)
      free_block();
    else if (op < 220)
      reserve();
    else if (op < 240)
      release();
    else if (op < 320)
      map();
    else if (op < 370)
      unmap();
    else if (op < 390)
      ask();
    else if (op < 450)
      give_value();
    else if (op < 480)
      name_for_value();
    else if (op < 580)
      import_value();
    else if (op < 640)
      give_key();
    else if (op < 670)
      name_for_key();
    else if (op < 760)
      import_key();
    else if (op < 820)
      close_key();
    else if (op < 880)
      write();
    else if (op < 940)
      copy();
    else if (op < 970)
      with_signals_ ? signal() : touch_what_ended();
    else if (op < 980)
      stop();
    else if (op < 984)
      reset();
    else if (op < 996)
      wake();
    else
      end();
  }

  // The books, in one of the processes; and bytes, somewhere in each.
  void check() {
    if (running_.empty()) return;
    me_ = *pick(running_);
    seat_ = &seats_.at(me_);
    const Answer answer = call(sharing::books);
    if (answer.code != 0) return expect(answer.code, 0, "the books");
    for (std::size_t device = 0; device < SharingModel::kDevices; ++device) {
      std::size_t free = 0;
      std::memcpy(&free, answer.text.data() + 8 * device, 8);
      EXPECT_EQ(kTotal - free, model_.used(device)) << "device " << device << " says process " << me_;
    }
    for (const int each : running_) {
      me_ = each;
      seat_ = &seats_.at(each);
      compare(some_view());
    }
  }
  // All bytes that anybody sees.
  void check_all() {
    while (!sleeping_.empty()) wake();
    for (const int each : running_) {
      me_ = each;
      seat_ = &seats_.at(each);
      for (const View& view : views()) compare(view);
    }
  }
  // Everybody ends, and nothing is left.
  void finish() {
    while (!sleeping_.empty()) wake();
    const MemberPtr witness = machine_.join();
    while (!running_.empty()) {
      me_ = running_.front();
      seat_ = &seats_.at(me_);
      leave();
    }
    for (std::uint32_t device = 0; device < SharingModel::kDevices; ++device) {
      EXPECT_EQ(witness->set_device(device), 0);
      EXPECT_EQ(witness->free_now(), kTotal) << "device " << device;
    }
  }
  std::string story() const {
    std::string all = "the last steps:\n";
    for (const std::string& each : log_) all += "  " + each + "\n";
    return all;
  }

  std::uint64_t steps = 0, refused = 0, ended = 0, stopped = 0, imports = 0;

 private:
  using Model = SharingModel;
  static constexpr std::size_t kStripe = Model::kStripe;
  struct Seat {
    MemberPtr member;
    std::int32_t pid;
  };
  // Where a process sees whole stripes of some memory.
  struct View {
    std::uint64_t where = 0;
    std::size_t bytes = 0, offset = 0, device = 0;
    Model::MemoryPtr memory;
  };

  Model::Process& mine() { return model_.processes[me_]; }

  Order order(std::uint32_t what, std::uint64_t pointer = 0, std::uint64_t size = 0, std::uint64_t seed = 0,
              std::size_t device = 0, const std::string& text = {}) const {
    Order made{Do::own, what | static_cast<std::uint32_t>(device % 3) << sharing::kDeviceShift,
               pointer, size,
               seed,    {}};
    std::memcpy(made.text.data(), text.data(), std::min(text.size(), made.text.size() - 1));
    return made;
  }
  Answer call(std::uint32_t what, std::uint64_t pointer = 0, std::uint64_t size = 0, std::uint64_t seed = 0,
              std::size_t device = 0, const std::string& text = {}) const {
    return seat_->member->ask(order(what, pointer, size, seed, device, text));
  }
  void expect(int got, int expected, const std::string& what) {
    log_.push_back(std::to_string(steps) + ": process " + std::to_string(me_) + ", " + what + ": " +
                   std::to_string(got));
    if (log_.size() > 60) log_.pop_front();
    EXPECT_EQ(got, expected) << what << " in process " << me_ << ": " << seat_->member->message();
    if (expected != 0) ++refused;
  }
  static std::string hex(std::uint64_t value) {
    std::array<char, 24> text{};
    (void)std::snprintf(text.data(), text.size(), "%#llx", static_cast<unsigned long long>(value));
    return text.data();
  }

  // --- processes ----------------------------------------------------------------------------------------

  void come() {
    me_ = next_++;
    seat_ = &seats_[me_];
    seat_->member = machine_.come([peer = std::make_shared<Peer>(board_)](const Order& order) {
      if ((order.small & 0xFFFFU) < sharing::signals) return sharing::carry_out_more(order);
      if (const int code = aclrtSetDevice(0); code != 0) return Answer{code, 1, 0, 0, {}};
      Order step = order;
      step.small -= sharing::signals;
      return (*peer)(step);
    });
    seat_->pid = seat_->member->process();
    model_.processes[me_];
    running_.push_back(me_);
    expect(call(sharing::open_devices).code, 0, "comes");
  }
  void stop() {
    if (running_.size() < 2) return;
    seat_->member->stop();
    std::erase(running_, me_);
    sleeping_.push_back(me_);
    log_.push_back(std::to_string(steps) + ": process " + std::to_string(me_) + " is stopped");
    ++stopped;
  }
  void wake() {
    if (sleeping_.empty()) return;
    const int who = *pick(sleeping_);
    seats_.at(who).member->go_on();
    std::erase(sleeping_, who);
    running_.push_back(who);
    log_.push_back(std::to_string(steps) + ": process " + std::to_string(who) + " goes on");
  }
  void end() {
    if (!sleeping_.empty() && below(3) == 0) {  // it dies in its sleep
      me_ = *pick(sleeping_);
      seat_ = &seats_.at(me_);
    } else if (below(2) == 0) {
      begin_something();
      return leave(true);
    }
    leave();
  }
  void leave(bool dead = false) {
    const std::size_t way = std::ranges::count(sleeping_, me_) > 0 ? 3 : below(4);
    if (dead)
      seat_->member->until_dead();
    else if (way < 3)
      seat_->member->end(way == 0 ? Way::exit : way == 1 ? Way::quick : Way::abort);
    else
      seat_->member->die();
    log_.push_back(std::to_string(steps) + ": process " + std::to_string(me_) + " ends, " +
                   std::to_string(way));
    if (below(2) == 0) zombies_.push_back(std::move(seat_->member));
    if (zombies_.size() > 2) zombies_.pop_front();
    std::erase(running_, me_);
    std::erase(sleeping_, me_);
    seats_.erase(me_);
    model_.end(me_);
    ++ended;
  }
  // It is killed in the middle of it. Whatever it does ends with it, but for what it writes.
  void begin_something() {
    Order doomed = order(sharing::books);
    std::string what = "looks at the books";
    const View view = some_view();
    switch (below(6)) {
      case 0:
        if (view.memory == nullptr) break;
        doomed = order(sharing::write, view.where, view.bytes, ++written_, view.device);
        for (std::size_t i = 0; i < view.bytes / kStripe; ++i)
          view.memory->stripes[view.offset / kStripe + i] = {};
        what = "writes";
        break;
      case 1:
        if (!mine().blocks.empty()) doomed = order(sharing::free, pick(mine().blocks)->first);
        what = "frees a block";
        break;
      case 2:
        if (!mine().handles.empty()) doomed = order(sharing::free_physical, (*pick(mine().handles))->handle);
        what = "frees a handle";
        break;
      case 3:
        if (const Model::ValuePtr value = some_value()) doomed = order(sharing::import_value, value->value);
        what = "imports a value";
        break;
      case 4:
        if (const Model::KeyPtr key = some_key())
          doomed = order(sharing::import_key, 0, 0, 0, below(3), key->text);
        what = "imports a key";
        break;
      default:
        doomed = order(sharing::physical, 0, k2MB, 1);
        what = "creates";
    }
    log_.push_back(std::to_string(steps) + ": process " + std::to_string(me_) + " " + what + " and");
    seat_->member->send(doomed);
    for (std::size_t i = below(3000); i > 0; --i) random_.discard(1);  // some instants
    seat_->member->die();
  }

  // --- memory of its own --------------------------------------------------------------------------------

  bool fits(std::size_t device, std::size_t bytes) const { return model_.used(device) + bytes <= kTotal; }

  void create() {
    const bool of_host = kHostCanBeMapped && below(6) == 0;
    const std::size_t device = of_host ? Model::kHost : below(3), bytes = (1 + below(2)) * k2MB;
    const bool fits_in = of_host || fits(device, bytes);
    const Answer answer = call(of_host ? sharing::host_physical : sharing::physical, 0, bytes, device);
    expect(answer.code, fits_in ? 0 : kShortage, "physical memory on device " + std::to_string(device));
    if (answer.code != 0) return;
    mine().handles.push_back(std::make_shared<Model::Handle>(
        Model::Handle{answer.first, Model::memory(device, bytes), device, false, 1, 0, nullptr}));
  }
  void free_handle() {
    if (mine().handles.empty()) return;
    const Model::HandlePtr handle = *pick(mine().handles);
    const int expected = model_.free_answer(*handle);
    expect(call(sharing::free_physical, handle->handle).code, expected,
           "frees handle " + hex(handle->handle));
    if (expected == 0) model_.free(me_, *handle);
  }
  void allocate() {
    const std::size_t device = below(3), bytes = (1 + below(32)) * kStripe;
    const bool fits_in = fits(device, bytes);
    const Answer answer = call(sharing::block, 0, bytes, 0, device);
    expect(answer.code, fits_in ? 0 : kShortage, "a block of " + hex(bytes) + ", " + hex(answer.first));
    if (answer.code == 0) mine().blocks[answer.first] = Model::memory(device, bytes);
  }
  void free_block() {
    if (mine().blocks.empty()) return;
    const std::uint64_t where = pick(mine().blocks)->first;
    expect(call(sharing::free, where).code, 0, "frees block " + hex(where));
    model_.free_block(me_, where);
  }
  void reserve() {
    if (mine().reservations.size() >= 6) return;
    const std::size_t bytes = (1 + below(6)) * k2MB;
    const Answer answer = call(sharing::reserve, 0, bytes);
    expect(answer.code, 0, "reserves");
    mine().reservations[answer.first] = {bytes, std::nullopt};
  }
  bool mapped_in(std::uint64_t start, std::size_t bytes) {
    for (const auto& [where, handle] : mine().mappings) {
      if (where < start + bytes && start < where + handle->memory->bytes) return true;
    }
    return false;
  }
  void release() {
    if (mine().reservations.empty()) return;
    const auto which = pick(mine().reservations);
    const bool mapped = mapped_in(which->first, which->second.bytes);
    expect(call(sharing::release, which->first).code, mapped ? kRefused : 0, "releases " + hex(which->first));
    if (!mapped) mine().reservations.erase(which);
  }
  void map() {
    if (mine().reservations.empty() || mine().handles.empty()) return;
    const auto& [start, place] = *pick(mine().reservations);
    const Model::HandlePtr handle = *pick(mine().handles);
    const std::uint64_t where = start + below(place.bytes / k2MB) * k2MB;
    const std::size_t bytes = handle->memory->bytes;
    const bool possible = where + bytes <= start + place.bytes && !mapped_in(where, bytes) &&
                          (!place.bound || *place.bound == handle->device);
    const int got = call(sharing::map_at, where, bytes, handle->handle, handle->device).code;
    expect(got, possible ? 0 : kRefused, "maps " + hex(handle->handle) + " at " + hex(where));
    if (possible) model_.map(me_, where, handle);
  }
  void unmap() {
    if (mine().mappings.empty()) return;
    const std::uint64_t where = pick(mine().mappings)->first;
    const int expected = model_.has_key(me_, where) ? kRefused : 0;  // V-394
    expect(call(sharing::only_unmap, where).code, expected, "unmaps " + hex(where));
    if (expected == 0) model_.unmap(me_, where);
  }
  void ask() {
    if (mine().mappings.empty()) return;
    const auto& [where, handle] = *pick(mine().mappings);
    switch (below(3)) {
      case 0: {
        const Answer answer = call(sharing::retain, where);
        expect(answer.code, 0, "retains " + hex(where));
        EXPECT_EQ(answer.first, handle->handle);
        ++handle->references;
        break;
      }
      case 1: {
        const Answer answer = call(sharing::range, where + below(handle->memory->bytes));
        expect(answer.code, 0, "asks for the range around " + hex(where));
        EXPECT_EQ(answer.first, where);
        EXPECT_EQ(answer.second, handle->memory->bytes);
        break;
      }
      default:
        if (handle->memory->device == Model::kHost) return;
        expect(call(sharing::allow_another, where, handle->memory->bytes, below(3), handle->device).code, 0,
               "grants " + hex(where));
    }
  }
  void reset() {
    const std::size_t device = with_signals_ ? 1 + below(2) : below(3);
    expect(call(sharing::reset, 0, 0, 0, device).code, 0, "resets device " + std::to_string(device));
    model_.reset(me_, device);
  }

  // --- share values -------------------------------------------------------------------------------------

  // With luck one that still leads somewhere.
  Model::ValuePtr some_value() {
    for (int tries = 0; tries < 4 && !model_.values.empty(); ++tries) {
      const Model::ValuePtr value = *pick(model_.values);
      if (model_.held(*value->memory) && (value->may(me_) || value->maker == me_)) return value;
    }
    return model_.values.empty() ? nullptr : *pick(model_.values);
  }
  // Ended ones are tried for a while.
  template <typename List>
  static void keep_some(List& list) {
    if (list.size() > 24) list.erase(list.begin());
  }

  void give_value() {
    if (mine().handles.empty()) return;
    const Model::HandlePtr handle = *pick(mine().handles);
    for (const auto& [where, mapped] : mine().mappings) {
      if (mapped == handle && model_.has_key(me_, where)) return;  // nothing is said about that
    }
    const bool listed = below(3) == 0;
    const int expected = model_.export_answer(*handle);
    const bool by_fabric = fabric_ && below(2) == 0;
    std::uint32_t way = by_fabric ? sharing::export_fabric : sharing::export_value;
    if (!by_fabric && below(2) == 0) way = sharing::export_second;
    const Answer answer = call(way, handle->handle, listed ? kListed : kOpen);
    expect(answer.code, expected, "exports handle " + hex(handle->handle));
    if (expected != 0) return;
    auto value = std::make_shared<Model::Value>();
    if (by_fabric) value->fabric.assign(answer.text.data(), sizeof(aclrtMemFabricHandle));
    value->maker = me_;
    value->listed = listed;
    value->memory = handle->memory;
    value->value = answer.first;
    handle->value = value;
    model_.values.push_back(std::move(value));
    keep_some(model_.values);
  }
  void name_for_value() {
    const Model::ValuePtr value = some_value();
    if (value == nullptr) return;
    const auto& [who, seat] = *pick(seats_);
    const int expected = model_.name_answer(*value, me_);
    std::uint32_t way = value->fabric.empty() ? sharing::allow_value : sharing::allow_fabric;
    if (value->fabric.empty() && below(2) == 0) way = sharing::allow_second;
    const int got = call(way, value->value, 1, static_cast<std::uint32_t>(seat.pid), 0, value->fabric).code;
    expect(got, expected, "names process " + std::to_string(who) + " for value " + hex(value->value));
    if (expected == 0) value->named.insert(who);
  }
  void import_value() {
    const Model::ValuePtr value = some_value();
    if (value == nullptr) return;
    const std::size_t device = below(3);
    if (value->maker == me_ && value->listed) return;  // whether it must name itself is not said
    std::uint64_t wrong = 0;
    if (value->fabric.empty() && below(8) == 0) wrong = std::uint64_t{1} << below(64);
    // The second generation takes the current device.
    const bool second = !value->fabric.empty() || below(2) == 0;
    std::uint32_t way = value->fabric.empty() ? sharing::import_value : sharing::import_fabric;
    if (value->fabric.empty() && second) way = sharing::import_second;
    const int expected = wrong != 0 ? kStale : model_.import_answer(*value, me_, device);
    const Answer answer =
        call(way, value->value ^ wrong, 0, device, second ? device : below(3), value->fabric);
    expect(answer.code, expected,
           "imports value " + hex(value->value) + " for device " + std::to_string(device));
    if (expected != 0) return;
    ++imports;
    if (const Model::HandlePtr again = model_.imported(me_, *value, device)) {
      EXPECT_EQ(answer.first, again->handle) << "V-31";
      ++again->references;
      return;
    }
    for (const Model::HandlePtr& each : mine().handles) EXPECT_NE(each->handle, answer.first);
    mine().handles.push_back(std::make_shared<Model::Handle>(
        Model::Handle{answer.first, value->memory, device, true, 1, 0, value}));
  }

  // --- keys ---------------------------------------------------------------------------------------------

  Model::KeyPtr some_key() {
    for (int tries = 0; tries < 4 && !model_.keys.empty(); ++tries) {
      const Model::KeyPtr key = *pick(model_.keys);
      if (model_.borrowed(*key, me_) != nullptr || (key->stands && key->may(me_))) return key;
    }
    return model_.keys.empty() ? nullptr : *pick(model_.keys);
  }

  void give_key() {
    auto key = std::make_shared<Model::Key>();
    int expected = 0;
    if (below(3) != 0) {
      if (mine().blocks.empty()) return;
      const auto& [where, memory] = *pick(mine().blocks);
      const std::size_t stripes = memory->bytes / kStripe, first = below(stripes);
      key->source = where;
      key->memory = memory;
      key->mapped = false;
      key->offset = first * kStripe;
      key->bytes = (1 + below(stripes - first)) * kStripe;
    } else {
      if (mine().mappings.empty()) return;
      const auto& [where, handle] = *pick(mine().mappings);
      key->source = where;
      key->memory = handle->memory;
      key->mapped = true;
      key->offset = below(handle->memory->bytes / k2MB) * k2MB;
      key->bytes = handle->memory->bytes - key->offset;
      if (handle->value != nullptr) expected = kRefused;                // V-387
      if (handle->memory->device == Model::kHost) expected = kRefused;  // V-386
    }
    key->maker = me_;
    key->listed = below(3) == 0;
    const Answer answer = call(sharing::export_key, key->source + key->offset, key->bytes,
                               key->listed ? kListed : kOpen, below(3));
    key->text = answer.text.data();
    expect(answer.code, expected, "exports " + hex(key->source + key->offset));
    if (expected != 0) return;
    EXPECT_EQ(key->text.size(), 64U);
    // Forgotten ones must not be those that still stand or are borrowed.
    if (model_.keys.size() > 24) {
      std::erase_if(model_.keys, [&](const Model::KeyPtr& each) {
        if (each->stands) return false;
        return std::ranges::none_of(model_.processes,
                                    [&](const auto& one) { return model_.borrowed(*each, one.first); });
      });
    }
    model_.keys.push_back(std::move(key));
  }
  void name_for_key() {
    const Model::KeyPtr key = some_key();
    if (key == nullptr) return;
    const auto& [who, seat] = *pick(seats_);
    const int expected = model_.name_answer(*key, me_, who);
    const int got = call(sharing::allow_key, 0, 1, static_cast<std::uint32_t>(seat.pid), 0, key->text).code;
    expect(got, expected, "names process " + std::to_string(who) + " for a key");
    if (expected == 0) key->named.insert(who);
  }
  void import_key() {
    const Model::KeyPtr key = some_key();
    if (key == nullptr) return;
    const std::size_t device = below(3);
    std::string text = key->text;
    const bool wrong = below(8) == 0;
    if (wrong) text[below(text.size())] ^= 1;
    const int expected = wrong ? kRefused : model_.import_answer(*key, me_);
    const Answer answer = call(sharing::import_key, 0, 0, below(2), device, text);
    expect(answer.code, expected, "imports a key of process " + std::to_string(key->maker));
    if (expected != 0) return;
    ++imports;
    for (Model::Borrowed& each : mine().borrowed) {
      if (each.key != key) continue;
      EXPECT_EQ(answer.first, each.where) << "V-418";
      ++each.times;
      return;
    }
    mine().borrowed.push_back({key, answer.first, device});
  }
  void close_key() {
    const Model::KeyPtr key = some_key();
    if (key == nullptr) return;
    const int expected = model_.close_answer(*key, me_);
    expect(call(sharing::close_key, 0, 0, 0, 0, key->text).code, expected,
           "closes a key of process " + std::to_string(key->maker));
    if (expected == 0) model_.close(*key, me_);
  }

  // --- events and notifies ------------------------------------------------------------------------------

  Answer signal_call(Step step, std::size_t which, std::uint64_t seed = 0) const {
    return call(sharing::signals + static_cast<std::uint32_t>(step), which, 0, seed);
  }
  // Everything is done before the next step, so nobody waits for long.
  void done(Step step, std::size_t which, const std::string& what) {
    expect(signal_call(step, which).code, 0, what + std::to_string(which));
    expect(signal_call(Step::finish, 0, 50'000).code, 0, "its stream");
  }
  void signal() {
    std::erase_if(model_.signals, [](const Model::Signal& each) { return each.having.empty(); });
    if (model_.signals.empty() || (model_.signals.size() < 12 && below(4) == 0)) return make_signal();
    Model::Signal& one = *pick(model_.signals);
    if (!one.having.contains(me_)) return take_signal(one);
    const std::string name = one.notify ? "notify " : "event ";
    switch (below(6)) {
      case 0:
        expect(signal_call(one.notify ? Step::destroy_notify : Step::destroy, one.number).code, 0,
               "destroys " + name + std::to_string(one.number));
        return model_.drop(one, me_);
      case 1:
      case 2:
        done(one.notify ? Step::record_notify : Step::record, one.number, "records " + name);
        one.is_set = true;
        return;
      case 3:
        if (one.notify) {
          expect(signal_call(Step::reset_notify, one.number).code, 0, "resets " + name);
          one.is_set = false;
        } else {
          const Answer answer = signal_call(Step::query, one.number);
          expect(answer.code, 0, "queries " + name);
          EXPECT_EQ(answer.first, std::uint64_t{ACL_EVENT_RECORDED_STATUS_COMPLETE});
        }
        return;
      default:
        if (one.notify && !one.is_set) return;
        done(one.notify ? Step::wait_notify : Step::wait, one.number, "waits for " + name);
        one.is_set = false;
    }
  }
  void make_signal() {
    std::size_t number = 0;
    while (std::ranges::count(model_.signals, number, &Model::Signal::number) > 0) ++number;
    const bool notify = below(2) == 0;
    expect(signal_call(notify ? Step::create_notify : Step::create, number).code, 0, "creates a signal");
    expect(signal_call(notify ? Step::export_notify : Step::give, number,
                       ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION)
               .code,
           0, "gives it away");
    model_.signals.push_back({number, notify, me_, {me_}});
  }
  void take_signal(Model::Signal& one) {
    const int expected = one.maker >= 0 ? 0 : kRefused;
    expect(signal_call(one.notify ? Step::import_notify : Step::open, one.number).code, expected,
           "takes signal " + std::to_string(one.number));
    if (expected == 0) one.having.insert(me_);
  }

  // --- bytes --------------------------------------------------------------------------------------------

  std::vector<View> views() {
    std::vector<View> all;
    for (const auto& [where, handle] : mine().mappings)
      all.push_back({where, handle->memory->bytes, 0, handle->device, handle->memory});
    for (const auto& [where, memory] : mine().blocks)
      all.push_back({where, memory->bytes, 0, memory->device, memory});
    for (const Model::Borrowed& each : mine().borrowed) {
      if (each.key->stands)
        all.push_back({each.where, each.key->bytes, each.key->offset, each.device, each.key->memory});
    }
    return all;
  }
  // A part of one.
  View some_view() {
    std::vector<View> all = views();
    if (all.empty()) return {};
    View view = *pick(all);
    const std::size_t first = below(view.bytes / kStripe);
    view.where += first * kStripe;
    view.offset += first * kStripe;
    view.bytes = (1 + below(std::min<std::size_t>(view.bytes / kStripe - first, 6))) * kStripe;
    return view;
  }
  void write() {
    const View view = some_view();
    if (view.memory == nullptr) return;
    ++written_;
    expect(call(sharing::write, view.where, view.bytes, written_, view.device).code, 0,
           "writes " + hex(view.bytes) + " to " + hex(view.where));
    for (std::size_t i = 0; i < view.bytes / kStripe; ++i) {
      const std::uint64_t word = sharing::first_word(written_, i);
      view.memory->stripes[view.offset / kStripe + i] = {word, ~word};
    }
    compare(view);
  }
  void copy() {
    View to = some_view(), from = some_view();
    if (to.memory == nullptr) return;
    to.bytes = from.bytes = std::min(to.bytes, from.bytes);
    if (to.memory == from.memory && to.offset < from.offset + from.bytes &&
        from.offset < to.offset + to.bytes)
      return;  // overlapping copies are tried elsewhere
    expect(call(sharing::copy, to.where, to.bytes, from.where, to.device).code, 0,
           "copies " + hex(to.bytes) + " from " + hex(from.where) + " to " + hex(to.where));
    for (std::size_t i = 0; i < to.bytes / kStripe; ++i)
      to.memory->stripes[to.offset / kStripe + i] = from.memory->stripes[from.offset / kStripe + i];
    compare(to);
  }
  void compare(const View& view) {
    if (view.memory == nullptr) return;
    constexpr std::size_t kAtOnce = 100 * kStripe;  // what an answer has room for
    const Answer answer =
        call(sharing::read, view.where, std::min(view.bytes, kAtOnce), std::uint64_t{0}, view.device);
    if (answer.code != 0) return expect(answer.code, 0, "reads " + hex(view.where));
    for (std::size_t i = 0; i < std::min(view.bytes, kAtOnce) / kStripe; ++i) {
      const Model::Stripe& known = view.memory->stripes[view.offset / kStripe + i];
      std::array<std::uint64_t, 2> words{};
      std::memcpy(words.data(), answer.text.data() + 16 * i, 16);
      const bool right =
          (!known.first || *known.first == words[0]) && (!known.last || *known.last == words[1]);
      if (!right) {
        ADD_FAILURE() << "process " << me_ << " sees " << hex(words[0]) << " at "
                      << hex(view.where + i * kStripe) << ", and not " << hex(known.first.value_or(0)) << "\n"
                      << story();
      }
    }
  }
  // What was lent, and is not any more (V-433): an answer, and no crash.
  void touch_what_ended() {
    for (const Model::Borrowed& each : mine().borrowed) {
      if (each.key->stands) continue;
      const std::size_t offset = below(each.key->bytes);
      expect(call(sharing::fill, each.where + offset, 1, 7, each.device).code, kRefused,
             "fills what process " + std::to_string(each.key->maker) + " took back");
      expect(call(sharing::read, each.where, kStripe, std::uint64_t{0}, each.device).code, kRefused,
             "reads what was taken back");
      return;
    }
    // And a byte for all bytes of a view that stands.
    const View view = some_view();
    if (view.memory == nullptr) return;
    const std::uint64_t byte = below(256), word = byte * 0x0101010101010101;
    expect(call(sharing::fill, view.where, view.bytes, byte, view.device).code, 0,
           "fills " + hex(view.where));
    for (std::size_t i = 0; i < view.bytes / kStripe; ++i)
      view.memory->stripes[view.offset / kStripe + i] = {word, word};
    compare(view);
  }

  bool fabric_, with_signals_;
  Board& board_ = new_board();
  TestMachine machine_;
  SharingModel model_;
  std::map<int, Seat> seats_;
  std::vector<int> running_, sleeping_;
  std::deque<MemberPtr> zombies_;
  std::deque<std::string> log_;
  int next_ = 0, me_ = 0;
  Seat* seat_ = nullptr;
  std::uint64_t written_ = 0;
};

}  // namespace belay_test
