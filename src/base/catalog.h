// The message codes of the catalogue and their titles. A code without a title does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace belay {

struct Title {
  std::string_view code, words;
};
inline constexpr std::array kTitles{
    Title{"EH0001", "Invalid_Argument"},
    Title{"EH0002", "Invalid_Null_Pointer"},
    Title{"EH0003", "Invalid_Path"},
    Title{"EH0004", "Invalid_File_Content"},
    Title{"EH0006", "Feature_Not_Supported"},
    Title{"EH0007", "Invalid_Argument"},
    Title{"EH0009", "Invalid_Argument"},
    Title{"EH0010", "Host_Allocation_Failure"},
    Title{"EE1001", "Invalid_Argument"},
    Title{"EE1002", "Timeout"},
    Title{"EE1003", "Invalid_Argument"},
    Title{"EE1005", "Operation_Not_Supported"},
    Title{"EE1006", "Wrong_Subscription"},
    Title{"EE1010", "Wrong_Context"},
    Title{"EE1011", "Invalid_Argument"},
    Title{"EE1016", "Operation_Not_Supported"},
    Title{"EE1017", "Invalid_Handle"},
    Title{"EE1018", "Wrong_Call_Order"},
    Title{"EE1020", "System_Call_Failure"},
    Title{"EE1021", "No_Callback_Thread"},
    Title{"EE1023", "Resource_Failure"},
    Title{"EE2002", "Invalid_Environment_Variable"},
    Title{"EL0001", "No_Device"},
    Title{"EL0002", "Invalid_Device_Id"},
    Title{"EL0003", "Invalid_Argument"},
    Title{"EL0004", "Memory_Allocation_Failure"},
    Title{"EL0005", "Device_Busy"},
    Title{"EL0008", "No_Event_Left"},
    Title{"EL0009", "No_Stream_Left"},
    Title{"EL0010", "No_Notify_Left"},
    Title{"EH9999", "Inner_Error"},
    Title{"EE9999", "Inner_Error"},
};

class CatalogCode {
 public:
  consteval CatalogCode(const char* code) {
    if (*code == '\0') return;  // no message
    const auto found = std::ranges::find(kTitles, code, &Title::code);
    if (found == kTitles.end()) throw "a code that has no title in kTitles";
    title_ = *found;
  }
  constexpr bool is_none() const { return title_.code.empty(); }
  constexpr std::string_view code() const { return title_.code; }
  constexpr std::string_view title() const { return title_.words; }

 private:
  Title title_{};
};

}  // namespace belay
