// Settings as people write them, and what is said of those that are wrong.
#include "support/device_fixture.h"
#include "support/settings.h"

namespace settings_words_test {

using namespace belay_test;

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// Refused by the first call, in its message and once on stderr.
void expect_refused(const Settings& settings, const std::vector<std::string>& words) {
  const Ending ending = run_captured(settings, [&] {
    const bool as_documented = aclInit(nullptr) == 500000 && aclrtSetDevice(0) == 507033;
    const std::string message = recent_message();
    bool told = true;
    for (const std::string& word : words) told = told && message.find(word) != std::string::npos;
    if (!told) std::fprintf(stderr, "message: %s\n", message.c_str());
    std::_Exit(as_documented && told ? 0 : 1);
  });
  EXPECT_TRUE(ending.clean()) << settings[0].first << ": " << ending;
  for (const std::string& word : words)
    EXPECT_NE(ending.err.find(word), std::string::npos) << word << ": " << ending;
  EXPECT_EQ(count(ending.err, "belay: "), 1U) << ending;
}

void expect_accepted(const Settings& settings, const char* soc) {
  const Ending ending = run_captured(settings, [&] {
    const bool works = aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS;
    const char* const name = aclrtGetSocName();
    const bool named = soc == nullptr || (name != nullptr && std::string{name} == soc);
    std::_Exit(works && named ? 0 : 1);
  });
  EXPECT_TRUE(ending.clean()) << settings[0].first << "=" << settings[0].second << ": " << ending;
  EXPECT_EQ(ending.err, "");
}

TEST(SettingsWords, R32_ASettingThatDoesNotExistIsRefused_WithTheOneThatIsMeant) {
  expect_refused({{"BELAY_HMB", "4G"}}, {"BELAY_HMB", "did you mean BELAY_HBM?", "belay run --help"});
  expect_refused({{"BELAY_SCHED", "lazy"}}, {"BELAY_SCHED", "did you mean BELAY_SCHEDULE?"});
  expect_refused({{"BELAY_QUXQUXQUXQUX", "1"}}, {"BELAY_QUXQUXQUXQUX", "no setting of that name"});
  expect_accepted({{"BELAY_HMB", ""}}, nullptr);  // set to nothing is not set
  expect_accepted({{"BELAYED", "1"}}, nullptr);
}

TEST(SettingsWords, R32_AWrongValueIsSaidOnStderrToo) {
  expect_refused({{"BELAY_HBM", "much"}}, {"BELAY_HBM", "'much'"});
  expect_refused({{"BELAY_HBM", "0"}}, {"BELAY_HBM", "at least 2 MB"});
  expect_refused({{"BELAY_PRODUCT", "910B9"}}, {"'910B9'", "did you mean "});
  expect_refused({{"BELAY_PRODUCT", "Ascend"}}, {"'Ascend'", "did you mean Ascend"});
  for (const char* byte : {"256", "0x100", "-1", "0x", "BE", "0xBEEF", "1 2"})
    expect_refused({{"BELAY_POISON", byte}}, {"BELAY_POISON", byte, "a number from 0 to 255"});
}

TEST(SettingsWords, R32_WordsInAnyCase) {
  for (const char* name : {"private", "Private", "PRIVATE"}) {
    const Ending ending = run_captured({{"BELAY_MACHINE", name}, {"BELAY_MACHINES", "/nowhere/at/all"}}, [] {
      std::_Exit(aclrtSetDevice(0) == ACL_SUCCESS ? 0 : 1);  // a shared machine would need that directory
    });
    EXPECT_TRUE(ending.clean()) << name << ": " << ending;
  }
  expect_accepted({{"BELAY_PRODUCT", "a2"}, {"BELAY_FORM", "ep"}, {"BELAY_PIN", "Best-Effort"}},
                  "Ascend910B3");
}

TEST(SettingsWords, R77_ChipsAreKnownWithoutTheirMaker) {
  for (const auto& [name, soc] :
       {std::pair{"910B1", "Ascend910B1"}, std::pair{"910b4", "Ascend910B4"},
        std::pair{"910B2C", "Ascend910B2C"}, std::pair{"310P3", "Ascend310P3"},
        std::pair{"310B1", "Ascend310B1"}, std::pair{"910_9391", "Ascend910_9391"}}) {
    expect_accepted({{"BELAY_PRODUCT", name}}, soc);
  }
}

}  // namespace settings_words_test
