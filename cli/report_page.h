// The page that `belay report` writes: text and tables with exact figures, which need no script; the same
// figures as data; and the viewer, which makes pictures of them (viewer/).
#pragma once

#include <string>
#include <string_view>

#include "recording/reader.h"
#include "story/story.h"

namespace belay::cli {

struct ReportSource {
  std::string file;  // its name, without folders
  const recording::Trace& trace;
  const story::Story& story;
};

// The whole page.
std::string report_page(const ReportSource& source);

// Its parts. Text is safe between tags and in quoted attributes, whatever a name holds.
std::string html(std::string_view text);
std::string report_text(const ReportSource& source);  // what stands in <main>
std::string report_data(const ReportSource& source);  // JSON that cannot end its <script>

// What the first look is for: the device where memory ran out, else the one that was used most; null: none.
const story::Series* main_series(const story::Story& story);

// The viewer, built in; empty if belay was built without it.
std::string_view viewer_script();
std::string_view viewer_style();

}  // namespace belay::cli
