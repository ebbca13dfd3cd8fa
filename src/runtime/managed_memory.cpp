#include "runtime/managed_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/read_once.h"
#include "base/words.h"
#include "platform/pinned.h"
#include "runtime/stream_calls.h"
#include "runtime/telling.h"

namespace belay {
namespace {

// Where the product has none: without a context its own number, then 207000, whatever the other arguments
// (V-278).
Status needs_managed_memory(Process& process, const char* context_rule) {
  if (has(process.product().product, Feature::ManagedMemory)) return done();
  if (context_rule != nullptr && process.current() == nullptr) return no_context(context_rule);
  return needs_feature(process, Feature::ManagedMemory, "V-278");
}

constexpr std::int32_t kMostNodes = 64;  // a bit for each is kept with a page

Result<ManagedPlace> place_of(const Process& process, const aclrtMemManagedLocation& location,
                              const char* rule) {
  using Type = ManagedPlace::Type;
  switch (static_cast<std::uint32_t>(location.type)) {
    case ACL_MEM_LOCATIONTYPE_INVALID:
      return ManagedPlace{};
    case ACL_MEM_LOCATIONTYPE_DEVICE:
      if (process.has_device(location.id)) return ManagedPlace{Type::Device, location.id};
      return rejected(
          rule, "location.id", location.id,
          fmt::format("this process sees {}, numbered from 0", counted(process.device_count(), "device")),
          "pass the number of a device");
    case ACL_MEM_LOCATIONTYPE_HOST:
      return ManagedPlace{Type::Host, 0};
    case ACL_MEM_LOCATIONTYPE_HOST_NUMA:
      if (location.id >= 0 && location.id < std::min(platform::memory_nodes(), kMostNodes))
        return ManagedPlace{Type::Node, location.id};
      return rejected(rule, "location.id", location.id,
                      fmt::format("this machine has {}",
                                  counted(static_cast<std::size_t>(platform::memory_nodes()), "NUMA node")),
                      "pass the number of a node");
    case ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT:
      return ManagedPlace{Type::Node, std::min(platform::node_of_this_thread(), kMostNodes - 1)};
    default:
      return rejected(rule, "location.type", static_cast<std::uint32_t>(location.type),
                      "there is no such location", "pass a member of aclrtMemManagedLocationType");
  }
}

Status check_window(const Process& process, const void* start, std::size_t size, const char* rule) {
  if (process.memory().managed().is_in_window(address_of(start), size)) return done();
  return rejected(rule, "ptr", hex(start), fmt::format("the {} bytes there are not managed memory", size),
                  "pass memory of aclrtMemAllocManaged");
}

}  // namespace

Status allocate_managed(Process& process, void** out, std::uint64_t size, std::uint32_t flag) {
  if (out == nullptr) return null_pointer("V-279", "ptr");
  if (flag != ACL_RT_MEM_ATTACH_GLOBAL) return bad_value("V-280", "flag", flag, "ACL_RT_MEM_ATTACH_GLOBAL");
  if (Status here = needs_managed_memory(process, "V-282"); !here) return here;
  if (size == 0) return rejected("V-281", "size", size, "the size must not be 0", "ask for at least 1 byte");
  if (process.current() == nullptr) return no_context("V-282");
  Result<std::uintptr_t> start = process.memory().managed().allocate(size);
  if (!start) return start.take_refusal();
  *out = reinterpret_cast<void*>(*start);
  return done();
}

Status advise_managed(Process& process, const void* start, std::uint64_t size,
                      aclrtMemManagedAdviseType advice, aclrtMemManagedLocation location) {
  if (start == nullptr) return null_pointer("V-287", "ptr");
  if (size == 0) return bad_value("V-287", "size", size, "at least 1");
  if (Status here = needs_managed_memory(process, "V-290"); !here) return here;
  if (static_cast<std::uint32_t>(advice) > ACL_MEM_ADVISE_UNSET_ACCESSED_BY)
    return rejected("V-288", "advise", static_cast<std::uint32_t>(advice), "there is no such advice",
                    "pass a member of aclrtMemManagedAdviseType");
  ASSIGN_OR_RETURN(const ManagedPlace place, place_of(process, location, "V-289"));
  if (process.current() == nullptr) return no_context("V-290");
  if (Status inside = check_window(process, start, size, "V-291"); !inside) return inside;
  return process.memory().managed().advise(address_of(start), size, advice, place);
}

Status query_managed(Process& process, const ManagedQuestion& question) {
  const auto [attributes, count, start, size, data, sizes] = question;
  if (attributes == nullptr) return null_pointer("V-307", "attributes");
  if (start == nullptr) return null_pointer("V-307", "ptr");
  if (data == nullptr) return null_pointer("V-307", "data");
  if (sizes == nullptr) return null_pointer("V-307", "dataSizes");
  if (size == 0) return bad_value("V-307", "size", size, "at least 1");
  if (Status here = needs_managed_memory(process, nullptr); !here) return here;
  if (count == 0)
    return rejected("V-308", "numAttributes", count, "there is nothing to ask", "pass at least 1");
  struct Wanted {
    aclrtMemManagedRangeAttribute attribute;
    std::size_t count;
    void* to;
    std::vector<std::int32_t> values;
  };
  std::vector<Wanted> all;
  for (std::size_t i = 0; i < count; ++i) {
    const aclrtMemManagedRangeAttribute attribute = read_once(attributes[i]);
    const std::size_t room = read_once(sizes[i]);
    void* to = read_once(data[i]);
    const auto number = static_cast<std::uint32_t>(attribute);
    if (number < ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
        number > ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
      return rejected("V-309", "attribute", number, "there is no such attribute",
                      "pass a member of aclrtMemManagedRangeAttribute");
    const bool list = attribute == ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    if (list ? room == 0 || room % 4 != 0 : room != 4)
      return rejected("V-310", "dataSize", room,
                      list ? "a list has 4 bytes for each entry" : "a value has 4 bytes",
                      "pass the size of the data");
    if (to == nullptr)
      return rejected("V-307", "data", "NULL", fmt::format("there is no room for answer {}", i),
                      "pass an address");
    all.push_back({attribute, room / 4, to, {}});
  }
  if (Status inside = check_window(process, start, size, "V-311"); !inside) return inside;
  constexpr std::size_t kMostPlaces = 160;  // devices, nodes and the host; the rest of a list is empty
  for (Wanted& each : all) {
    ASSIGN_OR_RETURN(each.values, process.memory().managed().query(each.attribute, address_of(start), size,
                                                                   std::min(each.count, kMostPlaces)));
  }
  for (const Wanted& each : all) {
    auto* to = static_cast<std::byte*>(each.to);  // which need not be aligned
    std::memcpy(to, each.values.data(), each.values.size() * 4);
    for (std::size_t i = each.values.size(); i < each.count; ++i)
      std::memcpy(to + i * 4, &ManagedMemory::kNoPlace, 4);
  }
  return done();
}

// --- prefetching ----------------------------------------------------------------------------------

namespace {

struct Move {
  std::uintptr_t start;
  std::size_t bytes;
  ManagedPlace place;
};

// One after the other, as an ordinary task of the stream. An address that is wrong is nobody's error (V-325).
class PrefetchTask final : public schedule::Task {
 public:
  PrefetchTask(Memory& memory, std::vector<Move> moves) : memory_{memory}, moves_{std::move(moves)} {}

  schedule::Description describe() override {
    schedule::Description all{observe::Operation::Prefetch, 0, {}, {}};
    for (const Move& each : moves_) {
      all.bytes += each.bytes;
      all.touches.push_back(touch(memory_, memory_.locate(each.start), false, {each.bytes}));
    }
    return all;
  }
  schedule::RunResult run(std::size_t) override {
    for (const Move& each : moves_) memory_.managed().prefetch(each.start, each.bytes, each.place);
    return {};
  }

 private:
  Memory& memory_;
  const std::vector<Move> moves_;
};

// The stream first, then the places (V-323).
Result<StreamRef> stream_for_prefetch(Process& process, aclrtStream handle) {
  ASSIGN_OR_RETURN(StreamRef known, known_stream(process, handle, "V-323"));
  if (process.current() == nullptr) {
    return refuse({ACL_ERROR_RT_INTERNAL_ERROR, "V-323", "EE1018",
                   "the calling thread has no current context", "",
                   "call aclrtSetDevice or aclrtSetCurrentContext on this thread first"});
  }
  return known;
}

Status needs_prefetch(Process& process) {
  if (has(process.product().product, Feature::ManagedMemory)) return done();
  if (process.current() == nullptr) return stream_for_prefetch(process, nullptr).take_refusal();
  return needs_feature(process, Feature::ManagedMemory, "V-278");
}

Result<ManagedPlace> place_to_prefetch_to(const Process& process, const aclrtMemManagedLocation& location,
                                          const char* rule) {
  ASSIGN_OR_RETURN(const ManagedPlace place, place_of(process, location, rule));
  if (place.type != ManagedPlace::Type::None) return place;
  return rejected(rule, "location.type", static_cast<int>(location.type), "it is no place",
                  "pass ACL_MEM_LOCATIONTYPE_DEVICE, _HOST, _HOST_NUMA or _HOST_NUMA_CURRENT");
}

Status submit_moves(Process& process, const StreamRef& known, std::vector<Move> moves) {
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, known, "V-323", "V-323"));
  auto task = std::make_unique<PrefetchTask>(process.memory(), moves);
  if (Status queued = submit(process, *stream, std::move(task)); !queued) return queued;
  for (const Move& each : moves) {
    if (process.memory().managed().note_prefetch(each.start, each.bytes, each.place)) continue;
    observe::note("V-325", [&] {
      return fmt::format("a prefetch of {} bytes at {} does nothing: not all of them are managed memory",
                         each.bytes, hex(each.start));
    });
  }
  return done();
}

}  // namespace

