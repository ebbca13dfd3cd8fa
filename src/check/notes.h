// Writes to the log what is legal or was survived, but hardly meant.
#pragma once

namespace belay::check {

void log_notes();

}  // namespace belay::check
