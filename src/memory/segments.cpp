#include "memory/segments.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/words.h"
#include "memory/history.h"
#include "memory/memory.h"

namespace belay {
namespace {

// What may be cut, from the base on.
struct Carved {
  std::uintptr_t end;
  CarvingRule rule;
  const char* number;  // of that rule
};

std::optional<Carved> carved_at(const Memory& memory, std::uintptr_t base) {
  constexpr CarvingRule kOnHost{1, 0, 1};  // the rule is about memory that devices read
  if (memory.is_device_address(base)) {
    std::optional<Block> block = memory.find(base);
    if (!block) return std::nullopt;
    const bool media = block->origin == Origin::MediaV1 || block->origin == Origin::MediaV2;
    Carved carved{block->start + block->asked,
                  {32, memory.settings().product->padding, media ? std::size_t{128} : std::size_t{64}},
                  media ? "M-46" : "M-45"};
    while (block && block->mapped && carved.end == block->start + block->footprint &&
           memory.is_device_address(carved.end)) {
      block = memory.find(carved.end);
      if (block && block->mapped) carved.end = block->start + block->asked;
    }
    return carved;
  }
  if (const std::optional<ManagedMemory::Range> range = memory.managed().find(base))
    return Carved{range->start + range->asked, kOnHost, "M-45"};
  if (const std::optional<HostFacts> block = memory.host().block_around(base))
    return Carved{block->start + block->asked, kOnHost, "M-45"};
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> CarvingRule::taken_by(std::size_t bytes) const {
  const Size rounded = round_up(bytes, round);
  if (!rounded || *rounded > SIZE_MAX - extra) return std::nullopt;
  return *rounded + extra;
}

std::optional<BadSegment> find_bad_segment(std::span<const PlannedSegment> segments, std::uintptr_t base,
                                           std::size_t room, const CarvingRule& rule) {
  using Why = BadSegment::Why;
  std::vector<std::size_t> order(segments.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t number) { return segments[number].offset; });
  std::optional<BadSegment> first;
  const auto bad = [&](const BadSegment& one) {
    if (!first || one.number < first->number) first = one;
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const PlannedSegment& segment = segments[order[i]];
    const std::optional<std::size_t> taken = rule.taken_by(segment.bytes);
    if (!taken || segment.offset > room || *taken > room - segment.offset) {
      bad({Why::BeyondEnd, order[i], 0, taken.value_or(0)});
    } else if ((base + segment.offset) % rule.unit != 0) {
      bad({Why::Misaligned, order[i], 0, *taken});
    } else if (i + 1 < order.size() && segments[order[i + 1]].offset - segment.offset < *taken) {
      bad({Why::TooClose, order[i], order[i + 1], *taken});
    }
  }
  return first;
}

Status check_segments(const Memory& memory, std::uintptr_t base, std::span<const PlannedSegment> segments) {
  const std::optional<Carved> carved = carved_at(memory, base);
  if (!carved) {
    Refusal refusal = rejected("M-47", "base", hex(base), "no block that is alive is there",
                               "pass an address in a block of aclrtMalloc, or of another such function");
    return memory.asked_after_free(std::move(refusal), base);
  }
  const CarvingRule& rule = carved->rule;
  const std::size_t room = carved->end - std::min(base, carved->end);  // none in the padding of a block
  const std::optional<BadSegment> found = find_bad_segment(segments, base, room, rule);
  if (!found) return done();
  const PlannedSegment& segment = segments[found->number];
  const std::string which = fmt::format("segment {}, {} at offset {}", found->number,
                                        counted(segment.bytes, "byte"), segment.offset);
  const std::string takes = rule.extra == 0 && rule.round == 1
                                ? fmt::format("takes {}", found->taken)
                                : fmt::format("takes {} with rounding to {}{}", found->taken, rule.round,
                                              rule.extra == 0 ? "" : fmt::format(" and {} more", rule.extra));
  std::string what, cure;
  switch (found->why) {
    case BadSegment::Why::BeyondEnd:
      what = found->taken == 0 ? fmt::format("{}: such a size cannot be", which)
                               : fmt::format("{}, {}, and {} are there from {} on", which, takes,
                                             counted(room, "byte"), hex(base));
      cure = "allocate what all segments take, with the rounding and the extra bytes of the last";
      break;
    case BadSegment::Why::Misaligned:
      what = fmt::format("{}, starts at {}, which is not a multiple of {}", which, hex(base + segment.offset),
                         rule.unit);
      cure = fmt::format("start each segment at a multiple of {}", rule.unit);
      break;
    case BadSegment::Why::TooClose: {
      const PlannedSegment& next = segments[found->next];
      what = fmt::format("{}, {}, and segment {} starts {} after it, at offset {}", which, takes, found->next,
                         counted(next.offset - segment.offset, "byte"), next.offset);
      cure =
          fmt::format("go on by {} bytes from the start of this segment", *round_up(found->taken, rule.unit));
      break;
    }
  }
  return as_misuse(refuse({ACL_ERROR_RT_PARAM_INVALID, carved->number, "EE1011", what, "", cure}),
                   Misuse::SegmentsTooClose, history_at(memory, base));
}

}  // namespace belay
