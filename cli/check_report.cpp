#include "cli/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "check/frames.h"
#include "check/suppressions.h"

namespace belay::cli {
namespace {

using Json = nlohmann::ordered_json;

const MisuseRow& row_named(std::string_view id) {
  const auto found = std::ranges::find(kMisuses, id, &MisuseRow::id);
  return found == kMisuses.end() ? kMisuses.back() : *found;
}

std::string print_of(const check::VerdictEntry& entry) {
  return check::fingerprint(row_named(entry.id), entry.rule, entry.text);
}

std::string headline(const check::VerdictEntry& entry) {
  std::string_view line = std::string_view{entry.text}.substr(0, entry.text.find('\n'));
  constexpr std::string_view kOurs = "belay: ";
  if (line.starts_with(kOurs)) line.remove_prefix(kOurs.size());
  return std::string{line};
}

// Programs may print any bytes; what these formats cannot have is replaced.
std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char each : text) {
    switch (each) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(each) < 0x20 && each != '\n' && each != '\t' ? '?' : each;
    }
  }
  return safe;
}

}  // namespace

bool CheckReport::fails(const check::VerdictEntry& entry) const {
  return (fail_on & bit(row_named(entry.id).of)) != 0;
}

std::string as_json(const CheckReport& report) {
  Json json;
  json["format"] = "belay-check";
  json["version"] = 1;
  json["program"] = report.program;
  json["program_exit_code"] = report.program_code;
  json["exit_code"] = report.exit_code;
  json["failed"] = std::ranges::any_of(report.found, [&](const auto& each) { return report.fails(each); });
  json["lost"] = report.lost;
  json["findings"] = Json::array();
  for (const check::VerdictEntry& each : report.found) {
    Json entry;
    entry["id"] = each.id;
    entry["class"] = each.of;
    entry["rule"] = each.rule;
    entry["function"] = each.function;
    entry["count"] = each.count;
    entry["fails"] = report.fails(each);
    entry["process"] = each.process;
    entry["process_name"] = each.process_name;
    entry["headline"] = headline(each);
    entry["text"] = each.text;
    entry["fingerprint"] = print_of(each);
    entry["frames"] = Json::array();
    check::each_frame(each.text, [&](const check::Frame& frame) {
      entry["frames"].push_back({{"function", frame.function},
                                 {"file", frame.file},
                                 {"line", frame.line},
                                 {"of_call", frame.of_call}});
    });
    json["findings"].push_back(std::move(entry));
  }
  return dumped(json);
}

std::string as_sarif(const CheckReport& report) {
  Json rules = Json::array(), results = Json::array();
  std::set<std::string> known;
  for (const check::VerdictEntry& each : report.found) {
    if (known.insert(each.id).second)
      rules.push_back({{"id", each.id}, {"properties", {{"class", each.of}}}});
    Json result;
    result["ruleId"] = each.id;
    result["level"] = report.fails(each) ? "error" : each.of == "hints" ? "note" : "warning";
    result["message"] = {{"text", each.text}};
    result["partialFingerprints"] = {{"belay/v1", print_of(each)}};
    result["properties"] = {{"count", each.count}, {"rule", each.rule}, {"function", each.function}};
    Json frames = Json::array();
    Json first;
    check::each_frame(each.text, [&](const check::Frame& frame) {
      Json location;
      if (!frame.file.empty()) {
        location["physicalLocation"] = {{"artifactLocation", {{"uri", frame.file}}},
                                        {"region", {{"startLine", std::max(frame.line, 1U)}}}};
      }
      location["logicalLocations"] = Json::array({{{"fullyQualifiedName", frame.function}}});
      if (first.is_null() && !frame.file.empty()) first = location;
      frames.push_back({{"location", location}});
    });
    if (!first.is_null()) result["locations"] = Json::array({first});
    if (!frames.empty()) result["stacks"] = Json::array({{{"frames", frames}}});
    results.push_back(std::move(result));
  }
  Json json;
  json["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  json["version"] = "2.1.0";
  json["runs"] =
      Json::array({{{"tool", {{"driver", {{"name", "belay"}, {"version", BELAY_VERSION}, {"rules", rules}}}}},
                    {"results", results}}});
  return dumped(json);
}

std::string as_junit(const CheckReport& report) {
  const auto failures = static_cast<std::size_t>(
      std::ranges::count_if(report.found, [&](const auto& each) { return report.fails(each); }));
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n  <testsuite name=\"belay check\" tests=\"{}\" failures=\"{}\" errors=\"0\">\n",
      std::max<std::size_t>(report.found.size(), 1), failures);
  if (report.found.empty())
    text += fmt::format("    <testcase classname=\"belay\" name=\"{}\"/>\n", escaped(report.program));
  for (const check::VerdictEntry& each : report.found) {
    text += fmt::format("    <testcase classname=\"belay.{}\" name=\"{}\">\n", escaped(each.of),
                        escaped(headline(each)));
    if (report.fails(each))
      text += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", escaped(each.id),
                          escaped(headline(each)), escaped(each.text));
    else
      text += fmt::format("      <system-out>{}</system-out>\n", escaped(each.text));
    text += "    </testcase>\n";
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string as_suppressions(const CheckReport& report) {
  std::string text;
  for (const check::VerdictEntry& each : report.found)
    text += check::Suppressions::line_for(row_named(each.id), each.rule, each.text) + "\n";
  return text;
}

}  // namespace belay::cli
