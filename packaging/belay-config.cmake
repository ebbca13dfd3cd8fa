# find_package(belay) gives belay::ascendcl: the library and its headers.
#
# Three directories up is the root of the installation, whatever link has led here.
if(NOT TARGET belay::ascendcl)
  get_filename_component(belay_ROOT_DIR "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
  get_filename_component(belay_ROOT_DIR "${belay_ROOT_DIR}/../../.." ABSOLUTE)
  add_library(belay::ascendcl SHARED IMPORTED)
  set_target_properties(belay::ascendcl PROPERTIES
    IMPORTED_LOCATION "${belay_ROOT_DIR}/lib64/libascendcl.so"
    IMPORTED_SONAME libascendcl.so
    INTERFACE_INCLUDE_DIRECTORIES "${belay_ROOT_DIR}/include")
endif()
