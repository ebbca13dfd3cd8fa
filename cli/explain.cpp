#include "cli/explain.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/words.h"
#include "cli/answer.h"
#include "cli/colour.h"
#include "cli/explain_physical.h"
#include "cli/explain_words.h"
#include "cli/help.h"
#include "cli/rulebook.h"
#include "cli/table.h"
#include "platform/environment.h"

namespace belay::cli {
namespace {

struct ExplainArguments {
  std::string size, policy, api = "malloc", attribute, location, product, form;
  bool json = false, all_products = false;
};

// --- as text --------------------------------------------------------------------------------------

std::string how_bytes_came(const Answer& answer) {
  const Plan& plan = *answer.plan;
  const std::size_t rounded = round_up(plan.asked, 32).value_or(0);
  const std::string round =
      rounded == plan.asked ? "is a multiple of 32" : fmt::format("rounded up to {}", rounded);
  if (answer.padded())
    return fmt::format("{} {}, plus {} of padding", plan.asked, round, answer.request.product.row->padding);
  return fmt::format("{} {}, no padding", plan.asked, round);
}

std::string when_short_text(const Answer& answer) {
  const Plan& plan = *answer.plan;
  if (plan.when_short == plan.page)
    return fmt::format("{}; no other pages are tried", code_text(answer.shortage));
  const std::size_t page = page_bytes(plan.when_short);
  return fmt::format("{} {} pages of {} instead, {}; then {}", plan.footprint_when_short / page,
                     words_for(plan.when_short).kind, amount(page),
                     bytes_and_amount(plan.footprint_when_short), code_text(answer.shortage));
}

std::string of_device(const Answer& answer) {
  const std::size_t usable = answer.request.product.usable_bytes;
  if (is_host(answer.request.api) && !host_is_device(answer.request.form)) return "none: it is host memory";
  if (!answer.fits)
    return paint(Style::Red,
                 fmt::format("more than all of its {}: {}", amount(usable), code_text(answer.shortage)));
  return fmt::format("{} of {}", share(answer.plan->footprint, usable), amount(usable));
}

void print_answer(const Answer& answer) {
  const Request& request = answer.request;
  const ProductRow& product = *request.product.row;
  Table table{{Align::Left, Align::Left}};
  table.row({"asked for", bytes_and_amount(request.size)});
  table.row({"function", std::string{function_name(request.api)}});
  if (takes_policy(request.api)) {
    const std::string number =
        request.policy > 7 ? fmt::format("{:#x}", request.policy) : fmt::format("{}", request.policy);
    const std::string name = policy_name(request.policy);
    const std::string read = policy_as_read(request);
    table.row({"policy", name == number ? number : fmt::format("{} ({})", name, number)});
    if (read != name) table.row({"  read as", read});
  }
  table.row({"product", product_text(request.product, request.form)});
  table.row({"  padding", product.padding == 0 ? std::string{"none"} : amount(product.padding)});
  if (answer.refused) {
    table.row({"returns", paint(Style::Red, code_text(*answer.refused))});
    table.row({"because", answer.refused->text + " (" + answer.refused->rule + ")"});
  } else {
    const Plan& plan = *answer.plan;
    table.row({"bytes taken", fmt::format("{} bytes: {}", plan.bytes, how_bytes_came(answer))});
    table.row({"page kind", words_for(plan.page).kind});
    table.row({"page size", bytes_and_amount(page_bytes(plan.page))});
    table.row({"pages", plan.media ? fmt::format("{} units of 4 KB within huge pages", plan.pages())
                                   : fmt::format("{}", plan.pages())});
    table.row({"page-table entries", fmt::format("{}", answer.page_table_entries())});
    table.row({"what it costs", paint(Style::Bold, bytes_and_amount(plan.footprint))});
    table.row({"wasted", fmt::format("{}, {} of the cost", bytes_and_amount(plan.waste()),
                                     share(plan.waste(), plan.footprint))});
    table.row({"of the device", of_device(answer)});
    table.row({"when pages run out", when_short_text(answer)});
    table.row({"P2P", plan.p2p ? "yes" : "no"});
    table.row({"read-only", plan.read_only ? "yes" : "no"});
    if (!answer.hint.empty()) table.row({"hint", answer.hint});
  }
  const std::optional<std::size_t> width = output_width();
  fmt::print("{}", table.text(width));
  print_rules(answer.rules, width);
}

std::string note_on(const Answer& answer) {
  if (answer.refused)
    return fmt::format("{}: {} ({})", paint(Style::Red, code_text(*answer.refused)), answer.refused->text,
                       answer.refused->rule);
  if (!answer.fits)
    return fmt::format("{}: it has {}", paint(Style::Red, code_text(answer.shortage)),
                       amount(answer.request.product.usable_bytes));
  if (answer.plan->when_short != answer.plan->page)
    return fmt::format("or {} pages", amount(page_bytes(answer.plan->when_short)));
  return {};
}

void print_comparison(const std::vector<Answer>& answers) {
  const Request& request = answers.front().request;
  fmt::print("{} through {}", bytes_and_amount(request.size), function_name(request.api));
  if (takes_policy(request.api)) fmt::print(" with {}", policy_name(request.policy));
  fmt::print("{}\n\n", request.form == Form::EP ? "" : fmt::format(", form {}", name_of(request.form)));

  Table table{{Align::Left, Align::Right, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right,
               Align::Left}};
  table.heading({"product", "bytes", "page", "pages", "cost", "waste", "share", "note"});
  for (const Answer& answer : answers) {
    const std::string key{answer.request.product.row->key};
    if (!answer.plan) {
      table.row({key, "-", "-", "-", "-", "-", "-", note_on(answer)});
      continue;
    }
    const Plan& plan = *answer.plan;
    table.row({key, fmt::format("{}", plan.bytes), amount(page_bytes(plan.page)),
               fmt::format("{}", plan.pages()), fmt::format("{}", plan.footprint),
               fmt::format("{}", plan.waste()), share(plan.waste(), plan.footprint), note_on(answer)});
  }
  fmt::print("{}", table.text(output_width()));
}

// --- as JSON --------------------------------------------------------------------------------------

Json when_short_json(const Answer& answer) {
  const Plan& plan = *answer.plan;
  Json json;
  const bool other = plan.when_short != plan.page;
  json["fallback"] = nullptr;
  if (other) {
    json["fallback"] = {{"page", words_for(plan.when_short).key},
                        {"page_bytes", page_bytes(plan.when_short)},
                        {"pages", plan.footprint_when_short / page_bytes(plan.when_short)},
                        {"footprint_bytes", plan.footprint_when_short}};
  }
  json["error"] = refusal_json(answer.shortage);
  return json;
}

Json plan_json(const Answer& answer) {
  const Plan& plan = *answer.plan;
  return {{"bytes", plan.bytes},
          {"padding_bytes", answer.padded() ? answer.request.product.row->padding : 0},
          {"page", words_for(plan.page).key},
          {"page_bytes", page_bytes(plan.page)},
          {"unit_bytes", plan.unit()},
          {"pages", plan.pages()},
          {"page_table_entries", answer.page_table_entries()},
          {"footprint_bytes", plan.footprint},
          {"waste_bytes", plan.waste()},
          {"waste_percent", percent(plan.waste(), plan.footprint)},
          {"p2p", plan.p2p},
          {"read_only", plan.read_only},
          {"fits_empty_device", answer.fits},
          {"when_short", when_short_json(answer)}};
}

Json answer_json(const Answer& answer) {
  const Request& request = answer.request;
  Json json;
  json["asked_bytes"] = request.size;
  json["function"] = function_name(request.api);
  json["policy"] = nullptr;
  if (takes_policy(request.api)) {
    json["policy"] = {{"value", request.policy},
                      {"name", policy_name(request.policy)},
                      {"read_as", policy_as_read(request)}};
  }
  json["product"] = product_json(request.product);
  json["form"] = name_of(request.form);
  json["ok"] = answer.plan.has_value();
  json["plan"] = answer.plan ? plan_json(answer) : Json{};
  json["refusal"] = answer.refused ? refusal_json(*answer.refused) : Json{};
  json["hint"] = answer.hint.empty() ? Json{} : Json(answer.hint);
  json["rules"] = rules_json(answer.rules);
  return json;
}

// --- the command ----------------------------------------------------------------------------------

std::string given_or_environment(const std::string& given, const char* variable, const char* fallback) {
  if (!given.empty()) return given;
  const std::string value = platform::environment(variable).value_or("");
  return value.empty() ? fallback : value;
}

// Where it would be asked.
struct Asked {
  Choice product;
  Form form;
};
Asked read_place(const ExplainArguments& arguments) {
  const Asked asked{
      read_product(arguments.all_products ? "A2"
                                          : given_or_environment(arguments.product, "BELAY_PRODUCT", "A2")),
      read_form(given_or_environment(arguments.form, "BELAY_FORM", "EP"))};
  if (!arguments.all_products && host_is_device(asked.form) &&
      !has(asked.product.row->product, Feature::HostForm)) {
    throw UsageError{fmt::format("{} has no {} form", asked.product.row->family, name_of(asked.form)),
                     "only 310B, 310P, 910 and IPV350 have it (rule M-437)"};
  }
  return asked;
}

Request read_request(const ExplainArguments& arguments) {
  Request request;
  request.size = read_size(arguments.size);
  request.api = read_api(arguments.api);
  if (!arguments.attribute.empty() || !arguments.location.empty()) {
    throw UsageError{fmt::format("{} takes no attribute and no location", function_name(request.api)),
                     "leave --attr and --location out, or ask for --api physical"};
  }
  if (!arguments.policy.empty()) {
    if (!takes_policy(request.api)) {
      throw UsageError{fmt::format("{} takes no policy", function_name(request.api)), "leave --policy out"};
    }
    request.policy = read_policy(arguments.policy);
  }
  const Asked asked = read_place(arguments);
  request.product = asked.product;
  request.form = asked.form;
  return request;
}

PhysicalRequest read_physical_request(const ExplainArguments& arguments) {
  PhysicalRequest request;
  request.size = read_size(arguments.size);
  if (!arguments.policy.empty()) {
    throw UsageError{fmt::format("{} takes no policy", kPhysicalFunction),
                     "leave --policy out; --attr says which pages"};
  }
  if (!arguments.attribute.empty()) request.attribute = read_attribute(arguments.attribute);
  if (!arguments.location.empty()) request.location = read_location(arguments.location);
  const Asked asked = read_place(arguments);
  request.product = asked.product;
  request.form = asked.form;
  return request;
}

template <class Requested>
int explain(Requested request, const ExplainArguments& arguments) {
  if (!arguments.all_products) {
    const auto only = answer(request);
    if (arguments.json) {
      fmt::print("{}\n", answer_json(only).dump(2));
    } else {
      print_answer(only);
    }
    return kOk;
  }
  std::vector<decltype(answer(request))> answers;
  for (const ProductRow& row : products()) {
    request.product = {&row, row.soc, row.usable_bytes};
    answers.push_back(answer(request));
  }
  if (arguments.json) {
    Json json = Json::array();
    for (const auto& each : answers) json.push_back(answer_json(each));
    fmt::print("{}\n", Json{{"products", json}}.dump(2));
  } else {
    print_comparison(answers);
  }
  return kOk;
}

int explain(const ExplainArguments& arguments) {
  return names_physical(arguments.api) ? explain(read_physical_request(arguments), arguments)
                                       : explain(read_request(arguments), arguments);
}

}  // namespace

Action add_explain(CLI::App& belay) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App& app =
      *belay.add_subcommand("explain", "Show what a request for memory costs, and which rules apply")
           ->group("Commands");
  app.add_option("SIZE", arguments->size, "bytes asked for: 1, 4096, 0x1000, 64K, 2MB, 1.9G (1 K = 1024)")
      ->required()
      ->option_text(" ");
  app.add_option("--policy", arguments->policy,
                 "HUGE_FIRST, HUGE_ONLY, NORMAL_ONLY, one of these with _P2P,\n"
                 "HUGE1G_ONLY, HUGE1G_ONLY_P2P, LOW_BAND_WIDTH, HIGH_BAND_WIDTH,\n"
                 "USER_SPACE_READONLY, several joined by |, or a number\ndefault: HUGE_FIRST")
      ->type_name("POLICY");
  app.add_option("--api", arguments->api,
                 "malloc, align32, cached, withcfg, taskscheduler, host,\n"
                 "hostwithcfg, dvpp, himpi, physical, or the function's full name\ndefault: malloc")
      ->type_name("FUNCTION");
  app.add_option("--attr", arguments->attribute,
                 "of physical memory: HBM_HUGE, HBM_NORMAL, HBM_HUGE1G, HUGE, NORMAL,\n"
                 "HUGE1G, P2P_HUGE, P2P_NORMAL, P2P_HUGE1G, DDR_HUGE, ..., a name of\n"
                 "aclrtMemAttr, or a number\ndefault: HBM_HUGE")
      ->type_name("ATTRIBUTE");
  app.add_option("--location", arguments->location,
                 "of physical memory: device, host or numa\ndefault: device")
      ->type_name("LOCATION");
  CLI::Option* product =
      app.add_option("--product", arguments->product,
                     "A2, A3, 950, 310P, 910, 310B, IPV350 or a SoC name\ndefault: BELAY_PRODUCT, else A2")
          ->type_name("PRODUCT");
  app.add_option("--form", arguments->form, "EP, RC or OPEN_CTRL_CPU\ndefault: BELAY_FORM, else EP")
      ->type_name("FORM");
  app.add_flag("--json", arguments->json, "print as JSON");
  app.add_flag("--all-products", arguments->all_products, "compare all products, one row each")
      ->excludes(product)
      ->option_text(" ");
  set_help(app, "belay explain SIZE [OPTIONS]",
           "A request that would be refused is shown with its error code and rule; the exit code is 0.\n\n"
           "Examples:\n"
           "  belay explain 2M --policy HUGE_ONLY          2 MB cost 4 MB: 32 bytes of padding spill over\n"
           "  belay explain 2M --policy HUGE_ONLY --product 950\n"
           "  belay explain 1.9G --policy HUGE1G_ONLY      rounds up to 2 GB\n"
           "  belay explain 1 --policy 'HUGE_ONLY|HIGH_BAND_WIDTH' --api align32\n"
           "  belay explain 4G --policy HUGE1G_ONLY --all-products\n"
           "  belay explain 3M --api physical              granularity, pages and what is reported\n"
           "  belay explain 1G --api physical --attr HUGE1G --all-products\n"
           "  belay explain 20M --api physical --attr HUGE --location host\n"
           "  belay explain 64K --api host --json");
  return [arguments] { return explain(*arguments); };
}

}  // namespace belay::cli
