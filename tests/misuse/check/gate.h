// A task that keeps a stream busy until it is let through: what is queued behind it has certainly not run.
#pragma once

#include <semaphore.h>  // not <future>, which takes a second to compile

#include "program.h"

struct Gate {
  explicit Gate(aclrtStream stream) {
    must(sem_init(&opened, 0, 0) == 0);
    must(aclrtLaunchHostFunc(
        stream,
        [](void* of) {
          while (sem_wait(&static_cast<Gate*>(of)->opened) != 0) continue;  // a signal came
        },
        this));
  }
  void open() { must(sem_post(&opened) == 0); }

  sem_t opened;
};
