#include "runtime/cache_operations.h"

#include <array>
#include <cstring>

#include "base/read_once.h"
#include "base/words.h"
#include "memory/history.h"
#include "memory/transfer.h"
#include "runtime/stream_calls.h"
#include "runtime/telling.h"

namespace belay {
namespace {

bool known(aclrtCmoType type) { return static_cast<std::uint32_t>(type) <= ACL_RT_CMO_TYPE_FLUSH; }

Refusal no_such_operation(const char* rule, aclrtCmoType type) {
  return unsupported(rule, fmt::format("there is no cache operation {}", static_cast<std::uint32_t>(type)),
                     "pass a member of aclrtCmoType");
}

// It reads, so that whoever looks for races finds it.
class CacheTask final : public schedule::Task {
 public:
  CacheTask(Memory& memory, const void* start, std::size_t bytes, aclrtCmoType type)
      : memory_{memory}, start_{start}, bytes_{bytes}, type_{type} {}
  schedule::Description describe() override {
    return {observe::Operation::CacheOperation,
            bytes_,
            {.flag = static_cast<std::uint32_t>(type_)},
            {touch(memory_, memory_.locate(start_), false, {bytes_})}};
  }

 private:
  Memory& memory_;
  const void* const start_;
  const std::size_t bytes_;
  const aclrtCmoType type_;
};

// In the words of the hardware (V-7).
struct DescriptorLayout {
  std::size_t bytes, length_at, address_at;
};
DescriptorLayout layout_on(const Process& process) {
  return has(process.product().product, Feature::NewerDriver) ? DescriptorLayout{64, 48, 32}
                                                              : DescriptorLayout{32, 12, 16};
}

Refusal not_bound_to_a_model(const char* rule) {
  return refuse({ACL_ERROR_RT_INTERNAL_ERROR, rule, "EE1018", "the stream is not bound to a model", "",
                 "barriers are for streams of models, which do not exist here"});
}

Status check_descriptor(const Process& process, const void* descriptor, const char* rule) {
  const Memory& memory = process.memory();
  const Location at = memory.locate(descriptor);
  if (at.is_device()) return done();
  Refusal refusal =
      rejected(rule, "cmoDesc", hex(descriptor), "it is not device memory", "allocate it with aclrtMalloc");
  if (at.is(Location::Kind::Unallocated)) return memory.used_wrongly(std::move(refusal), at.address);
  return as_misuse(std::move(refusal), Misuse::WrongSide, history_at(memory, at.address));
}

}  // namespace

Status cache_operation(Process& process, void* start, std::size_t size, aclrtCmoType type,
                       aclrtStream handle) {
  if (start == nullptr) return null_pointer("V-355", "src");
  if (size == 0) return bad_value("V-355", "size", size, "at least 1");
  if (Status here = needs_feature_after_context(process, "V-358", Feature::CacheOperations); !here)
    return here;
  if (!known(type)) return no_such_operation("V-356", type);
  ASSIGN_OR_RETURN(const StreamRef known_one, known_stream(process, handle, "V-358"));
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, known_one, "V-358", "V-358"));
  if (type != ACL_RT_CMO_TYPE_PREFETCH) {
    observe::note("V-356", [&] {
      return fmt::format("cache operation {}: the documents have only ACL_RT_CMO_TYPE_PREFETCH",
                         static_cast<int>(type));
    });
  }
  return submit(process, *stream, std::make_unique<CacheTask>(process.memory(), start, size, type));
}

Status cache_operation_with_barrier(Process& process, void* start, std::size_t size, aclrtCmoType type,
                                    std::uint32_t barrier, aclrtStream handle) {
  if (start == nullptr) return null_pointer("V-362", "src");
  if (Status here = needs_feature_after_context(process, "V-363", Feature::CacheBarriers); !here) return here;
  if (size == 0) return rejected("V-364", "size", size, "there is nothing to work on", "pass at least 1");
  if (!known(type)) return no_such_operation("V-364", type);
  if ((type == ACL_RT_CMO_TYPE_INVALID) != (barrier > 0)) {
    return rejected("V-365", "barrierId", barrier,
                    type == ACL_RT_CMO_TYPE_INVALID ? "ACL_RT_CMO_TYPE_INVALID needs a barrier"
                                                    : "only ACL_RT_CMO_TYPE_INVALID has a barrier",
                    type == ACL_RT_CMO_TYPE_INVALID ? "pass a number above 0" : "pass 0");
  }
  ASSIGN_OR_RETURN(const StreamRef known_one, known_stream(process, handle, "V-366"));
  if (process.current() == nullptr) return no_context("V-366");
  return not_bound_to_a_model("V-366");
}

