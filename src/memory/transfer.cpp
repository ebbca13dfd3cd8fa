#include "memory/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/words.h"
#include "observe/observe.h"
#include "platform/unwatched.h"

namespace belay {
namespace {

observe::Direction direction(bool to_device, bool from_device) {
  if (from_device) return to_device ? observe::Direction::DeviceToDevice : observe::Direction::DeviceToHost;
  return to_device ? observe::Direction::HostToDevice : observe::Direction::HostToHost;
}

Refusal moved_badly(const Contents& contents, Reached why, std::size_t bytes) {
  if (why.trouble == Trouble::HostFull) {
    const std::optional<std::size_t> limit = contents.room().limit();
    return out_of_memory(
        "D-79",
        fmt::format(
            "writing {} bytes of device memory needs memory of this machine, and {}; belay holds {} of it "
            "for the contents of device memory",
            bytes, limit ? fmt::format("BELAY_COMMIT allows {}", amount(*limit)) : "there is not enough left",
            amount(contents.room().taken())),
        "the emulated devices are larger than the machine that emulates them, and most of them is in use",
        "free device memory or other memory of this machine, or set BELAY_BACKING=none if the contents do "
        "not "
        "matter");
  }
  return refuse({ACL_ERROR_RT_COPY_DATA, "M-239", "EE1023", "the bytes of device memory could not be reached",
                 "the host is out of memory or address space", "free host memory, or raise ulimit -v"});
}

}  // namespace

Result<Transfer::End> Transfer::check(std::uintptr_t address, std::size_t bytes, bool written,
                                      const char* rule) const {
  if (memory_.host().is_device_alias(address)) {
    return driver_refuses(
        "M-210",
        fmt::format("{} is a device address of registered host memory, which is for device-side use only",
                    hex(address)),
        "use the host address of that memory here");
  }
  if (!memory_.map().contains(address)) return End{address, false, 0};
  std::uintptr_t at = address;
  std::size_t left = bytes;
  std::uint32_t device = 0;
  while (left > 0) {
    const std::optional<Block> block = memory_.find(at);
    if (!block || (at != address && block->device != device)) {
      return driver_refuses(
          rule,
          fmt::format("the range {} + {} bytes is not allocated: no live block of the device holds {}",
                      hex(address), bytes, hex(at)),
          at == address
              ? "check that the block was not freed, and that the address is the one that was allocated"
              : fmt::format("only the first {} bytes are; check size and offset", at - address));
    }
    if (written && block->read_only) {
      return driver_refuses(
          "M-78", fmt::format("the block {} of device {} is read-only", hex(block->start), block->device),
          "allocate without ACL_MEM_ACCESS_USER_SPACE_READONLY what the program writes");
    }
    device = block->device;
    const std::size_t here = std::min(left, block->start + block->footprint - at);
    at += here;
    left -= here;
  }
  return End{address, true, device};
}

Status Transfer::check_pair(const End& to, const End& from) const {
  if (!to.on_device || !from.on_device || to.device == from.device) return done();
  const Product product = memory_.settings().product->product;
  if (!has(product, Feature::PeerCopy)) {
    return unsupported(
        "M-245",
        fmt::format("this product does not copy between devices (from {} to {})", from.device, to.device),
        "copy through host memory");
  }
  if (!has(product, Feature::PeerCopyNeedsEnable)) return done();
  const std::uint32_t actor = acting_ == to.device ? to.device : from.device;
  const std::uint32_t other = actor == to.device ? from.device : to.device;
  if (memory_.peers().enabled(actor, other)) return done();
  return driver_refuses(
      "M-245", fmt::format("device {} has no access to the memory of device {}", actor, other),
      fmt::format("with device {} current, call aclrtDeviceEnablePeerAccess({}, 0) first", actor, other));
}

Status Transfer::move(const End& to, const End& from, std::size_t bytes) {
  Contents& contents = memory_.contents();
  Reached moved;
  if (to.on_device && from.on_device) {
    moved = contents.copy(to.address, from.address, bytes);
  } else if (to.on_device) {
    moved = contents.write(to.address, reinterpret_cast<const void*>(from.address), bytes);
  } else if (from.on_device) {
    moved = contents.read(from.address, reinterpret_cast<void*>(to.address), bytes);
  } else {
    // Rows may overlap; whole copies that do were refused.
    std::memmove(reinterpret_cast<void*>(to.address), reinterpret_cast<const void*>(from.address), bytes);
  }
  if (!moved) return moved_badly(contents, moved, bytes);
  if (to.on_device) memory_.watch().tell(to.address, bytes);
  observe::publish({observe::What::Copied, to.on_device ? to.device : from.device, to.address, from.address,
                    bytes, bytes, 0, direction(to.on_device, from.on_device)});
  return done();
}

// Most copies: between host memory and the inside of one block, whose bytes are there. False: not one of
// those, and nothing has happened.
bool Transfer::copy_plainly(void* to, const void* from, std::size_t bytes) {
  const auto target = reinterpret_cast<std::uintptr_t>(to);
  const auto source = reinterpret_cast<std::uintptr_t>(from);
  const HeapMap& map = memory_.map();
  const bool to_device = map.contains(target);
  if (to_device == map.contains(source)) return false;
  const std::uintptr_t address = to_device ? target : source;
  if (memory_.host().is_device_alias(to_device ? source : target)) return false;
  const std::optional<Block> block = map.find(address);
  if (!block || bytes > block->start + block->footprint - address || (to_device && block->read_only))
    return false;
  std::byte* place = memory_.contents().in_one_piece(address, bytes);
  if (place == nullptr) return false;
  {
    const platform::Unwatched of_the_program;
    std::memcpy(to_device ? place : to, to_device ? from : place, bytes);
  }
  if (to_device) memory_.watch().tell(address, bytes);
  if (observe::wanted(observe::What::Copied)) [[unlikely]]
    observe::deliver({observe::What::Copied, block->device, target, source, bytes, bytes, 0,
                      direction(to_device, !to_device)});
  return true;
}

Status Transfer::copy(void* to_pointer, const void* from_pointer, std::size_t bytes) {
  if (copy_plainly(to_pointer, from_pointer, bytes)) return done();
  Result<End> to = check(reinterpret_cast<std::uintptr_t>(to_pointer), bytes, true);
  if (!to) return to.take_refusal();
  Result<End> from = check(reinterpret_cast<std::uintptr_t>(from_pointer), bytes, false);
  if (!from) return from.take_refusal();
  if (Status pair = check_pair(*to, *from); !pair) return pair;
  if (!to->on_device && !from->on_device && overlap(to->address, bytes, from->address, bytes)) {
    return rejected("M-243", "src", hex(from_pointer),
                    fmt::format("the {} bytes there overlap the destination {}", bytes, hex(to_pointer)),
                    "use memmove for overlapping host memory");
  }
  return move(*to, *from, bytes);
}

Status Transfer::check_rows(const void* to_pointer, std::size_t to_pitch, const void* from_pointer,
                            std::size_t from_pitch, std::size_t width, std::size_t height) const {
  const auto to_start = reinterpret_cast<std::uintptr_t>(to_pointer);
  const auto from_start = reinterpret_cast<std::uintptr_t>(from_pointer);
  for (const auto& [start, pitch] : {std::pair{to_start, to_pitch}, std::pair{from_start, from_pitch}}) {
    // (height - 1) * pitch + width bytes from the start must exist as numbers (M-319).
    std::size_t span = 0;
    if (__builtin_mul_overflow(height - 1, pitch, &span) || __builtin_add_overflow(span, width, &span) ||
        __builtin_add_overflow(span, start, &span)) {
      return driver_refuses(
          "M-319", fmt::format("{} rows with a pitch of {} end beyond the address space", height, pitch),
          "check pitch and height");
    }
  }
  Result<End> to = check(to_start, width, true);
  if (!to) return to.take_refusal();
  Result<End> from = check(from_start, width, false);
  if (!from) return from.take_refusal();
  for (std::size_t row = 0; row < height; ++row) {  // all rows are checked before the first one moves
    Result<End> to_row = check(to_start + row * to_pitch, width, true);
    if (!to_row) return to_row.take_refusal();
    Result<End> from_row = check(from_start + row * from_pitch, width, false);
    if (!from_row) return from_row.take_refusal();
    if (to_row->on_device != to->on_device || from_row->on_device != from->on_device) {
      return driver_refuses("M-434", fmt::format("row {} does not lie in the memory where row 0 lies", row),
                            "check pitch and height");
    }
    if (Status pair = check_pair(*to_row, *from_row); !pair) return pair;
  }
  return done();
}

Status Transfer::copy_rows(void* to_pointer, std::size_t to_pitch, const void* from_pointer,
                           std::size_t from_pitch, std::size_t width, std::size_t height) {
  if (Status fits = check_rows(to_pointer, to_pitch, from_pointer, from_pitch, width, height); !fits)
    return fits;
  const auto to_start = reinterpret_cast<std::uintptr_t>(to_pointer);
  const auto from_start = reinterpret_cast<std::uintptr_t>(from_pointer);
  const auto row_of = [](End end, std::uintptr_t start) { return End{start, end.on_device, end.device}; };
  Result<End> to = check(to_start, width, true);
  if (!to) return to.take_refusal();
  Result<End> from = check(from_start, width, false);
  if (!from) return from.take_refusal();
  if (to->on_device) {
    const Reached ready = memory_.contents().prepare(height, [&](std::size_t row) {
      return Contents::Stretch{to_start + row * to_pitch, width};
    });
    if (!ready) return moved_badly(memory_.contents(), ready, width * height);
  }
  for (std::size_t row = 0; row < height; ++row) {
    Status moved =
        move(row_of(*to, to_start + row * to_pitch), row_of(*from, from_start + row * from_pitch), width);
    if (!moved) return moved;
  }
  return done();
}

Status Transfer::fill(void* pointer, unsigned char value, std::size_t bytes) {
  Result<End> to = check(reinterpret_cast<std::uintptr_t>(pointer), bytes, true, "M-371");
  if (!to) return to.take_refusal();
  if (!to->on_device) {
    std::memset(pointer, value, bytes);
  } else if (const Reached filled = memory_.contents().fill(to->address, value, bytes); !filled) {
    return moved_badly(memory_.contents(), filled, bytes);
  }
  if (to->on_device) memory_.watch().tell(to->address, bytes);
  observe::publish({observe::What::Filled, to->device, to->address, 0, bytes, bytes});
  return done();
}

Status Transfer::fill32(void* pointer, std::uint32_t value, std::size_t words) {
  Result<End> to = check(reinterpret_cast<std::uintptr_t>(pointer), words * 4, true, "M-434");
  if (!to) return to.take_refusal();
  if (!to->on_device) {
    std::fill_n(static_cast<std::uint32_t*>(pointer), words, value);
  } else if (const Reached filled = memory_.contents().fill32(to->address, value, words); !filled) {
    return moved_badly(memory_.contents(), filled, words * 4);
  }
  if (to->on_device) memory_.watch().tell(to->address, words * 4);
  observe::publish({observe::What::Filled, to->device, to->address, 0, words * 4, words * 4});
  return done();
}

namespace {

bool counts_as_host(aclrtMemLocationType type) {
  return type == ACL_MEM_LOCATION_TYPE_HOST || type == ACL_MEM_LOCATION_TYPE_HOST_NUMA;
}

Status check_location(const Memory& memory, const char* parameter, std::size_t item, const void* pointer,
                      const aclrtMemLocation& stated) {
  const Whereabouts real = memory.locate(reinterpret_cast<std::uintptr_t>(pointer));
  const bool on_device = real.place == Place::Device;
  const bool on_host = real.place == Place::Host || real.place == Place::Pageable;
  const bool fits = on_device ? stated.type == ACL_MEM_LOCATION_TYPE_DEVICE && stated.id == real.device
                              : on_host && counts_as_host(stated.type);
  if (fits) return done();
  const char* where = real.place == Place::NoBlock ? "an address of the device window where no block lives"
                      : real.place == Place::DeviceAlias ? "a device address of registered host memory"
                      : on_device                        ? "device memory"
                                                         : "host memory";
  return rejected("M-292", parameter, hex(pointer),
                  fmt::format("item {} is {}{}, but its attribute says type {} id {}", item, where,
                              on_device ? fmt::format(" of device {}", real.device) : std::string{},
                              static_cast<int>(stated.type), stated.id),
                  "state the real location of each end in the attributes");
}

}  // namespace

Result<BatchWay> check_batch_item(const Memory& memory, const BatchItem& item, std::size_t index) {
  Status located = check_location(memory, "dsts", index, item.to, item.attribute->dstLoc);
  if (located) located = check_location(memory, "srcs", index, item.from, item.attribute->srcLoc);
  if (!located) return located.take_refusal();
  const bool to_device = memory.locate(reinterpret_cast<std::uintptr_t>(item.to)).place == Place::Device;
  const bool from_device = memory.locate(reinterpret_cast<std::uintptr_t>(item.from)).place == Place::Device;
  if (to_device == from_device) {
    return rejected("M-293", "dsts", hex(item.to),
                    fmt::format("both ends of item {} are on the {}", index, to_device ? "device" : "host"),
                    "a batch copies from host to device or from device to host");
  }
  return to_device ? BatchWay::ToDevice : BatchWay::FromDevice;
}

Status copy_batch(Memory& memory, std::span<const BatchItem> items, std::size_t& fail_index) {
  fail_index = SIZE_MAX;
  bool mixed = false;
  std::optional<bool> first_to_device;
  std::optional<std::uint32_t> first_device;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const BatchItem& item = items[i];
    if (item.to == nullptr || item.from == nullptr) {
      fail_index = i;
      return rejected("M-292", item.to == nullptr ? "dsts" : "srcs", "NULL",
                      fmt::format("item {} has no address", i));
    }
    Result<BatchWay> way = check_batch_item(memory, item, i);
    if (!way) {
      fail_index = i;
      return way.take_refusal();
    }
    const bool to_device = *way == BatchWay::ToDevice;
    const std::uint32_t device =
        memory.locate(reinterpret_cast<std::uintptr_t>(to_device ? item.to : item.from)).device;
    if (!first_to_device) first_to_device = to_device;
    if (!first_device) first_device = device;
    mixed = mixed || to_device != *first_to_device || device != *first_device;
  }
  if (mixed) {
    return driver_refuses("M-294", "the batch mixes directions or devices",
                          "use one batch for each direction and device");
  }
  for (const BatchItem& item : items) {
    if (item.bytes == 0) {
      return rejected("M-295", "sizes", 0, "a size of 0 stands among others",
                      "leave out items without bytes");
    }
  }
  Transfer transfer{memory, first_device.value_or(0)};
  for (std::size_t i = 0; i < items.size(); ++i) {
    Status ready = transfer.check_copy(items[i].to, items[i].from, items[i].bytes);
    if (!ready) {
      fail_index = i;
      return ready;
    }
  }
  if (first_to_device.value_or(false)) {
    std::vector<Contents::Stretch> targets;
    for (const BatchItem& item : items)
      targets.push_back({reinterpret_cast<std::uintptr_t>(item.to), item.bytes});
    std::ranges::sort(targets, {}, &Contents::Stretch::start);
    const Reached ready =
        memory.contents().prepare(targets.size(), [&](std::size_t i) { return targets[i]; });
    if (!ready) return moved_badly(memory.contents(), ready, targets[0].bytes);
  }
  for (const BatchItem& item : items) {
    if (Status copied = transfer.copy(item.to, item.from, item.bytes); !copied) return copied;
  }
  return done();
}

Status Transfer::check_copy(const void* to_pointer, const void* from_pointer, std::size_t bytes) const {
  Result<End> to = check(reinterpret_cast<std::uintptr_t>(to_pointer), bytes, true);
  if (!to) return to.take_refusal();
  Result<End> from = check(reinterpret_cast<std::uintptr_t>(from_pointer), bytes, false);
  if (!from) return from.take_refusal();
  return check_pair(*to, *from);
}

Status Transfer::check_fill(const void* pointer, std::size_t bytes, const char* rule) const {
  Result<End> to = check(reinterpret_cast<std::uintptr_t>(pointer), bytes, true, rule);
  if (!to) return to.take_refusal();
  return done();
}

Status Transfer::store64(void* pointer, std::uint64_t value) {
  Result<End> to = check(reinterpret_cast<std::uintptr_t>(pointer), sizeof value, true, "P-41");
  if (!to) return to.take_refusal();
  if (const Reached stored = memory_.contents().store64(to->address, value); !stored)
    return moved_badly(memory_.contents(), stored, sizeof value);
  memory_.watch().tell(to->address, sizeof value);
  observe::publish({observe::What::Filled, to->device, to->address, 0, sizeof value, sizeof value});
  return done();
}

}  // namespace belay
