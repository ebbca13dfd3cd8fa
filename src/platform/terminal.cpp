#include "platform/terminal.h"

#include <unistd.h>

#include "platform/environment.h"

namespace belay::platform {

bool is_coloured(std::FILE* stream) {
  return ::isatty(::fileno(stream)) != 0 && environment("NO_COLOR").value_or("").empty() &&
         environment("TERM").value_or("") != "dumb";
}

}  // namespace belay::platform
