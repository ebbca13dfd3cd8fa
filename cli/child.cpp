#include "cli/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "cli/command.h"

namespace belay::cli {
namespace {

constexpr std::array kPassedOn{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

// What the child must find as it was.
struct Before {
  sigset_t mask{};
  struct sigaction on_child_end {};
};

sigset_t awaited_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (const int signal : kPassedOn) ::sigaddset(&set, signal);
  return set;
}

[[noreturn]] void become(const std::string& path, std::vector<std::string>& words, const Before& before,
                         pid_t parent, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(128 + SIGKILL);  // it was killed before that
  ::sigaction(SIGCHLD, &before.on_child_end, nullptr);
  ::sigprocmask(SIG_SETMASK, &before.mask, nullptr);
  std::vector<char*> argv(words.size() + 1, nullptr);
  std::ranges::transform(words, argv.begin(), [](std::string& word) { return word.data(); });
  ::execvp(path.c_str(), argv.data());
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  ::_exit(kCannotExecute);
}

// 0 where it became the program: then the pipe was closed without a word.
int trouble_of(int report) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(report, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof error) ? error : 0;
}

int wait_for(pid_t child, const sigset_t& awaited) {
  for (int status = 0;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    siginfo_t what{};
    const int signal = ::sigwaitinfo(&awaited, &what);
    // A terminal has sent it to the child as well; another process has not.
    if (signal > 0 && signal != SIGCHLD && what.si_code <= 0) ::kill(child, signal);
  }
}

}  // namespace

Ending run_child(const std::string& path, std::vector<std::string> words) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
  const sigset_t awaited = awaited_signals();
  Before before;
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &usual, &before.on_child_end);  // whoever started us may ignore it
  ::sigprocmask(SIG_BLOCK, &awaited, &before.mask);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(path, words, before, parent, report[1]);
  ::close(report[1]);
  if (child < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  Ending ending;
  ending.not_started = trouble_of(report[0]);
  ::close(report[0]);
  ending.status = wait_for(child, awaited);
  ::sigprocmask(SIG_SETMASK, &before.mask, nullptr);
  return ending;
}

int end_like(const Ending& ending) {
  if (!WIFSIGNALED(ending.status)) return WEXITSTATUS(ending.status);
  const int signal = WTERMSIG(ending.status);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);  // the child has left one, if anybody wants it
  std::signal(signal, SIG_DFL);
  sigset_t just_this;
  ::sigemptyset(&just_this);
  ::sigaddset(&just_this, signal);
  ::sigprocmask(SIG_UNBLOCK, &just_this, nullptr);
  ::kill(::getpid(), signal);
  return 128 + signal;
}

}  // namespace belay::cli
