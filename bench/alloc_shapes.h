// Allocating as programs with models do.
#pragma once

namespace bench {

// "shapes/ALLOCATOR/TRACE": time of a request of the trace, be it an allocation or a free. See
// model_shapes.h.
void add_shapes();

}  // namespace bench
