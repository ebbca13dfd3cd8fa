#include "cli/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/nearest.h"
#include "cli/function_name.h"
#include "platform/environment.h"

namespace belay::cli {
namespace {

namespace fs = std::filesystem;

const Dwfl_Callbacks kFindFiles{
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

using Dies = std::vector<Dwarf_Die>;  // DIE is DWARF's word for an entry: a function, a namespace, a block

struct Function {
  Dwarf_Addr begin, end;  // one of the pieces that it has
  Dwarf_Die die;
};

struct Unit {  // what was compiled at once
  Dwarf_Die die;
  std::optional<std::vector<Function>> functions;  // once they are needed
};

// --- functions around an address ------------------------------------------------------------------

void for_each_range(Dwarf_Die& die, auto&& act) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (std::ptrdiff_t next = 0; (next = dwarf_ranges(&die, next, &base, &begin, &end)) > 0;) act(begin, end);
}

// The functions that have code of their own. They may stand in namespaces, in classes, and those in other
// functions again.
void add_functions(Dwarf_Die& parent, std::vector<Function>& functions) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_subprogram:
        for_each_range(child, [&](auto begin, auto end) { functions.push_back({begin, end, child}); });
        [[fallthrough]];
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
      case DW_TAG_lexical_block:
        add_functions(child, functions);
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

// Appends the functions that are inlined at this address, outermost first, and says whether there is one.
bool add_inlined(Dwarf_Die& parent, Dwarf_Addr address, Dies& found) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return false;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_inlined_subroutine:
        if (dwarf_haspc(&child, address) <= 0) break;
        found.push_back(child);
        add_inlined(child, address, found);
        return true;
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
        // A block without addresses of its own (-1) may have children with some.
        if (dwarf_haspc(&child, address) != 0 && add_inlined(child, address, found)) return true;
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

// Where several have the address, the one that begins last: what the linker has left out begins at 0.
template <class Range>
const Range* nearest_with(Dwarf_Addr address, const std::vector<Range>& ranges) {
  const Range* nearest = nullptr;
  for (const Range& each : ranges) {
    if (address < each.begin || address >= each.end) continue;
    if (nearest == nullptr || each.begin > nearest->begin) nearest = &each;
  }
  return nearest;
}

// Innermost first: those that are inlined, and the one that was compiled.
Dies functions_at(Unit& unit, Dwarf_Addr address) {
  if (!unit.functions) {
    // With -gsplit-dwarf the functions are in a file of their own (.dwo).
    Dwarf_Die split{};
    if (dwarf_cu_info(unit.die.cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) != 0)
      split = {};
    add_functions(split.addr != nullptr ? split : unit.die, unit.functions.emplace());
  }
  Dies found;
  if (const Function* compiled = nearest_with(address, *unit.functions)) {
    found.push_back(compiled->die);
    add_inlined(found.front(), address, found);
  }
  std::ranges::reverse(found);
  return found;
}

// --- their names ----------------------------------------------------------------------------------

// Also what the declaration or the definition of an inlined function says.
std::string text_of(Dwarf_Die& die, unsigned what) {
  Dwarf_Attribute attribute;
  const char* text = dwarf_formstring(dwarf_attr_integrate(&die, what, &attribute));
  return text != nullptr ? text : "";
}

// Where the function stands in the source: what refers to it may stand anywhere.
Dwarf_Die declaration(Dwarf_Die die) {
  for (const unsigned what : {DW_AT_abstract_origin, DW_AT_specification}) {
    Dwarf_Attribute attribute;
    Dwarf_Die other;
    if (dwarf_formref_die(dwarf_attr(&die, what, &attribute), &other) != nullptr) die = other;
  }
  return die;
}

// The names of the namespaces and classes around it, each with "::". The whole unit is read for this.
std::string scope_of(Dwarf_Die& declared) {
  std::string prefix;
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&declared, &scopes);
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner{scopes, &std::free};
  for (Dwarf_Die& scope : std::span{scopes, count > 0 ? static_cast<std::size_t>(count) : 0}) {
    if (scope.addr == declared.addr) continue;
    std::string name = text_of(scope, DW_AT_name);
    switch (dwarf_tag(&scope)) {
      case DW_TAG_namespace:
        if (name.empty()) name = "(anonymous namespace)";
        break;
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
        if (name.empty()) name = text_of(declared, DW_AT_name) == "operator()" ? "{lambda}" : "{unnamed}";
        break;
      case DW_TAG_subprogram:
        break;
      default:
        continue;
    }
    if (!name.empty()) prefix.insert(0, name + "::");
  }
  return prefix;
}

std::string hex_of(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char each : bytes) text += fmt::format("{:02x}", each);
  return text;
}

