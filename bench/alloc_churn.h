// Free a random one of many live blocks, and allocate one of a random size in its place.
#pragma once

namespace bench {

// "churn_small/ALLOCATOR/LIVE" with blocks of 64 B to 8 KB, "churn_large/ALLOCATOR/LIVE" with blocks of 1 to
// 4 MB; small and large sizes are equally likely on a logarithmic scale. No memory is touched.
//
// A set of live blocks is made at the first repeat and stays, so that repeats can be interleaved without
// filling it anew. Allocators then carry what they carry: measure each number of live blocks in a process of
// its own.
void add_churn();

}  // namespace bench
