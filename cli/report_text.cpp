// What a page says without any script: answers first, then a section for each question, with tables of exact
// bytes.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/code_names.h"
#include "base/words.h"
#include "cli/report_page.h"

namespace belay::cli {
namespace {

using story::GroupTold;
using story::Held;
using story::Series;
using story::Story;

constexpr std::size_t kMostRows = 25;

std::string seconds(std::uint64_t ns) { return fmt::format("{:.6f} s", static_cast<double>(ns) / 1e9); }
std::string device_words(std::int32_t device) {
  return device < 0 ? std::string{"pinned host memory"} : fmt::format("device {}", device);
}
std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}
// "3000000 bytes (2.86 MB)", also of sizes that only damaged traces have.
std::string words(std::uint64_t bytes) { return bytes_and_amount(bytes); }
std::string share(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.1f} %", percent(part, whole));
}

// --- tables ---------------------------------------------------------------------------------------

struct Column {
  std::string_view title;
  bool figure = false;
};

class HtmlTable {
 public:
  HtmlTable(std::string_view caption, std::vector<Column> columns) : columns_{std::move(columns)} {
    text_ = fmt::format(
        "<div class=\"wide\"><table class=\"told-all\"><caption class=\"note\">{}</caption><thead><tr>",
        html(caption));
    for (const Column& each : columns_)
      text_ += fmt::format("<th scope=\"col\"{}>{}</th>", each.figure ? " class=\"figure\"" : "",
                           html(each.title));
    text_ += "</tr></thead><tbody>\n";
  }
  // `attributes` are ours, cells are anybody's.
  void row(const std::vector<std::string>& cells, const std::string& attributes = {}) {
    text_ += "<tr" + (attributes.empty() ? "" : " " + attributes) + ">";
    for (std::size_t i = 0; i < cells.size(); ++i)
      text_ += fmt::format("<td{}>{}</td>", columns_[i].figure ? " class=\"figure\"" : "", html(cells[i]));
    text_ += "</tr>\n";
    ++rows_;
  }
  std::size_t rows() const { return rows_; }
  std::string text() const { return text_ + "</tbody></table></div>\n"; }

 private:
  std::vector<Column> columns_;
  std::string text_;
  std::size_t rows_ = 0;
};

std::string section(std::string_view id, std::string_view title, std::string_view plain,
                    const std::string& body, bool bad = false) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\"{1}>\n<h2 id=\"{0}-title\">{2}</h2>\n<p "
      "class=\"plain\">{3}</p>\n{4}</section>\n",
      id, bad ? " class=\"bad\"" : "", html(title), html(plain), body);
}
std::string paragraph(const std::string& text, std::string_view kind = "answer") {
  return fmt::format("<p class=\"{}\">{}</p>\n", kind, text);
}
std::string only_with_script(std::string_view id) {
  return fmt::format(
      "<div id=\"{}\"></div>\n<noscript><p class=\"note\">The picture needs JavaScript. The tables have all "
      "figures.</p></noscript>\n",
      id);
}

// --- the story, sorted ----------------------------------------------------------------------------

struct Holder {
  const GroupTold* group;
  Held held;
};

bool is_on(const Story& story, const GroupTold& group, const Series& series) {
  const story::Account& account = story.accounts[group.account];
  return account.device == series.device &&
         (series.process == story::kNone || account.process == series.process);
}

std::vector<Holder> holders(const Story& story, const Series& series, std::uint32_t moment) {
  std::vector<Holder> all;
  for (const GroupTold& group : story.groups) {
    const Held held = group.at(moment);
    if (held.charged != 0 && is_on(story, group, series)) all.push_back({&group, held});
  }
  std::ranges::stable_sort(all, std::greater{}, [](const Holder& each) { return each.held.charged; });
  return all;
}

std::string place_words(const ReportSource& source, const Series& series) {
  if (series.process == story::kNone) return device_words(series.device);
  return fmt::format("{}, process {}", device_words(series.device),
                     source.trace.processes()[series.process].process);
}

std::string lead_to(const Story& story, const Series& series, std::uint32_t moment) {
  return fmt::format("data-moment=\"{}\" data-series=\"{}\"", moment, &series - story.series.data());
}

const std::string& name_of(const Story& story, const GroupTold& group) { return story.names[group.name]; }

