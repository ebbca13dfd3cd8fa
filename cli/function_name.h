// The name of a function as people write it: "ns::Class::method", without types and arguments.
#pragma once

#include <string>
#include <string_view>

namespace belay::cli {

// From the name in a symbol table: demangled, without what the compiler adds to parts and copies of a
// function.
std::string function_name(const std::string& symbol);

// Without arguments and the type that is returned; long lists of template arguments are cut. A name that this
// cannot take apart stays as it is.
std::string without_arguments(std::string_view name);

}  // namespace belay::cli
