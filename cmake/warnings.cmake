add_library(belay_warnings INTERFACE)
target_compile_options(belay_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wcast-qual)
if(PROJECT_IS_TOP_LEVEL)  # a compiler that nobody has tried must not stop somebody else's build
  target_compile_options(belay_warnings INTERFACE -Werror)
endif()