std::string pages_and_policy(const Story& story, const GroupTold& group) {
  const std::string& policy = story.names[group.policy];
  return policy.empty() ? group.kind : fmt::format("{}, {}", group.kind, policy);
}

std::string_view main_cause(const story::Waste& waste) {
  if (waste.spilled * 2 > waste.all()) return "pages that only the padding needs (ask for 32 bytes less)";
  const std::pair<std::uint64_t, std::string_view> causes[] = {{waste.page_kind, "large pages"},
                                                               {waste.page_ends, "ends of pages"},
                                                               {waste.padding, "padding"},
                                                               {waste.rounding, "rounding"}};
  return std::ranges::max_element(causes)->second;
}

// --- in short -------------------------------------------------------------------------------------

std::string in_short(const ReportSource& source) {
  const Story& story = source.story;
  std::string text;
  const auto shortages = std::ranges::count_if(
      story.refusals, [](const story::Refusal& each) { return each.code == ACL_ERROR_RT_MEMORY_ALLOCATION; });
  if (shortages != 0) {
    const auto first = std::ranges::find(story.refusals, std::int32_t{ACL_ERROR_RT_MEMORY_ALLOCATION},
                                         &story::Refusal::code);
    text +=
        paragraph(fmt::format("<span class=\"verdict bad\">Memory ran out.</span> {} refused, the first at "
                              "{}: <a href=\"#shortage\">why, and what would have fitted</a>.",
                              counted(static_cast<std::uint64_t>(shortages), "request was", "requests were"),
                              seconds(first->time)));
  } else {
    text += paragraph(
        "<span class=\"verdict\">Everything fitted.</span> No request was refused for want of memory.");
  }
  if (const Series* series = main_series(story)) {
    const std::uint64_t peak = story::sum(series->peak.bytes);
    text += paragraph(fmt::format(
        "At most <b>{}</b> were in use on {}, at {}{}.", words(peak), device_words(series->device),
        seconds(series->peak.time),
        series->limit == 0 ? ""
                           : fmt::format(": {} of {}", share(peak, series->limit), amount(series->limit))));
    const std::vector<Holder> top = holders(story, *series, series->peak_moment);
    std::string most;
    for (std::size_t i = 0; i < std::min<std::size_t>(top.size(), 3); ++i)
      most +=
          fmt::format("{}<b>{}</b> ({}, {})", i == 0 ? "" : ", then ", html(name_of(story, *top[i].group)),
                      amount(top[i].held.charged), share(top[i].held.charged, peak));
    if (!most.empty()) text += paragraph("Most of it was held by " + most + ".");
    if (const std::uint64_t waste = series->waste.all(); waste != 0) {
      text += paragraph(fmt::format("{} of it, {}, was <a href=\"#waste\">waste</a>, mostly through {}.",
                                    words(waste), share(waste, peak), main_cause(series->waste)));
    }
  } else {
    text += paragraph("The trace holds no allocation.");
  }
  std::uint64_t blocks = 0, bytes = 0;
  for (const GroupTold& group : story.groups)
    blocks += group.totals.unfreed.count, bytes += group.totals.unfreed.charged;
  text += paragraph(blocks == 0
                        ? "All blocks were freed."
                        : fmt::format("<b>{} of {}</b> {} <a href=\"#leaks\">never freed</a> by the program.",
                                      counted(blocks, "block"), words(bytes), blocks == 1 ? "was" : "were"));
  return section("short", "In short", "The answers; each section below is one question.", text,
                 shortages != 0);
}

// --- why memory ran out ---------------------------------------------------------------------------

