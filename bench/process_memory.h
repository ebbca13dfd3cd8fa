// How much memory this process has.
#pragma once

#include <cstdint>

namespace bench {

// In bytes. The pages of files in memory (memfd) count once and whether mapped or not: they are held by
// whoever has the file. Code and other files on disk do not count; the kernel can drop them at any time.
struct ProcessMemory {
  std::int64_t held = 0;
  std::int64_t page_tables = 0;
};
ProcessMemory process_memory();

}  // namespace bench
