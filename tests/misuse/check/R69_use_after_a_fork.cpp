// ends: 0
// A child makes calls though its parent had made some before the fork; the twin's parent starts after it.
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

int main() {
#ifdef BUG
  must(aclInit(nullptr));
#endif
  const pid_t child = fork();
  if (child == 0) {
    const Device device;
    return 0;
  }
  int status = 0;
  must(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
#ifndef BUG
  must(aclInit(nullptr));
#endif
  must(aclFinalize());
}
