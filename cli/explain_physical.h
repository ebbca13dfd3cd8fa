// How `belay explain --api physical` shows its answers.
#pragma once

#include <vector>

#include "cli/explain_words.h"
#include "cli/physical_answer.h"

namespace belay::cli {

void print_answer(const PhysicalAnswer& answer);
void print_comparison(const std::vector<PhysicalAnswer>& answers);  // of all products
Json answer_json(const PhysicalAnswer& answer);

}  // namespace belay::cli
