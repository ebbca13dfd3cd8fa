// Versions of the interface and of installed packages.
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/scratch.h"
#include "support/settings.h"

namespace version_test {

using belay_test::as_enum;
using belay_test::in_fresh_process;
using belay_test::Scratch;
using belay_test::Settings;

TEST(Version, R240_OfTheInterface) {
  std::int32_t major = -1, minor = -1, patch = -1;
  EXPECT_EQ(aclrtGetVersion(&major, &minor, &patch), ACL_SUCCESS);
  EXPECT_EQ(major, 1);
  EXPECT_EQ(minor, 17);
  EXPECT_EQ(patch, 0);
  major = minor = patch = -1;
  EXPECT_EQ(aclrtGetVersion(nullptr, &minor, &patch), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetVersion(&major, nullptr, &patch), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetVersion(&major, &minor, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_TRUE(major == -1 && minor == -1 && patch == -1);
}

// A tree with one version.info per package, as an installation has it.
class Tree {
 public:
  void add(const std::string& package, const std::string& version_info) {
    scratch_.write("share/info/" + package + "/version.info", version_info);
  }
  Settings settings() const { return {{"ASCEND_HOME_PATH", scratch_.path().string()}}; }

 private:
  Scratch scratch_;
};

aclError str(const std::string& package, std::string& version) {
  std::string name = package;
  char text[256];
  std::memset(text, 0x5A, sizeof text);
  const aclError answer = aclsysGetVersionStr(name.data(), text);
  if (answer == ACL_SUCCESS) {
    for (std::size_t i = 128; i < sizeof text; ++i) EXPECT_EQ(text[i], 0x5A) << "128 bytes are enough";
    version = text;
  } else {
    EXPECT_EQ(text[0], 0x5A) << "the output stays";
  }
  return answer;
}

TEST(Version, R241_EveryPackageHasADirectory) {
  Tree tree;
  tree.add("runtime", "Version=8.5.0\n");
  tree.add("bisheng-compiler", "Version=8.5.1\n");
  tree.add("hccl", "Version=8.5.2\n");
  tree.add("oam-tools", "Version=8.5.3\n");
  tree.add("ops-legacy", "Version=8.5.4\n");
  in_fresh_process(tree.settings(), [] {
    const std::vector<std::pair<aclCANNPackageName, const char*>> expected = {
        {ACL_PKG_NAME_CANN, "8.5.0"},       {ACL_PKG_NAME_RUNTIME, "8.5.0"}, {ACL_PKG_NAME_COMPILER, "8.5.1"},
        {ACL_PKG_NAME_HCCL, "8.5.2"},       {ACL_PKG_NAME_TOOLKIT, "8.5.3"}, {ACL_PKG_NAME_OPP, "8.5.4"},
        {ACL_PKG_NAME_OPP_KERNEL, "8.5.4"},
    };
    for (const auto& [package, text] : expected) {
      aclCANNPackageVersion version{};
      EXPECT_EQ(aclsysGetCANNVersion(package, &version), ACL_SUCCESS) << package;
      EXPECT_STREQ(version.version, text) << package;
    }
  });
}

TEST(Version, R241_TheParts) {
  Tree tree;
  tree.add("runtime", "Version=8.5.12\n");
  tree.add("hccl", "Version=10.20.30.40\n");
  in_fresh_process(tree.settings(), [] {
    aclCANNPackageVersion version;
    std::memset(&version, 0x5A, sizeof version);
    EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version), ACL_SUCCESS);
    EXPECT_STREQ(version.version, "8.5.12");
    EXPECT_STREQ(version.majorVersion, "8");
    EXPECT_STREQ(version.minorVersion, "5");
    EXPECT_STREQ(version.releaseVersion, "12");
    EXPECT_STREQ(version.patchVersion, "");
    EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_HCCL, &version), ACL_SUCCESS);
    EXPECT_STREQ(version.majorVersion, "10");
    EXPECT_STREQ(version.minorVersion, "20");
    EXPECT_STREQ(version.releaseVersion, "30");
    EXPECT_STREQ(version.patchVersion, "40");
  });
}

