#include "cli/explain_words.h"

#include "cli/colour.h"
#include "cli/rulebook.h"
#include "cli/table.h"

namespace belay::cli {

Json rules_json(const std::vector<std::string>& ids) {
  Json json = Json::array();
  for (const std::string& id : ids) {
    const Rule* rule = find_rule(id);
    json.push_back({{"id", id}, {"text", rule == nullptr ? "" : rule->text}});
  }
  return json;
}

void print_rules(const std::vector<std::string>& ids, std::optional<std::size_t> width) {
  Table table{{Align::Left, Align::Left}};
  for (const std::string& id : ids) {
    const Rule* rule = find_rule(id);
    table.row({paint(Style::Bold, id), rule == nullptr ? "(not among the rules of this build)" : rule->text});
  }
  fmt::print("\n{}", table.text(width));
}

}  // namespace belay::cli
