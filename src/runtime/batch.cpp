#include "runtime/batch.h"

#include <algorithm>

#include "base/read_once.h"
#include "runtime/process.h"

namespace belay {

Result<bool> BatchLists::take_arrays(const Process& process) {
  if (arguments_.sizes == nullptr) return null_pointer("M-277", "sizes");
  if (arguments_.count == 0) return bad_value("M-278", "numBatches", 0, "at least 1");
  if (std::all_of(arguments_.sizes, arguments_.sizes + arguments_.count,
                  [](std::size_t size) { return size == 0; }))
    return false;  // M-279
  const struct {
    const void* pointer;
    const char* name;
  } arrays[] = {{arguments_.to, "dsts"},
                {arguments_.rooms, "destMaxs"},
                {arguments_.from, "srcs"},
                {arguments_.attributes, "attrs"},
                {arguments_.attribute_starts, "attrsIndexes"}};
  for (const auto& array : arrays) {
    if (array.pointer == nullptr) return null_pointer("M-280", array.name);
  }
  sizes_.reserve(std::min(arguments_.count, kMostItemsAtOnce));
  for (std::size_t i = 0; i < arguments_.count; ++i) {
    const std::size_t room = read_once(arguments_.rooms[i]);
    const std::size_t size = read_once(arguments_.sizes[i]);
    if (room < size) return bad_value("M-281", "destMaxs", room, "at least the size of its item");
    sizes_.push_back(size);
    rooms_.push_back(room);
  }
  // No further than items go: a count beyond them is refused below, and reading that far could leave the
  // array.
  for (std::size_t k = 0; k < std::min(arguments_.attribute_count, arguments_.count); ++k) {
    const aclrtMemcpyBatchAttr& taken = attributes_.emplace_back(arguments_.attributes[k]);
    if (std::ranges::any_of(taken.rsv, [](std::uint8_t byte) { return byte != 0; }))
      return bad_value("M-282", "attrs", k, "attributes whose reserved bytes are 0");
  }
  if (Status here = needs_feature(process, Feature::BatchCopy, "M-283"); !here) return here.take_refusal();
  return true;
}

Status BatchLists::take_starts(std::size_t most_items) {
  const std::size_t count = arguments_.count;
  const std::size_t attribute_count = arguments_.attribute_count;
  if (attribute_count == 0)
    return rejected("M-285", "numAttrs", 0, "there is no attribute", "pass at least one");
  if (attribute_count > count)
    return rejected("M-286", "numAttrs", attribute_count, fmt::format("there are only {} items", count),
                    "pass at most one attribute for each item");
  if (count > most_items) {
    return rejected("M-287", "numBatches", count, fmt::format("more than {} items", most_items),
                    "copy in several calls");
  }
  for (std::size_t k = 0; k < attribute_count; ++k) {
    const std::size_t start = read_once(arguments_.attribute_starts[k]);
    if (k == 0 && start != 0)
      return rejected("M-288", "attrsIndexes", start, "the first entry must be 0", "begin with 0");
    const bool rises = k == 0 || start > starts_.back();
    if (!rises || start >= count) {
      return rejected("M-289", "attrsIndexes", start,
                      fmt::format("entry {} must rise and stay below {}", k, count),
                      "list the first item of each attribute, in order");
    }
    starts_.push_back(start);
  }
  return done();
}

std::vector<BatchItem> BatchLists::take_items() const {
  std::vector<BatchItem> items;
  items.reserve(sizes_.size());
  std::size_t attribute = 0;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    while (attribute + 1 < starts_.size() && starts_[attribute + 1] <= i) ++attribute;
    items.push_back({arguments_.to[i], arguments_.from[i], sizes_[i], &attributes_[attribute], rooms_[i]});
  }
  return items;
}

}  // namespace belay
