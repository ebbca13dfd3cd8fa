#include "cli/npu_smi.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "cli/command.h"
#include "cli/npu_queries.h"
#include "cli/npu_server.h"
#include "cli/npu_table.h"
#include "cli/watch.h"
#include "cli/word_list.h"

namespace belay::cli {
namespace {

// The low byte of the vendor's own numbers, which is what a shell sees.
constexpr int kNotFound = 211;      // no such command or option
constexpr int kWrongValue = 215;    // a value that makes no sense, or none
constexpr int kNotSupported = 217;  // the product does not answer that
constexpr int kNoDriver = 187;      // nothing can be asked

constexpr std::string_view kHelp =
    "Usage: npu-smi COMMAND [OPTIONS]\n\n"
    "Shows the Ascend devices that belay emulates, in the form of the vendor's tool of this name.\n\n"
    "Commands:\n"
    "  info                        devices and processes, as a table\n"
    "  info -l                     cards, and the chips on each\n"
    "  info -m                     numbers of cards, chips and devices\n"
    "  info -t TYPE -i N [-c C]    one subject, of card N or of its chip C\n"
    "  info -t topo                how devices are linked\n"
    "  info watch                  figures of each chip, again and again, until Ctrl-C\n"
    "  -h, --help                  show this help\n"
    "  -v                          show the version of the tool\n\n"
    "Options of info:\n"
    "  -t TYPE     common, memory, usages, board, product, topo, proc-mem, health, temp, power, ecc\n"
    "  -i N        card, as -l lists it\n"
    "  -c C        chip of that card, as -m lists it\n"
    "  -d SECONDS  of watch: how often, 1 to 100; default: 1\n"
    "  -s LETTERS  of watch: which columns: p power, t temperature, a AI core, i AI CPU, c control CPU,\n"
    "              m memory, b bandwidth, n NPU utilisation, u AI cube\n\n"
    "Memory and processes are those of the emulated machine (BELAY_MACHINE, BELAY_PRODUCT); other figures "
    "are\n"
    "constants. The table differs from product to product, as the vendor's does. 'belay smi' shows more.\n\n"
    "Exit codes: 0, 187 the machine cannot be read, 211 unknown command or option, 215 wrong or missing "
    "value,\n"
    "217 not supported by the product.\n\n"
    "Examples:\n"
    "  npu-smi info\n"
    "  npu-smi info -t usages -i 0 -c 0\n"
    "  BELAY_PRODUCT=A3 npu-smi info -m\n"
    "  npu-smi info watch -i 0 -d 2 -s pm\n";

struct NpuRefusal {
  int code;
  std::string words;
};

struct Question {
  bool list = false, mapping = false, watching = false, help = false;
  std::optional<std::string> type, card, chip, seconds, letters;
};

[[noreturn]] void not_found() {
  throw NpuRefusal{kNotFound, fmt::format("Command or option is not found.\n{}", kHelp)};
}
[[noreturn]] void wrong_value(std::string_view option, std::string_view why = "") {
  throw NpuRefusal{kWrongValue, fmt::format("{}Error parameter of {}\n", why, option)};
}

Question read_question(const std::vector<std::string>& words) {
  Question asked;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&](std::optional<std::string>& into) {
      if (++i == words.size()) wrong_value(word);
      into = words[i];
    };
    if (word == "-l")
      asked.list = true;
    else if (word == "-m")
      asked.mapping = true;
    else if (word == "watch")
      asked.watching = true;
    else if (word == "-h" || word == "--help")
      asked.help = true;
    else if (word == "-t")
      value(asked.type);
    else if (word == "-i")
      value(asked.card);
    else if (word == "-c")
      value(asked.chip);
    else if (word == "-d")
      value(asked.seconds);
    else if (word == "-s")
      value(asked.letters);
    else
      not_found();
  }
  if (!asked.watching && (asked.seconds || asked.letters)) not_found();  // in whatever order they came
  return asked;
}

