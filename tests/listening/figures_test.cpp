// From events alone: what aclrtGetMemInfo, `belay smi` and the summary say, to the byte, after random
// programs of several threads in several processes.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <mutex>
#include <random>

#include "base/words.h"
#include "machine/machine.h"
#include "memory/device_figures.h"
#include "support/listening.h"
#include "support/pieces.h"
#include "support/scratch.h"
#include "support/settings.h"
#include "support/slices.h"

namespace figures_test {

using namespace belay;
using namespace belay_test;
using observe::Object;
using observe::Operation;
using observe::What;

constexpr std::uint32_t kDevices = 2;

// All that events tell of memory. Of events that come from several threads the order between threads is not
// known, so only sums are kept; of one thread also the most at once.
struct Figures {
  std::array<machine::Use, kDevices> use{};  // pages by kind, as the machine counts them
  struct PerPage {
    std::size_t blocks = 0, freed = 0, asked = 0, charged = 0, returned = 0;

    void add(const PerPage& other) {
      blocks += other.blocks, freed += other.freed;
      asked += other.asked, charged += other.charged, returned += other.returned;
    }
    void add(const observe::Event& event, bool born) {
      ++(born ? blocks : freed);
      (born ? charged : returned) += event.footprint();
      if (born) asked += event.bytes;
    }
    // The last cells of its row.
    std::string cells() const {
      const std::string left =
          blocks == freed ? "0" : fmt::format("{} ({})", blocks - freed, amount(charged - returned));
      return fmt::format("{} {} {} {} {} {:.1f} %", blocks, freed, left, amount(asked), amount(charged),
                         100.0 - percent(asked, charged));
    }
  };
  std::array<std::array<PerPage, 3>, kDevices> pages{};
  PerPage host;
  std::array<std::size_t, kDevices> now{}, peak{};
  std::map<std::pair<std::string, int>, std::size_t> failed;
  std::size_t host_now = 0, host_peak = 0, fills = 0, filled = 0;
  std::array<std::size_t, 4> copies{}, copied{};  // host to host, to device, to host, on devices
  struct Part {
    std::size_t made = 0, bytes = 0, ended = 0, bytes_ended = 0;
  };
  std::map<Object, Part> parts;  // of virtual memory
  std::size_t reserved = 0;      // now, in whole units
  std::array<std::size_t, kDevices> mapped{};

  void count_part(const observe::Event& event) {
    const bool born = event.what == What::Created || event.what == What::Allocated;
    Part& part = parts[event.object];
    ++(born ? part.made : part.ended);
    (born ? part.bytes : part.bytes_ended) += event.bytes;
    if (event.object == Object::Physical) return;
    std::size_t& sum = event.object == Object::Mapping ? mapped[event.device] : reserved;
    const std::size_t bytes = up_to(event.bytes, 2 * kMB);
    sum += born ? bytes : 0 - bytes;
  }

  void add(const Heard& heard) {
    const observe::Event& event = heard.event;
    if (event.object == Object::Reservation || event.object == Object::Mapping ||
        event.object == Object::Physical)
      count_part(event);
    const bool of_host = event.object == Object::HostBlock, born = event.what == What::Allocated;
    switch (event.what) {
      case What::Allocated:
      case What::Freed:
        if (of_host) {
          host.add(event, born);
          host_now += born ? event.footprint() : 0 - event.footprint();
          host_peak = std::max(host_peak, host_now);
          return;
        }
        count_block(event, born);
        return;
      case What::Refused:
        ++failed[{event.function_name(), event.outcome}];
        return;
      case What::Copied:
      case What::Done:
        if (event.operation >= Operation::Copy && event.operation <= Operation::CopyByOffset)
          count_copy(heard);
        else if (event.operation == Operation::Fill)
          ++fills, filled += event.bytes;
        return;
      case What::Filled:
        ++fills, filled += event.bytes;
        return;
      default:
        return;
    }
  }
  void count_block(const observe::Event& event, bool born) {
    const std::size_t page = event.page_shift == 12 ? 0 : event.page_shift == 21 ? 1 : 2;
    std::uint64_t& used =
        use[event.device][quota_kind(static_cast<Page>(page), (event.flags & observe::Event::kP2p) != 0)];
    used += born ? event.units : 0 - std::uint64_t{event.units};
    now[event.device] += born ? event.footprint() : 0 - event.footprint();
    peak[event.device] = std::max(peak[event.device], now[event.device]);
    pages[event.device][page].add(event, born);
  }
  void count_copy(const Heard& heard) {
    ASSERT_EQ(heard.touches.size() % 2, 0U);
    std::array<std::size_t, 4> bytes{};
    for (std::size_t i = 0; i < heard.touches.size(); i += 2) {
      const observe::Touch &to = heard.touches[i], &from = heard.touches[i + 1];
      ASSERT_TRUE(to.writes && !from.writes);
      ASSERT_EQ(to.bytes * to.rows, from.bytes * from.rows);
      bytes[(from.on_device ? 2U : 0U) + (to.on_device ? 1U : 0U)] += to.bytes * to.rows;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      if (bytes[i] != 0) ++copies[i];
      copied[i] += bytes[i];
    }
  }

