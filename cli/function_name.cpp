#include "cli/function_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace belay::cli {
namespace {

constexpr std::size_t kLongestTemplateArguments = 80;

// Longer ones first: the first that fits is taken.
constexpr std::array<std::string_view, 44> kOperators{
    " delete[]", " delete", " new[]", " new", "<=>", "<<=", ">>=", "->*", "()", "[]", "->",
    "<<",        ">>",      "<=",     ">=",   "==",  "!=",  "&&",  "||",  "++", "--", "+=",
    "-=",        "*=",      "/=",     "%=",   "^=",  "&=",  "|=",  "+",   "-",  "*",  "/",
    "%",         "^",       "&",      "|",    "~",   "!",   "=",   "<",   ">",  ",",  "\"\""};

bool in_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// How long the word "operator" at this place is with its sign; 0 if there is none. Signs are not brackets.
std::size_t operator_length(std::string_view text, std::size_t at) {
  constexpr std::string_view kWord = "operator";
  if (!text.substr(at).starts_with(kWord) || (at > 0 && in_identifier(text[at - 1]))) return 0;
  const std::string_view rest = text.substr(at + kWord.size());
  if (!rest.empty() && in_identifier(rest[0])) return 0;
  for (const std::string_view sign : kOperators) {
    if (rest.starts_with(sign)) return kWord.size() + sign.size();
  }
  return kWord.size();  // a conversion: its type follows
}

// Behind the bracket that closes the one at this place; npos if none does.
std::size_t behind_group(std::string_view text, std::size_t at) {
  const char open = text[at];
  const char close = open == '(' ? ')' : open == '<' ? '>' : open == '{' ? '}' : ']';
  std::size_t depth = 0, round = 0;
  while (at < text.size()) {
    if (const std::size_t length = operator_length(text, at)) {
      at += length;
      continue;
    }
    const char c = text[at++];
    if (open == '<' && c == '(') ++round;  // in there, < and > may compare
    if (open == '<' && c == ')' && round > 0) --round;
    if (round > 0) continue;
    if (c == open) ++depth;
    if (c == close && --depth == 0) return at;
  }
  return std::string_view::npos;
}

// "<int, ...>": as many arguments as fit.
std::string template_arguments(std::string_view group) {
  if (group.size() <= kLongestTemplateArguments) return std::string{group};
  std::size_t fits = 1;
  for (std::size_t at = 1; at < kLongestTemplateArguments;) {
    if (group[at] == '<' || group[at] == '(' || group[at] == '{') {
      at = behind_group(group, at);
      continue;
    }
    if (group.substr(at).starts_with(", ")) fits = at + 2;
    ++at;
  }
  return std::string{group.substr(0, fits)} + "...>";
}

// Behind " const", " &" and the like.
std::size_t behind_qualifiers(std::string_view text, std::size_t at) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view each : {" const", " volatile", " noexcept", " &&", " &", "&&", "&"}) {
      if (!text.substr(at).starts_with(each)) continue;
      at += each.size();
      again = true;
    }
  }
  return at;
}

// Nobody writes this one in full.
std::string with_short_strings(std::string name) {
  constexpr std::string_view kLong =
      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
  for (std::size_t at = 0; (at = name.find(kLong, at)) != std::string::npos;) {
    const bool space = name.compare(at + kLong.size(), 2, " >") == 0;  // was between two brackets
    name.replace(at, kLong.size() + (space ? 1 : 0), "std::string");
  }
  return name;
}

}  // namespace

std::string without_arguments(std::string_view name) {
  std::string kept;
  std::size_t start = 0;  // of the name in `kept`: what is returned stands in front of it
  bool conversion = false;
  for (std::size_t at = 0; at < name.size();) {
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    if (name.substr(at).starts_with(kAnonymous)) {
      kept += kAnonymous;
      at += kAnonymous.size();
      continue;
    }
    if (const std::size_t length = operator_length(name, at)) {
      kept += name.substr(at, length);
      at += length;
      conversion = name.substr(at).starts_with(' ') && !name.substr(at).starts_with(" <");
      continue;
    }
    const char c = name[at];
    if (c == '(' || c == '<' || c == '{') {
      const std::size_t end = behind_group(name, at);
      if (end == std::string_view::npos) return std::string{name};
      const std::string_view group = name.substr(at, end - at);
      at = end;
      if (c == '<') {
        kept += template_arguments(group);
      } else if (c == '{') {  // "{lambda(int)#1}"
        const std::size_t arguments = group.find('(');
        const std::size_t number = group.rfind(")#");
        const bool both = arguments < number && number != std::string_view::npos;
        kept += both ? std::string{group.substr(0, arguments)} + std::string{group.substr(number + 1)}
                     : std::string{group};
      } else if (kept.ends_with("decltype ") || kept.ends_with("decltype")) {
        kept += group;
      } else {
        at = behind_qualifiers(name, at);
        const bool last = at == name.size() || name.substr(at).starts_with(" [");
        if (!last && !name.substr(at).starts_with("::")) return std::string{name};
        kept.erase(0, start);
        start = 0;
        conversion = false;
        if (last) return kept;
      }
      continue;
    }
    kept += c;
    ++at;
    if (c == ' ' && !conversion && !name.substr(at).starts_with('<')) start = kept.size();
  }
  return kept;
}

std::string function_name(const std::string& symbol) {
  if (symbol.starts_with("_Z")) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name{
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free};
    return name ? without_arguments(with_short_strings(name.get())) : symbol;
  }
  std::size_t end = symbol.size();
  for (const char* part : {".part.", ".isra.", ".constprop.", ".cold", ".llvm.", ".lto_priv."})
    end = std::min(end, symbol.find(part));
  return symbol.substr(0, end);
}

}  // namespace belay::cli
