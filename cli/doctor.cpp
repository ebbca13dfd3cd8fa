#include "cli/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/colour.h"
#include "cli/diagnosis.h"
#include "cli/help.h"
#include "cli/table.h"
#include "config/amounts.h"
#include "config/settings.h"
#include "machine/discovery.h"
#include "platform/environment.h"

namespace belay::cli {
namespace {

constexpr int kWillFail = 1;

struct DoctorArguments {
  bool json = false;
};

std::string word_of(const char* variable) {
  std::string value = platform::environment(variable).value_or("");
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::tolower(c); });
  return value;
}

std::string text_of(const char* variable) { return platform::environment(variable).value_or(""); }

Wishes read_wishes() {
  Wishes wishes{.pages = word_of("BELAY_PAGES"),
                .backing = word_of("BELAY_BACKING"),
                .commit = text_of("BELAY_COMMIT"),
                .commit_bytes = config::parse_amount(text_of("BELAY_COMMIT")),
                .machine = text_of("BELAY_MACHINE"),
                .machines = text_of("BELAY_MACHINES"),
                .pin = word_of("BELAY_PIN"),
                .host_node = word_of("BELAY_HOST_NODE"),
                .host_access = word_of("BELAY_HOST_ACCESS")};
  // Where host and device are one, the host reaches device memory by nature (M-438).
  const std::string form = word_of("BELAY_FORM");
  if (form == "rc" || form == "open_ctrl_cpu") wishes.host_access = "allow";
  if (Result<Settings> read = config::read_settings(); !read) wishes.trouble = read.take_refusal()->what;
  return wishes;
}

Host look_at_host(const Wishes& wishes) {
  Host host{platform::read_host_facts(), platform::try_host(), {}};
  if (!wishes.machines.empty()) {
    const std::string around = wishes.machines.substr(0, wishes.machines.rfind('/'));
    host.meetings.push_back(
        {platform::look_at(around.empty() ? "/" : around), platform::look_at(wishes.machines)});
    return host;
  }
  for (const std::string& path : machine::usual_places()) {
    const auto above = [](const std::string& each) { return each.substr(0, each.rfind('/')); };
    platform::Place around = platform::look_at(above(path));
    // The directory in the home is made with the one around it.
    if (!around.present && !around.obstructed && path.find("/.cache/") != std::string::npos)
      around = platform::look_at(above(around.path));
    host.meetings.push_back({around, platform::look_at(path)});
  }
  return host;
}

const char* word_for(Mark mark) {
  switch (mark) {
    case Mark::Ok:
      return "ok";
    case Mark::Note:
      return "note";
    case Mark::Problem:
      return "problem";
  }
  return "";
}

Style style_of(Mark mark) {
  switch (mark) {
    case Mark::Ok:
      return Style::Green;
    case Mark::Note:
      return Style::Yellow;
    case Mark::Problem:
      return Style::Red;
  }
  return Style::Bold;
}

const char* word_for(Whose whose) {
  switch (whose) {
    case Whose::User:
      return "user";
    case Whose::Root:
      return "root";
    case Whose::Container:
      return "container";
    case Whose::Setting:
      return "setting";
  }
  return "";
}

// --- as text --------------------------------------------------------------------------------------

void print_finding(const Finding& finding, std::optional<std::size_t> width) {
  const std::string mark = fmt::format("{:<7}", word_for(finding.mark));
  const std::string title = fmt::format("{:<14}", finding.title);
  const std::size_t indent = 2 + mark.size() + 2 + title.size() + 2;
  fmt::print("  {}  {}  {}\n", paint(style_of(finding.mark), mark), title, wrap(finding.text, width, indent));
  // Commands stay on one line, to be copied.
  for (const Remedy& remedy : finding.remedies) {
    fmt::print("{:{}}{:<9}  {}{}\n", "", indent, word_for(remedy.whose), remedy.command,
               remedy.effect.empty() ? "" : "  # " + remedy.effect);
  }
}

