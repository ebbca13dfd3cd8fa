// Data buffers, converters, capabilities of the toolkit.
#include <array>

#include "acl/acl.h"
#include "api/door.h"
#include "base/half.h"
#include "runtime/data_buffers.h"

using namespace belay;

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  aclDataBuffer* made = nullptr;
  (void)answered("aclCreateDataBuffer", [&]() -> Status {
    made = create_data_buffer(data, size);
    return done();
  });
  return made;
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return answered("aclDestroyDataBuffer", [&] { return destroy_data_buffer(dataBuffer); });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return enter("aclUpdateDataBuffer", [&](Process& p) -> Status {
    if (dataBuffer == nullptr) return null_pointer("R-233", "dataBuffer");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    *dataBuffer = {data, size};
    return done();
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  return dataBuffer == nullptr ? nullptr : dataBuffer->data;
}
uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return dataBuffer == nullptr ? 0 : static_cast<uint32_t>(dataBuffer->size);
}
size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return dataBuffer == nullptr ? 0 : dataBuffer->size;
}

size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_STRING:
    case ACL_DT_UNDEFINED:
      return 0;
    case ACL_UINT1:
    case ACL_INT4:
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    case ACL_FLOAT16:
    case ACL_INT16:
    case ACL_UINT16:
    case ACL_BF16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 8;
  }
}

float aclFloat16ToFloat(aclFloat16 value) { return half_to_float(value); }
aclFloat16 aclFloatToFloat16(float value) { return float_to_half(value); }

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  return enter("aclGetCannAttributeList", [&](Process& p) -> Status {
    if (cannAttrList == nullptr) return null_pointer("R-245", "cannAttrList");
    if (num == nullptr) return null_pointer("R-245", "num");
    static constexpr std::array kList{ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16, ACL_CANN_ATTR_JIT_COMPILE};
    const std::size_t missing = has(p.product().product, Feature::InfNan) ? 0 : 2;
    *cannAttrList = kList.data() + missing;
    return give(num, kList.size() - missing);
  });
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  return enter("aclGetCannAttribute", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-245", "value");
    switch (cannAttr) {
      case ACL_CANN_ATTR_INF_NAN:
      case ACL_CANN_ATTR_BF16:
        return give(value, has(p.product().product, Feature::InfNan) ? 1 : 0);
      case ACL_CANN_ATTR_JIT_COMPILE:
        return give(value, 1);
      case ACL_CANN_ATTR_UNDEFINED:
      default:
        return bad_value("R-245", "cannAttr", static_cast<int>(cannAttr), "a member of aclCannAttr");
    }
  });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return enter("aclGetDeviceCapability", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-246", "value");
    if (!p.has_device(deviceId)) return bad_value("R-246", "deviceId", deviceId, "a visible device");
    switch (deviceInfo) {
      case ACL_DEVICE_INFO_AI_CORE_NUM:
        return give(value, p.product().ai_cores);
      case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
        return give(value, p.product().vector_cores);
      case ACL_DEVICE_INFO_L2_SIZE:
        return give(value, static_cast<int64_t>(p.product().l2_bytes));
      case ACL_DEVICE_INFO_UNDEFINED:
      default:
        return bad_value("R-246", "deviceInfo", static_cast<int>(deviceInfo), "a member of aclDeviceInfo");
    }
  });
}
