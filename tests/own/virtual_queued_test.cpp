// Queued work whose memory is unmapped before it runs.
#include "support/gates.h"
#include "support/on_product.h"
#include "support/streams.h"
#include "support/virtual_memory.h"

namespace virtual_queued_test {

using namespace belay_test;

// Queues work on a mapping, unmaps it, and says what waiting for the stream answers.
int answer_after_unmapping(const std::function<int(void*, aclrtStream)>& queue, bool release = false) {
  const Stream stream;
  Reserved place{k2MB};
  const Physical memory;
  Mapped mapped{place.get(), memory};
  write_to(mapped.get(), pattern(64, 1));
  EXPECT_EQ(queue(mapped.get(), stream), ACL_SUCCESS);
  mapped.unmap_now();
  if (release) place.release_now();
  const int answer = finish(stream);
  EXPECT_EQ(finish(stream), ACL_SUCCESS) << "an error is told once (R-16)";
  last_error();
  const Reserved again{k2MB};
  const Mapped later{again.get(), memory};
  EXPECT_EQ(read_from(later.get(), 64), pattern(64, 1)) << "the memory itself was not touched";
  return answer;
}

TEST(QueuedOnMappings, V20_V167_M270_M272_UnmappedBeforeItRuns_Is507899WhenWaitedFor) {
  on_product("A2", {{"BELAY_SCHEDULE", "lazy"}}, [] {
    const Pinned pinned{64};
    const Device block{64};
    for (const bool release : {false, true}) {
      EXPECT_EQ(answer_after_unmapping(
                    [](void* to, aclrtStream s) { return aclrtMemsetAsync(to, 64, 0, 64, s); }, release),
                kRefused);
      EXPECT_EQ(answer_after_unmapping(
                    [&](void* to, aclrtStream s) {
                      return aclrtMemcpyAsync(to, 64, pinned.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, s);
                    },
                    release),
                kRefused);
      EXPECT_EQ(answer_after_unmapping(
                    [&](void* from, aclrtStream s) {
                      return aclrtMemcpyAsync(pinned.get(), 64, from, 64, ACL_MEMCPY_DEVICE_TO_HOST, s);
                    },
                    release),
                kRefused);
      EXPECT_EQ(answer_after_unmapping(
                    [&](void* to, aclrtStream s) {
                      return aclrtMemcpyAsync(to, 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, s);
                    },
                    release),
                kRefused);
      EXPECT_EQ(answer_after_unmapping([](void* to, aclrtStream s) { return aclrtValueWrite(to, 1, 0, s); },
                                       release),
                kRefused);
    }
  });
}

TEST(QueuedOnMappings, P49_V167_AWaitForAWordThatIsUnmappedEnds) {
  on_product("A2", [] {
    Reserved place{k2MB};
    const Physical memory;
    Mapped mapped{place.get(), memory};
    ASSERT_EQ(aclrtMemset(mapped.get(), 8, 0, 8), ACL_SUCCESS);
    const Stream stream;
    ASSERT_EQ(aclrtValueWait(mapped.get(), 5, ACL_STREAM_WAIT_VALUE_EQ, stream), ACL_SUCCESS);
    expect_held(stream);
    mapped.unmap_now();
    const int answer = finish(stream);
    EXPECT_NE(answer, kStreamTimeout) << "nobody can write the word any more";
  });
}

TEST(QueuedOnMappings, V165_V167_MappedAgainBeforeItRuns_TheWorkMeetsWhatIsThere) {
  on_product("A2", {{"BELAY_SCHEDULE", "lazy"}}, [] {
    const Stream stream;
    const Reserved place{k2MB};
    const Physical first, second;
    Mapped mapped{place.get(), first};
    ASSERT_EQ(aclrtMemset(mapped.get(), 64, 1, 64), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetAsync(place.get(), 64, 7, 64, stream), ACL_SUCCESS);
    mapped.unmap_now();
    const Mapped other{place.get(), second};
    ASSERT_EQ(aclrtMemset(other.get(), 64, 2, 64), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(read_from(other.get(), 64), Bytes(64, 7)) << "the address leads there now";
  });
}

TEST(QueuedOnMappings, V33_FreedWhileMapped_TheWorkIsDone) {
  on_product("A2", {{"BELAY_SCHEDULE", "lazy"}}, [] {
    const Stream stream;
    const Reserved place{k2MB};
    Physical memory;
    const Mapped mapped{place.get(), memory};
    EXPECT_EQ(aclrtMemsetAsync(place.get(), 64, 7, 64, stream), ACL_SUCCESS);
    memory.free_now();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(read_from(mapped.get(), 64), Bytes(64, 7));
  });
}

TEST(QueuedOnMappings, V20_V19_UnmappedWhileACopyRuns_FailsOrIsDone_NoCrash) {
  on_product("A2", {{"BELAY_LINK", "h2d:400MB/s,d2h:400MB/s"}}, [] {
    constexpr std::size_t size = 16 * kMB;
    const Pinned pinned{size};
    const Reserved place{size};
    const Physical memory{size};
    for (int round = 0; round < 8; ++round) {
      const Stream stream;
      Mapped mapped{place.get(), memory};
      void *const to = round % 2 == 0 ? mapped.get() : pinned.get(), *const from = round % 2 == 0
                                                                                       ? pinned.get()
                                                                                       : mapped.get();
      ASSERT_EQ(aclrtMemcpyAsync(to, size, from, size, ACL_MEMCPY_DEFAULT, stream), ACL_SUCCESS);
      Waiting waiter{[&] { return finish(stream); }};
      for (int i = 0; i < round * 100; ++i) std::this_thread::yield();
      mapped.unmap_now();
      const int answer = waiter.fetch();
      EXPECT_TRUE(answer == ACL_SUCCESS || answer == kRefused) << answer;
    }
  });
}

}  // namespace virtual_queued_test
