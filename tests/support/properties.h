// Properties that RapidCheck tries with random input: as often, and with the seed, that support/slices.h
// says.
#pragma once

#include <rapidcheck.h>

#include <iostream>
#include <string>
#include <utility>

#include "support/slices.h"

namespace belay_test {

template <typename Property>
bool holds(const std::string& what, int part, int full, Property&& property) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.seed = test_seed();
  params.maxSuccess = slice(part, full);
  rc::detail::TestMetadata about;
  about.id = about.description = what;
  const rc::detail::TestResult result =
      rc::detail::checkTestable(std::forward<Property>(property), about, params);
  rc::detail::printResultMessage(result, std::cerr);
  std::cerr << std::endl;
  return result.template is<rc::detail::SuccessResult>();
}

}  // namespace belay_test
