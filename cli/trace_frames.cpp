#include "cli/trace_frames.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "cli/symbols.h"
#include "recording/wire.h"

namespace belay::cli {
namespace {

using recording::CallSite;
using recording::Frame;
using recording::ProcessFacts;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

using CodePlace = std::pair<std::uint32_t, std::uint64_t>;  // a module and an offset

std::map<CodePlace, std::vector<cli::Place>> look_up(const ProcessFacts& facts, Symbols& symbols) {
  std::map<CodePlace, std::vector<cli::Place>> found;
  for (const CallSite& site : facts.sites) {
    for (const Frame& frame : site.frames) {
      if (!frame.is_code || frame.function != 0 || frame.module == 0) continue;
      const auto [at, is_new] = found.try_emplace({frame.module, frame.offset});
      if (!is_new) continue;
      const recording::CodeModule& module = facts.modules[frame.module];
      const std::string path{facts.texts[module.path]};
      for (cli::Place& each : symbols.at(path, frame.offset, facts.texts[module.build_id])) {
        // std::sort and its many parts between two functions of the program say nothing.
        if (!each.function.empty() && !each.file.starts_with("/usr/include/c++/"))
          at->second.push_back(std::move(each));
      }
    }
  }
  std::erase_if(found, [](const auto& each) { return each.second.empty(); });
  return found;
}

}  // namespace

void name_frames(recording::Trace& trace) {
  static auto* words = new std::set<std::string, std::less<>>;  // views lead here
  Symbols symbols;
  for (ProcessFacts& facts : trace.processes_to_name()) {
    const auto found = look_up(facts, symbols);
    if (found.empty()) continue;
    const auto text = [&](const std::string& of) {
      facts.texts.push_back(*words->insert(of).first);
      return static_cast<std::uint32_t>(facts.texts.size() - 1);
    };
    std::map<CodePlace, std::vector<Frame>> named;
    for (const auto& [place, functions] : found) {
      for (const cli::Place& each : functions) {
        named[place].push_back({place.first, place.second, true, text(each.function), text(each.file),
                                static_cast<std::uint32_t>(each.line)});
      }
    }
    for (CallSite& site : facts.sites) {
      std::vector<Frame> frames;
      for (const Frame& frame : site.frames) {
        const auto at = named.find({frame.module, frame.offset});
        if (!frame.is_code || frame.function != 0 || at == named.end())
          frames.push_back(frame);
        else
          frames.insert(frames.end(), at->second.begin(), at->second.end());
      }
      site.frames = std::move(frames);
    }
  }
}

std::size_t write_frame_names(const std::string& path) {
  recording::Trace trace;
  recording::File file;
  if (!trace.open(path).empty() || !file.open(path, 0, false).empty()) return 0;
  Symbols symbols;
  std::size_t count = 0;
  for (std::uint32_t process = 0; process < trace.processes().size(); ++process) {
    const auto found = look_up(trace.processes()[process], symbols);
    if (found.empty()) continue;
    std::vector<std::byte> bytes;
    const auto put = [&](std::uint64_t number) {
      std::byte some[recording::kMostVarint];
      bytes.insert(bytes.end(), some, recording::put(some, number));
    };
    const auto put_text = [&](const std::string& text) {
      put(text.size());
      const auto* first = reinterpret_cast<const std::byte*>(text.data());
      bytes.insert(bytes.end(), first, first + text.size());
    };
    for (const auto& [place, functions] : found) {
      put(static_cast<std::uint64_t>(recording::Definition::Words));
      put(place.first);
      put(place.second);
      put(functions.size());
      for (const cli::Place& each : functions) {
        put_text(each.function);
        put_text(each.file);
        put(static_cast<std::uint64_t>(each.line));
      }
      ++count;
    }
    if (!file.append(recording::ChunkKind::Words, trace.number_of(process), bytes.data(), bytes.size()))
      return count;
  }
  return count;
}

std::string harmless(std::string_view text) {
  std::string safe{text};
  for (char& each : safe) {
    if (static_cast<unsigned char>(each) < 0x20 || each == 0x7F) each = '?';
  }
  return safe;
}

std::vector<std::string> frame_words(const recording::Trace& trace, std::uint32_t process,
                                     std::uint32_t site) {
  const ProcessFacts& facts = trace.processes()[process];
  std::vector<std::string> words;
  for (const Frame& frame : facts.sites[site].frames) {
    const std::string_view function = facts.texts[frame.function], file = facts.texts[frame.file];
    if (function.empty()) {
      const std::string_view module = base_name(facts.texts[facts.modules[frame.module].path]);
      words.push_back(fmt::format("{}+{:#x}", module.empty() ? "?" : module, frame.offset));
    } else if (file.empty()) {
      words.emplace_back(function);
    } else if (frame.line == 0) {
      words.push_back(fmt::format("{} ({})", function, file));
    } else {
      words.push_back(fmt::format("{} ({}:{})", function, file, frame.line));
    }
    words.back() = harmless(words.back());
  }
  return words;
}

std::string site_words(const recording::Trace& trace, std::uint32_t process, std::uint32_t site) {
  return fmt::format("{}", fmt::join(frame_words(trace, process, site), ", called by "));
}

}  // namespace belay::cli
