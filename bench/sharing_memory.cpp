#include "sharing_memory.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBlock = std::size_t{64} << 20;
constexpr unsigned kAgain = 20;  // the last of them counts: the others make both processes ready for it
constexpr std::size_t kFew = 100, kMany = 10'000;  // live keys

struct Key {
  std::array<char, 65> text;
};

void must(bool holds, const char* what) {
  if (holds) return;
  fmt::print(stderr, "{} failed: {}\n", what, std::strerror(errno));
  std::exit(1);
}
#define MUST(condition) must(condition, #condition)

class Peer {
 public:
  Peer(int socket, bool gives) : socket_{socket}, gives_{gives} {}

  template <class T>
  void say(const T& what) const {
    MUST(::send(socket_, &what, sizeof what, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof what));
  }
  template <class T>
  T hear() const {
    T what{};
    MUST(::recv(socket_, &what, sizeof what, MSG_WAITALL) == static_cast<ssize_t>(sizeof what));
    return what;
  }

  // --- from hand to hand --------------------------------------------------------------------------

  // Export, a message, import, an answer; and the same with a memfd. Block and file are filled before, once:
  // a round begins with what both processes were just doing.
  void hands(unsigned rounds, Figure& figure) const {
    void* block = nullptr;
    int file = -1;
    if (gives_) {
      CHECK(aclrtMallocAlign32(&block, kBlock, ACL_MEM_MALLOC_HUGE_FIRST));
      CHECK(aclrtMemset(block, kBlock, 7, kBlock));
      file = filled_file(kBlock);
    }
    for (unsigned round = 0; round < rounds; ++round) {
      for (unsigned again = 0; again < kAgain; ++again) {
        const double ours = gives_ ? give_key(block) : take_key();
        if (again + 1 == kAgain) figure.ours.push_back(ours);
      }
      for (unsigned again = 0; again < kAgain; ++again) {
        const double theirs = gives_ ? give_file(file) : take_file();
        if (again + 1 == kAgain) figure.theirs.push_back(theirs);
      }
    }
    if (!gives_) return;
    ::close(file);
    CHECK(aclrtFree(block));
  }

  double give_key(void* block) const {
    const auto start = Clock::now();
    const Key key = exported(block, kBlock);
    say(key);
    (void)hear<bool>();
    const double took = since(start);
    (void)hear<bool>();  // it has closed it
    CHECK(aclrtIpcMemClose(key.text.data()));
    return took;
  }
  double take_key() const {
    const Key key = hear<Key>();
    void* theirs = nullptr;
    CHECK(aclrtIpcMemImportByKey(&theirs, key.text.data(), 0));
    say(true);
    CHECK(aclrtIpcMemClose(key.text.data()));
    say(true);
    return 0;
  }

  double give_file(int file) const {
    const auto start = Clock::now();
    send_file(file);
    (void)hear<bool>();
    const double took = since(start);
    (void)hear<bool>();
    return took;
  }
  double take_file() const {
    const int file = receive_file();
    void* const theirs = ::mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    MUST(theirs != MAP_FAILED);
    say(true);
    ::munmap(theirs, kBlock);
    ::close(file);
    say(true);
    return 0;
  }

  // --- copies --------------------------------------------------------------------------------------

