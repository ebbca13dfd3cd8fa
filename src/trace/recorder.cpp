#include "trace/recorder.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "observe/observe.h"
#include "observe/stack_words.h"
#include "platform/modules.h"
#include "platform/process.h"
#include "platform/thread_end.h"
#include "platform/threads.h"
#include "recording/writer.h"
#include "trace/run_record.h"
#include "trace/summary.h"

namespace belay::trace {
namespace {

using observe::What;
using recording::Lane;
using recording::ProcessLog;

constexpr std::chrono::milliseconds kTick{1};
constexpr std::uint64_t kFiguresEvery = 100'000'000;  // nanoseconds

// --- who looks every millisecond ------------------------------------------------------------------

struct Ticker {
  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false, ended = false;
};

// --- what is recorded, on one machine -------------------------------------------------------------

// A thread writes into a lane of its own, and whoever else reads its ring into the other, with the lock of
// that ring. The other is first in the file's order, so where two records have the same time, those from the
// ring come first.
struct ThreadLanes {
  Lane* by_others = nullptr;
  Lane* own = nullptr;
  // Records in `by_others` are no later than this. What the thread writes after it has looked whether its
  // ring is empty is no earlier.
  std::atomic<std::uint64_t> read_ns{0};
};

struct Recorder {
  TraceWish wish;
  recording::File file;
  std::unique_ptr<ProcessLog> log;
  std::vector<std::uint64_t> device_bytes;
  Memory* memory = nullptr;
  std::shared_ptr<Ticker> ticker;
  std::atomic<std::uint64_t> looked_ns{0};  // what was told before was written down before
  std::uint64_t figures_ns = 0;
  std::vector<recording::Figures> figures;
  Lane* figures_lane = nullptr;
  std::mutex mutex;
  std::unordered_map<std::uint32_t, ThreadLanes> threads;
};

std::atomic<Recorder*> g_recorder{nullptr};
// Never destroyed: rings are in their files, and the last words come after static destructors.
std::vector<std::unique_ptr<Recorder>>* g_recorders = new std::vector<std::unique_ptr<Recorder>>;

constinit thread_local Recorder* t_recorder = nullptr;
constinit thread_local ThreadLanes* t_lanes = nullptr;
constinit thread_local bool t_leaves_at_end = false;

void leave_lanes() {
  Recorder* recorder = std::exchange(t_recorder, nullptr);
  ThreadLanes* lanes = std::exchange(t_lanes, nullptr);
  if (recorder == nullptr) return;
  std::unique_lock<std::mutex> reading;  // somebody may be reading the ring of this thread into its lane
  if (observe::t_ring != nullptr) reading = std::unique_lock{observe::t_ring->reading()};
  const std::lock_guard lock{recorder->mutex};
  recorder->log->give_lanes(*lanes->by_others, *lanes->own);
  std::erase_if(recorder->threads, [lanes](const auto& each) { return &each.second == lanes; });
}

void leave_lanes_at_end() {
  t_leaves_at_end = false;
  leave_lanes();
}

ThreadLanes& lanes_of(Recorder& recorder, std::uint32_t thread) {
  const std::lock_guard lock{recorder.mutex};
  ThreadLanes& lanes = recorder.threads[thread];
  if (lanes.own == nullptr) std::tie(lanes.by_others, lanes.own) = recorder.log->take_lanes();
  return lanes;
}

ThreadLanes& own_lanes(Recorder& recorder) {
  if (t_recorder == &recorder) [[likely]]
    return *t_lanes;
  leave_lanes();
  ThreadLanes& lanes = lanes_of(recorder, static_cast<std::uint32_t>(platform::thread_id()));
  t_leaves_at_end = t_leaves_at_end || platform::at_thread_end(leave_lanes_at_end);
  if (t_leaves_at_end) {
    t_recorder = &recorder;
    t_lanes = &lanes;
  }
  return lanes;
}

// A lane that is written, until the end of the scope.
class Writing {
 public:
  Writing(Lane& lane, std::uint32_t thread) : lane_{lane} { lane.begin(thread); }
  ~Writing() { lane_.end(); }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  Lane& lane_;
};

// --- listening ------------------------------------------------------------------------------------

// From a ring, with its lock. Blocks of the fast path have no time: they came between the last look and now.
void record_blocks_of(Recorder& recorder, std::uint32_t thread, const observe::Batch& events) {
  const bool is_own = observe::t_ring != nullptr
                          ? thread == observe::t_ring->thread
                          : thread == static_cast<std::uint32_t>(platform::thread_id());
  ThreadLanes& lanes = is_own ? own_lanes(recorder) : lanes_of(recorder, thread);
  Lane& lane = is_own ? *lanes.own : *lanes.by_others;
  const std::uint64_t now = recording::now_ns();
  std::uint64_t time = std::max({lanes.by_others->last_ns(), lanes.own->last_ns() + (is_own ? 0 : 1),
                                 recorder.looked_ns.load(std::memory_order_relaxed)});
  const std::uint64_t step = now > time ? (now - time) / (events.cells() + 1) : 0;
  const Writing writing{lane, thread};
  const auto time_of = [&](const observe::Event& event) {
    return time = event.time_ns == 0 ? time + step : std::max(time, event.time_ns);
  };
  events.each(
      [&](const observe::Event& event) {
        if (event.what <= What::Freed) lane.write_block(event, time_of(event));
      },
      [&](const observe::Told& told) {
        if (told.event.what <= What::Freed) lane.write(told.event, told.details, {}, {}, time_of(told.event));
      });
  if (!is_own) lanes.read_ns.store(lane.last_ns(), std::memory_order_relaxed);  // before the ring is empty
}

void record_blocks(const observe::Batch& events) {
  Recorder* recorder = g_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr) return;
  try {
    if (const std::optional<std::uint32_t> thread = events.thread())
      record_blocks_of(*recorder, *thread, events);
  } catch (const std::bad_alloc&) {
    recorder->log->count_lost();
  }
}

// At once. The blocks that the thread has told before come before it.
void record_others(const observe::Batch& events) {
  Recorder* recorder = g_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr) return;
  observe::flush_this_thread();
  try {
    events.each([&](const observe::Told& told) {
      ThreadLanes& lanes = own_lanes(*recorder);
      const Writing writing{*lanes.own, told.event.thread};
      lanes.own->write(told.event, told.details, told.touches, told.text,
                       std::max(told.event.time_ns, lanes.read_ns.load(std::memory_order_relaxed)));
    });
  } catch (const std::bad_alloc&) {
    recorder->log->count_lost();
  }
}

