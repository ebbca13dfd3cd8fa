// The numbers that functions answer.
//
// The numbers themselves, so that a renumbered header is noticed too.
#pragma once

namespace belay_test {

inline constexpr int kBadArgument = 100000;  // outer layer
inline constexpr int kBadValue = 107000;     // inner layer
inline constexpr int kBadDevice = 107001;
inline constexpr int kNoContext = 107002;
inline constexpr int kOtherContext = 107003;
inline constexpr int kNoTime = 107006;
inline constexpr int kSubscribed = 107011;
inline constexpr int kThreadSubscribed = 107012;
inline constexpr int kNoCallback = 107015;
inline constexpr int kStale = 107017;
inline constexpr int kTaskTimeout = 107020;
inline constexpr int kDeviceAborting = 107022;
inline constexpr int kAborted = 107023;
inline constexpr int kNotCaptured = 107029;
inline constexpr int kUnsupported = 207000;
inline constexpr int kShortage = 207001;
inline constexpr int kNoEvents = 207007;
inline constexpr int kNoStream = 207008;
inline constexpr int kNoNotifies = 207009;
inline constexpr int kInternal = 507000;
inline constexpr int kNothingToReport = 507012;
inline constexpr int kStreamTimeout = 507046;
inline constexpr int kEventTimeout = 507047;
inline constexpr int kRefused = 507899;
inline constexpr int kRegistered = 507910;
inline constexpr int kNotRegistered = 507911;

}  // namespace belay_test