  // One half of what was imported to the other, as often as there are rounds; and the same between two
  // mappings of one memfd.
  void copies(unsigned rounds, Figure& figure) const {
    if (gives_) {
      void* block = nullptr;
      CHECK(aclrtMallocAlign32(&block, 2 * kBlock, ACL_MEM_MALLOC_HUGE_FIRST));
      CHECK(aclrtMemset(block, 2 * kBlock, 7, 2 * kBlock));
      const Key key = exported(block, 2 * kBlock);
      say(key);
      for (unsigned round = 0; round < rounds; ++round) {
        figure.ours.push_back(hear<double>());
        figure.theirs.push_back(hear<double>());
      }
      CHECK(aclrtIpcMemClose(key.text.data()));
      CHECK(aclrtFree(block));
      return;
    }
    const Key key = hear<Key>();
    void* imported = nullptr;
    CHECK(aclrtIpcMemImportByKey(&imported, key.text.data(), 0));
    char* const to = static_cast<char*>(imported) + kBlock;
    const int file = filled_file(2 * kBlock);
    void* const first = ::mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void* const second = ::mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_SHARED, file, kBlock);
    MUST(first != MAP_FAILED && second != MAP_FAILED);
    CHECK(aclrtMemcpy(to, kBlock, imported, kBlock, ACL_MEMCPY_DEVICE_TO_DEVICE));  // pages are there then
    std::memcpy(second, first, kBlock);
    for (unsigned round = 0; round < rounds; ++round) {
      const auto ours = Clock::now();
      CHECK(aclrtMemcpy(to, kBlock, imported, kBlock, ACL_MEMCPY_DEVICE_TO_DEVICE));
      const double took = since(ours);
      const auto theirs = Clock::now();
      std::memcpy(second, first, kBlock);
      const double theirs_took = since(theirs);
      // Not before: the other process sleeps meanwhile.
      say(took);
      say(theirs_took);
    }
    CHECK(aclrtIpcMemClose(key.text.data()));
    ::munmap(first, kBlock);
    ::munmap(second, kBlock);
    ::close(file);
  }

  // --- look-up -------------------------------------------------------------------------------------

  // One pair of import and close, with so many keys live.
  void look_ups(unsigned rounds, std::size_t live, std::vector<double>& into) const {
    if (gives_) {
      std::vector<Key> keys(live);
      std::vector<void*> blocks(live);
      for (std::size_t i = 0; i < live; ++i) {
        CHECK(aclrtMallocAlign32(&blocks[i], 4096, ACL_MEM_MALLOC_NORMAL_ONLY));
        keys[i] = exported(blocks[i], 4096);
      }
      for (unsigned round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < kFew; ++i) say(keys[(i * 7919 + round) % live]);
        into.push_back(hear<double>());
      }
      for (std::size_t i = 0; i < live; ++i) {
        CHECK(aclrtIpcMemClose(keys[i].text.data()));
        CHECK(aclrtFree(blocks[i]));
      }
      return;
    }
    std::array<Key, kFew> keys;
    for (unsigned round = 0; round < rounds; ++round) {
      for (Key& each : keys) each = hear<Key>();
      const auto start = Clock::now();
      for (const Key& each : keys) {
        void* theirs = nullptr;
        CHECK(aclrtIpcMemImportByKey(&theirs, each.text.data(), 0));
        CHECK(aclrtIpcMemClose(each.text.data()));
      }
      say(since(start) / kFew);
    }
  }

 private:
  static Key exported(void* block, std::size_t bytes) {
    Key key{};
    CHECK(aclrtIpcMemGetExportKey(block, bytes, key.text.data(), key.text.size(),
                                  ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    return key;
  }
  static int filled_file(std::size_t bytes) {
    const int file = ::memfd_create("bench", MFD_CLOEXEC);
    MUST(file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) == 0);
    void* const own = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    MUST(own != MAP_FAILED);
    std::memset(own, 7, bytes);
    ::munmap(own, bytes);
    return file;
  }

  union Control {
    cmsghdr head;
    std::array<char, CMSG_SPACE(sizeof(int))> bytes;
  };
  void send_file(int file) const {
    char byte = 0;
    iovec piece{&byte, 1};
    Control control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = sizeof control;
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(&control.head), &file, sizeof file);
    MUST(::sendmsg(socket_, &message, 0) == 1);
  }
  int receive_file() const {
    char byte = 0;
    iovec piece{&byte, 1};
    Control control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = sizeof control;
    MUST(::recvmsg(socket_, &message, MSG_CMSG_CLOEXEC) == 1);
    int file = -1;
    std::memcpy(&file, CMSG_DATA(&control.head), sizeof file);
    return file;
  }

  const int socket_;
  const bool gives_;
};

}  // namespace

std::vector<Figure> measure_memory(int socket, bool gives, unsigned rounds, bool quick) {
  const Peer peer{socket, gives};
  Figure handed{"export and import of 64 MB", "a memfd over a Unix socket, mapped", 1.5};
  peer.hands(rounds, handed);
  Figure copied{"a copy of 64 MB through imported memory", "memcpy between two mappings of it", 1 / 0.95};
  peer.copies(rounds, copied);
  const std::size_t many = quick ? kMany / 10 : kMany;
  Figure found{fmt::format("import and close, with {} keys live", many),
               fmt::format("the same, with {} keys live", kFew), 1.25};
  peer.look_ups(rounds, kFew, found.theirs);
  peer.look_ups(rounds, many, found.ours);
  return {handed, copied, found};
}

}  // namespace bench
