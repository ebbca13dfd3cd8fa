// Calls that are given structures, lists and functions, with hostile contents in memory that can be read:
// nothing crashes, nothing is read or written outside, the books balance.
//
// Host memory is what programs must get right, so copies name only bytes that are there. Everything else is
// arbitrary: counts and lists that do not fit each other, outputs inside inputs, addresses of device memory
// that is freed, not aligned or nobody's. Lists have exactly the length that their count says, so that the
// sanitizer sees whoever reads further.
#include <pthread.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "input.h"

namespace {

using namespace belay_fuzz;

constexpr std::uint8_t kGuard = 0xA5;
constexpr std::size_t kGuardBytes = 4096, kBytes = 64 * 1024;

// Host bytes between guards, pageable or pinned.
class Host {
 public:
  explicit Host(bool pinned) : pinned_{pinned} {
    if (pinned) {
      void* block = nullptr;
      require(aclrtMallocHost(&block, 2 * kGuardBytes + kBytes) == ACL_SUCCESS);
      start_ = static_cast<std::uint8_t*>(block);
    } else {
      start_ = new std::uint8_t[2 * kGuardBytes + kBytes];
    }
    std::memset(start_, kGuard, 2 * kGuardBytes + kBytes);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() {
    for (std::size_t i = 0; i < kGuardBytes; ++i)
      require(start_[i] == kGuard && start_[kGuardBytes + kBytes + i] == kGuard);
    if (pinned_) {
      require(aclrtFreeHost(start_) == ACL_SUCCESS);
    } else {
      delete[] start_;
    }
  }
  std::uint8_t* at(std::size_t offset) const { return start_ + kGuardBytes + offset; }

 private:
  bool pinned_;
  std::uint8_t* start_;
};

// An address, and how many bytes may be touched from there on: any number, if the library can tell.
struct Place {
  void* address;
  std::size_t most;
};

struct DataBufferDestroyer {
  void operator()(aclDataBuffer* buffer) const { require(aclDestroyDataBuffer(buffer) == ACL_SUCCESS); }
};

class World {
 public:
  explicit World(Input& input) : input_{input} {
    require(aclrtSetDevice(0) == ACL_SUCCESS);
    before_ = free_bytes();
    require(aclrtCreateStream(&copies_) == ACL_SUCCESS && aclrtCreateStream(&held_) == ACL_SUCCESS);
    for (std::size_t i = 0; i < device_.size(); ++i)
      require(aclrtMalloc(&device_[i], kBytes + i, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS);
    freed_ = device_.back();
    require(aclrtFree(freed_) == ACL_SUCCESS);
    pageable_ = std::make_unique<Host>(false);
    pinned_ = std::make_unique<Host>(true);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    require(aclrtSynchronizeStreamWithTimeout(copies_, 60'000) != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    // Waits and callbacks that nobody will fetch are given up.
    require(aclrtDeviceTaskAbort(0, 0) == ACL_SUCCESS);
    for (const aclrtStream stream : {copies_, held_}) require(aclrtDestroyStreamForce(stream) == ACL_SUCCESS);
    buffers_.clear();
    pageable_.reset();
    pinned_.reset();
    device_.back() = nullptr;
    for (void* block : device_) require(block == nullptr || aclrtFree(block) == ACL_SUCCESS);
    for (void* block : live_) require(aclrtFree(block) == ACL_SUCCESS);
    for (void* block : live_host_) require(aclrtFreeHost(block) == ACL_SUCCESS);
    require(free_bytes() == before_);
    require(aclrtResetDevice(0) == ACL_SUCCESS);
  }

  void step() {
    switch (input_.next<std::uint8_t>() % 10) {
      case 0:
      case 1:
        return copy_batch();
      case 2:
        return allocate_configured();
      case 3:
        return use_data_buffers();
      case 4:
        return subscribe_and_call();
      case 5:
        return use_values();
      case 6:
        return ask_with_lists();
      case 7:
        return initialise_and_finalise();
      case 8:
        return copy_by_descriptor();
      default:
        (void)aclGetRecentErrMsg();
        (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    }
  }

 private:
  std::uint8_t byte() { return input_.next<std::uint8_t>(); }
  bool coin() { return byte() % 2 == 0; }
  std::size_t below(std::size_t end) { return input_.next<std::uint16_t>() % end; }

  Place place() {
    const std::size_t offset = input_.next<std::uint16_t>();
    const auto at = [&](void* block, std::size_t shift) {
      return static_cast<char*>(block) + offset - shift;
    };
    switch (byte() % 8) {
      case 0:
        return {nullptr, SIZE_MAX};
      case 1:
      case 2:
        return {pageable_->at(offset), kBytes - offset};
      case 3:
        return {pinned_->at(offset), kBytes - offset};
      case 4:
        return {at(freed_, 0), SIZE_MAX};
      case 5:
        return {at(device_[0], 64), SIZE_MAX};  // also in front of it
      default:
        return {at(device_[byte() % 2], 0), SIZE_MAX};
    }
  }
  std::size_t size() {
    switch (byte() % 8) {
      case 0:
        return 0;
      case 1:
        return input_.next<std::uint64_t>();
      case 2:
        return SIZE_MAX - byte();
      default:
        return below(1024);
    }
  }

  // --- batches ---------------------------------------------------------------------------------------

  aclrtMemcpyBatchAttr attribute() {
    aclrtMemcpyBatchAttr made{};
    const auto location = [&] {
      aclrtMemLocation where{};
      where.id = coin() ? 0 : byte();
      where.type =
          static_cast<aclrtMemLocationType>(byte() % 8 == 0 ? input_.next<std::uint32_t>() : byte() % 5);
      return where;
    };
    made.dstLoc = location();
    made.srcLoc = location();
    if (coin()) {  // one of the two ways that copies go
      const bool up = coin();
      made.dstLoc = {0, up ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST};
      made.srcLoc = {0, up ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE};
    }
    if (byte() % 16 == 0) made.rsv[byte() % sizeof made.rsv] = byte();
    return made;
  }

  void copy_batch() {
    const std::size_t count = byte() % 32 == 0 ? 4095 + byte() % 3 : byte() % 6;
    std::vector<void*> to(count), from(count);
    std::vector<std::size_t> sizes(count), rooms(count);
    const bool alike = coin();  // as correct batches are
    const Place one_to = place(), one_from = place();
    for (std::size_t i = 0; i < count; ++i) {
      const bool repeats = alike || i > 8;  // the input is not that long
      const Place into = repeats ? one_to : place(), out_of = repeats ? one_from : place();
      to[i] = into.address;
      from[i] = out_of.address;
      sizes[i] = std::min({repeats ? below(64) + 1 : size(), into.most, out_of.most});
      rooms[i] = byte() % 16 == 0 ? size() : sizes[i];
      // What does not fit its room is refused, so that the room may not lie about host memory either.
      rooms[i] = std::min(rooms[i], into.most);
    }
    const std::size_t attributes =
        byte() % 8 == 0 ? byte() % 8 : std::min<std::size_t>(count, 1 + byte() % 2);
    std::vector<aclrtMemcpyBatchAttr> list(attributes);
    std::vector<std::size_t> starts(attributes);
    for (std::size_t k = 0; k < attributes; ++k) {
      list[k] = attribute();
      starts[k] = byte() % 8 == 0 ? size() : k;
    }
    // More attributes than items are refused before they are read.
    const std::size_t said = attributes >= count && byte() % 8 == 0 ? size() | (count + 1) : attributes;
    std::size_t own_fail = 7;
    std::size_t* fail = &own_fail;
    if (count > 0 && byte() % 4 == 0) fail = coin() ? &sizes[below(count)] : &rooms[below(count)];
    if (byte() % 32 == 0) fail = nullptr;
    std::size_t* const rooms_list = byte() % 16 == 0 ? sizes.data() : rooms.data();
    const auto with = [&](auto call, auto... rest) {
      return call(to.data(), rooms_list, from.data(), sizes.data(), count, list.data(), starts.data(), said,
                  rest...);
    };
    aclError code = ACL_SUCCESS;
    const auto kind = byte() % 4;
    if (kind == 0) code = with(aclrtMemcpyBatch, fail);
    if (kind == 1) code = with(aclrtMemcpyBatchV2);
    if (kind == 2) code = with(aclrtMemcpyBatchAsync, fail, stream_for_copies());
    if (kind == 3) code = with(aclrtMemcpyBatchAsyncV2, stream_for_copies());
    if (fail == nullptr || kind == 1 || kind == 3) return;
    require(code != ACL_SUCCESS || *fail == SIZE_MAX);
    require(*fail == SIZE_MAX || *fail < count);
  }

  // A copy of pageable memory waits for its stream, so that nothing else may hold it.
  aclrtStream stream_for_copies() {
    if (byte() % 16 == 0) return garbage();
    return coin() ? copies_ : nullptr;
  }
  aclrtStream garbage() {
    static int nothing = 0;
    return coin() ? &nothing : reinterpret_cast<aclrtStream>(input_.next<std::uintptr_t>() | 1);
  }

  // --- configurations --------------------------------------------------------------------------------

  void allocate_configured() {
    std::vector<aclrtMallocAttribute> list(byte() % 16 == 0 ? 300 : byte() % 5);
    for (std::size_t i = 0; i < list.size() && i < 8; ++i) {
      list[i].attr =
          static_cast<aclrtMallocAttrType>(byte() % 8 == 0 ? input_.next<std::uint32_t>() : byte() % 4);
      const auto value = input_.next<std::uint64_t>();
      if (coin()) std::memcpy(&list[i].value, &value, sizeof value);
    }
    aclrtMallocConfig config{list.data(), list.size()};
    if (byte() % 16 == 0) config = {nullptr, input_.next<std::size_t>()};
    aclrtMallocConfig* const given = byte() % 16 == 0 ? nullptr : &config;
    const auto policy = static_cast<aclrtMemMallocPolicy>(coin() ? byte() % 8 : input_.next<std::uint32_t>());
    const std::size_t wished = size();
    void* own = nullptr;
    // Where the answer goes may be in the list.
    void** const out = list.empty() || byte() % 8 != 0 ? &own : reinterpret_cast<void**>(&config.attrs);
    switch (byte() % 3) {
      case 0:
        if (aclrtMallocWithCfg(out, wished, policy, given) == ACL_SUCCESS) live_.push_back(*out);
        break;
      case 1:
        if (aclrtMallocForTaskScheduler(out, wished, policy, given) == ACL_SUCCESS) live_.push_back(*out);
        break;
      default:
        // Host memory is real: no more of it than this machine can spare.
        if (aclrtMallocHostWithCfg(out, wished > (1U << 20) ? SIZE_MAX - wished % 64 : wished, given) ==
            ACL_SUCCESS)
          live_host_.push_back(*out);
    }
  }

  // --- data buffers ----------------------------------------------------------------------------------

  void use_data_buffers() {
    void* const data = place().address;
    const std::size_t bytes = size();
    if (buffers_.empty() || byte() % 4 == 0) {
      require(aclDestroyDataBuffer(nullptr) != ACL_SUCCESS && aclUpdateDataBuffer(nullptr, data, bytes) != 0);
      require(aclGetDataBufferAddr(nullptr) == nullptr && aclGetDataBufferSizeV2(nullptr) == 0);
      buffers_.emplace_back(aclCreateDataBuffer(data, bytes));
      return;
    }
    const std::size_t which = below(buffers_.size());
    if (byte() % 4 == 0) {
      buffers_.erase(buffers_.begin() + static_cast<std::ptrdiff_t>(which));
      return;
    }
    aclDataBuffer* const buffer = buffers_[which].get();
    require(aclUpdateDataBuffer(buffer, data, bytes) == ACL_SUCCESS);
    require(aclGetDataBufferAddr(buffer) == data && aclGetDataBufferSizeV2(buffer) == bytes);
    require(aclGetDataBufferSize(buffer) == static_cast<std::uint32_t>(bytes));
  }

  // --- functions that streams call -------------------------------------------------------------------

  // Its argument is a stream: a function that is under way may outlive the world.
  static void called(void* stream) {
    (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    if (stream == nullptr) return;
    (void)aclrtSynchronizeStreamWithTimeout(stream, 1);  // would wait for itself
    (void)aclrtUnSubscribeReport(static_cast<std::uint64_t>(::pthread_self()), stream);
  }

  void subscribe_and_call() {
    const auto this_thread = static_cast<std::uint64_t>(::pthread_self());
    const std::uint64_t thread = byte() % 4 == 0 ? input_.next<std::uint64_t>() : this_thread;
    const aclrtStream stream = byte() % 16 == 0 ? garbage() : held_;
    aclrtCallback const function = byte() % 16 == 0 ? nullptr : called;
    void* const user = byte() % 4 == 0 ? held_ : nullptr;
    switch (byte() % 8) {
      case 0:
      case 1:
        (void)aclrtSubscribeReport(thread, stream);
        break;
      case 2:
        (void)aclrtUnSubscribeReport(thread, stream);
        break;
      case 3:
      case 4:
        (void)aclrtLaunchCallback(function, user, static_cast<aclrtCallbackBlockType>(byte() % 3), stream);
        break;
      case 5:
        (void)aclrtProcessReport(byte() % 4 == 0 ? -static_cast<std::int32_t>(byte() + 2) : 1);
        break;
      case 6:
        (void)aclrtLaunchHostFunc(stream, function, user);
        break;
      default:
        (void)aclrtStreamAbort(stream);
    }
  }

  // --- words -----------------------------------------------------------------------------------------

  void use_values() {
    void* address = place().address;
    if (coin())
      address = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{7});
    const std::uint64_t value = coin() ? byte() : input_.next<std::uint64_t>();
    const std::uint32_t flag = byte() % 8 == 0 ? input_.next<std::uint32_t>() : byte() % 5;
    switch (byte() % 4) {
      case 0:
        (void)aclrtValueWrite(address, value, byte() % 8 == 0 ? flag : 0, coin() ? copies_ : held_);
        break;
      case 1:
        (void)aclrtValueWait(address, value, flag, byte() % 16 == 0 ? garbage() : held_);
        break;
      case 2:
        (void)aclrtSynchronizeStreamWithTimeout(held_, 1);
        break;
      default:
        if (device_[1] == nullptr) return;
        require(aclrtFree(device_[1]) == ACL_SUCCESS);  // under whoever waits there
        require(aclrtMalloc(&device_[1], kBytes + 1, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS);
    }
  }

  // --- lists -----------------------------------------------------------------------------------------

  void ask_with_lists() {
    if (coin()) {
      std::vector<void*> addresses(byte() % 32 == 0 ? 1023 + byte() % 3 : byte() % 6);
      for (std::size_t i = 0; i < addresses.size() && i < 8; ++i) addresses[i] = place().address;
      std::uint32_t result = 7;
      std::uint32_t* const out = addresses.empty() || coin()
                                     ? &result
                                     : reinterpret_cast<std::uint32_t*>(&addresses[below(addresses.size())]);
      (void)aclrtCheckMemType(addresses.data(), static_cast<std::uint32_t>(addresses.size()),
                              coin() ? byte() % 8 : input_.next<std::uint32_t>(), out, byte() % 16 == 0);
      return;
    }
    std::vector<aclrtMemUsageInfo> entries(byte() % 4);
    std::size_t own = 7;
    std::size_t* const count =
        entries.empty() || coin()
            ? &own
            : reinterpret_cast<std::size_t*>(&entries[below(entries.size())].curMemSize);
    const std::size_t room = entries.size();
    if (aclrtGetMemUsageInfo(byte() % 4, entries.data(), room, count) == ACL_SUCCESS) require(*count <= room);
  }

  // --- init and finalize -----------------------------------------------------------------------------

  static aclError on_init(const char*, std::size_t, void* world) {
    return static_cast<World*>(world)->inside();
  }
  static aclError on_end(void* world) { return static_cast<World*>(world)->inside(); }
  aclError inside() {
    if (++depth_ < 4) initialise_and_finalise();
    --depth_;
    return byte() % 8 == 0 ? 424242 : ACL_SUCCESS;
  }

  void initialise_and_finalise() {
    const auto type = static_cast<aclRegisterCallbackType>(
        byte() % 8 == 0 ? input_.next<std::uint32_t>() : (byte() % 9 == 8 ? ACL_REG_TYPE_OTHER : byte() % 8));
    // Only as long as this world is there; what is left is taken back below.
    switch (byte() % 8) {
      case 0:
        if (aclInitCallbackRegister(type, on_init, this) == ACL_SUCCESS) init_types_.push_back(type);
        break;
      case 1:
        if (aclFinalizeCallbackRegister(type, on_end, this) == ACL_SUCCESS) end_types_.push_back(type);
        break;
      case 2:
        (void)aclInitCallbackUnRegister(type, on_init);
        break;
      case 3:
        (void)aclFinalizeCallbackUnRegister(type, on_end);
        break;
      case 4:
        (void)aclInit(coin() ? nullptr : std::string(byte() * 40U, 'x').c_str());
        break;
      case 5:
        (void)aclFinalize();
        break;
      default: {
        std::uint64_t count = 7;
        (void)aclFinalizeReference(coin() ? nullptr : &count);
      }
    }
    if (depth_ != 0) return;
    for (const aclRegisterCallbackType each : init_types_) (void)aclInitCallbackUnRegister(each, on_init);
    for (const aclRegisterCallbackType each : end_types_) (void)aclFinalizeCallbackUnRegister(each, on_end);
    init_types_.clear();
    end_types_.clear();
  }

  // --- descriptors -----------------------------------------------------------------------------------

  void copy_by_descriptor() {
    void* descriptor = place().address;
    if (coin()) {
      descriptor =
          reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(descriptor) & ~std::uintptr_t{63});
    }
    const auto kind =
        static_cast<aclrtMemcpyKind>(byte() % 4 == 0 ? byte() % 9 : ACL_MEMCPY_INNER_DEVICE_TO_DEVICE);
    if (coin()) {
      (void)aclrtSetMemcpyDesc(descriptor, kind, place().address, place().address, size(), nullptr);
    } else {
      (void)aclrtMemcpyAsyncWithDesc(descriptor, kind, copies_);
    }
  }

  Input& input_;
  std::size_t before_ = 0;
  aclrtStream copies_ = nullptr;
  aclrtStream held_ = nullptr;  // by waits and callbacks
  std::array<void*, 3> device_{};
  void* freed_ = nullptr;
  std::unique_ptr<Host> pageable_, pinned_;
  std::vector<void*> live_, live_host_;
  std::vector<std::unique_ptr<aclDataBuffer, DataBufferDestroyer>> buffers_;
  std::vector<aclRegisterCallbackType> init_types_, end_types_;
  int depth_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool ready = (make_quiet_machine(), true);
  (void)ready;
  Input input{data, size};
  World world{input};
  while (!input.empty()) world.step();
  return 0;
}
