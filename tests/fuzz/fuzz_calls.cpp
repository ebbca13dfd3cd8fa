// Sequences of calls with arbitrary arguments: nothing crashes, the books balance, blocks keep apart.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "acl/acl.h"
#include "acl/ops/acl_dvpp.h"
#include "input.h"

namespace {

using namespace belay_fuzz;

// Sizes near the documented lines as often as wild ones.
std::size_t size_from(Input& input) {
  const auto shape = input.next<std::uint8_t>();
  const auto low = input.next<std::uint16_t>();
  switch (shape % 5) {
    case 0:
      return low;
    case 1:
      return (std::size_t{1} << 20) - 40 + low % 80;
    case 2:
      return (std::size_t{2} << 20) - 40 + low % 80;
    case 3:
      return SIZE_MAX - low % 100;
    default:
      return input.next<std::uint64_t>() >> (shape % 40);
  }
}

// Small functions with arguments from anywhere; what can be known of their answers is asked for.
void call_something(Input& input, void* heap) {
  const auto device = input.next<std::int32_t>();
  const auto wild = reinterpret_cast<void*>(input.next<std::uintptr_t>());
  const auto number = input.next<std::uint32_t>();
  switch (input.next<std::uint8_t>() % 8) {
    case 0: {
      aclrtMemUceInfo places[20] = {};
      places[number % 20].addr = wild;
      places[number % 20].reserved[number % 14] = number >> 8;
      std::size_t count = 1;
      if (aclrtGetMemUceInfo(device, places, number, &count) == ACL_SUCCESS) require(count == 0);
      (void)aclrtMemUceRepair(device, places, number % 22 > 20 ? number | 32 : number % 22);
      break;
    }
    case 1: {
      aclrtErrorInfo info;
      std::memset(&info, static_cast<int>(number & 0xFF), sizeof info);
      (void)aclrtRepairError(device, &info);
      if (aclrtGetErrorVerbose(device, &info) == ACL_SUCCESS) require(info.errorType == ACL_RT_NO_ERROR);
      break;
    }
    case 2: {
      char name[17] = {};
      for (std::size_t i = 0; i < 16; ++i) name[i] = static_cast<char>(input.next<std::uint8_t>());
      std::int32_t answer = 7;
      const aclError code = aclrtCheckArchCompatibility(name, &answer);
      require(code == ACL_SUCCESS ? answer == 0 || answer == 1 : answer == 7);
      break;
    }
    case 3: {
      void* address = nullptr;
      require(aclrtGetHardwareSyncAddr(&address) == ACL_SUCCESS && aclrtFree(address) != ACL_SUCCESS);
      break;
    }
    case 4: {
      void* status = static_cast<unsigned char*>(heap) + number % (1U << 30);
      (void)aclrtGetFloatOverflowStatus(status, number % 66, nullptr);
      (void)aclrtNpuGetFloatOverFlowStatus(status, 64, number, nullptr);
      (void)aclrtSynchronizeStream(nullptr);
      break;
    }
    case 5:
      require(aclrtResetFloatOverflowStatus(nullptr) == ACL_SUCCESS);
      require(aclrtNpuClearFloatOverFlowStatus(number, nullptr) == ACL_SUCCESS);
      require(aclrtResetFloatOverflowStatus(wild) == ACL_SUCCESS || wild != nullptr);
      break;
    case 6:
      require(aclrtDeviceL2CacheFlush(device, wild, number) == ACL_SUCCESS);
      break;
    default: {  // this product has none
      aclrtCntNotify made = nullptr;
      require(aclrtCntNotifyCreate(&made, number) != ACL_SUCCESS);
      require(aclrtCntNotifyDestroy(wild) != ACL_SUCCESS);
      require(aclrtCntNotifyReset(wild, nullptr) != ACL_SUCCESS);
      break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool ready = (make_quiet_machine(), true);
  (void)ready;
  Input input{data, size};
  require(aclrtSetDevice(0) == ACL_SUCCESS);
  const std::size_t before = free_bytes();
  void* probe = nullptr;
  require(aclrtMalloc(&probe, 1, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS &&
          aclrtFree(probe) == ACL_SUCCESS);
  probe = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(probe) >> 30 << 30);
  std::map<void*, std::size_t> live;
  while (!input.empty()) {
    const auto action = input.next<std::uint8_t>();
    const auto policy = static_cast<aclrtMemMallocPolicy>(action % 2 == 0 ? input.next<std::uint32_t>()
                                                                          : input.next<std::uint8_t>() % 8);
    auto pick = live.begin();
    if (!live.empty())
      std::advance(pick, static_cast<std::ptrdiff_t>(input.next<std::uint8_t>() % live.size()));
    switch (action % 9) {
      case 0:
      case 1:
      case 2: {
        const std::size_t wished = size_from(input);
        void* block = nullptr;
        const aclError code = action % 3 == 0   ? aclrtMalloc(&block, wished, policy)
                              : action % 3 == 1 ? aclrtMallocAlign32(&block, wished, policy)
                                                : acldvppMalloc(&block, wished);
        if (code == ACL_SUCCESS) require(block != nullptr && live.emplace(block, wished).second);
        break;
      }
      case 3:
        if (pick != live.end()) {
          require(aclrtFree(pick->first) == ACL_SUCCESS);
          require(aclrtFree(pick->first) != ACL_SUCCESS);
          live.erase(pick);
        }
        break;
      case 4: {
        const auto wild = input.next<std::uintptr_t>();
        if (!live.contains(reinterpret_cast<void*>(wild)))
          require(aclrtFree(reinterpret_cast<void*>(wild)) != ACL_SUCCESS);
        break;
      }
      case 5:
        if (pick != live.end() && pick->second > 0) {
          const std::size_t count = 1 + input.next<std::uint16_t>() % pick->second;
          std::vector<unsigned char> bytes(count < 65536 ? count : 65536, input.next<std::uint8_t>());
          std::vector<unsigned char> back(bytes.size());
          if (aclrtMemcpy(pick->first, pick->second, bytes.data(), bytes.size(), ACL_MEMCPY_DEFAULT) ==
              ACL_SUCCESS) {
            require(aclrtMemcpy(back.data(), back.size(), pick->first, bytes.size(), ACL_MEMCPY_DEFAULT) ==
                        ACL_SUCCESS &&
                    back == bytes);
          }
        }
        break;
      case 6: {
        // Somewhere in the heap of normal pages, wherever the window lies in this build.
        void* wild = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(probe) +
                                             input.next<std::uint32_t>() % (1U << 30));
        const std::size_t count = input.next<std::uint16_t>();
        (void)aclrtMemset(wild, count, 1, count);
        aclrtPtrAttributes attributes{};
        (void)aclrtPointerGetAttributes(wild, &attributes);
        break;
      }
      case 7:
        call_something(input, probe);
        break;
      default:
        (void)aclGetRecentErrMsg();
        break;
    }
  }
  for (const auto& [block, bytes] : live) require(aclrtFree(block) == ACL_SUCCESS);
  require(free_bytes() == before);
  require(aclrtResetDevice(0) == ACL_SUCCESS);
  return 0;
}