  // As the summary should put it, row by row, with one space between the cells; without the peaks if several
  // threads were at it.
  std::vector<std::string> rows(bool with_peaks) const {
    static constexpr const char* kNames[] = {"4 KB", "2 MB", "1 GB"};
    std::vector<std::string> all;
    const auto peak_cell = [&](std::size_t bytes) { return with_peaks ? amount(bytes) + " " : ""; };
    for (std::uint32_t device = 0; device < kDevices; ++device) {
      PerPage sum;
      std::size_t kinds = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const PerPage& page = pages[device][i];
        sum.add(page);
        if (page.blocks == 0) continue;
        ++kinds;
        all.push_back(fmt::format("{} {}", kNames[i], page.cells()));
      }
      if (kinds < 2) all.resize(all.size() - kinds);  // then there is one row for all
      if (kinds != 0) all.push_back(peak_cell(peak[device]) + sum.cells());
    }
    if (host.blocks != 0) all.push_back(peak_cell(host_peak) + host.cells());
    for (const auto& [object, part] : parts) {
      const std::string left = part.made == part.ended ? "0"
                                                       : fmt::format("{} ({})", part.made - part.ended,
                                                                     amount(part.bytes - part.bytes_ended));
      all.push_back(fmt::format("{} {} {} {} ",
                                object == Object::Reservation ? "reservations"
                                : object == Object::Mapping   ? "mappings"
                                                              : "physical memory",
                                part.made, part.ended, left));
    }
    static constexpr const char* kWays[] = {"host to host", "host to device", "device to host",
                                            "device to device"};
    for (std::size_t i = 0; i < 4; ++i) {
      if (copies[i] != 0) all.push_back(fmt::format("{} {} {}", kWays[i], copies[i], amount(copied[i])));
    }
    if (fills != 0) all.push_back(fmt::format("filled {} {}", fills, amount(filled)));
    for (const auto& [what, times] : failed)
      all.push_back(fmt::format("{} {} {}", what.first, times, what.second));
    return all;
  }
};

struct Owned {
  void* start;
  std::size_t bytes;
  aclrtDrvMemHandle handle = nullptr;  // null: a plain block
};

void free_again(const Owned& block) {
  if (block.handle == nullptr) {
    EXPECT_EQ(aclrtFree(block.start), ACL_SUCCESS);
    return;
  }
  EXPECT_EQ(aclrtUnmapMem(block.start), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(block.handle), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(block.start), ACL_SUCCESS);
}

// What a thread does; blocks of all threads are in one place, so that any thread frees those of any other.
class Worker {
 public:
  Worker(std::uint64_t number, std::mutex& mutex, std::vector<Owned>& shared)
      : random_{test_random(number)}, mutex_{mutex}, shared_{shared} {}

  void run(std::size_t steps) {
    ASSERT_EQ(aclrtSetDevice(static_cast<std::int32_t>(below(kDevices))), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHost(&pinned_, kPinned), ACL_SUCCESS);
    for (std::size_t i = 0; i < steps; ++i) step();
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    if (below(2) == 0) {
      ASSERT_EQ(aclrtFreeHost(pinned_), ACL_SUCCESS);
    }
    ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  }

 private:
  static constexpr std::size_t kPinned = 1 << 16;
  std::uint64_t below(std::uint64_t count) { return random_() % count; }

