# Shared by the tests of the install tree: source it with the root of an installation as $1.
#
# Gives $root (absolute) and $arch, and all that support.sh gives.

source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

if (($# < 1)) || [[ ! -d $1 ]]; then
    usage '<root of an installation>'
fi
root=$(cd "$1" && pwd -P)
arch=$(uname -m)
export ASCEND_PROCESS_LOG_PATH=${ASCEND_PROCESS_LOG_PATH:-$work/log}

# Programs must find things by the tree and its scripts, not by what the caller has set.
unset LD_LIBRARY_PATH LD_PRELOAD LIBRARY_PATH CPATH PYTHONPATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH
for variable in "${!ASCEND_@}" TOOLCHAIN_HOME INSTALL_DIR DDK_PATH NPU_HOST_LIB THIRDPART_PATH ASCENDC_CMAKE_DIR \
    SOC_VERSION; do
    [[ $variable == ASCEND_PROCESS_LOG_PATH ]] || unset "$variable"
done

# A client in C that allocates, copies there and back, and compares.
write_client() { # file
    cat >"$1" <<'END'
#include <stdio.h>
#include <string.h>
#include "acl/acl.h"

int main(void) {
    char out[64] = "over there and back", back[64] = "";
    void *block = NULL;
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
    if (aclrtMalloc(&block, sizeof(out), ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 2;
    if (aclrtMemcpy(block, sizeof(out), out, sizeof(out), ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS) return 3;
    if (aclrtMemcpy(back, sizeof(back), block, sizeof(out), ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS) return 4;
    if (aclrtFree(block) != ACL_SUCCESS) return 5;
    if (aclrtResetDevice(0) != ACL_SUCCESS || aclFinalize() != ACL_SUCCESS) return 6;
    puts(back);
    return strcmp(out, back) == 0 ? 0 : 7;
}
END
}
