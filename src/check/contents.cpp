#include "check/contents.h"

#include <array>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/findings.h"
#include "check/kept.h"
#include "check/shadow.h"
#include "memory/reader_guard.h"
#include "observe/lives.h"
#include "observe/observe.h"

namespace belay::check {
namespace {

using observe::Operation;
using observe::Told;
using observe::Touch;
using observe::What;
using Write = UnwrittenRead::Write;

// A block or physical memory that something was written to or read from.
struct Known {
  explicit Known(std::uint64_t bytes) : shadow{bytes} {}

  Shadow shadow;
  std::array<Write, 4> recent{};  // a few, so that one that is next to given bytes is among them
  std::uint8_t next = 0;

  void note(const Write& write) {
    const Write& last = recent[(next + recent.size() - 1) % recent.size()];
    if (last.site == write.site && last.offset == write.offset && last.bytes == write.bytes &&
        last.brought == write.brought)
      return;
    recent[next++ % recent.size()] = write;
  }
  // The copy that brought this byte, or else what was written nearest to it; of several the last one.
  Write beside(std::uint64_t offset) const {
    Write nearest;
    std::uint64_t least = UINT64_MAX;
    for (std::size_t i = 0; i < recent.size(); ++i) {
      const Write& each = recent[(next + i) % recent.size()];
      if (each.rows == 0) continue;
      const std::uint64_t end = each.offset + each.bytes;
      const std::uint64_t away = offset < each.offset ? each.offset - offset
                                 : offset >= end      ? offset - end + 1
                                                      : 0;
      if (away > least || (away == 0 && !each.brought && each.rows == 1)) continue;
      least = away;
      nearest = each;
    }
    return nearest;
  }
};

// As much of a range as lies in one block, or in one mapping of physical memory.
struct Piece {
  std::uint64_t extent = 0, offset = 0;
  std::uint64_t bytes = 0;  // of the range; 0: nothing is known there
  std::uint64_t size = 0;   // of the block as it was asked for, or of the physical memory
  bool judged = false;      // else somebody else may have written it
  Object object = Object::DeviceBlock;
  std::uintptr_t start = 0;  // of the block
};

// Blocks are told apart by their numbers, which follow each other: neighbours are in different shards.
struct alignas(64) Shard {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Known> all;
};

// What was found while locks of the runtime are held, until somebody can tell it.
struct ToTell {
  Finding finding;
  std::uintptr_t word = 0;  // that ended a wait, and what it was then
  std::uint64_t value = 0;
  Piece piece{};
};

struct Contents {
  explicit Contents(Memory& of) : memory{of} {}

  Memory& memory;
  std::array<Shard, 64> shards;
  std::mutex mutex;
  std::vector<ToTell> pending;
  std::atomic<bool> any_pending{false};
  // Queued work that writes and is not told to be done, by what it writes to; several extents share a number.
  std::array<std::atomic<std::int32_t>, 1024> writers{};

  std::atomic<std::int32_t>& writers_of(std::uint64_t extent) { return writers[extent % writers.size()]; }
  Shard& shard_of(std::uint64_t extent) { return shards[extent % shards.size()]; }
};
std::atomic<Contents*> g_contents{nullptr};

Piece piece_at(Contents& contents, std::uintptr_t address, std::uint64_t bytes) {
  Memory& memory = contents.memory;
  if (memory.is_plain(address)) {
    const std::optional<Block> block = memory.map().find(address);
    if (!block || block->origin == Origin::Host) return {};
    const std::uint64_t serial = block->serial != 0 ? block->serial : memory.map().name(block->start);
    const std::uint64_t offset = address - block->start;
    return {serial,
            offset,
            std::min<std::uint64_t>(bytes, block->footprint - offset),
            block->asked,
            !block->shared && !block->read_only,  // which only kernels write, and none runs here
            Object::DeviceBlock,
            block->start};
  }
  const ReaderGuard inside;
  const Mapping* mapping = memory.mappings().at(address);
  if (mapping == nullptr) return {};
  const Extent& extent = *mapping->extent;
  const std::uint64_t offset = address - mapping->start;
  return {extent.number,
          mapping->offset + offset,
          std::min<std::uint64_t>(bytes, mapping->bytes - offset),
          extent.bytes,
          extent.side == Side::Device && extent.serial == 0 && !std::atomic_ref{extent.was_shown}.load(),
          Object::Physical,
          mapping->start};
}

std::uint32_t made_at(Contents& contents, const Piece& piece) {
  return piece.object == Object::DeviceBlock ? contents.memory.map().site_of(piece.start)
                                             : observe::made_at(Object::Physical, piece.extent);
}

// One row of a touch. What the task touched when it was submitted may be gone, and something else be there.
class Row {
 public:
  Row(Contents& contents, const Touch& touch, std::uint64_t number)
      : contents_{contents},
        extent_{number == 0 ? touch.extent : 0},
        address_{touch.address + number * touch.pitch},
        left_{touch.on_device && touch.extent != 0 ? touch.bytes : 0} {}

