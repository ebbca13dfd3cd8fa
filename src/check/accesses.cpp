#include "check/accesses.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "acl/acl_rt.h"
#include "check/bounds.h"
#include "check/direction.h"
#include "check/findings.h"
#include "memory/history.h"
#include "memory/reader_guard.h"
#include "memory/shared_words.h"
#include "observe/observe.h"

namespace belay::check {
namespace {

using observe::Operation;
using observe::Touch;
using observe::What;

std::atomic<Memory*> g_accessed_memory{nullptr};

// Work is done under the lock of the scheduler, where nothing is written and no symbol is looked up: whoever
// makes a call next tells it.
struct Late {
  std::mutex mutex;
  std::vector<Finding> findings;
  std::atomic<bool> any{false};
};
Late& late() {
  static auto* one = new Late;  // used until the very end
  return *one;
}

bool finds_addresses_late(Operation operation) {
  return operation == Operation::CopyByDescriptor || operation == Operation::CopyByOffset;
}
// Of these nobody asks whether there is anything at their addresses (V-361).
bool is_never_refused(Operation operation) { return operation == Operation::CacheOperation; }
bool is_judged(Operation operation) {
  return observe::is_copy(operation) || operation == Operation::Fill || operation == Operation::WriteValue ||
         operation == Operation::WaitValue || is_never_refused(operation);
}

class Judge {
 public:
  Judge(Memory& memory, const observe::Told& told, std::vector<Finding>& found)
      : memory_{memory}, told_{told}, found_{found}, hints_{is_checked(MisuseClass::Hints)} {}

  void judge() {
    const bool bounds = is_checked(MisuseClass::Bounds);
    const bool items = told_.event.operation == Operation::CopyBatch;
    for (std::size_t i = 0; i < told_.touches.size(); ++i) {
      const Touch& touch = told_.touches[i];
      if (is_plainly_right(touch) || is_of_the_program(touch)) [[likely]]
        continue;
      access_ = {told_.event.function_name(), told_.event.site, touch, told_.event.what == What::Submitted,
                 items ? static_cast<std::int64_t>(i / 2) : -1};
      const std::optional<Owned> owned = owned_by(memory_, touch);
      // Nobody else asks whether work that is never refused is on the right side.
      const bool on_host = owned && owned->object == Object::HostBlock;
      if (!owned || (on_host && is_never_refused(told_.event.operation))) {
        judge_nothing();
      } else if (end_of(touch) > owned->end) [[unlikely]] {
        if (bounds) judge_bounds(*owned);
      } else if (hints_) {
        judge_hints(*owned);
      }
    }
    if (observe::is_copy(told_.event.operation) && !items && told_.touches.size() == 2) judge_pair();
  }

 private:
  bool is_plainly_right(const Touch& touch) const {
    return touch.left != 0 && (touch.on_device || !is_never_refused(told_.event.operation)) &&
           end_of(touch) - touch.address <= touch.left && touch.room <= touch.left;
  }
  // Host memory that belay does not know.
  bool is_of_the_program(const Touch& touch) const {
    return touch.extent == 0 && !touch.on_device && !is_never_refused(told_.event.operation) &&
           !memory_.is_device_address(touch.address);
  }

  // A call that worked, although there is nothing any more: it went meanwhile.
  void judge_nothing() {
    const std::uintptr_t address = access_.touch.address;
    const bool device = memory_.is_device_address(address);
    if (is_never_refused(told_.event.operation)) {
      if (told_.event.what == What::Submitted) judge_unchecked(device);
      return;
    }
    if (told_.event.what == What::Submitted || !is_checked(MisuseClass::Lifetime)) return;
    if (device) found_.push_back(freed_meanwhile(access_, history_at(memory_, address)));
  }

  void judge_unchecked(bool device) {
    const std::uintptr_t address = access_.touch.address;
    const bool gone = device || (memory_.managed().covers(address) && !memory_.managed().find(address));
    if (gone && is_checked(MisuseClass::Lifetime)) {
      std::vector<Happened> before = history_at(memory_, address);
      found_.push_back(used_without_question(access_, std::move(before)));
    } else if (!gone && is_checked(MisuseClass::Direction) && !host_is_device(memory_.settings().form)) {
      found_.push_back(host_memory_for_device(access_, history_at(memory_, address)));
    }
  }

  void judge_bounds(const Owned& owned) {
    const OutOfBounds out = out_of_bounds(memory_, access_.touch, owned);
    std::vector<Happened> before = history_at(memory_, owned.start);
    if (out.neighbour) {
      for (Happened& each : history_at(memory_, out.neighbour->start)) {
        each.what.replace(0, each.what.find(" was "),
                          out.begins_outside ? "the block behind it" : "the other");
        before.push_back(std::move(each));
      }
    }
    found_.push_back(left_its_block(access_, owned, out, std::move(before)));
  }

  void judge_hints(const Owned& owned) {
    const Touch& touch = access_.touch;
    if (touch.room > owned.end - touch.address) [[unlikely]]
      judge_room(owned);
    if (owned.read_only && !touch.writes) [[unlikely]]
      found_.push_back(read_from_read_only(access_, owned));
    if (owned.mapped && owned.device != told_.event.device) [[unlikely]]
      judge_peer(owned);
  }

  // What was said of the destination may go on in mappings that the access itself does not come to.
  void judge_room(const Owned& owned) {
    const Touch& touch = access_.touch;
    const std::uintptr_t until =
        touch.address + std::min<std::uint64_t>(touch.room, UINTPTR_MAX - touch.address);
    const std::optional<Owned> all = owned.mapped ? owned_at(memory_, touch.address, until) : owned;
    if (all && touch.room > all->end - touch.address)
      found_.push_back(too_much_room(access_, *all, history_at(memory_, owned.start)));
  }

