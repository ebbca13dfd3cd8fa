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

Finding used_without_question(const char* function, std::uint32_t site, std::uintptr_t address,
                              std::size_t bytes, std::vector<Happened> before) {
  const Misuse misuse = before.size() > 1 ? Misuse::UsedAfterFree : Misuse::UsedUnallocated;
  return {misuse,
          function,
          std::string{headline_of(misuse)},
          fmt::format("it reads {} at {}, where nothing is allocated; no call is refused for that",
                      counted(bytes, "byte"), hex(address)),
          site,
          std::move(before),
          "V-361",
          "pass memory of the device of the stream that is alive"};
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

Finding hint(const char* function, const std::string& what, const char* rule, std::uint32_t site) {
  return {Misuse::Hint, function, "is used in a way that is allowed, but probably not intended",
          what,         site,     {},
          rule,         ""};
}

}  // namespace belay::check
