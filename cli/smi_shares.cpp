#include "cli/smi_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/harmless.h"
#include "base/words.h"
#include "cli/box.h"
#include "memory/shared_words.h"

namespace belay::cli {
namespace {

using machine::Seen;
using machine::SharedSeen;
using machine::ShareKind;
using Json = nlohmann::ordered_json;

const char* kind_word(ShareKind kind) {
  switch (kind) {
    case ShareKind::Handle:
      return "handle";
    case ShareKind::Fabric:
      return "fabric";
    case ShareKind::Event:
      return "event";
    case ShareKind::Notify:
      return "notify";
    case ShareKind::Key:
    case ShareKind::KeyPart:
      break;
  }
  return "key";
}
bool is_memory(const SharedSeen& share) {
  return share.kind != ShareKind::Event && share.kind != ShareKind::Notify;
}

// Exported is exported: of memory that can be imported the share itself says it, of what is left its piece
// does.
struct Exported {
  bool on_host = false;
  std::uint32_t device = 0;
  std::uint64_t bytes = 0;
};
Exported exported_in(const SharedSeen& share) {
  if (!is_memory(share) || !share.open) return {false, share.device, share.bytes};
  const SharedWords words = SharedWords::unpack(share.words, share.kind);
  Exported what{words.side == Side::Host, words.device, words.bytes};
  for (const machine::ShareWords& each : share.more)
    what.bytes += SharedWords::unpack(each, ShareKind::KeyPart).bytes;
  return what;
}

std::string name_of(const Seen& seen, std::int32_t process) {
  const auto found = std::ranges::find(seen.processes, process, &machine::ProcessSeen::process);
  return found == seen.processes.end() ? std::string{} : harmless(found->name);
}
std::string in_words(const Seen& seen, std::int32_t process) {
  const std::string name = name_of(seen, process);
  return name.empty() ? fmt::format("{}", process) : fmt::format("{} ({})", process, name);
}

// --- what dangles ---------------------------------------------------------------------------------

std::vector<std::int32_t> named_but_not_there(const SharedSeen& share) {
  std::vector<std::int32_t> missing;
  std::ranges::set_difference(share.may_import, share.importers, std::back_inserter(missing));
  std::erase(missing, share.exporter);
  return missing;
}

// Whoever has it has it of somebody who is gone, or has something that leads nowhere any more. Empty: all is
// well.
std::string_view trouble(const SharedSeen& share) {
  if (share.importers.empty() && share.exporter_lives) return {};
  if (is_memory(share) && share.kind == ShareKind::Key) return share.open ? "" : "revoked";
  if (!share.exporter_lives) return "exporter gone";
  return share.open ? "" : "share ended";
}

std::string state_of(const SharedSeen& share) {
  if (const std::string_view what = trouble(share); !what.empty()) return std::string{what};
  const std::size_t missing = named_but_not_there(share).size();
  return missing == 0 ? std::string{"ok"} : fmt::format("{} not there", missing);
}

// A sentence for a person.
std::string consequence(const SharedSeen& share, const Seen& seen) {
  if (share.kind == ShareKind::Key && trouble(share) == "revoked") {
    return fmt::format(
        "its key was closed, its memory freed, or its process has ended: copies of {} there return 507899",
        share.importers.size() == 1 ? "its importer" : "its importers");
  }
  if (!is_memory(share)) return "a wait for what only the exporter would have done fails with 507022";
  if (share.charged) {
    return fmt::format("the memory stays as long as somebody holds it; it is charged to {}",
                       in_words(seen, *share.charged));
  }
  return "the memory stays as long as somebody holds it";
}

// --- as text --------------------------------------------------------------------------------------

std::string pids(const std::vector<std::int32_t>& processes) {
  constexpr std::size_t kShown = 3;
  if (processes.empty()) return "-";
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, processes.size()); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : " ", processes[i]);
  return processes.size() <= kShown ? text : fmt::format("{} +{}", text, processes.size() - kShown);
}

std::string place(const Exported& what) { return what.on_host ? "host" : fmt::format("{}", what.device); }

