#include "runtime/async_copying.h"

#include <algorithm>
#include <utility>

#include "base/words.h"
#include "memory/history.h"
#include "observe/observe.h"
#include "runtime/copying.h"
#include "runtime/memory_tasks.h"
#include "runtime/stream_calls.h"
#include "runtime/telling.h"

namespace belay {
namespace {

Refusal kind_does_not_fit(const char* rule, aclrtMemcpyKind kind, const std::string& solution) {
  return as_misuse(
      rejected(rule, "kind", static_cast<std::uint32_t>(kind), "it does not fit the two addresses", solution),
      Misuse::WrongDirection);
}

// Device memory is needed at an address of another kind.
Refusal not_on_device(const Memory& memory, const Location& at, Refusal refusal) {
  if (at.is(Location::Kind::Unallocated)) return memory.used_wrongly(std::move(refusal), at.address);
  return as_misuse(std::move(refusal), Misuse::WrongSide, history_at(memory, at.address));
}

// Queues a copy, or does it before it returns where pageable memory is involved (M-265).
Status queue_copy(Process& process, Stream& stream, bool pageable, TaskPtr task) {
  return pageable ? submit_and_wait(process, stream, std::move(task))
                  : submit(process, stream, std::move(task));
}

}  // namespace

Status copy_async(Process& process, void* to, std::size_t room, const void* from, std::size_t count,
                  aclrtMemcpyKind kind, aclrtStream stream_handle, Feature feature) {
  if (count == 0) return done();
  if (to == nullptr) return null_pointer("M-249", "dst");
  if (from == nullptr) return null_pointer("M-250", "src");
  if (static_cast<std::uint32_t>(kind) > ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE)
    return bad_value("M-251", "kind", static_cast<std::uint32_t>(kind), "a copy kind from 0 to 5");
  if (Status here = needs_feature_after_context(process, "M-255", feature); !here) return here;
  ASSIGN_OR_RETURN(const StreamRef known, known_stream(process, stream_handle, "M-252"));
  if (count > room) {
    return rejected("M-253", "count", count, fmt::format("destMax is only {}", room),
                    "copy no more than the destination holds");
  }
  if (process.current() == nullptr) return no_context("M-255");
  Memory& memory = process.memory();
  const Location source = memory.locate(from);
  const Location target = memory.locate(to);
  const bool buffered = kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
  if (buffered) {
    if (source.is_device_side() || !target.is_device_side())
      return kind_does_not_fit("M-256", kind, "it copies from host to device");
  } else {
    const std::optional<aclrtMemcpyKind> real = reconcile(source, target, kind);
    if (!real) return kind_does_not_fit("M-257", kind, "pass ACL_MEMCPY_DEFAULT, or the real direction");
    if (*real == ACL_MEMCPY_HOST_TO_HOST && !host_is_device(memory.settings().form)) {
      Refusal refusal =
          unsupported("M-258", "copies from host to host are not queued", "copy with aclrtMemcpy or memcpy");
      if (kind == ACL_MEMCPY_HOST_TO_HOST || kind == ACL_MEMCPY_DEFAULT) return refusal;
      return as_misuse(std::move(refusal), Misuse::WrongDirection, history_at(memory, target.address));
    }
  }
  if (to == from) return done();
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, known, "M-255", "M-262"));
  const Workplace place = workplace(process, *stream);
  if (Status fits = Transfer{memory, place.device}.check_copy(target, source, count); !fits) return fits;
  if (buffered)
    return submit(process, *stream, write_task(place, target, source, {count, room, told_kind(kind)}));
  const bool pageable = source.is_pageable() || target.is_pageable();
  return queue_copy(process, *stream, pageable,
                    copy_task(place, target, source, {count, room, told_kind(kind)}));
}

