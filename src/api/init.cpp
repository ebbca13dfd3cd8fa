// Initialisation and finalisation.
#include "acl/acl.h"
#include "api/door.h"
#include "config/init_file.h"

using namespace belay;

namespace {

Status accept(const Process& process, const InitConfiguration& configuration) {
  if (!configuration.default_device || process.has_device(*configuration.default_device)) return done();
  return bad_device("R-30", *configuration.default_device, process.device_count());
}

// Only when nothing can fail any more: a refused aclInit changes nothing.
void apply(Process& process, const InitConfiguration& configuration) {
  process.set_default_device(configuration.default_device.value_or(-1));
  report::keep_for_process(configuration.messages_of_process);
}

}  // namespace

aclError aclInit(const char* configPath) {
  return enter("aclInit", [&](Process& p) -> Status {
    if (Status ready = p.usable(); !ready) {  // the chip cannot be told
      Refusal trouble = ready.take_refusal();
      trouble->code = ACL_ERROR_INTERNAL_ERROR;
      trouble->rule = "R-32";
      return trouble;
    }
    return p.lifecycle().init([&] { return config::read_init_file(configPath); },
                              [&](const InitConfiguration& chosen) { return accept(p, chosen); },
                              [&](const InitConfiguration& chosen) { apply(p, chosen); });
  });
}

aclError aclFinalize(void) {
  return enter("aclFinalize", [](Process& p) { return p.lifecycle().finalize(); });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return enter("aclFinalizeReference", [&](Process& p) -> Status {
    if (Status here = needs_feature(p, Feature::AllButIpv); !here) return here;
    return p.lifecycle().finalize_reference(refCount);
  });
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void* userData) {
  return enter("aclInitCallbackRegister", [&](Process& p) -> Status {
    if (cbFunc == nullptr) return null_pointer("R-46", "cbFunc");
    if (Status here = needs_feature(p, Feature::AllButIpv); !here) return here;
    return p.lifecycle().add_init_callback(type, cbFunc, userData);
  });
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
  return enter("aclInitCallbackUnRegister", [&](Process& p) -> Status {
    if (cbFunc == nullptr) return null_pointer("R-46", "cbFunc");
    if (Status here = needs_feature(p, Feature::AllButIpv); !here) return here;
    return p.lifecycle().remove_init_callback(type, cbFunc);
  });
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc,
                                     void* userData) {
  return enter("aclFinalizeCallbackRegister", [&](Process& p) -> Status {
    if (cbFunc == nullptr) return null_pointer("R-46", "cbFunc");
    if (Status here = needs_feature(p, Feature::AllButIpv); !here) return here;
    return p.lifecycle().add_finalize_callback(type, cbFunc, userData);
  });
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc) {
  return enter("aclFinalizeCallbackUnRegister", [&](Process& p) -> Status {
    if (cbFunc == nullptr) return null_pointer("R-46", "cbFunc");
    if (Status here = needs_feature(p, Feature::AllButIpv); !here) return here;
    return p.lifecycle().remove_finalize_callback(type, cbFunc);
  });
}