bool is_file(const std::string& path) {  // opening a pipe would wait for its other end
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

// The kernel's name of the current directory, and the one with links that a shell, and therefore a compiler,
// may use.
std::vector<std::string> names_of_current_directory() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const std::string& name :
       {fs::current_path(ignored).string(), platform::environment("PWD").value_or("")}) {
    if (name.starts_with('/') && name != "/" && fs::equivalent(name, ".", ignored))
      names.push_back(name + "/");
  }
  return names;
}

}  // namespace

// --- one file -------------------------------------------------------------------------------------

class Symbols::Module {
 public:
  Module(const std::string& path, const std::vector<std::string>& below) : below_{below} {
    if (!is_file(path)) return;
    dwfl_.reset(dwfl_begin(&kFindFiles));
    if (!dwfl_) return;
    module_ = dwfl_report_elf(dwfl_.get(), path.c_str(), path.c_str(), -1, 0, true);
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
    if (module_ == nullptr || dwfl_module_getelf(module_, &bias_) == nullptr) module_ = nullptr;
    if (module_ == nullptr) return;
    const unsigned char* id = nullptr;
    GElf_Addr ignored = 0;
    const int bytes = dwfl_module_build_id(module_, &id, &ignored);
    if (bytes > 0) build_id_ = hex_of({id, static_cast<std::size_t>(bytes)});
  }

  bool has_other_id(std::string_view build_id) const {
    return module_ != nullptr && !build_id.empty() && !same_word(build_id, build_id_);
  }

  const std::vector<Place>& at(std::uint64_t offset) {
    const auto [known, fresh] = known_.try_emplace(offset);
    if (fresh && module_ != nullptr && offset > 0) known->second = look_up(offset - 1 + bias_);
    return known->second;
  }

 private:
  struct UnitRange {
    Dwarf_Addr begin, end;
    std::size_t unit;
  };

  std::vector<Place> look_up(Dwarf_Addr address) {
    const char* const found = dwfl_module_addrname(module_, address);
    const std::string symbol = found != nullptr ? found : "";
    std::vector<Place> places;
    read_units();
    if (const UnitRange* range = nearest_with(address - dwarf_bias_, ranges_))
      places = places_in(units_[range->unit], address - dwarf_bias_, symbol);
    if (places.empty()) places.emplace_back();
    if (places.back().function.empty()) places.back().function = function_name(symbol);
    if (places.size() == 1 && places[0].function.empty() && places[0].file.empty()) return {};
    return places;
  }

  // Which unit has which addresses. The table that files have of this (.debug_aranges) is not used: clang
  // writes none.
  void read_units() {
    if (std::exchange(units_read_, true)) return;
    Dwarf* dwarf = dwfl_module_getdwarf(module_, &dwarf_bias_);
    if (dwarf == nullptr) return;
    Dwarf_CU* cu = nullptr;
    Dwarf_Die die;
    while (dwarf_get_units(dwarf, cu, &cu, nullptr, nullptr, &die, nullptr) == 0) {
      for_each_range(die, [&](auto begin, auto end) { ranges_.push_back({begin, end, units_.size()}); });
      units_.push_back({die, std::nullopt});
    }
  }