std::string shortage_text(const ReportSource& source, const story::Refusal& refusal, std::size_t number) {
  const Story& story = source.story;
  const story::Shortage& shortage = *refusal.shortage;
  const auto series = std::ranges::find_if(story.series, [&](const Series& each) {
    return each.device == shortage.device && each.process == story::kNone;
  });
  std::string text = fmt::format("<h3>{} at {}, process {}</h3>\n", html(refusal.function),
                                 seconds(refusal.time), source.trace.processes()[refusal.process].process);
  text += paragraph(html(refusal.words), "told");
  std::string sentence;
  if (refusal.bytes != 0) sentence += fmt::format("It asked for <b>{}</b>. ", words(refusal.bytes));
  if (shortage.total != 0)
    sentence += fmt::format(
        "{} has {}; {} were in use{}, which left <b>{}</b>.", html(capital(device_words(shortage.device))),
        words(shortage.total), words(shortage.used),
        shortage.others == 0
            ? ""
            : fmt::format(", and {} by processes that this trace does not hold", words(shortage.others)),
        words(shortage.free));
  text += paragraph(sentence);

  HtmlTable fits{"What would have fitted at that moment",
                 {{"Pages"}, {"Largest request, bytes", true}, {"That is", true}}};
  for (std::size_t kind = 0; kind < story::kKinds; ++kind)
    fits.row({std::string{story::kKindNames[kind]}, fmt::format("{}", shortage.fits[kind]),
              amount(shortage.fits[kind])});
  text += fits.text();

  std::string ways;
  const auto way = [&ways](const std::string& words) { ways += "<li>" + words + "</li>\n"; };
  if (series != story.series.end()) {
    const std::vector<Holder> top = holders(story, *series, refusal.moment);
    if (!top.empty())
      way(fmt::format("{} held most: {} in {}.", html(name_of(story, *top[0].group)),
                      words(top[0].held.charged), counted(top[0].held.count, "block")));
    std::uint64_t never = 0;
    for (const Holder& each : top) never += each.group->totals.freed == 0 ? each.held.charged : 0;
    if (never != 0)
      way(fmt::format("{} were held by places in the program that never freed anything.", words(never)));
  }
  if (const std::uint64_t spilled = shortage.waste.spilled; spilled != 0)
    way(fmt::format(
        "{} were pages that only the padding of aclrtMalloc needs, because the requests fill whole pages "
        "already: ask for 32 bytes less, or use aclrtMallocAlign32, and they are free.",
        words(spilled)));
  if (const std::uint64_t large =
          shortage.waste.page_kind - std::min(shortage.waste.page_kind, shortage.waste.spilled);
      large != 0)
    way(
        fmt::format("{} were lost to large pages: requests that need only part of a page cost a whole one. "
                    "Pages of 4 KB (NORMAL_ONLY) would have saved that.",
                    words(large)));
  if (!ways.empty()) text += "<h4>Where to look for room</h4>\n<ul>\n" + ways + "</ul>\n";

  if (series != story.series.end()) {
    HtmlTable table{"Who held it then",
                    {{"Made at, or label"}, {"Pages"}, {"Blocks", true}, {"Bytes", true}, {"Share", true}}};
    for (const Holder& each : holders(story, *series, refusal.moment)) {
      if (table.rows() == 8) break;
      table.row({name_of(story, *each.group), pages_and_policy(story, *each.group),
                 fmt::format("{}", each.held.count), fmt::format("{}", each.held.charged),
                 share(each.held.charged, shortage.used)},
                lead_to(story, *series, refusal.moment));
    }
    text += table.text();
  }
  return number == 0 ? text
                     : fmt::format("<details><summary>{}: {}</summary>\n{}</details>\n",
                                   html(refusal.function), seconds(refusal.time), text);
}

std::string shortages(const ReportSource& source) {
  std::string text;
  std::size_t number = 0;
  for (const story::Refusal& each : source.story.refusals)
    if (each.shortage) text += shortage_text(source, each, number++);
  if (text.empty()) return {};
  return section("shortage", "Why memory ran out",
                 "What was asked for, what was left, who held the rest, and what would have fitted.", text,
                 true);
}

// --- the sections of pictures ---------------------------------------------------------------------

std::string over_time(const ReportSource& source) {
  HtmlTable table{"The most that was in use at once, exactly",
                  {{"Memory of"}, {"Peak, bytes", true}, {"Peak"}, {"At"}, {"Of all there is", true}}};
  for (const Series& each : source.story.series) {
    const std::uint64_t peak = story::sum(each.peak.bytes);
    table.row({place_words(source, each), fmt::format("{}", peak), amount(peak), seconds(each.peak.time),
               each.limit == 0 ? "" : share(peak, each.limit)},
              lead_to(source.story, each, each.peak_moment));
  }
  return section("when", "When: memory over time",
                 "Height is what the device is charged, in whole pages, stacked by the kind of page. Click a "
                 "moment, or use the arrow keys, and the pictures below show it; drag to zoom.",
                 only_with_script("timeline") + (table.rows() == 0 ? "" : table.text()));
}

