// What the doctor looks at, and how it says what it found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/host_facts.h"
#include "platform/host_trials.h"

namespace belay::cli {

// A directory where the processes of a user could meet, and the one around it.
struct Meeting {
  platform::Place around;
  platform::Place own;
};

// The machine that belay runs on, as read and as tried.
struct Host {
  platform::HostFacts facts;
  platform::HostTrials trials;
  std::vector<Meeting> meetings;  // in the order in which belay tries them
};

// The settings that meet the host; words in lower case; empty: not set.
struct Wishes {
  std::string pages{};                        // BELAY_PAGES
  std::string backing{};                      // BELAY_BACKING
  std::string commit{};                       // BELAY_COMMIT, as it is written
  std::optional<std::size_t> commit_bytes{};  // and as an amount; empty for auto
  std::string machine{};                      // BELAY_MACHINE, as it is written
  std::string machines{};                     // BELAY_MACHINES, as it is written
  std::string pin{};                          // BELAY_PIN
  std::string host_node{};                    // BELAY_HOST_NODE
  std::string host_access{};                  // BELAY_HOST_ACCESS
  std::string trouble{};                      // what is wrong with the settings as such; empty: nothing

  bool keeps_bytes() const { return backing != "none"; }
};

// The section on device memory has more than one author.
inline constexpr std::string_view kDevice = "Device memory";

enum class Mark { Ok, Note, Problem };

// Whose turn it is: the user's, root's, whoever starts the container, or a setting of belay.
enum class Whose { User, Root, Container, Setting };
struct Remedy {
  Whose whose;
  std::string command;
  std::string effect;  // may be empty
};

struct Finding {
  std::string_view section;
  std::string_view id;  // the same in every version, for tools
  std::string_view title;
  Mark mark;
  std::string text;
  std::vector<Remedy> remedies;
};

}  // namespace belay::cli
