#include "config/init_file.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/size.h"
#include "platform/files.h"

namespace belay::config {
namespace {

using Json = nlohmann::json;

Refusal bad_path(const char* path, const char* reason) {
  return refuse({ACL_ERROR_INVALID_FILE, "R-26", "EH0003",
                 fmt::format("the configuration file '{}' {}", path, reason), "",
                 "pass the path of a readable JSON file, or NULL for no configuration"});
}

Refusal bad_content(aclError code, const char* rule, const char* path, std::string reason) {
  return refuse({code, rule, "EH0004", fmt::format("the configuration file '{}' {}", path, reason), "",
                 "correct the file"});
}

// Walks the text without building anything, and stops where it nests too deeply: the parser keeps its own
// stack, so no file can exhaust ours.
class NestingCheck : public nlohmann::json_sax<Json> {
 public:
  bool too_deep() const { return too_deep_; }

  bool start_object(std::size_t) override { return enter(++objects_); }
  bool end_object() override { return --objects_ >= 0; }
  bool start_array(std::size_t) override { return enter(++arrays_); }
  bool end_array() override { return --arrays_ >= 0; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool enter(int depth) {
    too_deep_ = too_deep_ || depth > 10;
    return !too_deep_;
  }
  int objects_ = 0, arrays_ = 0;
  bool too_deep_ = false;
};

bool is_device_number(const std::string& text) {
  if (text.empty()) return false;
  if (text == "0") return true;
  return text[0] != '0' && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Result<InitConfiguration> read_init_file(const char* path) {
  InitConfiguration configuration;
  if (path == nullptr || *path == '\0') return configuration;
  configuration.given = true;
  platform::FileText file = platform::read_file(path, 10_MiB);
  switch (file.outcome) {
    case platform::ReadOutcome::Missing:
      return bad_path(path, "does not exist");
    case platform::ReadOutcome::NotAFile:
      return bad_path(path, "is not a regular file");
    case platform::ReadOutcome::TooLarge:
      return bad_path(path, "is larger than 10 MB");
    case platform::ReadOutcome::Unreadable:
      return bad_path(path, "cannot be read");
    case platform::ReadOutcome::Done:
      break;
  }
  configuration.text = std::move(file.text);
  if (configuration.text.empty()) return configuration;

  NestingCheck nesting;
  if (!Json::sax_parse(configuration.text, &nesting)) {
    return bad_content(ACL_ERROR_PARSE_FILE, "R-27", path,
                       nesting.too_deep() ? "is nested deeper than 10 levels" : "is not valid JSON");
  }
  const Json json = Json::parse(configuration.text, nullptr, false);
  if (!json.is_object()) return configuration;

  if (const auto mode = json.find("err_msg_mode"); mode != json.end()) {
    if (!mode->is_string() || (*mode != "0" && *mode != "1")) {
      return bad_content(ACL_ERROR_INVALID_PARAM, "R-29", path,
                         fmt::format("has err_msg_mode {}; expected \"0\" or \"1\"", mode->dump()));
    }
    configuration.messages_of_process = *mode == "1";
  }
  if (const auto outer = json.find("defaultDevice"); outer != json.end() && outer->is_object()) {
    if (const auto device = outer->find("default_device"); device != outer->end()) {
      if (!device->is_string() || !is_device_number(device->get<std::string>())) {
        return bad_content(
            ACL_ERROR_FAILURE, "R-30", path,
            fmt::format("has default_device {}; expected a decimal number in quotes", device->dump()));
      }
      const auto number = device->get<std::string>();
      configuration.default_device =
          number.size() > 9 ? INT32_MAX : std::stoi(number);  // no machine has that many
    }
  }
  const auto positive = [](const Json& value) {
    return value.is_number_integer() && value.get<std::int64_t>() > 0;
  };
  const auto check_size = [&](const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || positive(*found);
  };
  bool sizes_fit =
      check_size(json, "simt_printf_fifo_size") && check_size(json, "simd_printf_fifo_size_per_core");
  if (const auto stack = json.find("StackSize"); stack != json.end() && stack->is_object()) {
    for (const char* key : {"aicore_stack_size", "simt_stack_size", "simt_divergence_stack_size"})
      sizes_fit = sizes_fit && check_size(*stack, key);
  }
  if (!sizes_fit)
    return bad_content(ACL_ERROR_FAILURE, "R-29", path,
                       "has a stack or buffer size that is not a positive number");
  if (const auto graph = json.find("acl_graph"); graph != json.end() && graph->is_object()) {
    if (const auto mode = graph->find("event_mode"); mode != graph->end() && *mode != "0" && *mode != "1") {
      return bad_content(ACL_ERROR_INVALID_PARAM, "R-29", path,
                         fmt::format("has acl_graph.event_mode {}; expected \"0\" or \"1\"", mode->dump()));
    }
  }
  return configuration;
}

}  // namespace belay::config
