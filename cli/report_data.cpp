// The figures of a page, as viewer/src/story.ts describes them.
#include <nlohmann/json.hpp>

#include "cli/report_page.h"

namespace belay::cli {
namespace {

using Json = nlohmann::ordered_json;
using story::Story;

// What scripts can tell exactly. Only damaged traces have more.
Json number(std::uint64_t value) { return std::min<std::uint64_t>(value, (std::uint64_t{1} << 53) - 1); }

template <class Items, class Get>
Json column(const Items& items, Get&& get) {
  Json all = Json::array();
  for (const auto& each : items) all.push_back(get(each));
  return all;
}

Json process_or_all(std::uint32_t process) { return process == story::kNone ? Json(-1) : Json(process); }

Json series_json(const story::Series& series) {
  // Kinds of pages that were never in use are not told.
  Json kinds = Json::array(), bytes = Json::array();
  for (std::size_t kind = 0; kind < story::kKinds; ++kind) {
    const auto of_kind = [kind](const story::Point& point) { return point.bytes[kind]; };
    if (std::ranges::all_of(series.points, [&](const story::Point& point) { return of_kind(point) == 0; }))
      continue;
    kinds.push_back(story::kKindNames[kind]);
    bytes.push_back(column(series.points, [&](const story::Point& point) { return number(of_kind(point)); }));
  }
  return {{"device", series.device},
          {"process", process_or_all(series.process)},
          {"limit", number(series.limit)},
          {"kinds", std::move(kinds)},
          {"times", column(series.points, [](const story::Point& point) { return number(point.time); })},
          {"bytes", std::move(bytes)},
          {"peak",
           {{"time", number(series.peak.time)},
            {"bytes", number(story::sum(series.peak.bytes))},
            {"moment", series.peak_moment}}}};
}

Json moments_json(const Story& story) {
  Json words = Json::array();
  for (std::size_t i = 0; i < story.moments.size(); ++i)
    for (const std::string& each : story.moments[i].words) words.push_back(Json::array({i, each}));
  return {{"all", story.all_moments},
          {"times", column(story.moments, [](const story::Moment& each) { return number(each.time); })},
          {"words", std::move(words)}};
}

Json group_json(const Story& story, const story::GroupTold& group) {
  const story::Account& account = story.accounts[group.account];
  const auto states = [&](auto get) {
    return column(group.states, [&](const story::State& state) { return number(get(state.held)); });
  };
  return {{"process", account.process},
          {"device", account.device},
          {"name", group.name},
          {"label", group.label},
          {"function", group.function},
          {"policy", group.policy},
          {"kind", group.kind},
          {"frames", group.frames},
          {"moment", column(group.states, [](const story::State& state) { return state.moment; })},
          {"bytes", states([](const story::Held& held) { return held.charged; })},
          {"asked", states([](const story::Held& held) { return held.asked; })},
          {"count", states([](const story::Held& held) { return held.count; })},
          {"made", number(group.totals.made)},
          {"freed", number(group.totals.freed)},
          {"temporary", number(group.totals.temporary)},
          {"peak", number(group.totals.peak)}};
}

Json blocks_json(const Story& story) {
  const auto of = [&](auto get) {
    return column(story.lives, [&](const story::Life& life) { return get(life); });
  };
  return {{"all", story.all_lives},
          {"group", story.group_of_life},
          {"address", of([](const story::Life& life) { return number(life.block.address); })},
          {"asked", of([](const story::Life& life) { return number(life.block.asked); })},
          {"bytes", of([](const story::Life& life) { return number(life.block.charged); })},
          {"born", of([](const story::Life& life) { return number(life.block.born); })},
          {"died", of([](const story::Life& life) { return life.ended ? number(life.died) : Json(-1); })},
          {"thread", of([](const story::Life& life) { return life.block.thread; })},
          {"freed", of([](const story::Life& life) {
             return life.freed_at == story::kNone ? Json(-1) : Json(life.freed_at);
           })},
          {"touches", of([](const story::Life& life) { return life.block.touches; })}};
}

Json lane_json(const story::Lane& lane) {
  const auto of = [&](auto get) { return column(lane.shown, get); };
  return {{"process", lane.process},
          {"device", lane.device},
          {"title", lane.title()},
          {"what", of([](const story::Task& task) { return static_cast<int>(task.work); })},
          {"begin", of([](const story::Task& task) { return number(task.begin); })},
          {"end", of([](const story::Task& task) { return number(task.end); })},
          {"bytes", of([](const story::Task& task) { return number(task.bytes); })},
          {"count", of([](const story::Task& task) { return number(task.count); })},
          {"busy", number(lane.busy)},
          {"tasks", number(lane.tasks)}};
}

Json ranges_json(const Story& story) {
  const auto of = [&](auto get) { return column(story.ranges, get); };
  return {{"name", of([](const story::Range& range) { return range.name; })},
          {"process", of([](const story::Range& range) { return range.process; })},
          {"thread", of([](const story::Range& range) { return range.thread; })},
          {"depth", of([](const story::Range& range) { return range.depth; })},
          {"begin", of([](const story::Range& range) { return number(range.begin); })},
          {"end", of([](const story::Range& range) { return number(range.end); })}};
}

}  // namespace

std::string report_data(const ReportSource& source) {
  const Story& story = source.story;
  Json json;
  json["belay"] = BELAY_VERSION;
  json["file"] = source.file;
  json["product"] = source.trace.processes().empty() ? "" : source.trace.processes()[0].product;
  json["events"] = number(story.records);
  json["duration"] = number(story.duration);
  json["remarks"] = source.trace.remarks();
  json["names"] = story.names.all();
  json["processes"] = column(source.trace.processes(), [&](const recording::ProcessFacts& process) {
    return Json{{"pid", process.process},
                {"name", process.name},
                {"begin", number(process.began_ns)},
                {"end", number(process.ended_ns == 0 ? story.duration : process.ended_ns)}};
  });
  json["series"] = column(story.series, series_json);
  const story::Series* main = main_series(story);
  json["main"] = main == nullptr ? -1 : main - story.series.data();
  json["moments"] = moments_json(story);
  json["groups"] =
      column(story.groups, [&](const story::GroupTold& group) { return group_json(story, group); });
  json["blocks"] = blocks_json(story);
  json["refusals"] = column(story.refusals, [&](const story::Refusal& each) {
    return Json{{"time", number(each.time)}, {"process", each.process},   {"moment", each.moment},
                {"code", each.code},         {"function", each.function}, {"words", each.words}};
  });
  json["ranges"] = ranges_json(story);
  json["lanes"] = column(story.lanes, lane_json);
  json["traffic"] = Json::array();
  for (std::size_t i = 0; i < story::kDirections; ++i) {
    const story::Traffic& traffic = story.traffic[i];
    if (traffic.times == 0) continue;
    json["traffic"].push_back({{"title", story::kDirectionNames[i]},
                               {"bytes", column(traffic.parts, number)},
                               {"total", number(traffic.bytes)}});
  }
  // Names may hold any bytes; JSON may not. And nothing in them may look like the end of the script to a
  // browser.
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace belay::cli
