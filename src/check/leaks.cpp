#include "check/leaks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/words.h"
#include "observe/observe.h"
#include "platform/files.h"
#include "platform/process.h"

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
};
std::atomic<Books*> g_books{nullptr};

// --- memory ---------------------------------------------------------------------------------------

// Equal pieces are one line.
class Pieces {
 public:
  void add(std::uintptr_t start, std::size_t asked, std::size_t footprint, std::size_t page) {
    Group& group = groups_.try_emplace({footprint, asked, page}, Group{start, 0}).first->second;
    group.first = std::min(group.first, start);
    ++group.count;
    ++count_;
    bytes_ += footprint;
  }

  std::string text(std::string_view one, std::string_view several) const {
    if (count_ == 0) return {};
    std::string text = fmt::format("belay:   {}, {}:\n", counted(count_, one, several), amount(bytes_));
    std::vector<std::pair<Key, Group>> groups{groups_.begin(), groups_.end()};
    std::ranges::stable_sort(groups, std::greater{},
                             [](const auto& each) { return each.second.count * std::get<0>(each.first); });
    std::size_t left = count_;
    for (std::size_t i = 0; i < std::min(groups.size(), kMostListed); ++i) {
      const auto& [footprint, asked, page] = groups[i].first;
      const Group& group = groups[i].second;
      text += fmt::format("belay:     {} × {} ({} asked for{}), {}at {}\n", group.count, amount(footprint),
                          counted(asked, "byte"), page == 0 ? "" : fmt::format(", in {} pages", amount(page)),
                          group.count == 1 ? "" : "the first ", hex(group.first));
      left -= group.count;
    }
    if (left != 0) text += fmt::format("belay:     ... and {} more\n", left);
    return text;
  }

 private:
  static constexpr std::size_t kMostListed = 10;
  using Key = std::tuple<std::size_t, std::size_t, std::size_t>;  // footprint, asked, page
  struct Group {
    std::uintptr_t first;
    std::size_t count;
  };
  std::map<Key, Group> groups_;
  std::size_t count_ = 0, bytes_ = 0;
};

// `host`: host memory of the RC form, which is on the device.
void add_blocks(Memory& memory, std::uint32_t device, bool host, Pieces& pieces) {
  std::vector<Block> blocks;
  memory.map().for_each_block(device, [&](const Block& block) {
    if ((block.origin == Origin::Host) == host && !block.leak_reported) blocks.push_back(block);
  });
  for (const Block& block : blocks) {
    memory.map().mark_leak_reported(block.start);
    pieces.add(block.start, block.asked, block.footprint, page_bytes(block.page));
  }
}

std::string device_text(Memory& memory, std::uint32_t device) {
  Pieces pieces;
  add_blocks(memory, device, false, pieces);
  return pieces.text(fmt::format("block of device {}", device), fmt::format("blocks of device {}", device));
}

std::string host_text(Books& books) {
  Memory& memory = books.memory;
  Pieces pinned, registered;
  for (std::uint32_t device = 0; device < memory.settings().devices(); ++device)
    add_blocks(memory, device, true, pinned);
  const auto add_to = [&books](Pieces& pieces) {
    return [&books, &pieces](const observe::Event& born) {
      if (books.is_new(born.serial)) pieces.add(born.address, born.bytes, born.footprint(), 0);
    };
  };
  memory.host().for_each_block(add_to(pinned));
  memory.host().for_each_registration(add_to(registered));
  return pinned.text("pinned block of host memory", "pinned blocks of host memory") +
         registered.text("registered range of host memory", "registered ranges of host memory");
}

// --- all else -------------------------------------------------------------------------------------

struct Kind {
  observe::Object object;
  std::string_view one, several, given_back_with;
};
constexpr std::array kKinds{
    Kind{observe::Object::Context, "context", "contexts", "aclrtDestroyContext"},
    Kind{observe::Object::Stream, "stream", "streams", "aclrtDestroyStream"},
    Kind{observe::Object::Event, "event", "events", "aclrtDestroyEvent"},
    Kind{observe::Object::Notify, "notify", "notifies", "aclrtDestroyNotify"},
    Kind{observe::Object::CountNotify, "count notify", "count notifies", "aclrtCntNotifyDestroy"},
    Kind{observe::Object::DataBuffer, "data buffer", "data buffers", "aclDestroyDataBuffer"},
};

std::string objects_text(Books& books, const std::vector<observe::Alive>& left) {
  std::array<std::size_t, kKinds.size()> counts{};
  for (const observe::Alive& each : left) {
    const auto kind = std::ranges::find(kKinds, each.object, &Kind::object);
    if (kind != kKinds.end() && books.is_new(each.serial))
      ++counts[static_cast<std::size_t>(kind - kKinds.begin())];
  }
  std::string text;
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (counts[i] == 0) continue;
    text += fmt::format("belay:   {} ({})\n", counted(counts[i], kKinds[i].one, kKinds[i].several),
                        kKinds[i].given_back_with);
  }
  return text;
}

// --- the report -----------------------------------------------------------------------------------

void print(const std::string& moment, const std::string& lists) {
  if (lists.empty()) return;
  platform::print_line(
      true, fmt::format("belay: never given back by process {} {}:\n{}"
                        "belay: free or destroy each with the function that matches the one that made it "
                        "(BELAY_LEAKS=off turns this list off)\n",
                        platform::process_id(), moment, lists));
}

void tell_device(Books& books, std::uint32_t device) {
  const std::lock_guard lock{books.mutex};
  const std::vector<observe::Alive> left = books.left_over();
  std::vector<observe::Alive> ended;
  std::ranges::copy_if(left, std::back_inserter(ended),
                       [](const observe::Alive& each) { return each.ended; });
  print(fmt::format("when device {} was reset [rule M-409]", device),
        device_text(books.memory, device) + objects_text(books, ended));
}

void tell_all(Books& books, const std::string& moment) {
  const std::lock_guard lock{books.mutex};
  std::string lists;
  for (std::uint32_t device = 0; device < books.memory.settings().devices(); ++device)
    lists += device_text(books.memory, device);
  lists += host_text(books);
  lists += objects_text(books, books.left_over());
  print(moment, lists);
}

void hear_ends(const observe::Batch& events) {
  Books* open = g_books.load(std::memory_order_acquire);
  if (open == nullptr) return;
  events.each([open](const observe::Told& told) {
    if (told.event.what == observe::What::DeviceClosing)
      tell_device(*open, told.event.device);
    else
      tell_all(*open, "at aclFinalize [rule R-41]");
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
  if (Books* open = g_books.load(std::memory_order_acquire)) tell_all(*open, "when it ended [rule M-411]");
}

}  // namespace belay::check