std::string who(const ReportSource& source) {
  const Story& story = source.story;
  std::string text = only_with_script("holders");
  if (const Series* series = main_series(story)) {
    const std::uint64_t peak = story::sum(series->peak.bytes);
    HtmlTable table{fmt::format("Who held most at the peak of {}, at {}", device_words(series->device),
                                seconds(series->peak.time)),
                    {{"Made at, or label"},
                     {"Function"},
                     {"Pages"},
                     {"Blocks", true},
                     {"Bytes", true},
                     {"Asked for, bytes", true},
                     {"Share", true}}};
    for (const Holder& each : holders(story, *series, series->peak_moment)) {
      if (table.rows() == kMostRows) break;
      table.row({name_of(story, *each.group), story.names[each.group->function],
                 pages_and_policy(story, *each.group), fmt::format("{}", each.held.count),
                 fmt::format("{}", each.held.charged), fmt::format("{}", each.held.asked),
                 share(each.held.charged, peak)},
                lead_to(story, *series, series->peak_moment));
    }
    text += table.text();
  }
  return section("who", "Who holds it",
                 "Each tile is a place in the program, or a label, and as large as what it holds at the "
                 "picked moment. Click one to see where it was made.",
                 text);
}

std::string where(const ReportSource&) {
  return section("where", "Where: addresses and holes",
                 "Each bar is a part of the address space; blocks have the colours of their tiles, and what "
                 "is grey is free. Click a block to follow its life.",
                 only_with_script("addresses"));
}

std::string life(const ReportSource&) {
  return section("life", "The life of a block",
                 "When it was made, what it cost, who used it, and when it was freed.",
                 only_with_script("block"));
}

std::string streams(const ReportSource& source) {
  const Story& story = source.story;
  std::string text;
  if (story.lanes.empty())
    return section("streams", "Streams, copies and waits", "What ran when.",
                   paragraph("Nothing was copied, filled or queued.", "told"));
  text += only_with_script("lanes");
  HtmlTable lanes{"Lanes",
                  {{"Lane"},
                   {"Process", true},
                   {"Tasks", true},
                   {"Busy", true},
                   {"Of the run", true},
                   {"Bytes", true},
                   {"While busy"}}};
  for (const story::Lane& each : story.lanes) {
    const double rate =
        each.busy == 0 ? 0 : static_cast<double>(each.bytes) / (static_cast<double>(each.busy) / 1e9);
    lanes.row({each.title(), fmt::format("{}", source.trace.processes()[each.process].process),
               fmt::format("{}", each.tasks), seconds(each.busy), share(each.busy, story.duration),
               fmt::format("{}", each.bytes),
               each.busy == 0 ? "" : amount(static_cast<std::size_t>(std::min(rate, 1e18))) + "/s"});
  }
  text += lanes.text();
  HtmlTable traffic{"What moved", {{"Direction"}, {"Times", true}, {"Bytes", true}, {"That is", true}}};
  for (std::size_t i = 0; i < story::kDirections; ++i)
    if (const story::Traffic& each = story.traffic[i]; each.times != 0)
      traffic.row({std::string{story::kDirectionNames[i]}, fmt::format("{}", each.times),
                   fmt::format("{}", each.bytes), amount(each.bytes)});
  if (traffic.rows() != 0) text += traffic.text();
  if (story.any_busy != 0)
    text += paragraph(
        fmt::format(
            "<b>Overlap.</b> Queued work ran for {}; for {} of that, {}, on at least two streams at once.",
            seconds(story.any_busy), seconds(story.two_busy), share(story.two_busy, story.any_busy)),
        "told");
  HtmlTable waits{"Who waited for streams", {{"Function"}, {"Process", true}, {"Times", true}, {"Hidden"}}};
  for (const story::Waits& each : story.waits)
    waits.row({each.function, fmt::format("{}", source.trace.processes()[each.process].process),
               fmt::format("{}", each.times),
               each.hidden() ? "yes: its name does not say that it waits" : "no"});
  if (waits.rows() != 0) text += waits.text();
  if (story.lanes_left_out != 0)
    text += paragraph(
        fmt::format("{} with fewer tasks are not shown.", counted(story.lanes_left_out, "lane")), "note");
  return section("streams", "Streams, copies and waits",
                 "A row for each stream: what ran when, and how fast bytes moved. Work that could overlap "
                 "but does not shows as bars one after the other.",
                 text);
}