std::string thing_in_words(const SharedSeen& share, const Seen& seen) {
  const Exported what = exported_in(share);
  return fmt::format("{}{} on {}, exported by {}",
                     is_memory(share) ? fmt::format("{} by ", amount(what.bytes)) : std::string{},
                     kind_word(share.kind),
                     what.on_host ? std::string{"the host"} : fmt::format("device {}", what.device),
                     in_words(seen, share.exporter));
}

std::vector<const SharedSeen*> to_show(const SharesShown& shown) {
  std::vector<const SharedSeen*> all;
  for (const SharedSeen& each : shown.seen.shared) {
    const Exported what = exported_in(each);
    const bool on_device = !what.on_host && std::ranges::count(shown.devices, what.device) != 0;
    if (shown.whole || on_device) all.push_back(&each);
  }
  return all;
}

std::string who_holds(const SharedSeen& share) {
  if (share.importers.empty()) return "Nobody holds";
  return fmt::format("{} {}", pids(share.importers), share.importers.size() == 1 ? "holds" : "hold");
}

}  // namespace

std::string shares_text(const SharesShown& shown) {
  const std::vector<const SharedSeen*> all = to_show(shown);
  Box box{{{Align::Left, 6},
           {Align::Left, 6},
           {Align::Right, 8},
           {Align::Left, 18},
           {Align::Left, 14},
           {Align::Left, 13},
           {Align::Left, 13}}};
  box.line();
  box.heading({"Device", "Kind", "Size", "Exported by", "May import", "Held by", "State"});
  box.line('=');
  for (const SharedSeen* share : all) {
    const Exported what = exported_in(*share);
    box.row({place(what), kind_word(share->kind), is_memory(*share) ? amount(what.bytes) : "",
             in_words(shown.seen, share->exporter),
             !share->open       ? "nobody"
             : !share->checking ? "any process"
                                : pids(share->may_import),
             pids(share->importers), state_of(*share)});
  }
  if (all.empty()) box.across("Nothing is shared");
  box.line();
  std::string text = box.text();
  for (const SharedSeen* share : all) {
    if (!trouble(*share).empty()) {
      text += wrap(fmt::format("{}: {}. {} it; {}.", trouble(*share), thing_in_words(*share, shown.seen),
                               who_holds(*share), consequence(*share, shown.seen)),
                   100, 2) +
              "\n";
    } else if (const std::vector<std::int32_t> missing = named_but_not_there(*share); !missing.empty()) {
      text +=
          wrap(fmt::format("not there: {}, may be imported by {}, which {} not done so, or {} given it back.",
                           thing_in_words(*share, shown.seen), pids(missing),
                           missing.size() == 1 ? "has" : "have", missing.size() == 1 ? "has" : "have"),
               100, 2) +
          "\n";
    }
  }
  return text;
}

Json shares_json(const SharesShown& shown) {
  Json all = Json::array();
  const auto who = [&](std::int32_t process) {
    const std::string name = name_of(shown.seen, process);
    return Json{{"pid", process}, {"name", name.empty() ? Json{} : Json(name)}};
  };
  const auto each_of = [&](const std::vector<std::int32_t>& processes) {
    Json list = Json::array();
    for (const std::int32_t process : processes) list.push_back(who(process));
    return list;
  };
  for (const SharedSeen* share : to_show(shown)) {
    const Exported what = exported_in(*share);
    Json json{{"kind", kind_word(share->kind)}, {"serial", share->serial}};
    json["device"] = what.on_host ? Json{} : Json(what.device);
    json["bytes"] = is_memory(*share) ? Json(what.bytes) : Json{};
    json["exporter"] = who(share->exporter);
    json["exporter_lives"] = share->exporter_lives;
    json["importable"] = share->open;
    json["checks_pids"] = share->open ? Json(share->checking) : Json{};
    json["may_import"] = share->may_import;
    json["not_there"] = named_but_not_there(*share);
    json["importers"] = each_of(share->importers);
    json["charged_to"] = share->charged ? who(*share->charged) : Json{};
    json["dangles"] = trouble(*share).empty() ? Json{} : Json(trouble(*share));
    all.push_back(std::move(json));
  }
  return all;
}

}  // namespace belay::cli
