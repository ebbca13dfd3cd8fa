# A folder is a room, a room is a target, and it sees only the rooms it names.
#
# Headers are included as "room/file.h". Each room's include path holds a single link named after the room, and
# what a room names is not handed on to those who name it: an include of any other room does not compile
# (the test `rooms` tries).
function(belay_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;SEES;LINKS" ${ARGN})
  set(view ${PROJECT_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${view}/${name} SYMBOLIC)
  list(TRANSFORM ROOM_SEES PREPEND belay_)
  add_library(belay_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(belay_${name} PUBLIC ${view})
  target_link_libraries(belay_${name} PUBLIC ${ROOM_LINKS} PRIVATE ${ROOM_SEES} belay_warnings)
  belay_read_once(belay_${name})
  belay_compile_together(belay_${name} 0)
endfunction()

# What nearly every file includes is read by the compiler once, for all targets that are compiled alike (ccache wants
# the option).
function(belay_read_once target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
  if(target STREQUAL belay_base)
    target_precompile_headers(${target} PRIVATE <fmt/format.h> <algorithm> <array> <atomic> <chrono> <condition_variable>
      <cstddef> <cstdint> <cstring> <deque> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span> <string>
      <string_view> <thread> <utility> <vector>)
  else()
    target_precompile_headers(${target} REUSE_FROM belay_base)
  endif()
endfunction()

# Files that make much of the same large templates are compiled several at a time (0: all at once), in half the time or
# less. So no two of them may use the same name for different things.
option(BELAY_COMPILE_TOGETHER "Compile the files of a room, of the command and of tests several at a time" ON)
function(belay_compile_together target files)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${BELAY_COMPILE_TOGETHER} UNITY_BUILD_BATCH_SIZE ${files})
endfunction()
