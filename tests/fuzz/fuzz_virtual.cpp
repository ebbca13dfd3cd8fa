// Reservations, handles and mappings with arbitrary arguments: a plain model knows which calls succeed, what
// the books say and what memory holds.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "acl/acl.h"
#include "input.h"

namespace {

using namespace belay_fuzz;

constexpr std::size_t kGranule = std::size_t{2} << 20U;
constexpr std::size_t kHbm = std::size_t{256} << 20U;  // of each device, see input.h
constexpr int kHost = -1, kNobody = -2;

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }
std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
std::size_t rounded(std::size_t size) { return (size + kGranule - 1) / kGranule * kGranule; }

struct Memory {
  std::size_t size = 0;
  int place = kHost;  // or a device
  int references = 0, mappings = 0;
  std::optional<std::uint8_t> mark;  // its first byte, if that is known
  bool alive() const { return references + mappings > 0; }
};
struct Reservation {
  std::size_t size = 0;
  int bound = kNobody;
  bool plain = true;  // not of aclrtReserveMemAddressNoUCMemory
};
struct Mapping {
  std::size_t size = 0;
  aclrtDrvMemHandle handle = nullptr;
  bool open = true;  // its owner or device 0 may use it
};

class World {
 public:
  explicit World(Input& input) : input_{input} {}

  void step() {
    switch (input_.next<std::uint8_t>() % 16) {
      case 0:
      case 1:
        reserve();
        break;
      case 2:
        release(address());
        break;
      case 3:
      case 4:
        take_memory();
        break;
      case 5:
        free_memory(handle());
        break;
      case 6:
      case 7:
      case 8:
        map();
        break;
      case 9:
        unmap(address());
        break;
      case 10:
        write();
        break;
      case 11:
        look();
        break;
      case 12:
        queue_and_unmap();
        break;
      case 13:
        grant_and_ask();
        break;
      case 14:
        retain();
        break;
      default:
        use_managed();
        break;
    }
    if (managed_.empty()) require(free_bytes() == kHbm - taken(0));
  }

  void give_all_back() {
    while (!mappings_.empty()) unmap(mappings_.begin()->first);
    while (!memory_.empty()) free_memory(memory_.begin()->first);
    while (!reservations_.empty()) release(reservations_.begin()->first);
    for (void* const block : managed_) require(aclrtFree(block) == ACL_SUCCESS);
    managed_.clear();
  }

 private:
  // ---- arguments

  template <class Objects>
  typename Objects::const_iterator pick(const Objects& objects) {
    auto one = objects.begin();
    if (!objects.empty()) std::advance(one, input_.next<std::uint8_t>() % objects.size());
    return one;
  }

  // Near a reservation as often as not; that of a plain one only if something is to be read or written there.
  std::uintptr_t address(bool to_be_used = false) {
    const auto shape = input_.next<std::uint8_t>();
    const auto granules = input_.next<std::uint8_t>() % 20U;
    if (shape % 16 == 0 && !to_be_used) return 0;
    if (shape % 16 == 1 && !to_be_used) return input_.next<std::uintptr_t>();
    if (shape % 4 == 2 && !former_.empty()) return former_[granules % former_.size()];
    std::uintptr_t start = 0;
    if (const auto mapping = pick(mappings_);
        shape % 4 == 3 && mapping != mappings_.end() && (!to_be_used || around(mapping->first)->second.plain))
      return mapping->first;
    if (const auto one = pick(reservations_);
        one != reservations_.end() && (!to_be_used || one->second.plain))
      start = one->first;
    else if (!former_.empty())
      start = former_.back();
    if (start == 0) return 0;
    const std::uintptr_t odd = shape % 8 == 4 ? input_.next<std::uint16_t>() : 0;
    return start + granules * kGranule + odd;
  }

  std::size_t size() {
    const auto shape = input_.next<std::uint8_t>();
    const std::size_t granules = input_.next<std::uint8_t>() % 8U * kGranule;
    switch (shape % 8) {
      case 0:
        return granules + 1;
      case 1:
        return granules - 1;  // of none: as large as can be
      case 2:
        return SIZE_MAX - input_.next<std::uint16_t>();
      case 3:
        return input_.next<std::uint64_t>() >> (shape % 50U);
      default:
        return granules;
    }
  }

  // Bytes to write: few, and sometimes more than a mapping has.
  std::size_t count() {
    const auto bits = input_.next<std::uint32_t>();
    return 1 + (bits >> 9U & (bits % 8 == 0 ? 0x7FFFFFU : 0x3FFU));
  }

