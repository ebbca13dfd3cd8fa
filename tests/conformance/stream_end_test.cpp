// Contexts, devices, streams and events that end with work pending: in every order, without hang or crash.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/captured_process.h"
#include "support/gates.h"
#include "support/worker.h"

namespace stream_end_test {

using namespace belay_test;

class StreamEnd : public OnDevice {};

constexpr std::size_t kSize = 4096;

// A copy to pinned memory, which outlives contexts and devices, shows whether queued work was done.
class Witness {
 public:
  Witness() : pinned_{kSize} {
    std::fill_n(at(pinned_.get(), 0), kSize, std::uint8_t{0});
    EXPECT_EQ(aclrtMalloc(&source_, kSize, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    write_to(source_, bytes_);
  }
  void queue(aclrtStream stream) const {
    EXPECT_EQ(::aclrtMemcpyAsync(pinned_.get(), kSize, source_, kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream),
              ACL_SUCCESS);
  }
  bool done() const { return std::equal(bytes_.begin(), bytes_.end(), at(pinned_.get(), 0)); }
  void* source() const { return source_; }

 private:
  Pinned pinned_;
  void* source_ = nullptr;  // not freed: it goes with the device
  Bytes bytes_ = pattern(kSize, 11);
};

TEST_F(StreamEnd, R59_M406_AResetWaitsForTheWorkOfTheDefaultContext) {
  for (const auto reset : {aclrtResetDevice, aclrtResetDeviceForce}) {
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    HostGate gate;
    const Witness one, two;
    aclrtStream const made = new_stream();
    const Event event;
    gate.hold(made);
    one.queue(made);
    event.record(made);
    EXPECT_EQ(::aclrtStreamWaitEvent(nullptr, event.get()), ACL_SUCCESS);
    two.queue(nullptr);
    {
      std::thread later([&gate] {
        let_time_pass(50ms);  // whoever does not wait is back by then
        gate.open();
      });
      EXPECT_EQ(reset(1), ACL_SUCCESS);
      EXPECT_TRUE(one.done());
      EXPECT_TRUE(two.done());
      later.join();
    }
    EXPECT_FALSE(gate.gave_up());
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeStream(made), kStale) << "released afterwards";
  }
}

TEST_F(StreamEnd, R59_R58_OnlyTheLastResetEndsStreams) {
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  const Stream made;
  HostGate gate;
  gate.hold_and_enter(made.get());
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_FALSE(gate.left()) << "nothing was waited for";
  EXPECT_EQ(status_of(made.get()), ACL_STREAM_STATUS_NOT_READY);
  gate.open();
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_TRUE(gate.left());
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(const_cast<Stream&>(made).forget()), kStale);
}

TEST_F(StreamEnd, R64_R59_AResetLeavesExplicitContextsAlone) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
  const Witness witness;
  HostGate gate;
  aclrtStream const made = new_stream();
  gate.hold_and_enter(made);
  witness.queue(made);
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_FALSE(gate.left()) << "their work is not waited for";
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeStream(made), ACL_SUCCESS);
  EXPECT_TRUE(witness.done());
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(StreamEnd, R118_StreamsGoWithTheirContext_EventsAndNotifiesStay) {
  const aclrtContext primary = current_context();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  aclrtStream const own = default_stream(), made = new_stream();
  aclrtEvent event = nullptr;
  aclrtNotify notify = nullptr;
  ASSERT_EQ(::aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event, made), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordNotify(notify, made), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  for (aclrtStream stream : {own, made}) {
    std::int32_t id = -1;
    EXPECT_EQ(::aclrtSynchronizeStream(stream), kStale);
    EXPECT_EQ(aclrtStreamGetId(stream, &id), kStale);
    EXPECT_EQ(aclrtDestroyStream(stream), kStale);
  }
  EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS) << "recorded there, and done";
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, nullptr, 30), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS) << "usable elsewhere";
  EXPECT_EQ(::aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

// The work is held for longer than the bound for waits that nobody can end.
TEST_F(StreamEnd, R119_DestroyingAContextWaitsForItsWork) {
  const Marks marks;
  const aclrtContext primary = current_context();
  const Stream outside;
  HostGate gate;
  const Event event;
  gate.hold_and_enter(outside.get());
  event.record(outside.get());
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  aclrtStream const made = new_stream();
  EXPECT_EQ(::aclrtStreamWaitEvent(made, event.get()), ACL_SUCCESS);
  marks.queue(made, 0);
  EXPECT_EQ(::aclrtStreamWaitEvent(nullptr, event.get()), ACL_SUCCESS);
  marks.queue(nullptr, 1);
  {
    EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
    const OpensLater later(gate, 400ms);
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    EXPECT_TRUE(marks.set(0)) << "what it waited for could still come";
    EXPECT_TRUE(marks.set(1));
  }
  EXPECT_EQ(::aclrtSynchronizeStream(outside.get()), ACL_SUCCESS);
}

// However long it takes: what is waited for has begun, and will come.
TEST_F(StreamEnd, R59_R119_AWaitForWorkThatRunsIsNeverGivenUp) {
  const Marks marks;
  const aclrtContext primary = current_context();
  const Stream outside;
  HostGate gate;
  const Event event;
  gate.hold_and_enter(outside.get());
  event.record(outside.get());
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);  // ends by a reset
  const Witness by_reset;
  EXPECT_EQ(::aclrtStreamWaitEvent(nullptr, event.get()), ACL_SUCCESS);
  by_reset.queue(nullptr);
  aclrtContext context = nullptr;  // ends by itself
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(::aclrtStreamWaitEvent(nullptr, event.get()), ACL_SUCCESS);
  marks.queue(nullptr);
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  {
    const OpensLater later(gate, 3500ms);
    Waiting reset([] { return aclrtResetDevice(1); });
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    EXPECT_EQ(reset.fetch(), ACL_SUCCESS);
    EXPECT_TRUE(marks.set());
    EXPECT_TRUE(by_reset.done());
  }
  EXPECT_EQ(::aclrtSynchronizeStream(outside.get()), ACL_SUCCESS);
}

