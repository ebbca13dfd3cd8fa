// What bench_start starts: a program with belay that does nothing ("nothing"), that gets its first block of
// device memory ("first"), or that tells besides how much memory it then has ("resident"). It ends at once,
// so that the end of a program is not measured.
#include <acl/acl.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

int print_resident() {
  char text[8192];
  const int file = open("/proc/self/status", O_RDONLY);
  const ssize_t length = read(file, text, sizeof text - 1);
  if (length <= 0) return 1;
  text[length] = '\0';
  const char* line = std::strstr(text, "VmRSS:");
  long kilobytes = 0;
  if (line == nullptr || std::sscanf(line, "VmRSS: %ld", &kilobytes) != 1) return 1;
  return std::printf("%ld\n", kilobytes) > 0 && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) _exit(2);
  if (std::strcmp(argv[1], "nothing") == 0) _exit(0);
  void* block = nullptr;
  if (aclInit(nullptr) != ACL_SUCCESS) _exit(3);
  if (aclrtSetDevice(0) != ACL_SUCCESS) _exit(4);
  if (aclrtMalloc(&block, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) _exit(5);
  _exit(std::strcmp(argv[1], "resident") == 0 ? print_resident() : 0);
}
