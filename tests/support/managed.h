// Managed memory: blocks that free themselves, sides, and what is known about a range.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/as_enum.h"
#include "support/blocks.h"
#include "support/contexts.h"

namespace belay_test {

inline constexpr std::size_t kManagedPage = 2 * kMB;

// A managed block. It is freed at the end of the scope unless the test has done so.
class Managed {
 public:
  explicit Managed(std::size_t size) : size_{size} {
    EXPECT_EQ(::aclrtMemAllocManaged(&start_, size, ACL_RT_MEM_ATTACH_GLOBAL), ACL_SUCCESS);
  }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  ~Managed() {
    if (start_ != nullptr) {
      EXPECT_EQ(aclrtFree(start_), ACL_SUCCESS);
    }
  }
  void* get(std::size_t offset = 0) const { return at(start_, offset); }
  void* page(std::size_t number) const { return get(number * kManagedPage); }
  std::size_t size() const { return size_; }
  void* free_now() {
    EXPECT_EQ(aclrtFree(start_), ACL_SUCCESS);
    return std::exchange(start_, nullptr);
  }

 private:
  void* start_ = nullptr;
  std::size_t size_;
};

inline aclrtMemManagedLocation side(int type, std::int32_t id = 0) {
  return {as_enum<aclrtMemManagedLocationType>(type), id};
}
inline aclrtMemManagedLocation device_side(std::int32_t id) { return side(ACL_MEM_LOCATIONTYPE_DEVICE, id); }
inline aclrtMemManagedLocation host_side(std::int32_t id = 0) { return side(ACL_MEM_LOCATIONTYPE_HOST, id); }
inline aclrtMemManagedLocation node_side(std::int32_t id) { return side(ACL_MEM_LOCATIONTYPE_HOST_NUMA, id); }
inline aclrtMemManagedLocation no_side(std::int32_t id = 0) { return side(ACL_MEM_LOCATIONTYPE_INVALID, id); }
inline aclrtMemManagedLocation this_node_side(std::int32_t id = 0) {
  return side(ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT, id);
}

// Short words for the six advises.
inline int advise(const void* start, std::size_t size, int what, aclrtMemManagedLocation where) {
  return aclrtMemManagedAdvise(start, size, as_enum<aclrtMemManagedAdviseType>(what), where);
}
inline int read_mostly(const void* start, std::size_t size) {
  return advise(start, size, ACL_MEM_ADVISE_SET_READ_MOSTLY, no_side());
}
inline int no_longer_read_mostly(const void* start, std::size_t size, aclrtMemManagedLocation where) {
  return advise(start, size, ACL_MEM_ADVISE_UNSET_READ_MOSTLY, where);
}
inline int prefer(const void* start, std::size_t size, aclrtMemManagedLocation where) {
  return advise(start, size, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, where);
}
inline int prefer_nothing(const void* start, std::size_t size) {
  return advise(start, size, ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, no_side());
}
inline int used_by(const void* start, std::size_t size, aclrtMemManagedLocation where) {
  return advise(start, size, ACL_MEM_ADVISE_SET_ACCESSED_BY, where);
}
inline int no_longer_used_by(const void* start, std::size_t size, aclrtMemManagedLocation where) {
  return advise(start, size, ACL_MEM_ADVISE_UNSET_ACCESSED_BY, where);
}

inline int query(int attribute, const void* start, std::size_t size, void* data, std::size_t bytes) {
  return aclrtMemManagedGetAttr(as_enum<aclrtMemManagedRangeAttribute>(attribute), start, size, data, bytes);
}

// The number that one of the attributes with a single value has.
inline std::int32_t known(int attribute, const void* start, std::size_t size) {
  std::int32_t value = -77;
  EXPECT_EQ(query(attribute, start, size, &value, sizeof value), ACL_SUCCESS) << attribute;
  return value;
}

inline bool is_read_mostly(const void* start, std::size_t size) {
  const std::int32_t value = known(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, start, size);
  EXPECT_TRUE(value == 0 || value == 1) << value;
  return value == 1;
}

// A location as it is reported, by three attributes: the preferred one, or that of the last prefetch.
struct Reported {
  std::int32_t location, type, id;
  bool operator==(const Reported&) const = default;
};
inline std::ostream& operator<<(std::ostream& to, const Reported& what) {
  return to << "location " << what.location << ", type " << what.type << ", id " << what.id;
}
inline Reported preferred(const void* start, std::size_t size) {
  return {known(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, start, size),
          known(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, start, size),
          known(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, start, size)};
}
inline Reported last_prefetch(const void* start, std::size_t size) {
  return {known(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, start, size),
          known(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, start, size),
          known(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, start, size)};
}
inline Reported reported_device(std::int32_t id) { return {id, ACL_MEM_LOCATIONTYPE_DEVICE, id}; }
inline Reported reported_node(std::int32_t id) { return {id, ACL_MEM_LOCATIONTYPE_HOST_NUMA, id}; }
inline constexpr Reported kReportedHost{-1, ACL_MEM_LOCATIONTYPE_HOST, -2};
inline constexpr Reported kReportedNothing{-2, ACL_MEM_LOCATIONTYPE_INVALID, -2};

// Who is said to use the whole range, in rising order; -1 is the host.
inline std::vector<std::int32_t> users(const void* start, std::size_t size, std::size_t room = 16) {
  std::vector<std::int32_t> ids(room, -77);
  EXPECT_EQ(query(ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, start, size, ids.data(), room * 4), ACL_SUCCESS);
  const auto end = std::find(ids.begin(), ids.end(), -2);
  EXPECT_EQ(std::count(end, ids.end(), -2), ids.end() - end) << "nothing but -2 behind the list";
  EXPECT_EQ(std::count(ids.begin(), end, -77), 0) << "entries that were not written";
  ids.erase(end, ids.end());
  std::sort(ids.begin(), ids.end());
  return ids;
}

// Free bytes of a device that the process has open.
inline std::size_t free_on(std::int32_t device) {
  std::size_t bytes = 0;
  without_context([&] {
    EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    bytes = free_bytes();
    EXPECT_EQ(aclrtResetDevice(device), ACL_SUCCESS);
  });
  return bytes;
}

// Devices 0 and 1 are open, device 0 is current, and pages are counted from the start of the test on.
class OnTwoDevices : public OnDevice {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    contexts_[1] = current_context();
    OnDevice::SetUp();
    contexts_[0] = current_context();
    before_[0] = free_on(0);
    before_[1] = free_on(1);
  }
  void TearDown() override {
    make_current(0);
    EXPECT_EQ(pages_on(1), 0) << "the test left memory of device 1 behind";
    OnDevice::TearDown();
    EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  }
  // How many pages of 2 MB the test has there.
  int pages_on(int device) const {
    const std::size_t bytes = before_[device] - free_on(device);
    EXPECT_EQ(bytes % kManagedPage, 0U) << "on device " << device;
    return static_cast<int>(bytes / kManagedPage);
  }
  void expect_pages(int on_0, int on_1, const char* when) const {
    EXPECT_EQ(pages_on(0), on_0) << when;
    EXPECT_EQ(pages_on(1), on_1) << when;
  }
  void make_current(int device) const { EXPECT_EQ(aclrtSetCurrentContext(contexts_[device]), ACL_SUCCESS); }

 private:
  std::size_t before_[2] = {};
  aclrtContext contexts_[2] = {};
};

}  // namespace belay_test
