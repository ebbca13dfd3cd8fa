#include "memory/ipc_keys.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/words.h"
#include "memory/history.h"
#include "memory/memory.h"
#include "memory/shared_words.h"
#include "memory/sharing_words.h"
#include "observe/observe.h"

namespace belay {
namespace {

using machine::Publishing;
using machine::Secret;
using machine::Share;
using machine::ShareId;
using machine::ShareKind;
using observe::Object;
using observe::What;

constexpr std::size_t kDigits = 16;  // of a word
static_assert(kKeyBytes == std::tuple_size_v<Secret> * kDigits + 1);

void tell(What what, Object object, std::uint64_t serial, std::uint32_t device, std::uintptr_t start,
          std::size_t bytes, bool swept = false) {
  observe::publish({.what = what,
                    .object = object,
                    .device = static_cast<std::uint8_t>(device),
                    .flags = swept ? observe::Event::kSwept : std::uint8_t{0},
                    .serial = serial,
                    .address = start,
                    .bytes = bytes});
}

}  // namespace

std::string text_of(const Secret& secret) {
  std::string text;
  for (const std::uint64_t word : secret) text += fmt::format("{:016x}", word);
  return text;
}

std::optional<Secret> secret_in(std::string_view text) {
  if (text.size() != kKeyBytes - 1) return std::nullopt;
  Secret secret{};
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const std::string_view digits = text.substr(i * kDigits, kDigits);
    if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
    std::from_chars(digits.data(), digits.data() + digits.size(), secret[i], 16);
  }
  return secret;
}

std::string shown(std::string_view key) { return fmt::format("{}…", key.substr(0, 8)); }

struct IpcKeys::Part {
  SharedWords words;
};

// Of a plain block one piece; of mapped memory one for each mapping, which stay pinned.
Result<std::vector<IpcKeys::Part>> IpcKeys::parts_at(std::uintptr_t start, std::size_t bytes) {
  const Location at = memory_.locate(start);
  if (!at.is_device() || at.block.read_only) {
    return memory_.used_wrongly(
        driver_refuses("V-386",
                       fmt::format("{}: {}", hex(start),
                                   at.is_device()                   ? "the block is read-only"
                                   : at.is(Location::Kind::Pinned)  ? "it is host memory"
                                   : at.is(Location::Kind::Managed) ? "it is managed memory"
                                                                    : memory_.describe(start)),
                       "export device memory of aclrtMalloc, or mapped virtual memory"),
        start);
  }
  std::vector<Part> parts;
  const auto add = [&](const machine::ExtentName& name, std::size_t offset, std::size_t length,
                       const Block& block) {
    parts.push_back({{.extent = name,
                      .offset = offset,
                      .bytes = length,
                      .device = memory_.settings().visible[block.device],
                      .page = block.page,
                      .p2p = block.p2p,
                      .module = block.module}});
  };
  if (at.block.mapped) {
    ASSIGN_OR_RETURN(const std::vector<VirtualMemory::KeyPart> found,
                     memory_.virtual_memory().pin_for_key(start, bytes));
    for (const VirtualMemory::KeyPart& each : found) {
      Block block = at.block;
      block.page = each.page;
      add(each.name, each.offset, each.bytes, block);
    }
    return parts;
  }
  const Block& block = at.block;
  if (start % page_bytes(block.page) != 0) {
    return driver_refuses("V-388",
                          fmt::format("{} is not a multiple of its page size, {}; the block starts at {}",
                                      hex(start), amount(page_bytes(block.page)), hex(block.start)),
                          "export from the start of a page on, for example the whole block");
  }
  if (bytes > block.start + block.footprint - start) {
    return driver_refuses("V-389",
                          fmt::format("the {} bytes at {} are not inside the block {} of {} bytes", bytes,
                                      hex(start), hex(block.start), block.asked),
                          "export a range of one block");
  }
  const std::optional<machine::ExtentName> name = memory_.physical().share(block.start);
  if (!name) return why_not_shared("V-386", memory_.backing(), memory_.plain(start));
  add(*name, start - block.start, bytes, block);
  return parts;
}

Result<Secret> IpcKeys::open(std::uintptr_t start, std::size_t bytes, bool checking) {
  const std::lock_guard lock{mutex_};
  const Location at = memory_.locate(start);
  ASSIGN_OR_RETURN(std::vector<Part> parts, parts_at(start, bytes));
  Exported made{.start = start,
                .bytes = bytes,
                .mapped = at.block.mapped,
                .block = at.block.start,
                .device = at.block.device,
                .serial = observe::next_serial(),
                .parts = {}};
  std::optional<Secret> secret;
  ShareId next = 0;
  for (std::size_t i = parts.size(); i-- > 0; next = (*secret)[0]) {
    parts[i].words.next = next;
    secret = machine_.shares().publish({.kind = i == 0 ? ShareKind::Key : ShareKind::KeyPart,
                                        .checking = checking,
                                        .words = parts[i].words.pack()});
    if (!secret) break;
    made.parts.push_back((*secret)[0]);
  }
  if (!secret) {
    for (const ShareId each : made.parts) machine_.shares().end(each);
    if (made.mapped) memory_.virtual_memory().unpin_for_key(start, bytes);
    return no_room_for_shares("V-391");
  }
  tell(What::Created, Object::Key, made.serial, made.device, start, bytes);
  exports_.emplace(*secret, std::move(made));
  return *secret;
}

