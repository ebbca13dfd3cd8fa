#include "cli/report_page.h"

#include <fmt/format.h>

namespace belay::cli {

std::string report_page(const ReportSource& source) {
  const bool pictures = !viewer_script().empty();
  std::string page = fmt::format(
      R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="belay {}">
<title>{}: where memory went</title>
<style>
{}</style>
</head>
<body>
<a class="skip" href="#short">To the answers</a>
<header class="bar"><nav aria-label="Sections">
)",
      BELAY_VERSION, html(source.file), viewer_style());
  constexpr std::pair<std::string_view, std::string_view> kSections[] = {
      {"short", "In short"},      {"when", "When"},       {"who", "Who"},
      {"where", "Where"},         {"streams", "Streams"}, {"waste", "Waste"},
      {"temporary", "Temporary"}, {"leaks", "Leaks"},     {"refusals", "Refusals"},
      {"side", "Processes"}};
  for (const auto& [id, name] : kSections) page += fmt::format("<a href=\"#{}\">{}</a>\n", id, name);
  page += "</nav><div id=\"tools\"></div></header>\n<main>\n";
  if (!pictures)
    page +=
        "<p class=\"facts remark\">This belay was built without its viewer, so there are no pictures here; "
        "the tables are complete.</p>\n";
  page += report_text(source);
  page += fmt::format("<footer>Made by belay {}.</footer>\n</main>\n", BELAY_VERSION);
  if (pictures) {
    page += "<script type=\"application/json\" id=\"story\">";
    page += report_data(source);
    page += "</script>\n<script>";
    page += viewer_script();
    page += "</script>\n";
  }
  return page + "</body>\n</html>\n";
}

}  // namespace belay::cli