void print_verdict(const Diagnosis& diagnosis) {
  if (diagnosis.works()) {
    const auto notes = std::ranges::count(diagnosis.findings, Mark::Note, &Finding::mark);
    fmt::print("\n{}{}.\n", paint(Style::Green, "belay will work here"),
               notes == 0 ? "" : "; see the notes above for what could be better");
    return;
  }
  std::string reasons;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.mark == Mark::Problem)
      reasons += fmt::format("{}{}", reasons.empty() ? "" : ", ", finding.title);
  }
  fmt::print("\n{} because of: {}.\n", paint(Style::Red, "belay will fail here"), reasons);
}

void print_text(const Diagnosis& diagnosis) {
  const std::optional<std::size_t> width = output_width();
  std::string_view section;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.section != section)
      fmt::print("{}{}\n", section.empty() ? "" : "\n", paint(Style::Bold, std::string{finding.section}));
    section = finding.section;
    print_finding(finding, width);
  }
  print_verdict(diagnosis);
}

// --- as JSON --------------------------------------------------------------------------------------

using Json = nlohmann::ordered_json;

// What is not known is null.
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json limit_json(const platform::ProcessLimit& limit) {
  const auto value = [](const std::optional<std::size_t>& v) { return v ? Json(*v) : Json("unlimited"); };
  return {{"soft", value(limit.soft)}, {"hard", value(limit.hard)}};
}

Json can_json(platform::Can can) {
  return can == platform::Can::Unknown ? Json(nullptr) : Json(can == platform::Can::Yes);
}

Json facts_json(const platform::HostFacts& facts) {
  Json groups = Json::array();
  for (const platform::CgroupMemory& group : facts.cgroups) {
    groups.push_back({{"directory", group.directory},
                      {"version", group.version},
                      {"limit_bytes", group.limit},
                      {"used_bytes", group.used},
                      {"headroom_bytes", group.headroom()}});
  }
  Json pools = Json::array();
  for (const platform::HugePool& pool : facts.pools) {
    pools.push_back({{"page_bytes", pool.page_bytes},
                     {"pages", or_null(pool.pages)},
                     {"free", or_null(pool.free)},
                     {"reserved", or_null(pool.reserved)},
                     {"overcommit", or_null(pool.overcommit)},
                     {"surplus", or_null(pool.surplus)}});
  }
  Json places = Json::array();
  for (const platform::Place& place : facts.places) {
    places.push_back({{"path", place.path},
                      {"present", place.present},
                      {"writable", place.writable},
                      {"free_bytes", or_null(place.free_bytes)}});
  }
  return {{"kernel", facts.kernel},
          {"architecture", facts.architecture},
          {"container", or_null(facts.container)},
          {"virtual_machine", or_null(facts.virtual_machine)},
          {"cpus", or_null(facts.cpus)},
          {"numa_nodes", facts.numa_nodes},
          {"user", facts.user},
          {"memory_total_bytes", or_null(facts.memory_total)},
          {"memory_available_bytes", or_null(facts.memory_available)},
          {"cgroups", groups},
          {"huge_pools", pools},
          {"thp_enabled", or_null(facts.thp_enabled)},
          {"thp_shmem_enabled", or_null(facts.thp_shmem_enabled)},
          {"max_map_count", or_null(facts.max_map_count)},
          {"overcommit_memory", or_null(facts.overcommit_memory)},
          {"ptrace_scope", or_null(facts.ptrace_scope)},
          {"places", places},
          {"limits",
           {{"locked_bytes", limit_json(facts.limits.locked_bytes)},
            {"address_bytes", limit_json(facts.limits.address_bytes)},
            {"file_bytes", limit_json(facts.limits.file_bytes)},
            {"open_files", limit_json(facts.limits.open_files)}}}};
}

