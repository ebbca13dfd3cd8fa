// Allocate and free one block, again and again.
#pragma once

namespace bench {

// "pairs/ALLOCATOR/BYTES" for every allocator, and for mmap with munmap. No memory is touched.
void add_pairs();

// For callgrind: "NAME:BYTES:N" makes N pairs and then 2 N of them, each inside a call of counted_pairs, and
// nothing else. What two calls differ by is what N pairs take, without what one call costs besides.
void count_pairs(const char* which);

}  // namespace bench
