#include "check/leaks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/words.h"
#include "check/findings.h"
#include "check/pieces.h"
#include "observe/lives.h"
#include "observe/observe.h"
#include "observe/stack_words.h"
#include "platform/files.h"
#include "platform/process.h"
#include "platform/symbolizer.h"

namespace belay::check {
namespace {

// Whose life the report is about, and what was listed before.
struct Books {
  Books(Memory& of, LeftOver ask) : memory{of}, left_over{std::move(ask)} {}

  Memory& memory;
  const LeftOver left_over;
  std::mutex mutex;
  std::unordered_set<std::uint64_t> listed;  // serial numbers of all but device blocks, which have a mark

  bool is_new(std::uint64_t serial) { return listed.insert(serial).second; }

  // As findings where the program is checked for them, else as lines of a list.
  std::vector<Leak> leaks;
  std::string told(const Pieces& pieces, const Pieces::Words& words) {
    if (!check_settings().on()) return pieces.text(words);
    if (!is_checked(MisuseClass::Leaks)) return {};
    std::ranges::move(pieces.leaks(words), std::back_inserter(leaks));
    return {};
  }
};
std::atomic<Books*> g_books{nullptr};

// --- blocks ---------------------------------------------------------------------------------------

// `host`: host memory of the RC form, which is on the device.
void add_blocks(Memory& memory, std::uint32_t device, bool host, Pieces& pieces) {
  std::vector<Block> blocks;
  memory.map().for_each_block(device, [&](const Block& block) {
    if ((block.origin == Origin::Host) == host && !block.leak_reported) blocks.push_back(block);
  });
  for (const Block& block : blocks) {
    memory.map().mark_leak_reported(block.start);
    pieces.add({block.start, block.footprint, block.asked, page_bytes(block.page),
                memory.map().site_of(block.start)});
  }
}

// --- virtual memory -------------------------------------------------------------------------------

// Of one device, or of the host: physical memory that was never freed, and what is still mapped of it. A
// handle that was freed lives on in its mappings, which are all that is missing then.
std::string physical_text(Books& books, std::optional<std::uint32_t> device) {
  const VirtualMemory& memory = books.memory.virtual_memory();
  const auto here = [device](const Extent& extent) {
    return device ? extent.side == Side::Device && extent.device == *device : extent.side == Side::Host;
  };
  Pieces physical, mapped;
  memory.for_each_physical([&](const Physical& each) {
    if (each.references != 0 && here(*each.extent) && books.is_new(each.extent->number))
      physical.add({each.handle, each.plan.bytes, each.plan.asked, page_bytes(each.plan.page),
                    observe::made_at(device ? Object::Physical : Object::HostPhysical, each.extent->number)});
  });
  memory.for_each_mapping([&](const Mapping& each) {
    if (here(*each.extent) && books.is_new(each.serial))
      mapped.add({each.start, each.bytes, 0, 0, observe::made_at(Object::Mapping, each.serial)});
  });
  const std::string place = device ? fmt::format("device {}", *device) : "the host";
  return books.told(physical, {.one = fmt::format("piece of physical memory of {}", place),
                               .several = fmt::format("pieces of physical memory of {}", place),
                               .given_back_with = "aclrtFreePhysical",
                               .where = "handle"}) +
         books.told(mapped, {.one = fmt::format("mapping of memory of {}", place),
                             .several = fmt::format("mappings of memory of {}", place),
                             .given_back_with = "aclrtUnmapMem",
                             .made = "mapped"});
}

// --- what goes to other processes, and comes from them --------------------------------------------

std::string shared_text(Books& books, std::uint32_t device) {
  Pieces exported, imported, handles;
  for (const IpcKeys::One& each : books.memory.keys().all()) {
    if (each.device != device || !books.is_new(each.serial)) continue;
    const Object object = each.imported ? Object::ImportedKey : Object::Key;
    (each.imported ? imported : exported)
        .add({each.start, each.bytes, 0, 0, observe::made_at(object, each.serial)});
  }
  books.memory.virtual_memory().for_each_imported([&](const Physical& each) {
    if (each.references != 0 && each.extent->device == device && books.is_new(each.extent->number))
      handles.add({each.handle, each.plan.bytes, each.plan.asked, page_bytes(each.plan.page),
                   observe::made_at(Object::ImportedPhysical, each.extent->number)});
  });
  const auto words = [&](Object object) {
    const ObjectWords of = words_of(object);
    return Pieces::Words{.one = fmt::format("{} on device {}", of.one, device),
                         .several = fmt::format("{} on device {}", of.several, device),
                         .given_back_with = of.given_back_with,
                         .made = of.made};
  };
  Pieces::Words of_handles = words(Object::ImportedPhysical);
  of_handles.where = "handle";
  return books.told(exported, words(Object::Key)) + books.told(imported, words(Object::ImportedKey)) +
         books.told(handles, of_handles);
}

std::string reservations_text(Books& books) {
  Pieces pieces;
  books.memory.virtual_memory().for_each_reservation([&](const Reservation& each) {
    if (books.is_new(each.serial))
      pieces.add({each.start, each.bytes, each.asked, 0, observe::made_at(Object::Reservation, each.serial)});
  });
  return books.told(pieces, {.one = "reservation of addresses",
                             .several = "reservations of addresses",
                             .given_back_with = "aclrtReleaseMemAddress",
                             .made = "reserved"});
}

std::string managed_text(Books& books) {
  Pieces pieces;
  books.memory.managed().for_each([&](const observe::Event& born) {
    if (books.is_new(born.serial))
      pieces.add(
          {born.address, round_up(born.bytes, kManagedPage).value_or(born.bytes), born.bytes, 0, born.site});
  });
  return books.told(pieces, {.one = "piece of managed memory",
                             .several = "pieces of managed memory",
                             .given_back_with = "aclrtFree"});
}

// --- by place -------------------------------------------------------------------------------------

std::string device_text(Books& books, std::uint32_t device) {
  Pieces pieces;
  add_blocks(books.memory, device, false, pieces);
  return books.told(pieces, {.one = fmt::format("block of device {}", device),
                             .several = fmt::format("blocks of device {}", device)}) +
         physical_text(books, device) + shared_text(books, device);
}

std::string host_text(Books& books) {
  Memory& memory = books.memory;
  Pieces pinned, registered;
  for (std::uint32_t device = 0; device < memory.settings().devices(); ++device)
    add_blocks(memory, device, true, pinned);
  const auto add_to = [&books](Pieces& pieces) {
    return [&books, &pieces](const observe::Event& born) {
      if (books.is_new(born.serial)) pieces.add({born.address, born.footprint(), born.bytes, 0, born.site});
    };
  };
  memory.host().for_each_block(add_to(pinned));
  memory.host().for_each_registration(add_to(registered));
  return books.told(pinned,
                    {.one = "pinned block of host memory", .several = "pinned blocks of host memory"}) +
         books.told(registered, {.one = "registered range of host memory",
                                 .several = "registered ranges of host memory",
                                 .made = "registered"}) +
         physical_text(books, std::nullopt) + reservations_text(books) + managed_text(books);
}

// --- all else -------------------------------------------------------------------------------------

constexpr std::array kKinds{Object::Context, Object::Stream,      Object::Event,
                            Object::Notify,  Object::CountNotify, Object::DataBuffer};

std::string objects_text(Books& books, const std::vector<observe::Alive>& left) {
  std::array<std::map<std::uint32_t, std::size_t>, kKinds.size()> counts;  // by place in the program
  for (const observe::Alive& each : left) {
    const auto kind = std::ranges::find(kKinds, each.object);
    if (kind != kKinds.end() && books.is_new(each.serial))
      ++counts[static_cast<std::size_t>(kind - kKinds.begin())][observe::made_at(each.object, each.serial)];
  }
  std::string text;
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    const ObjectWords words = words_of(kKinds[i]);
    for (const auto& [site, count] : counts[i]) {
      if (check_settings().on()) {
        if (!is_checked(MisuseClass::Leaks)) continue;
        books.leaks.push_back({std::string{words.one}, std::string{words.several}, words.given_back_with,
                               words.made, count, 0, 0, "", site});
        continue;
      }
      text +=
          fmt::format("belay:   {} ({})\n", counted(count, words.one, words.several), words.given_back_with);
      text += observe::happened_words(words.made, site, "belay:     ");
    }
  }
  return text;
}

// --- the report -----------------------------------------------------------------------------------

// One for each place, as the source of the program names it: a compiler may have made several calls out of
// one line, and pieces from one line may differ in size.
std::vector<Leak> by_place(std::vector<Leak> leaks) {
  std::map<std::uint32_t, std::string> places;
  std::map<std::pair<std::string, std::string>, std::size_t> known;  // what and where
  std::vector<Leak> merged;
  for (Leak& each : leaks) {
    const auto [place, is_new] = places.try_emplace(each.site);
    if (is_new) place->second = platform::symbolised(observe::happened_words(each.made, each.site, ""));
    const auto [at, first] = known.try_emplace({each.one, place->second}, merged.size());
    if (first) {
      merged.push_back(std::move(each));
      continue;
    }
    Leak& all = merged[at->second];
    all.count += each.count;
    all.bytes += each.bytes;
    if (each.first < all.first) all.first = each.first;
  }
  return merged;
}

void print(Books& books, const char* rule, const std::string& moment, const std::string& lists) {
  for (const Leak& each : by_place(std::exchange(books.leaks, {})))
    report_finding(never_given_back(each, rule));
  if (lists.empty()) return;
  platform::print_line(
      true, platform::symbolised(
                fmt::format("belay: never given back by process {} {} [rule {}]:\n{}"
                            "belay: free or destroy each with the function that matches the one that made it "
                            "(BELAY_LEAKS=off turns this list off)\n",
                            platform::process_id(), moment, rule, lists)));
}

void tell_device(Books& books, std::uint32_t device) {
  const std::lock_guard lock{books.mutex};
  const std::vector<observe::Alive> left = books.left_over();
  std::vector<observe::Alive> ended;
  std::ranges::copy_if(left, std::back_inserter(ended),
                       [](const observe::Alive& each) { return each.ended; });
  const std::string lists = device_text(books, device) + objects_text(books, ended);
  print(books, "M-409", fmt::format("when device {} was reset", device), lists);
}

void tell_all(Books& books, const char* rule, const std::string& moment) {
  const std::lock_guard lock{books.mutex};
  std::string lists;
  for (std::uint32_t device = 0; device < books.memory.settings().devices(); ++device)
    lists += device_text(books, device);
  lists += host_text(books);
  lists += objects_text(books, books.left_over());
  print(books, rule, moment, lists);
}

void hear_ends(const observe::Batch& events) {
  Books* open = g_books.load(std::memory_order_acquire);
  if (open == nullptr) return;
  events.each([open](const observe::Told& told) {
    if (told.event.what == observe::What::DeviceClosing)
      tell_device(*open, told.event.device);
    else
      tell_all(*open, "R-41", "at aclFinalize");
  });
}

}  // namespace

void report_leaks(Memory& memory, LeftOver left_over) {
  static auto* all = new std::vector<std::unique_ptr<Books>>;  // a straggler may still hold one from before
  constexpr std::size_t kKept = 4;
  if (all->size() >= kKept) all->erase(all->begin());
  g_books.store(all->emplace_back(std::make_unique<Books>(memory, std::move(left_over))).get(),
                std::memory_order_release);
  // At once: when the device is closed, there is nothing left to find.
  observe::listen(hear_ends,
                  {.wanted = bits(observe::What::DeviceClosing, observe::What::Finalized), .at_once = true});
}

void stop_reporting_leaks() {
  observe::unlisten(hear_ends);
  g_books.store(nullptr, std::memory_order_release);
}

void report_leaks_at_exit() {
  if (Books* open = g_books.load(std::memory_order_acquire)) tell_all(*open, "M-411", "when it ended");
}

}  // namespace belay::check
