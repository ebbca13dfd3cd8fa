#include "cli/replaying.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <stdexcept>
#include <unordered_map>

#include "base/words.h"
#include "cli/trace_frames.h"
#include "memory/block_facts.h"
#include "memory/memory.h"

namespace belay::cli {
namespace {

using observe::What;
using recording::Record;

MemorySettings settings_of(const Stage& stage) {
  MemorySettings settings;
  settings.product = stage.product.row;
  settings.form = stage.form;
  settings.limits.total = stage.device_bytes;
  settings.backing.mode = Backing::None;
  for (std::uint32_t i = 0; i < stage.devices; ++i) settings.visible.push_back(i);
  return settings;
}

std::unique_ptr<machine::Machine> machine_for(const Stage& stage, const MemorySettings& settings) {
  machine::Wish wish;
  wish.name = machine::kPrivateName;
  wish.product = stage.product.row->key;
  wish.soc = stage.product.soc;
  wish.devices = stage.devices;
  wish.limits = in_pages(settings.limits);
  Result<std::unique_ptr<machine::Machine>> joined = machine::Machine::join(wish);
  if (!joined) throw std::runtime_error{joined.take_refusal()->what};
  return std::move(*joined);
}

Api api_of(std::string_view function) {
  for (const Api api : {Api::MallocAlign32, Api::MallocCached, Api::MallocWithCfg,
                        Api::MallocForTaskScheduler, Api::MediaV1Malloc, Api::MediaV2Malloc}) {
    if (function == function_name(api)) return api;
  }
  return Api::Malloc;
}

// As it was asked for, as far as that makes a difference.
std::uint32_t policy_of(const Record& record, const std::optional<std::uint32_t>& instead) {
  if (instead) return *instead;
  using Policy = observe::Event::Policy;
  const bool p2p = (record.flags & observe::Event::kP2p) != 0;
  std::uint32_t policy = 0;
  switch (record.policy()) {
    case Policy::HugeFirst:
      policy = p2p ? ACL_MEM_MALLOC_HUGE_FIRST_P2P : ACL_MEM_MALLOC_HUGE_FIRST;
      break;
    case Policy::HugeOnly:
      policy = p2p ? ACL_MEM_MALLOC_HUGE_ONLY_P2P : ACL_MEM_MALLOC_HUGE_ONLY;
      break;
    case Policy::NormalOnly:
      policy = p2p ? ACL_MEM_MALLOC_NORMAL_ONLY_P2P : ACL_MEM_MALLOC_NORMAL_ONLY;
      break;
    case Policy::Huge1GOnly:
      policy = p2p ? ACL_MEM_MALLOC_HUGE1G_ONLY_P2P : ACL_MEM_MALLOC_HUGE1G_ONLY;
      break;
  }
  return policy |
         ((record.flags & observe::Event::kReadOnly) != 0 ? std::uint32_t{ACL_MEM_ACCESS_USER_SPACE_READONLY}
                                                          : 0U);
}

class Player {
 public:
  Player(recording::Trace& trace, const Stage& stage)
      : trace_{trace},
        stage_{stage},
        settings_{settings_of(stage)},
        machine_{machine_for(stage, settings_)},
        memory_{std::make_unique<Memory>(settings_, *machine_)},
        alive_(trace.processes().size()) {
    result_.devices.resize(stage.devices);
  }
  ~Player() { memory_->close(); }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  void play(const Record& record) {
    if (!record.is_block() || record.is_host_memory()) return;
    if (record.what == What::Freed)
      give_back(record);
    else
      ask(record);
  }
  Replayed take() { return std::move(result_); }

 private:
  struct Held {
    std::uint32_t device;
    void* block = nullptr;  // null: physical memory
    std::size_t charged = 0, asked = 0, kind = 0;
  };

