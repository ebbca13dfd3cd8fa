// What memory of another process costs: to get it, to copy it, and to find it among many.
#pragma once

#include "sharing_figures.h"

namespace bench {

// Both processes call it, each with its end of a stream socket: `gives` the one that has the memory. The
// other one measures copies and look-ups; the figures of both are those of the one that gives.
std::vector<Figure> measure_memory(int socket, bool gives, unsigned rounds, bool quick);

}  // namespace bench