TEST(Version, R241_UnderscoresWhereTheDashIsMissing) {
  Tree tree;
  tree.add("bisheng_compiler", "Version=1.2.3\n");
  tree.add("ops_legacy", "Version=4.5.6\n");
  tree.add("ops-legacy", "Version=7.8.9\n");
  in_fresh_process(tree.settings(), [] {
    aclCANNPackageVersion version{};
    EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_COMPILER, &version), ACL_SUCCESS);
    EXPECT_STREQ(version.version, "1.2.3");
    EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_OPP, &version), ACL_SUCCESS);
    EXPECT_STREQ(version.version, "7.8.9") << "the dash comes first";
  });
}

TEST(Version, R241_TheLineMayStandAnywhere) {
  Tree tree;
  tree.add("runtime", "package_Version=1.1.1\nversion_dir=9.9.9\n Version=2.2.2\nVersion=8.5.0\nother=1\n");
  tree.add("hccl", "Version=8.5.0");  // no line end
  in_fresh_process(tree.settings(), [] {
    aclCANNPackageVersion version{};
    EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version), ACL_SUCCESS);
    EXPECT_STREQ(version.version, "8.5.0");
    EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_HCCL, &version), ACL_SUCCESS);
    EXPECT_STREQ(version.version, "8.5.0");
  });
}

TEST(Version, R241_R242_R243_WhatIsMissing) {
  Tree tree;
  tree.add("hccl", "no such line\n");
  in_fresh_process(tree.settings(), [] {
    aclCANNPackageVersion version;
    std::memset(&version, 0x5A, sizeof version);
    std::string text;
    char hccl[] = "hccl", runtime[] = "runtime";
    std::int32_t number = -77;
    EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version), ACL_ERROR_INVALID_FILE) << "no file";
    EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_HCCL, &version), ACL_ERROR_INVALID_FILE) << "no line";
    EXPECT_EQ(str("runtime", text), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(str("hccl", text), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(aclsysGetVersionNum(runtime, &number), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(aclsysGetVersionNum(hccl, &number), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(version.version[0], 0x5A);
    EXPECT_EQ(number, -77);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  });
  in_fresh_process({}, [] {
    ::unsetenv("ASCEND_HOME_PATH");
    aclCANNPackageVersion version{};
    std::string text;
    char runtime[] = "runtime";
    std::int32_t number = -77;
    EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), ACL_ERROR_INVALID_FILE) << "no variable";
    EXPECT_EQ(str("runtime", text), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(aclsysGetVersionNum(runtime, &number), ACL_ERROR_INVALID_FILE);
  });
}

TEST(Version, R241_Errors) {
  Tree tree;
  tree.add("runtime", "Version=8.5.0\n");
  in_fresh_process(tree.settings(), [] {
    aclCANNPackageVersion version{};
    EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, nullptr), ACL_ERROR_INVALID_PARAM);
    for (const int number : {8, 100, -1}) {
      EXPECT_EQ(aclsysGetCANNVersion(as_enum<aclCANNPackageName>(number), &version), ACL_ERROR_INVALID_PARAM)
          << number;
    }
    if (::access("/etc/ascend_install.info", F_OK) != 0) {
      EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_DRIVER, &version), ACL_ERROR_INVALID_FILE)
          << "no driver here";
    }
  });
}

