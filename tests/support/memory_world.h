// The memory of a process without the runtime around it, alone or on a machine with others.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fastpath/fast_path.h"
#include "machine/machine.h"
#include "memory/device_figures.h"
#include "memory/memory.h"
#include "memory/transfer.h"
#include "product/product.h"

namespace belay_test {

// As aclrtFree begins; 42 where it would go on by the slow way.
inline aclError free_fast(std::uintptr_t start) {
  using namespace belay::fastpath;
  const auto slow = [] { return 42; };
  return free_ordinary<Noted::Nothing>(
      reinterpret_cast<void*>(start), {},
      [&](belay::ThreadCache& cache, const FoundBlock& found) {
        return free_any<Noted::Nothing>(cache, found, {}, slow);
      },
      slow, slow);
}

using BytesRead = std::vector<unsigned char>;

class MemoryWorld {
 public:
  static constexpr std::size_t kTotal = std::size_t{4} << 30U;
  // `directory`: where its machine is; empty: it is alone.
  explicit MemoryWorld(const std::string& directory = {}, std::size_t total = kTotal,
                       std::uint32_t devices = 1) {
    belay::machine::Wish wish;
    wish.name = directory.empty() ? belay::machine::kPrivateName : "test";
    wish.directory = directory;
    wish.devices = devices;
    wish.limits = belay::in_pages({.total = total, .normal = {}, .huge = {}, .huge1g = {}, .p2p = {}});
    machine_ = std::move(*belay::machine::Machine::join(wish));
    belay::MemorySettings settings;
    settings.product = &belay::products()[0];
    for (std::uint32_t device = 0; device < devices; ++device) settings.visible.push_back(device);
    settings.backing.pages = belay::Pages::Small;
    memory_ = std::make_unique<belay::Memory>(settings, *machine_);
  }
  MemoryWorld(const MemoryWorld&) = delete;
  MemoryWorld& operator=(const MemoryWorld&) = delete;
  ~MemoryWorld() { memory_->close(); }

  belay::Memory& memory() { return *memory_; }
  belay::machine::Machine& machine() { return *machine_; }
  std::size_t used() {
    const belay::Amounts pool = memory_->device(0).pool();
    return pool.total - pool.free;
  }

  belay::ExtentPtr extent(std::size_t bytes, belay::Page page = belay::Page::Huge2M) {
    return memory_->physical().allocate(0, page, bytes, false, belay::kModuleApp);
  }
  // Addresses that lead to all of it.
  std::uintptr_t mapped(const belay::ExtentPtr& extent) {
    const std::uintptr_t start = memory_->mappings().reserve(extent->bytes, 0);
    EXPECT_NE(start, 0U);
    EXPECT_TRUE(memory_->mappings().map(start, extent->bytes, extent, 0, true));
    return start;
  }
  // A plain block in normal or huge pages; 0 where it is refused.
  std::uintptr_t block(std::size_t bytes, std::uintptr_t wished = 0, std::uint32_t device = 0,
                       std::uint32_t policy = ACL_MEM_MALLOC_HUGE_FIRST) {
    const belay::PlanResult plan =
        belay::plan(bytes, policy, belay::Api::MallocAlign32, belay::products()[0]);
    EXPECT_TRUE(plan);
    const belay::Result<void*> got =
        memory_->allocate(device, *plan, belay::kModuleApp, belay::Origin::Malloc, wished);
    return got ? reinterpret_cast<std::uintptr_t>(*got) : 0;
  }
  bool free(std::uintptr_t start) {
    return static_cast<bool>(memory_->free_device(reinterpret_cast<void*>(start)));
  }

  bool write(std::uintptr_t to, const BytesRead& bytes) {
    return static_cast<bool>(
        belay::Transfer(*memory_, 0).copy(reinterpret_cast<void*>(to), bytes.data(), bytes.size()));
  }
  BytesRead read(std::uintptr_t from, std::size_t bytes) {
    BytesRead got(bytes);
    EXPECT_TRUE(belay::Transfer(*memory_, 0).copy(got.data(), reinterpret_cast<const void*>(from), bytes));
    return got;
  }

 private:
  std::unique_ptr<belay::machine::Machine> machine_;
  std::unique_ptr<belay::Memory> memory_;
};

}  // namespace belay_test
