#include "fastpath/fast_path.h"

// The address that a call returns to is that of the program here, too: these are called last.
namespace belay::fastpath {
namespace {

void take_contents(ThreadCache& cache, std::uint64_t pages, Range range) {
  Memory& memory = cache.memory();
  if ((range.word & Range::kKept) != 0) cache.use_contents(pages * 4_KiB);
  if ((range.word & Range::kWritten) != 0)
    memory.backing().on_reuse(memory.plain(range.start), pages * 4_KiB);
}

void note_peak(ThreadCache& cache, std::uint32_t device, std::uint64_t word) {
  const BlockWord block = BlockWord::unpack(word);
  cache.memory().device(device).note_peak(quota_kind(block.page, block.p2p), cache.shard());
}

}  // namespace

aclError note_change(ThreadCache& cache, std::uintptr_t start, std::uint64_t word) {
  const std::uint32_t device = cache.heap_at(start).device;
  note_peak(cache, device, word);
  if (!observe::blocks_are_plain()) cache.memory().device(device).tell_begun(start, true);
  return ACL_SUCCESS;
}

aclError begin_with_care(ThreadCache& cache, std::uint64_t pages, Range range, std::uint64_t word) {
  take_contents(cache, pages, range);
  if (FastPathState::now() == cache.device_epoch()) return ACL_SUCCESS;
  const std::uint32_t device = cache.heap_at(range.start).device;
  note_peak(cache, device, word);
  if (observe::wanted(observe::kBlocks)) cache.memory().device(device).tell_begun(range.start, false);
  return ACL_SUCCESS;
}

aclError allocate_with_care(ThreadCache& cache, const Bin& bin, Range range, std::uint64_t word,
                            observe::Operation call, observe::Event::Policy policy) {
  take_contents(cache, bin.pages, range);
  const std::uint32_t device = BinKey::device(bin.key);
  observe::enter_call(observe::function_of(call), __builtin_return_address(0), false);
  cache.memory().device(device).begin_block(range.start, word, kModuleApp,
                                            cache.memory().map().facts_of(range.start), policy);
  note_peak(cache, device, word);
  return ACL_SUCCESS;
}

template <Noted noted>
aclError end_with_care(ThreadCache& cache, Bin& bin, Range range, std::uint64_t word) {
  Memory& memory = cache.memory();
  if (FastPathState::epoch(FastPathState::now()) != state_for<noted>(cache.epoch()) ||
      !cache.keep_contents(bin.pages * 4_KiB)) {
    observe::enter_call("aclrtFree", __builtin_return_address(0), false);
    memory.end_withdrawn(range.start, word);
    return ACL_SUCCESS;
  }
  if constexpr (noted != Noted::Nothing) {
    observe::enter_call("aclrtFree", __builtin_return_address(0), false);
    const Block block = memory.map().block_from(range.start, word);
    memory.device(block.device).tell_freed(block);
  }
  machine::give_credit(*bin.account, bin.step, true);
  range.word |= Range::kKept;
  *bin.top++ = range;
  memory.backing().keep();
  return ACL_SUCCESS;
}
template aclError end_with_care<Noted::Nothing>(ThreadCache&, Bin&, Range, std::uint64_t);
template aclError end_with_care<Noted::Events>(ThreadCache&, Bin&, Range, std::uint64_t);
template aclError end_with_care<Noted::Sites>(ThreadCache&, Bin&, Range, std::uint64_t);
template aclError end_with_care<Noted::Both>(ThreadCache&, Bin&, Range, std::uint64_t);

}  // namespace belay::fastpath