// --- call sites -----------------------------------------------------------------------------------

void tell_site(std::uint32_t site, ProcessLog& log) {
  std::vector<recording::SiteFrame> frames;
  if (site == observe::kManySites) frames.push_back({.function = "(more different places than are kept)"});
  observe::each_frame(
      site,
      [](void* to, std::uintptr_t address) {
        const platform::Module* module = platform::module_around(address);
        recording::SiteFrame& frame = static_cast<std::vector<recording::SiteFrame>*>(to)->emplace_back();
        frame.offset = address - (module == nullptr ? 0 : module->bias);
        if (module == nullptr) return;
        frame.module_path = module->path;
        frame.build_id = module->build_id;
      },
      [](void* to, const observe::InterpreterFrame& words) {
        recording::SiteFrame& frame = static_cast<std::vector<recording::SiteFrame>*>(to)->emplace_back();
        frame.function = *words.function == '\0' ? "?" : words.function;
        if (words.file != nullptr) frame.file = words.file;
        frame.line = words.line;
      },
      &frames);
  log.define_site(site, observe::stack_of(site).function, frames);
}

// --- figures --------------------------------------------------------------------------------------

std::vector<recording::Figures> figures_now(Memory& memory) {
  std::vector<recording::Figures> all;
  for (std::uint32_t i = 0; i < memory.settings().devices(); ++i) {
    DeviceMemory& device = memory.device(i);
    recording::Figures each{.place = i,
                            .mine = device.quota().surely_used() * 4_KiB,
                            .peak = device.peak(),
                            .free = device.pool().free,
                            .total = device.pool().total};
    const machine::Use use = device.quota().used();
    for (std::size_t page = 0; page < each.used.size(); ++page)
      each.used[page] = bytes_in_use(use, static_cast<Page>(page));
    if (each.peak != 0 || each.free != each.total) all.push_back(each);
  }
  if (const std::size_t peak = memory.host().peak(); peak != 0) {
    const std::size_t now = memory.host().bytes();
    all.push_back({.place = recording::kHostPlace, .mine = now, .peak = peak, .used = {now, 0, 0}});
  }
  return all;
}

