// Where the processes of one machine meet: a directory of links in the place of all machines of a user.
//
// The place is opened anew for whatever is done there (platform/directories.h), and not kept open: a program
// may close all descriptors.
#pragma once

#include <string>

#include "platform/directories.h"

namespace belay::machine {

struct MeetingPlace {
  std::string directory{};  // of all machines; empty: there is none, the machine is one process's own
  bool named = false;       // by the user
  std::string machine{};    // the name of this one's directory in there

  std::string path() const { return directory + "/" + machine; }
  platform::OpenDirectory open(std::string& why) const {
    return platform::OpenDirectory{directory, named, why};
  }
  void remove_link(const std::string& link) const {
    std::string why;
    if (const platform::OpenDirectory opened = open(why)) opened.remove_file(machine + "/" + link);
  }
};

}  // namespace belay::machine
