// The mistakes that can be planted in a random program. Each takes memory and objects of the program, or
// makes some, makes one mistake, and leaves the program so that it can go on rightly.
#pragma once

#include <semaphore.h>

#include <initializer_list>
#include <memory>
#include <vector>

#include "belay/belay.h"
#include "random_program.h"

namespace planted {

// What a program must have for it, besides its features: no other thread.
inline constexpr unsigned kAlone = 8;
// It makes belay read what the program should not, and a sanitizer would end it.
inline constexpr unsigned kUnwatched = 16;

struct Kind {
  const char* name;
  const char* misuse;  // as findings are named
  unsigned needs;      // features, kAlone and kUnwatched
  void (*plant)(RandomProgram& p);
};

std::vector<Kind> frees();           // lifetime, of memory
std::vector<Kind> uses_after_end();  // lifetime, of memory and handles
std::vector<Kind> wrong_accesses();  // bounds, direction, read-only memory
std::vector<Kind> unwritten_reads();
std::vector<Kind> virtual_mistakes();
std::vector<Kind> host_buffers();
std::vector<Kind> ends();  // what is told at an end: leaks, growth, errors, hints

inline std::vector<Kind> all_kinds() {
  std::vector<Kind> all;
  for (const auto& some : {frees(), uses_after_end(), wrong_accesses(), unwritten_reads(), virtual_mistakes(),
                           host_buffers(), ends()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

// The call that is the mistake: it is reported at this line.
#define PLANTED(call, ...) (p.expect_at(#call, __FILE__, __LINE__), call(__VA_ARGS__))
// The same of a finding that is about an object, and about no call.
#define LOST(call, ...) (p.expect_at("", __FILE__, __LINE__), call(__VA_ARGS__))

// The program goes on for a while.
inline void go_on(RandomProgram& p) {
  const std::size_t device = p.device();
  for (std::size_t i = p.pick(4); i > 0; --i) p.step();
  p.use(device);
}

// A call that fails, or not, because of the mistake.
inline void may_fail(aclError code) {
  if (code != ACL_SUCCESS) (void)aclGetRecentErrMsg();
}

// A task that keeps a stream busy until it is let through: what is queued behind it has certainly not run.
struct Gate {
  explicit Gate(aclrtStream stream) {
    sem_init(&opened, 0, 0);
    MUST(aclrtLaunchHostFunc(
        stream,
        [](void* of) {
          while (sem_wait(&static_cast<Gate*>(of)->opened) != 0) continue;  // a signal came
        },
        this));
  }
  void open() { sem_post(&opened); }

  sem_t opened;
};

}  // namespace planted
