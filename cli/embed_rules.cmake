# Writes the chapters of rules as C++ text: cmake -DRULES=<folder> -DOUTPUT=<file> -P embed_rules.cmake
#
# Compilers accept string literals of at least 64 KB, so a chapter becomes several, cut at line ends.
set(mark BELAY_RULES)
set(most 32000)

file(GLOB chapters ${RULES}/[0-9]*.md)
if(NOT chapters)
  message(FATAL_ERROR "no chapters of rules in ${RULES}")
endif()

set(pieces "")
set(table "")
foreach(chapter IN LISTS chapters)
  get_filename_component(file ${chapter} NAME)
  string(MAKE_C_IDENTIFIER "text_${file}" variable)
  file(READ ${chapter} text)
  string(FIND "${text}" ")${mark}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} contains the mark that ends a literal: )${mark}\"")
  endif()
  string(APPEND pieces "constexpr std::string_view ${variable}[] = {\n")
  string(LENGTH "${text}" left)
  while(left GREATER 0)
    set(cut ${left})
    if(left GREATER most)
      string(SUBSTRING "${text}" 0 ${most} piece)
      string(FIND "${piece}" "\n" cut REVERSE)
      if(cut EQUAL -1)
        message(FATAL_ERROR "${file} has a line of more than ${most} bytes")
      endif()
      math(EXPR cut "${cut} + 1")
    endif()
    string(SUBSTRING "${text}" 0 ${cut} piece)
    string(SUBSTRING "${text}" ${cut} -1 text)
    string(LENGTH "${text}" left)
    string(APPEND pieces "    R\"${mark}(${piece})${mark}\",\n")
  endwhile()
  string(APPEND pieces "};\n")
  string(APPEND table "    {\"${file}\", ${variable}},\n")
endforeach()

file(WRITE ${OUTPUT} "// Made from docs/rules by embed_rules.cmake.
#include \"cli/rulebook.h\"

namespace belay::cli {
namespace {

${pieces}
constexpr ChapterText kChapters[] = {
${table}};

}  // namespace

std::span<const ChapterText> chapter_texts() { return kChapters; }

}  // namespace belay::cli
")
