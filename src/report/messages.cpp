#include "report/messages.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/process.h"
#include "platform/symbolizer.h"
#include "platform/thread_end.h"
#include "report/log.h"

namespace belay::report {
namespace {

struct Message {
  std::string code, line, cause, solution, places;
  std::int32_t thread;
  bool internal() const { return code.ends_with("9999"); }
};

// capped, the oldest goes first. A message takes up to three lines, and more where call sites are
// kept: as far as there is room for them, those of the newest messages first.
constexpr std::size_t kMostMessages = 300, kMostLines = 1000;

class Pile {
 public:
  void add(Message message) {
    if (messages_.size() == kMostMessages) messages_.pop_front();
    messages_.push_back(std::move(message));
  }

  const char* take(bool name_threads) {
    if (messages_.empty()) return nullptr;
    auto head = std::ranges::find_if(messages_, [](const Message& m) { return !m.internal(); });
    if (head == messages_.end()) head = messages_.begin();
    const auto about = [&](const Message& m) {
      return name_threads ? fmt::format("[THREAD:{}] ", m.thread) : std::string{};
    };
    text_ = head->internal()
                ? fmt::format("{}: an internal error occurred. {}{}\n", head->code, about(*head), head->line)
                : fmt::format("[PID: {}] {}{}\n", platform::process_id(), about(*head), head->line);
    constexpr std::string_view kIndent = "        ";
    if (!head->cause.empty()) text_ += fmt::format("{}Possible Cause: {}.\n", kIndent, head->cause);
    if (!head->solution.empty()) text_ += fmt::format("{}Solution: {}.\n", kIndent, head->solution);
    drop_places_beyond(kMostLines - 2 * kMostMessages);
    text_ += head->places;
    text_ += fmt::format("{}TraceBack (most recent call last):\n", kIndent);
    for (auto each = messages_.begin(); each != messages_.end(); ++each) {
      if (each == head) continue;
      text_ += fmt::format("{}{}{}", kIndent, about(*each), each->line);
      if (!each->solution.empty()) text_ += fmt::format(" Solution: {}.", each->solution);
      text_ += '\n';
      text_ += each->places;
    }
    text_ = platform::symbolised(text_);
    messages_.clear();
    return text_.c_str();
  }

  void clear() { messages_.clear(); }

 private:
  void drop_places_beyond(std::size_t lines) {
    for (auto each = messages_.rbegin(); each != messages_.rend(); ++each) {
      const auto taken = static_cast<std::size_t>(std::ranges::count(each->places, '\n'));
      if (taken > lines) each->places.clear();
      lines -= std::min(taken, lines);
    }
  }

  std::deque<Message> messages_;
  std::string text_;
};

// Of this thread; none before its first message. Where it cannot be had, messages are kept with the process.
constinit thread_local Pile* t_pile = nullptr;
// A message of this thread was lost, because there was no memory for it.
constinit thread_local bool t_lost = false;

Pile* make_thread_pile() {
  if (t_pile != nullptr) return t_pile;
  auto made = std::make_unique<Pile>();
  if (!platform::at_thread_end([] { delete std::exchange(t_pile, nullptr); })) return nullptr;
  return t_pile = made.release();
}

// Never destroyed: calls may still fail in static destructors of the program.
struct Shared {
  std::mutex mutex;
  Pile pile;
};
std::atomic<Shared*> g_shared{nullptr};
Shared& shared() {
  Shared* one = g_shared.load(std::memory_order_acquire);
  if (one != nullptr) return *one;
  auto ours = std::make_unique<Shared>();
  if (g_shared.compare_exchange_strong(one, ours.get(), std::memory_order_acq_rel)) return *ours.release();
  return *one;
}

std::atomic<bool> g_whole_process{false};
constinit thread_local aclError t_last_error = ACL_SUCCESS;

constinit std::atomic<void (*)()> g_hear_fetch{nullptr};
void fetched() {
  if (void (*const hear)() = g_hear_fetch.load(std::memory_order_acquire)) hear();
}

// What the first layer answers is not remembered, nor "not supported".
bool is_remembered(aclError code) {
  const bool first_layer = (code >= 100000 && code < 107000) || (code >= 148000 && code < 149000) ||
                           (code >= 200000 && code < 207000) || (code >= 500000 && code < 507000);
  return !first_layer && code != ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

}  // namespace

aclError fail(const char* api, const Error& error, std::string places) noexcept {
  if (error.remember && is_remembered(error.code)) t_last_error = error.code;
  if (error.catalog.is_none()) return error.code;
  try {
    Message message;
    message.code = error.catalog.code();
    const std::string words = fmt::format(
        "{}({}): {} failed with {}: {}{}.", error.catalog.title(), error.catalog.code(), api, error.code,
        error.what, *error.rule != '\0' ? fmt::format(" [rule {}]", error.rule) : std::string{});
    message.line = platform::time_stamp() + " " + words;
    message.cause = error.cause;
    message.solution = error.solution;
    message.places = std::move(places);
    message.thread = platform::thread_id();
    // Without the time, which the log has by itself: with it no line would be like another.
    log(Level::Error, message.code.starts_with("EH") ? Module::Ascendcl : Module::Runtime, api, 0, words);
    if (Pile* own = g_whole_process.load() ? nullptr : make_thread_pile()) {
      own->add(std::move(message));
    } else {
      const std::lock_guard lock{shared().mutex};
      shared().pile.add(std::move(message));
    }
  } catch (...) {
    t_lost = true;  // the code still says what happened
  }
  return error.code;
}

aclError fail_without_words(aclError code) noexcept {
  if (is_remembered(code)) t_last_error = code;
  t_lost = true;
  return code;
}

const char* take_text() noexcept {
  fetched();
  try {
    const bool whole_process = g_whole_process.load();
    if (t_pile != nullptr && !whole_process) {
      if (const char* text = t_pile->take(false)) return text;
    }
    if (Shared* all = g_shared.load(std::memory_order_acquire)) {
      const std::lock_guard lock{all->mutex};
      if (const char* text = all->pile.take(whole_process)) return text;
    }
  } catch (const std::bad_alloc&) {
    t_lost = true;
  }
  return std::exchange(t_lost, false)
             ? "EH0010: there was no memory to say what failed: the heap of this process is used up.\n"
             : nullptr;
}

aclError last_error() {
  fetched();
  return t_last_error;
}

aclError take_last_error() {
  fetched();
  const aclError code = t_last_error;
  t_last_error = ACL_SUCCESS;
  return code;
}

void on_fetch(void (*hear)()) { g_hear_fetch.store(hear, std::memory_order_release); }

void keep_for_process(bool whole_process) { g_whole_process.store(whole_process); }

void forget() {
  if (t_pile != nullptr) t_pile->clear();
  t_lost = false;
  t_last_error = ACL_SUCCESS;
  g_whole_process.store(false);
  static auto* of_parents = new std::vector<Shared*>;  // kept reachable, never used again
  if (Shared* old = g_shared.exchange(nullptr)) of_parents->push_back(old);
}

}  // namespace belay::report
