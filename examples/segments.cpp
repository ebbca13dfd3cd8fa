// One allocation for many buffers: cut a block into segments by the documented rule (M-45, M-420).
//
// A segment of `len` bytes needs m = ALIGN_UP(len, 32) + 32 bytes, and the next one starts ALIGN_UP(m, 64)
// further on. The library does not see segments (M-47): a tighter plan gets no error, so only the program can
// keep the rule. On Ascend 950 the extra 32 bytes fall away.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"

namespace {

void check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d\n%s", call, code, message != nullptr ? message : "");
  std::exit(1);
}
#define CHECK(call) check(call, #call)

constexpr size_t align_up(size_t length, size_t unit) { return (length - 1) / unit * unit + unit; }

// Hands out segments of one block, front to back.
class SegmentPlan {
 public:
  explicit SegmentPlan(size_t padding) : padding_{padding} {}

  // The offset of a new segment.
  size_t add(size_t length) {
    const size_t offset = next_;
    const size_t needed = align_up(length, 32) + padding_;
    end_ = offset + needed;
    next_ = offset + align_up(needed, 64);
    return offset;
  }
  // What to ask aclrtMalloc for: the steps of all segments but the last, and the last one's own bytes.
  size_t bytes() const { return end_; }

 private:
  size_t padding_;
  size_t next_ = 0, end_ = 0;
};

struct Buffer {
  size_t length, offset;
  unsigned char mark;
};

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));

  const char* soc = aclrtGetSocName();
  const size_t padding = soc != nullptr && std::strncmp(soc, "Ascend950", 9) == 0 ? 0 : 32;
  SegmentPlan plan{padding};
  std::vector<Buffer> buffers{{100, 0, 0x11}, {1, 0, 0x22}, {4096, 0, 0x33}, {33, 0, 0x44}};
  for (Buffer& buffer : buffers) buffer.offset = plan.add(buffer.length);
  std::printf("%zu buffers need one block of %zu bytes\n", buffers.size(), plan.bytes());

  // aclrtMalloc returns a multiple of 64, so offset 0 is a good place for the first segment.
  void* block = nullptr;
  CHECK(aclrtMalloc(&block, plan.bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
  auto* start = static_cast<unsigned char*>(block);  // arithmetic only: the host must not follow it

  for (const Buffer& buffer : buffers) {
    CHECK(aclrtMemset(start + buffer.offset, buffer.length, buffer.mark, buffer.length));
    std::printf("  %5zu bytes at offset %5zu, address %p\n", buffer.length, buffer.offset,
                static_cast<void*>(start + buffer.offset));
  }

  // Written one after another, read back at the end: a buffer that reached into another would show.
  for (const Buffer& buffer : buffers) {
    std::vector<unsigned char> copy(buffer.length);
    CHECK(aclrtMemcpy(copy.data(), copy.size(), start + buffer.offset, buffer.length,
                      ACL_MEMCPY_DEVICE_TO_HOST));
    for (const unsigned char byte : copy) {
      if (byte != buffer.mark) {
        std::fprintf(stderr, "the buffer at offset %zu was overwritten\n", buffer.offset);
        return 1;
      }
    }
  }
  std::printf("every buffer holds what was written to it\n");

  CHECK(aclrtFree(block));  // the block, once; a segment is no allocation and cannot be freed
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
