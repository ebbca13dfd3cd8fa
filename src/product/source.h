// Where a figure comes from, so that nobody takes a guess for a measurement.
#pragma once

#include <cstdint>
#include <string_view>

namespace belay {

enum class Basis : std::uint8_t {
  Observed,    // programs on real devices have reported it
  Documented,  // something published says so
  Assumed,     // nobody says; chosen to be plausible
};

constexpr std::string_view name_of(Basis basis) {
  switch (basis) {
    case Basis::Observed:
      return "observed";
    case Basis::Documented:
      return "documented";
    case Basis::Assumed:
      return "assumed";
  }
  return {};
}

struct Source {
  Basis basis = Basis::Assumed;
  std::string_view text;  // a rule, a document, or what the guess rests on
};

}  // namespace belay
