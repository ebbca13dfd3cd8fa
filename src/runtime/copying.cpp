#include "runtime/copying.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "base/code_names.h"
#include "base/words.h"
#include "memory/history.h"
#include "memory/transfer.h"
#include "runtime/batch.h"
#include "runtime/copy_descriptor.h"
#include "runtime/memory_tasks.h"
#include "runtime/telling.h"

namespace belay {
namespace {

// A copy that is done when it returns takes the link like any other (BELAY_LINK).
void wait_for_link(Process& process, const Location& to, const Location& from, std::size_t bytes) {
  if (const auto over = process.links().take(to, from, bytes)) std::this_thread::sleep_until(*over);
}

[[gnu::noinline]] Status copy_and_tell(Memory& memory, std::uint32_t device, aclrtMemcpyKind kind, void* to,
                                       std::size_t room, const void* from, std::size_t count) {
  const Transfer::By by = kind == ACL_MEMCPY_HOST_TO_HOST ? Transfer::By::Host : Transfer::By::Device;
  // Before the copy, which asks the same tables: its bytes drive them out of the cache.
  const std::array<observe::Touch, 2> touches = touches_of_copy(
      memory, memory.locate_bytes(to), memory.locate_bytes(from), {count, 0, 1, room}, {count});
  Status copied = Transfer{memory, device, by}.copy(to, from, count);
  const bool plain = observe::is_plain_copy(touches[0], touches[1], told_kind(kind));
  if (copied && (!plain || observe::wants_plain_copies()))
    tell_copied(observe::Operation::Copy, device, to, count, touches, told_kind(kind));
  return copied;
}

}  // namespace

Refusal being_aborted(const char* rule, std::uint32_t device) {
  return refuse({ACL_ERROR_RT_DEVICE_TASK_ABORT, rule, "EE1018",
                 fmt::format("the tasks of device {} are being aborted", device), "",
                 "call again when aclrtDeviceTaskAbort has returned"});
}

Status copy(Process& process, void* to, std::size_t room, const void* from, std::size_t count,
            aclrtMemcpyKind kind) {
  if (count == 0) return done();
  if (to == nullptr) return null_pointer("M-230", "dst");
  if (from == nullptr) return null_pointer("M-231", "src");
  if (static_cast<std::uint32_t>(kind) > ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
    return bad_value("M-232", "kind", static_cast<std::uint32_t>(kind), "a copy kind from 0 to 5");
  }
  if (room == 0)
    return rejected("M-233", "destMax", room, "the destination has no room",
                    "pass the size of the destination");
  if (count > room) {
    return rejected("M-234", "count", count, fmt::format("destMax is only {}", room),
                    "copy no more than the destination holds");
  }
  if (to == from) return done();
  const Context* context = process.current();
  if (context == nullptr) return no_context("M-236");
  if (process.scheduler().aborting(context->device)) [[unlikely]]
    return being_aborted("M-237", context->device);
  Memory& memory = process.memory();
  if (process.links().limited()) wait_for_link(process, memory.locate(to), memory.locate(from), count);
  if (observe::wanted(observe::What::Copied)) [[unlikely]]
    return copy_and_tell(memory, context->device, kind, to, room, from, count);
  if (kind == ACL_MEMCPY_HOST_TO_HOST) [[unlikely]]
    return Transfer{memory, context->device, Transfer::By::Host}.copy(to, from, count);
  return Transfer{memory, context->device}.copy(to, from, count);
}

Status check_2d_arguments(const void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                          std::size_t width, aclrtMemcpyKind kind) {
  if (to == nullptr) return null_pointer("M-305", "dst");
  if (from == nullptr) return null_pointer("M-305", "src");
  if (width > from_pitch || width > to_pitch) {
    return bad_value("M-306", "width", width, "at most spitch and dpitch");
  }
  if (kind < ACL_MEMCPY_HOST_TO_DEVICE || kind > ACL_MEMCPY_DEFAULT) {
    Refusal refusal = bad_value("M-307", "kind", static_cast<std::uint32_t>(kind),
                                "HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE or DEFAULT");
    if (kind != ACL_MEMCPY_HOST_TO_HOST) return refusal;
    return as_misuse(std::move(refusal), Misuse::WrongDirection);
  }
  return done();
}

Status check_2d_product(Process& process) {
  const Product product = process.product().product;
  const Form form = process.settings().memory.form;
  const Feature needed = form == Form::RC            ? Feature::Copy2dAsRc
                         : form == Form::OpenCtrlCpu ? Feature::Copy2dAsOpenCtrlCpu
                                                     : Feature::AllButIpv;
  if (has(product, needed)) return done();
  if (process.current() == nullptr) return no_context("M-315");
  return unsupported("M-321",
                     fmt::format("two-dimensional copies do not exist on {}", machine_in_words(process)),
                     "copy row by row with aclrtMemcpy");
}

Status check_2d_size(std::size_t width, std::size_t height) {
  if (height > 5'242'880)
    return rejected("M-310", "height", height, "more than 5242880 rows", "copy in several calls");
  if (width > 5'000'000)
    return rejected("M-311", "width", width, "more than 5000000 bytes a row", "copy in several calls");
  return done();
}

std::string kind_for_rows(const Location& from, const Location& to, bool on_device) {
  const std::optional<aclrtMemcpyKind> real = reconcile(from, to, ACL_MEMCPY_DEFAULT);
  if (real == ACL_MEMCPY_HOST_TO_DEVICE || real == ACL_MEMCPY_DEVICE_TO_HOST ||
      (real == ACL_MEMCPY_DEVICE_TO_DEVICE && on_device))
    return fmt::format("pass {}, or is one of the two the wrong pointer?", copy_kind_name(*real));
  return on_device ? "copy between host and device, or on a device" : "copy between host and device";
}

Status copy_2d(Process& process, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
               std::size_t width, std::size_t height, aclrtMemcpyKind kind) {
  if (width == 0 || height == 0) return done();
  if (Status plain = check_2d_arguments(to, to_pitch, from, from_pitch, width, kind); !plain) return plain;
  if (Status here = check_2d_product(process); !here) return here;
  if (Status fits = check_2d_size(width, height); !fits) return fits;
  if (kind == ACL_MEMCPY_DEVICE_TO_DEVICE) {
    return unsupported("M-312", "the synchronous two-dimensional copy does not copy from device to device",
                       "copy row by row with aclrtMemcpy");
  }
  const Location target = process.memory().locate(to);
  const Location source = process.memory().locate(from);
  const std::optional<aclrtMemcpyKind> real = reconcile(source, target, kind);
  if (!real || (*real != ACL_MEMCPY_HOST_TO_DEVICE && *real != ACL_MEMCPY_DEVICE_TO_HOST)) {
    return as_misuse(rejected("M-313", "kind", static_cast<std::uint32_t>(kind),
                              "it does not fit the two addresses", kind_for_rows(source, target, false)),
                     Misuse::WrongDirection);
  }
  const Context* context = process.current();
  if (context == nullptr) return no_context("M-315");
  if (process.links().limited()) wait_for_link(process, target, source, width * height);
  Memory& memory = process.memory();
  Transfer transfer{memory, context->device};
  if (Status copied = transfer.copy_rows(target, to_pitch, source, from_pitch, width, height); !copied)
    return copied;
  if (observe::wanted(observe::What::Copied)) {
    tell_copied(
        observe::Operation::CopyRows, context->device, to, width * height,
        touches_of_copy(memory, target, source, {width, to_pitch, height}, {width, from_pitch, height}),
        told_kind(kind));
  }
  return done();
}

namespace {

void tell_batch(Memory& memory, std::span<const BatchItem> items) {
  std::vector<observe::Touch> touches;
  std::size_t bytes = 0;
  for (const BatchItem& each : items) {
    bytes += each.bytes;
    std::ranges::copy(touches_of_copy(memory, memory.locate(each.to), memory.locate(each.from),
                                      {each.bytes, 0, 1, each.room}, {each.bytes}),
                      std::back_inserter(touches));
  }
  const Location first = memory.locate(items[0].to);
  tell_copied(observe::Operation::CopyBatch,
              first.is_device() ? first.device() : memory.locate(items[0].from).device(), items[0].to, bytes,
              touches);
}

}  // namespace

Status copy_batch(Process& process, const BatchArguments& arguments, std::size_t& fail_index) {
  BatchLists batch{arguments};
  ASSIGN_OR_RETURN(const bool any, batch.take_arrays(process));
  if (!any) return done();
  if (Status fits = batch.take_starts(kMostItemsAtOnce); !fits) return fits;
  const std::vector<BatchItem> items = batch.take_items();
  if (process.links().limited()) {
    std::size_t bytes = 0;
    for (const BatchItem& each : items) bytes += each.bytes;
    wait_for_link(process, process.memory().locate(items[0].to), process.memory().locate(items[0].from),
                  bytes);
  }
  if (Status copied = copy_batch(process.memory(), items, fail_index); !copied) return copied;
  if (observe::wanted(observe::What::Copied)) observe::quietly([&] { tell_batch(process.memory(), items); });
  return done();
}

namespace {

Status check_descriptor_kind(const Process& process, aclrtMemcpyKind kind, const char* rule) {
  if (Status here = needs_feature(process, Feature::CopyDescriptors, rule); !here) return here;
  if (kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) return done();
  return unsupported(
      rule,
      fmt::format("descriptors exist for copies inside a device, not for kind {}", static_cast<int>(kind)),
      "pass ACL_MEMCPY_INNER_DEVICE_TO_DEVICE");
}

bool known_kind(aclrtMemcpyKind kind) {
  return static_cast<std::uint32_t>(kind) <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE;
}

}  // namespace

Status copy_descriptor_size(Process& process, aclrtMemcpyKind kind, std::size_t* bytes) {
  if (bytes == nullptr) return null_pointer("M-323", "descSize");
  if (!known_kind(kind))
    return bad_value("M-324", "kind", static_cast<std::uint32_t>(kind), "a member of aclrtMemcpyKind");
  if (Status fits = check_descriptor_kind(process, kind, "M-325"); !fits) return fits;
  *bytes = process.product().copy_descriptor_bytes;
  return done();
}

Status set_copy_descriptor(Process& process, void* descriptor, aclrtMemcpyKind kind, void* from, void* to,
                           std::size_t count, const void* configuration) {
  if (descriptor == nullptr) return null_pointer("M-328", "desc");
  if (!known_kind(kind))
    return bad_value("M-329", "kind", static_cast<std::uint32_t>(kind), "a member of aclrtMemcpyKind");
  if (from == nullptr) return null_pointer("M-330", "srcAddr");
  if (to == nullptr) return null_pointer("M-330", "dstAddr");
  if (count == 0) return bad_value("M-331", "count", count, "at least 1");
  if (configuration != nullptr) return bad_value("M-332", "config", hex(configuration), "NULL");
  if (Status fits = check_descriptor_kind(process, kind, "M-333"); !fits) return fits;
  if (count > 4_GiB) return rejected("M-334", "count", count, "more than 4 GB", "copy in several parts");
  if (reinterpret_cast<std::uintptr_t>(descriptor) % 64 != 0)
    return rejected("M-335", "desc", hex(descriptor), "not a multiple of 64",
                    "align the descriptor to 64 bytes");
  Memory& memory = process.memory();
  const Location holder = memory.locate(descriptor);
  const Location target = memory.locate(to);
  const Location source = memory.locate(from);
  for (const Location* each : {&holder, &target, &source}) {
    if (each->is_nothing()) {
      Refusal refusal =
          driver_refuses("M-336", fmt::format("{}: {}", hex(each->address), memory.describe(each->address)),
                         "pass memory that is allocated");
      if (!each->is(Location::Kind::Unallocated)) return as_misuse(std::move(refusal), Misuse::WrongSide);
      return memory.used_wrongly(std::move(refusal), each->address);
    }
  }
  if (!holder.is_device()) {
    return as_misuse(
        rejected("M-337", "desc", hex(descriptor), "it is not device memory", "allocate it with aclrtMalloc"),
        Misuse::WrongSide, history_at(memory, holder.address));
  }
  if (!source.is_device() || !target.is_device() || source.device() != target.device()) {
    return as_misuse(rejected("M-338", "srcAddr", hex(from),
                              fmt::format("it and dstAddr {} are not memory of one device", hex(to)),
                              "pass two addresses of the same device"),
                     Misuse::WrongSide);
  }
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "M-339"));
  const CopyDescriptor filled{CopyDescriptor::kMark,
                              static_cast<std::uint32_t>(count),
                              count,
                              reinterpret_cast<std::uintptr_t>(from),
                              reinterpret_cast<std::uintptr_t>(to),
                              {}};
  const std::size_t bytes = process.product().copy_descriptor_bytes;
  if (Status set = Transfer{memory, context->device}.copy(descriptor, &filled, bytes); !set) return set;
  if (observe::wanted(observe::What::Filled)) tell_filled(memory, context->device, holder, {bytes}, 0);
  return done();
}