const NpuCard& chosen_card(const NpuServer& server, const Question& asked) {
  const std::optional<std::uint32_t> number = whole_number<std::uint32_t>(asked.card.value_or(""));
  const auto card =
      std::ranges::find_if(server.cards, [&](const NpuCard& each) { return number && each.card == *number; });
  if (card == server.cards.end()) wrong_value("-i", "Invalid card id.\n");
  return *card;
}

const NpuChip* chosen_chip(const NpuCard& card, const Question& asked) {
  if (!asked.chip) return nullptr;
  const std::optional<std::uint32_t> number = whole_number<std::uint32_t>(*asked.chip);
  const auto chip =
      std::ranges::find_if(card.chips, [&](const NpuChip& each) { return number && each.chip == *number; });
  if (chip == card.chips.end()) wrong_value("-c", "Invalid chip id.\n");
  return &*chip;
}

std::string answer(const NpuServer& server, const Question& asked) {
  if (asked.list) return npu_list(server);
  if (asked.mapping) return npu_mapping(server);
  if (!asked.type) {
    if (asked.card || asked.chip) wrong_value("-t");
    return npu_table(server);
  }
  if (*asked.type == "topo" && !asked.card) return npu_topology(server);
  if (!asked.card) wrong_value("-i");
  const NpuCard& card = chosen_card(server, asked);
  const NpuChip* chip = chosen_chip(card, asked);
  if (*asked.type == "topo") return npu_topology(server);
  const std::optional<std::string> text = npu_query(server, *asked.type, card, chip);
  if (!text)
    throw NpuRefusal{kNotSupported, fmt::format("This device does not support querying {}.\n", *asked.type)};
  return *text;
}

std::string watch_rows(const Question& asked) {
  const NpuServer server = look_at_server();
  std::string text;
  const NpuCard* only = asked.card ? &chosen_card(server, asked) : nullptr;
  for (const NpuCard& card : server.cards) {
    if (only != nullptr && &card != only) continue;
    const NpuChip* chip = only != nullptr ? chosen_chip(card, asked) : nullptr;
    for (const NpuChip& each : card.chips) {
      if (chip == nullptr || chip == &each)
        text += npu_watch_row(server, card, each, asked.letters.value_or(""));
    }
  }
  return text;
}

int watch_chips(const Question& asked) {
  const std::optional<unsigned> seconds = whole_number<unsigned>(asked.seconds.value_or("1"));
  if (!seconds || *seconds < 1 || *seconds > 100) wrong_value("-d");
  const std::string letters = asked.letters.value_or("");
  if (letters.find_first_not_of(kWatchLetters) != std::string::npos) wrong_value("-s");
  if (asked.chip && !asked.card) wrong_value("-i");
  watch_rows(asked);  // a card that is not there is refused before anything is shown
  fmt::print("{}", npu_watch_heading(letters));
  watch(
      *seconds, [&] { return watch_rows(asked); }, Screen::Kept);
  return kOk;
}

int obey_npu_smi(const std::vector<std::string>& words) {
  if (words.empty()) throw NpuRefusal{kWrongValue, std::string{kHelp}};
  if (words[0] == "-v") {
    fmt::print("npu-smi version: {}\n", BELAY_DRIVER_VERSION);
    return kOk;
  }
  if (words[0] == "-h" || words[0] == "--help") {
    fmt::print("{}", kHelp);
    return kOk;
  }
  if (words[0] != "info") not_found();
  const Question asked = read_question(words);
  if (asked.help) {
    fmt::print("{}", kHelp);
    return kOk;
  }
  if (asked.watching) return watch_chips(asked);
  fmt::print("{}", answer(look_at_server(), asked));
  return kOk;
}

}  // namespace

int npu_smi(const std::vector<std::string>& words) {
  try {
    return obey_npu_smi(words);
  } catch (const NpuRefusal& refused) {
    fmt::print("{}", refused.words);
    return refused.code;
  } catch (const UsageError& error) {
    // Scripts know this line; the reason is for whoever reads on.
    fmt::print("dcmi module initialize failed. ret is -8005\n");
    fmt::print(stderr, "npu-smi: {}\n{}\n", error.what(), error.hint());
    return kNoDriver;
  }
}

}  // namespace belay::cli