  std::vector<Place> places_in(Unit& unit, Dwarf_Addr address, const std::string& symbol) {
    Place place;
    if (Dwarf_Line* line = dwarf_getsrc_die(&unit.die, address)) {
      dwarf_lineno(line, &place.line);
      place.file = shown(dwarf_linesrc(line, nullptr, nullptr), unit.die);
    }
    std::vector<Place> places;
    for (Dwarf_Die& function : functions_at(unit, address)) {
      const bool inlined = dwarf_tag(&function) == DW_TAG_inlined_subroutine;
      place.function = name_of(function, inlined ? "" : symbol);
      places.push_back(place);
      if (inlined) place = called_at(function, unit.die);
    }
    if (places.empty() && !place.file.empty()) places.push_back(place);
    return places;
  }

  // `symbol` is what the symbol table has at this address; empty for an inlined function.
  std::string name_of(Dwarf_Die& function, const std::string& symbol) {
    for (const unsigned what : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
      if (const std::string name = text_of(function, what); !name.empty()) return function_name(name);
    }
    // A language without mangled names, or a function that only its own file can see. The symbol says more
    // than the entry: with -g1 that has no namespaces around it. But functions with the same code may share
    // an address, and then the symbol may be that of another one.
    const std::string name = text_of(function, DW_AT_name);
    const bool same =
        name.starts_with("operator") || symbol.find(name.substr(0, name.find('<'))) != std::string::npos;
    if (name.empty() || (symbol.starts_with("_Z") && same)) return function_name(symbol);
    Dwarf_Die declared = declaration(function);
    const auto [scope, fresh] = scopes_.try_emplace(declared.addr);
    if (fresh) scope->second = scope_of(declared);
    return without_arguments(scope->second + name);
  }

  // Where an inlined function would have been called.
  Place called_at(Dwarf_Die& inlined, Dwarf_Die& unit) const {
    Place place;
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_line, &attribute), &number) == 0)
      place.line = static_cast<int>(number);
    Dwarf_Files* files = nullptr;
    if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_file, &attribute), &number) == 0 &&
        dwarf_getsrcfiles(&unit, &files, nullptr) == 0) {
      place.file = shown(dwarf_filesrc(files, number, nullptr, nullptr), unit);
    }
    return place;
  }

  std::string shown(const char* name, Dwarf_Die& unit) const {
    if (name == nullptr) return {};
    fs::path path{name};
    // Compilers can be told to write a relative directory; then it is part of the name already.
    const fs::path directory{text_of(unit, DW_AT_comp_dir)};
    if (path.is_relative() && directory.is_absolute()) path = directory / path;
    std::string text = path.lexically_normal().string();
    for (const std::string& current : below_) {
      if (text.starts_with(current)) return text.substr(current.size());
    }
    return text;
  }

  const std::vector<std::string>& below_;
  std::unique_ptr<Dwfl, decltype(&dwfl_end)> dwfl_{nullptr, &dwfl_end};
  Dwfl_Module* module_ = nullptr;  // null: not a file that can be read
  GElf_Addr bias_ = 0;
  std::string build_id_;
  bool units_read_ = false;
  Dwarf_Addr dwarf_bias_ = 0;
  std::vector<Unit> units_;
  std::vector<UnitRange> ranges_;
  std::unordered_map<const void*, std::string> scopes_;          // by declaration
  std::unordered_map<std::uint64_t, std::vector<Place>> known_;  // stacks have much in common
};

// --- all files ------------------------------------------------------------------------------------

Symbols::Symbols() : below_{names_of_current_directory()} {
  ::unsetenv("DEBUGINFOD_URLS");  // else the library would ask servers for what is missing
}

Symbols::~Symbols() = default;

Symbols::Module& Symbols::module(const std::string& path) {
  std::unique_ptr<Module>& known = modules_[path];
  if (!known) known = std::make_unique<Module>(path, below_);
  return *known;
}

std::vector<Place> Symbols::at(const std::string& path, std::uint64_t offset, std::string_view build_id) {
  Module& file = module(path);
  if (file.has_other_id(build_id)) return {};
  return file.at(offset);
}

bool Symbols::changed(const std::string& path, std::string_view build_id) {
  return module(path).has_other_id(build_id);
}

}  // namespace belay::cli
