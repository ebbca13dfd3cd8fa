# Bundles the viewer of reports (viewer/) and builds it into the command. Packages come from npm's registry once, into
# viewer/node_modules; after that, only changed sources are bundled again.
option(BELAY_VIEWER "Build the viewer of `belay report` in (needs node, npm, and their registry the first time)" ON)
set(viewer ${PROJECT_SOURCE_DIR}/viewer)
set(bundle ${PROJECT_BINARY_DIR}/viewer)

# The page around the viewer; a library of its own, because its words for things are not those of other commands.
add_library(belay_page STATIC report_page.cpp report_text.cpp report_data.cpp viewer_files.cpp)
target_include_directories(belay_page PRIVATE ${PROJECT_BINARY_DIR}/rooms/cli)
target_compile_definitions(belay_page PRIVATE BELAY_VERSION="${PROJECT_VERSION}")
target_link_libraries(belay_page PRIVATE belay_story belay_recording belay_memory belay_observe belay_product
  belay_platform belay_base belay_warnings nlohmann_json::nlohmann_json)

find_program(BELAY_NODE NAMES node nodejs)
find_program(BELAY_NPM npm)
if(BELAY_VIEWER AND BELAY_NODE AND BELAY_NPM)
  file(GLOB sources CONFIGURE_DEPENDS ${viewer}/src/*)
  set(packages ${viewer}/node_modules/.package-lock.json)
  add_custom_command(
    OUTPUT ${packages}
    COMMAND ${CMAKE_COMMAND} -DNPM=${BELAY_NPM} -DVIEWER=${viewer} -P ${CMAKE_CURRENT_SOURCE_DIR}/fetch_viewer_packages.cmake
    DEPENDS ${viewer}/package.json ${viewer}/package-lock.json
    COMMENT "Fetching the packages of the viewer"
    VERBATIM)
  add_custom_command(
    OUTPUT ${bundle}/viewer.js ${bundle}/viewer.css
    COMMAND ${BELAY_NODE} ${viewer}/build.mjs ${bundle}
    DEPENDS ${sources} ${viewer}/build.mjs ${packages}
    COMMENT "Bundling the viewer"
    VERBATIM)
  add_custom_target(viewer_bundle DEPENDS ${bundle}/viewer.js ${bundle}/viewer.css)
  add_dependencies(belay_page viewer_bundle)
  target_compile_definitions(belay_page PRIVATE BELAY_VIEWER="${bundle}")
  set_source_files_properties(viewer_files.cpp PROPERTIES OBJECT_DEPENDS "${bundle}/viewer.js;${bundle}/viewer.css")
elseif(BELAY_VIEWER)
  message(WARNING "node or npm is not installed: pages of `belay report` will have text and tables, but no pictures. Install them, or set BELAY_VIEWER=OFF")
endif()
