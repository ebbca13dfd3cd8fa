// The rules of docs/rules, as built into this command.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace belay::cli {

// One file of docs/rules; its text in pieces that follow each other (embed_rules.cmake).
struct ChapterText {
  std::string_view file;
  std::span<const std::string_view> pieces;
};
std::span<const ChapterText> chapter_texts();

struct RuleId {
  char letter;
  unsigned number;

  friend bool operator==(const RuleId&, const RuleId&) = default;
};

struct Rule {
  RuleId id;
  std::string text;
  std::string section;
  std::string chapter;
  std::string_view file;
};

// All rules in the order in which they are written.
std::span<const Rule> rules();

// "M-48", "M48", "m48"; letter 0 for a bare number; nothing else is an id.
struct ReadId {
  bool ok;
  RuleId id;
};
ReadId read_id(std::string_view text);
std::string show(RuleId id);

const Rule* find_rule(RuleId id);
const Rule* find_rule(std::string_view id);

// The few rules whose ids look most like a wrong one.
std::vector<const Rule*> nearest_rules(RuleId id);

}  // namespace belay::cli