Status copy_2d_async(Process& process, void* to, std::size_t to_pitch, const void* from,
                     std::size_t from_pitch, std::size_t width, std::size_t height, aclrtMemcpyKind kind,
                     aclrtStream stream_handle) {
  if (width == 0 || height == 0) return done();
  if (Status plain = check_2d_arguments(to, to_pitch, from, from_pitch, width, kind); !plain) return plain;
  const bool on_device = has(process.product().product, Feature::Copy2dOnDevice);
  if (Status here = check_2d_product(process); !here) return here;
  ASSIGN_OR_RETURN(const StreamRef known, known_stream(process, stream_handle, "M-308"));
  if (known == nullptr && process.current() == nullptr) {
    return rejected("M-309", "stream", "NULL", "without a current context there is no default stream",
                    "call aclrtSetDevice or aclrtSetCurrentContext on this thread first");
  }
  if (Status fits = check_2d_size(width, height); !fits) return fits;
  if (kind == ACL_MEMCPY_DEVICE_TO_DEVICE && !on_device)
    return bad_value(
        "M-312", "kind", static_cast<int>(kind),
        fmt::format("HOST_TO_DEVICE, DEVICE_TO_HOST or DEFAULT on {}", machine_in_words(process)));
  Memory& memory = process.memory();
  const Location source = memory.locate(from);
  const Location target = memory.locate(to);
  const std::optional<aclrtMemcpyKind> real = reconcile(source, target, kind);
  const bool copies = real == ACL_MEMCPY_HOST_TO_DEVICE || real == ACL_MEMCPY_DEVICE_TO_HOST ||
                      (real == ACL_MEMCPY_DEVICE_TO_DEVICE && on_device);
  if (!copies) return kind_does_not_fit("M-313", kind, kind_for_rows(source, target, on_device));
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, known, "M-315", "M-317"));
  const Workplace place = workplace(process, *stream);
  if (Status fits =
          Transfer{memory, place.device}.check_rows(target, to_pitch, source, from_pitch, width, height);
      !fits)
    return fits;
  const bool pageable = source.is_pageable() || target.is_pageable();
  return queue_copy(
      process, *stream, pageable,
      copy_rows_task(place, target, to_pitch, source, from_pitch, width, height, told_kind(kind)));
}

Status copy_batch_async(Process& process, const BatchArguments& arguments, std::size_t& fail_index,
                        aclrtStream stream_handle) {
  BatchLists batch{arguments};
  ASSIGN_OR_RETURN(const bool any, batch.take_arrays(process));
  if (!any) return done();
  ASSIGN_OR_RETURN(const StreamRef known, known_stream(process, stream_handle, "M-284"));
  if (Status fits = batch.take_starts(SIZE_MAX); !fits) return fits;
  if (process.current() == nullptr) return no_context("M-290");

  Memory& memory = process.memory();
  const std::vector<BatchItem> items = batch.take_items();
  std::vector<BatchEnds> all;
  all.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const BatchItem& item = items[i];
    const auto at_fault = [&](Refusal refusal) {
      fail_index = i;
      return refusal;
    };
    if (item.bytes == 0)
      return at_fault(rejected("M-291", "sizes", 0, fmt::format("item {} has no bytes", i),
                               "leave out items without bytes"));
    if (item.to == nullptr || item.from == nullptr) {
      return at_fault(rejected("M-291", item.to == nullptr ? "dsts" : "srcs", "NULL",
                               fmt::format("item {} has no address", i), "pass an address for every item"));
    }
    Result<BatchEnds> ends = check_batch_item(memory, item, i);
    if (!ends) return at_fault(ends.take_refusal());
    all.push_back(*ends);
    if (ends->way() != all[0].way()) {
      return at_fault(as_misuse(
          rejected("M-298", "dsts", hex(item.to), fmt::format("item {} has another direction than item 0", i),
                   "use one batch for each direction"),
          Misuse::WrongDirection));
    }
  }
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, known, "M-290", "M-4"));
  const Workplace place = workplace(process, *stream);
  bool any_pageable = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (Status fits = Transfer{memory, place.device}.check_copy(all[i].to, all[i].from, items[i].bytes);
        !fits) {
      fail_index = i;
      return fits;
    }
    any_pageable = any_pageable || all[i].to.is_pageable() || all[i].from.is_pageable();
  }
  // The items run in the order of the stream, so that waiting for the whole is waiting before each pageable
  // one (M-301).
  return queue_copy(process, *stream, any_pageable, copy_batch_task(place, items, all));
}

