// The viewer as it was bundled, inside the command: a page needs nothing else.
#include "cli/report_page.h"

#ifdef BELAY_VIEWER
// clang-format off
__asm__(".pushsection .rodata\n"
        "belay_viewer_script: .incbin \"" BELAY_VIEWER "/viewer.js\"\n"
        "belay_viewer_script_end: .byte 0\n"
        "belay_viewer_style: .incbin \"" BELAY_VIEWER "/viewer.css\"\n"
        "belay_viewer_style_end: .byte 0\n"
        ".popsection\n");
// clang-format on
extern "C" const char belay_viewer_script[], belay_viewer_script_end[], belay_viewer_style[],
    belay_viewer_style_end[];
#endif

namespace belay::cli {

#ifdef BELAY_VIEWER
std::string_view viewer_script() { return {belay_viewer_script, belay_viewer_script_end}; }
std::string_view viewer_style() { return {belay_viewer_style, belay_viewer_style_end}; }
#else
std::string_view viewer_script() { return {}; }
std::string_view viewer_style() { return {}; }
#endif

}  // namespace belay::cli
