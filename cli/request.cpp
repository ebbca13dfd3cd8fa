#include "cli/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "cli/physical_answer.h"
#include "cli/word_list.h"

namespace belay::cli {
namespace {

struct PolicyWord {
  std::string_view name;  // of the enum
  std::string_view nick;  // what may be written as well
  std::uint32_t value;
};
constexpr std::array kPolicies{
    PolicyWord{"ACL_MEM_MALLOC_HUGE_FIRST", "HUGE_FIRST", ACL_MEM_MALLOC_HUGE_FIRST},
    PolicyWord{"ACL_MEM_MALLOC_HUGE_ONLY", "HUGE_ONLY", ACL_MEM_MALLOC_HUGE_ONLY},
    PolicyWord{"ACL_MEM_MALLOC_NORMAL_ONLY", "NORMAL_ONLY", ACL_MEM_MALLOC_NORMAL_ONLY},
    PolicyWord{"ACL_MEM_MALLOC_HUGE_FIRST_P2P", "HUGE_FIRST_P2P", ACL_MEM_MALLOC_HUGE_FIRST_P2P},
    PolicyWord{"ACL_MEM_MALLOC_HUGE_ONLY_P2P", "HUGE_ONLY_P2P", ACL_MEM_MALLOC_HUGE_ONLY_P2P},
    PolicyWord{"ACL_MEM_MALLOC_NORMAL_ONLY_P2P", "NORMAL_ONLY_P2P", ACL_MEM_MALLOC_NORMAL_ONLY_P2P},
    PolicyWord{"ACL_MEM_MALLOC_HUGE1G_ONLY", "HUGE1G_ONLY", ACL_MEM_MALLOC_HUGE1G_ONLY},
    PolicyWord{"ACL_MEM_MALLOC_HUGE1G_ONLY_P2P", "HUGE1G_ONLY_P2P", ACL_MEM_MALLOC_HUGE1G_ONLY_P2P},
    PolicyWord{"ACL_MEM_TYPE_LOW_BAND_WIDTH", "LOW_BAND_WIDTH", ACL_MEM_TYPE_LOW_BAND_WIDTH},
    PolicyWord{"ACL_MEM_TYPE_HIGH_BAND_WIDTH", "HIGH_BAND_WIDTH", ACL_MEM_TYPE_HIGH_BAND_WIDTH},
    PolicyWord{"ACL_MEM_ACCESS_USER_SPACE_READONLY", "USER_SPACE_READONLY",
               ACL_MEM_ACCESS_USER_SPACE_READONLY},
    PolicyWord{"ACL_MEM_TYPE_LOW_BAND_WIDTH", "LOW", ACL_MEM_TYPE_LOW_BAND_WIDTH},
    PolicyWord{"ACL_MEM_TYPE_HIGH_BAND_WIDTH", "HIGH", ACL_MEM_TYPE_HIGH_BAND_WIDTH},
    PolicyWord{"ACL_MEM_ACCESS_USER_SPACE_READONLY", "READONLY", ACL_MEM_ACCESS_USER_SPACE_READONLY},
};

struct ApiWord {
  std::string_view function;
  std::string_view nick;
  Api api;
};
constexpr std::array kApis{
    ApiWord{"aclrtMalloc", "malloc", Api::Malloc},
    ApiWord{"aclrtMallocAlign32", "align32", Api::MallocAlign32},
    ApiWord{"aclrtMallocCached", "cached", Api::MallocCached},
    ApiWord{"aclrtMallocWithCfg", "withcfg", Api::MallocWithCfg},
    ApiWord{"aclrtMallocForTaskScheduler", "taskscheduler", Api::MallocForTaskScheduler},
    ApiWord{"aclrtMallocHost", "host", Api::MallocHost},
    ApiWord{"aclrtMallocHostWithCfg", "hostwithcfg", Api::MallocHostWithCfg},
    ApiWord{"acldvppMalloc", "dvpp", Api::MediaV1Malloc},
    ApiWord{"hi_mpi_dvpp_malloc", "himpi", Api::MediaV2Malloc},
};

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// How far a unit shifts: "", "B", "K", "KB", "KiB", ... all binary.
std::optional<unsigned> unit_shift(std::string_view unit) {
  constexpr std::string_view kUnits = "BKMGTP";
  if (unit.empty()) return 0U;
  const std::size_t at = kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = unit.substr(1);
  const bool spelled = rest.empty() || (at != 0 && (same_word(rest, "B") || same_word(rest, "iB")));
  if (!spelled) return std::nullopt;
  return static_cast<unsigned>(at) * 10;
}

}  // namespace

std::size_t read_size(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return UsageError{fmt::format("'{}' is not a size: {}", text, why),
                      "sizes look like 1, 4096, 0x1000, 64K, 2MB or 1.9G (1 K = 1024)"};
  };
  if (const std::optional<std::size_t> plain = whole_number<std::size_t>(text)) return *plain;

