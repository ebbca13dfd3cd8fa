#include "check/finding.h"

#include <string_view>

#include "base/code_names.h"
#include "base/words.h"
#include "observe/stack_words.h"

namespace belay::check {
namespace {

// What the program did, in the words of somebody who never read the manual.
std::string_view headline_of(Misuse misuse) {
  switch (misuse) {
    case Misuse::FreedTwice:
      return "freed memory that was freed already";
    case Misuse::FreedInside:
      return "was given an address inside a block, not its start";
    case Misuse::FreedForeign:
      return "was given memory that AscendCL did not allocate";
    case Misuse::FreedByWrongFunction:
      return "is not the function that gives this memory back";
    case Misuse::FreedInUse:
      return "freed memory that queued work still uses";
    case Misuse::UsedAfterFree:
      return "used memory that is freed already";
    case Misuse::UsedUnallocated:
      return "was given a device address where nothing is allocated";
    case Misuse::UsedAfterEnd:
      return "was given a handle that is destroyed already";
    case Misuse::UsedUnknown:
      return "was given a handle that does not exist";
    case Misuse::UsedWithoutAccess:
      return "used a mapping that the device has no access to";
    case Misuse::BeyondEnd:
      return "went beyond the end of a block";
    case Misuse::BeforeStart:
      return "went before the start of a block";
    case Misuse::SegmentsTooClose:
      return "found segments that break the rule for cutting a block";
    case Misuse::WrongDirection:
      return "was told another direction than its addresses have";
    case Misuse::WrongSide:
      return "was given memory of the wrong side: host for device, or the reverse";
    case Misuse::AccessNotGranted:
      return "was asked for access that cannot be granted so";
    case Misuse::ReleasedWhileMapped:
      return "tried to release addresses where memory is still mapped";
    case Misuse::MappedWrongly:
      return "cannot map memory at this place";
    case Misuse::WroteReadOnly:
      return "wrote to memory that is read-only";
    default:
      return "went wrong";
  }
}

}  // namespace

const char* headline_of_fault(bool ours, bool on_device, bool write) {
  if (ours)
    return on_device ? "a call used device memory where it takes host memory"
                     : "a call used a host pointer that leads nowhere";
  if (!on_device) return "host code used memory that is gone";
  return write ? "host code wrote to device memory" : "host code read device memory";
}

std::string Finding::text() const {
  std::string lines = fmt::format("belay: {}: {}{}{} [{}]\n", row().id, function, function.empty() ? "" : " ",
                                  headline, name_of(row().of));
  lines += observe::stack_words(site, "belay:   ");
  if (!values.empty()) lines += fmt::format("belay:   {}\n", values);
  lines += observe::happened_words(before, "belay:   ");
  if (!cure.empty()) lines += fmt::format("belay:   what to do: {}\n", cure);
  if (!rule.empty()) lines += fmt::format("belay:   rule {0}; 'belay rule {0}' shows it\n", rule);
  return lines;
}

Finding refused_call(const char* function, const Error& error, std::uint32_t site) {
  return {error.misuse,
          function,
          fmt::format("{}{}", error.task == 0 ? "" : "was told of a task that ", headline_of(error.misuse)),
          fmt::format("it returned {}: {}", error.code, error.what),
          site,
          error.before,
          error.rule,
          error.solution};
}

Finding freed_in_use(const char* function, std::uint32_t site, Object object, std::uintptr_t address,
                     std::size_t bytes, std::uint32_t made_at, const TaskInUse& task) {
  const ObjectWords words = words_of(object);
  Finding finding{Misuse::FreedInUse,
                  function,
                  std::string{headline_of(Misuse::FreedInUse)},
                  fmt::format("the {} {} ({} bytes) is needed by task {}, which has not been done yet",
                              words.one, hex(address), bytes, task.number),
                  site,
                  {},
                  object == Object::Mapping || object == Object::Physical ? "V-20" : "M-114",
                  fmt::format("wait for the stream (aclrtSynchronizeStream) before {}", function)};
  if (task.site != 0)
    finding.before.push_back({fmt::format("task {} was submitted", task.number), task.site});
  if (made_at != 0) finding.before.push_back({fmt::format("the {} was {}", words.one, words.made), made_at});
  return finding;
}

namespace {

std::string_view one(Object object) {
  return object == Object::HostBlock ? "pinned block" : words_of(object).one;
}

std::string what_is_accessed(const JudgedAccess& access) {
  const observe::Touch& touch = access.touch;
  const std::string_view verb =
      touch.writes ? (access.queued ? "writes" : "wrote") : (access.queued ? "reads" : "read");
  std::string words =
      access.item < 0 ? fmt::format("it {} ", verb) : fmt::format("item {} {} ", access.item, verb);
  if (touch.rows == 1)
    return words + fmt::format("{} at {}", counted(touch.bytes, "byte"), hex(touch.address));
  return words + fmt::format("{} rows of {}, {} apart, at {}", touch.rows, counted(touch.bytes, "byte"),
                             touch.pitch, hex(touch.address));
}

std::string what_it_is(const Owned& owned) {
  return fmt::format("the {} {} has {}", one(owned.object), hex(owned.start), counted(owned.bytes(), "byte"));
}

const char* rule_of_bounds(const JudgedAccess& access, const Owned& owned, const OutOfBounds& out) {
  const bool word = access.function == std::string_view{"aclrtValueWrite"} ||
                    access.function == std::string_view{"aclrtValueWait"};
  if (word) return "P-38";
  if (owned.mapped) return out.neighbour ? "V-154" : "V-119";
  return out.neighbour ? "M-242" : "M-40";
}

}  // namespace

Finding left_its_block(const JudgedAccess& access, const Owned& owned, const OutOfBounds& out,
                       std::vector<Happened> before) {
  const observe::Touch& touch = access.touch;
  const bool before_start = out.begins_outside && out.neighbour;
  const std::string_view verb = touch.writes ? "wrote" : "read";
  Finding finding{before_start ? Misuse::BeforeStart : Misuse::BeyondEnd,
                  access.function,
                  "",
                  what_is_accessed(access),
                  access.site,
                  std::move(before),
                  rule_of_bounds(access, owned, out),
                  touch.rows > 1 ? "check pitch, width, height and offset"
                                 : "check size and offset; what rounding and padding add to a block is not "
                                   "the program's"};
  if (before_start) {
    const Owned& meant = *out.neighbour;
    finding.headline = fmt::format("{} before the start of a {}", verb, one(meant.object));
    finding.values +=
        fmt::format(": that is {} before the start of the {} {}, in the padding of the {} {} of {}",
                    counted(meant.start - touch.address, "byte"), one(meant.object), hex(meant.start),
                    one(owned.object), hex(owned.start), counted(owned.bytes(), "byte"));
    finding.cure = "check the offset: it is probably negative";
    return finding;
  }
  finding.headline = fmt::format("{} beyond the end of a {}{}", verb, one(owned.object),
                                 out.neighbour ? ", into another one" : "");
  finding.values += fmt::format(": {}, ", what_it_is(owned));
  if (out.begins_outside) {
    finding.values += touch.address == owned.end ? std::string{"and ends there"}
                                                 : fmt::format("and ends {} before that",
                                                               counted(touch.address - owned.end, "byte"));
    finding.values += ", so all of it lies outside";
  } else if (touch.rows > 1) {
    finding.values += fmt::format("and row {} is the first that ends outside of it; {} in all lie outside",
                                  out.row, counted(out.outside, "byte"));
  } else {
    finding.values += out.outside == 1
                          ? std::string{"so the last byte lies outside of it"}
                          : fmt::format("so the last {} lie outside of it", counted(out.outside, "byte"));
  }
  if (out.neighbour) {
    finding.values += fmt::format(
        ", {}in the {} {} of {}",
        out.into_neighbour == out.outside ? "" : fmt::format("{} of them ", out.into_neighbour),
        one(out.neighbour->object), hex(out.neighbour->start), counted(out.neighbour->bytes(), "byte"));
  } else {
    finding.values += ", in its padding";
  }
  return finding;
}

Finding freed_meanwhile(const JudgedAccess& access, std::vector<Happened> before) {
  return {
      Misuse::UsedAfterFree,
      access.function,
      "used memory that was freed meanwhile",
      fmt::format("{}, and when it was done, nothing was allocated there any more", what_is_accessed(access)),
      access.site,
      std::move(before),
      "V-19",
      "let the thread that frees wait for those that use the memory"};
}

Finding used_without_question(const JudgedAccess& access, std::vector<Happened> before) {
  const Misuse misuse = before.size() > 1 ? Misuse::UsedAfterFree : Misuse::UsedUnallocated;
  return {
      misuse,
      access.function,
      std::string{headline_of(misuse)},
      fmt::format("{}, where nothing is allocated; no call is refused for that", what_is_accessed(access)),
      access.site,
      std::move(before),
      "V-361",
      "pass memory of the device of the stream that is alive"};
}

Finding host_memory_for_device(const JudgedAccess& access, std::vector<Happened> before) {
  return {Misuse::WrongSide,
          access.function,
          std::string{headline_of(Misuse::WrongSide)},
          fmt::format("{}, which is host memory; no call is refused for that", what_is_accessed(access)),
          access.site,
          std::move(before),
          "V-361",
          "pass memory of the device of the stream"};
}

Finding stated_wrongly(const JudgedAccess& access, const WrongDirection& wrong, const observe::Touch& from,
                       const observe::Touch& to, std::vector<Happened> before) {
  const auto side = [](bool device) { return device ? "device memory" : "host memory"; };
  const std::string_view fitting = copy_kind_name(
      wrong.from_device ? wrong.to_device ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST
      : wrong.to_device ? ACL_MEMCPY_HOST_TO_DEVICE
                        : ACL_MEMCPY_HOST_TO_HOST);
  const bool on_host = !wrong.from_device && !wrong.to_device;
  const bool has_default = std::string_view{access.function}.find("2d") == std::string_view::npos;  // M-322
  const std::string cure =
      access.queued && on_host  // M-258
          ? std::string{"copies from host to host are not queued: use aclrtMemcpy or memcpy"}
          : fmt::format("pass {}{}", fitting, has_default ? " or ACL_MEMCPY_DEFAULT" : "");
  std::string words;
  if (wrong.from_wrong)
    words += fmt::format("the source {} is {}", hex(from.address), side(wrong.from_device));
  if (wrong.to_wrong)
    words += fmt::format("{}the destination {} is {}", words.empty() ? "" : ", and ", hex(to.address),
                         side(wrong.to_device));
  return {Misuse::WrongDirection,
          access.function,
          std::string{headline_of(Misuse::WrongDirection)},
          fmt::format("{} of {}: {}", copy_kind_name(wrong.kind), counted(to.bytes * to.rows, "byte"), words),
          access.site,
          std::move(before),
          !access.queued                           ? "M-240"
          : !wrong.to_device && !wrong.from_device ? "M-435"
                                                   : "M-263",
          fmt::format("{}; or is one of the two the wrong pointer?", cure)};
}

Finding too_much_room(const JudgedAccess& access, const Owned& owned, std::vector<Happened> before) {
  Finding finding = hint(access.function,
                         fmt::format("it was told that {} are at {}, but {}, {} of them from there on",
                                     counted(access.touch.room, "byte"), hex(access.touch.address),
                                     what_it_is(owned), owned.end - access.touch.address),
                         "C-20", access.site);
  finding.before = std::move(before);
  finding.cure = "pass the size of the destination, or what is left of it";
  return finding;
}

Finding read_from_read_only(const JudgedAccess& access, const Owned& owned) {
  return hint(access.function,
              fmt::format("{}: the {} {} is read-only, and published drivers do not copy from such memory",
                          what_is_accessed(access), one(owned.object), hex(owned.start)),
              "M-76", access.site);
}

Finding no_peer_access(const JudgedAccess& access, const Owned& owned, std::uint32_t actor) {
  return hint(access.function,
              fmt::format("{}: that is memory of device {}, and device {} has no peer access to it",
                          what_is_accessed(access), owned.device, actor),
              "V-179", access.site);
}

Finding default_kind_of_rows(const JudgedAccess& access) {
  return hint(access.function,
              "the documents have no ACL_MEMCPY_DEFAULT for this call; pass the real direction", "M-322",
              access.site);
}

Finding ends_overlap(const JudgedAccess& access, const observe::Touch& to, const observe::Touch& from) {
  const std::uintptr_t apart =
      to.address > from.address ? to.address - from.address : from.address - to.address;
  return hint(access.function,
              fmt::format("source {} and destination {} have {} in common: which bytes result is not defined",
                          hex(from.address), hex(to.address), counted(to.bytes - apart, "byte")),
              "M-244", access.site);
}

Finding shared_by_another_device(const JudgedAccess& access, std::uint32_t device, std::int32_t exporter) {
  Finding finding =
      hint(access.function,
           fmt::format(
               "{}: process {} shared that by an IPC key, and it is on device {}; the documents allow only "
               "queued copies between addresses of devices there, with their kind",
               what_is_accessed(access), exporter, device),
           "V-419", access.site);
  finding.cure =
      "copy it to memory of the own device with aclrtMemcpyAsync and "
      "ACL_MEMCPY_DEVICE_TO_DEVICE, and go on from there";
  return finding;
}

Finding mapped_between_devices(const JudgedAccess& access, const observe::Touch& to,
                               const observe::Touch& from) {
  return hint(access.function,
              fmt::format("from {} of device {} to {} of device {}: mapped memory is copied between devices "
                          "with aclrtMemcpyAsync only, say the documents",
                          hex(from.address), from.device, hex(to.address), to.device),
              "V-84", access.site);
}

Finding host_buffer_freed(const char* function, std::uint32_t site, Object object, std::uintptr_t address,
                          std::size_t bytes, std::uint32_t made_at, bool written, const TaskInUse& task) {
  const ObjectWords words = words_of(object);
  Finding finding{Misuse::HostBufferFreed,
                  function,
                  "gave host memory back before the program waited for queued work that uses it",
                  fmt::format("task {} {} the {} {} ({} bytes), and nothing has told the program that the "
                              "task is done",
                              task.number, written ? "writes to" : "reads", words.one, hex(address), bytes),
                  site,
                  {},
                  "M-270",
                  fmt::format("wait for the stream (aclrtSynchronizeStream), or for an event behind the "
                              "task, before {}",
                              function)};
  if (task.site != 0)
    finding.before.push_back({fmt::format("task {} was submitted", task.number), task.site});
  if (made_at != 0) finding.before.push_back({fmt::format("the {} was {}", words.one, words.made), made_at});
  return finding;
}

namespace {
std::string_view came_to_know(std::string_view function) {
  if (function.starts_with("aclrtLaunch")) return "ran code of the program behind a copy";
  return function.find("Query") != function.npos ? "found a copy done" : "waited for a copy";
}
}  // namespace

Finding host_buffer_changed(const char* function, std::uint32_t site, const observe::Touch& source,
                            std::uintptr_t first_changed, const TaskInUse& task) {
  Finding finding{
      Misuse::HostBufferChanged,
      function,
      fmt::format("{} whose source was changed after the copy was queued", came_to_know(function)),
      fmt::format("of the {} bytes at {}, which task {} copies, byte {} is the first that is not what it was "
                  "when the copy was submitted: it may have copied old bytes, new ones, or some of both",
                  source.bytes * source.rows, hex(source.address), task.number,
                  first_changed - source.address),
      site,
      {},
      "M-270",
      "change the buffer after the wait, or fill a second one meanwhile"};
  if (task.site != 0)
    finding.before.push_back({fmt::format("task {} was submitted", task.number), task.site});
  return finding;
}

Finding host_buffer_out_of_frame(const char* function, std::uint32_t site, std::uintptr_t address,
                                 std::size_t bytes, bool written, const TaskInUse& task) {
  Finding finding{Misuse::HostBufferOutOfFrame,
                  function,
                  "was called when the function had returned whose local variable queued work still uses",
                  fmt::format("task {} {} the {} bytes at {}, which were on the stack of this thread when it "
                              "was submitted; the stack ends above them now, and nothing has told the "
                              "program that the task is done",
                              task.number, written ? "writes to" : "reads", bytes, hex(address)),
                  site,
                  {},
                  "M-270",
                  "wait for the work before the function returns, or use memory that lives longer"};
  if (task.site != 0)
    finding.before.push_back({fmt::format("task {} was submitted", task.number), task.site});
  return finding;
}

Finding host_access_before_wait(std::uint32_t site, const observe::Touch& destination, std::uintptr_t address,
                                bool write, Object memory, std::uint32_t made_at, const TaskInUse& task) {
  const std::uint64_t bytes = (destination.rows - 1) * destination.pitch + destination.bytes;
  Finding finding{
      Misuse::HostAccessBeforeWait,
      "",
      fmt::format("host code {} the destination of queued work that the program has not waited for",
                  write ? "wrote to" : "read"),
      fmt::format("{} is byte {} of the {} bytes at {} that task {} writes, and nothing has told the program "
                  "that the task is done: {}",
                  hex(address), address - destination.address, bytes, hex(destination.address), task.number,
                  write ? "the task may write over it, before or after"
                        : "there may be old bytes, new ones, or some of both"),
      site,
      {},
      rule_of_early_access(memory),
      "wait for the stream (aclrtSynchronizeStream), or for an event behind the task, before host code uses "
      "the memory"};
  if (task.site != 0)
    finding.before.push_back({fmt::format("task {} was submitted", task.number), task.site});
  const ObjectWords words = words_of(memory);
  if (made_at != 0) finding.before.push_back({fmt::format("the {} was {}", words.one, words.made), made_at});
  return finding;
}

namespace {
std::string time_in_words(std::uint64_t ns) {
  const double us = static_cast<double>(ns) / 1000;
  return us < 1000 ? fmt::format("{:.1f} us", us) : fmt::format("{:.1f} ms", us / 1000);
}
}  // namespace

Finding call_blocked(const char* function, std::uint32_t site, const BlockedPlace& place) {
  Finding finding =
      hint(function,
           fmt::format("{} waited until the copy was done, because host memory that is not pinned was "
                       "involved: {} bytes, {} in all, {} at most",
                       counted(place.calls, "call"), place.bytes, time_in_words(place.ns),
                       time_in_words(place.most_ns)),
           "M-265", site);
  finding.cure = "allocate the host memory with aclrtMallocHost, or register it with aclrtHostRegister";
  return finding;
}

Finding never_given_back(const Leak& leak, const char* rule) {
  Finding finding{Misuse::NeverGivenBack,
                  "",
                  fmt::format("{} never given back{}", counted(leak.count, leak.one, leak.several),
                              leak.bytes == 0 ? std::string{} : fmt::format(", {}", amount(leak.bytes))),
                  leak.first == 0 ? std::string{}
                                  : fmt::format("{} {} {}", leak.count == 1 ? "it is" : "the first is",
                                                leak.where, hex(leak.first)),
                  0,
                  {},
                  rule,
                  leak.given_back_with.empty()
                      ? std::string{"free each with the function that matches the one that made it"}
                      : fmt::format("give each back with {}", leak.given_back_with)};
  if (leak.site != 0) finding.before.push_back({std::string{leak.made}, leak.site});
  return finding;
}

Finding grown_since_mark(const Leak& leak) {
  Finding finding = never_given_back(leak, "");
  finding.misuse = Misuse::GrownSinceMark;
  finding.headline =
      fmt::format("{}{} since the last mark, and not given back", counted(leak.count, leak.one, leak.several),
                  leak.bytes == 0 ? std::string{} : fmt::format(", {},", amount(leak.bytes)));
  return finding;
}

Finding read_unwritten(const char* function, std::uint32_t site, const UnwrittenRead& read) {
  const std::string_view what = words_of(read.object).one;
  Finding finding{Misuse::ReadUnwritten,
                  function,
                  read.wait ? "went on because of a word that nobody had written"
                            : "read device memory that nobody had written",
                  fmt::format("of the {} at {}, {} never written, the first at {} (offset {} of the {})",
                              counted(read.bytes, "byte"), hex(read.address),
                              read.missing == 1 ? std::string{"1 was"} : fmt::format("{} were", read.missing),
                              hex(read.first), read.offset, what),
                  site,
                  {},
                  "M-417",
                  "write all of it first, with a copy or aclrtMemset: what is in fresh memory is undefined"};
  if (read.made_at != 0) finding.before.push_back({fmt::format("the {} was allocated", what), read.made_at});
  const UnwrittenRead::Write& write = read.write;
  if (write.rows == 0 || write.site == 0) return finding;
  if (write.brought) {
    finding.before.push_back({"the bytes came there with a copy", write.site});
    if (write.from != 0) finding.before.push_back({"they came from memory that was allocated", write.from});
    return finding;
  }
  // Of a pool in one block, what was written last may be anywhere.
  const bool near = read.offset <= write.offset + write.bytes * write.rows + read.bytes &&
                    write.offset <= read.offset + read.bytes;
  const std::string where =
      near || write.rows > 1 ? "next to them" : fmt::format("elsewhere in the {}", what);
  finding.before.push_back({write.rows == 1
                                ? fmt::format("{}, {} at offset {} were written", where,
                                              counted(write.bytes, "byte"), write.offset)
                                : fmt::format("{}, {} rows of {} from offset {} on were written", where,
                                              write.rows, counted(write.bytes, "byte"), write.offset),
                            write.site});
  return finding;
}

Finding error_not_fetched(const char* function, aclError code, const std::string& what, std::uint32_t site,
                          const char* rule) {
  const std::string_view name = code_name(code);
  return {Misuse::ErrorNotFetched,
          function,
          fmt::format("failed with {}{}, and the program did not ask why", code,
                      name.empty() ? std::string{} : fmt::format(" ({})", name)),
          what,
          site,
          {},
          rule,
          "check what every call returns, and read aclGetRecentErrMsg where one fails"};
}

Finding churned(const Habit& habit) {
  const bool host = habit.object == Object::HostBlock;
  const std::size_t saved = habit.made - habit.most_alive;
  return {Misuse::Churned,
          habit.function,
          "makes small blocks that are soon freed, again and again",
          fmt::format(
              "{} of at most {} were allocated here, and never more than {} of them alive at once: a pool "
              "of {} would save {} and as many frees",
              counted(habit.made, "block"), amount(habit.largest), habit.most_alive,
              counted(habit.most_alive, "block"), counted(saved, "allocation")),
          habit.site,
          {},
          host ? "M-432" : "M-94",
          "allocate ahead and use the blocks again: each pair of allocation and free is slow on a card"};
}

Finding wasted_pages(const Habit& habit) {
  return {Misuse::WastedPages,
          habit.function,
          "takes huge pages for blocks that leave most of them empty",
          fmt::format("{} of at most {}, alive at once, took {} in huge pages; {} of that stayed empty",
                      counted(habit.count, "block"), amount(habit.largest), amount(habit.bytes),
                      amount(habit.wasted)),
          habit.site,
          {},
          "M-50",
          "ask for small blocks with ACL_MEM_MALLOC_HUGE_FIRST or ACL_MEM_MALLOC_NORMAL_ONLY, or carve "
          "several out "
          "of one block"};
}

Finding never_used(const Habit& habit) {
  return {Misuse::NeverUsed,
          habit.function,
          "makes blocks that are never used",
          fmt::format("{}, {} in all: nothing was ever copied there, from there, or filled in",
                      counted(habit.count, "block"), amount(habit.bytes)),
          habit.site,
          {},
          "",
          "leave the allocation out, or make it where the memory is needed"};
}

Finding held_unused(const Habit& habit) {
  return {Misuse::HeldUnused,
          habit.function,
          "makes blocks that are kept long after their last use",
          fmt::format("{}, {} in all: at least {} came between the last copy from there and the free, or "
                      "the end of the program",
                      counted(habit.count, "block"), amount(habit.bytes),
                      counted(habit.operations, "copy, fill or task", "copies, fills and tasks")),
          habit.site,
          {},
          "",
          "free a block when its contents are not needed any more"};
}

Finding hint(const char* function, const std::string& what, const char* rule, std::uint32_t site) {
  return {Misuse::Hint, function, "is used in a way that is allowed, but probably not intended",
          what,         site,     {},
          rule,         ""};
}

}  // namespace belay::check