Json trials_json(const platform::HostTrials& trials) {
  return {
      {"window",
       {{"base", trials.window.base}, {"bytes", trials.window.bytes}, {"reserved", trials.window.reserved}}},
      {"managed",
       {{"base", trials.managed.base},
        {"bytes", trials.managed.bytes},
        {"reserved", trials.managed.reserved}}},
      {"touchable", can_json(trials.touchable)},
      {"memfd", can_json(trials.memfd)},
      {"long_file", can_json(trials.long_file)},
      {"long_mapping", can_json(trials.long_mapping)},
      {"view", can_json(trials.view)},
      {"seals", can_json(trials.seals)},
      {"fd_links", can_json(trials.fd_links)},
      {"dumpable", can_json(trials.dumpable)},
      {"collapse", can_json(trials.collapse)},
      {"lock_page", can_json(trials.lock_page)},
      {"lock_beyond_limit", can_json(trials.lock_beyond_limit)},
      {"bind_node", can_json(trials.bind_node)},
      {"libnuma", can_json(trials.libnuma)},
      {"usable_pools", trials.usable_pools}};
}

const char* word_for(PageSource source) {
  switch (source) {
    case PageSource::Pool:
      return "hugetlb";
    case PageSource::Collapse:
      return "thp";
    case PageSource::Small:
      return "small";
    case PageSource::Nothing:
      return "none";
  }
  return "";
}

Json diagnosis_json(const Host& host, const Diagnosis& diagnosis) {
  Json findings = Json::array();
  Json failing = Json::array();
  for (const Finding& finding : diagnosis.findings) {
    if (finding.mark == Mark::Problem) failing.push_back(finding.id);
    Json remedies = Json::array();
    for (const Remedy& remedy : finding.remedies) {
      remedies.push_back(
          {{"for", word_for(remedy.whose)}, {"command", remedy.command}, {"effect", or_null(remedy.effect)}});
    }
    findings.push_back({{"id", finding.id},
                        {"section", finding.section},
                        {"title", finding.title},
                        {"mark", word_for(finding.mark)},
                        {"text", finding.text},
                        {"remedies", remedies}});
  }
  return {{"works", diagnosis.works()},
          {"failing", failing},
          {"uses",
           {{"pages_2m", word_for(diagnosis.uses.pages_2m)},
            {"pages_1g", word_for(diagnosis.uses.pages_1g)},
            {"commit_bytes", or_null(diagnosis.uses.commit_bytes)},
            {"meeting_place", or_null(diagnosis.uses.meeting_place)}}},
          {"findings", findings},
          {"facts", facts_json(host.facts)},
          {"trials", trials_json(host.trials)}};
}

int doctor(const DoctorArguments& arguments) {
  const Wishes wishes = read_wishes();
  const Host host = look_at_host(wishes);
  const Diagnosis diagnosis = diagnose(host, wishes);
  if (arguments.json) {
    // Paths may hold any bytes; JSON may not.
    fmt::print("{}\n", diagnosis_json(host, diagnosis).dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print_text(diagnosis);
  }
  return diagnosis.works() ? kOk : kWillFail;
}

}  // namespace

Action add_doctor(CLI::App& belay) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App& app =
      *belay.add_subcommand("doctor", "Show what this machine can do for belay, and what would improve it")
           ->group("Commands");
  app.add_flag("--json", arguments->json, "print as JSON, with all the facts");
  set_help(app, "belay doctor [OPTIONS]",
           "Looks at huge pages, locked memory, addresses, shared memory, limits and NUMA; changes nothing.\n"
           "Settings in the environment are used as for a program. Exit code: 0 if belay will work,\n"
           "1 if something will make it fail.\n\n"
           "Examples:\n"
           "  belay doctor\n"
           "  BELAY_PAGES=hugetlb belay doctor             are there enough pages in the kernel's pool?\n"
           "  belay doctor --json | jq .uses");
  return [arguments] { return doctor(*arguments); };
}

}  // namespace belay::cli
