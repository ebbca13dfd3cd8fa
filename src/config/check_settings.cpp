#include "config/check_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/words.h"

namespace belay::config {
namespace {

constexpr std::array<std::string_view, 3> kLevels{"off", "cheap", "all"};
constexpr std::array<std::string_view, 3> kApiErrors{"unfetched", "all", "off"};

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 3) == "%2C") {
      plain += ',';
      i += 2;
    } else if (text.substr(i, 3) == "%25") {
      plain += '%';
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::string encoded(std::string_view text) {
  std::string coded;
  for (const char each : text) {
    if (each == ',')
      coded += "%2C";
    else if (each == '%')
      coded += "%25";
    else
      coded += each;
  }
  return coded;
}

template <class Number>
bool read_number(std::string_view text, Number& into, Number most) {
  Number value{};
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (trouble != std::errc{} || end != text.data() + text.size() || value < 0 || value > most) return false;
  into = value;
  return true;
}

template <std::size_t N>
std::optional<std::size_t> word_in(const std::array<std::string_view, N>& words, std::string_view word) {
  const auto found =
      std::ranges::find_if(words, [&](std::string_view each) { return same_word(each, word); });
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin());
}

std::string names_of(MisuseClasses classes) {
  if (classes == kAllMisuseClasses) return "all";
  if (classes == 0) return "none";
  std::string names;
  for (std::size_t i = 0; i < kMisuseClasses.size(); ++i) {
    if ((classes >> i & 1) == 0) continue;
    if (!names.empty()) names += '+';
    names += kMisuseClasses[i];
  }
  return names;
}

// False: the option or its value is wrong.
bool read_option(std::string_view name, std::string_view value, CheckSettings& settings) {
  if (name == "classes" || name == "fail-on") {
    const std::optional<MisuseClasses> classes = read_classes(value, '+');
    if (classes) (name == "classes" ? settings.classes : settings.fail_on) = *classes;
    return classes.has_value();
  }
  if (name == "api-errors") {
    const std::optional<std::size_t> mode = word_in(kApiErrors, value);
    if (mode) settings.api_errors = static_cast<CheckSettings::ApiErrors>(*mode);
    return mode.has_value();
  }
  if (name == "print-limit") return read_number(value, settings.print_limit, SIZE_MAX);
  if (name == "error-exitcode") return read_number(value, settings.exit_code, 255);
  if (name == "halt-on-error") return settings.halts = value.empty();
  if (name == "suppressions") return !(settings.suppressions = decoded(value)).empty();
  if (name == "baseline") return !(settings.baseline = decoded(value)).empty();
  if (name == "log-file") return !(settings.log_file = decoded(value)).empty();
  return false;
}

}  // namespace

std::optional<MisuseClasses> read_classes(std::string_view names, char between) {
  if (same_word(names, "all")) return kAllMisuseClasses;
  if (same_word(names, "none")) return MisuseClasses{0};
  if (names.empty()) return std::nullopt;
  MisuseClasses classes = 0;
  for (bool more = true; more;) {
    const std::size_t end = names.find(between);
    more = end != std::string_view::npos;
    const std::optional<std::size_t> one = word_in(kMisuseClasses, names.substr(0, end));
    if (!one) return std::nullopt;
    classes = static_cast<MisuseClasses>(classes | 1U << *one);
    if (more) names.remove_prefix(end + 1);
  }
  return classes;
}

std::string read_check(std::string_view text, CheckSettings& settings) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::optional<std::size_t> level = word_in(kLevels, text.substr(0, comma));
  if (!level) return "off, cheap or all";
  settings.level = static_cast<CheckSettings::Level>(*level);
  while (true) {
    const std::size_t begin = text.find(',');
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin + 1);
    const std::string_view option = text.substr(0, text.find(','));
    const std::size_t equals = std::min(option.find('='), option.size());
    const std::string_view value = option.substr(std::min(equals + 1, option.size()));
    if (!read_option(option.substr(0, equals), value, settings))
      return fmt::format(
          "off, cheap or all, and after commas options of 'belay check'; '{}' is not one of them", option);
  }
}

std::string check_text(const CheckSettings& settings) {
  const CheckSettings usual;
  std::string text{kLevels[static_cast<std::size_t>(settings.level)]};
  const auto add = [&text](std::string_view name, const std::string& value) {
    text += fmt::format(",{}={}", name, value);
  };
  if (settings.classes != usual.classes) add("classes", names_of(settings.classes));
  if (settings.fail_on != usual.fail_on) add("fail-on", names_of(settings.fail_on));
  if (settings.api_errors != usual.api_errors)
    add("api-errors", std::string{kApiErrors[static_cast<std::size_t>(settings.api_errors)]});
  if (settings.print_limit != usual.print_limit) add("print-limit", std::to_string(settings.print_limit));
  if (settings.exit_code != usual.exit_code) add("error-exitcode", std::to_string(settings.exit_code));
  if (settings.halts) text += ",halt-on-error";
  if (!settings.suppressions.empty()) add("suppressions", encoded(settings.suppressions));
  if (!settings.baseline.empty()) add("baseline", encoded(settings.baseline));
  if (!settings.log_file.empty()) add("log-file", encoded(settings.log_file));
  return text;
}

}  // namespace belay::config
