#include "memory/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/words.h"
#include "memory/following.h"
#include "memory/history.h"
#include "memory/reader_guard.h"
#include "memory/unreachable.h"
#include "observe/lives.h"
#include "platform/unwatched.h"

namespace belay {

constinit thread_local Following t_following;

namespace {

Refusal moved_badly(const BackingStore& backing, Reached why, std::size_t bytes) {
  if (why.trouble == Trouble::HostFull) {
    const std::optional<std::size_t> limit = backing.fill_limit().limit();
    return out_of_memory(
        "D-79",
        fmt::format(
            "writing {} bytes of device memory needs memory of this machine, and {}; contents of device "
            "memory take {} of it now",
            bytes, limit ? fmt::format("BELAY_COMMIT allows {}", amount(*limit)) : "there is not enough left",
            amount(backing.fill_limit().taken())),
        "the emulated devices are larger than the memory of this machine, and too much of them is in use",
        "free device memory or other memory of this machine, or set BELAY_BACKING=none if the contents do "
        "not matter");
  }
  if (why.trouble == Trouble::Gone) {
    return driver_refuses("M-239", "some of the memory was unmapped while it was copied or filled",
                          "wait for work on a mapping before aclrtUnmapMem");
  }
  const Unreachable words = unreachable(backing.obstacles());
  return refuse({ACL_ERROR_RT_COPY_DATA, "M-239", "EE1023", "the bytes of device memory could not be reached",
                 words.cause, words.remedy});
}

}  // namespace

namespace {
Refusal managed_is_gone(const Location& at, std::size_t bytes, const char* rule) {
  return driver_refuses(
      rule,
      fmt::format("not all of the {} bytes at {} are managed memory that is alive", bytes, hex(at.address)),
      "check address and size, and that the memory was not freed");
}
}  // namespace

Status Transfer::check_managed(const Location& at, std::size_t bytes, const char* rule) const {
  if (memory_.managed().hold({at.address}, bytes)) return done();
  const bool starts_well = memory_.managed().find(at.address).has_value();
  return as_misuse(managed_is_gone(at, bytes, rule), starts_well ? Misuse::BeyondEnd : Misuse::UsedAfterFree,
                   history_at(memory_, at.address));
}

void Transfer::note_managed(const Location& at, std::size_t bytes, bool writes) {
  if (!at.is(Location::Kind::Managed)) return;
  const bool host = by_ == By::Host;
  memory_.managed().note_access(at.address, bytes,
                                {host ? ManagedPlace::Type::Host : ManagedPlace::Type::Device,
                                 static_cast<std::int32_t>(host ? 0 : acting_)},
                                writes);
}

namespace {
// And not just to padding, or to addresses that once were reserved, in front of something that is alive now.
bool leads_to_something_freed(const Memory& memory, const Error& refusal, std::uintptr_t address) {
  if (refusal.misuse != Misuse::UsedAfterFree) return refusal.misuse != Misuse::UsedUnallocated;
  if (const std::optional<HeapMap::Ended> ended = memory.map().ended_around(address))
    return address < ended->start + ended->asked;
  const std::optional<observe::Life> ended = observe::ended_at_address(address);
  return !ended || ended->object != Object::Reservation;
}

// The live block that a range from an address without one runs into, or that begins in the next page: then
// the address was probably meant to be inside of it.
std::optional<Block> block_behind(const Memory& memory, std::uintptr_t address, std::size_t bytes) {
  for (const std::uintptr_t each : {address + (bytes - 1), (address | (4_KiB - 1)) + 1}) {
    if (!memory.is_device_address(each)) continue;
    if (std::optional<Block> found = memory.find(each); found && found->start > address) return found;
  }
  return std::nullopt;
}
}  // namespace

Status Transfer::check(const Location& at, std::size_t bytes, bool written, const char* rule) const {
  if (at.is(Location::Kind::Managed) || (!at.in_window && at.is(Location::Kind::Unallocated)))
    return check_managed(at, bytes, rule);
  if (at.is(Location::Kind::Alias)) {
    return as_misuse(
        driver_refuses(
            "M-210",
            fmt::format("{} is a device address of registered host memory, which is for device-side use only",
                        hex(at.address)),
            "use the host address of that memory here"),
        Misuse::WrongSide);
  }
  if (!at.in_window) return done();
  std::optional<Block> block;
  if (!at.is(Location::Kind::Unallocated)) block = at.block;
  std::uintptr_t address = at.address;
  for (std::size_t left = bytes;;) {
    if (!block || block->device != at.block.device) {
      if (const std::optional<std::string> taken = memory_.virtual_memory().revoked(address)) {
        return as_misuse(
            driver_refuses(
                "V-433", fmt::format("{} bytes at {}: {}", bytes, hex(at.address), *taken),
                "let all importers close the key first, with aclrtIpcMemClose, and the exporter last"),
            Misuse::UsedAfterFree);
      }
      if (address == at.address) {
        const std::optional<std::string> words = memory_.virtual_memory().describe(address);
        Refusal refusal = memory_.used_wrongly(
            driver_refuses(
                rule,
                words
                    ? fmt::format("the {} bytes at {} lead to no memory: {}", bytes, hex(at.address), *words)
                    : fmt::format(
                          "the {} bytes at {} are not allocated: no live block of the device is there", bytes,
                          hex(at.address)),
                words ? "map physical memory there with aclrtMapMem first"
                      : "check that the block was not freed, and that the address is the one that was "
                        "allocated"),
            address);
        const std::optional<Block> meant = block_behind(memory_, address, bytes);
        if (leads_to_something_freed(memory_, *refusal, address) || !meant) return refusal;
        if (!words) {
          refusal->what = fmt::format(
              "the {} bytes at {} begin {} before the block {} of {} bytes, where no live "
              "block is",
              bytes, hex(address), counted(meant->start - address, "byte"), hex(meant->start), meant->asked);
          refusal->solution = "check the offset: it is probably negative";
        }
        return as_misuse(std::move(refusal), Misuse::BeforeStart, history_at(memory_, meant->start));
      }
      if (const std::optional<std::string> words = memory_.virtual_memory().describe(address)) {
        return as_misuse(
            driver_refuses(
                "V-154",
                fmt::format("of the {} bytes at {} only the first {} lead to memory of one device; "
                            "then at {}: {}",
                            bytes, hex(at.address), address - at.address, hex(address), *words),
                "map physical memory everywhere in the range first"),
            Misuse::BeyondEnd, history_at(memory_, at.address));
      }
      return as_misuse(
          driver_refuses(rule,
                         fmt::format("of the {} bytes at {} only the first {} are allocated: {} bytes were "
                                     "asked for at {}, and their last page ends at {}",
                                     bytes, hex(at.address), address - at.address, at.block.asked,
                                     hex(at.block.start), hex(address)),
                         "check size and offset"),
          Misuse::BeyondEnd, history_at(memory_, at.address));
    }
    if (!block->may_be_used_by(memory_.settings().visible[acting_])) {
      return as_misuse(
          driver_refuses(
              "V-160",
              fmt::format("device {} may not use the mapping {} of {} bytes: it was made without access",
                          acting_, hex(block->start), block->asked),
              "grant access with aclrtMemSetAccess first"),
          Misuse::UsedWithoutAccess, history_at(memory_, address));
    }
    if (written && block->read_only) {
      return as_misuse(
          driver_refuses(
              "M-78", fmt::format("the block {} of device {} is read-only", hex(block->start), block->device),
              "do not use ACL_MEM_ACCESS_USER_SPACE_READONLY for memory that the program writes"),
          Misuse::WroteReadOnly, history_at(memory_, address));
    }
    const std::size_t here = block->start + block->footprint - address;
    if (left <= here) return done();
    left -= here;
    address += here;
    block = memory_.find(address);
  }
}

Status Transfer::check_pair(const Location& to, const Location& from) const {
  if (!to.in_window || !from.in_window || to.block.device == from.block.device) return done();
  if (to.block.device == kOnHost || from.block.device == kOnHost) return done();
  const Product product = memory_.settings().product->product;
  if (!has(product, Feature::PeerCopy)) {
    return unsupported("M-245",
                       fmt::format("{} does not copy between devices (from {} to {})",
                                   memory_.settings().product->family, from.block.device, to.block.device),
                       "copy through host memory");
  }
  if (!has(product, Feature::PeerCopyNeedsEnable)) return done();
  const std::uint32_t actor = acting_ == to.block.device ? to.block.device : from.block.device;
  const std::uint32_t other = actor == to.block.device ? from.block.device : to.block.device;
  if (memory_.peers().enabled(actor, other)) return done();
  return driver_refuses(
      "M-245", fmt::format("device {} has no access to the memory of device {}", actor, other),
      fmt::format("with device {} current, call aclrtDeviceEnablePeerAccess({}, 0) first", actor, other));
}

// Calls act(position, how far it is from the start, bytes) for each piece of a device range. Mappings whose
// bytes follow each other are one piece: large copies go past the caches, many small ones do not.
template <class Act>
Reached Transfer::by_piece(std::uintptr_t start, std::size_t bytes, Act&& act) {
  for (std::size_t done = 0; done < bytes;) {
    Memory::Piece piece = memory_.piece_at(start + done, bytes - done);
    if (piece.bytes == 0) return {Trouble::Gone};
    while (done + piece.bytes < bytes) {
      const Memory::Piece next = memory_.piece_at(start + done + piece.bytes, bytes - done - piece.bytes);
      if (next.bytes == 0 || next.at.file != piece.at.file || next.at.offset != piece.at.offset + piece.bytes)
        break;
      piece.bytes += next.bytes;
    }
    if (const Reached acted = act(piece.at, done, piece.bytes); !acted) return acted;
    done += piece.bytes;
  }
  return {};
}

Reached Transfer::pieces_of(std::uintptr_t start, std::size_t bytes,
                            std::vector<BackingStore::Stretch>& pieces) {
  return by_piece(start, bytes, [&](Position at, std::size_t, std::size_t part) -> Reached {
    pieces.push_back({at, part});
    return {};
  });
}

// All of a range can be written, or none of it is.
Reached Transfer::prepare(std::uintptr_t start, std::size_t bytes) {
  if (memory_.piece_at(start, bytes).bytes == bytes) return {};  // then the write itself sees to it
  std::vector<BackingStore::Stretch> pieces;
  const Reached found = pieces_of(start, bytes, pieces);
  return found ? memory_.backing().prepare(std::move(pieces)) : found;
}

Reached Transfer::write(std::uintptr_t to, const void* from, std::size_t bytes) {
  if (const Reached ready = prepare(to, bytes); !ready) return ready;
  return by_piece(to, bytes, [&](Position at, std::size_t done, std::size_t part) {
    return memory_.backing().write(at, static_cast<const std::byte*>(from) + done, part);
  });
}

Reached Transfer::read(std::uintptr_t from, void* to, std::size_t bytes) {
  return by_piece(from, bytes, [&](Position at, std::size_t done, std::size_t part) {
    return memory_.backing().read(at, static_cast<std::byte*>(to) + done, part);
  });
}

namespace {

// Whether two lists of pieces lead to no byte in common: two mappings may show the same memory.
bool are_apart(const std::vector<BackingStore::Stretch>& all,
               const std::vector<BackingStore::Stretch>& others) {
  for (const BackingStore::Stretch& one : others) {
    for (const BackingStore::Stretch& other : all) {
      if (one.start.file == other.start.file &&
          overlap(one.start.offset, one.bytes, other.start.offset, other.bytes))
        return false;
    }
  }
  return true;
}

}  // namespace

// In one piece at both ends, or piece by piece where they have nothing in common, or through a temporary: the
// two may lead to the same bytes in any order.
Reached Transfer::copy_on_device(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
  const Memory::Piece target = memory_.piece_at(to, bytes);
  const Memory::Piece source = memory_.piece_at(from, bytes);
  if (target.bytes == bytes && source.bytes == bytes)
    return memory_.backing().copy(target.at, source.at, bytes);
  if (const Reached ready = prepare(to, bytes); !ready) return ready;
  std::vector<BackingStore::Stretch> targets, sources;
  if (const Reached found = pieces_of(to, bytes, targets); !found) return found;
  if (const Reached found = pieces_of(from, bytes, sources); !found) return found;
  constexpr std::size_t kMost = 1024;  // comparing each with each
  if (targets.size() * sources.size() <= kMost * kMost && are_apart(targets, sources)) {
    return by_piece(to, bytes, [&](Position at, std::size_t done, std::size_t part) {
      return by_piece(from + done, part, [&](Position source_at, std::size_t further, std::size_t length) {
        return memory_.backing().copy(at + further, source_at, length);
      });
    });
  }
  const std::unique_ptr<std::byte[]> between{new std::byte[bytes]};
  const Reached got = read(from, between.get(), bytes);
  return got ? write(to, between.get(), bytes) : got;
}

Status Transfer::move(const Location& to, const Location& from, std::size_t bytes) {
  // Managed memory stays while it is copied. One lock covers all of it.
  const bool managed_to = to.is(Location::Kind::Managed), managed_from = from.is(Location::Kind::Managed);
  ManagedMemory::Hold alive;
  if (managed_to || managed_from) {
    alive = memory_.managed().hold(
        {managed_to ? to.address : from.address, managed_from ? from.address : to.address}, bytes);
    if (!alive) return managed_is_gone(managed_to ? to : from, bytes, "M-239");
  }
  Status moved = move_held(to, from, bytes);
  if (!alive) return moved;
  alive.unlock();
  if (moved) {
    note_managed(from, bytes, false);
    note_managed(to, bytes, true);
  }
  return moved;
}

Status Transfer::move_held(const Location& to, const Location& from, std::size_t bytes) {
  const ReaderGuard inside;
  const Following::Scope access{to.address, from.address, bytes};
  Reached moved;
  if (to.in_window && from.in_window) {
    moved = copy_on_device(to.address, from.address, bytes);
  } else if (to.in_window) {
    moved = write(to.address, reinterpret_cast<const void*>(from.address), bytes);
  } else if (from.in_window) {
    moved = read(from.address, reinterpret_cast<void*>(to.address), bytes);
  } else {
    // Rows may overlap; whole copies that do were refused.
    std::memmove(reinterpret_cast<void*>(to.address), reinterpret_cast<const void*>(from.address), bytes);
  }
  if (!moved) return moved_badly(memory_.backing(), moved, bytes);
  if (to.in_window) memory_.watch().tell(to.address, bytes);
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
  const HeapMap::Found block = map.find_plain(address);
  if (block.word == 0 || bytes > block.end() - address || (to_device && BlockWord::is_read_only(block.word)))
    return false;
  std::byte* place = memory_.backing().in_one_piece(memory_.plain(address), bytes);
  if (place == nullptr) return false;
  {
    const Following::Scope access{to, from, bytes};
    const platform::Unwatched of_the_program;
    std::memcpy(to_device ? place : to, to_device ? from : place, bytes);
  }
  if (to_device) memory_.watch().tell(address, bytes);
  return true;
}

Status Transfer::copy(void* to_pointer, const void* from_pointer, std::size_t bytes) {
  if (copy_plainly(to_pointer, from_pointer, bytes)) return done();
  const Location to = memory_.locate(to_pointer);
  const Location from = memory_.locate(from_pointer);
  if (Status fits = check_copy(to, from, bytes); !fits) return fits;
  if (!to.in_window && !from.in_window && overlap(to.address, bytes, from.address, bytes)) {
    return rejected("M-243", "src", hex(from_pointer),
                    fmt::format("the {} bytes there overlap the destination {}", bytes, hex(to_pointer)),
                    "use memmove for overlapping host memory");
  }
  return move(to, from, bytes);
}

Status Transfer::check_copy(const Location& to, const Location& from, std::size_t bytes) const {
  if (Status fits = check(to, bytes, true); !fits) return fits;
  if (Status fits = check(from, bytes, false); !fits) return fits;
  return check_pair(to, from);
}

Status Transfer::check_rows(const Location& to, std::size_t to_pitch, const Location& from,
                            std::size_t from_pitch, std::size_t width, std::size_t height) const {
  bool in_one_piece = true;  // all rows lie where row 0 lies
  for (const auto& [at, pitch] : {std::pair{&to, to_pitch}, std::pair{&from, from_pitch}}) {
    // (height - 1) * pitch + width bytes from the start must exist as numbers (M-319).
    std::size_t span = 0;
    std::size_t end = 0;
    if (__builtin_mul_overflow(height - 1, pitch, &span) || __builtin_add_overflow(span, width, &span) ||
        __builtin_add_overflow(span, at->address, &end)) {
      return driver_refuses(
          "M-319", fmt::format("{} rows with a pitch of {} end beyond the address space", height, pitch),
          "check pitch and height");
    }
    const auto all_there = [this](const Location& first, std::size_t bytes) {
      if (first.is(Location::Kind::Managed))
        return memory_.managed().hold({first.address}, bytes).owns_lock();
      if (!first.in_window) return !memory_.has_device_address(first.address, bytes);
      return !first.is_nothing() && first.address + bytes <= first.block.start + first.block.footprint;
    };
    in_one_piece = in_one_piece && all_there(*at, span);
  }
  if (Status fits = check_copy(to, from, width); !fits || in_one_piece) return fits;
  for (std::size_t row = 1; row < height; ++row) {  // all rows are checked before the first one moves
    const Location to_row = memory_.locate_bytes(to.address + row * to_pitch);
    const Location from_row = memory_.locate_bytes(from.address + row * from_pitch);
    if (Status fits = check(to_row, width, true); !fits) return fits;
    if (Status fits = check(from_row, width, false); !fits) return fits;
    if (to_row.in_window != to.in_window || from_row.in_window != from.in_window) {
      return driver_refuses("M-434", fmt::format("row {} is not in the same memory as row 0", row),
                            "check pitch and height");
    }
    if (Status pair = check_pair(to_row, from_row); !pair) return pair;
  }
  return done();
}

Status Transfer::copy_rows(const Location& to, std::size_t to_pitch, const Location& from,
                           std::size_t from_pitch, std::size_t width, std::size_t height) {
  if (Status fits = check_rows(to, to_pitch, from, from_pitch, width, height); !fits) return fits;
  const ReaderGuard inside;
  if (to.in_window) {
    const auto row_at = [&](std::size_t row) { return to.address + row * to_pitch; };
    Reached ready;
    if (memory_.is_plain(to.address) && row_at(height - 1) + width <= to.block.start + to.block.footprint) {
      ready = memory_.backing().prepare(height, [&](std::size_t row) {
        return BackingStore::Stretch{memory_.plain(row_at(row)), width};
      });
    } else {
      std::vector<BackingStore::Stretch> pieces;
      for (std::size_t row = 0; row < height && ready; ++row) ready = pieces_of(row_at(row), width, pieces);
      if (ready) ready = memory_.backing().prepare(std::move(pieces));
    }
    if (!ready) return moved_badly(memory_.backing(), ready, width * height);
  }
  Location to_row = to;
  Location from_row = from;
  for (std::size_t row = 0; row < height; ++row) {
    if (Status moved = move(to_row, from_row, width); !moved) return moved;
    to_row.address += to_pitch;
    from_row.address += from_pitch;
  }
  return done();
}

// What was written by other means than a copy.
Status Transfer::filled(const Location& to, std::size_t bytes, Reached how) {
  if (!how) return moved_badly(memory_.backing(), how, bytes);
  if (to.in_window) memory_.watch().tell(to.address, bytes);
  return done();
}

template <class OnDevice, class OnHost>
Status Transfer::fill_by(const Location& to, std::size_t bytes, const char* rule, OnDevice&& on_device,
                         OnHost&& on_host) {
  if (Status fits = check(to, bytes, true, rule); !fits) return fits;
  const ReaderGuard inside;
  Reached how;
  ManagedMemory::Hold alive;
  if (to.is(Location::Kind::Managed) && !(alive = memory_.managed().hold({to.address}, bytes)))
    return managed_is_gone(to, bytes, rule);
  if (!to.in_window) {
    const Following::Scope access{to.address, 0, bytes};
    on_host();
    if (alive) {
      alive.unlock();
      note_managed(to, bytes, true);
    }
  } else if (how = prepare(to.address, bytes); how) {
    how = by_piece(to.address, bytes,
                   [&](Position at, std::size_t, std::size_t part) { return on_device(at, part); });
  }
  return filled(to, bytes, how);
}

Status Transfer::fill(const Location& to, unsigned char value, std::size_t bytes) {
  return fill_by(
      to, bytes, "M-371",
      [&](Position at, std::size_t part) { return memory_.backing().fill(at, value, part); },
      [&] { std::memset(reinterpret_cast<void*>(to.address), value, bytes); });
}

Status Transfer::fill32(const Location& to, std::uint32_t value, std::size_t words) {
  return fill_by(
      to, words * 4, "M-434",
      [&](Position at, std::size_t part) { return memory_.backing().fill32(at, value, part / 4); },
      [&] { std::fill_n(reinterpret_cast<std::uint32_t*>(to.address), words, value); });
}

Status Transfer::store64(const Location& to, std::uint64_t value) {
  if (Status fits = check(to, sizeof value, true, "P-41"); !fits) return fits;
  const ReaderGuard inside;
  return filled(to, sizeof value,
                by_piece(to.address, sizeof value, [&](Position at, std::size_t, std::size_t) {
                  return memory_.backing().store64(at, value);
                }));
}

namespace {

bool counts_as_host(aclrtMemLocationType type) {
  return type == ACL_MEM_LOCATION_TYPE_HOST || type == ACL_MEM_LOCATION_TYPE_HOST_NUMA;
}

Status check_location(const Memory& memory, const Location& real, const char* parameter, std::size_t item,
                      const aclrtMemLocation& stated) {
  const bool fits = real.is(Location::Kind::Managed)
                        ? counts_as_host(stated.type) || stated.type == ACL_MEM_LOCATION_TYPE_MANAGED
                    : real.is_device()
                        ? stated.type == ACL_MEM_LOCATION_TYPE_DEVICE && stated.id == real.device()
                        : real.is_host() && counts_as_host(stated.type);
  if (fits) return done();
  const auto in_words = [&]() -> std::string {
    switch (real.kind) {
      case Location::Kind::Unallocated:
        return "a device address without a live block";
      case Location::Kind::Alias:
        return "a device address of registered host memory";
      case Location::Kind::Device:
        return fmt::format("device memory of device {}", real.device());
      case Location::Kind::Managed:
        return "managed memory";
      case Location::Kind::Pinned:
      case Location::Kind::Pageable:
        break;
    }
    return "host memory";
  };
  Refusal refusal = rejected("M-292", parameter, hex(real.address),
                             fmt::format("item {} is {}, but its attribute says type {} id {}", item,
                                         in_words(), static_cast<int>(stated.type), stated.id),
                             "state the real location of each end in the attributes");
  if (!real.is(Location::Kind::Unallocated))
    return as_misuse(std::move(refusal), Misuse::WrongDirection, history_at(memory, real.address));
  return memory.used_wrongly(std::move(refusal), real.address);
}

}  // namespace

Result<BatchEnds> check_batch_item(const Memory& memory, const BatchItem& item, std::size_t index) {
  const BatchEnds ends{memory.locate(item.to), memory.locate(item.from)};
  Status located = check_location(memory, ends.to, "dsts", index, item.attribute->dstLoc);
  if (located) located = check_location(memory, ends.from, "srcs", index, item.attribute->srcLoc);
  if (!located) return located.take_refusal();
  if (ends.to.is_device() == ends.from.is_device()) {
    return as_misuse(rejected("M-293", "dsts", hex(item.to),
                              fmt::format("both ends of item {} are on the {}", index,
                                          ends.to.is_device() ? "device" : "host"),
                              "a batch copies from host to device or from device to host"),
                     Misuse::WrongSide, history_at(memory, ends.to.address));
  }
  return ends;
}

Status copy_batch(Memory& memory, std::span<const BatchItem> items, std::size_t& fail_index) {
  std::vector<BatchEnds> all;
  all.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const BatchItem& item = items[i];
    if (item.to == nullptr || item.from == nullptr) {
      fail_index = i;
      return rejected("M-292", item.to == nullptr ? "dsts" : "srcs", "NULL",
                      fmt::format("item {} has no address", i), "pass an address for every item");
    }
    Result<BatchEnds> ends = check_batch_item(memory, item, i);
    if (!ends) {
      fail_index = i;
      return ends.take_refusal();
    }
    all.push_back(*ends);
  }
  const auto is_imported = [](const BatchEnds& ends) {
    return (ends.to.is_device() && ends.to.block.imported) ||
           (ends.from.is_device() && ends.from.block.imported);
  };
  if (const auto found = std::ranges::find_if(all, is_imported); found != all.end()) {
    fail_index = static_cast<std::size_t>(found - all.begin());
    return unsupported("M-302",
                       fmt::format("item {} is in memory that was imported from another process", fail_index),
                       "copy it with aclrtMemcpy");
  }
  const auto device_of = [](const BatchEnds& ends) {
    return ends.to.is_device() ? ends.to.device() : ends.from.device();
  };
  const bool mixed = std::ranges::any_of(all, [&](const BatchEnds& ends) {
    return ends.way() != all[0].way() || device_of(ends) != device_of(all[0]);
  });
  if (mixed) {
    return as_misuse(driver_refuses("M-294", "the batch mixes directions or devices",
                                    "use one batch for each direction and device"),
                     Misuse::WrongDirection);
  }
  for (const BatchItem& item : items) {
    if (item.bytes == 0) {
      return rejected("M-295", "sizes", 0, "some sizes are 0 and others are not",
                      "leave out items without bytes");
    }
  }
  Transfer transfer{memory, device_of(all[0])};
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (Status ready = transfer.check_copy(all[i].to, all[i].from, items[i].bytes); !ready) {
      fail_index = i;
      return ready;
    }
  }
  if (all[0].way() == Way::HostToDevice) {
    const ReaderGuard inside;
    std::vector<BackingStore::Stretch> targets;
    Reached found;
    for (std::size_t i = 0; i < items.size() && found; ++i)
      found = transfer.pieces_of(all[i].to.address, items[i].bytes, targets);
    const Reached ready = found ? memory.backing().prepare(std::move(targets)) : found;
    if (!ready) return moved_badly(memory.backing(), ready, items[0].bytes);
  }
  for (const BatchItem& item : items) {
    if (Status copied = transfer.copy(item.to, item.from, item.bytes); !copied) return copied;
  }
  return done();
}

}  // namespace belay
