# What the build files of Ascend C programs include (C-5):
#
#   ascendc_library(<target> [STATIC|SHARED] <source>...)
#   ascendc_fatbin_library(<target> <source>...)
#   ascendc_include_directories, ascendc_compile_definitions, ascendc_compile_options(<target> [<scope>] ...)
#
# With it such programs configure, and their host part builds against this installation: the targets are host
# libraries that pass on the runtime library and its include directory.
#
# There is no kernel compiler here. A source is taken for a kernel if its name ends in .asc or .cce, or if it
# mentions __aicore__, __global__ or kernel_operator.h. Kernels are named in a message and left out; the other
# sources are compiled by the host compiler. So there are no launch functions or aclrtlaunch_*.h headers, and no
# kernel binary below fatbin/: a program that launches a kernel does not link, or does not find its binary.

get_filename_component(_belay_here "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_belay_root "${_belay_here}/../../.." ABSOLUTE)
set_property(GLOBAL PROPERTY BELAY_ASCENDC_ROOT "${_belay_root}")
if(NOT ASCEND_CANN_PACKAGE_PATH)  # build files count on it
  set(ASCEND_CANN_PACKAGE_PATH "${_belay_root}")
endif()
unset(_belay_here)
unset(_belay_root)

function(_belay_is_kernel source result)
  set(${result} FALSE PARENT_SCOPE)
  if(source MATCHES "\\.(asc|cce)$")
    set(${result} TRUE PARENT_SCOPE)
    return()
  endif()
  get_filename_component(file "${source}" ABSOLUTE)
  if(EXISTS "${file}" AND NOT IS_DIRECTORY "${file}")
    file(STRINGS "${file}" hits REGEX "__aicore__|__global__|kernel_operator\\.h" LIMIT_COUNT 1)
    if(hits)
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

function(_belay_host_library target type)
  set(sources)
  foreach(source IN LISTS ARGN)
    _belay_is_kernel("${source}" kernel)
    if(kernel)
      message(NOTICE "${target}: ${source} is a kernel and is left out: belay has no kernel compiler")
    else()
      list(APPEND sources "${source}")
    endif()
  endforeach()

  # A library needs a source even if all of its own were kernels.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(suffix c)
  if("CXX" IN_LIST languages)
    set(suffix cpp)
  endif()
  set(filler "${CMAKE_CURRENT_BINARY_DIR}/${target}_without_kernels.${suffix}")
  if(NOT EXISTS "${filler}")
    string(MAKE_C_IDENTIFIER "${target}_without_kernels" name)
    file(WRITE "${filler}" "extern int ${name};\nint ${name};\n")
  endif()
  add_library(${target} ${type} "${filler}" ${sources})

  get_property(root GLOBAL PROPERTY BELAY_ASCENDC_ROOT)
  target_include_directories(${target} PUBLIC "${root}/include")
  target_link_libraries(${target} PUBLIC "${root}/lib64/libascendcl.so")
endfunction()

function(ascendc_library target)
  set(type STATIC)
  set(sources ${ARGN})
  if(ARGC GREATER 1 AND ARGV1 MATCHES "^(STATIC|SHARED)$")
    set(type ${ARGV1})
    list(REMOVE_AT sources 0)
  endif()
  _belay_host_library(${target} ${type} ${sources})
  include(GNUInstallDirs)
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

function(ascendc_fatbin_library target)
  _belay_host_library(${target} STATIC ${ARGN})
endfunction()

# The settings for a target, with PRIVATE where no scope is said.
macro(_belay_scoped command target)
  if("${ARGN}" MATCHES "^(PRIVATE|PUBLIC|INTERFACE)(;|$)")
    cmake_language(CALL ${command} ${target} ${ARGN})
  else()
    cmake_language(CALL ${command} ${target} PRIVATE ${ARGN})
  endif()
endmacro()

function(ascendc_include_directories target)
  _belay_scoped(target_include_directories ${target} ${ARGN})
endfunction()

function(ascendc_compile_definitions target)
  _belay_scoped(target_compile_definitions ${target} ${ARGN})
endfunction()

# These are for the kernel compiler; the host compiler does not know them.
function(ascendc_compile_options target)
endfunction()