  // A copy between the two devices is refused without it (M-245).
  void judge_peer(const Owned& owned) {
    const std::uint32_t actor = told_.event.device;
    for (const Touch& each : told_.touches) {
      if (each.on_device && each.device != owned.device) return;
    }
    if (owned.device == kOnHost || memory_.peers().enabled(actor, owned.device) ||
        !has(memory_.settings().product->product, Feature::PeerCopyNeedsEnable))
      return;
    found_.push_back(no_peer_access(access_, owned, actor));
  }

  // Here memory of a key counts as on the device that it was imported on; its maker knows where it is.
  void judge_imported(const Touch& touch) {
    if (!touch.on_device || !memory_.is_device_address(touch.address) || memory_.is_plain(touch.address))
      return;
    const ReaderGuard inside;
    const Mapping* mapping = memory_.mappings().at(touch.address);
    if (mapping == nullptr || mapping->lease == nullptr) return;
    const std::uint32_t device = SharedWords::unpack(mapping->lease->words, mapping->lease->kind).device;
    if (memory_.settings().visible[mapping->extent->device] == device) return;
    access_.touch = touch;
    found_.push_back(shared_by_another_device(access_, device, mapping->lease->process));
  }

  void judge_pair() {
    const Touch &to = told_.touches[0], &from = told_.touches[1];
    const std::uint32_t kind = told_.details->flag;
    access_ = {told_.event.function_name(), told_.event.site, from, told_.event.what == What::Submitted};
    if (is_checked(MisuseClass::Direction)) {
      if (const std::optional<WrongDirection> wrong = wrong_direction(memory_, kind, to, from))
        found_.push_back(stated_wrongly(access_, *wrong, from, to,
                                        history_at(memory_, wrong->to_wrong ? to.address : from.address)));
    }
    if (!hints_) return;
    const bool queued = told_.event.what != What::Copied;
    if (!queued || !to.on_device || !from.on_device || kind == ACL_MEMCPY_DEFAULT + 1) {
      judge_imported(to);
      judge_imported(from);
    }
    if (told_.event.operation == Operation::CopyRows && !queued && kind == ACL_MEMCPY_DEFAULT + 1)
      found_.push_back(default_kind_of_rows(access_));
    if (!to.on_device || !from.on_device) return;
    if (to.rows == 1 && overlap(to.address, to.bytes, from.address, from.bytes))
      found_.push_back(ends_overlap(access_, to, from));
    if (!queued && to.device != from.device) {
      const std::optional<Block> target = memory_.find(to.address), source = memory_.find(from.address);
      if ((target && target->mapped) || (source && source->mapped))
        found_.push_back(mapped_between_devices(access_, to, from));
    }
  }

  Memory& memory_;
  const observe::Told& told_;
  std::vector<Finding>& found_;
  const bool hints_;
  JudgedAccess access_;
};

// Most copies are between the inside of one block and memory of the program, as their kind says. Nothing more
// is to be asked of those.
bool is_plain_copy(const Memory& memory, const observe::Told& told) {
  if (told.event.operation != Operation::Copy || told.touches.size() != 2) return false;
  const Touch &to = told.touches[0], &from = told.touches[1];
  return observe::is_plain_copy(to, from, told.details->flag) &&
         !memory.is_device_address(to.on_device ? from.address : to.address);
}

void hear_access(const observe::Batch& events) {
  Memory* memory = g_accessed_memory.load(std::memory_order_acquire);
  if (memory == nullptr) return;
  events.each([&](const observe::Told& told) {
    const bool done = told.event.what == What::Done;
    if (!done) tell_late_findings();
    if (is_plain_copy(*memory, told)) return;
    if (told.touches.empty() || !is_judged(told.event.operation) ||
        (done && !finds_addresses_late(told.event.operation)))
      return;
    std::vector<Finding> found;
    Judge{*memory, told, found}.judge();
    if (found.empty()) [[likely]]
      return;
    if (!done) {
      for (const Finding& each : found) report_finding(each);
      return;
    }
    Late& all = late();
    const std::lock_guard lock{all.mutex};
    for (Finding& each : found) all.findings.push_back(std::move(each));
    all.any.store(true);
  });
}

}  // namespace

void tell_late_findings() {
  Late& all = late();
  if (!all.any.load(std::memory_order_relaxed)) [[likely]]
    return;
  std::vector<Finding> findings;
  {
    const std::lock_guard lock{all.mutex};
    findings.swap(all.findings);
    all.any.store(false);
  }
  for (const Finding& each : findings) report_finding(each);
}

void judge_accesses(Memory& memory, const CheckSettings& settings) {
  if (!settings.wants(MisuseClass::Bounds) && !settings.wants(MisuseClass::Direction) &&
      !settings.wants(MisuseClass::Lifetime) && !settings.wants(MisuseClass::Hints))
    return;
  g_accessed_memory.store(&memory, std::memory_order_release);
  observe::listen(hear_access, {.wanted = observe::bits(What::Copied, What::Filled, What::Submitted,
                                                        What::Done, What::Waited),
                                .at_once = true,
                                .plain_copies = false});
}

void stop_judging_accesses() {
  observe::unlisten(hear_access);
  g_accessed_memory.store(nullptr);
  tell_late_findings();
}

}  // namespace belay::check