Status copy_by_descriptor(Process& process, const void* descriptor, aclrtMemcpyKind kind,
                          aclrtStream stream_handle) {
  if (descriptor == nullptr) return null_pointer("M-342", "desc");
  if (static_cast<std::uint32_t>(kind) > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)
    return bad_value("M-343", "kind", static_cast<std::uint32_t>(kind), "a member of aclrtMemcpyKind");
  if (stream_handle == nullptr) return null_pointer("M-344", "stream");
  if (Status here = needs_feature(process, Feature::CopyDescriptors, "M-345"); !here) return here;
  ASSIGN_OR_RETURN(const StreamRef known, known_stream(process, stream_handle, "M-346"));
  if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) {
    return unsupported(
        "M-347",
        fmt::format("descriptors are for copies inside a device, not for kind {}", static_cast<int>(kind)),
        "pass ACL_MEMCPY_INNER_DEVICE_TO_DEVICE");
  }
  if (const Location at = process.memory().locate(descriptor); !at.is_device()) {
    return not_on_device(process.memory(), at,
                         rejected("M-348", "desc", hex(descriptor), "it is not device memory",
                                  "allocate it with aclrtMalloc"));
  }
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, known, "M-349", "M-350"));
  return submit(process, *stream, copy_by_descriptor_task(workplace(process, *stream), descriptor));
}

Status copy_by_offset(Process& process, const OffsetArguments& copy, aclrtMemcpyKind kind,
                      aclrtStream stream_handle) {
  if (copy.count == 0) return done();
  if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) {
    return rejected("M-353", "kind", static_cast<std::uint32_t>(kind),
                    "offsets are for copies inside a device", "pass ACL_MEMCPY_INNER_DEVICE_TO_DEVICE");
  }
  if (Status here = needs_feature(process, Feature::OffsetCopy, "M-354"); !here) return here;
  ASSIGN_OR_RETURN(const StreamRef known, known_stream(process, stream_handle, "M-355"));
  if (copy.to == nullptr)
    return rejected("M-356", "dst", "NULL", "there is no address to read",
                    "pass the address of the word that holds the address");
  if (copy.from == nullptr)
    return rejected("M-356", "src", "NULL", "there is no address to read",
                    "pass the address of the word that holds the address");
  if (copy.count > copy.room)
    return rejected("M-357", "count", copy.count, fmt::format("destMax is only {}", copy.room),
                    "copy no more than the destination holds");
  if (copy.count > 4_GiB)
    return rejected("M-358", "count", copy.count, "more than 4 GB", "copy in several parts");
  constexpr std::size_t kMostOffset = 0xFFFFFFFFFFFF;
  if (copy.to_offset > kMostOffset || copy.from_offset > kMostOffset) {
    return rejected("M-359", "dstDataOffset",
                    copy.to_offset > kMostOffset ? copy.to_offset : copy.from_offset,
                    "an offset has at most 48 bits", "check the offset");
  }
  if (copy.to_offset >= copy.room || copy.count > copy.room - copy.to_offset)
    return rejected("M-360", "dstDataOffset", copy.to_offset,
                    fmt::format("{} bytes from there do not fit into destMax {}", copy.count, copy.room),
                    "check size and offset");
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, known, "M-361", "M-363"));
  const Workplace place = workplace(process, *stream);
  for (const void* holder : {static_cast<const void*>(copy.to), static_cast<const void*>(copy.from)}) {
    if (const Location at = process.memory().locate(holder); !at.is_device()) {
      return not_on_device(
          process.memory(), at,
          driver_refuses(
              "M-434",
              fmt::format("{} is not allocated device memory, but should hold the base address", hex(holder)),
              "pass device addresses as dst and src where the base addresses are stored"));
    }
  }
  return submit(process, *stream,
                copy_by_offset_task(place, {copy.to, copy.from, copy.to_offset, copy.from_offset, copy.count,
                                            copy.room - copy.to_offset}));
}

Status fill_async(Process& process, void* pointer, std::size_t room, std::int32_t value, std::size_t count,
                  aclrtStream stream_handle) {
  if (count == 0) return done();
  if (pointer == nullptr) return null_pointer("M-373", "devPtr");
  if (Status here = needs_feature_after_context(process, "M-376", Feature::AllButIpv); !here) return here;
  ASSIGN_OR_RETURN(const StreamRef known, known_stream(process, stream_handle, "M-374"));
  if (count > room)
    return rejected("M-375", "count", count, fmt::format("maxCount is only {}", room),
                    "fill no more than the memory holds");
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, known, "M-376", "M-377"));
  const Workplace place = workplace(process, *stream);
  const auto byte = static_cast<unsigned char>(value);
  Transfer transfer{process.memory(), place.device};
  const Location to = process.memory().locate(pointer);
  if (to.is_host()) {  // M-380
    Status filled = transfer.fill(to, byte, count);
    if (filled) tell_filled(process.memory(), place.device, to, {count, 0, 1, room}, byte);
    return filled;
  }
  if (Status fits = transfer.check_fill(to, count, "M-371"); !fits) return fits;
  return submit(process, *stream, fill_task(place, pointer, byte, count, room));
}

