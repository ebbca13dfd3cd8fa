// What belay has found since it was asked the last time.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "belay/belay.h"

namespace planted {

struct Found {
  std::string id, function, text;
  std::uint64_t count;

  // The first frame of the text: of the call, or where the thing that it is about was made.
  std::string place() const {
    const std::size_t frame = text.find("  at ");
    if (frame == std::string::npos) return {};
    const std::string line = text.substr(frame, text.find('\n', frame) - frame);
    const std::size_t start = line.rfind('(');
    return start == std::string::npos ? std::string{} : line.substr(start + 1, line.size() - start - 2);
  }
};

// They count no more, so that the process ends as if nothing had been found.
inline std::vector<Found> take_findings() {
  std::vector<belayFinding> all(belay_findings(0, nullptr, 0));
  all.resize(std::min(all.size(), belay_findings(0, all.data(), all.size())));
  std::vector<Found> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].count == 0) continue;
    found.push_back({all[i].id, all[i].function, all[i].text, all[i].count});
    belay_accept_finding(i, all[i].count);
  }
  return found;
}

}  // namespace planted