// While others are at work as well.
TEST_F(StreamEnd, R119_StreamsThatNobodyCanFreeHoldNobodyUpForEver) {
  const aclrtContext primary = current_context();
  const Marks marks;
  const Stream busy;
  std::atomic<bool> over{false};
  std::thread other([&] {
    EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
    while (!over) {
      marks.queue(busy.get(), 0);
      EXPECT_EQ(::aclrtSynchronizeStream(busy.get()), ACL_SUCCESS);
    }
  });
  aclrtContext context = nullptr;
  aclrtNotify never = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateNotify(&never, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(never, nullptr, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  over = true;
  other.join();
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(never), ACL_SUCCESS);
}

TEST_F(StreamEnd, R119_StreamsThatNobodyCanFreeAreDropped) {
  const Marks marks;
  const aclrtContext primary = current_context();
  aclrtContext context = nullptr;
  const Event event;
  aclrtNotify never = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateNotify(&never, 0), ACL_SUCCESS);
  aclrtStream const stuck = new_stream(), free = new_stream();
  EXPECT_EQ(aclrtWaitAndResetNotify(never, stuck, 0), ACL_SUCCESS);
  marks.queue(stuck, 0);
  event.record(stuck);
  marks.queue(free, 1);
  Device block(64);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  EXPECT_FALSE(marks.set(0));
  EXPECT_TRUE(marks.set(1)) << "what could be done was done";
  EXPECT_TRUE(eventually([&] { return event.complete(); })) << "nobody waits for it for ever";
  EXPECT_TRUE(alive(block.get())) << "memory belongs to the device";
  EXPECT_EQ(aclrtDestroyNotify(never), ACL_SUCCESS);
}

