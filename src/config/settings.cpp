#include "config/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/words.h"
#include "config/amounts.h"
#include "config/check_settings.h"
#include "observe/call_sites.h"
#include "platform/environment.h"
#include "platform/pinned.h"

namespace belay::config {
namespace {

constexpr std::array kOptions{
    Option{"BELAY_PRODUCT", "--product",
           "A2, A3, 950, 310P, 910, 310B, IPV350 or a SoC name such as Ascend910B4 or 910B4", "A2",
           "the Ascend product to emulate"},
    Option{"BELAY_DEVICES", "--devices", "1 to 64", "that of the product's server",
           "number of devices in the machine"},
    Option{"BELAY_HBM", "--hbm", "an amount such as 4G, whole 2 MB pages", "the product's usable memory",
           "memory of each device"},
    Option{"BELAY_HUGE", "--huge", "an amount, whole 2 MB pages", "no limit of its own",
           "limit on memory in 2 MB pages, per device"},
    Option{"BELAY_HUGE1G", "--huge1g", "an amount, whole 1 GB pages", "no limit of its own",
           "limit on memory in 1 GB pages, per device"},
    Option{"BELAY_NORMAL", "--normal", "an amount, whole 4 KB pages", "no limit of its own",
           "limit on memory in 4 KB pages, per device"},
    Option{"BELAY_P2P", "--p2p", "an amount, whole 4 KB pages", "no limit of its own",
           "limit on memory under P2P policies, per device"},
    Option{"BELAY_FORM", "--form", "EP, RC or OPEN_CTRL_CPU", "EP",
           "card in a host, or host and device as one (310B, 310P, 910, IPV350)"},
    Option{"BELAY_HOST_ACCESS", "--host-access", "deny or allow", "deny",
           "whether host code may touch device memory"},
    Option{"BELAY_PIN", "--pin", "auto, strict or best-effort", "auto",
           "where pages cannot be locked: hand them out unlocked and say so once, refuse, or say nothing"},
    Option{"BELAY_KEEP", "--keep", "an amount", "256M",
           "freed device memory kept by the process for its next use"},
    Option{"BELAY_MACHINE", "--machine", "a name, or private", "default",
           "the machine, shared by all processes that name it"},
    Option{"BELAY_MACHINES", "--machines", "a directory of your own",
           "belay-UID in /dev/shm, else in /tmp, else in ~/.cache",
           "directory through which processes find their machine"},
    Option{
        "BELAY_PAGES", "--pages", "auto, hugetlb, thp or small", "auto",
        "what backs huge pages: the kernel's pools, else transparent huge pages, else small ones; hugetlb: "
        "only the pools"},
    Option{"BELAY_BACKING", "--backing", "bytes or none", "bytes",
           "none: keep no contents, for planning runs of any size"},
    Option{"BELAY_POISON", "--poison", "a byte, such as 0xBE or 190", "0xBE",
           "what fresh memory reads as, on devices and in aclrtMallocHost"},
    Option{"BELAY_COMMIT", "--commit", "auto or an amount", "auto: what this machine has left",
           "limit on the host memory that contents of device memory take"},
    Option{"BELAY_HOST_NODE", "--host-node", "a NUMA node", "as the system places it",
           "node of pinned host memory, where there are several"},
    Option{
        "BELAY_SCHEDULE", "--schedule", "eager, fifo, lazy or seed:N", "eager",
        "order in which queued work runs: as soon as possible, one task at a time, only when waited for, or "
        "a random order chosen by a seed"},
    Option{"BELAY_LINK", "--link", "h2d, d2h, d2d or p2p with a speed, such as h2d:25GB/s,d2d:200GB/s",
           "no limit", "how fast copies are, by direction"},
    Option{"BELAY_LEAKS", "--leaks", "report or off", "report",
           "list what was never given back (memory, streams, events, contexts, data buffers), when a device "
           "closes and at exit"},
    Option{"BELAY_SUMMARY", "--summary", "on or off", "off",
           "print a summary at exit: memory, copies and calls that failed"},
    Option{"BELAY_CHECK", "--check", "off, cheap or all", "off",
           "look for mistakes of the program, report each and end with code 86 if there were any; 'belay "
           "check' does the same with more options"},
    Option{
        "BELAY_WATCH_HOST", "--watch-host", "on or off", "off",
        "where the program is checked: also find host code that reads or writes pinned memory that a queued "
        "copy has as its destination, before the program waited for the copy"},
    Option{"BELAY_STACKS", "--stacks", "off, or a number of frames from 1 to 32",
           "off; 1 under belay run, check cheap and trace; 8 under check all",
           "keep where in the program everything is made and given back, for messages; 1: only the line of "
           "the call, which costs least"},
    Option{"BELAY_TRACE", "--trace",
           "a file, and if wanted ,limit= and an amount, such as run.trace,limit=4G", "none; limit=1G",
           "write down what happens to memory, for belay stats, diff and replay"},
    Option{"BELAY_QUARANTINE", "--quarantine", "an amount", "0; 256M under check all",
           "addresses of freed blocks are not used again before so much more was freed, on each device"},
    Option{"BELAY_FAULTS", "--faults", "explain or off", "explain",
           "explain it when host code touches device memory, or a call uses a host pointer that is dead or "
           "wild"},
};

std::string cure(std::string_view variable, std::string_view meant) {
  return fmt::format("{}orrect or unset {}; 'belay run --help' lists all settings",
                     meant.empty() ? "c" : fmt::format("did you mean {}? C", meant), variable);
}

Refusal wrong(std::string_view variable, std::string_view value, std::string expected,
              std::string_view meant = {}) {
  return refuse(
      {ACL_ERROR_RT_DEV_SETUP_ERROR, "", "EE2002",
       fmt::format("the environment variable {} has the value '{}'; expected: {}", variable, value, expected),
       "", cure(variable, meant)});
}

// Reads one variable after another and keeps the first mistake.
class Reader {
 public:
  std::optional<std::string> text(const char* variable) const {
    std::optional<std::string> value = platform::environment(variable);
    return value && !value->empty() ? value : std::nullopt;
  }