  aclrtDrvMemHandle handle() {
    const auto shape = input_.next<std::uint8_t>();
    if (shape % 16 == 0) return nullptr;
    if (shape % 16 == 1) return at(input_.next<std::uintptr_t>());
    if (shape % 4 == 2 && !former_handles_.empty())
      return former_handles_[shape / 4U % former_handles_.size()];
    const auto one = pick(memory_);
    return one == memory_.end() ? nullptr : one->first;
  }

  // 0 but for one time in eight.
  template <class T>
  T mostly_zero() {
    return input_.next<std::uint8_t>() % 8 == 0 ? static_cast<T>(input_.next<std::uint32_t>()) : T{0};
  }

  // ---- what the model says

  std::map<std::uintptr_t, Reservation>::iterator around(std::uintptr_t place) {
    auto after = reservations_.upper_bound(place);
    if (after == reservations_.begin()) return reservations_.end();
    const auto one = std::prev(after);
    return place - one->first < one->second.size ? one : reservations_.end();
  }
  bool touches_a_mapping(std::uintptr_t place, std::size_t bytes) const {
    const auto after = mappings_.lower_bound(place + bytes);
    if (after == mappings_.begin()) return false;
    const auto& [start, mapping] = *std::prev(after);
    return start + mapping.size > place;
  }
  std::size_t taken(int device) const {
    std::size_t sum = 0;
    for (const auto& [handle, memory] : memory_) sum += memory.place == device ? memory.size : 0;
    return sum;
  }
  // Whether every byte can be used. Nothing is said of a range that leaves its reservation.
  std::optional<bool> usable(std::uintptr_t place, std::size_t bytes) {
    const auto room = around(place);
    if (room == reservations_.end()) {
      return touches_a_mapping(place, bytes) ? std::nullopt : std::optional{false};
    }
    if (place + bytes > room->first + room->second.size) return std::nullopt;
    while (bytes > 0) {
      auto after = mappings_.upper_bound(place);
      if (after == mappings_.begin()) return false;
      const auto& [start, mapping] = *std::prev(after);
      if (place - start >= mapping.size || !mapping.open) return false;
      const std::size_t here = start + mapping.size - place;
      if (here >= bytes) return true;
      place += here;
      bytes -= here;
    }
    return true;
  }
  void note_written(std::uintptr_t place, std::size_t bytes, std::optional<std::uint8_t> value) {
    for (auto one = mappings_.lower_bound(place); one != mappings_.end() && one->first < place + bytes; ++one)
      memory_.at(one->second.handle).mark = value;
  }
  void forget_if_gone(std::map<aclrtDrvMemHandle, Memory>::iterator one) {
    if (one->second.alive()) return;
    former_handles_.push_back(one->first);
    memory_.erase(one);
  }

  // ---- calls

  void reserve() {
    const bool high = input_.next<std::uint8_t>() % 16 == 0;
    const std::size_t wished = size();
    const std::size_t bytes = high && wished % 4 == 0 ? 1ULL << 30U : wished;
    const auto alignment = mostly_zero<std::size_t>();
    const std::uintptr_t far = (std::uintptr_t{64} << 40U) + input_.next<std::uint8_t>() % 4U * (1ULL << 30U);
    const std::uintptr_t wish = high ? far : input_.next<std::uint8_t>() % 4 == 0 ? address() : 0;
    const auto flags = mostly_zero<std::uint64_t>();
    void* start = nullptr;
    const aclError code = (high ? aclrtReserveMemAddressNoUCMemory : aclrtReserveMemAddress)(
        &start, bytes, alignment, at(wish), flags);
    if (code != ACL_SUCCESS) {
      // Nothing is in the way of a small one without a wish.
      require(wish != 0 || alignment != 0 || flags > 1 || bytes == 0 || bytes > kHbm);
      return;
    }
    require(alignment == 0 && flags <= 1 && bytes != 0 && number(start) % kGranule == 0);
    require(wish == 0 ? start != nullptr : number(start) == wish);
    const std::size_t room = rounded(bytes);
    const auto next = reservations_.lower_bound(number(start));
    require(next == reservations_.end() || number(start) + room <= next->first);
    require(around(number(start)) == reservations_.end());
    reservations_[number(start)] = {room, kNobody, !high};
  }

  void release(std::uintptr_t start) {
    const auto one = reservations_.find(start);
    const bool may = one != reservations_.end() && !touches_a_mapping(start, one->second.size);
    require((aclrtReleaseMemAddress(at(start)) == ACL_SUCCESS) == may);
    if (!may) return;
    if (one->second.plain) former_.push_back(start);
    reservations_.erase(one);
  }

