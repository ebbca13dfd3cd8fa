#include "check/closed_pages.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "platform/pinned.h"
#include "platform/threads.h"

namespace belay::check {

constinit ClosedPages g_closed_pages;

namespace {

using observe::Touch;

// Each run of closed pages may split a mapping twice, and the kernel allows a process some 65,000.
constexpr std::size_t kMostRuns = 8'192;
constexpr std::size_t kMostRowsOfOne = 1'024;

std::uint64_t rows_of(const Touch& touch) {
  return touch.pitch == touch.bytes ? 1 : std::min<std::uint64_t>(touch.rows, kMostRowsOfOne);
}

// The fault before this one on this thread, at a page that was open already.
struct FaultBefore {
  std::uintptr_t address = 0;
  std::uint64_t shut = 0;
};
constinit thread_local FaultBefore t_before __attribute__((tls_model("initial-exec")));

}  // namespace

struct ClosedPages::Closing {
  enum class State : std::uint8_t { Closed, Lent, Open };
  Destination destination;
  Block* block;
  State state = State::Open;
  std::size_t runs = 0;
  std::uint64_t borrower = 0;                  // a thread
  Closing *before = nullptr, *next = nullptr;  // of its block, in the order of submission
  Closing* next_lent = nullptr;
};

struct ClosedPages::Block {
  struct Page {
    std::uint32_t closers = 0;
    Closing* last = nullptr;  // of the closers, if it is still there
  };
  Block(const HostFacts& facts, std::size_t page_bytes)
      : start{facts.start},
        asked_end{facts.start + facts.asked},
        page{page_bytes},
        pages(facts.bytes / page_bytes) {}

  std::uintptr_t address(std::size_t number) const { return start + number * page; }

  const std::uintptr_t start, asked_end;
  const std::size_t page;
  std::vector<Page> pages;
  Closing *oldest = nullptr, *newest = nullptr;
  std::atomic<Block*> next{nullptr};
};

// Whole pages, first and behind the last. Behind what was asked for, there is nothing of the program's.
template <class Act>
void ClosedPages::each_run(const Block& block, const Touch& touch, Act&& act) {
  const std::uint64_t rows = rows_of(touch);
  const std::uint64_t bytes = rows == 1 ? touch.bytes * touch.rows : touch.bytes;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uintptr_t from = touch.address + row * touch.pitch - block.start, to = from + bytes;
    const std::size_t first = (from + block.page - 1) / block.page;
    const std::size_t end = block.start + to >= block.asked_end ? block.pages.size() : to / block.page;
    if (first < end) act(first, end);
  }
}

// Counts pages in or out, and changes those together that are side by side. `change` says of each whether it
// is one to be changed.
template <class Change>
bool ClosedPages::change(Block& block, const Touch& touch, Change&& change,
                         bool (*pages)(std::uintptr_t, std::size_t)) {
  bool all = true;
  each_run(block, touch, [&](std::size_t first, std::size_t end) {
    std::size_t begin = first;
    for (std::size_t at = first; at <= end; ++at) {
      if (at < end && change(block.pages[at])) continue;
      if (at > begin) all = pages(block.address(begin), (at - begin) * block.page) && all;
      begin = at + 1;
    }
  });
  return all;
}

// What the kernel does not close stays open.
void ClosedPages::shut(Closing& closing) {
  closing.state = Closing::State::Closed;
  change(
      *closing.block, closing.destination.touch,
      [&](Block::Page& page) {
        page.last = &closing;
        return page.closers++ == 0;
      },
      platform::close_pages);
  shut_.fetch_add(1, std::memory_order_relaxed);
}

bool ClosedPages::open(Closing& closing) {
  Block& block = *closing.block;
  closing.state = Closing::State::Open;
  const bool opened = change(
      block, closing.destination.touch,
      [&](Block::Page& page) {
        if (page.last == &closing) page.last = nullptr;
        return --page.closers == 0;
      },
      platform::open_pages);
  // In the middle of others that takes another mapping, of which there may be none left.
  return opened || platform::open_pages(block.start, block.pages.size() * block.page);
}

void ClosedPages::stop_lending(Closing& closing) {
  Closing** at = &lent_;
  while (*at != &closing) at = &(*at)->next_lent;
  *at = closing.next_lent;
  lends_.store(lent_ != nullptr, std::memory_order_relaxed);
}

ClosedPages::Block* ClosedPages::block_at(std::uintptr_t start) const {
  Block* block = first_.load();
  while (block != nullptr && block->start != start) block = block->next.load();
  return block;
}

ClosedPages::Block* ClosedPages::block_around(std::uintptr_t address) const {
  Block* block = first_.load();
  while (block != nullptr && address - block->start >= block->pages.size() * block->page)
    block = block->next.load();
  return block;
}