  void step() {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return allocate_some();
      case 4:
      case 5:
      case 6:
        if (const std::optional<Owned> block = take()) free_again(*block);
        return;
      case 7:
        EXPECT_EQ(aclrtFree(&random_), ACL_ERROR_RT_PARAM_INVALID);
        return;
      case 8:
        EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
        return;
      default:
        return with_memory();
    }
  }
  void allocate_some() {
    static constexpr aclrtMemMallocPolicy kPolicies[] = {
        ACL_MEM_MALLOC_HUGE_FIRST,  ACL_MEM_MALLOC_HUGE_FIRST,     ACL_MEM_MALLOC_HUGE_ONLY,
        ACL_MEM_MALLOC_NORMAL_ONLY, ACL_MEM_MALLOC_HUGE_FIRST_P2P, ACL_MEM_MALLOC_NORMAL_ONLY_P2P};
    static constexpr std::size_t kSizes[] = {1,       4000,          4096,      70'000,
                                             1 << 20, (1 << 20) + 1, 5'000'000, 300 << 20};
    Owned block{nullptr, kSizes[below(std::size(kSizes))]};
    if (below(4) == 0) return map_some(block);
    const aclError code = aclrtMalloc(&block.start, block.bytes, kPolicies[below(std::size(kPolicies))]);
    if (code != ACL_SUCCESS) {
      EXPECT_EQ(code, ACL_ERROR_RT_MEMORY_ALLOCATION);
      return;
    }
    put(block);
  }
  void map_some(Owned block) {
    std::int32_t device = 0;
    ASSERT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
    const aclrtPhysicalMemProp prop =
        pieces::prop(ACL_MEM_LOCATION_TYPE_DEVICE, static_cast<std::uint32_t>(device),
                     below(2) == 0 ? ACL_HBM_MEM_HUGE : ACL_MEM_P2P_HUGE);
    const aclError code = aclrtMallocPhysical(&block.handle, block.bytes, &prop, 0);
    if (code != ACL_SUCCESS) {
      EXPECT_EQ(code, ACL_ERROR_RT_MEMORY_ALLOCATION);
      return;
    }
    ASSERT_EQ(aclrtReserveMemAddress(&block.start, block.bytes, 0, nullptr, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMapMem(block.start, up_to(block.bytes, 2 * kMB), 0, block.handle, 0), ACL_SUCCESS);
    put(block);
  }
  // A block is this thread's alone while it works with it.
  void with_memory() {
    const std::optional<Owned> block = take();
    if (!block) return;
    const std::size_t bytes = 1 + below(std::min<std::size_t>(block->bytes, kPinned));
    std::vector<char> pageable(bytes);
    switch (below(7)) {
      case 0:
        EXPECT_EQ(aclrtMemcpy(block->start, bytes, pageable.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), 0);
        break;
      case 1:
        EXPECT_EQ(aclrtMemcpy(pageable.data(), bytes, block->start, bytes, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        break;
      case 2:
        EXPECT_EQ(aclrtMemset(block->start, bytes, 1, bytes), 0);
        break;
      case 3: {
        const std::size_t rows = 1 + below(std::min<std::size_t>(bytes, 8)), width = bytes / rows;
        EXPECT_EQ(aclrtMemcpy2d(block->start, width, pinned_, width, width, rows, ACL_MEMCPY_HOST_TO_DEVICE),
                  0);
        break;
      }
      case 4:
        EXPECT_EQ(aclrtMemcpy(pinned_, bytes, pageable.data(), bytes, ACL_MEMCPY_HOST_TO_HOST), 0);
        break;
      case 5:
        EXPECT_EQ(aclrtMemcpyAsync(block->start, bytes, pinned_, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
                  0);
        EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
        break;
      default:
        EXPECT_EQ(aclrtMemsetAsync(block->start, bytes, 3, bytes, stream_), 0);
        EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
    }
    put(*block);
  }
  void put(const Owned& block) {
    const std::lock_guard lock{mutex_};
    shared_.push_back(block);
  }
  std::optional<Owned> take() {
    const std::lock_guard lock{mutex_};
    if (shared_.empty()) return std::nullopt;
    std::swap(shared_[below(shared_.size())], shared_.back());
    const Owned block = shared_.back();
    shared_.pop_back();
    return block;
  }

  std::mt19937 random_;
  std::mutex& mutex_;
  std::vector<Owned>& shared_;
  aclrtStream stream_ = nullptr;
  void* pinned_ = nullptr;
};

// What the functions of the interface say of a device, and what the figures make of it.
void expect_mem_info(std::uint32_t device, const machine::Use& use) {
  ASSERT_EQ(aclrtSetDevice(static_cast<std::int32_t>(device)), ACL_SUCCESS);
  const machine::Limits limits = running().machine().quota(device).limits();
  const std::tuple<aclrtMemAttr, Amounts, const char*> all[] = {
      {ACL_HBM_MEM, pool_figures(limits, use), "all"},
      {ACL_HBM_MEM_HUGE, kind_figures(limits, use, Page::Huge2M, false), "huge"},
      {ACL_HBM_MEM_NORMAL, kind_figures(limits, use, Page::Normal, false), "normal"},
      {ACL_HBM_MEM_P2P_HUGE, kind_figures(limits, use, Page::Huge2M, true), "huge, P2P"},
      {ACL_HBM_MEM_P2P_NORMAL, kind_figures(limits, use, Page::Normal, true), "normal, P2P"}};
  for (const auto& [attribute, expected, name] : all) {
    std::size_t free = 0, total = 0;
    ASSERT_EQ(aclrtGetMemInfo(attribute, &free, &total), ACL_SUCCESS);
    EXPECT_EQ(free, expected.free) << name << " of device " << device;
    EXPECT_EQ(total, expected.total) << name << " of device " << device;
  }
}

// A process that works, tells what it heard, is told what all have heard, and compares.
struct Child {
  Started started;
  int from = -1, to = -1;
};

void work(std::size_t threads, std::size_t steps, std::uint64_t number, int out, int in) {
  Recorder recorder{{.wanted = Recorder::kAll}};
  running().memory().listeners_changed();
  std::mutex mutex;
  std::vector<Owned> shared;
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < threads; ++i)
    all.emplace_back([&, i] { Worker{number * 100 + i, mutex, shared}.run(steps); });
  for (std::thread& each : all) each.join();
  Figures figures;
  for (const Heard& each : recorder.take()) figures.add(each);
  std::string text;
  for (const std::string& line : figures.rows(threads == 1)) text += line + '\0';
  for (const machine::Use& use : figures.use) {
    for (const std::uint64_t pages : use) text += fmt::format("{} ", pages);
  }
  for (const std::size_t peak : figures.peak) text += fmt::format("{} ", peak);
  for (const std::size_t mapped : figures.mapped) text += fmt::format("{} ", mapped);
  text += fmt::format("{}", figures.reserved);
  text += '\n';
  ASSERT_EQ(::write(out, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  std::array<machine::Use, kDevices> sum{};
  ASSERT_EQ(::read(in, &sum, sizeof sum), static_cast<ssize_t>(sizeof sum));
  for (std::uint32_t device = 0; device < kDevices; ++device) expect_mem_info(device, sum[device]);
  char done = ::testing::Test::HasFailure() ? 'n' : 'y';
  ASSERT_EQ(::write(out, &done, 1), 1);
  ASSERT_EQ(::read(in, &done, 1), 1);
  std::exit(::testing::Test::HasFailure() ? 1 : 0);
}

std::string read_line(int from) {
  std::string text;
  for (char next = 0; ::read(from, &next, 1) == 1 && next != '\n';) text += next;
  return text;
}

void run_program(std::size_t processes, std::size_t threads, std::size_t steps, std::uint64_t number) {
  SCOPED_TRACE(
      fmt::format("{}, program {}: {} processes, {} threads", seed_text(), number, processes, threads));
  const Scratch scratch;
  const std::string machines = scratch.sub("machines");
  set_environment({{"BELAY_MACHINES", machines},
                   {"BELAY_MACHINE", "figures"},
                   {"BELAY_DEVICES", std::to_string(kDevices)},
                   {"BELAY_HBM", "1G"},
                   {"BELAY_PRODUCT", "a2"},
                   {"BELAY_SUMMARY", "on"},
                   {"BELAY_LEAKS", "off"}});
  std::vector<Child> children(processes);
  for (std::size_t i = 0; i < processes; ++i) {
    int up[2], down[2];
    ASSERT_EQ(::pipe(up), 0);
    ASSERT_EQ(::pipe(down), 0);
    children[i].started = start_captured([&] { work(threads, steps, number * 10 + i, up[1], down[0]); });
    ::close(up[1]);
    ::close(down[0]);
    children[i].from = up[0];
    children[i].to = down[1];
  }
  std::array<machine::Use, kDevices> sum{};
  std::vector<std::array<machine::Use, kDevices>> of_each;
  std::vector<std::array<std::size_t, kDevices>> peaks_of_each, mapped_of_each;
  std::vector<std::size_t> reserved_of_each;
  std::vector<std::vector<std::string>> lines(processes);
  for (std::size_t i = 0; i < processes; ++i) {
    std::string told = read_line(children[i].from);
    for (std::size_t at = 0; (at = told.find('\0')) != std::string::npos; told.erase(0, at + 1))
      lines[i].push_back(told.substr(0, at));
    std::istringstream numbers{told};
    std::array<machine::Use, kDevices>& use = of_each.emplace_back();
    for (std::uint32_t device = 0; device < kDevices; ++device) {
      for (std::size_t kind = 0; kind < machine::kKinds; ++kind) {
        ASSERT_TRUE(numbers >> use[device][kind]) << "the process has told nothing";
        sum[device][kind] += use[device][kind];
      }
    }
    for (std::size_t& peak : peaks_of_each.emplace_back()) ASSERT_TRUE(numbers >> peak);
    for (std::size_t& mapped : mapped_of_each.emplace_back()) ASSERT_TRUE(numbers >> mapped);
    ASSERT_TRUE(numbers >> reserved_of_each.emplace_back());
  }
  for (const Child& each : children)
    ASSERT_EQ(::write(each.to, &sum, sizeof sum), static_cast<ssize_t>(sizeof sum));
  for (const Child& each : children) {
    char done = 0;
    ASSERT_EQ(::read(each.from, &done, 1), 1);
    EXPECT_EQ(done, 'y');
  }
  // What `belay smi` shows.
  const machine::Seen seen = machine::look_at(machine::discovery_directory(machines), "figures");
  ASSERT_TRUE(seen.live);
  ASSERT_EQ(seen.processes.size(), processes);
  for (std::uint32_t device = 0; device < kDevices; ++device) {
    EXPECT_EQ(seen.on_device[device], sum[device]);
    std::uint64_t highest = 0, of_all = 0;
    for (std::size_t i = 0; i < processes; ++i) {
      const auto process =
          std::ranges::find(seen.processes, children[i].started.child, &machine::ProcessSeen::process);
      ASSERT_NE(process, seen.processes.end());
      EXPECT_EQ(process->on_device[device], of_each[i][device]) << "process " << i << ", device " << device;
      EXPECT_EQ(process->mapped[device], mapped_of_each[i][device])
          << "process " << i << ", device " << device;
      EXPECT_EQ(process->reserved, reserved_of_each[i]) << "process " << i;
      if (threads == 1) {
        EXPECT_EQ(process->peaks[device] * 4_KiB, peaks_of_each[i][device]);
      }
      highest = std::max(highest, process->peaks[device]);
      of_all += process->peaks[device];
    }
    // All together had at least what one of them had, and not more than all of them ever had.
    EXPECT_GE(seen.peaks[device], highest);
    EXPECT_LE(seen.peaks[device], of_all);
  }
  for (std::size_t i = 0; i < processes; ++i) {
    ASSERT_EQ(::write(children[i].to, "e", 1), 1);
    const Ending ending =
        collect(children[i].started.child, children[i].started.out, children[i].started.err, 60);
    EXPECT_TRUE(ending.clean()) << ending;
    const std::string told = single_spaced(ending.err);
    for (const std::string& line : lines[i])
      EXPECT_NE(told.find(" " + line), std::string::npos) << "missing: " << line << "\nin:\n" << ending.err;
    EXPECT_FALSE(lines[i].empty());
    ::close(children[i].from);
    ::close(children[i].to);
  }
}

TEST(Figures, M137_D56_OneThread_EventsTellWhatMemInfoSmiAndSummarySay) {
  for (std::uint64_t i = 0; i < slice(3U, 60U); ++i) run_program(1, 1, 400, i);
}

TEST(Figures, M137_D56_ThreadsAndProcesses_EventsTellWhatMemInfoSmiAndSummarySay) {
  std::mt19937 random = test_random(7);
  for (std::uint64_t i = 0; i < slice(3U, 60U); ++i)
    run_program(1 + random() % 3, 1 + random() % 4, 100 + random() % 300, 1000 + i);
}

}  // namespace figures_test
