// A request for memory as people write it: "1.9G", "HUGE_ONLY|HIGH_BAND_WIDTH", "align32", "A3".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "memory/plan.h"
#include "product/product.h"

namespace belay::cli {

struct Request {
  std::size_t size = 0;
  std::uint32_t policy = 0;
  Api api = Api::Malloc;
  Choice product{};
  Form form = Form::EP;
};

// All of these throw UsageError for a word that they do not know.
std::size_t read_size(std::string_view text);  // fractions of a unit are cut to whole bytes
std::uint32_t read_policy(std::string_view text);
Api read_api(std::string_view text);
Choice read_product(std::string_view text);
Form read_form(std::string_view text);

std::string_view function_name(Api api);
bool takes_policy(Api api);

// "ACL_MEM_MALLOC_HUGE_ONLY | ACL_MEM_TYPE_HIGH_BAND_WIDTH", or the number of a value outside the enum.
std::string policy_name(std::uint32_t policy);

}  // namespace belay::cli
