// Memory under handles that several processes have, and ranges that keys lead to.
#include <algorithm>
#include <memory>

#include "memory/history.h"
#include "memory/reader_guard.h"
#include "memory/shared_words.h"
#include "memory/sharing_words.h"
#include "memory/virtual_memory.h"
#include "observe/observe.h"
#include "platform/process.h"

namespace belay {
namespace {

using machine::ShareKind;
using observe::Object;
using observe::What;

SharedWords words_for(const Physical& physical, const machine::ExtentName& name,
                      const std::vector<std::uint32_t>& visible) {
  const PhysicalPlan& plan = physical.plan;
  return {.extent = name,
          .bytes = plan.bytes,
          .side = plan.side,
          .device = plan.side == Side::Device ? visible[plan.device] : 0,
          .on_node = plan.on_node,
          .node = plan.node,
          .page = plan.page,
          .p2p = plan.p2p,
          .module = physical.extent->module,
          .reported = plan.reported,
          .asked = plan.asked};
}

}  // namespace

Mapping* VirtualMemory::own_mapping(std::uintptr_t start, const Lock& held) const {
  Mapping* found = parts_.mappings.starting_at(start, held);
  return found != nullptr && found->physical != nullptr ? found : nullptr;
}

Reservation* VirtualMemory::own_reservation(std::uintptr_t address, const Lock& held) {
  Reservation* found = parts_.mappings.around(address, held);
  return found != nullptr && !found->of_key ? found : nullptr;
}

bool VirtualMemory::is_imported(std::uint64_t handle) const {
  const Lock held = parts_.mappings.lock();
  const auto found = physicals_.find(handle);
  return found != physicals_.end() && found->second.imported != 0;
}

void VirtualMemory::note_mixture(const Physical& physical, const Reservation& inside,
                                 const Lock& held) const {
  if (inside.mappings == 0 || has(parts_.product->product, Feature::NewerDriver)) return;
  const bool imported = physical.imported != 0;
  for (const Mapping* each : parts_.mappings.all(held)) {
    if (each->inside != &inside || each->physical == nullptr || (each->physical->imported != 0) == imported)
      continue;
    observe::note("V-149", [&] {
      return fmt::format(
          "{} is mapped into the reservation {}, where {} is mapped at {}: the documents want a reservation "
          "for each",
          imported ? "an imported handle" : "an own handle", hex(inside.start),
          imported ? "memory of this process" : "imported memory", hex(each->start));
    });
    return;
  }
}

Refusal VirtualMemory::cannot_be_shared(const char* rule, const Extent& extent) const {
  return why_not_shared(rule, parts_.backing, extent.start);
}

// The last reference of its maker is gone. The newer driver ends the share at once, the others when nobody
// holds the memory any more (V-40).
void VirtualMemory::retire(const Physical& physical) {
  if (has(parts_.product->product, Feature::NewerDriver)) {
    parts_.machine.shares().end(physical.exported);
  } else {
    lingering_.push_back(physical.exported);
  }
}

Result<machine::Secret> VirtualMemory::share(std::uint64_t handle, ShareKind kind, bool checking) {
  machine::Shares& shares = parts_.machine.shares();
  const Lock held = parts_.mappings.lock();
  std::erase_if(lingering_, [&](machine::ShareId each) {
    const bool ended = !shares.find(each);
    if (ended) shares.end(each);
    return ended;
  });
  const auto found = physicals_.find(handle);
  if (found == physicals_.end()) {
    return of_dead_handle(rejected("V-219", "handle", hex(handle),
                                   "no physical memory has this handle: it was freed, or never made",
                                   "export a handle of aclrtMallocPhysical that is alive"),
                          history_of_ended(handle));
  }
  Physical& physical = found->second;
  if (physical.imported != 0) {
    return driver_refuses(
        "V-221", fmt::format("the handle {} was imported: only its maker can export the memory", hex(handle)),
        "pass on the share value that it was imported with");
  }
  if (physical.exported != 0) {
    return driver_refuses("V-220", fmt::format("the handle {} was exported before", hex(handle)),
                          "keep the first share value and use it for all importers");
  }
  const std::optional<machine::ExtentName> name = parts_.physical.share(physical.extent);
  if (!name) return cannot_be_shared("V-222", *physical.extent);
  const bool outlives = !has(parts_.product->product, Feature::NewerDriver);
  const std::optional<machine::Secret> secret =
      shares.publish({.kind = kind,
                      .checking = checking,
                      .outlives = outlives,
                      .one_word = kind == ShareKind::Handle,
                      .words = words_for(physical, *name, parts_.visible).pack()});
  if (!secret) return no_room_for_shares("V-222");
  physical.exported = (*secret)[0];
  return *secret;
}

Result<std::uint64_t> VirtualMemory::import(const machine::Share& share, std::uint32_t device,
                                            std::uint64_t handle) {
  const SharedWords words = SharedWords::unpack(share.words, share.kind);
  const auto destroyed = [&] {
    return share_is_unknown("V-249", "the memory was destroyed: nobody holds it any more");
  };
  const Lock held = parts_.mappings.lock();
  if (const auto found = imported_.find({share.id, device}); found != imported_.end()) {
    observe::note("V-31", [&] {
      return fmt::format("process {} imports the same share value on device {} again: it is the same handle",
                         platform::process_id(), device);
    });
    ++physicals_.at(found->second).references;
    return found->second;
  }
  const bool here = words.side == Side::Device && parts_.visible[device] == words.device;
  if (here && parts_.machine.shares().is_mine(share)) {
    return driver_refuses("V-248", fmt::format("this process made the memory, on the same device {}", device),
                          "use the handle of aclrtMallocPhysical here; a share value is for other processes");
  }
  if (!parts_.physical.lives(words.extent)) return destroyed();
  int why = 0;
  ExtentPtr extent =
      parts_.physical.import({words.extent, device, words.page, words.p2p, words.module, false}, &why);
  if (extent == nullptr && !parts_.physical.lives(words.extent)) return destroyed();
  if (extent == nullptr) return cannot_open("V-253", share.process, why);
  const auto of_device = std::ranges::find(parts_.visible, words.device);
  Physical physical{.handle = handle,
                    .plan = {words.asked, words.bytes, words.page, words.p2p, words.side,
                             of_device == parts_.visible.end()
                                 ? words.device
                                 : static_cast<std::uint32_t>(of_device - parts_.visible.begin()),
                             words.on_node, words.node, words.reported},
                    .extent = std::move(extent),
                    .made_by = observe::t_call.function,
                    .imported = share.id};
  observe::publish({.what = What::Created,
                    .object = Object::ImportedPhysical,
                    .device = static_cast<std::uint8_t>(device),
                    .serial = physical.extent->number,
                    .address = handle,
                    .bytes = words.asked});
  imported_.emplace(std::pair{share.id, device}, handle);
  physicals_.emplace(handle, std::move(physical));
  return handle;
}

// --- keys -----------------------------------------------------------------------------------------

Result<std::vector<VirtualMemory::KeyPart>> VirtualMemory::pin_for_key(std::uintptr_t start,
                                                                       std::size_t bytes) {
  const Lock held = parts_.mappings.lock();
  std::vector<KeyPart> parts;
  std::vector<Mapping*> found;
  for (std::size_t done = 0; done < bytes;) {
    const std::uintptr_t at = start + done;
    Mapping* mapping = parts_.mappings.containing(at, held);
    if (mapping == nullptr || mapping->extent->side == Side::Host) {
      return driver_refuses("V-389",
                            fmt::format("of the {} bytes at {} only the first {} are mapped to device memory",
                                        bytes, hex(start), done),
                            "export a range that is mapped without holes");
    }
    if (mapping->physical == nullptr) {
      return driver_refuses("V-386", fmt::format("{} was imported by an IPC key", hex(at)),
                            "only the process that has the memory can export it; pass on its key");
    }
    if (mapping->physical->imported != 0 || mapping->physical->exported != 0) {
      return driver_refuses("V-387",
                            fmt::format("the memory that is mapped at {} was {} as a handle", hex(at),
                                        mapping->physical->imported != 0 ? "imported" : "exported"),
                            "share it in one way only: by its share value");
    }
    if (at % page_bytes(mapping->extent->page) != 0) {
      return driver_refuses("V-388",
                            fmt::format("{} is not a multiple of its page size, {}", hex(at),
                                        amount(page_bytes(mapping->extent->page))),
                            "export from the start of a page on");
    }
    const std::optional<machine::ExtentName> name = parts_.physical.share(mapping->extent);
    if (!name) return cannot_be_shared("V-386", *mapping->extent);
    const std::size_t into = at - mapping->start;
    const std::size_t here = std::min(bytes - done, mapping->bytes - into);
    parts.push_back({*name, mapping->offset + into, here, mapping->extent->page});
    found.push_back(mapping);
    done += here;
  }
  for (Mapping* each : found) ++each->keys;
  return parts;
}

void VirtualMemory::unpin_for_key(std::uintptr_t start, std::size_t bytes) {
  const Lock held = parts_.mappings.lock();
  for (std::size_t done = 0; done < bytes;) {
    Mapping* mapping = parts_.mappings.containing(start + done, held);
    if (mapping == nullptr || mapping->keys == 0) return;  // its device was closed
    --mapping->keys;
    done = mapping->start + mapping->bytes - start;
  }
}

Result<std::uintptr_t> VirtualMemory::map_borrowed(const std::vector<Borrowed>& parts,
                                                   const machine::Share& lease) {
  // Whole pages; only the last part may end inside of one.
  const auto in_pages = [](const Borrowed& part) {
    return round_up(part.bytes, page_bytes(part.extent->page)).value_or(0);
  };
  std::size_t total = 0, room = 0;
  for (const Borrowed& each : parts) {
    total += each.bytes;
    room += in_pages(each);
  }
  const Lock held = parts_.mappings.lock();
  Reservation* made = parts_.mappings.reserve(round_up(room, kMappingUnit).value_or(0), 0, held);
  if (made == nullptr) {
    return out_of_memory("V-416",
                         fmt::format("there are no {} of addresses left in one piece", amount(total)),
                         "the window of device addresses is full of blocks and reservations",
                         "free, release or close some first");
  }
  made->asked = total;
  made->of_key = true;
  made->bound = static_cast<std::int32_t>(parts.front().extent->device);
  const std::uintptr_t start = made->start;
  std::uintptr_t at = start;
  for (const Borrowed& each : parts) {
    auto mapping = std::make_unique<Mapping>();
    mapping->start = at;
    mapping->bytes = in_pages(each);
    mapping->extent = each.extent;
    mapping->offset = each.offset;
    mapping->asked = each.bytes;
    mapping->writable = true;
    mapping->serial = observe::next_serial();
    mapping->inside = made;
    mapping->lease = &lease;
    parts_.mappings.make_room(held);
    // Where the kernel has no room for them, copies work all the same.
    if (shown_without_asking(*each.extent)) (void)show_to_host(*mapping);
    parts_.mappings.map(std::move(mapping), held);
    figures_.add_mapping(*each.extent, in_pages(each));
    at += in_pages(each);
  }
  return start;
}

void VirtualMemory::unmap_borrowed(std::uintptr_t start) {
  std::vector<std::unique_ptr<Mapping>> gone;
  {
    const Lock held = parts_.mappings.lock();
    const Reservation* inside = parts_.mappings.around(start, held);
    if (inside == nullptr) return;
    for (std::uintptr_t at = start; at < start + inside->bytes;) {
      Mapping* mapping = parts_.mappings.containing(at, held);
      if (mapping == nullptr) break;
      hide_from_host(*mapping);
      figures_.remove_mapping(*mapping->extent, mapping->bytes);
      at += mapping->bytes;
      gone.push_back(parts_.mappings.take(*mapping, held));
    }
    parts_.mappings.release(*inside, held);
  }
  ReaderGuard::wait_for_readers();
  for (const auto& each : gone) parts_.watch.tell(each->start, each->bytes);
}

}  // namespace belay
