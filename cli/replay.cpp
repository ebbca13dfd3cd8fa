#include "cli/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/words.h"
#include "cli/colour.h"
#include "cli/help.h"
#include "cli/replaying.h"
#include "cli/table.h"
#include "cli/trace_frames.h"

namespace belay::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ReplayArguments {
  std::string file, product, policy, hbm, form;
  std::uint32_t devices = 0;
  bool all_products = false, json = false;
};

// The machine that the trace was recorded on, as far as the arguments do not say otherwise.
Stage stage_of(const ReplayArguments& arguments, const recording::Trace& trace, const std::string& product) {
  Stage stage;
  const recording::ProcessFacts& first = trace.processes()[0];
  const bool as_recorded = product.empty() && find_product(first.soc).found;
  stage.product = !product.empty() ? read_product(product)
                  : as_recorded    ? find_product(first.soc).choice
                                   : read_product("A2");
  if (!arguments.form.empty())
    stage.form = read_form(arguments.form);
  else if (as_recorded && !first.form.empty())
    stage.form = read_form(first.form);
  stage.devices = arguments.devices != 0 ? arguments.devices : stage.product.row->devices;
  if (as_recorded && arguments.devices == 0) {
    for (const recording::ProcessFacts& each : trace.processes()) {
      for (const std::uint32_t device : each.visible) stage.devices = std::max(stage.devices, device + 1);
    }
  }
  stage.device_bytes = stage.product.usable_bytes;
  if (as_recorded && !first.device_bytes.empty()) stage.device_bytes = first.device_bytes[0];
  if (!arguments.hbm.empty()) stage.device_bytes = read_size(arguments.hbm);
  if (stage.device_bytes % 2_MiB != 0 || stage.device_bytes < 2_MiB ||
      stage.device_bytes > kMostDeviceBytes) {
    throw UsageError{fmt::format("--hbm is {}, and must be a multiple of 2 MB, from 2 MB to {}",
                                 bytes_and_amount(stage.device_bytes), amount(kMostDeviceBytes))};
  }
  if (!arguments.policy.empty()) stage.policy = read_policy(arguments.policy);
  return stage;
}

const ReplayedDevice& fullest(const Replayed& replayed) {
  return *std::ranges::max_element(replayed.devices, {}, &ReplayedDevice::peak);
}

std::string waste_words(const ReplayedDevice& device) {
  const std::size_t waste = device.peak - std::min(device.peak, device.asked_at_peak);
  return fmt::format("{} ({:.1f} %)", amount(waste), percent(waste, device.peak));
}

std::string misfit_words(const Misfit& misfit) {
  return fmt::format("request {} at {:.6f} s: {} of {} bytes on device {}{}{}: {}", misfit.request,
                     static_cast<double>(misfit.time_ns) / 1e9,
                     misfit.function.empty() ? "a block" : misfit.function, misfit.bytes, misfit.device,
                     misfit.where.empty() ? "" : " at ", misfit.where, misfit.why);
}

std::string answer(const Replayed& replayed) {
  return replayed.fits() ? paint(Style::Green, "fits") : paint(Style::Red, "does not fit");
}

void print_one(const Stage& stage, const Replayed& replayed) {
  fmt::print("{} on {}, {}, {} of {}: {}\n", counted(replayed.requests, "request"), stage.product.row->family,
             stage.product.soc, counted(stage.devices, "device"), amount(stage.device_bytes),
             answer(replayed));
  Table table{{Align::Left, Align::Right, Align::Right, Align::Right, Align::Right}};
  table.heading({"", "peak", "at", "of the device", "lost to rounding"});
  for (std::size_t i = 0; i < replayed.devices.size(); ++i) {
    const ReplayedDevice& device = replayed.devices[i];
    if (device.peak == 0) continue;
    table.row({fmt::format("device {}", i), amount(device.peak),
               fmt::format("{:.3f} s", static_cast<double>(device.peak_ns) / 1e9),
               fmt::format("{:.1f} %", percent(device.peak, stage.device_bytes)), waste_words(device)});
  }
  if (!std::ranges::all_of(replayed.devices, [](const auto& each) { return each.peak == 0; }))
    fmt::print("{}", table.text(std::nullopt));
  if (replayed.first) {
    fmt::print("{} cannot be had; the first is {}\n", counted(replayed.misfits, "request"),
               misfit_words(*replayed.first));
  }
}

