// The frames in the lines of a finding, as people read them: "belay:   at function (file:line)".
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>

namespace belay::check {

struct Frame {
  std::string_view function, file;  // or all of it is the function
  unsigned line = 0;
  bool of_call = false;  // of the call itself, not of what happened before
};

template <class Act>
void each_frame(std::string_view text, Act&& act) {
  constexpr std::string_view kOuter = "belay:   at ", kInner = "belay:     at ";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool outer = line.starts_with(kOuter);
    if (!outer && !line.starts_with(kInner)) continue;
    line.remove_prefix(outer ? kOuter.size() : kInner.size());
    Frame frame{line, {}, 0, outer};
    const std::size_t open = line.rfind(" (");
    if (open != std::string_view::npos && line.ends_with(')')) {
      const std::string_view place = line.substr(open + 2, line.size() - open - 3);
      const std::size_t colon = place.rfind(':');
      if (colon != std::string_view::npos) {
        frame.function = line.substr(0, open);
        frame.file = place.substr(0, colon);
        (void)std::from_chars(place.data() + colon + 1, place.data() + place.size(), frame.line);
      }
    }
    act(frame);
  }
}

}  // namespace belay::check
