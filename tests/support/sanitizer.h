// Whether this build runs under a sanitizer: the device window lies elsewhere there (D-36), and mlock
// does nothing.
#pragma once

namespace belay_test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderASanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool kUnderASanitizer = true;
#else
inline constexpr bool kUnderASanitizer = false;
#endif
#else
inline constexpr bool kUnderASanitizer = false;
#endif

}  // namespace belay_test