bool same(const recording::Figures& a, const recording::Figures& b) {
  return a.place == b.place && a.mine == b.mine && a.peak == b.peak && a.used == b.used && a.free == b.free;
}

// By the ticker, or when it is gone.
void write_figures(Recorder& recorder, std::uint64_t now) {
  std::vector<recording::Figures> figures = figures_now(*recorder.memory);
  if (std::ranges::equal(figures, recorder.figures, same)) return;
  if (recorder.figures_lane == nullptr) recorder.figures_lane = recorder.log->take_lanes().first;
  {
    const Writing writing{*recorder.figures_lane, 0};
    recorder.figures_lane->write_figures(figures, now);
  }
  recorder.figures = std::move(figures);
}

void look(Recorder& recorder) {
  try {
    const std::uint64_t now = recording::now_ns();
    observe::flush();
    recorder.looked_ns.store(now, std::memory_order_relaxed);
    recorder.log->keep_within_limit(now);
    const std::uint64_t every = kFiguresEvery << std::min<std::uint64_t>(recorder.file.level(), 16);
    if (now - recorder.figures_ns < every) return;
    recorder.figures_ns = now;
    write_figures(recorder, now);
  } catch (const std::bad_alloc&) {  // another time
    return;
  }
}

void tick(Recorder& recorder, Ticker& ticker) {
  std::unique_lock lock{ticker.mutex};
  while (!ticker.changed.wait_for(lock, kTick, [&] { return ticker.stopped; })) {
    lock.unlock();
    look(recorder);
    lock.lock();
  }
  ticker.ended = true;
  ticker.changed.notify_all();
}

void start_ticker(Recorder& recorder) {
  recorder.ticker = std::make_shared<Ticker>();
  const bool started = platform::start_thread(
      "belay-trace", [&recorder, ticker = recorder.ticker] { tick(recorder, *ticker); });
  if (!started) recorder.ticker.reset();  // then rings are read when they are full, and at the end
}

void stop_ticker(Recorder& recorder) {
  const std::shared_ptr<Ticker> ticker = std::exchange(recorder.ticker, nullptr);
  if (ticker == nullptr) return;
  std::unique_lock lock{ticker->mutex};
  ticker->stopped = true;
  ticker->changed.notify_all();
  ticker->changed.wait(lock, [&] { return ticker->ended; });
}

// --- rings ----------------------------------------------------------------------------------------

// With `belay run`, which reads them when the program is gone; else in the file, whose readers do.
void* ring_place_in_run_or_file() {
  if (void* place = ring_place()) return place;
  Recorder* recorder = g_recorder.load(std::memory_order_acquire);
  return recorder == nullptr ? nullptr : recorder->log->take_ring(sizeof(observe::Ring));
}
void leave_ring_place_anywhere(void* ring) {
  for (const auto& each : *g_recorders) {
    if (each->log->give_ring(ring)) return;
  }
  leave_ring_place(ring);
}

// --- beginning ------------------------------------------------------------------------------------

recording::ProcessStart start_of(const Memory& memory, const Recorder& recorder) {
  const MemorySettings& settings = memory.settings();
  recording::ProcessStart start;
  start.process = platform::process_id();
  start.parent = platform::parent_process_id();
  start.start = platform::start_time(start.process).value_or(0);
  start.began_ns = recording::now_ns();
  start.soc = recorder.wish.soc;
  start.family = settings.product->family;
  start.product = settings.product->key;
  start.form = name_of(settings.form);
  start.stacks = recorder.wish.stacks;
  start.device_bytes = recorder.device_bytes;
  for (const std::uint32_t each : settings.visible) start.visible.push_back(static_cast<std::uint8_t>(each));
  return start;
}

std::vector<std::uint64_t> device_bytes_of(Memory& memory) {
  std::vector<std::uint64_t> bytes;
  for (std::uint32_t i = 0; i < memory.settings().devices(); ++i)
    bytes.push_back(memory.device(i).pool().total);
  return bytes;
}