  std::optional<std::size_t> amount_in(const char* variable, std::size_t unit,
                                       std::size_t most = kMostDeviceBytes, std::size_t least = 0) {
    const std::optional<std::string> value = text(variable);
    if (!value) return std::nullopt;
    const std::optional<std::size_t> bytes = parse_amount(*value);
    if (!bytes) {
      complain(wrong(variable, *value, "a number of bytes, or one with K, M, G or T"));
    } else if (*bytes % unit != 0) {
      complain(wrong(variable, *value, fmt::format("a multiple of {}", amount(unit))));
    } else if (*bytes > most || *bytes < least) {
      complain(wrong(variable, *value,
                     *bytes > most ? fmt::format("at most {}", amount(most))
                                   : fmt::format("at least {}", amount(least))));
    }
    return bytes;
  }

  template <std::size_t N>
  std::size_t word(const char* variable, const std::array<std::string_view, N>& words, std::size_t fallback) {
    const std::optional<std::string> value = text(variable);
    if (!value) return fallback;
    for (std::size_t i = 0; i < N; ++i) {
      if (same_word(*value, words[i])) return i;
    }
    std::string expected;
    for (const std::string_view each : words)
      expected += (expected.empty() ? "" : " or ") + std::string{each};
    complain(wrong(variable, *value, expected));
    return fallback;
  }

  void complain(Refusal refusal) {
    if (trouble_ == nullptr) trouble_ = std::move(refusal);
  }
  Refusal trouble() { return std::move(trouble_); }

