// Many threads at once: nothing is lost, nothing crashes, and the books balance.
#include <atomic>
#include <thread>

#include "support/on_product.h"
#include "support/slices.h"
#include "support/virtual_memory.h"

namespace virtual_threads_test {

using namespace belay_test;

void in_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(VirtualThreads, V19_V37_EightThreadsReserveMapUnmapAndRelease_TheBooksBalance) {
  on_product("A2", {{"BELAY_HBM", "1G"}}, [] {
    const std::size_t before = free_bytes();
    aclrtContext const context = current_context();
    in_threads(8, [&](int thread) {
      ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      std::mt19937 random = test_random(static_cast<unsigned>(thread));
      for (int round = 0; round < slice(150, 8000, 4); ++round) {
        const std::size_t count = 1 + random() % 6, size = (1 + random() % 3) * k2MB;
        void* place = nullptr;
        ASSERT_EQ(reserve(&place, 8 * size), ACL_SUCCESS);
        std::vector<aclrtDrvMemHandle> handles;
        for (std::size_t i = 0; i < count; ++i) {
          aclrtDrvMemHandle handle = nullptr;
          const aclrtPhysicalMemProp prop = of_device();
          ASSERT_EQ(aclrtMallocPhysical(&handle, size, &prop, 0), ACL_SUCCESS);
          handles.push_back(handle);
          ASSERT_EQ(map(at(place, i * size), size, handle), ACL_SUCCESS);
          ASSERT_EQ(aclrtMemset(at(place, i * size), 64, static_cast<int>(i), 64), ACL_SUCCESS);
        }
        for (std::size_t i = 0; i < count; ++i) {
          std::uint8_t byte = 0xFF;
          ASSERT_EQ(aclrtMemcpy(&byte, 1, at(place, i * size + 63), 1, ACL_MEMCPY_DEVICE_TO_HOST),
                    ACL_SUCCESS);
          ASSERT_EQ(byte, i);
          if (random() % 2 == 0) {
            ASSERT_EQ(aclrtFreePhysical(handles[i]), ACL_SUCCESS);
            handles[i] = nullptr;
          }
          ASSERT_EQ(aclrtUnmapMem(at(place, i * size)), ACL_SUCCESS);
          if (handles[i] != nullptr) {
            ASSERT_EQ(aclrtFreePhysical(handles[i]), ACL_SUCCESS);
          }
        }
        ASSERT_EQ(aclrtReleaseMemAddress(place), ACL_SUCCESS);
      }
    });
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST(VirtualThreads, V19_OneAddress_OneThreadWins) {
  on_product("A2", [] {
    const Reserved place{k2MB};
    const Physical memory;
    for (int round = 0; round < slice(200, 10'000, 4); ++round) {
      std::atomic<int> mapped{0}, refused{0}, unmapped{0}, late{0};
      std::atomic<int> ready{0};
      in_threads(4, [&](int) {
        for (++ready; ready < 4;) std::this_thread::yield();
        const int answer = map(place.get(), k2MB, memory);
        ++(answer == ACL_SUCCESS ? mapped : answer == kRefused ? refused : late);
      });
      EXPECT_EQ(mapped, 1);
      EXPECT_EQ(refused, 3);
      in_threads(2, [&](int) {
        const int answer = aclrtUnmapMem(place.get());
        ++(answer == ACL_SUCCESS ? unmapped : late);
      });
      EXPECT_EQ(unmapped, 1);
      EXPECT_EQ(late, 1);
    }
  });
}

TEST(VirtualThreads, V19_V34_OneHandle_FreedByOneOnly) {
  on_product("A2", [] {
    const std::size_t before = free_bytes();
    for (int round = 0; round < slice(200, 10'000, 4); ++round) {
      Physical memory;
      void* const handle = memory.forget();
      std::atomic<int> freed{0}, refused{0};
      in_threads(4, [&](int) {
        const int answer = aclrtFreePhysical(handle);
        ++(answer == ACL_SUCCESS ? freed : refused);
        EXPECT_TRUE(answer == ACL_SUCCESS || answer == kBadValue) << answer;
      });
      EXPECT_EQ(freed, 1);
      EXPECT_EQ(refused, 3);
    }
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST(VirtualThreads, V19_V154_CopiesWhileOthersMapAndUnmap_AreDoneOrRefused) {
  on_product("A2", [] {
    const Reserved place{8 * kMB};
    const Physical memory{4 * kMB};
    aclrtContext const context = current_context();
    std::atomic<bool> over{false};
    std::atomic<int> done{0}, refused{0};
    in_threads(4, [&](int thread) {
      ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      if (thread == 0) {
        for (int round = 0; round < slice(2000, 100'000, 4); ++round) {
          ASSERT_EQ(map(place.get(k2MB), 4 * kMB, memory), ACL_SUCCESS);
          std::this_thread::yield();
          ASSERT_EQ(aclrtUnmapMem(place.get(k2MB)), ACL_SUCCESS);
        }
        over = true;
        return;
      }
      Bytes bytes(200 * kKB, static_cast<std::uint8_t>(thread));
      while (!over) {
        void* const where = place.get(4 * kMB - 100 * kKB);
        const int answer =
            thread == 1 ? aclrtMemset(where, bytes.size(), 1, bytes.size())
                        : aclrtMemcpy(thread == 2 ? where : bytes.data(), bytes.size(),
                                      thread == 2 ? bytes.data() : where, bytes.size(), ACL_MEMCPY_DEFAULT);
        ++(answer == ACL_SUCCESS ? done : refused);
        ASSERT_TRUE(answer == ACL_SUCCESS || answer == kRefused) << answer;
      }
    });
    EXPECT_GT(done + refused, 0);
  });
}

}  // namespace virtual_threads_test