Status prefetch_managed(Process& process, const void* start, std::size_t size,
                        aclrtMemManagedLocation location, std::uint32_t flags, aclrtStream handle) {
  if (start == nullptr) return null_pointer("V-321", "ptr");
  if (size == 0) return bad_value("V-321", "size", size, "at least 1");
  if (flags != 0) return bad_value("V-321", "flags", flags, "0");
  if (Status here = needs_prefetch(process); !here) return here;
  ASSIGN_OR_RETURN(const StreamRef known, stream_for_prefetch(process, handle));
  ASSIGN_OR_RETURN(const ManagedPlace place, place_to_prefetch_to(process, location, "V-322"));
  return submit_moves(process, known, {{address_of(start), size, place}});
}

Status prefetch_managed_batch(Process& process, const PrefetchBatch& batch, std::uint64_t flags,
                              aclrtStream handle) {
  const auto [starts, sizes, count, locations, location_starts, location_count] = batch;
  if (starts == nullptr) return null_pointer("V-329", "ptrs");
  if (sizes == nullptr) return null_pointer("V-329", "sizes");
  if (locations == nullptr) return null_pointer("V-329", "prefetchLocs");
  if (location_starts == nullptr) return null_pointer("V-329", "prefetchLocIdxs");
  if (count == 0) return bad_value("V-329", "count", count, "at least 1");
  if (location_count == 0 || location_count > count)
    return bad_value("V-329", "numPrefetchLocs", location_count, "1 to count");
  if (flags != 0) return bad_value("V-329", "flags", flags, "0");
  if (Status here = needs_prefetch(process); !here) return here;
  ASSIGN_OR_RETURN(const StreamRef known, stream_for_prefetch(process, handle));
  std::vector<std::size_t> first;  // grows with what was checked: the count may be anything
  for (std::size_t k = 0; k < location_count; ++k) {
    first.push_back(read_once(location_starts[k]));
    if (k == 0 ? first[k] != 0 : first[k] <= first[k - 1] || first[k] >= count) {
      return rejected("V-330", "prefetchLocIdxs", first[k],
                      fmt::format("number {} of {}: they start with 0, rise, and stay below {}", k,
                                  location_count, count),
                      "pass the entry from which on each location counts");
    }
  }
  std::vector<Move> moves;
  for (std::size_t k = 0; k < location_count; ++k) {
    const aclrtMemManagedLocation location{read_once(locations[k].type), read_once(locations[k].id)};
    ASSIGN_OR_RETURN(const ManagedPlace place, place_to_prefetch_to(process, location, "V-331"));
    for (std::size_t i = first[k]; i < (k + 1 < location_count ? first[k + 1] : count); ++i) {
      const void* start = read_once(starts[i]);
      const std::size_t size = read_once(sizes[i]);
      if (start == nullptr)
        return rejected("V-331", "ptrs", "NULL", fmt::format("entry {} has no address", i), "leave it out");
      if (size == 0)
        return rejected("V-331", "sizes", size, fmt::format("entry {} has no bytes", i), "leave it out");
      moves.push_back({address_of(start), size, place});
    }
  }
  return submit_moves(process, known, std::move(moves));
}

}  // namespace belay