 private:
  Refusal trouble_;
};

// A setting that does not exist would be one that silently has no effect.
void refuse_unknown(Reader& reader) {
  std::vector<std::string_view> known;
  for (const Option& each : kOptions) known.push_back(each.variable);
  for (const std::string& name : platform::environment_names("BELAY_")) {
    if (std::ranges::find(known, name) != known.end() || name == kRunVariable || name == kVerdictVariable ||
        !reader.text(name.c_str()))
      continue;
    reader.complain(refuse(
        {ACL_ERROR_RT_DEV_SETUP_ERROR, "", "EE2002",
         fmt::format("the environment variable {} is set, and belay has no setting of that name", name), "",
         cure(name, nearest(name, known))}));
  }
}

std::uint32_t read_device_count(Reader& reader, std::uint32_t of_product) {
  const std::optional<std::string> value = reader.text("BELAY_DEVICES");
  if (!value) return of_product;
  const bool number = value->size() <= 2 && value->find_first_not_of("0123456789") == std::string::npos;
  const unsigned long count = number ? std::stoul(*value) : 0;
  if (count < 1 || count > kMostDevices) {
    reader.complain(wrong("BELAY_DEVICES", *value, "a number from 1 to 64"));
    return of_product;
  }
  return static_cast<std::uint32_t>(count);
}

// ASCEND_RT_VISIBLE_DEVICES (R-247 ... R-250). Reading stops at the first thing that does not fit; a list
// that repeats or descends is void as a whole.
void read_visible(Settings& settings) {
  std::vector<std::uint32_t>& visible = settings.memory.visible;
  const std::optional<std::string> value = platform::environment("ASCEND_RT_VISIBLE_DEVICES");
  if (!value) {
    for (std::uint32_t i = 0; i < settings.machine.devices; ++i) visible.push_back(i);
    return;
  }
  std::size_t at = 0;
  while (at < value->size() && std::isdigit(static_cast<unsigned char>((*value)[at])) != 0) {
    std::uint64_t id = 0;
    for (; at < value->size() && std::isdigit(static_cast<unsigned char>((*value)[at])) != 0; ++at) {
      id = std::min<std::uint64_t>(id * 10 + static_cast<std::uint64_t>((*value)[at] - '0'), 1'000'000);
    }
    if (id >= settings.machine.devices) break;
    if (!visible.empty() && id <= visible.back()) {
      visible.clear();
      break;
    }
    visible.push_back(static_cast<std::uint32_t>(id));
    if (at >= value->size() || (*value)[at] != ',') break;
    ++at;
  }
  if (visible.empty()) settings.visible_trouble = *value;
}

// What all processes on a machine must agree on, and what an error shows of it.
std::string settings_text(const Settings& settings, std::string_view form) {
  const DeviceLimits& limits = settings.memory.limits;
  const auto exact = [](const std::optional<std::size_t>& bytes) {
    return bytes ? fmt::format("{} bytes ({})", *bytes, amount(*bytes)) : std::string{"no limit"};
  };
  return fmt::format("product={};form={};devices={};hbm={};huge={};huge1g={};normal={};p2p={}", settings.soc,
                     form, settings.machine.devices, exact(limits.total), exact(limits.huge),
                     exact(limits.huge1g), exact(limits.normal), exact(limits.p2p));
}

void read_machine(Reader& reader, Settings& settings, std::string_view form) {
  machine::Wish& wish = settings.machine;
  if (const std::optional<std::string> name = reader.text("BELAY_MACHINE")) {
    wish.name = same_word(*name, machine::kPrivateName) ? machine::kPrivateName : *name;
    if (!machine::good_name(*name)) {
      reader.complain(wrong("BELAY_MACHINE", *name,
                            "a name of up to 64 letters, digits, '.', '_' and '-', or the word private"));
    }
  }
  if (const std::optional<std::string> directory = reader.text("BELAY_MACHINES")) {
    wish.directory = *directory;
    if (directory->front() != '/' || directory->size() > 400)
      reader.complain(wrong("BELAY_MACHINES", *directory, "the full path of a directory"));
  }
  wish.product = settings.memory.product->key;
  wish.soc = settings.soc;
  wish.limits = in_pages(settings.memory.limits);
  wish.settings = settings_text(settings, form);
}

std::optional<unsigned char> read_byte(Reader& reader, const char* variable) {
  const std::optional<std::string> value = reader.text(variable);
  if (!value) return std::nullopt;
  const bool is_hex = same_word(value->substr(0, 2), "0x");
  const char* const first = value->data() + (is_hex ? 2 : 0);
  const char* const last = value->data() + value->size();
  unsigned char byte = 0;
  const auto [end, trouble] = std::from_chars(first, last, byte, is_hex ? 16 : 10);
  if (trouble == std::errc{} && end == last) return byte;
  reader.complain(wrong(variable, *value, "a byte: a number from 0 to 255, or from 0x0 to 0xFF"));
  return std::nullopt;
}

void read_backing(Reader& reader, MemorySettings& memory) {
  BackingSettings& backing = memory.backing;
  backing.keep_bytes = reader.amount_in("BELAY_KEEP", 1).value_or(256_MiB);
  backing.pages = static_cast<Pages>(
      reader.word("BELAY_PAGES", std::array<std::string_view, 4>{"auto", "hugetlb", "thp", "small"}, 0));
  backing.mode =
      static_cast<Backing>(reader.word("BELAY_BACKING", std::array<std::string_view, 2>{"bytes", "none"}, 0));
  if (!same_word(reader.text("BELAY_COMMIT").value_or("auto"), "auto"))
    backing.commit_limit = reader.amount_in("BELAY_COMMIT", 1, SIZE_MAX);

  backing.fresh = read_byte(reader, "BELAY_POISON").value_or(kFreshByte);

  // Where host and device are one, the host reaches device memory by nature (M-438).
  const std::size_t access =
      reader.word("BELAY_HOST_ACCESS", std::array<std::string_view, 2>{"deny", "allow"}, 0);
  backing.access = access == 1 || host_is_device(memory.form) ? HostAccess::Allow : HostAccess::Deny;
  if (backing.access == HostAccess::Allow && backing.mode == Backing::None) {
    reader.complain(
        wrong("BELAY_BACKING", "none",
              "bytes, because host code may touch device memory here (BELAY_HOST_ACCESS=allow, or a "
              "form in which host and device are one)"));
  }
  if (const std::optional<std::string> node = reader.text("BELAY_HOST_NODE")) {
    const std::int32_t nodes = platform::memory_nodes();
    const bool number = node->size() <= 4 && node->find_first_not_of("0123456789") == std::string::npos;
    if (number && std::stoi(*node) < nodes) {
      memory.host_node = std::stoi(*node);
    } else {
      reader.complain(wrong("BELAY_HOST_NODE", *node,
                            fmt::format("a number below {}, the number of nodes of this machine", nodes)));
    }
  }
}

void read_schedule(Reader& reader, schedule::Policy& policy) {
  const std::optional<std::string> value = reader.text("BELAY_SCHEDULE");
  if (!value) return;
  constexpr std::array<std::string_view, 3> kWords{"eager", "fifo", "lazy"};
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (!same_word(*value, kWords[i])) continue;
    policy.mode = static_cast<schedule::Mode>(i);
    return;
  }
  constexpr std::string_view kSeed = "seed:";
  const std::string_view digits = same_word(value->substr(0, kSeed.size()), kSeed)
                                      ? std::string_view{*value}.substr(kSeed.size())
                                      : std::string_view{};
  std::uint64_t seed = 0;
  const auto [end, trouble] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (digits.empty() || trouble != std::errc{} || end != digits.data() + digits.size()) {
    reader.complain(
        wrong("BELAY_SCHEDULE", *value, "eager, fifo, lazy, or seed: and a number, such as seed:42"));
    return;
  }
  policy = {schedule::Mode::Seed, seed};
}

// "25GB/s": a number and a decimal unit.
std::optional<double> parse_speed(std::string_view text) {
  double number = 0;
  const auto [rest, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (trouble != std::errc{} || !(number > 0)) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{"B/s", 1}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}};
  for (const auto& [name, factor] : kUnits) {
    if (same_word(unit, name) && number * factor >= 1 && number * factor <= 1e15) return number * factor;
  }
  return std::nullopt;
}

