// How much a process has reserved, mapped and allocated: for `belay smi`, which reads it in the machine's
// state, and for the summary of `belay run`. All under the lock of the mappings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "machine/machine.h"
#include "memory/extent.h"
#include "memory/most.h"

namespace belay {

class VirtualFigures {
 public:
  VirtualFigures(machine::Machine& machine, std::vector<std::uint32_t> visible)
      : machine_{machine}, visible_{std::move(visible)} {}

  void add_reservation(std::size_t bytes) {
    reserved_.add(bytes);
    machine_.show_reserved(reserved_.now());
  }
  void remove_reservation(std::size_t bytes) {
    reserved_.remove(bytes);
    machine_.show_reserved(reserved_.now());
  }
  void add_mapping(const Extent& to, std::size_t bytes) {
    mapped_.add(bytes);
    of(to) += bytes;
    show(to);
  }
  void remove_mapping(const Extent& to, std::size_t bytes) {
    mapped_.remove(bytes);
    of(to) -= bytes;
    show(to);
  }
  void add_physical(std::size_t bytes) { physical_.add(bytes); }
  void remove_physical(std::size_t bytes) { physical_.remove(bytes); }

  // Where others read the most at once.
  struct Shown {
    std::atomic<std::size_t>*reserved, *mapped, *physical;
  };
  void show_most(const Shown& at) {
    reserved_.show(at.reserved);
    mapped_.show(at.mapped);
    physical_.show(at.physical);
  }

 private:
  std::size_t& of(const Extent& to) {
    return to.side == Side::Host ? mapped_on_host_ : mapped_on_[to.device];
  }
  void show(const Extent& to) {
    if (to.side == Side::Host)
      machine_.show_mapped_on_host(mapped_on_host_);
    else
      machine_.show_mapped(visible_[to.device], mapped_on_[to.device]);
  }

  machine::Machine& machine_;
  std::vector<std::uint32_t> visible_;
  Most reserved_, mapped_, physical_;
  std::size_t mapped_on_host_ = 0;
  std::array<std::size_t, machine::kMostDevices> mapped_on_{};  // devices of this process
};

}  // namespace belay
