// acl.rt: copies and fills.
#include "call.h"

namespace belay::python {

Functions copies() {
  return {
      row<"acl.rt.memcpy", aclrtMemcpy, kReleasedIfLong, Ptr, Ptr, Ptr, Bytes, I32>(
          R"((dst: int, dest_max: int, src: int, count: int, kind: int) -> ret: int

Copies `count` bytes and returns when they are there. Kinds: 0 host to host, 1 host to device, 2 device to host,
3 device to device; the two addresses decide, and a kind that does not fit them does no harm. `dest_max` is only
compared with `count`. Addresses that the runtime never saw (bytes, numpy, ctypes) are host memory.
[Y-100, Y-101, Y-102, Y-103])"),
      row<"acl.rt.memcpy_async", aclrtMemcpyAsync, kReleased, Ptr, Ptr, Ptr, Ptr, I32, Ptr>(
          R"((dst: int, dest_max: int, src: int, count: int, kind: int, stream: int) -> ret: int

Queues a copy on a stream. Keep both sides alive until the stream was synchronised. With host memory that is not
page-locked the call returns when the copy is done. Host to host is refused with 207000. [Y-104])"),
      row<"acl.rt.memcpy_async_with_condition", aclrtMemcpyAsyncWithCondition, kReleased, Ptr, Ptr, Ptr, Ptr,
          I32, Ptr>(R"((dst: int, dest_max: int, src: int, count: int, kind: int, stream: int) -> ret: int

Deprecated; use memcpy_async(). [Y-105])"),
      row<"acl.rt.memset", aclrtMemset, kReleasedIfLong, Ptr, Ptr, I32, Bytes>(
          R"((ptr: int, max_count: int, value: int, count: int) -> ret: int

Fills `count` bytes with the low byte of `value`. [Y-106, Y-107])"),
      row<"acl.rt.memset_async", aclrtMemsetAsync, kReleased, Ptr, Ptr, I32, Ptr, Ptr>(
          R"((ptr: int, max_count: int, value: int, count: int, stream: int) -> ret: int

Queues a fill on a stream. [Y-106])"),
      row<"acl.rt.memcpy2d", aclrtMemcpy2d, kReleased, Ptr, Ptr, Ptr, Ptr, Ptr, Ptr, I32>(
          R"((dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int) -> ret: int

Copies `height` rows of `width` bytes; rows are a pitch apart. Kinds 1, 2 and 4 only. [Y-108, Y-109])"),
      row<"acl.rt.memcpy2d_async", aclrtMemcpy2dAsync, kReleased, Ptr, Ptr, Ptr, Ptr, Ptr, Ptr, I32, Ptr>(
          R"((dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int, stream: int) -> ret: int

Queues such a copy on a stream. On 950, A3 and A2 kind 3 works, too. [Y-108, Y-109])"),
      row<"acl.rt.get_memcpy_desc_size", aclrtGetMemcpyDescSize, kHeld, I32, Out<std::size_t>>(
          R"((kind: int) -> (size: int, ret: int)

How much device memory a copy descriptor takes; kind 6 only. [Y-110])"),
      row<"acl.rt.set_memcpy_desc", aclrtSetMemcpyDesc, kReleased, Echo, I32, Ptr, Ptr, Ptr, Ptr>(
          R"((desc: int, kind: int, src: int, dst: int, count: int, config: int) -> (desc: int, ret: int)

Writes a copy descriptor into device memory. The source comes before the destination here. [Y-110])"),
      row<"acl.rt.memcpy_async_with_desc", aclrtMemcpyAsyncWithDesc, kReleased, Ptr, I32, Ptr>(
          R"((desc: int, kind: int, stream: int) -> ret: int

Queues the copy that a descriptor describes. [Y-110])"),
  };
}

}  // namespace belay::python
