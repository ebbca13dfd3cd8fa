// Numbers in few bytes: seven bits each, the lowest first; the top bit says that there are more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace belay::recording {

inline constexpr std::size_t kMostVarint = 10;

[[gnu::always_inline]] inline std::byte* put(std::byte* to, std::uint64_t value) {
  while (value >= 128) {
    *to++ = static_cast<std::byte>(value | 128);
    value >>= 7;
  }
  *to++ = static_cast<std::byte>(value);
  return to;
}
// Of both signs: 0, -1, 1, -2, ...
constexpr std::uint64_t fold(std::uint64_t difference) {
  return difference << 1 ^ (difference >> 63 == 0 ? 0 : ~std::uint64_t{0});
}
constexpr std::uint64_t unfold(std::uint64_t folded) {
  return folded >> 1 ^ ((folded & 1) == 0 ? 0 : ~std::uint64_t{0});
}
inline std::byte* put_text(std::byte* to, std::string_view text) {
  to = put(to, text.size());
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Reads what may be anything: past the end, and where a number does not fit, all is 0 and `good` no more.
class Source {
 public:
  Source() = default;
  Source(const std::byte* from, const std::byte* end) : at_{from}, end_{end} {}

  bool good() const { return good_; }
  bool at_end() const { return at_ == end_; }
  const std::byte* at() const { return at_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  [[gnu::always_inline]] std::uint64_t number() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 128) [[likely]]
      return static_cast<std::uint64_t>(*at_++);
    return long_number();
  }
  std::string_view text() {
    const std::uint64_t length = number();
    if (length > left()) {
      fail();
      return {};
    }
    const std::string_view words{reinterpret_cast<const char*>(at_), static_cast<std::size_t>(length)};
    at_ += length;
    return words;
  }
  void fail() {
    good_ = false;
    at_ = end_;
  }

 private:
  std::uint64_t long_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) return value;
    }
    fail();
    return 0;
  }

  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  bool good_ = true;
};

}  // namespace belay::recording