  void take_memory() {
    const auto wild = input_.next<std::uint8_t>();
    aclrtPhysicalMemProp prop{};
    constexpr aclrtMemAttr kGood[] = {ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL, ACL_MEM_NORMAL,
                                      ACL_MEM_HUGE,     ACL_MEM_P2P_NORMAL, ACL_MEM_P2P_HUGE};
    prop.memAttr = kGood[input_.next<std::uint8_t>() % std::size(kGood)];
    const auto place = input_.next<std::uint8_t>() % 8U;
    prop.location.type = place == 7 ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = place >= 5 && place != 7 ? 1 : 0;
    const std::size_t bytes = size();
    if (wild % 8 == 0) {  // whatever it answers, it takes nothing or can be freed
      prop.memAttr = static_cast<aclrtMemAttr>(input_.next<std::uint8_t>() % 20U);
      prop.handleType = static_cast<aclrtMemHandleType>(mostly_zero<std::uint32_t>() % 3U);
      prop.location.type = static_cast<aclrtMemLocationType>(input_.next<std::uint8_t>() % 6U);
      prop.location.id = input_.next<std::uint8_t>() % 3U;
      prop.reserve = mostly_zero<std::uint64_t>();
      std::size_t granularity = 0;
      (void)aclrtMemGetAllocationGranularity(&prop, static_cast<aclrtMemGranularityOptions>(wild / 8U % 3U),
                                             &granularity);
      aclrtDrvMemHandle made = nullptr;
      if (bytes <= kHbm && aclrtMallocPhysical(&made, bytes, &prop, 0) == ACL_SUCCESS)
        require(aclrtFreePhysical(made) == ACL_SUCCESS);
      return;
    }
    const int device = place == 7 ? kHost : static_cast<int>(prop.location.id);
    if (device == kHost && (bytes > kHbm || taken(kHost) > kHbm)) return;  // that much may be there or not
    const auto flags = mostly_zero<std::uint64_t>();
    const bool may = bytes != 0 && flags == 0 &&
                     (device == kHost || (bytes <= kHbm && rounded(bytes) <= kHbm - taken(device)));
    aclrtDrvMemHandle made = nullptr;
    if (!managed_.empty() && may && device != kHost) {  // pages of managed memory may have taken the rest
      if (aclrtMallocPhysical(&made, bytes, &prop, flags) != ACL_SUCCESS) return;
    } else {
      require((aclrtMallocPhysical(&made, bytes, &prop, flags) == ACL_SUCCESS) == may);
    }
    if (!may) return;
    require(made != nullptr && !memory_.contains(made));
    memory_[made] = {rounded(bytes), device, 1, 0, std::nullopt};
  }

  void free_memory(aclrtDrvMemHandle handle) {
    const auto one = memory_.find(handle);
    const bool may = one != memory_.end() && one->second.references > 0;
    require((aclrtFreePhysical(handle) == ACL_SUCCESS) == may);
    if (!may) return;
    --one->second.references;
    forget_if_gone(one);
  }

  void map() {
    const std::uintptr_t start = address();
    const aclrtDrvMemHandle wished = handle();
    const auto memory = memory_.find(wished);
    const std::size_t bytes =
        input_.next<std::uint8_t>() % 4 == 0 || memory == memory_.end() ? size() : memory->second.size;
    const auto offset = mostly_zero<std::size_t>();
    const auto flags = mostly_zero<std::uint64_t>();
    const bool open = input_.next<std::uint8_t>() % 8 != 0;
    const auto room = around(start);
    const bool may =
        memory != memory_.end() && room != reservations_.end() && bytes == memory->second.size &&
        offset == 0 && flags == 0 && start % kGranule == 0 &&
        bytes <= room->first + room->second.size - start && !touches_a_mapping(start, bytes) &&
        (!room->second.plain || room->second.bound == kNobody || room->second.bound == memory->second.place);
    const aclError code = open ? aclrtMapMem(at(start), bytes, offset, wished, flags)
                               : aclrtMemMapNoAccess(at(start), bytes, offset, wished, flags);
    require((code == ACL_SUCCESS) == may);
    if (!may) return;
    room->second.bound = memory->second.place;
    ++memory->second.mappings;
    mappings_[start] = {bytes, wished, open};
  }

  void unmap(std::uintptr_t start) {
    const auto one = mappings_.find(start);
    require((aclrtUnmapMem(at(start)) == ACL_SUCCESS) == (one != mappings_.end()));
    if (one == mappings_.end()) return;
    const auto memory = memory_.find(one->second.handle);
    mappings_.erase(one);
    --memory->second.mappings;
    forget_if_gone(memory);
  }