Status fill(Process& process, void* to, std::size_t room, std::int32_t value, std::size_t count) {
  if (count == 0) return done();
  if (to == nullptr) return null_pointer("M-367", "devPtr");
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "M-368"));
  if (process.scheduler().aborting(context->device)) [[unlikely]]
    return being_aborted("M-369", context->device);
  if (count > room)
    return rejected("M-370", "count", count, fmt::format("maxCount is only {}", room),
                    "fill no more than the memory holds");
  Memory& memory = process.memory();
  const auto byte = static_cast<unsigned char>(value);
  const Location where = memory.locate_bytes(to);
  Status filled = Transfer{memory, context->device}.fill(where, byte, count);
  if (filled) tell_filled(memory, context->device, where, {count, 0, 1, room}, byte);
  return filled;
}

Status check_d32(const Memory& memory, const Location& to, std::size_t room, std::size_t words) {
  if (to.address == 0) return null_pointer("M-383", "ptr");
  if (to.address % 4 != 0) return bad_value("M-384", "ptr", hex(to.address), "a multiple of 4");
  if (words > room / 4) return bad_value("M-385", "N", words, "at most memSize / 4");
  if (to.is_nothing()) {
    Refusal refusal =
        driver_refuses("M-386", fmt::format("{}: {}", hex(to.address), memory.describe(to.address)),
                       "fill memory that is allocated");
    if (!to.is(Location::Kind::Unallocated)) return as_misuse(std::move(refusal), Misuse::WrongSide);
    return memory.used_wrongly(std::move(refusal), to.address);
  }
  if (to.is_pageable()) {
    return as_misuse(bad_value("M-387", "ptr", hex(to.address),
                               "device memory, or host memory from aclrtMallocHost or registered"),
                     Misuse::WrongSide);
  }
  return done();
}

Status fill_d32(Process& process, void* pointer, std::size_t room, std::uint32_t value, std::size_t words) {
  if (words == 0) return done();
  Memory& memory = process.memory();
  const Location to = memory.locate(pointer);
  if (Status fits = check_d32(memory, to, room, words); !fits) return fits;
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "M-389"));
  if (Status here = needs_feature(process, Feature::FillD32, "M-390"); !here) return here;
  Status filled = Transfer{memory, context->device}.fill32(to, value, words);
  if (filled) tell_filled(memory, context->device, to, {words * 4, 0, 1, room}, value);
  return filled;
}

}  // namespace belay