  void ask(const Record& record) {
    ++result_.requests;
    const recording::ProcessFacts& facts = trace_.processes()[record.process];
    // Devices of the machine: several processes share them.
    const std::uint32_t device =
        record.device < facts.visible.size() ? facts.visible[record.device] : record.device;
    if (device >= stage_.devices)
      return misfit(record, device, fmt::format("there are only {} devices", stage_.devices));
    std::string why;
    const std::optional<Held> held = record.object == Object::Physical ? take_physical(record, device, why)
                                                                       : allocate(record, device, why);
    if (!held) return misfit(record, device, why);
    if (!alive_[record.process].try_emplace(record.serial, *held).second) return;
    ReplayedDevice& on = result_.devices[device];
    on.used += held->charged;
    on.asked += held->asked;
    if (on.used <= on.peak) return;
    on.peak = on.used;
    on.asked_at_peak = on.asked;
    on.peak_ns = record.time_ns;
  }

  std::optional<Held> allocate(const Record& record, std::uint32_t device, std::string& why) {
    const Api api = api_of(trace_.text(record.process, record.function));
    const PlanResult planned = plan(record.bytes, takes_policy(api) ? policy_of(record, stage_.policy) : 0,
                                    api, *stage_.product.row, stage_.form);
    if (!planned) {
      why = fmt::format("{} (rule {})", planned.refusal.text, planned.refusal.rule);
      return std::nullopt;
    }
    Result<void*> block =
        memory_->allocate(device, *planned, kModuleApp, is_media(api) ? Origin::MediaV1 : Origin::Malloc);
    if (!block) {
      const Refusal refusal = block.take_refusal();
      why = fmt::format("{} (rule {})", refusal->what, refusal->rule);
      return std::nullopt;
    }
    const std::optional<Block> made = memory_->find(reinterpret_cast<std::uintptr_t>(*block));
    return Held{device, *block, made ? made->footprint : planned->footprint, record.bytes, 0};
  }

  // In whole pages; those that the product does not have are taken as 2 MB.
  std::optional<Held> take_physical(const Record& record, std::uint32_t device, std::string& why) {
    const bool giant = record.page_shift >= 30 && has(stage_.product.row->product, Feature::PhysicalHuge1G);
    const Page page = giant ? Page::Huge1G : Page::Huge2M;
    const std::size_t bytes = round_up(record.bytes, page_bytes(page)).value_or(SIZE_MAX);
    const std::size_t kind = quota_kind(page, (record.flags & observe::Event::kP2p) != 0);
    if (!has(stage_.product.row->product, Feature::VirtualMemory)) {
      why = "the product has no virtual memory";
      return std::nullopt;
    }
    if (!memory_->device(device).quota().take(kind, bytes / 4_KiB)) {
      why = fmt::format("{} are free of {}", bytes_and_amount(memory_->device(device).pool().free),
                        bytes_and_amount(memory_->device(device).pool().total));
      return std::nullopt;
    }
    return Held{device, nullptr, bytes, record.bytes, kind};
  }

  void give_back(const Record& record) {
    const auto found = alive_[record.process].find(record.serial);
    if (found == alive_[record.process].end()) return;  // it did not fit, or is older than the trace
    const Held held = found->second;
    alive_[record.process].erase(found);
    if (held.block == nullptr)
      memory_->device(held.device).quota().give(held.kind, held.charged / 4_KiB);
    else
      (void)memory_->free_device(held.block);
    result_.devices[held.device].used -= held.charged;
    result_.devices[held.device].asked -= held.asked;
  }

  void misfit(const Record& record, std::uint32_t device, std::string why) {
    if (++result_.misfits != 1) return;
    result_.first = Misfit{result_.requests,
                           record.time_ns,
                           record.bytes,
                           record.process,
                           device,
                           harmless(trace_.text(record.process, record.function)),
                           site_words(trace_, record.process, record.site),
                           harmless(why)};
  }

  recording::Trace& trace_;
  const Stage& stage_;
  const MemorySettings settings_;
  std::unique_ptr<machine::Machine> machine_;
  std::unique_ptr<Memory> memory_;
  std::vector<std::unordered_map<std::uint64_t, Held>> alive_;
  Replayed result_;
};

}  // namespace

Replayed replay(recording::Trace& trace, const Stage& stage) {
  Player player{trace, stage};
  for (recording::Records records = trace.records(); const Record* each = records.next();) player.play(*each);
  return player.take();
}

}  // namespace belay::cli
