#include "cli/explain_physical.h"

#include "cli/colour.h"
#include "cli/table.h"

namespace belay::cli {
namespace {

std::string attribute_text(std::uint32_t attribute) {
  const std::string name = attribute_name(attribute);
  const std::string number = fmt::format("{}", attribute);
  return name == number ? number : fmt::format("{} ({})", name, number);
}

std::string of_device(const PhysicalAnswer& answer) {
  const std::size_t usable = answer.request.product.usable_bytes;
  if (answer.plan->side == Side::Host) return "none: it is host memory, pinned";
  if (!answer.fits)
    return paint(Style::Red,
                 fmt::format("more than all of its {}: {}", amount(usable), code_text(answer.shortage)));
  return fmt::format("{} of {}", share(answer.plan->bytes, usable), amount(usable));
}

std::string note_on(const PhysicalAnswer& answer) {
  if (answer.refused)
    return fmt::format("{}: {} ({})", paint(Style::Red, code_text(*answer.refused)), answer.refused->text,
                       answer.refused->rule);
  if (!answer.fits)
    return fmt::format("{}: it has {}", paint(Style::Red, code_text(answer.shortage)),
                       amount(answer.request.product.usable_bytes));
  return fmt::format("reported as {}", attribute_name(answer.plan->reported));
}

}  // namespace

void print_answer(const PhysicalAnswer& answer) {
  const PhysicalRequest& request = answer.request;
  Table table{{Align::Left, Align::Left}};
  table.row({"asked for", bytes_and_amount(request.size)});
  table.row({"function", std::string{kPhysicalFunction}});
  table.row({"attribute", attribute_text(request.attribute)});
  table.row({"location", std::string{location_name(request.location)}});
  table.row({"product", product_text(request.product, request.form)});
  if (answer.refused) {
    table.row({"returns", paint(Style::Red, code_text(*answer.refused))});
    table.row({"because", answer.refused->text + " (" + answer.refused->rule + ")"});
  } else {
    const PhysicalPlan& plan = *answer.plan;
    const std::size_t page = page_bytes(plan.page);
    table.row({"granularity", bytes_and_amount(page)});
    table.row({"page kind", words_for(plan.page).kind});
    table.row({"pages", fmt::format("{}", plan.pages())});
    table.row({"what it costs", paint(Style::Bold, bytes_and_amount(plan.bytes))});
    table.row({"wasted", fmt::format("{}, {} of the cost", bytes_and_amount(answer.waste()),
                                     share(answer.waste(), plan.bytes))});
    table.row({"of the device", of_device(answer)});
    table.row({"to be mapped", fmt::format("all {} bytes, at a multiple of {}", plan.bytes, amount(page))});
    table.row(
        {"when pages run out", fmt::format("{}; no other pages are tried", code_text(answer.shortage))});
    table.row({"P2P", plan.p2p ? "yes" : "no"});
    table.row({"reported as", attribute_text(static_cast<std::uint32_t>(plan.reported))});
    if (!answer.hint.empty()) table.row({"hint", answer.hint});
  }
  const std::optional<std::size_t> width = output_width();
  fmt::print("{}", table.text(width));
  print_rules(answer.rules, width);
}

void print_comparison(const std::vector<PhysicalAnswer>& answers) {
  const PhysicalRequest& request = answers.front().request;
  fmt::print("{} through {} with {} at {}{}\n\n", bytes_and_amount(request.size), kPhysicalFunction,
             attribute_name(request.attribute), location_name(request.location),
             request.form == Form::EP ? "" : fmt::format(", form {}", name_of(request.form)));
  Table table{
      {Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left}};
  table.heading({"product", "page", "pages", "cost", "waste", "share", "note"});
  for (const PhysicalAnswer& answer : answers) {
    const std::string key{answer.request.product.row->key};
    if (!answer.plan) {
      table.row({key, "-", "-", "-", "-", "-", note_on(answer)});
      continue;
    }
    const PhysicalPlan& plan = *answer.plan;
    table.row({key, amount(page_bytes(plan.page)), fmt::format("{}", plan.pages()),
               fmt::format("{}", plan.bytes), fmt::format("{}", answer.waste()),
               share(answer.waste(), plan.bytes), note_on(answer)});
  }
  fmt::print("{}", table.text(output_width()));
}

Json answer_json(const PhysicalAnswer& answer) {
  const PhysicalRequest& request = answer.request;
  const auto attribute = [](std::uint32_t value) -> Json {
    return {{"value", value}, {"name", attribute_name(value)}};
  };
  Json json;
  json["asked_bytes"] = request.size;
  json["function"] = kPhysicalFunction;
  json["attribute"] = attribute(request.attribute);
  json["location"] = location_name(request.location);
  json["product"] = product_json(request.product);
  json["form"] = name_of(request.form);
  json["ok"] = answer.plan.has_value();
  json["plan"] = nullptr;
  if (answer.plan) {
    const PhysicalPlan& plan = *answer.plan;
    json["plan"] = {{"granularity_bytes", page_bytes(plan.page)},
                    {"page", words_for(plan.page).key},
                    {"page_bytes", page_bytes(plan.page)},
                    {"pages", plan.pages()},
                    {"footprint_bytes", plan.bytes},
                    {"waste_bytes", answer.waste()},
                    {"waste_percent", percent(answer.waste(), plan.bytes)},
                    {"p2p", plan.p2p},
                    {"reported", attribute(static_cast<std::uint32_t>(plan.reported))},
                    {"fits_empty_device", answer.fits},
                    {"when_short", {{"fallback", nullptr}, {"error", refusal_json(answer.shortage)}}}};
  }
  json["refusal"] = answer.refused ? refusal_json(*answer.refused) : Json{};
  json["hint"] = answer.hint.empty() ? Json{} : Json(answer.hint);
  json["rules"] = rules_json(answer.rules);
  return json;
}

}  // namespace belay::cli
