// Where huge pages of an emulated device come from on a machine, and how it could have better ones.
#pragma once

#include <cstddef>

#include "cli/finding.h"

namespace belay::cli {

// The kernel's pool (hugetlb), small pages collapsed into transparent huge ones, or small pages as they are.
// Nothing: such pages will be refused.
enum class PageSource { Pool, Collapse, Small, Nothing };

// What BELAY_PAGES comes to, for 2 MB or 1 GB pages.
PageSource page_source(const Host& host, const Wishes& wishes, std::size_t page_bytes);

Finding about_pages(const Host& host, const Wishes& wishes, std::size_t page_bytes);

}  // namespace belay::cli
