// Whether the host has memory for what is about to be filled: contents of device memory, pinned blocks.
//
// When memory ends, or a control group's limit is met, no system call answers with an error: the kernel
// kills. So belay looks before it fills. Two who look at the same moment see the same room, so each says on
// the machine what it is about to take before it looks, and leaves to the others what they have said.
// Looking costs some microseconds; a look is good for a share of what it found, which stays promised.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>

#include "machine/machine.h"

namespace belay {

class HostRoom {
 public:
  explicit HostRoom(machine::Machine& machine) : machine_{machine} {}
  HostRoom(const HostRoom&) = delete;
  HostRoom& operator=(const HostRoom&) = delete;

  // Kept until the memory is filled, or not to be. Empty: there is no room.
  class Promise {
   public:
    Promise() = default;
    Promise(HostRoom& room, std::size_t bytes) : room_{&room}, bytes_{bytes} {}
    Promise(Promise&& other) noexcept : room_{std::exchange(other.room_, nullptr)}, bytes_{other.bytes_} {}
    Promise& operator=(Promise&& other) noexcept {
      std::swap(room_, other.room_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Promise() {
      if (room_ != nullptr) room_->end(bytes_);
    }
    explicit operator bool() const { return room_ != nullptr; }

   private:
    HostRoom* room_ = nullptr;
    std::size_t bytes_ = 0;
  };
  Promise ask(std::size_t bytes);
  // Who could give something back where there is no room; false: nothing. It asks for none itself.
  void on_shortage(std::function<bool()> give_back) {
    const std::lock_guard lock{mutex_};
    give_back_ = std::move(give_back);
  }
  // What could be asked for at this moment, for words.
  std::size_t left();

 private:
  bool look(std::size_t bytes);
  void end(std::size_t bytes);

  machine::Machine& machine_;
  std::mutex mutex_;
  std::function<bool()> give_back_;
  std::size_t spare_ = 0;      // left of what the last look allowed
  std::size_t under_way_ = 0;  // being filled
};

}  // namespace belay
