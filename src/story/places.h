// Places in the program, in words: of call sites, and of their frames.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recording/reader.h"
#include "story/names.h"

namespace belay::story {

inline constexpr std::uint32_t kNone = UINT32_MAX;

class Places {
 public:
  Places(const recording::Trace& trace, Names& names);

  // One line for a call site; kNone: nothing is known of it. A function that several others allocate with
  // says little: then it is named after its caller.
  std::uint32_t of_site(std::uint32_t process, std::uint32_t site) const { return places_[process][site]; }
  // Innermost first. Those without words, between others that have some, are of libraries, and left out.
  std::vector<std::uint32_t> frames(std::uint32_t process, std::uint32_t site) const;

 private:
  std::uint32_t frame_name(std::uint32_t process, const recording::Frame& frame) const;
  void name_sites(std::uint32_t process);

  const recording::Trace* trace_;
  Names* names_;
  std::vector<std::vector<std::uint32_t>> places_;  // by process and site
};

}  // namespace belay::story
