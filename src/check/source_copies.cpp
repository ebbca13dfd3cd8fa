#include "check/source_copies.h"

#include <algorithm>
#include <cstring>

#include "platform/pinned.h"

namespace belay::check {

namespace {

// The rows of a source one behind the other, in pieces that lie in one row and in one page of the copy:
// act(address, offset in the copy, bytes), until it returns false.
template <class Act>
bool each_piece(const observe::Touch& source, Act&& act) {
  std::size_t done = 0;
  for (std::uint64_t row = 0; row < source.rows && done < SourceCopies::kMostOfEach; ++row) {
    std::uintptr_t at = source.address + row * source.pitch;
    for (std::size_t left = std::min<std::size_t>(source.bytes, SourceCopies::kMostOfEach - done);
         left > 0;) {
      const std::size_t step = std::min(left, SourceCopies::kPage - done % SourceCopies::kPage);
      if (!act(at, done, step)) return false;
      at += step;
      left -= step;
      done += step;
    }
  }
  return true;
}

bool read(std::uintptr_t from, std::byte* to, std::size_t bytes, SourceCopies::Of owner) {
  if (owner == SourceCopies::Of::Program) return platform::read_if_mapped(from, to, bytes);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return true;
}

}  // namespace

void SourceCopies::Copy::drop() {
  if (first_ != nullptr) of_->give_back(std::exchange(first_, nullptr));
}

SourceCopies::Page* SourceCopies::take_page() {
  if (free_ == nullptr) {
    if (made_.size() >= most_pages_) return nullptr;
    free_ = made_.emplace_back(std::make_unique<Page>()).get();
  }
  Page* page = std::exchange(free_, free_->next);
  page->next = nullptr;
  return page;
}

void SourceCopies::give_back(Page* first) {
  Page* last = first;
  while (last->next != nullptr) last = last->next;
  last->next = std::exchange(free_, first);
}

SourceCopies::Copy SourceCopies::take(const observe::Touch& source, Of owner) {
  Copy copy{*this, nullptr};
  Page* page = nullptr;
  const bool whole = each_piece(source, [&](std::uintptr_t at, std::size_t offset, std::size_t bytes) {
    if (offset % kPage == 0) {
      Page* const next = take_page();
      if (next == nullptr) return false;
      (page == nullptr ? copy.first_ : page->next) = next;
      page = next;
    }
    return read(at, page->bytes.data() + offset % kPage, bytes, owner);
  });
  if (!whole) copy.drop();
  return copy;
}

std::optional<std::uintptr_t> SourceCopies::first_change(const Copy& copy, const observe::Touch& source,
                                                         Of owner) {
  std::optional<std::uintptr_t> changed;
  const Page* page = copy.first_;
  if (page == nullptr) return changed;
  each_piece(source, [&](std::uintptr_t at, std::size_t offset, std::size_t bytes) {
    if (offset != 0 && offset % kPage == 0) page = page->next;
    const std::byte* const was = page->bytes.data() + offset % kPage;
    std::array<std::byte, kPage> now;  // of the program's memory
    const auto* is = reinterpret_cast<const std::byte*>(at);
    if (owner == Of::Program) {
      if (!platform::read_if_mapped(at, now.data(), bytes)) return false;
      is = now.data();
    }
    if (std::memcmp(was, is, bytes) == 0) return true;
    // Its bytes may change at this moment, and be what they were again.
    const std::byte* const end = was + bytes;
    const std::byte* const first = std::mismatch(was, end, is).first;
    if (first != end) changed = at + static_cast<std::size_t>(first - was);
    return first == end;
  });
  return changed;
}

}  // namespace belay::check
