// Count notifies: the checks of every call in their order (R-277 ... R-282).
#pragma once

#include <cstdint>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/process.h"

namespace belay {

Status create_count(Process& process, aclrtCntNotify* out, std::uint64_t flag);
Status destroy_count(Process& process, aclrtCntNotify notify);
Status record_count(Process& process, aclrtCntNotify notify, aclrtStream stream,
                    const aclrtCntNotifyRecordInfo* info);
Status wait_count(Process& process, aclrtCntNotify notify, aclrtStream stream,
                  const aclrtCntNotifyWaitInfo* info);
Status reset_count(Process& process, aclrtCntNotify notify, aclrtStream stream);
Status count_number(Process& process, aclrtCntNotify notify, std::uint32_t* number);

}  // namespace belay
