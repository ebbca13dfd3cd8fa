#include "runtime/telling.h"

namespace belay {

using observe::What;

void tell_copied(observe::Operation operation, std::uint32_t device, const void* to, std::size_t bytes,
                 std::span<const observe::Touch> touches, std::uint32_t kind) {
  observe::deliver({.what = What::Copied,
                    .operation = operation,
                    .device = static_cast<std::uint8_t>(device),
                    .address = reinterpret_cast<std::uintptr_t>(to),
                    .bytes = bytes},
                   {.flag = kind}, touches);
}

void tell_filled(Memory& memory, std::uint32_t device, const Location& to, const Rows& bytes,
                 std::uint64_t value) {
  if (!observe::wanted(What::Filled)) [[likely]]
    return;
  const observe::Touch written = touch(memory, to, true, bytes);
  observe::deliver({.what = What::Filled,
                    .operation = observe::Operation::Fill,
                    .device = static_cast<std::uint8_t>(device),
                    .address = to.address,
                    .bytes = bytes.bytes},
                   {.value = value}, {&written, 1});
}

void tell_waited(const schedule::Stream& stream, std::uint64_t position, std::uint64_t record) {
  if (!observe::wanted(What::Waited)) [[likely]]
    return;
  observe::deliver({.what = What::Waited, .device = static_cast<std::uint8_t>(stream.device())},
                   {.stream = stream.handle, .position = position, .record = record});
}

void tell_object(What what, observe::Object object, std::uint64_t handle, std::uint32_t device, bool swept) {
  observe::publish({.what = what,
                    .object = object,
                    .device = static_cast<std::uint8_t>(device),
                    .flags = swept ? observe::Event::kSwept : std::uint8_t{0},
                    .serial = handle,
                    .address = handle});
}

}  // namespace belay