Status fill_d32_async(Process& process, void* pointer, std::size_t room, std::uint32_t value,
                      std::size_t words, aclrtStream stream_handle) {
  if (words == 0) return done();
  const Location to = process.memory().locate(pointer);
  if (Status fits = check_d32(process.memory(), to, room, words); !fits) return fits;
  ASSIGN_OR_RETURN(const StreamRef known, known_stream(process, stream_handle, "M-388"));
  if (process.current() == nullptr) return no_context("M-389");
  if (Status here = needs_feature(process, Feature::FillD32, "M-390"); !here) return here;
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, known, "M-389", "M-4"));
  const Workplace place = workplace(process, *stream);
  Transfer transfer{process.memory(), place.device};
  if (to.is_host()) {
    Status filled = transfer.fill32(to, value, words);
    if (filled) tell_filled(process.memory(), place.device, to, {words * 4, 0, 1, room}, value);
    return filled;
  }
  if (Status fits = transfer.check_fill(to, words * 4, "M-434"); !fits) return fits;
  return submit(process, *stream, fill32_task(place, pointer, value, words, room));
}

namespace {

// P-31 ... P-37, in their order.
Result<StreamRef> check_value(Process& process, const void* address, bool flag_fits, std::uint32_t flag,
                              aclrtStream stream_handle) {
  if (address == nullptr) return null_pointer("P-31", "devAddr");
  if (Status here = needs_feature(process, Feature::ValueOperations, "P-32"); !here)
    return here.take_refusal();
  Result<StreamRef> known = known_stream(process, stream_handle, "P-33");
  if (!known) return known;
  if (!flag_fits)
    return rejected("P-34", "flag", flag, "no such flag",
                    "pass 0 to write; one of ACL_STREAM_WAIT_VALUE_... to wait");
  const Memory& memory = process.memory();
  const Location where = memory.locate(address);
  if (where.is_nothing()) {
    return not_on_device(
        memory, where,
        driver_refuses("P-35", fmt::format("{}: {}", hex(address), memory.describe(address_of(address))),
                       "pass memory that is allocated"));
  }
  if (!where.is_device()) {
    return not_on_device(memory, where,
                         rejected("P-35", "devAddr", hex(address), "it is not device memory",
                                  "allocate the word with aclrtMalloc"));
  }
  Result<StreamRef> stream = own_stream(process, *known, "P-36", "P-36");
  if (!stream) return stream;
  if (address_of(address) % sizeof(std::uint64_t) != 0)
    return rejected("P-37", "devAddr", hex(address), "it is not a multiple of 8",
                    "align the word to 8 bytes");
  return stream;
}

}  // namespace

Status write_value(Process& process, void* address, std::uint64_t value, std::uint32_t flag,
                   aclrtStream handle) {
  ASSIGN_OR_RETURN(const StreamRef stream, check_value(process, address, flag == 0, flag, handle));
  return submit(process, *stream, store_task(workplace(process, *stream), address, value));
}

Status wait_value(Process& process, void* address, std::uint64_t value, std::uint32_t flag,
                  aclrtStream handle) {
  ASSIGN_OR_RETURN(const StreamRef stream,
                   check_value(process, address, flag <= ACL_STREAM_WAIT_VALUE_NOR, flag, handle));
  const bool impossible = (flag == ACL_STREAM_WAIT_VALUE_AND && value == 0) ||
                          (flag == ACL_STREAM_WAIT_VALUE_NOR && value == UINT64_MAX);
  if (impossible) {
    observe::note("P-45", [&] {
      return fmt::format(
          "no word can ever satisfy the wait for {:#x} with flag {}: the stream will not go on", value, flag);
    });
  }
  return submit(process, *stream, wait_for_value(process.value_waits(), address_of(address), value, flag));
}

}  // namespace belay