bool IpcKeys::is_imported(const Secret& secret) const {
  const std::lock_guard lock{mutex_};
  return imports_.contains(secret);
}

Result<std::uintptr_t> IpcKeys::import(const Secret& secret, const Share& share, std::uint32_t device) {
  const std::lock_guard lock{mutex_};
  if (const auto found = imports_.find(secret); found != imports_.end()) {
    ++found->second->count;
    return found->second->start;
  }
  std::vector<VirtualMemory::Borrowed> parts;
  auto made = std::make_unique<Imported>(Imported{share, 0, 0, device, observe::next_serial()});
  const auto gone = [&] {
    return driver_refuses("V-413",
                          fmt::format("the IPC key {} was ended meanwhile by process {}",
                                      shown(text_of(secret)), share.process),
                          "export the memory again");
  };
  for (std::optional<Share> part = share; part;) {
    const SharedWords words = SharedWords::unpack(part->words, part->kind);
    int why = 0;
    ExtentPtr extent =
        memory_.physical().import({words.extent, device, words.page, words.p2p, words.module, true}, &why);
    if (!machine_.shares().stands(share)) return gone();
    if (extent == nullptr) return cannot_open("V-413", share.process, why);
    parts.push_back({std::move(extent), words.offset, words.bytes});
    made->bytes += words.bytes;
    if (words.next == 0) break;
    part = machine_.shares().find(words.next);
    if (!part) return gone();
  }
  ASSIGN_OR_RETURN(made->start, memory_.virtual_memory().map_borrowed(parts, made->share));
  tell(What::Created, Object::ImportedKey, made->serial, device, made->start, made->bytes);
  const std::uintptr_t start = made->start;
  imports_.emplace(secret, std::move(made));
  return start;
}

void IpcKeys::end(Exports::iterator which, bool swept) {
  Exported ended = std::move(which->second);
  exports_.erase(which);
  // The key first: whoever imports from now on finds nothing.
  for (auto part = ended.parts.rbegin(); part != ended.parts.rend(); ++part) machine_.shares().end(*part);
  if (ended.mapped) memory_.virtual_memory().unpin_for_key(ended.start, ended.bytes);
  tell(What::Destroyed, Object::Key, ended.serial, ended.device, ended.start, ended.bytes, swept);
}

void IpcKeys::end(Imports::iterator which, bool swept) {
  const std::unique_ptr<Imported> ended = std::move(which->second);  // the mappings look at it until they go
  imports_.erase(which);
  memory_.virtual_memory().unmap_borrowed(ended->start);
  tell(What::Destroyed, Object::ImportedKey, ended->serial, ended->device, ended->start, ended->bytes, swept);
}

Status IpcKeys::close(std::string_view key) {
  const std::lock_guard lock{mutex_};
  const std::optional<Secret> secret = secret_in(key);
  if (secret) {
    if (const auto found = imports_.find(*secret); found != imports_.end()) {
      if (--found->second->count == 0) end(found, false);
      return done();
    }
  }
  const auto exported = secret ? exports_.find(*secret) : exports_.end();
  if (const auto noted = attributes_.find(key); noted != attributes_.end() && exported == exports_.end()) {
    attributes_.erase(noted);
    return done();
  }
  if (exported != exports_.end()) {
    if (const auto noted = attributes_.find(key); noted != attributes_.end()) attributes_.erase(noted);
    end(exported, false);
    return done();
  }
  const std::optional<Share> others = secret ? machine_.shares().find(ShareKind::Key, *secret) : std::nullopt;
  return driver_refuses(
      "V-431",
      others ? fmt::format("the IPC key {} belongs to process {}, and this process has no open import of it",
                           shown(key), others->process)
             : fmt::format("there is no IPC key {}: it was closed before, or is not a key", shown(key)),
      "close a key once for each import, and once in the process that exported it");
}

void IpcKeys::note_attribute(std::string_view key) {
  const std::lock_guard lock{mutex_};
  attributes_.emplace(key);
}

void IpcKeys::end_block(std::uintptr_t start) {
  const std::lock_guard lock{mutex_};
  for (auto each = exports_.begin(); each != exports_.end();) {
    const auto next = std::next(each);
    if (!each->second.mapped && each->second.block == start) end(each, false);
    each = next;
  }
}

void IpcKeys::close_device(std::uint32_t device) {
  const std::lock_guard lock{mutex_};
  for (auto each = exports_.begin(); each != exports_.end();) {
    const auto next = std::next(each);
    if (each->second.device == device) end(each, true);
    each = next;
  }
  for (auto each = imports_.begin(); each != imports_.end();) {
    const auto next = std::next(each);
    if (each->second->device == device) end(each, true);
    each = next;
  }
}

void IpcKeys::close() {
  const std::lock_guard lock{mutex_};
  while (!exports_.empty()) end(exports_.begin(), true);
  while (!imports_.empty()) end(imports_.begin(), true);
  attributes_.clear();
}

std::vector<IpcKeys::One> IpcKeys::all() const {
  const std::lock_guard lock{mutex_};
  std::vector<One> all;
  for (const auto& [secret, each] : exports_)
    all.push_back({false, each.serial, each.start, each.bytes, each.device, shown(text_of(secret))});
  for (const auto& [secret, each] : imports_)
    all.push_back({true, each->serial, each->start, each->bytes, each->device, shown(text_of(secret))});
  return all;
}

}  // namespace belay
