// What programs make and give back, and the words for it.
#pragma once

#include <cstdint>
#include <string_view>

namespace belay {

enum class Object : std::uint8_t {
  None,
  DeviceBlock,
  HostBlock,
  Registration,
  Stream,
  Event,
  Notify,
  CountNotify,
  Context,
  DataBuffer,
  Physical,  // memory without an address, on a device; its serial number is the extent of a touch
  HostPhysical,
  Reservation,
  Mapping,  // details.object: the physical memory
  Managed,
  Key,               // of memory that others may import
  ImportedKey,       // an address that one led to
  ImportedPhysical,  // a handle that a share value led to
};
inline constexpr Object kLastObject = Object::ImportedPhysical;

struct ObjectWords {
  std::string_view one, several;
  std::string_view made, ended;  // what happened to it
  std::string_view given_back_with;
};

constexpr ObjectWords words_of(Object object) {
  switch (object) {
    case Object::DeviceBlock:
      return {"block", "blocks", "allocated", "freed", "aclrtFree"};
    case Object::HostBlock:
      return {"pinned block of host memory", "pinned blocks of host memory", "allocated", "freed",
              "aclrtFreeHost"};
    case Object::Registration:
      return {"registered range of host memory", "registered ranges of host memory", "registered",
              "unregistered", "aclrtHostUnregister"};
    case Object::Stream:
      return {"stream", "streams", "created", "destroyed", "aclrtDestroyStream"};
    case Object::Event:
      return {"event", "events", "created", "destroyed", "aclrtDestroyEvent"};
    case Object::Notify:
      return {"notify", "notifies", "created", "destroyed", "aclrtDestroyNotify"};
    case Object::CountNotify:
      return {"count notify", "count notifies", "created", "destroyed", "aclrtCntNotifyDestroy"};
    case Object::Context:
      return {"context", "contexts", "created", "destroyed", "aclrtDestroyContext"};
    case Object::DataBuffer:
      return {"data buffer", "data buffers", "created", "destroyed", "aclDestroyDataBuffer"};
    case Object::Key:
      return {"IPC key", "IPC keys", "exported", "closed", "aclrtIpcMemClose"};
    case Object::ImportedKey:
      return {"imported IPC key", "imported IPC keys", "imported", "closed", "aclrtIpcMemClose"};
    case Object::ImportedPhysical:
      return {"imported piece of physical memory", "imported pieces of physical memory", "imported", "freed",
              "aclrtFreePhysical"};
    case Object::Physical:
    case Object::HostPhysical:
      return {"piece of physical memory", "pieces of physical memory", "allocated", "freed",
              "aclrtFreePhysical"};
    case Object::Reservation:
      return {"reservation of addresses", "reservations of addresses", "reserved", "released",
              "aclrtReleaseMemAddress"};
    case Object::Mapping:
      return {"mapping", "mappings", "mapped", "unmapped", "aclrtUnmapMem"};
    case Object::Managed:
      return {"piece of managed memory", "pieces of managed memory", "allocated", "freed", "aclrtFree"};
    case Object::None:
      break;
  }
  return {"object", "objects", "made", "ended", ""};
}

}  // namespace belay
