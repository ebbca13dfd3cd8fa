// The vendor's sample of managed memory: files are read into it and written from it by plain system calls,
// and in between the device works on it.
#include <fcntl.h>
#include <unistd.h>

#include "support/client_flows.h"
#include "support/sanitizer.h"
#include "support/scratch.h"

namespace virtual_flow_managed_test {

using namespace belay_test;

constexpr std::size_t kBytes = 32 * kKB;

bool read_into(void* memory, const std::string& file) {
  const int input = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const bool whole = ::read(input, memory, kBytes) == static_cast<ssize_t>(kBytes);
  return ::close(input) == 0 && whole;
}
bool write_from(const void* memory, const std::string& file) {
  const int output = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool whole = ::write(output, memory, kBytes) == static_cast<ssize_t>(kBytes);
  return ::close(output) == 0 && whole;
}

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

void add_up_files(const Scratch& files) {
  FLOW_STEP(aclInit(nullptr));
  FLOW_STEP(aclrtSetDevice(0));
  const MemoryBooks books;
  aclrtStream stream = nullptr;
  FLOW_STEP(aclrtCreateStream(&stream));
  void *first = nullptr, *second = nullptr, *result = nullptr;
  for (void** const memory : {&first, &second, &result}) {
    FLOW_STEP(aclrtMemAllocManaged(memory, kBytes, ACL_RT_MEM_ATTACH_GLOBAL));
  }
  EXPECT_EQ(books.taken(), 0U) << "no page exists before it is used";
  ASSERT_TRUE(read_into(first, files.sub("first.bin")));
  ASSERT_TRUE(read_into(second, files.sub("second.bin")));
  EXPECT_EQ(books.taken(), 0U) << "the host has used them, so they are on the host";

  // In place of a kernel with the three pointers as arguments: half of the result comes from each of the two.
  FLOW_STEP(aclrtMemcpyAsync(result, kBytes, first, kBytes / 2, ACL_MEMCPY_DEFAULT, stream));
  FLOW_STEP(aclrtMemcpyAsync(at(result, kBytes / 2), kBytes / 2, at(second, kBytes / 2), kBytes / 2,
                             ACL_MEMCPY_DEFAULT, stream));
  FLOW_STEP(aclrtSynchronizeStream(stream));

  ASSERT_TRUE(write_from(result, files.sub("result.bin")));
  for (void* const memory : {first, second, result}) FLOW_STEP(aclrtFree(memory));
  EXPECT_EQ(books.taken(), 0U);
  FLOW_STEP(aclrtDestroyStream(stream));
  FLOW_STEP(aclrtResetDevice(0));
  FLOW_STEP(aclFinalize());
}

TEST(VirtualFlowManaged, V493_V274_FilesGoStraightIntoManagedMemory_AndOutOfIt) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "this sanitizer leaves no addresses that host code can use";
  const Scratch files;
  const std::string first = text_of(pattern(kBytes, 1)), second = text_of(pattern(kBytes, 2));
  files.write("first.bin", first);
  files.write("second.bin", second);
  on_a2_and_a3({}, [&] {
    add_up_files(files);
    EXPECT_EQ(read_text(files.sub("result.bin")), first.substr(0, kBytes / 2) + second.substr(kBytes / 2));
  });
}

TEST(VirtualFlowManaged, V493_V278_WhereItIsMissing_TheSampleSaysSo_AndEndsCleanly) {
  on_each({"950", "310P", "910", "310B"}, {}, [] {
    FLOW_STEP(aclInit(nullptr));
    FLOW_STEP(aclrtSetDevice(0));
    void* memory = nullptr;
    EXPECT_EQ(aclrtMemAllocManaged(&memory, kBytes, ACL_RT_MEM_ATTACH_GLOBAL), kUnsupported);
    EXPECT_EQ(memory, nullptr);
    FLOW_STEP(aclrtResetDevice(0));
    FLOW_STEP(aclFinalize());
  });
}

}  // namespace virtual_flow_managed_test
