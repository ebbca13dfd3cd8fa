#include "runtime/streams.h"

#include <algorithm>
#include <atomic>

namespace belay {
namespace {

constexpr std::uint32_t kKnownFlags = 0x3F;  // the ACL_STREAM_... bits; others are ignored

schedule::StreamTraits traits_of(std::uint32_t flags) {
  constexpr std::uint32_t kSpecial =
      ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;
  return {.runs = (flags & ACL_STREAM_PERSISTENT) == 0,
          .takes_work = (flags & ACL_STREAM_DEVICE_USE_ONLY) == 0,
          .is_waited_for = (flags & kSpecial) == 0};
}

}  // namespace

Streams::Streams(schedule::Scheduler& scheduler, const ProductRow& product, std::uint32_t devices)
    : scheduler_{scheduler}, limit_{product.streams}, primary_places_(devices) {
  places_ = std::vector<Numbers>(devices);
  for (Numbers& each : places_) each.set_limit(limit_);
}

void Streams::device_opened(std::uint32_t device) { primary_places_[device] = *places_[device].take(); }
void Streams::device_closed(std::uint32_t device) { places_[device].give(primary_places_[device]); }

Result<StreamRef> Streams::create(const std::shared_ptr<schedule::Group>& group, const Wish& wish) {
  const std::uint32_t device = group->device;
  const bool has_place = wish.as == Wish::As::DefaultOfPrimary;
  const std::optional<std::uint32_t> id =
      has_place ? std::optional{primary_places_[device]} : places_[device].take();
  if (!id) {
    return refuse({ACL_ERROR_RT_NO_STREAM_RESOURCE, "R-131", "EL0009",
                   fmt::format("device {} has {} streams, default streams included, and all are in use",
                               device, limit_),
                   "", "destroy streams that are not needed any more"});
  }
  const std::uint32_t flags = wish.flags & kKnownFlags;
  StreamRef stream = scheduler_.open(new_handle(), group, traits_of(flags));
  stream->id = static_cast<std::int32_t>(*id);
  stream->flags = flags;
  stream->is_default = wish.as != Wish::As::Ordinary;
  stream->holds_place = !has_place;
  stream->priority.store(std::min(wish.priority, kLowestPriority));
  table_.add(stream->handle, stream);
  return stream;
}

void Streams::forget(const Stream& stream) {
  if (stream.holds_place) places_[stream.device()].give(static_cast<std::uint32_t>(stream.id));
}

std::vector<StreamRef> Streams::of_group(const schedule::Group& group) const {
  return table_.all([&](const Stream& each) { return each.group.get() == &group; });
}

std::vector<StreamRef> Streams::of_device(std::uint32_t device) const {
  return table_.all([&](const Stream& each) { return each.device() == device; });
}

}  // namespace belay