Json json_of(const Stage& stage, const Replayed& replayed) {
  Json json;
  json["product"] = stage.product.row->key;
  json["soc"] = stage.product.soc;
  json["device_bytes"] = stage.device_bytes;
  json["fits"] = replayed.fits();
  json["requests"] = replayed.requests;
  json["misfits"] = replayed.misfits;
  json["devices"] = Json::array();
  for (std::size_t i = 0; i < replayed.devices.size(); ++i) {
    const ReplayedDevice& device = replayed.devices[i];
    if (device.peak != 0)
      json["devices"].push_back(
          {{"device", i}, {"peak_bytes", device.peak}, {"asked_bytes_at_peak", device.asked_at_peak}});
  }
  if (replayed.first) {
    const Misfit& first = *replayed.first;
    json["first_misfit"] = {{"request", first.request},
                            {"seconds", static_cast<double>(first.time_ns) / 1e9},
                            {"bytes", first.bytes},
                            {"device", first.device},
                            {"function", first.function},
                            {"where", first.where},
                            {"why", first.why}};
  }
  return json;
}

int replay_all(const ReplayArguments& arguments, recording::Trace& trace) {
  Table table{{Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left}};
  table.heading({"product", "", "peak", "of", "lost to rounding", "first that cannot be had"});
  Json all = Json::array();
  bool every = true;
  for (const ProductRow& row : products()) {
    const Stage stage = stage_of(arguments, trace, std::string{row.key});
    const Replayed replayed = replay(trace, stage);
    every = every && replayed.fits();
    all.push_back(json_of(stage, replayed));
    table.row({std::string{row.key}, answer(replayed), amount(fullest(replayed).peak),
               amount(stage.device_bytes), waste_words(fullest(replayed)),
               replayed.first ? misfit_words(*replayed.first) : ""});
  }
  if (arguments.json)
    fmt::print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    fmt::print("{}", table.text(output_width()));
  return every ? kOk : kNothingFound;
}

int replay_trace(const ReplayArguments& arguments) {
  recording::Trace trace;
  if (const std::string why = trace.open(arguments.file); !why.empty()) throw UsageError{why};
  if (trace.processes().empty()) throw UsageError{fmt::format("'{}' has no process in it", arguments.file)};
  name_frames(trace);
  int code = kOk;
  if (arguments.all_products) {
    code = replay_all(arguments, trace);
  } else {
    const Stage stage = stage_of(arguments, trace, arguments.product);
    const Replayed replayed = replay(trace, stage);
    if (arguments.json)
      fmt::print("{}\n",
                 json_of(stage, replayed).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    else
      print_one(stage, replayed);
    code = replayed.fits() ? kOk : kNothingFound;
  }
  for (const std::string& each : trace.remarks()) fmt::print(stderr, "note: {}\n", harmless(each));
  return code;
}

}  // namespace

Action add_replay(CLI::App& belay) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App& app =
      *belay.add_subcommand("replay", "Would a traced program fit on another product, in less memory?")
           ->group("Commands");
  app.add_option("FILE", arguments->file, "a trace, made by belay run --trace")->required();
  CLI::Option* product =
      app.add_option("--product", arguments->product, "another product, such as A3 or Ascend910B4");
  app.add_option("--policy", arguments->policy, "for all blocks of devices, such as NORMAL_ONLY");
  app.add_option("--hbm", arguments->hbm, "memory of each device, such as 4G");
  app.add_option("--devices", arguments->devices, "number of devices")->check(CLI::Range(1U, 64U));
  app.add_option("--form", arguments->form, "EP, RC or OPEN_CTRL_CPU");
  app.add_flag("--all-products", arguments->all_products, "on each product, as a table")->excludes(product);
  app.add_flag("--json", arguments->json, "for tools");
  set_help(
      app, "belay replay FILE [--product A3] [--policy POLICY] [--hbm SIZE] [--all-products] [--json]",
      "Makes the requests of the trace again, in their order, with the plans and pages of that machine and\n"
      "without contents. Without options it is the machine of the recording. What cannot be had is left "
      "out,\n"
      "and the rest goes on. Requests that were refused when it was recorded are not in it.\n\n"
      "Exit code: 0 all requests fit; 1 some do not; 2 the file cannot be read, or wrong use.\n\n"
      "Examples:\n"
      "  belay replay run.trace --product A3          would it fit there?\n"
      "  belay replay run.trace --hbm 16G             in 16 GB?\n"
      "  belay replay run.trace --policy NORMAL_ONLY  what would small pages save?\n"
      "  belay replay run.trace --all-products");
  return [arguments] { return replay_trace(*arguments); };
}

}  // namespace belay::cli
