#include "trace/summary_text.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/code_names.h"
#include "base/harmless.h"
#include "base/words.h"

namespace belay::trace {
namespace {

using Row = std::vector<std::string>;

// Columns are aligned as `align` says ("<<>"); with one more in front for the process, where there are
// several.
class Table {
 public:
  Table(bool with_process, std::string_view align, Row titles)
      : align_{fmt::format("<{}", align)}, with_process_{with_process} {
    titles.insert(titles.begin(), "process");
    rows_.push_back(std::move(titles));
  }
  void row(const std::string& process, Row cells) {
    cells.insert(cells.begin(), process);
    rows_.push_back(std::move(cells));
  }
  std::string text() const {
    if (rows_.size() == 1) return {};
    std::vector<std::size_t> widths(rows_[0].size(), 0);
    for (const Row& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const Row& row : rows_) {
      std::string line = "belay: ";
      for (std::size_t i = with_process_ ? 0 : 1; i < row.size(); ++i) {
        const std::string blanks(widths[i] - row[i].size(), ' ');
        line += "  " + (align_[i] == '<' ? row[i] + blanks : blanks + row[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
    return text;
  }

 private:
  std::vector<Row> rows_;
  std::string align_;
  bool with_process_;
};

std::string process_cell(const ToldBy& told) {
  return fmt::format("{:>7} {}{}", told.record.process, harmless(told.record.name.data()),
                     told.running ? " (still running)" : "");
}

std::string device_cell(const Where& where, std::size_t place) {
  if (place == kHostPlace) return "host, pinned";
  if (where.visible[place] == place) return fmt::format("{}", place);
  return fmt::format("{} ({} of the machine)", place, where.visible[place]);
}

Row block_cells(std::string device, std::string pages, std::string peak, const PerPage& page) {
  const std::size_t left = page.blocks - std::min(page.blocks, page.freed);
  return {std::move(device),
          std::move(pages),
          std::move(peak),
          fmt::format("{}", page.blocks),
          fmt::format("{}", page.freed),
          left == 0
              ? "0"
              : fmt::format("{} ({})", left, amount(page.charged - std::min(page.charged, page.returned))),
          amount(page.asked),
          amount(page.charged),
          fmt::format("{:.1f} %", 100.0 - percent(page.asked, page.charged))};
}

// One row, or one for all pages and one for each size of them.
void add_place(Table& table, const ToldBy& told, std::size_t place) {
  static constexpr std::array kNames{"4 KB", "2 MB", "1 GB"};
  PerPage all;
  std::size_t kinds = 0, one = 0;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const PerPage& page = told.tally.places[place][i];
    all.add(page);
    if (page.blocks == 0) continue;
    ++kinds;
    one = i;
  }
  if (kinds == 0) return;
  const std::string process = process_cell(told), device = device_cell(told.record.where, place);
  table.row(process, block_cells(device, kinds == 1 ? kNames[one] : "all",
                                 amount(told.record.peaks[place].load()), all));
  for (std::size_t i = 0; kinds > 1 && i < kNames.size(); ++i) {
    const PerPage& page = told.tally.places[place][i];
    if (page.blocks != 0) table.row("", block_cells("", kNames[i], "", page));
  }
}

std::string blocks_text(std::span<const ToldBy> processes) {
  Table table{processes.size() > 1,
              "<<>>>>>>>",
              {"device", "pages", "peak", "blocks", "freed", "not freed", "asked for", "charged",
               "lost to rounding"}};
  for (const ToldBy& told : processes) {
    for (std::size_t place = 0; place <= kHostPlace; ++place) add_place(table, told, place);
  }
  return table.text();
}

std::string virtual_text(std::span<const ToldBy> processes) {
  static constexpr std::array kNames{"reservations", "mappings", "physical memory", "managed memory"};
  Table table{processes.size() > 1,
              "<>>>>",
              {"virtual memory", "made", "given back", "not given back", "most at once"}};
  for (const ToldBy& told : processes) {
    for (std::size_t i = 0; i < kParts; ++i) {
      const Made& made = told.tally.parts[i];
      if (made.times == 0) continue;
      const std::size_t left = made.times - std::min(made.times, made.given_back);
      const std::size_t bytes_left = made.bytes - std::min(made.bytes, made.bytes_given_back);
      table.row(process_cell(told),
                {kNames[i], fmt::format("{}", made.times), fmt::format("{}", made.given_back),
                 left == 0 ? "0" : fmt::format("{} ({})", left, amount(bytes_left)),
                 amount(told.record.most[i].load())});
    }
  }
  return table.text();
}

std::string moves_text(std::span<const ToldBy> processes) {
  static constexpr std::array kWays{"host to host", "host to device", "device to host", "device to device"};
  Table table{processes.size() > 1, "<>>", {"copied or filled", "times", "bytes"}};
  for (const ToldBy& told : processes) {
    const auto add = [&](const char* what, const Moved& moved) {
      if (moved.times != 0)
        table.row(process_cell(told), {what, fmt::format("{}", moved.times), amount(moved.bytes)});
    };
    for (std::size_t i = 0; i < kWays.size(); ++i) add(kWays[i], told.tally.copies[i]);
    add("filled", told.tally.fills);
  }
  return table.text();
}

std::string failures_text(std::span<const ToldBy> processes) {
  Table table{processes.size() > 1, "<><", {"failed calls", "times", "code"}};
  for (const ToldBy& told : processes) {
    told.record.failures.each([&](const Failures::Row& row) {
      const std::string function = fmt::format("{}{}", row.function.data(), row.task ? " (its task)" : "");
      table.row(process_cell(told), {function, fmt::format("{}", row.times.load()),
                                     fmt::format("{} {}", row.code, code_name(row.code))});
    });
    if (const std::uint64_t others = told.record.failures.others(); others != 0)
      table.row(process_cell(told), {"other functions or codes", fmt::format("{}", others), ""});
  }
  return table.text();
}

std::string machine_text(std::span<const ToldBy> processes) {
  const ToldBy& first = processes[0];
  const Where& where = first.record.where;
  const std::string whose = processes.size() == 1
                                ? fmt::format("{} (process {}{})", harmless(first.record.name.data()),
                                              first.record.process, first.running ? ", still running" : "")
                                : fmt::format("{} processes", processes.size());
  std::string text;
  if (where.devices == 0) {
    text = fmt::format("belay: {} got no device\n", whose);
  } else {
    text = fmt::format("belay: memory of {} on {} ({}, {} of {})\n", whose, where.soc.data(),
                       where.family.data(), counted(where.devices, "device"), amount(where.device_bytes));
  }
  const std::string tables =
      blocks_text(processes) + virtual_text(processes) + moves_text(processes) + failures_text(processes);
  text += tables.empty() ? "belay:   nothing was allocated, copied or filled, and no call failed\n" : tables;
  std::uint64_t lost = 0;
  for (const ToldBy& told : processes) lost += told.record.lost.load();
  if (lost != 0) {
    text += fmt::format("belay:   {} {} missing here: there was no memory to count {}\n",
                        counted(lost, "event"), lost == 1 ? "is" : "are", lost == 1 ? "it" : "them");
  }
  return text;
}

}  // namespace

std::string summary_text(std::span<const ToldBy> processes) {
  std::vector<ToldBy> left{processes.begin(), processes.end()};
  std::string text;
  while (!left.empty()) {
    std::vector<ToldBy> same;
    std::vector<ToldBy> others;
    const Where& where = left[0].record.where;
    for (const ToldBy& told : left) {
      // Which of its devices a process sees is its own affair.
      const Where& its = told.record.where;
      const bool together = its.soc == where.soc && its.device_bytes == where.device_bytes &&
                            (its.devices == 0) == (where.devices == 0);
      (together ? same : others).push_back(told);
    }
    text += machine_text(same);
    left.swap(others);
  }
  return text;
}

}  // namespace belay::trace
