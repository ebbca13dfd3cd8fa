// 2 MB pages that the kernel makes out of small ones (BELAY_PAGES=thp), or never (small).
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "support/blocks.h"
#include "support/settings.h"
#include "support/stripes.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace transparent_pages_test {

using namespace belay_test;

constexpr std::size_t kPage = 2 * kMB;

// Bytes of shared memory that are mapped by huge pages.
std::size_t joined() {
  std::ifstream file{"/proc/self/smaps"};
  const std::string name = "ShmemPmdMapped:";
  std::size_t sum = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) == 0) sum += std::stoul(line.substr(name.size()));
  }
  return sum * kKB;
}

// Whether this kernel joins pages of shared memory when it is asked to.
bool kernel_joins() {
  const int file = ::memfd_create("probe", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, 2 * kPage) != 0) return false;
  void* const at = ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  bool done = false;
  if (at != MAP_FAILED) {
    // Offset and address must agree in their place within a page of 2 MB; so map once more where they do.
    ::munmap(at, 2 * kPage);
    const std::uintptr_t place = (number(at) + kPage - 1) / kPage * kPage;
    void* const fits = ::mmap(reinterpret_cast<void*>(place), kPage, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED, file, 0);
    if (fits != MAP_FAILED) {
      std::memset(fits, 1, kPage);
      done = ::madvise(fits, kPage, MADV_COLLAPSE) == 0;
      ::munmap(fits, kPage);
    }
  }
  ::close(file);
  return done;
}

// Whether the kernel gives huge pages to shared memory without being asked.
bool kernel_gives_by_itself() {
  std::ifstream file{"/sys/kernel/mm/transparent_hugepage/shmem_enabled"};
  std::string text;
  std::getline(file, text);
  return text.find("[never]") == std::string::npos && text.find("[advise]") == std::string::npos &&
         text.find("[deny]") == std::string::npos && !text.empty();
}

void with(const char* pages, const std::function<void()>& body, Settings more = {}) {
  more.emplace_back("BELAY_PAGES", pages);
  more.emplace_back("BELAY_LEAKS", "off");
  in_fresh_process(more, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    body();
  });
}

TEST(TransparentPages, WholePagesThatAreWritten_BecomeOnePageOfTheKernel) {
  if (!kernel_joins()) GTEST_SKIP() << "this kernel does not join pages of shared memory (MADV_COLLAPSE)";
  with("thp", [] {
    Device block{8 * kPage, 1};
    const std::size_t before = joined();
    const Bytes bytes = stripes(block.size(), 1);
    write_to(block.get(), Bytes(bytes.begin(), bytes.begin() + kPage - 1));
    write_to(block.get(kPage - 1), Bytes(bytes.begin() + kPage - 1, bytes.end()));
    EXPECT_GE(joined() - before, 4 * kPage) << "most of eight";
    EXPECT_EQ(read_from(block.get(), block.size()), bytes);
    EXPECT_EQ(aclrtMemset(block.get(3 * kPage - 5), 10, 9, 10), ACL_SUCCESS);
    Bytes changed = bytes;
    std::fill_n(changed.begin() + 3 * kPage - 5, 10, std::uint8_t{9});
    EXPECT_EQ(read_from(block.get(), block.size()), changed);
  });
}

TEST(TransparentPages, APageThatIsNotWhollyWritten_TakesWhatWasWrittenOnly) {
  with("thp", [] {
    Device block{8 * kPage, 1};
    const std::size_t before = joined();
    for (std::size_t page = 0; page < 8; ++page) write_to(block.get(page * kPage + 100), pattern(50));
    if (!kernel_gives_by_itself()) {
      EXPECT_EQ(joined(), before);
    }
    for (std::size_t page = 0; page < 8; ++page)
      EXPECT_EQ(read_from(block.get(page * kPage + 100), 50), pattern(50));
  });
}

TEST(TransparentPages, FreedPagesGoBack_AndAreFreshWhenTheyComeAgain) {
  for (const char* pages : {"auto", "thp", "small"}) {
    with(pages,
         [&] {
           for (int round = 0; round < 3; ++round) {
             Device block{4 * kPage, 1};
             EXPECT_EQ(read_from(block.get(), block.size()), Bytes(block.size(), 0xBE)) << pages << round;
             const Bytes bytes = stripes(block.size(), static_cast<unsigned>(round));
             write_to(block.get(), bytes);
             EXPECT_EQ(read_from(block.get(), block.size()), bytes) << pages << round;
           }
         },
         {{"BELAY_KEEP", "0"}});
  }
}

TEST(TransparentPages, Small_NeverJoins) {
  if (kernel_gives_by_itself()) GTEST_SKIP() << "the kernel gives huge pages to all shared memory here";
  with("small", [] {
    Device block{8 * kPage, 1};
    const Bytes bytes = stripes(block.size(), 2);
    write_to(block.get(), bytes);
    EXPECT_EQ(joined(), 0U);
    EXPECT_EQ(read_from(block.get(), block.size()), bytes);
  });
}

// A page is joined while another thread writes into it.
TEST(TransparentPages, M11_AWriterNextToThePageThatIsJoined_LosesNothing) {
  for (const char* pages : {"thp", "auto"}) {
    with(pages, [&] {
      constexpr std::size_t kCount = 24;
      Device block{kCount * kPage, 1};
      std::vector<std::thread> threads;
      for (std::size_t t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
          ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
          const Bytes rest = stripes(kPage - 64 * kKB, 3);
          for (std::size_t page = 0; page < kCount; ++page) {
            if (t == 0) {
              write_to(block.get(page * kPage + 64 * kKB), rest);
              continue;
            }
            for (std::uint8_t value = 1; value < 100; ++value) {
              const Bytes one(16, value);
              write_to(block.get(page * kPage), one);
              EXPECT_EQ(read_from(block.get(page * kPage), 16), one) << pages << page;
            }
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (std::size_t page = 0; page < kCount; ++page) {
        EXPECT_EQ(read_from(block.get(page * kPage), 16), Bytes(16, 99)) << pages << page;
        EXPECT_EQ(read_from(block.get(page * kPage + 64 * kKB), kPage - 64 * kKB),
                  stripes(kPage - 64 * kKB, 3));
      }
    });
  }
}

}  // namespace transparent_pages_test
