# Brings what the viewer is made of: cmake -DNPM=<npm> -DVIEWER=<folder> -P fetch_viewer_packages.cmake
execute_process(COMMAND ${NPM} ci --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${VIEWER}
  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE failed)
if(failed)
  message("${said}")
  message(FATAL_ERROR "npm could not bring the packages of the viewer; is there a network? "
    "Without it, -DBELAY_VIEWER=OFF builds everything but the pictures of `belay report`")
endif()
file(TOUCH ${VIEWER}/node_modules/.package-lock.json)  # newer than what it was made of