// --- waste, temporary blocks, leaks, refusals, processes --------------------------------------------

std::string waste(const ReportSource& source) {
  const Story& story = source.story;
  HtmlTable table{"At the peak of each",
                  {{"Memory of"},
                   {"Charged, bytes", true},
                   {"Asked for, bytes", true},
                   {"Large pages, bytes", true},
                   {"Ends of pages, bytes", true},
                   {"Padding, bytes", true},
                   {"Rounding, bytes", true},
                   {"Waste", true}}};
  for (const Series& each : story.series) {
    const story::Waste& waste = each.waste;
    const std::uint64_t peak = story::sum(each.peak.bytes);
    table.row({place_words(source, each), fmt::format("{}", peak), fmt::format("{}", each.asked),
               fmt::format("{}", waste.page_kind), fmt::format("{}", waste.page_ends),
               fmt::format("{}", waste.padding), fmt::format("{}", waste.rounding), share(waste.all(), peak)},
              lead_to(story, each, each.peak_moment));
  }
  std::string text = table.rows() == 0 ? paragraph("Nothing was allocated.", "told") : table.text();
  if (const Series* series = main_series(story)) {
    std::vector<Holder> all = holders(story, *series, series->peak_moment);
    std::ranges::stable_sort(all, std::greater{}, [](const Holder& each) { return each.held.waste.all(); });
    HtmlTable wasters{fmt::format("Who wasted most at the peak of {}", device_words(series->device)),
                      {{"Made at, or label"},
                       {"Pages"},
                       {"Blocks", true},
                       {"Asked for, bytes", true},
                       {"Waste, bytes", true},
                       {"Of what it cost", true},
                       {"Mostly"}}};
    for (const Holder& each : all) {
      const story::Waste& of = each.held.waste;
      if (wasters.rows() == 12 || of.all() == 0) break;
      wasters.row(
          {name_of(story, *each.group), pages_and_policy(story, *each.group),
           fmt::format("{}", each.held.count), fmt::format("{}", each.held.asked),
           fmt::format("{}", of.all()), share(of.all(), each.held.charged), std::string{main_cause(of)}},
          lead_to(story, *series, series->peak_moment));
    }
    if (wasters.rows() != 0) text += wasters.text();
  }
  return section(
      "waste", "Waste, by cause",
      "What blocks cost beyond what was asked for. Rounding: to 32 bytes. Padding: 32 bytes that aclrtMalloc "
      "adds. Ends of pages: to whole pages of 4 KB. Large pages: because the page has 2 MB "
      "or 1 GB. Holes between blocks (fragmentation) are in the map of addresses above.",
      text);
}

std::string temporary(const ReportSource& source) {
  const Story& story = source.story;
  std::vector<const GroupTold*> all;
  for (const GroupTold& group : story.groups)
    if (group.totals.temporary != 0) all.push_back(&group);
  std::ranges::stable_sort(all, std::greater{}, [](const GroupTold* each) { return each->totals.temporary; });
  HtmlTable table{"The most frequent",
                  {{"Made at, or label"},
                   {"Function"},
                   {"Temporary", true},
                   {"Of all it made", true},
                   {"Bytes asked for in them", true},
                   {"Average life"}}};
  for (const GroupTold* each : all) {
    if (table.rows() == kMostRows) break;
    const story::Group& totals = each->totals;
    table.row({name_of(story, *each), story.names[each->function], fmt::format("{}", totals.temporary),
               share(totals.temporary, totals.made), fmt::format("{}", totals.temporary_bytes),
               totals.freed == 0 ? "" : seconds(totals.lived_ns / totals.freed)});
  }
  return section("temporary", "Temporary blocks",
                 "Blocks that were freed before their thread made another one. A block that is kept, or one "
                 "buffer that is used again, would save these calls.",
                 all.empty() ? paragraph("There are none.", "told") : table.text());
}