// What a trace begins with, where it begins in the middle of a program.
void write_alive(Recorder& recorder, Memory& memory) {
  std::vector<observe::Event> alive;
  for (std::uint32_t device = 0; device < memory.settings().devices(); ++device) {
    memory.map().for_each_block(device, [&](const Block& block) {
      const std::uint64_t serial = memory.map().name(block.start);
      if (serial == 0) return;
      alive.push_back({.what = What::Allocated,
                       .object = Object::DeviceBlock,
                       .page_shift = static_cast<std::uint8_t>(std::countr_zero(page_bytes(block.page))),
                       .module = block.module,
                       .device = static_cast<std::uint8_t>(device),
                       .flags = flags_of(block.read_only, block.p2p),
                       .units = static_cast<std::uint32_t>(block.footprint / 4_KiB),
                       .serial = serial,
                       .address = block.start,
                       .bytes = block.asked});
    });
  }
  memory.host().for_each_block([&](const observe::Event& born) { alive.push_back(born); });
  ThreadLanes& lanes = own_lanes(recorder);
  const Writing writing{*lanes.own, static_cast<std::uint32_t>(platform::thread_id())};
  for (const observe::Event& each : alive) lanes.own->write(each, nullptr, {}, {}, 0);
}

bool same(const TraceWish& a, const TraceWish& b) {
  return a.path == b.path && a.limit == b.limit && a.soc == b.soc && a.stacks == b.stacks;
}

}  // namespace

std::string keep_trace(Memory& memory, const TraceWish& wish) {
  const std::vector<std::uint64_t> device_bytes = device_bytes_of(memory);
  const auto found = std::ranges::find_if(*g_recorders, [&](const auto& each) {
    return !wish.anew && same(each->wish, wish) && each->device_bytes == device_bytes &&
           each->file.is_there();
  });
  Recorder* recorder = found == g_recorders->end() ? nullptr : found->get();
  if (recorder == nullptr) {
    auto made = std::make_unique<Recorder>();
    made->wish = wish;
    made->device_bytes = device_bytes;
    if (std::string why = made->file.open(wish.path, wish.limit, wish.anew); !why.empty()) return why;
    recording::ProcessStart start = start_of(memory, *made);
    const std::string name = platform::process_name();
    start.name = name;
    made->log = std::make_unique<ProcessLog>(made->file, start, tell_site);
    if (!made->log->good()) return "'" + wish.path + "' has no room for another process";
    recorder = g_recorders->emplace_back(std::move(made)).get();
  }
  if (wish.anew) write_alive(*recorder, memory);
  recorder->memory = &memory;
  recorder->looked_ns.store(recording::now_ns());
  note_traced(recorder->log->number());
  g_recorder.store(recorder, std::memory_order_release);
  observe::keep_rings({ring_place_in_run_or_file, leave_ring_place_anywhere});
  observe::listen(record_blocks, {.wanted = observe::kBlocks});
  observe::listen(
      record_others,
      {.wanted = observe::kTasks | bits(What::Copied, What::Filled, What::Waited, What::Created,
                                        What::Destroyed, What::DeviceOpened, What::DeviceClosing,
                                        What::DeviceClosed, What::Finalized, What::Refused, What::Noted,
                                        What::RangeBegun, What::RangeEnded, What::Labelled, What::Marked),
       .at_once = true,
       .time_when_delivered = true});
  memory.listeners_changed();
  start_ticker(*recorder);
  return {};
}

void rest_trace() {
  Recorder* recorder = g_recorder.load();
  if (recorder == nullptr) return;
  stop_ticker(*recorder);
  look(*recorder);
  observe::quietly([&] { write_figures(*recorder, recording::now_ns()); });
}

void drop_trace() {
  Recorder* recorder = g_recorder.load();
  if (recorder == nullptr) return;
  observe::unlisten(record_blocks);
  observe::unlisten(record_others);
  g_recorder.store(nullptr, std::memory_order_release);
  recorder->memory->listeners_changed();
  recorder->memory = nullptr;
}

bool is_tracing() { return g_recorder.load() != nullptr; }

void end_trace() {
  rest_trace();
  for (const auto& each : *g_recorders) each->log->end(recording::now_ns());
}

void forget_trace() {
  static auto* of_parents = new std::vector<void*>;  // kept reachable, never used again
  of_parents->push_back(std::exchange(g_recorders, new std::vector<std::unique_ptr<Recorder>>));
  g_recorder.store(nullptr);
  t_recorder = nullptr;
  t_lanes = nullptr;
}

}  // namespace belay::trace
