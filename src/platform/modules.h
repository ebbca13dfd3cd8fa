// Programs and libraries that are or were loaded: an address of code, said so that it means the same after
// the process has ended.
#pragma once

#include <cstdint>
#include <string>

namespace belay::platform {

struct Module {
  std::string path;      // of its file
  std::string build_id;  // in hex; empty: it has none
  std::uintptr_t begin, end;
  std::uintptr_t bias;  // an address minus this is one of the file
};

// What is loaded now becomes known, if anything was loaded or unloaded since. Not in a signal handler, and
// without locks that a constructor of a library could wait for: the loader holds one of its own.
void learn_modules();

void renew_modules();  // in the child of a fork, where another thread may have held the lock

// The known module around an address; null: none. A module that was loaded last comes first. Takes no lock,
// and what it returns stays for ever.
const Module* module_around(std::uintptr_t address);

}  // namespace belay::platform