Status wait_for_barriers(Process& process, const aclrtBarrierTaskInfo* barriers, aclrtStream handle) {
  if (barriers == nullptr) return null_pointer("V-367", "taskInfo");
  const std::size_t count = read_once(barriers->barrierNum);
  if (count == 0 || count > ACL_RT_CMO_MAX_BARRIER_NUM)
    return bad_value("V-367", "taskInfo->barrierNum", count, "1 to 6");
  if (Status here = needs_feature_after_context(process, "V-368", Feature::CacheBarriers); !here) return here;
  for (std::size_t i = 0; i < count; ++i) {
    const aclrtCmoType type = read_once(barriers->cmoInfo[i].cmoType);
    const std::uint32_t barrier = read_once(barriers->cmoInfo[i].barrierId);
    if (type == ACL_RT_CMO_TYPE_INVALID && barrier != 0) continue;
    return rejected("V-369", "taskInfo->cmoInfo", i,
                    fmt::format("it has type {} and barrier {}", static_cast<int>(type), barrier),
                    "wait for barriers of ACL_RT_CMO_TYPE_INVALID, which are above 0");
  }
  ASSIGN_OR_RETURN(const StreamRef known_one, known_stream(process, handle, "V-370"));
  if (process.current() == nullptr) return no_context("V-370");
  return not_bound_to_a_model("V-370");
}

Status cache_descriptor_size(Process& process, std::size_t* out) {
  if (Status here = needs_feature(process, Feature::CacheOperations, "V-373"); !here) return here;
  if (out == nullptr)
    return rejected("V-373", "size", "NULL", "there is no place for the answer", "pass an address");
  *out = layout_on(process).bytes;
  return done();
}

Status set_cache_descriptor(Process& process, void* descriptor, void* start, std::size_t size) {
  if (Status here = needs_feature(process, Feature::CacheOperations, "V-375"); !here) return here;
  if (descriptor == nullptr)
    return rejected("V-375", "cmoDesc", "NULL", "there is no descriptor to fill", "pass device memory");
  if (start == nullptr)
    return rejected("V-375", "src", "NULL", "there is nothing to work on", "pass an address");
  if (size == 0) return rejected("V-375", "size", size, "there is nothing to work on", "pass at least 1");
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "V-375"));
  if (Status fits = check_descriptor(process, descriptor, "V-377"); !fits) return fits;
  const DescriptorLayout layout = layout_on(process);
  std::array<std::byte, 64> filled{};
  const auto length = static_cast<std::uint32_t>(size);
  const std::uint64_t address = address_of(start);
  std::memcpy(filled.data() + layout.length_at, &length, sizeof length);
  std::memcpy(filled.data() + layout.address_at, &address, sizeof address);
  Memory& memory = process.memory();
  const Location holder = memory.locate(descriptor);
  if (Status set = Transfer{memory, context->device}.copy(descriptor, filled.data(), layout.bytes); !set)
    return set;
  if (observe::wanted(observe::What::Filled)) tell_filled(memory, context->device, holder, {layout.bytes}, 0);
  return done();
}

Status cache_operation_by_descriptor(Process& process, void* descriptor, aclrtCmoType type,
                                     aclrtStream handle, const void* reserve) {
  if (reserve != nullptr) return rejected("V-378", "reserve", hex(reserve), "it is reserved", "pass NULL");
  if (Status here = needs_feature(process, Feature::CacheOperations, "V-378"); !here) return here;
  ASSIGN_OR_RETURN(const StreamRef known_one, known_stream(process, handle, "V-378"));
  if (descriptor == nullptr)
    return rejected("V-378", "cmoDesc", "NULL", "there is no descriptor", "pass one of aclrtCmoSetDesc");
  if (!known(type))
    return rejected("V-378", "cmoType", static_cast<std::uint32_t>(type), "there is no such cache operation",
                    "pass a member of aclrtCmoType");
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, known_one, "V-378", "V-378"));
  if (Status fits = check_descriptor(process, descriptor, "V-377"); !fits) return fits;
  const DescriptorLayout layout = layout_on(process);
  if (!has(process.product().product, Feature::NewerDriver)) {
    // The driver writes what to do into the first two words before it queues the task (V-381).
    const std::array<std::uint32_t, 2> header{1U << 16, static_cast<std::uint32_t>(type)};
    if (Status set =
            Transfer{process.memory(), stream->device()}.copy(descriptor, header.data(), sizeof header);
        !set)
      return set;
  }
  return submit(process, *stream,
                std::make_unique<CacheTask>(process.memory(), descriptor, layout.bytes, type));
}

}  // namespace belay
