# A folder is a room, a room is a target, and it sees only the rooms it links.
#
# Headers are included as "room/file.h". Each room's include path holds a single link named after
# the room, so that an include in the wrong direction fails to compile.
function(belay_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;SEES;LINKS" ${ARGN})
  set(view ${PROJECT_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${view}/${name} SYMBOLIC)
  list(TRANSFORM ROOM_SEES PREPEND belay_)
  if(ROOM_SOURCES)
    add_library(belay_${name} STATIC ${ROOM_SOURCES})
    target_include_directories(belay_${name} PUBLIC ${view})
    target_link_libraries(belay_${name} PUBLIC ${ROOM_SEES} ${ROOM_LINKS} belay_warnings)
  else()
    add_library(belay_${name} INTERFACE)
    target_include_directories(belay_${name} INTERFACE ${view})
    target_link_libraries(belay_${name} INTERFACE ${ROOM_SEES} ${ROOM_LINKS})
  endif()
endfunction()
