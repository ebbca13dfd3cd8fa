// Data buffers: pairs of address and size that a program makes and destroys (R-231 ... R-233).
//
// They belong to no device and live as long as the process, whatever happens to its devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl_base.h"
#include "base/result.h"
#include "observe/event.h"

struct aclDataBuffer {
  void* data;
  size_t size;
};

namespace belay {

aclDataBuffer* create_data_buffer(void* data, std::size_t size) noexcept;  // null where there is no memory
Status destroy_data_buffer(const aclDataBuffer* buffer);
// Adds those that this process has made and not destroyed.
void add_live_data_buffers(std::vector<observe::Alive>& all);
// After a restart, and in a forked child: those from before can be used and destroyed, but nobody has to.
void disown_data_buffers();
void inherit_data_buffers();  // in the child

}  // namespace belay