  // Where it goes on; of no bytes at its end, and where nothing is known.
  const Piece& now() {
    if (here_.bytes == 0 && left_ != 0) {
      here_ = piece_at(contents_, address_, left_);
      if (here_.extent == 0 || (extent_ != 0 && here_.extent != extent_)) here_ = {};
      extent_ = 0;
      if (here_.bytes == 0) left_ = 0;
    }
    return here_;
  }
  void go_on(std::uint64_t bytes) {
    address_ += bytes;
    left_ -= bytes;
    here_.offset += bytes;
    here_.bytes -= bytes;
  }
  std::uintptr_t address() const { return address_; }

 private:
  Contents& contents_;
  std::uint64_t extent_;  // that should be there at first; 0: whatever is
  std::uintptr_t address_;
  std::uint64_t left_;
  Piece here_;
};

Known& known(Shard& shard, const Piece& piece) {
  return shard.all.try_emplace(piece.extent, piece.size).first->second;
}

// Where bytes came from that nobody wrote.
struct Missing {
  bool any = false;
  std::uint32_t from = 0;  // where that memory was allocated
};

void missing_in(Contents& contents, const Known& memory, const Piece& piece, std::uint64_t bytes,
                Missing& missing) {
  if (missing.any) return;
  const Shadow::Missing here = memory.shadow.missing(piece.offset, bytes);
  if (here.bytes == 0) return;
  const Write before = memory.beside(here.first);
  missing = {true, before.brought && before.from != 0 ? before.from : made_at(contents, piece)};
}

void written(Contents& contents, const Touch& touch, const char* function, std::uint32_t site) {
  for (std::uint64_t i = 0; i < touch.rows; ++i) {
    Row row{contents, touch, i};
    while (row.now().bytes != 0) {
      const Piece& piece = row.now();
      Shard& shard = contents.shard_of(piece.extent);
      {
        const std::lock_guard lock{shard.mutex};
        Known& memory = known(shard, piece);
        memory.shadow.set(piece.offset, piece.bytes);
        if (i == 0) memory.note({piece.offset, piece.bytes, touch.rows, function, site});
      }
      row.go_on(piece.bytes);
    }
  }
}

// What is known of the bytes of a piece, added at the end of what is known of those before it.
void look_at(Contents& contents, const Piece& piece, std::uint64_t bytes, Shadow& known_of, std::uint64_t at,
             Missing& missing) {
  if (!piece.judged) return known_of.set(at, bytes);
  Shard& shard = contents.shard_of(piece.extent);
  const std::lock_guard lock{shard.mutex};
  const Known& memory = known(shard, piece);
  known_of.carry(at, memory.shadow, piece.offset, bytes);
  missing_in(contents, memory, piece, bytes, missing);
}

// Bytes move as if through a temporary (M-244), and so does what is known of them, unless both ends are in
// one piece each, which is nearly always.
void copied_row(Contents& contents, Row& target, Row& source, std::uint64_t bytes, const char* function,
                std::uint32_t site) {
  Missing missing;
  if (target.now().bytes == bytes && source.now().bytes == bytes && source.now().judged) {
    const Piece &to = target.now(), &from = source.now();
    Shard &into = contents.shard_of(to.extent), &out_of = contents.shard_of(from.extent);
    const std::unique_lock first{&into <= &out_of ? into.mutex : out_of.mutex};
    std::unique_lock<std::mutex> second;
    if (&into != &out_of) second = std::unique_lock{&into <= &out_of ? out_of.mutex : into.mutex};
    Known& written_to = known(into, to);
    const Known& read_from = known(out_of, from);
    missing_in(contents, read_from, from, bytes, missing);
    written_to.shadow.carry(to.offset, read_from.shadow, from.offset, bytes);
    written_to.note({to.offset, bytes, 1, function, site, missing.any, missing.from});
    return;
  }
  Shadow between{bytes};
  std::uint64_t at = 0;
  for (; source.now().bytes != 0; source.go_on(source.now().bytes)) {
    look_at(contents, source.now(), source.now().bytes, between, at, missing);
    at += source.now().bytes;
  }
  between.set(at, bytes - at);  // where nothing is known, somebody may have written it
  for (at = 0; target.now().bytes != 0;) {
    const Piece& piece = target.now();
    Shard& shard = contents.shard_of(piece.extent);
    {
      const std::lock_guard lock{shard.mutex};
      Known& memory = known(shard, piece);
      memory.shadow.carry(piece.offset, between, at, piece.bytes);
      memory.note({piece.offset, piece.bytes, 1, function, site, missing.any, missing.from});
    }
    at += piece.bytes;
    target.go_on(piece.bytes);
  }
}

void copied_on_device(Contents& contents, const Touch& to, const Touch& from, const char* function,
                      std::uint32_t site) {
  for (std::uint64_t i = 0; i < to.rows; ++i) {
    Row target{contents, to, i}, source{contents, from, i};
    copied_row(contents, target, source, to.bytes, function, site);
  }
}

void put_aside(Contents& contents, ToTell to_tell) {
  const std::lock_guard lock{contents.mutex};
  contents.pending.push_back(std::move(to_tell));
  contents.any_pending.store(true, std::memory_order_release);
}

// A word that is not as fresh memory is, while something that writes there is not told to be done: that was
// done before the wait, and is told after it.
bool may_just_be_written(Contents& contents, const Piece& piece, std::uintptr_t word) {
  constexpr std::uint64_t kEachByte = 0x0101010101010101;
  return contents.memory.load64(word) != contents.memory.backing().fresh_byte() * kEachByte &&
         contents.writers_of(piece.extent).load() != 0;
}

// Bytes reach the host, or a wait goes on because of them. They count as written from then on: one mistake is
// told once.
void judge(Contents& contents, const Touch& touch, const Told& told) {
  const char* const function = told.event.function_name();
  const std::uint32_t site = told.event.site;
  const bool wait = told.event.operation == Operation::WaitValue;
  UnwrittenRead read;
  read.wait = wait;
  read.address = touch.address;
  read.bytes = touch.bytes * touch.rows;
  Piece found;
  for (std::uint64_t i = 0; i < touch.rows; ++i) {
    Row row{contents, touch, i};
    while (row.now().bytes != 0) {
      const Piece& piece = row.now();
      if (piece.judged) {
        Shard& shard = contents.shard_of(piece.extent);
        const std::lock_guard lock{shard.mutex};
        Known& memory = known(shard, piece);
        const Shadow::Missing missing = memory.shadow.missing(piece.offset, piece.bytes);
        if (missing.bytes != 0) {
          if (read.missing == 0) {
            found = piece;
            read.first = row.address() + (missing.first - piece.offset);
            read.offset = missing.first;
            read.object = piece.object;
            read.made_at = made_at(contents, piece);
            read.write = memory.beside(missing.first);
          }
          read.missing += missing.bytes;
          if (!wait) memory.shadow.set(piece.offset, piece.bytes);
        }
      }
      row.go_on(piece.bytes);
    }
  }
  if (read.missing == 0) return;
  if (wait && may_just_be_written(contents, found, touch.address))
    return written(contents, touch, function, site);
  Finding finding = read_unwritten(function, site, read);
  if (wait) {
    return put_aside(contents,
                     {std::move(finding), touch.address, contents.memory.load64(touch.address), found});
  }
  if (told.event.what == What::Done)
    return put_aside(contents, {std::move(finding)});  // the scheduler is locked
  report_finding(finding);
}

void done(Contents& contents, const Told& told) {
  const observe::Event& event = told.event;
  const char* function = event.function_name();
  for (std::size_t i = 0; i < told.touches.size(); ++i) {
    const Touch& touch = told.touches[i];
    if (!touch.writes) {
      if (event.operation != Operation::WaitValue) continue;
      // Whatever ended it by a write is told when that is done, which is later.
      if (told.details != nullptr && told.details->record != 0)
        written(contents, touch, function, event.site);
      else
        judge(contents, touch, told);
      continue;
    }
    const bool copy = i + 1 < told.touches.size() && !told.touches[i + 1].writes;
    if (!copy) {
      written(contents, touch, function, event.site);
      continue;
    }
    const Touch& from = told.touches[++i];
    if (!touch.on_device)
      judge(contents, from, told);
    else if (from.on_device)
      copied_on_device(contents, touch, from, function, event.site);
    else
      written(contents, touch, function, event.site);
  }
}

// A wait that was over from the start may have seen a word whose write was not told yet: then the word is
// known to be written by now, and is what the wait saw.
bool was_written_meanwhile(Contents& contents, const ToTell& to_tell) {
  Shard& shard = contents.shard_of(to_tell.piece.extent);
  const std::lock_guard lock{shard.mutex};
  const auto memory = shard.all.find(to_tell.piece.extent);
  if (memory == shard.all.end()) return false;
  Shadow& shadow = memory->second.shadow;
  const bool written = shadow.missing(to_tell.piece.offset, to_tell.piece.bytes).bytes == 0;
  shadow.set(to_tell.piece.offset, to_tell.piece.bytes);
  return written && contents.memory.load64(to_tell.word) == to_tell.value;
}

void tell_pending(Contents& contents) {
  if (!contents.any_pending.load(std::memory_order_acquire)) return;
  std::vector<ToTell> found;
  {
    const std::lock_guard lock{contents.mutex};
    found.swap(contents.pending);
    contents.any_pending.store(false, std::memory_order_release);
  }
  for (const ToTell& each : found) {
    if (each.word == 0 || !was_written_meanwhile(contents, each)) report_finding(each.finding);
  }
}

// Locks are held: it is only decided what is to be told, while it is known what was written.
void decide(Contents& contents, std::uint64_t extent) {
  if (!contents.any_pending.load(std::memory_order_acquire)) return;
  const std::lock_guard lock{contents.mutex};
  std::erase_if(contents.pending, [&](ToTell& each) {
    if (each.piece.extent != extent || each.word == 0) return false;
    const bool written = was_written_meanwhile(contents, each);
    each.word = 0;
    return written;
  });
}

void freed(Contents& contents, std::uint64_t extent) {
  decide(contents, extent);
  Shard& shard = contents.shard_of(extent);
  const std::lock_guard lock{shard.mutex};
  shard.all.erase(extent);
}

// Copies that find their addresses late are left out: what they write is not known when they are submitted.
void count_writers(Contents& contents, const Told& told, std::int32_t change) {
  const Operation operation = told.event.operation;
  if (operation > Operation::WriteValue || operation == Operation::CopyByDescriptor ||
      operation == Operation::CopyByOffset)
    return;
  for (const Touch& each : told.touches) {
    if (each.writes && each.extent != 0) contents.writers_of(each.extent) += change;
  }
}

void hear_contents(const observe::Batch& events) {
  Contents* contents = g_contents.load(std::memory_order_acquire);
  if (contents == nullptr) return;
  events.each([&](const Told& told) {
    const observe::Event& event = told.event;
    switch (event.what) {
      case What::Copied:
      case What::Filled:
        return done(*contents, told);
      case What::Submitted:
        return count_writers(*contents, told, 1);
      case What::Done:
        done(*contents, told);
        return count_writers(*contents, told, -1);
      case What::Failed:
      case What::Dropped:  // nobody knows how far it got
        for (const Touch& each : told.touches) {
          if (each.writes) written(*contents, each, event.function_name(), event.site);
        }
        return count_writers(*contents, told, -1);
      case What::Freed:
        return freed(*contents, event.serial);
      case What::Waited:
        return tell_pending(*contents);
      default:
        return;
    }
  });
}

}  // namespace

void watch_contents(Memory& memory) {
  // Where host code writes device memory itself, nobody knows what was written.
  if (memory.backing().host_may_touch()) return;
  g_contents.store(make_anew<Contents>(memory), std::memory_order_release);
  observe::listen(hear_contents,
                  {.wanted = observe::bits(What::Copied, What::Filled, What::Submitted, What::Done,
                                           What::Failed, What::Dropped, What::Freed, What::Waited),
                   .at_once = true});
}

void stop_watching_contents() {
  tell_pending_contents();
  observe::unlisten(hear_contents);
  g_contents.store(nullptr);
}

void tell_pending_contents() {
  if (Contents* contents = g_contents.load(std::memory_order_acquire)) tell_pending(*contents);
}

void forget_contents() { g_contents.store(nullptr); }

std::size_t contents_memory() {
  Contents* contents = g_contents.load(std::memory_order_acquire);
  if (contents == nullptr) return 0;
  std::size_t sum = sizeof(Contents);
  for (Shard& shard : contents->shards) {
    const std::lock_guard lock{shard.mutex};
    for (const auto& [number, each] : shard.all) sum += sizeof number + sizeof each + each.shadow.memory();
  }
  return sum;
}

}  // namespace belay::check
