// Random reads over the same number of bytes on pages of 4 KB, 2 MB and 1 GB, and the page tables they take.
//
// All kinds are mapped and touched before the first measurement and stay until the end; each round measures
// every kind at every working set, one right after the other, so that whatever else the machine does hits all
// of them alike. See docs/pages.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "machine.h"
#include "page_kinds.h"
#include "random_reads.h"

namespace bench {
namespace {

constexpr std::size_t kMega = std::size_t{1} << 20;
constexpr std::size_t kGiga = std::size_t{1} << 30;

struct Options {
  std::size_t bytes = 0;
  unsigned rounds = 0;
  std::uint64_t reads = 0;  // of each measurement
  bool may_use_pools = true;
};

struct Pattern {
  const char* name;
  Timed (*read)(const std::byte*, std::size_t, std::uint64_t, std::uint64_t);
};
constexpr Pattern kPatterns[] = {
    {"dependent", dependent_reads}, {"independent", independent_reads}, {"sparse", sparse_reads}};

struct Series {
  std::size_t working_set;
  const Pattern* pattern;
  std::vector<double> ns;  // a figure per round
};

struct Kind {
  PageKind kind;
  PagedMemory memory;
  std::int64_t table_bytes = 0;  // what VmPTE grew by; it counts the tables of every level
  SmapsFacts smaps;
  std::vector<Series> series;
};

std::string size_text(std::size_t bytes) {
  return bytes >= kGiga && bytes % kGiga == 0 ? fmt::format("{} GB", bytes / kGiga)
         : bytes >= kMega                     ? fmt::format("{} MB", bytes / kMega)
                                              : fmt::format("{} KB", bytes / 1024);
}

// 1 MB, 4 MB, 16 MB … and all of it.
std::vector<std::size_t> working_sets(std::size_t bytes) {
  std::vector<std::size_t> sets;
  for (std::size_t set = kMega; set < bytes; set *= 4) sets.push_back(set);
  sets.push_back(bytes);
  return sets;
}

Kind prepare(PageKind page_kind, const Options& options) {
  fmt::print(stderr, "pages of {}: mapping and touching {}\n", size_text(page_bytes(page_kind)),
             size_text(options.bytes));
  Kind kind{page_kind, {}, 0, {}, {}};
  const auto before = bytes_in("/proc/self/status", "VmPTE");
  kind.memory = map_pages(page_kind, options.bytes, options.may_use_pools);
  if (!kind.memory.available()) {
    fmt::print(stderr, "  not available: {}\n  what would help: {}\n", kind.memory.reason,
               kind.memory.remedy);
    return kind;
  }
  fill_lines(kind.memory.start, options.bytes);
  kind.table_bytes =
      static_cast<std::int64_t>(bytes_in("/proc/self/status", "VmPTE")) - static_cast<std::int64_t>(before);
  kind.smaps = smaps_facts(kind.memory.start);
  for (const auto set : working_sets(options.bytes)) {
    for (const auto& pattern : kPatterns) kind.series.push_back({set, &pattern, {}});
  }
  fmt::print(stderr, "  {}\n", kind.memory.how);
  if (!kind.memory.note.empty()) fmt::print(stderr, "  {}\n", kind.memory.note);
  return kind;
}

// False if two kinds do not hold the same, which would make the comparison void.
bool measure(std::vector<Kind*>& kinds, const Options& options) {
  const auto began = std::chrono::steady_clock::now();
  for (unsigned round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < kinds.front()->series.size(); ++i) {
      std::uint64_t checksum = 0;
      for (auto* kind : kinds) {
        Series& series = kind->series[i];
        const Timed timed =
            series.pattern->read(kind->memory.start, series.working_set, options.reads, round + 1);
        if (kind == kinds.front()) checksum = timed.checksum;
        if (timed.checksum != checksum) return false;
        series.ns.push_back(timed.ns_per_read);
      }
    }
    std::rotate(kinds.begin(), kinds.begin() + 1, kinds.end());  // nobody is always first
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    fmt::print(stderr, "round {} of {}, about {:.0f} s left\n", round + 1, options.rounds,
               took.count() / (round + 1) * (options.rounds - round - 1));
  }
  return true;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

nlohmann::json as_json(const Kind& kind, const Options& options) {
  const auto page = page_bytes(kind.kind);
  nlohmann::json out{{"name", size_text(page)}, {"page_bytes", page}, {"available", kind.memory.available()}};
  if (!kind.memory.available()) {
    out["reason"] = kind.memory.reason;
    out["remedy"] = kind.memory.remedy;
    return out;
  }
  out["how"] = kind.memory.how;
  if (!kind.memory.note.empty()) out["note"] = kind.memory.note;
  out["mapped_bytes"] = kind.memory.bytes;
  out["page_table_entries"] = (options.bytes + page - 1) / page;
  out["page_table_bytes"] = kind.table_bytes;
  out["smaps"] = {{"KernelPageSize", kind.smaps.kernel_page},
                  {"Rss", kind.smaps.resident},
                  {"AnonHugePages", kind.smaps.transparent_huge},
                  {"Hugetlb", kind.smaps.hugetlb}};
  for (const auto& series : kind.series) {
    const auto [least, most] = std::minmax_element(series.ns.begin(), series.ns.end());
    out["points"].push_back({{"working_set_bytes", series.working_set},
                             {"pattern", series.pattern->name},
                             {"median_ns", median(series.ns)},
                             {"min_ns", *least},
                             {"max_ns", *most},
                             {"rounds_ns", series.ns}});
  }
  return out;
}

void print_table(const nlohmann::json& result) {
  fmt::print("\n{:<6} {:>10} {:>14}  {}\n", "pages", "entries", "table bytes", "how");
  for (const auto& kind : result["kinds"]) {
    const auto name = kind["name"].get<std::string>();
    if (!kind["available"].get<bool>()) {
      fmt::print("{:<6} not available: {}\n", name, kind["reason"].get<std::string>());
      continue;
    }
    fmt::print("{:<6} {:>10} {:>14}  {}\n", name, kind["page_table_entries"].get<std::uint64_t>(),
               kind["page_table_bytes"].get<std::int64_t>(), kind["how"].get<std::string>());
  }
  fmt::print("\n{:<12} {:<8} {:<6} {:>10}  {}\n", "reads", "over", "pages", "ns/read", "spread");
  for (const auto& kind : result["kinds"]) {
    if (!kind.contains("points")) continue;
    for (const auto& point : kind["points"]) {
      fmt::print("{:<12} {:<8} {:<6} {:>10.1f}  {:.1f} … {:.1f}\n", point["pattern"].get<std::string>(),
                 size_text(point["working_set_bytes"].get<std::size_t>()), kind["name"].get<std::string>(),
                 point["median_ns"].get<double>(), point["min_ns"].get<double>(),
                 point["max_ns"].get<double>());
    }
  }
  const int cpus = result["machine"]["cpus"].get<int>();
  fmt::print("\nOther programs used {:.1f} of {} processor{} meanwhile.\n",
             result["busy_neighbours"].get<double>(), cpus, cpus == 1 ? "" : "s");
}

// As many whole gigabytes as leave half of the free memory alone when every kind has them; at most 4.
std::size_t comfortable_bytes() {
  const auto share = bytes_in("/proc/meminfo", "MemAvailable") / 2 / std::size(kPageKinds);
  return std::clamp<std::size_t>(share / kGiga, 1, 4) * kGiga;
}

int run(const Options& options, const std::string& json_file) {
  std::vector<Kind> kinds;
  for (const auto kind : kPageKinds) kinds.push_back(prepare(kind, options));
  std::vector<Kind*> there;
  for (auto& kind : kinds) {
    if (kind.memory.available()) there.push_back(&kind);
  }
  const Neighbours neighbours;
  if (!there.empty() && !measure(there, options)) {
    fmt::print(stderr, "bench_pages: the page kinds do not hold the same bytes\n");
    return 1;
  }

  nlohmann::json result{
      {"benchmark", "pages"},     {"machine", describe_machine()},    {"bytes", options.bytes},
      {"rounds", options.rounds}, {"reads_per_round", options.reads}, {"kinds", nlohmann::json::array()}};
  result["busy_neighbours"] = neighbours.busy_processors();
  for (const auto& kind : kinds) result["kinds"].push_back(as_json(kind, options));
  print_table(result);
  if (json_file.empty()) return 0;
  std::ofstream file(json_file);
  file << result.dump(1) << '\n';
  if (!file.flush()) {
    fmt::print(stderr, "bench_pages: cannot write {}\n", json_file);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app{"Random reads over the same memory on pages of 4 KB, 2 MB and 1 GB."};
  std::size_t gigabytes = 0, megabytes = 0;
  bool quick = false;
  unsigned rounds = 0;
  bool plan = false, no_pool = false;
  std::string json_file;
  auto* in_giga =
      app.add_option("--gigabytes", gigabytes, "memory of each page kind (default: what fits, up to 4)")
          ->check(CLI::Range(1, 256));
  app.add_option("--megabytes", megabytes, "the same in MB, for a try")
      ->check(CLI::Range(1, 1024))
      ->excludes(in_giga);
  app.add_option("--rounds", rounds, "measurements of each point (default: 15; quick: 7)")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--quick", quick, "a tenth of the reads: a rough picture");
  app.add_option("--json", json_file, "write the figures there");
  app.add_flag("--no-pool", no_pool, "leave the kernel's pools of huge pages alone");
  app.add_flag("--plan", plan, "only print the default of --gigabytes");
  CLI11_PARSE(app, argc, argv);
  if (plan) {
    fmt::print("{}\n", bench::comfortable_bytes() / bench::kGiga);
    return 0;
  }

  bench::Options options;
  options.bytes = gigabytes > 0 ? gigabytes * bench::kGiga : megabytes * bench::kMega;
  if (options.bytes == 0) options.bytes = bench::comfortable_bytes();
  options.rounds = rounds > 0 ? rounds : quick ? 7 : 15;
  options.reads = quick ? 100'000 : 1'000'000;
  options.may_use_pools = !no_pool;
  return bench::run(options, json_file);
}