  void write() {
    const std::uintptr_t place = address(true);
    if (place == 0) return;
    const std::size_t bytes = count();
    const auto value = input_.next<std::uint8_t>();
    const std::optional<bool> may = usable(place, bytes);
    bool done = false;
    if (bytes > 65536 || value % 2 == 0) {
      done = aclrtMemset(at(place), bytes, value, bytes) == ACL_SUCCESS;
    } else {
      const std::vector<std::uint8_t> source(bytes, value);
      done = aclrtMemcpy(at(place), bytes, source.data(), bytes, ACL_MEMCPY_DEFAULT) == ACL_SUCCESS;
    }
    require(!may || *may == done);
    note_written(place, bytes, done ? std::optional{value} : std::nullopt);
    if (!done) return;
    std::uint8_t ends[2] = {};
    for (int i = 0; i < 2; ++i)
      require(aclrtMemcpy(&ends[i], 1, at(place + (i == 0 ? 0 : bytes - 1)), 1, ACL_MEMCPY_DEFAULT) ==
              ACL_SUCCESS);
    require(ends[0] == value && ends[1] == value);
  }

  void look() {
    const std::uintptr_t place = address(true);
    if (place == 0) return;
    const auto one = mappings_.find(place);
    std::uint8_t byte = 0;
    const bool done = aclrtMemcpy(&byte, 1, at(place), 1, ACL_MEMCPY_DEFAULT) == ACL_SUCCESS;
    const std::optional<bool> may = usable(place, 1);
    require(!may || *may == done);
    if (done && one != mappings_.end()) {
      std::optional<std::uint8_t>& mark = memory_.at(one->second.handle).mark;
      require(!mark || *mark == byte);
      mark = byte;
    }
    aclrtPtrAttributes attributes{};
    const bool known = aclrtPointerGetAttributes(at(place), &attributes) == ACL_SUCCESS;
    void* start = nullptr;
    std::size_t bytes = 0;
    const bool found = aclrtMemGetAddressRange(at(place), &start, &bytes) == ACL_SUCCESS;
    require(known == found && (!found || (number(start) <= place && place - number(start) < bytes)));
    if (one != mappings_.end()) require(found && start == at(place) && bytes == one->second.size);
  }

  // Work that is queued on memory which may be gone when its turn comes.
  void queue_and_unmap() {
    const std::uintptr_t place = address(true);
    if (place == 0) return;
    const std::size_t bytes = count();
    (void)aclrtMemsetAsync(at(place), bytes, 0x5A, bytes, nullptr);
    if (input_.next<std::uint8_t>() % 2 == 0 && mappings_.contains(place)) {
      memory_.at(mappings_.at(place).handle).mark = std::nullopt;
      unmap(place);
    }
    (void)aclrtSynchronizeStream(nullptr);
    note_written(place, bytes, std::nullopt);
  }

  void grant_and_ask() {
    const std::uintptr_t start = address();
    const auto one = mappings_.find(start);
    const std::size_t bytes =
        one == mappings_.end() || input_.next<std::uint8_t>() % 4 == 0 ? size() : one->second.size;
    aclrtMemAccessDesc access[2] = {};
    const std::size_t count = input_.next<std::uint8_t>() % 3U;
    for (aclrtMemAccessDesc& each : access) {
      each.flags = static_cast<aclrtMemAccessFlags>(
          input_.next<std::uint8_t>() % 8 == 0 ? input_.next<std::uint8_t>() % 4U : 3U);
      each.location.type = static_cast<aclrtMemLocationType>(input_.next<std::uint8_t>() % 3U);
      each.location.id = input_.next<std::uint8_t>() % 3U;
    }
    const bool done = aclrtMemSetAccess(at(start), bytes, access, count) == ACL_SUCCESS;
    require(!done || (one != mappings_.end() && bytes == one->second.size && count != 0));
    if (one == mappings_.end()) return;
    // Earlier entries of a list stay when a later one is refused. Copies are done by device 0 here.
    const int owner = memory_.at(one->second.handle).place;
    bool open = false;
    for (int place = kHost; place < 2; ++place) {
      aclrtMemLocation location{place == kHost ? 0U : static_cast<std::uint32_t>(place),
                                place == kHost ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE};
      std::uint64_t flag = 99;
      require(aclrtMemGetAccess(at(start), &location, &flag) == ACL_SUCCESS && (flag == 0 || flag == 3));
      open = open || (flag == 3 && (place == owner || place == 0));
    }
    require(open || !one->second.open);
    one->second.open = open;
  }