std::string leaks(const ReportSource& source) {
  const Story& story = source.story;
  std::vector<const GroupTold*> all;
  std::uint64_t blocks = 0, bytes = 0;
  for (const GroupTold& group : story.groups) {
    if (group.totals.unfreed.count == 0) continue;
    all.push_back(&group);
    blocks += group.totals.unfreed.count;
    bytes += group.totals.unfreed.charged;
  }
  std::ranges::stable_sort(all, std::greater{},
                           [](const GroupTold* each) { return each->totals.unfreed.charged; });
  std::string text =
      all.empty() ? paragraph("All blocks were freed.", "told")
                  : paragraph(fmt::format("{}, {} in all.", counted(blocks, "block"), words(bytes)), "told");
  HtmlTable table{"By where they were made",
                  {{"Made at, or label"},
                   {"Process", true},
                   {"Memory of"},
                   {"Function"},
                   {"Blocks", true},
                   {"Bytes", true},
                   {"Asked for, bytes", true},
                   {"Made in all", true}}};
  constexpr std::size_t kMostPlaces = 100;
  Held others;
  std::uint64_t made_by_others = 0;
  for (const GroupTold* each : all) {
    const story::Account& account = story.accounts[each->account];
    const Held& left = each->totals.unfreed;
    if (table.rows() == kMostPlaces) {
      others.count += left.count;
      others.charged += left.charged;
      others.asked += left.asked;
      made_by_others += each->totals.made;
      continue;
    }
    table.row({name_of(story, *each), fmt::format("{}", source.trace.processes()[account.process].process),
               device_words(account.device), story.names[each->function], fmt::format("{}", left.count),
               fmt::format("{}", left.charged), fmt::format("{}", left.asked),
               fmt::format("{}", each->totals.made)});
  }
  if (others.count != 0)
    table.row({fmt::format("{} with less each", counted(all.size() - kMostPlaces, "other place")), "", "", "",
               fmt::format("{}", others.count), fmt::format("{}", others.charged),
               fmt::format("{}", others.asked), fmt::format("{}", made_by_others)});
  if (!all.empty()) text += table.text();
  return section("leaks", "Never freed",
                 "Blocks that the program had not freed when its devices were reset, when it ended, or when "
                 "the trace ends.",
                 text);
}

std::string_view name_of_code(std::int32_t code) {
  const auto found = std::ranges::find(kNamedCodes, code, &NamedCode::code);
  return found == kNamedCodes.end() ? std::string_view{} : found->name;
}

// Calls that failed alike are one row.
std::string refusals(const ReportSource& source) {
  const Story& story = source.story;
  if (story.refused == 0)
    return section("refusals", "Refused calls", "Calls that returned an error.",
                   paragraph("There are none.", "told"));
  struct Alike {
    const story::Refusal* first;
    std::uint64_t last = 0, times = 0;
  };
  std::vector<Alike> rows;
  for (const story::Refusal& each : story.refusals) {
    const auto same = [&each](const Alike& row) {
      return row.first->process == each.process && row.first->code == each.code &&
             row.first->function == each.function && row.first->words == each.words;
    };
    auto row = std::ranges::find_if(rows, same);
    if (row == rows.end()) row = rows.insert(rows.end(), {&each, 0, 0});
    row->last = each.time;
    ++row->times;
  }
  HtmlTable table{story.refused > story.refusals.size()
                      ? fmt::format("{} of {} calls are told", story.refusals.size(), story.refused)
                      : counted(story.refused, "call"),
                  {{"First at"},
                   {"Last at"},
                   {"Times", true},
                   {"Process", true},
                   {"Function"},
                   {"Code", true},
                   {"Name"},
                   {"Why"},
                   {"Rule"}}};
  const Series* series = main_series(story);
  for (const Alike& row : rows) {
    const story::Refusal& each = *row.first;
    table.row({seconds(each.time), row.times == 1 ? "" : seconds(row.last), fmt::format("{}", row.times),
               fmt::format("{}", source.trace.processes()[each.process].process), each.function,
               fmt::format("{}", each.code), std::string{name_of_code(each.code)}, each.words, each.rule},
              series == nullptr ? "" : lead_to(story, *series, each.moment));
  }
  return section("refusals", "Refused calls",
                 "Calls that returned an error, and why. 'belay rule ID' prints a rule.", table.text());
}

