// Whether this process runs under a sanitizer: the device window lies elsewhere there (D-36), and mlock does
// nothing.
//
// Asked of the process and not of the compiler: tests are compiled once, and linked both with the plain
// library and with the watched one.
#pragma once

extern "C" {
__attribute__((weak, visibility("default"))) void __asan_init();  // NOLINT(bugprone-reserved-identifier)
__attribute__((weak, visibility("default"))) void __tsan_init();  // NOLINT(bugprone-reserved-identifier)
}

namespace belay_test {

inline const bool kUnderASanitizer = __asan_init != nullptr || __tsan_init != nullptr;
inline const bool kUnderThreadSanitizer = __tsan_init != nullptr;

}  // namespace belay_test