void read_links(Reader& reader, LinkSettings& links) {
  const std::optional<std::string> value = reader.text("BELAY_LINK");
  if (!value) return;
  constexpr std::array<std::string_view, kWays> kNames{"h2d", "d2h", "d2d", "p2p"};
  std::string_view rest = *value;
  bool more = true;
  while (more) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view entry = rest.substr(0, comma);
    if (more) rest.remove_prefix(comma + 1);
    const std::size_t colon = entry.find(':');
    const auto name = std::ranges::find_if(
        kNames, [&](std::string_view each) { return same_word(entry.substr(0, colon), each); });
    const std::optional<double> speed =
        colon == std::string_view::npos ? std::nullopt : parse_speed(entry.substr(colon + 1));
    double* place = name == kNames.end()
                        ? nullptr
                        : &links.bytes_per_second[static_cast<std::size_t>(name - kNames.begin())];
    if (place == nullptr || !speed || *place != 0) {
      reader.complain(wrong(
          "BELAY_LINK", *value,
          "h2d, d2h, d2d and p2p, each at most once, with a speed in B/s, KB/s, MB/s, GB/s or TB/s, such as "
          "h2d:25GB/s,d2d:200GB/s"));
      return;
    }
    *place = *speed;
  }
}

void read_trace(Reader& reader, Settings& settings) {
  const std::optional<std::string> value = reader.text("BELAY_TRACE");
  if (!value) return;
  constexpr std::string_view kLimit = ",limit=";
  const std::size_t comma = value->rfind(kLimit);
  settings.trace_file = value->substr(0, comma);
  settings.trace_limit = 1_GiB;
  const std::optional<std::size_t> limit =
      comma == std::string::npos ? settings.trace_limit : parse_amount(value->substr(comma + kLimit.size()));
  if (limit && *limit >= 1_MiB && !settings.trace_file.empty())
    settings.trace_limit = *limit;
  else
    reader.complain(wrong("BELAY_TRACE", *value,
                          "a file, and if wanted ,limit= and at least 1M, such as run.trace,limit=4G"));
}

