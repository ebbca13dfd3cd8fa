// What explanations of blocks and of physical memory say alike.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/words.h"
#include "cli/answer.h"

namespace belay::cli {

struct PageWords {
  const char *kind, *key;
};
inline PageWords words_for(Page page) {
  switch (page) {
    case Page::Normal:
      return {"normal", "normal"};
    case Page::Huge2M:
      return {"huge", "huge_2m"};
    case Page::Huge1G:
      return {"huge (1 GB)", "huge_1g"};
  }
  return {"", ""};
}

// "50.0 %"; what is not nothing or everything does not round to it.
inline std::string share(std::size_t part, std::size_t whole) {
  const double exact = percent(part, whole);
  if (part != 0 && exact < 0.05) return "under 0.1 %";
  if (part != whole && exact >= 99.95) return "over 99.9 %";
  return fmt::format("{:.1f} %", exact);
}

// The public numbers are written in decimal, those of the media interface in hex.
inline std::string code_text(const Refused& refused) {
  return refused.code >= 0x80000000U ? fmt::format("0x{:X} ({})", refused.code, refused.name)
                                     : fmt::format("{} {}", refused.code, refused.name);
}

inline std::string product_text(const Choice& product, Form form) {
  return fmt::format("{}: {}, {}, form {}", product.row->key, product.row->family, product.soc,
                     name_of(form));
}

using Json = nlohmann::ordered_json;

inline Json refusal_json(const Refused& refused) {
  return {{"code", refused.code}, {"name", refused.name}, {"rule", refused.rule}, {"text", refused.text}};
}

inline Json product_json(const Choice& product) {
  return {{"key", product.row->key},
          {"family", product.row->family},
          {"soc", product.soc},
          {"padding_bytes", product.row->padding},
          {"usable_bytes", product.usable_bytes}};
}

// With their texts, as far as this build has them.
Json rules_json(const std::vector<std::string>& ids);
void print_rules(const std::vector<std::string>& ids, std::optional<std::size_t> width);

}  // namespace belay::cli
