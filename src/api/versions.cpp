// Versions.
#include <cstring>

#include "acl/acl.h"
#include "api/door.h"
#include "config/versions.h"

using namespace belay;

namespace {

const char* package_directory(aclCANNPackageName name) {
  switch (name) {
    case ACL_PKG_NAME_CANN:
    case ACL_PKG_NAME_RUNTIME:
      return "runtime";
    case ACL_PKG_NAME_COMPILER:
      return "bisheng-compiler";
    case ACL_PKG_NAME_HCCL:
      return "hccl";
    case ACL_PKG_NAME_TOOLKIT:
      return "oam-tools";
    case ACL_PKG_NAME_OPP:
    case ACL_PKG_NAME_OPP_KERNEL:
      return "ops-legacy";
    case ACL_PKG_NAME_DRIVER:
      return "driver";
  }
  return nullptr;
}

template <size_t N>
void put(char (&field)[N], const std::string& text) {
  std::memset(field, 0, N);
  std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

}  // namespace

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return enter("aclrtGetVersion", [&](Process& p) -> Status {
    if (majorVersion == nullptr) return null_pointer("R-240", "majorVersion");
    if (minorVersion == nullptr) return null_pointer("R-240", "minorVersion");
    if (patchVersion == nullptr) return null_pointer("R-240", "patchVersion");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    return give(patchVersion, ACL_PATCH_VERSION);
  });
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  return enter("aclsysGetCANNVersion", [&](Process& p) -> Status {
    if (version == nullptr) return null_pointer("R-241", "version");
    const char* directory = package_directory(name);
    if (directory == nullptr)
      return bad_value("R-241", "name", static_cast<int>(name), "a member of aclCANNPackageName");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    ASSIGN_OR_RETURN(const std::string text, config::package_version(directory));
    const config::VersionParts parts = config::version_parts(text);
    *version = {};
    put(version->version, text);
    put(version->majorVersion, parts.major);
    put(version->minorVersion, parts.minor);
    put(version->releaseVersion, parts.release);
    put(version->patchVersion, parts.patch);
    return done();
  });
}

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  return enter("aclsysGetVersionStr", [&](Process& p) -> Status {
    if (pkgName == nullptr) return null_pointer("R-242", "pkgName");
    if (versionStr == nullptr) return null_pointer("R-242", "versionStr");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    ASSIGN_OR_RETURN(const std::string text, config::package_version(pkgName));
    const size_t bytes = std::min<size_t>(text.size(), ACL_PKG_VERSION_MAX_SIZE - 1);
    std::memcpy(versionStr, text.data(), bytes);
    versionStr[bytes] = '\0';
    return done();
  });
}

aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum) {
  return enter("aclsysGetVersionNum", [&](Process& p) -> Status {
    if (pkgName == nullptr) return null_pointer("R-243", "pkgName");
    if (versionNum == nullptr) return null_pointer("R-243", "versionNum");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    ASSIGN_OR_RETURN(const std::string text, config::package_version(pkgName));
    ASSIGN_OR_RETURN(const int32_t value, config::version_number(text));
    return give(versionNum, value);
  });
}
