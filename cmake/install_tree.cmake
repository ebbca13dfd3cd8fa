# The install tree looks like a CANN toolkit, so that build files and scripts written for one find what they
# look for (C-1 … C-7, R-259, R-260). It can be moved: nothing in it holds the path of the prefix.

set(arch ${CMAKE_SYSTEM_PROCESSOR})
if(arch STREQUAL "arm64")
  set(arch aarch64)
endif()

install(DIRECTORY include/ DESTINATION include FILES_MATCHING PATTERN "*.h")
foreach(table ${tables})
  file(STRINGS ${table} header REGEX "^header ")
  string(REPLACE "header " "" header ${header})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${BELAY_INCLUDE}/${header} DESTINATION include/${folder})
endforeach()
install(TARGETS ascendcl LIBRARY DESTINATION lib64)
if(TARGET belay_cli)
  set_property(TARGET belay_cli APPEND PROPERTY INSTALL_RPATH "$ORIGIN/../lib64")
  install(TARGETS belay_cli RUNTIME DESTINATION bin)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/manual/ DESTINATION share)  # man pages, completions
endif()

# Everything that needs no compiler is laid out here as it will be installed, links included.
set(tree ${PROJECT_BINARY_DIR}/tree)
file(REMOVE_RECURSE ${tree})

function(belay_tree_file source place)  # templates end in .in
  if(source MATCHES "\\.in$")
    configure_file(packaging/${source} ${tree}/${place} @ONLY)
  else()
    configure_file(packaging/${source} ${tree}/${place} COPYONLY)
  endif()
endfunction()

function(belay_tree_link place target)  # target as seen from the link
  cmake_path(GET place PARENT_PATH folder)
  file(MAKE_DIRECTORY ${tree}/${folder})
  file(CREATE_LINK ${target} ${tree}/${place} SYMBOLIC)
  file(APPEND ${tree}/share/belay/links "${place} ${target}\n")
endfunction()

# A wheel cannot hold links; `belay toolkit install` makes those that this list names.
file(MAKE_DIRECTORY ${tree}/share/belay)

belay_tree_file(set_env.sh         set_env.sh)
belay_tree_file(version.cfg.in     version.cfg)
belay_tree_file(install.info.in    ${arch}-linux/ascend_toolkit_install.info)
# The parts of a toolkit, each with its version, where releases up to 8 and from 9 on have it.
set(parts runtime compiler hccl opp toolkit aoe ncs opp_kernel)
foreach(part ${parts})
  belay_tree_file(version.info.in ${part}/version.info)
  belay_tree_file(version.info.in share/info/${part}/version.info)
  file(APPEND ${tree}/version.cfg "${part}_running_version=[${BELAY_CANN_VERSION}:${BELAY_CANN_VERSION}]\n"
       "${part}_upgrade_version=[${BELAY_CANN_VERSION}:${BELAY_CANN_VERSION}]\n"
       "${part}_installed_version=[${BELAY_CANN_VERSION}:${BELAY_CANN_VERSION}]\n")
endforeach()
belay_tree_file(opp.README         opp/README)
belay_tree_file(ascendc.cmake      tikcpp/ascendc_kernel_cmake/ascendc.cmake)
belay_tree_file(belay.pc.in        lib64/pkgconfig/belay.pc)
belay_tree_file(belay-config.cmake lib64/cmake/belay/belay-config.cmake)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${tree}/lib64/cmake/belay/belay-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)

belay_tree_link(bin/setenv.bash ../set_env.sh)
if(BELAY_TOOLS)
  belay_tree_link(bin/npu-smi belay)
endif()
# CMake looks below lib64 on some systems only, below share on all.
belay_tree_link(share/cmake/belay ../../lib64/cmake/belay)

# One library under every name that programs link or open.
foreach(name acl_rt acl_rt_impl runtime acl_dvpp acl_dvpp_mpi acl_op_compiler acl_tdt_channel acl_tdt_queue msprofiler
             acl_cblas)
  belay_tree_link(lib64/lib${name}.so libascendcl.so)
endforeach()
foreach(name ascendcl acl_rt acl_rt_impl runtime acl_dvpp acl_dvpp_mpi acl_op_compiler acl_tdt_channel acl_tdt_queue
             msprofiler acl_cblas)
  belay_tree_link(devlib/lib${name}.so ../lib64/lib${name}.so)
  # For LIBRARY_PATH alone (C-27). Not beside lib64: compilers also look into <directory>/../lib64.
  belay_tree_link(devlib/link/lib${name}.so ../../lib64/lib${name}.so)
endforeach()
belay_tree_link(lib64/stub ../devlib)

# The same things under the names that older and newer build files use.
foreach(room runtime acllib toolkit ${arch}-linux)
  belay_tree_link(${room}/include ../include)
  belay_tree_link(${room}/lib64 ../lib64)
endforeach()
foreach(name devlib tikcpp runtime acllib)
  belay_tree_link(${arch}-linux/${name} ../${name})
endforeach()
if(BELAY_PYTHON_MODULES)  # a directory, so that acl.so finds the library from here too (Y-8)
  belay_tree_link(pyACL/python/site-packages/acl ../../../python/site-packages)
endif()
belay_tree_link(compiler/tikcpp ../tikcpp)
belay_tree_link(tools/tikcpp ../tikcpp)

install(DIRECTORY ${tree}/ DESTINATION .)

if(PROJECT_IS_TOP_LEVEL)
  include(cmake/debian_package.cmake)
endif()