TEST_F(StreamEnd, R119_R120_WhoWaitsForAStreamOfADestroyedContextComesBack) {
  const aclrtContext primary = current_context();
  for (int round = 0; round < 3; ++round) {
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    aclrtNotify never = nullptr;
    ASSERT_EQ(aclrtCreateNotify(&never, 0), ACL_SUCCESS);
    aclrtStream const stuck = new_stream();
    EXPECT_EQ(aclrtWaitAndResetNotify(never, stuck, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
    Waiting waiting([stuck] { return ::aclrtSynchronizeStream(stuck); });
    let_time_pass(std::chrono::milliseconds{round * 30});
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    EXPECT_NE(waiting.fetch(), ACL_SUCCESS) << "it was not done";
    EXPECT_EQ(aclrtDestroyNotify(never), ACL_SUCCESS);
  }
}

// Work that is waited for is work as ever: a function of it has its context until it has returned.
struct Used {
  aclrtContext context = nullptr;
  aclError allocated = -1, copied = -1, freed = -1, asked = -1;
  static void use(void* pointer) {
    auto& all = *static_cast<Used*>(pointer);
    void* block = nullptr;
    char bytes[64] = {};
    all.asked = aclrtGetCurrentContext(&all.context);
    all.allocated = aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    all.copied = aclrtMemcpy(block, 64, bytes, 64, ACL_MEMCPY_HOST_TO_DEVICE);
    all.freed = aclrtFree(block);
  }
  void expect_all_worked() const {
    EXPECT_EQ(asked, ACL_SUCCESS);
    EXPECT_EQ(allocated, ACL_SUCCESS);
    EXPECT_EQ(copied, ACL_SUCCESS);
    EXPECT_EQ(freed, ACL_SUCCESS);
  }
};

TEST_F(StreamEnd, R59_R119_R201_FunctionsThatAreWaitedForHaveTheirContext) {
  for (const bool explicit_context : {true, false}) {
    SCOPED_TRACE(explicit_context);
    aclrtContext context = nullptr;
    if (explicit_context) {
      ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
    } else {
      ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    }
    Used used;
    HostGate gate;
    gate.hold_and_enter(nullptr);
    EXPECT_EQ(aclrtLaunchHostFunc(nullptr, Used::use, &used), ACL_SUCCESS);
    std::thread later([&gate] {
      let_time_pass(50ms);  // whoever does not wait is back by then
      gate.open();
    });
    EXPECT_EQ(explicit_context ? aclrtDestroyContext(context) : aclrtResetDevice(1), ACL_SUCCESS);
    later.join();
    used.expect_all_worked();
  }
}

// One scene: a stream of an explicit context holds one of the default context through an event, and
// everything ends in a given order.
struct Scene {
  aclrtContext primary = nullptr, context = nullptr;
  aclrtStream inner = nullptr, outer = nullptr;
  aclrtEvent event = nullptr;
  bool context_gone = false, device_gone = false;

  Scene() {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    primary = current_context();
    outer = new_stream();
    EXPECT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    inner = new_stream();
    EXPECT_EQ(::aclrtCreateEvent(&event), ACL_SUCCESS);
  }
  // Destroying needs the context of the stream; without it the stream has gone.
  void end_stream(aclrtStream stream, aclrtContext its, bool gone, bool force) const {
    const aclError bound = aclrtSetCurrentContext(its);
    EXPECT_EQ(bound, gone ? kBadValue : ACL_SUCCESS);
    const aclError answer = force ? aclrtDestroyStreamForce(stream) : aclrtDestroyStream(stream);
    if (!gone) {
      EXPECT_EQ(answer, ACL_SUCCESS);
    } else {
      EXPECT_TRUE(answer == kStale || answer == kNoContext) << answer;
    }
  }
  void end(char what, bool force) {
    SCOPED_TRACE(std::string("ending ") + what);
    switch (what) {
      case 'I':
        end_stream(inner, context, context_gone, force);
        break;
      case 'O':
        end_stream(outer, primary, device_gone, force);
        break;
      case 'E':
        EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
        break;
      case 'C':
        EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
        context_gone = true;
        break;
      default:
        EXPECT_EQ(force ? aclrtResetDeviceForce(0) : aclrtResetDevice(0), ACL_SUCCESS);
        device_gone = true;
    }
  }
};

// In children with a limit on their time: a hang is found, and a crash does not end the test. Each has some
// of the orders, since they mostly wait.
void in_every_order(const std::string& sorted, const std::function<void(const std::string&)>& scene) {
  constexpr int kChildren = 8;
  expect_all_clean(
      kChildren,
      [&](int child) {
        std::string order = sorted;
        int number = 0;
        do {
          SCOPED_TRACE(order);
          if (number++ % kChildren == child) scene(order);
        } while (std::next_permutation(order.begin(), order.end()));
      },
      250);
}

TEST(StreamEndOrders, R59_R118_R119_R121_R133_R162_WithWorkThatEnds) {
  in_every_order("CDEIO", [](const std::string& order) {
    Scene scene;
    HostGate gate;
    const Witness inner, outer;
    gate.hold(scene.inner);
    inner.queue(scene.inner);
    EXPECT_EQ(aclrtRecordEvent(scene.event, scene.inner), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetCurrentContext(scene.primary), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEvent(scene.outer, scene.event), ACL_SUCCESS);
    outer.queue(scene.outer);
    std::thread later([&gate] {
      let_time_pass(3ms);
      gate.open();
    });
    for (const char what : order) scene.end(what, false);
    later.join();
    EXPECT_TRUE(inner.done()) << "all was done before it ended";
    EXPECT_TRUE(outer.done());
  });
}

TEST(StreamEndOrders, R59_R118_R119_R134_WithWaitsThatNobodyEnds) {
  in_every_order("CDEIO", [](const std::string& order) {
    Scene scene;
    const Witness inner, outer;
    aclrtNotify never = nullptr;
    ASSERT_EQ(aclrtCreateNotify(&never, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtWaitAndResetNotify(never, scene.inner, 0), ACL_SUCCESS);
    inner.queue(scene.inner);
    EXPECT_EQ(aclrtRecordEvent(scene.event, scene.inner), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetCurrentContext(scene.primary), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEvent(scene.outer, scene.event), ACL_SUCCESS);
    outer.queue(scene.outer);
    for (const char what : order) scene.end(what, true);
    EXPECT_FALSE(inner.done()) << "dropped";
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyNotify(never), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
}

// Streams of several contexts that wait for each other in a ring, and end in any order.
TEST(StreamEndOrders, R119_ARingOfWaits) {
  in_every_order("0123", [](const std::string& order) {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtContext contexts[4] = {};
    aclrtStream streams[4] = {};
    aclrtNotify notifies[4] = {};
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(aclrtCreateContext(&contexts[i], i % 2), ACL_SUCCESS);
      streams[i] = new_stream();
      EXPECT_EQ(aclrtCreateNotify(&notifies[i], 0), ACL_SUCCESS);
    }
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(aclrtSetCurrentContext(contexts[i]), ACL_SUCCESS);
      EXPECT_EQ(aclrtWaitAndResetNotify(notifies[i], streams[i], 0), ACL_SUCCESS);
      EXPECT_EQ(aclrtRecordNotify(notifies[(i + 1) % 4], streams[i]), ACL_SUCCESS);
    }
    for (const char which : order) EXPECT_EQ(aclrtDestroyContext(contexts[which - '0']), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (aclrtNotify notify : notifies) EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  });
}

}  // namespace stream_end_test
