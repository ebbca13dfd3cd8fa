// acl: data buffers and numbers of half precision.
#include "call.h"

namespace belay::python {
namespace {

struct F32 : Parameter {
  static constexpr const char* kWants = "a number";
  float number = 0;
  bool read(Arguments& at) {
    const double value = PyFloat_AsDouble(*at++);
    if (PyErr_Occurred() != nullptr) return false;
    number = static_cast<float>(value);
    return true;
  }
  auto arguments() const { return std::tuple{number}; }
};

}  // namespace

Functions data() {
  return {
      row<"acl.create_data_buffer", aclCreateDataBuffer, kHeld, Ptr, Ptr>(
          R"((ptr: int, size: int) -> handle: int

Records an address and a size; copies nothing and owns nothing. 0 on failure, never None. [Y-164])"),
      row<"acl.destroy_data_buffer", aclDestroyDataBuffer, kHeld, Ptr>(R"((handle: int) -> ret: int

Frees the record, not the memory. [Y-165])"),
      row<"acl.get_data_buffer_addr", aclGetDataBufferAddr, kHeld, Ptr>(R"((handle: int) -> ptr: int

The address in the record. [Y-166])"),
      row<"acl.get_data_buffer_size", aclGetDataBufferSize, kHeld, Ptr>(R"((handle: int) -> size: int

The size modulo 2**32; use get_data_buffer_size_v2(). [Y-167])"),
      row<"acl.get_data_buffer_size_v2", aclGetDataBufferSizeV2, kHeld, Ptr>(R"((handle: int) -> size: int

The size in the record. [Y-167])"),
      row<"acl.update_data_buffer", aclUpdateDataBuffer, kHeld, Ptr, Ptr, Ptr>(
          R"((handle: int, ptr: int, size: int) -> ret: int

Puts another address and size into the record. [Y-168])"),
      row<"acl.data_type_size", aclDataTypeSize, kHeld, I32>(R"((type: int) -> size: int

Bytes of one element of a data type. [Y-56])"),
      row<"acl.float16_to_float", aclFloat16ToFloat, kHeld, U32>(R"((bits: int) -> value: float

The number that 16 bits of half precision mean. [Y-56])"),
      row<"acl.float_to_float16", aclFloatToFloat16, kHeld, F32>(R"((value: float) -> bits: int

The 16 bits of the nearest number of half precision. [Y-56])"),
  };
}

}  // namespace belay::python
