// The streams of this process: made, found by handle, counted against the device's limit, taken away.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "product/product.h"
#include "runtime/handles.h"
#include "schedule/scheduler.h"

namespace belay {

using schedule::Stream;
using StreamRef = std::shared_ptr<Stream>;

inline aclrtStream as_handle(const Stream& stream) { return reinterpret_cast<aclrtStream>(stream.handle); }
inline Handle handle_of(const void* pointer) { return reinterpret_cast<Handle>(pointer); }

inline constexpr std::uint32_t kLowestPriority = 7;  // larger numbers count as this one

class Streams {
 public:
  Streams(schedule::Scheduler& scheduler, const ProductRow& product, std::uint32_t devices);

  // While a device is open it keeps one place for the default stream of its default context, even where only
  // explicit contexts are used.
  void device_opened(std::uint32_t device);
  void device_closed(std::uint32_t device);

  struct Wish {
    std::uint32_t priority = 0, flags = 0;
    enum class As : std::uint8_t { Ordinary, DefaultOfPrimary, DefaultOfExplicit } as = As::Ordinary;
  };
  Result<StreamRef> create(const std::shared_ptr<schedule::Group>& group, const Wish& wish);
  StreamRef find(Handle handle) const { return table_.find(handle); }
  // Takes it away: from now on its handle is stale. Null where another thread was first.
  StreamRef take(Handle handle) { return table_.take(handle); }
  void forget(const Stream& stream);  // gives its place back

  template <class Act>
  void each(Act&& act) const {
    table_.each(std::forward<Act>(act));
  }
  std::vector<StreamRef> of_group(const schedule::Group& group) const;
  std::vector<StreamRef> of_device(std::uint32_t device) const;
  std::uint32_t available(std::uint32_t device) const { return places_[device].available(); }

 private:
  schedule::Scheduler& scheduler_;
  std::uint32_t limit_;
  HandleTable<Stream> table_;
  std::vector<Numbers> places_;
  std::vector<std::uint32_t> primary_places_;
};

}  // namespace belay
