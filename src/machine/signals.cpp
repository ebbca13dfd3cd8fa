#include "machine/signals.h"

#include "machine/process_table.h"

namespace belay::machine {
namespace {

std::atomic<std::uint64_t>& word_of(SignalRow& signal, std::size_t row) { return signal.holders[row / 64]; }
constexpr std::uint64_t bit_of(std::size_t row) { return std::uint64_t{1} << row % 64; }

template <class Visit>
void for_each_holder(const SignalRow& signal, Visit&& visit) {
  for (std::size_t word = 0; word < signal.holders.size(); ++word) {
    for (std::uint64_t left = signal.holders[word].load(std::memory_order_seq_cst); left != 0;
         left &= left - 1)
      visit(word * 64 + static_cast<std::size_t>(__builtin_ctzll(left)));
  }
}

bool is_held(const SignalRow& signal, const ProcessTable& processes) {
  bool held = false;
  for_each_holder(signal, [&](std::size_t row) { held = held || processes.lives(row); });
  return held;
}

// From that life on it is nobody's, or held by those who came in time.
void finish(SignalRow& signal, std::uint64_t life, std::size_t me, const ProcessTable& processes) {
  std::uint64_t ending = ExtentLife::next(life, ExtentLife::Ending, me);
  if (!signal.life.compare_exchange_strong(life, ending)) return;
  const bool held = is_held(signal, processes);
  signal.life.compare_exchange_strong(
      ending, ExtentLife::next(ending, held ? ExtentLife::Live : ExtentLife::Free, me));
}

// Free again where nobody holds it. Until nothing is left to do: others come and go meanwhile. What a dead
// process was at is taken over.
void settle(SignalRow& signal, std::size_t me, const ProcessTable& processes) {
  for (;;) {
    std::uint64_t life = signal.life.load(std::memory_order_seq_cst);
    const ExtentLife::State is = ExtentLife::state(life);
    if (is == ExtentLife::Free) return;
    if (is != ExtentLife::Live && processes.lives(ExtentLife::row(life))) return;
    if (is == ExtentLife::Live && is_held(signal, processes)) return;
    finish(signal, life, me, processes);
  }
}

bool is_live(const SignalRow& signal, std::uint64_t serial) {
  return ExtentLife::state(signal.life.load(std::memory_order_seq_cst)) == ExtentLife::Live &&
         signal.serial.load(std::memory_order_seq_cst) == serial;
}

}  // namespace

std::size_t Signals::mine() const { return processes_.mine(); }
Bell& Signals::bell() const { return state_.bells[mine()]; }

std::optional<SignalName> Signals::make(std::uint64_t about, bool set) {
  const std::lock_guard lock{mutex_};
  for (const bool tidy : {false, true}) {
    for (std::size_t tried = 0; tried < kSignals; ++tried) {
      const std::size_t index = (next_ + tried) % kSignals;
      SignalRow& signal = state_.signals[index];
      if (tidy) settle(signal, mine(), processes_);
      std::uint64_t life = signal.life.load(std::memory_order_seq_cst);
      if (ExtentLife::state(life) != ExtentLife::Free) continue;
      // First of all: whoever looks for what the dead were at looks no further.
      std::uint32_t used = state_.used_signals.load();
      while (used <= index &&
             !state_.used_signals.compare_exchange_weak(used, static_cast<std::uint32_t>(index) + 1)) {
      }
      const std::uint64_t making = ExtentLife::next(life, ExtentLife::Making, mine());
      if (!signal.life.compare_exchange_strong(life, making)) continue;
      const std::uint64_t serial = state_.serials.fetch_add(1) + 1;
      signal.serial.store(serial, std::memory_order_seq_cst);
      signal.state.number.store(0);
      signal.state.word.store(set ? 1 : 0);
      signal.about.store(about);
      signal.lost.store(0);
      for (auto& word : signal.holders) word.store(0);
      word_of(signal, mine()).fetch_or(bit_of(mine()));
      signal.maker.store(mine());
      signal.life.store(ExtentLife::next(making, ExtentLife::Live, mine()), std::memory_order_seq_cst);
      next_ = (index + 1) % kSignals;
      holds_[serial] = {index, 1};
      return SignalName{index, serial};
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Signals::open(const SignalName& name) {
  if (name.index >= kSignals) return std::nullopt;
  const std::lock_guard lock{mutex_};
  SignalRow& signal = state_.signals[name.index];
  if (!is_live(signal, name.serial)) return std::nullopt;
  Hold& hold = holds_.try_emplace(name.serial, Hold{name.index, 0}).first->second;
  word_of(signal, mine()).fetch_or(bit_of(mine()));
  // Our hold is there. So whoever ends it from now on sees that, and if its maker holds it still, it is not
  // being ended.
  const std::size_t maker = signal.maker.load();
  const bool stands = is_live(signal, name.serial) && maker < kSlots &&
                      (word_of(signal, maker).load(std::memory_order_seq_cst) & bit_of(maker)) != 0 &&
                      processes_.lives(maker);
  if (stands) {
    ++hold.times;
    return signal.about.load();
  }
  if (hold.times == 0) let_go(name.serial);
  return std::nullopt;
}

// With the lock.
void Signals::let_go(std::uint64_t serial) {
  const auto hold = holds_.find(serial);
  SignalRow& signal = state_.signals[hold->second.index];
  holds_.erase(hold);
  word_of(signal, mine()).fetch_and(~bit_of(mine()));
  settle(signal, mine(), processes_);
}

void Signals::release(const SignalName& name) {
  const std::lock_guard lock{mutex_};
  const auto hold = holds_.find(name.serial);
  if (hold != holds_.end() && --hold->second.times == 0) let_go(name.serial);
}

void Signals::release_all() {
  const std::lock_guard lock{mutex_};
  while (!holds_.empty()) let_go(holds_.begin()->first);
  bell().waits.store(0, std::memory_order_seq_cst);
}

void Signals::forget_row(State& state, std::size_t row, const ProcessTable& processes, bool take_away) {
  const auto process = static_cast<std::uint64_t>(static_cast<std::uint32_t>(state.rows[row].process));
  const std::size_t used = signals_of(state);
  for (std::size_t i = 0; i < used; ++i) {
    SignalRow& signal = state.signals[i];
    // What it made or ended when it was killed may bear no mark of it yet, or none any more.
    const std::uint64_t life = signal.life.load(std::memory_order_seq_cst);
    const ExtentLife::State is = ExtentLife::state(life);
    const bool was_at_it =
        (is == ExtentLife::Making || is == ExtentLife::Ending) && ExtentLife::row(life) == row;
    const bool held = (word_of(signal, row).load(std::memory_order_seq_cst) & bit_of(row)) != 0;
    if (!held && !was_at_it) continue;
    if (take_away && held) {
      signal.lost.store(process);
      word_of(signal, row).fetch_and(~bit_of(row));
    }
    if (take_away && was_at_it)
      finish(signal, life, row, processes);  // the row is ours now, and we are not at it
    settle(signal, processes.mine(), processes);
  }
  if (!take_away) return;
  for (std::size_t i = 0; i < std::min<std::size_t>(state.bells[row].waits.load(), kWaits); ++i) {
    NumberedWord& wait = state.waits[row][i];
    for (NumberedWord::Value value = wait.load(); value.word != 0 && !wait.exchange(value, {0, 0});)
      value = wait.load();
  }
  state.bells[row].waits.store(0);
  state.bells[row].driven.store(0);
}

// --- events ---------------------------------------------------------------------------------------

Signals::Latest Signals::latest(const SignalName& name) const {
  const NumberedWord::Value value = state_.signals[name.index].state.load();
  return {value.word, value.number >> 1, (value.number & 1) != 0 || value.number == 0};
}

std::uint64_t Signals::record(const SignalName& name, bool done) {
  NumberedWord& state = state_.signals[name.index].state;
  for (;;) {
    const NumberedWord::Value before = state.load();
    const std::uint64_t number = (before.number >> 1) + 1;
    if (state.exchange(before, {me(), number << 1 | (done ? 1U : 0U)})) return number;
  }
}

template <class Visit>
void Signals::for_each_wait(std::uint64_t serial, Visit&& visit) const {
  const std::size_t rows = rows_of(state_);
  for (std::size_t row = 0; row < rows; ++row) {
    if (row == mine()) continue;
    const std::size_t waits =
        std::min<std::size_t>(state_.bells[row].waits.load(std::memory_order_seq_cst), kWaits);
    for (std::size_t i = 0; i < waits; ++i) {
      NumberedWord& wait = state_.waits[row][i];
      if (wait.word.load(std::memory_order_seq_cst) == serial) visit(row, wait);
    }
  }
}

void Signals::complete(const SignalName& name, std::uint64_t number) {
  // Unless another record is the latest by now.
  state_.signals[name.index].state.exchange({me(), number << 1}, {me(), number << 1 | 1});
  for_each_wait(name.serial, [&](std::size_t row, NumberedWord& wait) {
    if (Wait::record(wait.number.load(std::memory_order_seq_cst)) != number) return;
    for (;;) {
      const NumberedWord::Value value = wait.load();
      const bool waits = value.word == name.serial && Wait::record(value.number) == number &&
                         Wait::state(value.number) != Wait::Done;
      if (!waits) return;
      if (wait.exchange(value, {name.serial, Wait::make(number, Wait::Done)})) return ring(row);
    }
  });
}

// --- notifies -------------------------------------------------------------------------------------

void Signals::set(const SignalName& name) {
  state_.signals[name.index].state.word.store(1, std::memory_order_seq_cst);
  for_each_wait(name.serial, [&](std::size_t row, NumberedWord&) { ring(row); });
}

bool Signals::take(const SignalName& name) {
  std::uint64_t set = 1;
  return state_.signals[name.index].state.word.compare_exchange_strong(set, 0);
}

Signals::Others Signals::others(const SignalName& name) const {
  const SignalRow& signal = state_.signals[name.index];
  Others others{{}, static_cast<std::int32_t>(signal.lost.load(std::memory_order_seq_cst))};
  for_each_holder(signal, [&](std::size_t row) {
    if (row == mine()) return;
    const std::uint64_t other = recorder_of(row);
    processes_.lives(row) ? others.living.push_back(other) : void(others.lost = Recorder::process(other));
  });
  return others;
}

// --- waiting --------------------------------------------------------------------------------------

std::optional<std::size_t> Signals::await(const SignalName& name, std::uint64_t record, Wait::State state) {
  const std::lock_guard lock{mutex_};
  std::size_t at = 0;
  if (!free_waits_.empty()) {
    at = free_waits_.back();
    free_waits_.pop_back();
  } else if (used_waits_ == kWaits) {
    return std::nullopt;
  } else {
    free_waits_.reserve(used_waits_ + 1);  // so that giving up cannot fail
    at = used_waits_++;
    bell().waits.store(static_cast<std::uint32_t>(used_waits_), std::memory_order_seq_cst);
  }
  state_.waits[mine()][at].exchange({0, 0}, {name.serial, Wait::make(record, state)});
  return at;
}

bool Signals::is_done(std::size_t wait) const {
  return Wait::state(state_.waits[mine()][wait].number.load(std::memory_order_seq_cst)) == Wait::Done;
}

void Signals::give_up(std::size_t wait) {
  const std::lock_guard lock{mutex_};
  NumberedWord& word = state_.waits[mine()][wait];
  while (!word.exchange({word.word.load(), word.number.load()}, {0, 0})) {
  }
  free_waits_.push_back(wait);
  if (free_waits_.size() == used_waits_) {  // others need not look at any
    free_waits_.clear();
    used_waits_ = 0;
    bell().waits.store(0, std::memory_order_seq_cst);
  }
}

// Only this process changes its places, but for one thing: others mark them as done.
bool Signals::change(std::size_t wait, Wait::State from, Wait::State to) {
  NumberedWord& word = state_.waits[mine()][wait];
  const NumberedWord::Value value{word.word.load(), word.number.load()};
  return Wait::state(value.number) == from &&
         word.exchange(value, {value.word, Wait::make(Wait::record(value.number), to)});
}

void Signals::demand(std::size_t wait, std::uint64_t recorder) {
  const std::size_t row = Recorder::row(recorder);
  if (change(wait, Wait::Queued, Wait::Demanded) &&
      state_.bells[row].driven.load(std::memory_order_seq_cst) != 0)
    ring(row);
}

void Signals::demand(std::size_t wait, const SignalName& name) {
  change(wait, Wait::Queued, Wait::Demanded);
  for_each_holder(state_.signals[name.index], [&](std::size_t row) {
    if (row != mine() && state_.bells[row].driven.load(std::memory_order_seq_cst) != 0) ring(row);
  });
}

void Signals::demand_no_more(std::size_t wait) { change(wait, Wait::Demanded, Wait::Queued); }

void Signals::for_each_demand(
    const std::function<void(std::uint64_t serial, std::uint64_t record)>& visit) const {
  const std::size_t rows = rows_of(state_);
  for (std::size_t row = 0; row < rows; ++row) {
    if (row == mine()) continue;
    const std::size_t waits =
        std::min<std::size_t>(state_.bells[row].waits.load(std::memory_order_seq_cst), kWaits);
    for (std::size_t i = 0; i < waits; ++i) {
      const NumberedWord::Value value = state_.waits[row][i].load();
      if (value.word != 0 && Wait::state(value.number) == Wait::Demanded)
        visit(value.word, Wait::record(value.number));
    }
  }
}

// --- the bell -------------------------------------------------------------------------------------

void Signals::listen(bool driven) { bell().driven.store(driven ? 1 : 0, std::memory_order_seq_cst); }

void Signals::ring(std::size_t row) const {
  platform::SharedWord& rung = state_.bells[row].rung;
  rung.fetch_add(1, std::memory_order_seq_cst);
  platform::tell_of_change(rung);
}

std::size_t live_signals(const State& state) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < signals_of(state); ++i) {
    if (ExtentLife::state(state.signals[i].life.load()) != ExtentLife::Free) ++count;
  }
  return count;
}

}  // namespace belay::machine
