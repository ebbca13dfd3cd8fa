// What the sources of queued copies were when the copies were submitted: the bytes themselves, because
// copying and comparing them takes less time than any sum of them. They are in pages that are used again and
// again, as many as are needed, up to a limit.
//
// Not thread-safe: whoever uses it has a lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "observe/event.h"

namespace belay::check {

class SourceCopies {
 public:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kMostOfEach = 16 * kPage;  // what is behind that is not compared

  explicit SourceCopies(std::size_t most_pages = 4096) : most_pages_{most_pages} {}
  SourceCopies(const SourceCopies&) = delete;
  SourceCopies& operator=(const SourceCopies&) = delete;

  struct Page {
    Page* next = nullptr;
    std::array<std::byte, kPage> bytes;
  };
  // Gives its pages back when it ends.
  class Copy {
   public:
    Copy() = default;
    Copy(Copy&& other) noexcept
        : of_{std::exchange(other.of_, nullptr)}, first_{std::exchange(other.first_, nullptr)} {}
    Copy& operator=(Copy&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(first_, other.first_);
      return *this;
    }
    ~Copy() { drop(); }
    explicit operator bool() const { return first_ != nullptr; }
    void drop();

   private:
    friend class SourceCopies;
    Copy(SourceCopies& of, Page* first) : of_{&of}, first_{first} {}
    SourceCopies* of_ = nullptr;
    Page* first_ = nullptr;
  };

  // Who may have unmapped memory without a word, and who may not.
  enum class Of : bool { Belay, Program };
  // Empty if there is no page left, or the memory is gone.
  Copy take(const observe::Touch& source, Of owner);
  // The address of the first byte that is another one by now; empty: none is, or the memory is gone.
  std::optional<std::uintptr_t> first_change(const Copy& copy, const observe::Touch& source, Of owner);

  std::size_t pages_made() const { return made_.size(); }

 private:
  Page* take_page();
  void give_back(Page* first);

  const std::size_t most_pages_;
  std::vector<std::unique_ptr<Page>> made_;
  Page* free_ = nullptr;
};

}  // namespace belay::check