  void retain() {
    const std::uintptr_t start = address();
    const auto one = mappings_.find(start);
    aclrtDrvMemHandle found = nullptr;
    require((aclrtMemRetainAllocationHandle(at(start), &found) == ACL_SUCCESS) == (one != mappings_.end()));
    if (one != mappings_.end()) {
      require(found == one->second.handle);
      ++memory_.at(found).references;
    }
    const aclrtDrvMemHandle asked = handle();
    aclrtPhysicalMemProp prop{};
    const bool known = aclrtMemGetAllocationPropertiesFromHandle(asked, &prop) == ACL_SUCCESS;
    require(known == memory_.contains(asked));
    if (known)
      require((prop.location.type == ACL_MEM_LOCATION_TYPE_HOST) == (memory_.at(asked).place == kHost));
  }

  void use_managed() {
    const auto action = input_.next<std::uint8_t>();
    const auto one = pick(managed_);
    const std::size_t bytes = size();
    const aclrtMemManagedLocation place{
        static_cast<aclrtMemManagedLocationType>(input_.next<std::uint8_t>() % 6U),
        static_cast<std::int32_t>(input_.next<std::uint8_t>() % 3U) - 1};
    if (one == managed_.end() || action % 8 == 0) {
      void* block = nullptr;
      if (managed_.size() < 4 &&
          aclrtMemAllocManaged(&block, bytes, mostly_zero<std::uint32_t>() ^ 1U) == ACL_SUCCESS) {
        require(bytes != 0 && number(block) % kGranule == 0);
        managed_.push_back(block);
      }
      return;
    }
    void* const block = *one;
    const std::uintptr_t inside = number(block) + input_.next<std::uint32_t>() % (4 * kGranule);
    switch (action % 8) {
      case 1:
        require(aclrtFree(block) == ACL_SUCCESS && aclrtFree(block) != ACL_SUCCESS);
        managed_.erase(one);
        break;
      case 2:
        (void)aclrtMemManagedAdvise(at(inside), bytes,
                                    static_cast<aclrtMemManagedAdviseType>(action / 8U % 7U), place);
        break;
      case 3: {
        std::int32_t answer[4] = {};
        const std::size_t room = input_.next<std::uint8_t>() % 17U;
        (void)aclrtMemManagedGetAttr(static_cast<aclrtMemManagedRangeAttribute>(action / 8U % 10U),
                                     at(inside), bytes, answer, room);
        break;
      }
      case 4:
        (void)aclrtMemManagedPrefetchAsync(at(inside), bytes, place, 0, nullptr);
        require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
        break;
      case 5: {
        const void* blocks[] = {block, at(inside)};
        std::size_t sizes[] = {kGranule, bytes};
        aclrtMemManagedLocation places[] = {place, place};
        std::size_t starts[] = {mostly_zero<std::size_t>(), input_.next<std::uint8_t>() % 3U};
        const std::size_t count = 1 + input_.next<std::uint8_t>() % 2U;
        (void)aclrtMemManagedPrefetchBatchAsync(blocks, sizes, 2, places, starts, count, 0, nullptr);
        require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
        break;
      }
      default: {  // the block has at least one granule
        const std::size_t count = 1 + input_.next<std::uint32_t>() % kGranule;
        if (aclrtMemset(block, count, action, count) == ACL_SUCCESS)
          require(static_cast<std::uint8_t*>(block)[count - 1] == action);
        break;
      }
    }
  }

  Input& input_;
  std::map<std::uintptr_t, Reservation> reservations_;
  std::map<std::uintptr_t, Mapping> mappings_;
  std::map<aclrtDrvMemHandle, Memory> memory_;
  std::vector<void*> managed_;
  std::vector<std::uintptr_t> former_;  // reservations that were released
  std::vector<aclrtDrvMemHandle> former_handles_;
};

void make_machine() {
  make_quiet_machine();
  ::setenv("BELAY_PRODUCT", "A3", 1);
  ::setenv("BELAY_DEVICES", "2", 1);
  ::setenv("BELAY_PIN", "best-effort", 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool ready = (make_machine(), true);
  (void)ready;
  Input input{data, size};
  for (const std::int32_t device : {1, 0}) {
    require(aclrtSetDevice(device) == ACL_SUCCESS);
    require(free_bytes() == kHbm);
  }
  World world{input};
  while (!input.empty()) world.step();
  world.give_all_back();
  for (const std::int32_t device : {0, 1}) {
    require(aclrtSetDevice(device) == ACL_SUCCESS);
    require(free_bytes() == kHbm);
    require(aclrtResetDevice(device) == ACL_SUCCESS && aclrtResetDevice(device) == ACL_SUCCESS);
  }
  return 0;
}