ClosedPages::Closing* ClosedPages::close(const Destination& destination, const HostFacts& facts) {
  Block* block = block_at(facts.start);
  std::unique_ptr<Block> fresh;
  if (block == nullptr) {
    fresh = std::make_unique<Block>(facts, platform::page_bytes());
    block = fresh.get();
  }
  if (block->asked_end != facts.start + facts.asked) return nullptr;  // another one was there before
  std::size_t runs = 0;
  each_run(*block, destination.touch, [&](std::size_t, std::size_t) { ++runs; });
  if (runs == 0 || runs_ + runs > kMostRuns) return nullptr;
  auto* closing = new Closing{.destination = destination, .block = block, .runs = runs};
  const Held held{lock_};
  runs_ += runs;
  if (fresh != nullptr) {
    block->next.store(first_.load());
    first_.store(fresh.release());
  }
  closing->before = block->newest;
  (block->newest != nullptr ? block->newest->next : block->oldest) = closing;
  block->newest = closing;
  shut(*closing);
  return closing;
}

void ClosedPages::end(Closing* closing) {
  const std::unique_ptr<Closing> ended{closing};
  std::unique_ptr<Block> unused;  // gone when the lock is given back
  const Held held{lock_};
  Block& block = *closing->block;
  if (closing->state == Closing::State::Closed) open(*closing);
  if (closing->state == Closing::State::Lent) stop_lending(*closing);
  runs_ -= closing->runs;
  (closing->before != nullptr ? closing->before->next : block.oldest) = closing->next;
  (closing->next != nullptr ? closing->next->before : block.newest) = closing->before;
  if (block.oldest != nullptr) return;
  std::atomic<Block*>* at = &first_;
  while (at->load() != &block) at = &at->load()->next;
  at->store(block.next.load());
  unused.reset(&block);
}

void ClosedPages::open_block(std::uintptr_t start) {
  const Held held{lock_};
  Block* block = block_at(start);
  if (block == nullptr) return;
  for (Closing* each = block->oldest; each != nullptr; each = each->next) {
    if (each->state == Closing::State::Closed) open(*each);
    if (each->state == Closing::State::Lent) stop_lending(*each);
    each->state = Closing::State::Open;
  }
}

// A block is there only as long as it has destinations.
void ClosedPages::end_all() {
  while (const Block* block = first_.load()) end(block->oldest);
}

// Calls act(destination) for each that closes the page. Where nobody does, it was opened since the fault;
// unless the fault comes again, which is no affair of ours then.
template <class Act>
ClosedPages::Answer ClosedPages::open_around(std::uintptr_t address, Act&& act) {
  const Held held{lock_};
  Block* block = block_around(address);
  if (block == nullptr) return Answer::NotOurs;
  const std::size_t number = (address - block->start) / block->page;
  Block::Page& page = block->pages[number];
  if (page.closers == 0) {
    const FaultBefore now{address, shut_.load(std::memory_order_relaxed)};
    const bool again = t_before.address == now.address && t_before.shut == now.shut;
    t_before = now;
    return again ? Answer::NotOurs : Answer::IsOpen;
  }
  t_before = {};
  if (page.closers == 1 && page.last != nullptr) return act(*page.last) ? Answer::Opened : Answer::NotOurs;
  bool opened = true;
  for (Closing* each = block->oldest; each != nullptr && page.closers > 0; each = each->next) {
    if (each->state != Closing::State::Closed) continue;
    bool covers = false;
    each_run(*block, each->destination.touch, [&](std::size_t first, std::size_t end) {
      covers = covers || (number >= first && number < end);
    });
    if (covers) opened = act(*each) && opened;
  }
  return opened ? Answer::Opened : Answer::NotOurs;
}

ClosedPages::Answer ClosedPages::lend(std::uintptr_t address) {
  return open_around(address, [&](Closing& closing) {
    const bool opened = open(closing);
    closing.state = Closing::State::Lent;
    closing.borrower = platform::this_thread();
    closing.next_lent = lent_;
    lent_ = &closing;
    lends_.store(true, std::memory_order_relaxed);
    return opened;
  });
}

ClosedPages::Answer ClosedPages::give(std::uintptr_t address, Destination& first) {
  bool any = false;
  return open_around(address, [&](Closing& closing) {
    if (!std::exchange(any, true)) first = closing.destination;
    return open(closing);
  });
}

void ClosedPages::take_back() {
  if (!lends_.load(std::memory_order_relaxed)) [[likely]]
    return;
  const std::uint64_t thread = platform::this_thread();
  const Held held{lock_};
  for (Closing* each = lent_; each != nullptr;) {
    Closing* const next = each->next_lent;
    if (each->borrower == thread) {
      stop_lending(*each);
      shut(*each);
    }
    each = next;
  }
}

void ClosedPages::forget_parent() {
  for (Block* block = first_.exchange(nullptr); block != nullptr; block = block->next.load())
    platform::open_pages(block->start, block->pages.size() * block->page);
  lock_.renew();
  lent_ = nullptr;
  lends_.store(false);
  runs_ = 0;
}

}  // namespace belay::check
