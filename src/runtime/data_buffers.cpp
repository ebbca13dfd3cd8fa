#include "runtime/data_buffers.h"

#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

#include "base/words.h"
#include "memory/history.h"
#include "runtime/handles.h"
#include "runtime/telling.h"

namespace belay {
namespace {

// Used until the very end, so never destroyed.
constinit std::mutex g_mutex;
auto& g_live = *new std::unordered_map<const aclDataBuffer*, Handle>;
constinit Handle g_first_own = 0;

void tell(observe::What what, Handle handle, const aclDataBuffer* buffer) {
  observe::publish({.what = what,
                    .object = observe::Object::DataBuffer,
                    .serial = handle,
                    .address = reinterpret_cast<std::uintptr_t>(buffer)});
}

}  // namespace

aclDataBuffer* create_data_buffer(void* data, std::size_t size) noexcept {
  try {
    std::unique_ptr<aclDataBuffer> buffer{new aclDataBuffer{data, size}};
    const Handle handle = new_handle();
    {
      const std::lock_guard lock{g_mutex};
      g_live.emplace(buffer.get(), handle);
    }
    tell(observe::What::Created, handle, buffer.get());
    return buffer.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Status destroy_data_buffer(const aclDataBuffer* buffer) {
  if (buffer == nullptr) return null_pointer("R-233", "dataBuffer");
  Handle handle = 0;
  {
    const std::lock_guard lock{g_mutex};
    const auto found = g_live.find(buffer);
    if (found == g_live.end()) {
      return of_dead_handle(
          refuse({ACL_ERROR_INVALID_PARAM, "R-233", "EH0001",
                  fmt::format("{} is not a live data buffer: it was destroyed already, or comes from "
                              "another function than aclCreateDataBuffer",
                              hex(buffer)),
                  "", "destroy each data buffer once, with the pointer that aclCreateDataBuffer returned"}),
          history_of_ended(reinterpret_cast<std::uintptr_t>(buffer)));
    }
    handle = found->second;
    g_live.erase(found);
  }
  tell(observe::What::Destroyed, handle, buffer);
  delete buffer;
  return done();
}

void add_live_data_buffers(std::vector<observe::Alive>& all) {
  const std::lock_guard lock{g_mutex};
  for (const auto& [buffer, handle] : g_live) {
    if (handle >= g_first_own) all.push_back({observe::Object::DataBuffer, handle, 0});
  }
}

void disown_data_buffers() {
  const std::lock_guard lock{g_mutex};
  g_first_own = new_handle();
}

void inherit_data_buffers() {
  new (&g_mutex) std::mutex;  // another thread of the parent may have held it
  disown_data_buffers();
}

}  // namespace belay
