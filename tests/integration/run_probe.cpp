// Does what its arguments say, one after the other; for tests of what is told about it afterwards.
//
//   run_probe set 0 malloc 1000 free fork malloc 4096 _exit 3 join exit 0
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

std::vector<void*> blocks, pinned;

void expect(aclError code, const std::string& what) {
  if (code == ACL_SUCCESS) return;
  std::fprintf(stderr, "run_probe: %s returned %d\n", what.c_str(), code);
  std::_Exit(99);
}

void* take_last(std::vector<void*>& from) {
  void* last = from.back();
  from.pop_back();
  return last;
}

// Those without a number. False: there is no such word.
bool obey(const std::string& word) {
  static char here[1 << 16];
  if (word == "free") {
    expect(aclrtFree(take_last(blocks)), word);
  } else if (word == "free-host") {
    expect(aclrtFreeHost(take_last(pinned)), word);
  } else if (word == "free-wrongly") {
    if (aclrtFree(here) == ACL_SUCCESS) std::_Exit(98);
  } else if (word == "stream") {
    aclrtStream stream = nullptr;
    expect(aclrtCreateStream(&stream), word);
  } else if (word == "event") {
    aclrtEvent event = nullptr;
    expect(aclrtCreateEvent(&event), word);
  } else if (word == "buffer") {
    if (aclCreateDataBuffer(here, sizeof here) == nullptr) std::_Exit(97);
  } else if (word == "thread") {  // one that stays, with a block of its own
    std::thread{[] {
      void* block = nullptr;
      expect(aclrtSetDevice(0), "thread");
      expect(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST), "thread");
    }}.join();
  } else if (word == "wait") {  // until whoever started us has no more to say
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
  } else if (word == "abort") {
    std::abort();
  } else {
    return false;
  }
  return true;
}

void obey(const std::string& word, long number) {
  static char here[1 << 16];
  const auto bytes = static_cast<std::size_t>(number);
  if (word == "set") {
    expect(aclrtSetDevice(static_cast<int>(number)), word);
  } else if (word == "reset") {
    expect(aclrtResetDevice(static_cast<int>(number)), word);
  } else if (word == "malloc") {
    blocks.push_back(nullptr);
    expect(aclrtMalloc(&blocks.back(), bytes, ACL_MEM_MALLOC_HUGE_FIRST), word);
  } else if (word == "malloc-too-much") {
    void* block = nullptr;
    if (aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) std::_Exit(96);
  } else if (word == "host") {
    pinned.push_back(nullptr);
    expect(aclrtMallocHost(&pinned.back(), bytes), word);
  } else if (word == "copy") {
    expect(aclrtMemcpy(blocks.back(), bytes, here, bytes, ACL_MEMCPY_HOST_TO_DEVICE), word);
  } else if (word == "many") {  // pairs
    for (long i = 0; i < number; ++i) {
      obey("malloc", 1000);
      obey("free");
    }
  } else if (word == "exit") {
    std::exit(static_cast<int>(number));
  } else if (word == "_exit") {
    std::_Exit(static_cast<int>(number));
  } else if (word == "kill") {
    std::raise(static_cast<int>(number));
  } else {
    std::fprintf(stderr, "run_probe: what is '%s'?\n", word.c_str());
    std::_Exit(95);
  }
}

}  // namespace

int main(int count, char** words) {
  bool child = false;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "fork") {
      child = ::fork() == 0;
      while (!child && std::strcmp(words[i], "join") != 0) ++i;
      if (!child) ::wait(nullptr);
    } else if (word == "join") {
      std::exit(0);
    } else if (word == "exec") {  // the same again, with what comes next
      words[i] = words[0];
      ::execv("/proc/self/exe", words + i);
    } else if (!obey(word)) {
      if (++i == count) return 95;
      obey(word, std::atol(words[i]));
    }
  }
}
