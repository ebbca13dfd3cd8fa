# The public headers as programs see them: those of the folder include, and those that are made from tables
# (src/api/absent). Made when CMake configures, so that they are there before anything is compiled.
set(BELAY_GENERATED ${PROJECT_BINARY_DIR}/generated)
set(BELAY_INCLUDE ${BELAY_GENERATED}/include)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

file(GLOB tables CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/api/absent/*.table)
set(makes_them ${PROJECT_SOURCE_DIR}/src/api/absent/generate.py)
set(exports ${PROJECT_SOURCE_DIR}/src/library/exports.map)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tables} ${makes_them} ${exports})
execute_process(COMMAND ${Python3_EXECUTABLE} ${makes_them} ${PROJECT_SOURCE_DIR}/src/api/absent ${exports}
                        ${BELAY_GENERATED}
                COMMAND_ERROR_IS_FATAL ANY)

file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/*.h)
foreach(header ${headers})
  cmake_path(GET header PARENT_PATH folder)
  file(MAKE_DIRECTORY ${BELAY_INCLUDE}/${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/${header} ${BELAY_INCLUDE}/${header} SYMBOLIC)
endforeach()

# The public contract: vendor file names and spellings.
add_library(belay_headers INTERFACE)
add_library(belay::headers ALIAS belay_headers)
target_include_directories(belay_headers INTERFACE $<BUILD_INTERFACE:${BELAY_INCLUDE}>)
