#include "fastpath/fast_path.h"

#include <new>

#include "observe/observe.h"

namespace belay::fastpath {

aclError begin_with_care(ThreadCache& cache, std::uint64_t pages, Range range, std::uint64_t word) {
  Memory& memory = cache.memory();
  if ((range.word & Range::kKept) != 0) cache.use_contents(pages * 4_KiB);
  if ((range.word & Range::kWritten) != 0)
    memory.backing().on_reuse(memory.plain(range.start), pages * 4_KiB);
  if (FastPathState::now() == cache.device_epoch()) return ACL_SUCCESS;
  const Block block = memory.map().block_from(range.start, word);
  memory.device(block.device).note_peak(quota_kind(block.page, block.p2p), cache.shard());
  try {
    observe::publish({observe::What::DeviceAllocated, block.device, block.start, 0, block.asked,
                      block.footprint, page_bytes(block.page)});
  } catch (const std::bad_alloc&) {
    return ACL_SUCCESS;  // the listener has no memory to write it down; the block is there
  }
  return ACL_SUCCESS;
}

aclError end_with_care(ThreadCache& cache, Bin& bin, Range range, std::uint64_t word) {
  Memory& memory = cache.memory();
  if (FastPathState::epoch(FastPathState::now()) != cache.epoch() ||
      !cache.keep_contents(bin.pages * 4_KiB)) {
    memory.end_withdrawn(range.start, word);
    return ACL_SUCCESS;
  }
  machine::give_credit(*bin.account, bin.step, true);
  range.word |= Range::kKept;
  *bin.top++ = range;
  memory.backing().keep();
  return ACL_SUCCESS;
}

}  // namespace belay::fastpath
