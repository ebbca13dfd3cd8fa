// Does things at random, and says what it did: for tests that compare this with a trace of it.
//
//   trace_probe SEED STEPS [threads N] [children N] [kill] [_exit]
//
// Each process prints a line of JSON: its number; blocks made and freed, and the bytes that were asked for;
// bytes that went to the device and back; calls that failed; bytes that the device has less free than at
// first.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

std::atomic<unsigned long long> made, freed, bytes, to_device, to_host, failed, filled;

void expect(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  std::fprintf(stderr, "trace_probe: %s returned %d\n", what, code);
  std::_Exit(99);
}

struct Block {
  void* address;
  std::size_t size;
};

[[gnu::noinline]] Block grow(std::mt19937_64& random) {
  static constexpr aclrtMemMallocPolicy kPolicies[] = {ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_FIRST,
                                                       ACL_MEM_MALLOC_NORMAL_ONLY, ACL_MEM_MALLOC_HUGE_ONLY};
  Block block{nullptr, 1 + random() % (random() % 4 == 0 ? 6'000'000 : 20'000)};
  expect(aclrtMalloc(&block.address, block.size, kPolicies[random() % 4]), "aclrtMalloc");
  ++made;
  bytes += block.size;
  return block;
}

void work(unsigned long long seed, unsigned long long steps) {
  std::mt19937_64 random{seed};
  std::vector<Block> blocks;
  std::vector<char> host(20'000);
  expect(aclrtSetDevice(0), "aclrtSetDevice");
  aclrtStream stream = nullptr;
  expect(aclrtCreateStream(&stream), "aclrtCreateStream");
  for (unsigned long long i = 0; i < steps; ++i) {
    const unsigned long long what = random() % 16;
    if (blocks.empty() || (what < 6 && blocks.size() < 60)) {
      blocks.push_back(grow(random));
    } else if (what < 11) {
      const std::size_t at = random() % blocks.size();
      expect(aclrtFree(blocks[at].address), "aclrtFree");
      ++freed;
      blocks[at] = blocks.back();
      blocks.pop_back();
    } else {
      const Block& block = blocks[random() % blocks.size()];
      const std::size_t count = 1 + random() % std::min(block.size, host.size());
      if (what == 11) {
        expect(aclrtMemcpy(block.address, block.size, host.data(), count, ACL_MEMCPY_HOST_TO_DEVICE),
               "aclrtMemcpy");
        to_device += count;
      } else if (what == 12) {
        expect(aclrtMemcpy(host.data(), host.size(), block.address, count, ACL_MEMCPY_DEVICE_TO_HOST),
               "aclrtMemcpy");
        to_host += count;
      } else if (what == 13) {
        expect(aclrtMemcpyAsync(block.address, block.size, host.data(), count, ACL_MEMCPY_HOST_TO_DEVICE,
                                stream),
               "aclrtMemcpyAsync");
        expect(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
        to_device += count;
      } else if (what == 14) {
        expect(aclrtMemset(block.address, block.size, 7, count), "aclrtMemset");
        filled += count;
      } else if (aclrtMemcpy(block.address, 1, host.data(), 2, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS) {
        ++failed;
      }
    }
  }
  if (seed % 2 == 0) {
    for (const Block& each : blocks) expect(aclrtFree(each.address), "aclrtFree");
    freed += blocks.size();
  }
}

void tell(std::size_t free_at_first) {
  std::size_t free_now = 0, total = 0;
  expect(aclrtGetMemInfo(ACL_HBM_MEM, &free_now, &total), "aclrtGetMemInfo");
  char line[512];
  const int length =
      std::snprintf(line, sizeof line,
                    "{\"process\": %d, \"made\": %llu, \"freed\": %llu, \"bytes\": %llu, \"to_device\": "
                    "%llu, \"to_host\": %llu, \"filled\": %llu, \"failed\": %llu, \"used\": %zu}\n",
                    ::getpid(), made.load(), freed.load(), bytes.load(), to_device.load(), to_host.load(),
                    filled.load(), failed.load(), free_at_first - free_now);
  if (::write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) != length) std::_Exit(98);
}

void live(unsigned long long seed, unsigned long long steps, unsigned long threads) {
  std::size_t free_at_first = 0, total = 0;
  expect(aclrtSetDevice(0), "aclrtSetDevice");
  expect(aclrtGetMemInfo(ACL_HBM_MEM, &free_at_first, &total), "aclrtGetMemInfo");
  std::vector<std::thread> others;
  for (unsigned long i = 1; i < threads; ++i) others.emplace_back(work, seed + 2 * i, steps);
  work(seed, steps);
  for (std::thread& each : others) each.join();
  tell(free_at_first);
}

}  // namespace

int main(int argc, char** argv) {
  unsigned long threads = 1, children = 0;
  bool dies = false, leaves = false;
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "threads" && i + 1 < argc) threads = std::strtoul(argv[++i], nullptr, 10);
    if (word == "children" && i + 1 < argc) children = std::strtoul(argv[++i], nullptr, 10);
    dies = dies || word == "kill";
    leaves = leaves || word == "_exit";
  }
  if (argc < 3) return 2;
  const unsigned long long seed = std::strtoull(argv[1], nullptr, 10),
                           steps = std::strtoull(argv[2], nullptr, 10);
  if (children != 0) expect(aclrtSetDevice(0), "aclrtSetDevice");  // the children are of one that uses it
  for (unsigned long i = 0; i < children; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      live(seed + 100 * (i + 1), steps, threads);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
  live(seed, steps, threads);
  if (dies) ::kill(::getpid(), SIGKILL);
  if (leaves) ::_exit(0);
  return 0;
}
