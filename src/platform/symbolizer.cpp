#include "platform/symbolizer.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "platform/files.h"
#include "platform/process.h"

namespace belay::platform {
namespace {

// --- without help -----------------------------------------------------------------------------------

// In place: what replaces a token is never longer.
std::size_t in_plain_words(char* text, std::size_t length) {
  std::size_t to = 0;
  for (std::size_t at = 0; at < length;) {
    if (text[at] != kFrameBegin) {
      text[to++] = text[at++];
      continue;
    }
    char* const end = std::find(text + at, text + length, kFrameEnd);
    char* const path_end = std::find(text + at, end, kFramePart);
    char* const offset_end = path_end == end ? end : std::find(path_end + 1, end, kFramePart);
    char* name = path_end;
    while (name > text + at + 1 && name[-1] != '/') --name;
    for (char* each = name; each < path_end; ++each) text[to++] = *each;
    if (path_end != end) {
      // "+0x" takes the places of two separators and the first byte of the token.
      std::array<char, 17> digits{};
      const std::size_t count =
          std::min<std::size_t>(static_cast<std::size_t>(offset_end - path_end) - 1, digits.size());
      std::copy_n(path_end + 1, count, digits.begin());
      for (const char each : {'+', '0', 'x'}) text[to++] = each;
      for (std::size_t i = 0; i < count; ++i) text[to++] = digits[i];
    }
    at = static_cast<std::size_t>(end - text) + (end == text + length ? 0 : 1);
  }
  return to;
}

// --- the helper -------------------------------------------------------------------------------------

char g_command[PATH_MAX] = "";
constexpr int kPatience = 20'000;  // milliseconds, for debug information of any size

int become(void* socket) {
  ::dup2(*static_cast<const int*>(socket), STDIN_FILENO);
  ::dup2(*static_cast<const int*>(socket), STDOUT_FILENO);
  if (const int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  // By the kernel's own call, to which the usual handling is all zeros: a sanitizer that hears of it would
  // take it for a change of the parent's handlers, in the memory that the child shares with it.
  constexpr std::array<unsigned long, 4> kUsual{};
  constexpr std::size_t kSignalsInBytes = 8;
  for (const int signal : {SIGSEGV, SIGBUS, SIGPIPE, SIGTERM, SIGINT})
    ::syscall(SYS_rt_sigaction, signal, kUsual.data(), nullptr, kSignalsInBytes);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const char* const arguments[] = {"belay", "symbolize", nullptr};
  // Not what the program has: a library that is loaded into everything has no business here.
  const char* const environment[] = {"LC_ALL=C.UTF-8", nullptr};
  ::execve(g_command, const_cast<char* const*>(arguments), const_cast<char* const*>(environment));
  ::_exit(127);
}

// It shares our memory until it has become the command, and its end is told to nobody: the program may wait
// for children of its own. One at a time.
alignas(64) std::byte g_stack[16 * 1024];
std::atomic<bool> g_busy{false};

pid_t start(int socket) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  constexpr int kNoSignalAtItsEnd = 0;
  const pid_t pid =
      ::clone(become, g_stack + sizeof g_stack, CLONE_VM | CLONE_VFORK | kNoSignalAtItsEnd, &socket);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return pid;
}

void wait_for_end(pid_t child) {
  while (::waitpid(child, nullptr, static_cast<int>(__WCLONE)) < 0 && errno == EINTR) {
  }
}

class Busy {
 public:
  Busy() : mine_{!g_busy.exchange(true, std::memory_order_acquire)} {}
  ~Busy() {
    if (mine_) g_busy.store(false, std::memory_order_release);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  bool is_mine() const { return mine_; }

 private:
  const bool mine_;
};

bool send_all(int socket, const char* text, std::size_t length) {
  while (length > 0) {
    const ssize_t put = ::send(socket, text, length, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text += put;
    length -= static_cast<std::size_t>(put);
  }
  return ::shutdown(socket, SHUT_WR) == 0;
}

// Everything that comes back until its end; false where that takes too long.
template <class Take>
bool receive_all(int socket, Take&& take) {
  const std::uint64_t until = clock_ticks() + std::uint64_t{kPatience} * 1'000'000;
  char part[1024];
  for (;;) {
    pollfd wait{socket, POLLIN, 0};
    const std::uint64_t now = clock_ticks();
    if (now >= until) return false;
    const int ready = ::poll(&wait, 1, static_cast<int>((until - now) / 1'000'000) + 1);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    const ssize_t got = ::recv(socket, part, sizeof part, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    take(part, static_cast<std::size_t>(got));
  }
}

// Calls take(bytes, count) with the answer; false: there is none, or not all of it.
template <class Take>
bool ask(const char* text, std::size_t length, Take&& take) {
  if (g_command[0] == '\0') return false;
  const Busy busy;
  if (!busy.is_mine()) return false;
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return false;
  // So that neither side waits for the other while both have much to say.
  const int room = 1 << 20;
  (void)::setsockopt(sockets[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  (void)::setsockopt(sockets[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  const pid_t child = start(sockets[1]);
  ::close(sockets[1]);
  bool good = child > 0 && send_all(sockets[0], text, length);
  good = good && receive_all(sockets[0], take);
  ::close(sockets[0]);
  if (child > 0) {
    if (!good) ::kill(child, SIGKILL);
    wait_for_end(child);
  }
  return good;
}

std::mutex& asking() {
  static auto* one = new std::mutex;
  return *one;
}

bool has_frames(const std::string& text) { return text.find(kFrameBegin) != std::string::npos; }

}  // namespace

std::size_t put_frame_token(std::uintptr_t address, char* to, std::size_t room) {
  const Module* module = module_around(address);
  const std::string_view path = module == nullptr ? std::string_view{"?"} : std::string_view{module->path};
  const std::string_view id = module == nullptr ? std::string_view{} : std::string_view{module->build_id};
  char digits[17];
  char* first = digits + sizeof digits;
  for (std::uintptr_t left = module == nullptr ? address : address - module->bias;; left /= 16) {
    *--first = "0123456789abcdef"[left % 16];
    if (left < 16) break;
  }
  const auto count = static_cast<std::size_t>(digits + sizeof digits - first);
  if (path.size() + count + id.size() + 4 > room) return 0;
  char* at = to;
  const auto put = [&at](std::string_view text) { at = std::copy(text.begin(), text.end(), at); };
  *at++ = kFrameBegin;
  put(path);
  *at++ = kFramePart;
  put({first, count});
  *at++ = kFramePart;
  put(id);
  *at++ = kFrameEnd;
  return static_cast<std::size_t>(at - to);
}

std::string frame_token(std::uintptr_t address) {
  std::string token(PATH_MAX + 256, '\0');
  token.resize(put_frame_token(address, token.data(), token.size()));
  return token;
}

// Beside the folder that this library is in, as installed and as built.
void prepare_symbolizer() {
  if (g_command[0] != '\0') return;
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&prepare_symbolizer), &found) == 0) return;
  char* real = ::realpath(found.dli_fname, nullptr);
  if (real == nullptr) return;
  std::string path{real};
  std::free(real);
  for (int up = 0; up < 2; ++up) path.resize(std::max<std::size_t>(path.rfind('/'), 0));
  path += "/bin/belay";
  if (path.size() < sizeof g_command && ::access(path.c_str(), X_OK) == 0)
    std::copy_n(path.c_str(), path.size() + 1, g_command);
}

void renew_symbolizer() {
  new (&asking()) std::mutex;
  g_busy.store(false);
}

std::string symbolised(std::string text) {
  if (!has_frames(text)) return text;
  {
    const std::lock_guard lock{asking()};
    std::string answer;
    if (ask(text.data(), text.size(),
            [&](const char* part, std::size_t count) { answer.append(part, count); }) &&
        !answer.empty()) {
      if (answer.back() == '\0') answer.pop_back();
      return answer;
    }
  }
  text.resize(in_plain_words(text.data(), text.size()));
  return text;
}

void print_symbolised(char* text, std::size_t length) {
  const bool frames = std::find(text, text + length, kFrameBegin) != text + length;
  bool printed = false;
  const auto print = [&](const char* part, std::size_t count) {
    count -= count > 0 && part[count - 1] == '\0' ? 1 : 0;
    printed = true;
    (void)write_all(STDERR_FILENO, part, count);
  };
  if (frames && ask(text, length, print) && printed) return;
  if (!printed) (void)write_all(STDERR_FILENO, text, in_plain_words(text, length));
}

}  // namespace belay::platform
