// Random copies and fills on several streams, against a model that does each at once.
//
// Each lane has a stream and memory that only its stream touches, so that the order of the lane is all that
// counts; copies between lanes are tied to both streams with events.
#include <random>

#include "support/batch.h"
#include "support/events.h"
#include "support/slices.h"
#include "support/streams.h"

namespace async_model_test {

using namespace belay_test;

constexpr std::size_t kSize = 8192, kLanes = 3, kSlots = 64;
constexpr auto kUp = ACL_MEMCPY_HOST_TO_DEVICE, kDown = ACL_MEMCPY_DEVICE_TO_HOST;
constexpr auto kInside = ACL_MEMCPY_DEVICE_TO_DEVICE, kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

struct Lane {
  Stream stream;
  Device device{kSize}, slots{kSlots * 64};
  Pinned host{kSize};
  Event event;
  Bytes device_model, host_model;
  std::size_t next_slot = 0;
  explicit Lane(unsigned seed) : device_model{pattern(kSize, seed)}, host_model{pattern(kSize, seed + 100)} {
    write_to(device.get(), device_model);
    write_to(host.get(), host_model);
  }
};

void put(Bytes& to, std::size_t at, const Bytes& from, std::size_t from_at, std::size_t count) {
  const Bytes moved(from.begin() + static_cast<std::ptrdiff_t>(from_at),
                    from.begin() + static_cast<std::ptrdiff_t>(from_at + count));
  std::copy(moved.begin(), moved.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
}

class Machine {
 public:
  explicit Machine(unsigned round) : random_{test_random(round)} {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      lanes_.push_back(std::make_unique<Lane>(round * 10 + lane));
  }
  void step();
  void expect_as_modelled() {
    for (const auto& lane : lanes_) {
      ASSERT_EQ(finish(lane->stream), ACL_SUCCESS);
      EXPECT_EQ(read_from(lane->device.get(), kSize), lane->device_model);
      EXPECT_EQ(read_from(lane->host.get(), kSize), lane->host_model);
    }
  }

 private:
  std::size_t draw(std::size_t most) { return std::uniform_int_distribution<std::size_t>{0, most}(random_); }
  // Memory for a descriptor or for base addresses, which must stay until the task has run.
  void* slot(Lane& lane) {
    if (lane.next_slot == kSlots) {
      EXPECT_EQ(finish(lane.stream), ACL_SUCCESS);
      lane.next_slot = 0;
    }
    return lane.slots.get(64 * lane.next_slot++);
  }
  void rows(Lane& lane);
  void batch(Lane& lane, std::size_t count);
  void by_words(Lane& lane, std::size_t from, std::size_t to, std::size_t count);
  void from_neighbour(Lane& lane, Lane& other, std::size_t count);

  std::mt19937 random_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

void Machine::rows(Lane& lane) {
  const std::size_t width = 1 + draw(63), to_pitch = width + draw(64), from_pitch = width + draw(64);
  const std::size_t height = 1 + draw(7), to = draw(kSize - 1024), from = draw(kSize - 1024);
  EXPECT_EQ(::aclrtMemcpy2dAsync(lane.device.get(to), to_pitch, lane.host.get(from), from_pitch, width,
                                 height, kUp, lane.stream.get()),
            ACL_SUCCESS);
  for (std::size_t row = 0; row < height; ++row)
    put(lane.device_model, to + row * to_pitch, lane.host_model, from + row * from_pitch, width);
}

void Machine::batch(Lane& lane, std::size_t count) {
  Batch batch;
  const std::size_t half = kSize / 2, size = 1 + count / 2;
  for (std::size_t item = 0; item < 2; ++item) {
    const std::size_t from = draw(kSize - size), to = item * half + draw(half - size);
    batch.add(lane.host.get(to), lane.device.get(from), size);
    put(lane.host_model, to, lane.device_model, from, size);
  }
  batch.describe(0, device_to_host());
  EXPECT_EQ(::aclrtMemcpyBatchAsync(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(),
                                    batch.sizes.data(), 2, batch.attributes.data(), batch.starts.data(), 1,
                                    &batch.fail, lane.stream.get()),
            ACL_SUCCESS);
}

// Through a descriptor, or through addresses that device memory holds.
void Machine::by_words(Lane& lane, std::size_t from, std::size_t to, std::size_t count) {
  void* const words = slot(lane);
  if (draw(1) == 0) {
    EXPECT_EQ(aclrtSetMemcpyDesc(words, kInner, lane.device.get(from), lane.device.get(to), count, nullptr),
              ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsyncWithDesc(words, kInner, lane.stream.get()), ACL_SUCCESS);
  } else {
    void* base = lane.device.get();
    EXPECT_EQ(aclrtMemcpy(words, 8, &base, 8, kUp), ACL_SUCCESS);
    EXPECT_EQ(
        aclrtMemcpyAsyncWithOffset(static_cast<void**>(words), kSize, to, static_cast<const void**>(words),
                                   count, from, kInner, lane.stream.get()),
        ACL_SUCCESS);
  }
  put(lane.device_model, to, lane.device_model, from, count);
}

// Both streams pass this copy at one point of their order.
void Machine::from_neighbour(Lane& lane, Lane& other, std::size_t count) {
  const std::size_t from = draw(kSize - count), to = draw(kSize - count);
  other.event.record(other.stream.get());
  EXPECT_EQ(aclrtStreamWaitEvent(lane.stream.get(), other.event.get()), ACL_SUCCESS);
  EXPECT_EQ(
      aclrtMemcpyAsync(lane.device.get(to), count, other.device.get(from), count, kInside, lane.stream.get()),
      ACL_SUCCESS);
  lane.event.record(lane.stream.get());
  EXPECT_EQ(aclrtStreamWaitEvent(other.stream.get(), lane.event.get()), ACL_SUCCESS);
  put(lane.device_model, to, other.device_model, from, count);
}

void Machine::step() {
  const std::size_t which = draw(kLanes - 1);
  Lane& lane = *lanes_[which];
  const aclrtStream stream = lane.stream.get();
  // From the one half to the other, so that nothing overlaps.
  const std::size_t half = kSize / 2, count = 1 + draw(half - 1), turn = draw(1) * half;
  const std::size_t from = turn + draw(half - count), to = half - turn + draw(half - count);
  switch (draw(11)) {
    case 0:
      EXPECT_EQ(aclrtMemcpyAsync(lane.device.get(to), count, lane.host.get(from), count, kUp, stream),
                ACL_SUCCESS);
      return put(lane.device_model, to, lane.host_model, from, count);
    case 1:
      EXPECT_EQ(aclrtMemcpyAsync(lane.host.get(to), count, lane.device.get(from), count, kDown, stream),
                ACL_SUCCESS);
      return put(lane.host_model, to, lane.device_model, from, count);
    case 2:
      EXPECT_EQ(aclrtMemcpyAsync(lane.device.get(to), count, lane.device.get(from), count, kInside, stream),
                ACL_SUCCESS);
      return put(lane.device_model, to, lane.device_model, from, count);
    case 3:
      EXPECT_EQ(aclrtMemsetAsync(lane.device.get(to), count, static_cast<int>(from), count, stream),
                ACL_SUCCESS);
      return put(lane.device_model, to, Bytes(count, static_cast<std::uint8_t>(from)), 0, count);
    case 4: {
      const std::size_t word = to / 4, words = 1 + count / 8;
      EXPECT_EQ(aclrtMemsetD32Async(lane.device.get(word * 4), words * 4, 0x04030201, words, stream),
                ACL_SUCCESS);
      for (std::size_t i = 0; i < words; ++i) put(lane.device_model, word * 4 + i * 4, {1, 2, 3, 4}, 0, 4);
      return;
    }
    case 5:
      return rows(lane);
    case 6:
      return batch(lane, count);
    case 7:
      return by_words(lane, from, to, count);
    case 8: {
      const std::size_t word = to / 8 * 8;
      EXPECT_EQ(aclrtValueWrite(lane.device.get(word), 0x0807060504030201, 0, stream), ACL_SUCCESS);
      return put(lane.device_model, word, {1, 2, 3, 4, 5, 6, 7, 8}, 0, 8);
    }
    case 9: {
      const Bytes gone_at_the_return = pattern(count, static_cast<unsigned>(from));
      EXPECT_EQ(aclrtMemcpyAsync(lane.device.get(to), count, gone_at_the_return.data(), count,
                                 ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream),
                ACL_SUCCESS);
      return put(lane.device_model, to, gone_at_the_return, 0, count);
    }
    case 10:
      return from_neighbour(lane, *lanes_[(which + 1) % kLanes], count);
    default: {
      Bytes plain(kSize);
      EXPECT_EQ(aclrtMemcpyAsync(plain.data(), kSize, lane.device.get(), kSize, kDown, stream), ACL_SUCCESS);
      EXPECT_EQ(plain, lane.device_model) << "pageable memory: complete at the return";
    }
  }
}

class AsyncModel : public OnDevice {};

TEST_F(AsyncModel, M271_M265_R17_TheEndIsAsIfEachWereDoneAtOnce) {
  for (unsigned round = 0; round < slice(30U, 2000U); ++round) {
    SCOPED_TRACE(seed_text() + ", round " + std::to_string(round));
    Machine machine{round};
    for (int i = 0; i < 100; ++i) machine.step();
    machine.expect_as_modelled();
    if (HasFailure()) return;
  }
}

}  // namespace async_model_test
