#include "story/places.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace belay::story {
namespace {

// Every reader knows that a function of the program is in the program.
std::string without_anonymous(std::string name) {
  constexpr std::string_view kWords = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = name.find(kWords, at)) != std::string::npos;) name.erase(at, kWords.size());
  return name;
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "forward" of "forward (model.py:12)"
std::string function_of(const std::string& frame) { return frame.substr(0, frame.rfind(" (")); }

}  // namespace

Places::Places(const recording::Trace& trace, Names& names) : trace_{&trace}, names_{&names} {
  places_.resize(trace.processes().size());
  for (std::uint32_t process = 0; process < places_.size(); ++process) name_sites(process);
}

void Places::name_sites(std::uint32_t process) {
  const auto& sites = trace_->processes()[process].sites;
  std::map<std::string, std::set<std::uint32_t>> callers;  // of functions that allocate
  for (std::uint32_t site = 0; site < sites.size(); ++site) {
    const std::string_view called = trace_->text(process, sites[site].function);
    if (called.find("alloc") == std::string_view::npos) continue;
    const std::vector<std::uint32_t> all = frames(process, site);
    if (all.size() >= 2) callers[function_of((*names_)[all[0]])].insert(all[1]);
  }
  for (std::uint32_t site = 0; site < sites.size(); ++site) {
    const std::vector<std::uint32_t> all = frames(process, site);
    std::uint32_t place = all.empty() ? kNone : all[0];
    if (all.size() >= 2) {
      const std::string helper = function_of((*names_)[all[0]]);
      if (const auto known = callers.find(helper); known != callers.end() && known->second.size() >= 2)
        place = names_->number(fmt::format("{} via {}", (*names_)[all[1]], helper));
    }
    places_[process].push_back(place);
  }
}

std::vector<std::uint32_t> Places::frames(std::uint32_t process, std::uint32_t site) const {
  const auto& of = trace_->site(process, site).frames;
  bool any_words = false;
  for (const recording::Frame& frame : of) any_words = any_words || frame.function != 0;
  std::vector<std::uint32_t> names;
  for (const recording::Frame& frame : of)
    if (frame.function != 0 || !any_words) names.push_back(frame_name(process, frame));
  return names;
}

std::uint32_t Places::frame_name(std::uint32_t process, const recording::Frame& frame) const {
  const auto text = [&](std::uint32_t number) { return trace_->text(process, number); };
  if (frame.function == 0) {
    const auto& modules = trace_->processes()[process].modules;
    const std::string_view path = frame.module < modules.size() ? text(modules[frame.module].path) : "";
    return names_->number(fmt::format("{}+{:#x}", path.empty() ? "code" : last_part(path), frame.offset));
  }
  const std::string function = without_anonymous(std::string{text(frame.function)});
  const std::string_view file = last_part(text(frame.file));
  if (file.empty()) return names_->number(function);
  return names_->number(frame.line == 0 ? fmt::format("{} ({})", function, file)
                                        : fmt::format("{} ({}:{})", function, file, frame.line));
}

}  // namespace belay::story