TEST(Version, R242_ByDirectoryName) {
  Tree tree;
  tree.add("runtime", "Version=8.5.0\n");
  tree.add("my-package", "Version=1.2.3-rc.4\n");
  in_fresh_process(tree.settings(), [] {
    std::string text;
    EXPECT_EQ(str("runtime", text), ACL_SUCCESS);
    EXPECT_EQ(text, "8.5.0");
    EXPECT_EQ(str("my-package", text), ACL_SUCCESS);
    EXPECT_EQ(text, "1.2.3-rc.4");
    EXPECT_EQ(str("no-such-package", text), ACL_ERROR_INVALID_FILE);
    char name[] = "runtime", buffer[128] = {};
    EXPECT_EQ(aclsysGetVersionStr(nullptr, buffer), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclsysGetVersionStr(name, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclsysGetVersionStr(nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  });
}

TEST(Version, R242_ALongTextStaysInside128Bytes) {
  Tree tree;
  tree.add("runtime", "Version=" + std::string(127, '1') + "\n");
  tree.add("endless", "Version=" + std::string(5000, '1') + "\n");
  in_fresh_process(tree.settings(), [] {
    std::string text;
    EXPECT_EQ(str("runtime", text), ACL_SUCCESS);
    EXPECT_EQ(text, std::string(127, '1'));
    if (str("endless", text) == ACL_SUCCESS) {
      EXPECT_LT(text.size(), 128U);
    }
    aclCANNPackageVersion version{};
    aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version);
    EXPECT_LT(::strnlen(version.version, sizeof version.version), sizeof version.version);
  });
}

// The number of a version text, or the answer below 0. The package of a text is named after it.
std::int32_t number_of(const std::string& version) {
  std::string package = "package-" + version;
  std::int32_t number = -77;
  const aclError answer = aclsysGetVersionNum(package.data(), &number);
  if (answer == ACL_SUCCESS) return number;
  EXPECT_EQ(number, -77) << "the output stays";
  return -answer;
}

void with_packages(const std::vector<std::string>& versions, const std::function<void()>& body) {
  Tree tree;
  for (const std::string& version : versions) tree.add("package-" + version, "Version=" + version + "\n");
  in_fresh_process(tree.settings(), body);
}

TEST(Version, R243_Numbers) {
  with_packages(
      {"8.5.0", "9.0.0", "8.5.3", "10.12.34", "0.0.1", "9.0.0-rc.1", "9.0.0-beta.2", "9.0.0-alpha.3",
       "8.5.1-rc.2", "9.0.0-alpha.9", "9.0.0-beta.1", "9.0.0-beta.9", "9.0.0-rc.9", "8.9.9", "9.0.0-alpha.1"},
      [] {
        EXPECT_EQ(number_of("8.5.0"), 80500000);
        EXPECT_EQ(number_of("9.0.0"), 90000000);
        EXPECT_EQ(number_of("8.5.3"), 80503000);
        EXPECT_EQ(number_of("10.12.34"), 101234000);
        EXPECT_EQ(number_of("0.0.1"), 1000);
        EXPECT_EQ(number_of("9.0.0-rc.1"), 89999901);
        EXPECT_EQ(number_of("9.0.0-beta.2"), 89999802);
        EXPECT_EQ(number_of("9.0.0-alpha.3"), 89999703);
        EXPECT_EQ(number_of("8.5.1-rc.2"), 80501000 - 100 + 2);
        EXPECT_LT(number_of("9.0.0-alpha.9"), number_of("9.0.0-beta.1"));
        EXPECT_LT(number_of("9.0.0-beta.9"), number_of("9.0.0-rc.1"));
        EXPECT_LT(number_of("9.0.0-rc.9"), number_of("9.0.0"));
        EXPECT_LT(number_of("8.9.9"), number_of("9.0.0-alpha.1"));
      });
}

TEST(Version, R243_MalformedTexts) {
  const std::vector<std::string> texts = {"abc",           "9",          "9.0",   "9.0.x", "9..0", "a.0.0",
                                          "9.0.0-gamma.1", "9.0.0-rc.x", "-1.0.0"};
  with_packages(texts, [&texts] {
    for (const std::string& text : texts) EXPECT_EQ(number_of(text), -ACL_ERROR_INTERNAL_ERROR) << text;
    char name[] = "runtime";
    std::int32_t number = 0;
    EXPECT_EQ(aclsysGetVersionNum(nullptr, &number), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclsysGetVersionNum(name, nullptr), ACL_ERROR_INVALID_PARAM);
  });
}

// After sourcing set_env.sh of an installation the look-ups work.

}  // namespace version_test
