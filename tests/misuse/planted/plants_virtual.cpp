// Mistakes with virtual memory.
#include "plants.h"

namespace planted {
namespace {

aclrtPhysicalMemProp property(std::size_t device) {
  aclrtPhysicalMemProp what{};
  what.memAttr = ACL_HBM_MEM_HUGE;
  what.location = {static_cast<std::uint32_t>(device), ACL_MEM_LOCATION_TYPE_DEVICE};
  return what;
}

// A reservation with physical memory, none of which is known to the program.
struct Own {
  explicit Own(RandomProgram& p, std::size_t reserved = 1) : device{p.device()} {
    void* start = nullptr;
    MUST(aclrtReserveMemAddress(&start, reserved * kGranule, 0, nullptr, 0));
    at = static_cast<char*>(start);
    add();
  }
  aclrtDrvMemHandle add() {
    const aclrtPhysicalMemProp what = property(device);
    aclrtDrvMemHandle memory = nullptr;
    MUST(aclrtMallocPhysical(&memory, kGranule, &what, 0));
    all.push_back(memory);
    return memory;
  }
  void map(std::size_t piece, std::size_t memory = 0) {
    MUST(aclrtMapMem(at + piece * kGranule, kGranule, 0, all[memory], 0));
    mapped.push_back(at + piece * kGranule);
  }
  void unmap() {
    for (char* each : mapped) MUST(aclrtUnmapMem(each));
    mapped.clear();
  }
  void free() {
    for (aclrtDrvMemHandle each : all) MUST(aclrtFreePhysical(each));
    all.clear();
  }
  void end() {
    unmap();
    free();
    MUST(aclrtReleaseMemAddress(at));
  }
  std::size_t device;
  char* at;
  std::vector<aclrtDrvMemHandle> all;
  std::vector<char*> mapped;
};

// --- lifetime -------------------------------------------------------------------------------------------

void physical_twice(RandomProgram& p) {
  Own own{p};
  aclrtDrvMemHandle memory = own.all[0];
  own.end();
  go_on(p);
  PLANTED(aclrtFreePhysical, memory);
}
void physical_twice_while_mapped(RandomProgram& p) {
  Own own{p};
  aclrtDrvMemHandle memory = own.all[0];
  own.map(0);
  own.free();
  PLANTED(aclrtFreePhysical, memory);
  own.end();
}
void mapping_twice(RandomProgram& p) {
  Own own{p};
  own.map(0);
  own.unmap();
  PLANTED(aclrtUnmapMem, own.at);
  own.end();
}
void reservation_twice(RandomProgram& p) {
  Own own{p};
  own.end();
  go_on(p);
  PLANTED(aclrtReleaseMemAddress, own.at);
}
void mapping_as_block(RandomProgram& p) { PLANTED(aclrtFree, p.idle(Place::Mapped).at); }
void freed_memory_mapped(RandomProgram& p) {
  Own own{p};
  aclrtDrvMemHandle memory = own.all[0];
  own.free();
  PLANTED(aclrtMapMem, own.at, kGranule, 0, memory, 0);
  own.end();
}
void fill_of_ended_mapping(RandomProgram& p) {
  Own own{p};
  own.map(0);
  own.unmap();
  PLANTED(aclrtMemset, own.at + p.pick(kGranule - 8), 8, 1, 8);
  own.end();
}
void copy_from_ended_mapping(RandomProgram& p) {
  Area& area = p.idle(Place::Mapped);
  char* const at = area.at + p.pick(area.bytes - 8);
  p.give_back(area);
  go_on(p);
  PLANTED(aclrtMemcpy, p.scratch(8), 8, at, 8, ACL_MEMCPY_DEVICE_TO_HOST);
}
void access_to_ended_mapping(RandomProgram& p) {
  Own own{p};
  own.map(0);
  own.unmap();
  aclrtMemAccessDesc access{};
  access.location = property(own.device).location;
  access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  PLANTED(aclrtMemSetAccess, own.at, kGranule, &access, 1);
  own.end();
}
void unmapped_in_use(RandomProgram& p) {
  Own own{p};
  own.map(0);
  Stream& stream = p.make_stream();
  Gate gate{stream.handle};
  MUST(aclrtMemsetAsync(own.at + p.pick(1000), 64, 1, 64, stream.handle));
  own.mapped.clear();
  MUST(PLANTED(aclrtUnmapMem, own.at));
  gate.open();
  may_fail(aclrtSynchronizeStream(stream.handle));
  may_fail(aclrtDestroyStream(stream.handle));
  p.forget(stream);
  own.end();
}
void released_while_mapped(RandomProgram& p) { PLANTED(aclrtReleaseMemAddress, p.idle(Place::Mapped).at); }

// --- access ---------------------------------------------------------------------------------------------

void without_access(RandomProgram& p) {
  Own own{p};
  MUST(aclrtMemMapNoAccess(own.at, kGranule, 0, own.all[0], 0));
  own.mapped.push_back(own.at);
  if (p.pick(2) == 0)
    PLANTED(aclrtMemset, own.at + p.pick(1000), 8, 1, 8);
  else
    PLANTED(aclrtMemcpy, own.at + p.pick(1000), 8, p.scratch(8), 8, ACL_MEMCPY_HOST_TO_DEVICE);
  own.end();
}
void queued_without_access(RandomProgram& p) {
  Own own{p};
  MUST(aclrtMemMapNoAccess(own.at, kGranule, 0, own.all[0], 0));
  own.mapped.push_back(own.at);
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtMemsetAsync, own.at, 8, 1, 8, stream);
  own.end();
}
void other_access(RandomProgram& p) {
  Area& area = p.idle(Place::Mapped);
  aclrtMemAccessDesc access{};
  access.location = property(area.device).location;
  access.flags = p.pick(2) == 0 ? ACL_RT_MEM_ACCESS_FLAGS_READ : ACL_RT_MEM_ACCESS_FLAGS_NONE;
  PLANTED(aclrtMemSetAccess, area.at, kGranule, &access, 1);
}
void access_to_a_part(RandomProgram& p) {
  Area& area = p.idle(Place::Mapped);
  aclrtMemAccessDesc access{};
  access.location = property(area.device).location;
  access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  PLANTED(aclrtMemSetAccess, area.at, kGranule / 2, &access, 1);
}

// --- where it is mapped ---------------------------------------------------------------------------------

void on_another_mapping(RandomProgram& p) {
  Own own{p};
  own.map(0);
  aclrtDrvMemHandle other = own.add();
  PLANTED(aclrtMapMem, own.at, kGranule, 0, other, 0);
  own.end();
}
void beyond_the_reservation(RandomProgram& p) {
  Own own{p};
  PLANTED(aclrtMapMem, own.at + kGranule / 2, kGranule, 0, own.all[0], 0);
  own.end();
}
void at_an_odd_address(RandomProgram& p) {
  Own own{p, 2};
  PLANTED(aclrtMapMem, own.at + 4096 * (1 + p.pick(100)), kGranule, 0, own.all[0], 0);
  own.end();
}
void with_another_size(RandomProgram& p) {
  Own own{p, 2};
  PLANTED(aclrtMapMem, own.at, 2 * kGranule, 0, own.all[0], 0);
  own.end();
}
void into_the_reservation_of_another_device(RandomProgram& p) {
  Own own{p, 2};
  own.map(0);
  own.device = 1 - own.device;
  aclrtDrvMemHandle other = own.add();
  PLANTED(aclrtMapMem, own.at + kGranule, kGranule, 0, other, 0);
  own.end();
}
void memory_of_the_host(RandomProgram& p) {
  Own own{p, 2};
  own.map(0);
  aclrtPhysicalMemProp what{};
  what.memAttr = ACL_MEM_HUGE;
  what.location = {0, ACL_MEM_LOCATION_TYPE_HOST};
  aclrtDrvMemHandle other = nullptr;
  MUST(aclrtMallocPhysical(&other, kGranule, &what, 0));
  PLANTED(aclrtMapMem, own.at + kGranule, kGranule, 0, other, 0);
  MUST(aclrtFreePhysical(other));
  own.end();
}

// --- bounds ---------------------------------------------------------------------------------------------

void over_a_hole(RandomProgram& p) {
  Own own{p, 3};
  own.map(0);
  own.map(2);
  const std::size_t start = p.pick(kGranule), end = 2 * kGranule + 1 + p.pick(kGranule);
  PLANTED(aclrtMemset, own.at + start, end - start, 1, end - start);
  own.end();
}
void beyond_a_mapping(RandomProgram& p) {
  Area& area = p.idle(Place::Mapped);
  const std::size_t start = p.pick(area.bytes), bytes = area.bytes - start + 1 + p.pick(5000);
  if (PLANTED(aclrtMemset, area.at + start, bytes, 1, bytes) == ACL_SUCCESS)
    area.written.add(start, area.bytes);
}
void copy_beyond_a_mapping(RandomProgram& p) {
  Area& area = p.idle(Place::Mapped);
  const std::size_t start = area.bytes - 1 - p.pick(5000), bytes = area.bytes - start + 1 + p.pick(5000);
  char* const host = p.scratch(bytes);
  if (PLANTED(aclrtMemcpy, area.at + start, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS)
    area.written.add(start, area.bytes);
}

}  // namespace

std::vector<Kind> virtual_mistakes() {
  return {
      {"physical memory freed twice", "use-after-destroy", kVirtual, physical_twice},
      {"physical memory freed twice while it is mapped", "double-free", kVirtual,
       physical_twice_while_mapped},
      {"mapping ended twice", "double-free", kVirtual, mapping_twice},
      {"reservation released twice", "double-free", kVirtual, reservation_twice},
      {"mapping freed as a block", "free-by-wrong-function", kVirtual, mapping_as_block},
      {"freed physical memory mapped", "use-after-destroy", kVirtual, freed_memory_mapped},
      {"fill of an ended mapping", "use-after-free", kVirtual, fill_of_ended_mapping},
      {"copy from an ended mapping", "use-after-free", kVirtual, copy_from_ended_mapping},
      {"access to an ended mapping", "use-after-free", kVirtual, access_to_ended_mapping},
      {"mapping ended with a fill queued", "free-while-in-use", kVirtual | kStreams, unmapped_in_use},
      {"reservation released while mapped", "release-while-mapped", kVirtual, released_while_mapped},
      {"use without access", "use-without-access", kVirtual, without_access},
      {"queued use without access", "use-without-access", kVirtual | kStreams, queued_without_access},
      {"access for reading alone", "access-not-granted", kVirtual, other_access},
      {"access to a part of a mapping", "access-not-granted", kVirtual, access_to_a_part},
      {"mapped on another mapping", "wrong-mapping", kVirtual, on_another_mapping},
      {"mapped beyond its reservation", "wrong-mapping", kVirtual, beyond_the_reservation},
      {"mapped at an odd address", "wrong-mapping", kVirtual, at_an_odd_address},
      {"mapped with another size", "wrong-mapping", kVirtual, with_another_size},
      {"mapped into the reservation of another device", "wrong-mapping", kVirtual,
       into_the_reservation_of_another_device},
      {"memory of the host mapped for a device", "wrong-mapping", kVirtual, memory_of_the_host},
      {"fill over a hole", "beyond-end", kVirtual, over_a_hole},
      {"fill beyond a mapping", "beyond-end", kVirtual, beyond_a_mapping},
      {"copy beyond a mapping", "beyond-end", kVirtual, copy_beyond_a_mapping},
  };
}

}  // namespace planted