unsigned read_stacks(Reader& reader, CheckSettings::Level level, bool traced) {
  const std::optional<std::string> value = reader.text("BELAY_STACKS");
  if (!value && traced && level == CheckSettings::Level::Off) return 1;
  if (!value) return level == CheckSettings::Level::All ? 8 : level == CheckSettings::Level::Cheap ? 1 : 0;
  if (same_word(*value, "off")) return 0;
  unsigned frames = 0;
  const auto [end, trouble] = std::from_chars(value->data(), value->data() + value->size(), frames);
  if (trouble != std::errc{} || end != value->data() + value->size() || frames > observe::kMostFrames) {
    reader.complain(wrong("BELAY_STACKS", *value,
                          fmt::format("off, or a number of frames from 1 to {}", observe::kMostFrames)));
    return 0;
  }
  return frames;
}

}  // namespace

std::span<const Option> options() { return kOptions; }

Result<Settings> read_settings() {
  Reader reader;
  Settings settings;
  Choice choice = find_product("A2").choice;
  if (const std::optional<std::string> name = reader.text("BELAY_PRODUCT")) {
    if (const ChoiceOrNothing found = find_product(*name); found.found) {
      choice = found.choice;
    } else {
      std::vector<std::string_view> known;
      for (const ProductRow& row : products()) known.push_back(row.key);
      for (const Chip& chip : chips()) known.push_back(chip.soc);
      reader.complain(wrong("BELAY_PRODUCT", *name, std::string{kOptions[0].values}, nearest(*name, known)));
    }
  }
  MemorySettings& memory = settings.memory;
  memory.product = choice.row;
  settings.soc = choice.soc;

  memory.form = static_cast<Form>(reader.word("BELAY_FORM", kFormNames, 0));
  if (host_is_device(memory.form) && !has(choice.row->product, Feature::HostForm)) {
    reader.complain(wrong(
        "BELAY_FORM", name_of(memory.form),
        fmt::format(
            "EP on {}; the RC and Control-CPU-open forms exist on 310B, 310P, 910 and IPV350 (rule M-437)",
            choice.row->family)));
  }
  settings.machine.devices = read_device_count(reader, choice.row->devices);
  memory.limits.total =
      reader.amount_in("BELAY_HBM", 2_MiB, kMostDeviceBytes, 2_MiB).value_or(choice.usable_bytes);
  memory.limits.huge = reader.amount_in("BELAY_HUGE", 2_MiB);
  memory.limits.huge1g = reader.amount_in("BELAY_HUGE1G", 1_GiB);
  memory.limits.normal = reader.amount_in("BELAY_NORMAL", 4_KiB);
  memory.limits.p2p = reader.amount_in("BELAY_P2P", 4_KiB);
  read_backing(reader, memory);
  read_schedule(reader, settings.schedule);
  read_links(reader, settings.links);
  memory.pin = static_cast<PinMode>(
      reader.word("BELAY_PIN", std::array<std::string_view, 3>{"auto", "strict", "best-effort"}, 0));
  settings.leak_report = reader.word("BELAY_LEAKS", std::array<std::string_view, 2>{"report", "off"}, 0) == 0;
  settings.summary = reader.word("BELAY_SUMMARY", std::array<std::string_view, 2>{"off", "on"}, 0) == 1;
  settings.fault_report =
      reader.word("BELAY_FAULTS", std::array<std::string_view, 2>{"explain", "off"}, 0) == 0 &&
      platform::environment("ASCEND_COREDUMP_SIGNAL").value_or("") != "none";
  if (const std::optional<std::string> check = reader.text("BELAY_CHECK")) {
    const std::string expected = read_check(*check, settings.check);
    if (!expected.empty()) reader.complain(wrong("BELAY_CHECK", *check, expected));
  }
  settings.check.watch_host =
      reader.word("BELAY_WATCH_HOST", std::array<std::string_view, 2>{"off", "on"}, 0) == 1;
  read_trace(reader, settings);
  settings.stack_frames = read_stacks(reader, settings.check.level, !settings.trace_file.empty());
  settings.quarantine = reader.amount_in("BELAY_QUARANTINE", 1, SIZE_MAX)
                            .value_or(settings.check.level == CheckSettings::Level::All ? 256_MiB : 0);
  read_machine(reader, settings, name_of(memory.form));
  read_visible(settings);
  refuse_unknown(reader);
  if (Refusal trouble = reader.trouble()) return trouble;
  return settings;
}

}  // namespace belay::config