std::string processes(const ReportSource& source) {
  const Story& story = source.story;
  HtmlTable table{"Processes of the trace",
                  {{"Process", true},
                   {"Program"},
                   {"Product"},
                   {"From"},
                   {"To"},
                   {"End"},
                   {"Peak on its devices, bytes", true}}};
  for (std::uint32_t i = 0; i < source.trace.processes().size(); ++i) {
    const recording::ProcessFacts& each = source.trace.processes()[i];
    std::string peaks;
    for (const Series& series : story.series) {
      const bool alone = std::ranges::count_if(story.accounts, [&](const story::Account& account) {
                           return account.device == series.device;
                         }) == 1;
      const bool own =
          series.process == i || (alone && series.process == story::kNone &&
                                  std::ranges::any_of(story.accounts, [&](const story::Account& account) {
                                    return account.device == series.device && account.process == i;
                                  }));
      if (own)
        peaks += fmt::format("{}{}: {}", peaks.empty() ? "" : ", ", device_words(series.device),
                             story::sum(series.peak.bytes));
    }
    table.row({fmt::format("{}", each.process), each.name, fmt::format("{} ({})", each.product, each.soc),
               seconds(each.began_ns), seconds(each.ended_ns == 0 ? story.duration : each.ended_ns),
               each.ended_ns == 0 ? "was killed, or still ran" : "by itself", peaks.empty() ? "0" : peaks});
  }
  return section("side", "Processes side by side",
                 "The memory of each process on the chosen device, on one scale of time and bytes.",
                 only_with_script("processes") + table.text());
}

std::string help() {
  return section(
      "help", "How to use this page", "It is one file, which needs no network; keep it, mail it, print it.",
      "<dl>"
      "<dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>the moment before, the moment after; with Shift ten of them</dd>"
      "<dt><kbd>p</kbd></dt><dd>the moment of the peak</dd>"
      "<dt><kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd></dt><dd>zoom in, zoom out, the whole run</dd>"
      "<dt><kbd>/</kbd></dt><dd>search: a function, a file, a label; or an address such as "
      "0x12c000000000</dd>"
      "<dt><kbd>t</kbd></dt><dd>dark or light</dd></dl>\n"
      "<p class=\"note\">Bytes are exact. Where a long trace has more changes than a page can hold, the "
      "curves keep the highest and the lowest state of each part, and pictures of a moment are of "
      "the nearest one that the page knows: peaks, refusals and the end are always among them.</p>\n");
}

}  // namespace

const Series* main_series(const Story& story) {
  const Series* best = nullptr;
  const auto weight = [&](const Series& each) {
    const bool short_of_it = std::ranges::any_of(story.refusals, [&](const story::Refusal& refusal) {
      return refusal.shortage && refusal.shortage->device == each.device;
    });
    return std::tuple{each.process == story::kNone, short_of_it, each.device >= 0,
                      story::sum(each.peak.bytes)};
  };
  for (const Series& each : story.series)
    if (best == nullptr || weight(each) > weight(*best)) best = &each;
  return best;
}

std::string html(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
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
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return safe;
}

std::string report_text(const ReportSource& source) {
  const Story& story = source.story;
  std::vector<std::string> names;
  for (const recording::ProcessFacts& each : source.trace.processes())
    if (std::ranges::find(names, each.name) == names.end() && names.size() < 4) names.push_back(each.name);
  const auto& processes_of = source.trace.processes();
  std::string text = fmt::format("<h1>{}</h1>\n", html(source.file));
  text += paragraph(
      fmt::format("{}; {} of {}{}; {}, {}", html(fmt::format("{}", fmt::join(names, ", "))),
                  counted(story.records, "record"), counted(processes_of.size(), "process", "processes"),
                  processes_of.empty()
                      ? ""
                      : html(fmt::format(" on {} ({})", processes_of[0].product, processes_of[0].soc)),
                  seconds(story.duration), counted(source.trace.bytes(), "byte")),
      "facts");
  for (const std::string& each : source.trace.remarks()) text += paragraph(html(each), "facts remark");
  return text + in_short(source) + shortages(source) + over_time(source) + who(source) + where(source) +
         life(source) + streams(source) + waste(source) + temporary(source) + leaks(source) +
         refusals(source) + processes(source) + help();
}

}  // namespace belay::cli