  constexpr std::string_view kDigits = "0123456789";
  const std::size_t whole_end = std::min(text.find_first_not_of(kDigits), text.size());
  const std::string_view whole = text.substr(0, whole_end);
  std::string_view fraction;
  std::string_view unit = text.substr(whole_end);
  if (unit.starts_with('.')) {
    unit.remove_prefix(1);
    fraction = unit.substr(0, unit.find_first_not_of(kDigits));
    unit.remove_prefix(fraction.size());
    if (fraction.empty()) throw wrong("digits are missing after the point");
  }
  if (whole.empty()) throw wrong("it must start with a digit");
  const std::optional<unsigned> shift = unit_shift(trim(unit));
  if (!shift) throw wrong("the unit must be K, M, G, T or P, with or without B");
  if (!fraction.empty() && *shift == 0) throw wrong("a fraction needs a unit");
  const std::optional<std::size_t> bytes_whole = whole_number<std::size_t>(whole);
  if (!bytes_whole || *bytes_whole > SIZE_MAX >> *shift) throw wrong("it is more than 64 bits can hold");

  // 0.f units in bytes, rounded down. More digits than these could not change a byte of a PB.
  constexpr std::size_t kMostDigits = 18;
  __extension__ using Wide = unsigned __int128;
  Wide part = 0;
  Wide scale = 1;
  for (const char c : fraction.substr(0, kMostDigits)) {
    part = part * 10 + static_cast<unsigned>(c - '0');
    scale *= 10;
  }
  const auto bytes_part = static_cast<std::size_t>((part << *shift) / scale);
  return (*bytes_whole << *shift) + bytes_part;
}

std::uint32_t read_policy(std::string_view text) {
  std::uint32_t policy = 0;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t bar = rest.find('|');
    more = bar != std::string_view::npos;
    std::string word{trim(rest.substr(0, bar))};
    rest.remove_prefix(more ? bar + 1 : rest.size());
    if (word.empty())
      throw UsageError{fmt::format("policy '{}' has an empty part", text),
                       "join items with |, as in 'HUGE_ONLY|HIGH_BAND_WIDTH'"};
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      const std::optional<std::uint32_t> number = whole_number<std::uint32_t>(word);
      if (!number)
        throw UsageError{fmt::format("policy '{}' is not a 32-bit number", word),
                         "write 1, 0x1001 or a name"};
      policy |= *number;
      continue;
    }
    std::ranges::replace(word, '-', '_');
    const auto found = std::ranges::find_if(kPolicies, [&](const PolicyWord& each) {
      return same_word(word, each.name) || same_word(word, each.nick);
    });
    if (found == kPolicies.end()) unknown("policy", word, nicks(kPolicies));
    policy |= found->value;
  }
  return policy;
}

Api read_api(std::string_view text) {
  const auto found = std::ranges::find_if(kApis, [&](const ApiWord& each) {
    return same_word(text, each.function) || same_word(text, each.nick);
  });
  if (found != kApis.end()) return found->api;
  std::vector<std::string_view> known = nicks(kApis);
  known.push_back(kPhysicalNick);
  unknown("function", text, known);
}

Choice read_product(std::string_view text) {
  if (const ChoiceOrNothing found = find_product(text); found.found) return found.choice;
  std::vector<std::string_view> known;
  for (const ProductRow& row : products()) known.push_back(row.key);
  for (const Chip& chip : chips()) {
    if (std::ranges::find(known, chip.soc) == known.end()) known.push_back(chip.soc);
  }
  unknown("product", text, known);
}

Form read_form(std::string_view text) {
  for (std::size_t i = 0; i < kFormNames.size(); ++i) {
    if (same_word(text, kFormNames[i])) return static_cast<Form>(i);
  }
  unknown("form", text, {kFormNames.begin(), kFormNames.end()});
}

std::string_view function_name(Api api) { return std::ranges::find(kApis, api, &ApiWord::api)->function; }
bool takes_policy(Api api) { return !is_host(api) && !is_media(api); }

std::string policy_name(std::uint32_t policy) {
  std::string name;
  std::uint32_t base = policy;
  for (const std::uint32_t flag :
       {ACL_MEM_TYPE_LOW_BAND_WIDTH, ACL_MEM_TYPE_HIGH_BAND_WIDTH, ACL_MEM_ACCESS_USER_SPACE_READONLY}) {
    if ((policy & flag) == 0) continue;
    base &= ~flag;
    name += fmt::format("{}{}", name.empty() ? "" : " | ",
                        std::ranges::find(kPolicies, flag, &PolicyWord::value)->name);
  }
  if (base > 7) return fmt::format("{:#x}", policy);
  if (base == 0 && !name.empty()) return name;
  const std::string_view first = std::ranges::find(kPolicies, base, &PolicyWord::value)->name;
  return name.empty() ? std::string{first} : fmt::format("{} | {}", first, name);
}

}  // namespace belay::cli
