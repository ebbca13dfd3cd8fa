// What people read after a call failed: the message text and the thread's last error.
//
// Messages pile up until they are fetched (R-212 ... R-219). The first that concerns the user becomes
// the headline with cause and solution; the others follow under it.
#pragma once

#include <string>

#include "base/error.h"

namespace belay::report {

// Stores message and last error of a failed call; returns its code. `places`: where in the program, in lines
// whose frames become words when somebody reads them (platform/symbolizer.h).
aclError fail(const char* api, const Error& error, std::string places = {}) noexcept;

// aclGetRecentErrMsg: the text, valid until the next call; null when there is none.
const char* take_text() noexcept;
// The same without words, which take memory; the next text says that some were lost.
aclError fail_without_words(aclError code) noexcept;

// Who hears that the calling thread asks for its errors; null: nobody.
void on_fetch(void (*hear)());

aclError last_error();
aclError take_last_error();

// err_msg_mode "1": one pile for the whole process.
void keep_for_process(bool whole_process);

// After fork: nothing that the parent said is ours.
void forget();

}  // namespace belay::report
