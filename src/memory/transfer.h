// Copying and filling: ranges are checked, then bytes move at once.
//
// The direction is found from the two addresses (M-240). Every byte of a device range must lie in a
// page that some live block of one device occupies (M-434); host addresses are not checked. A call that
// is refused has moved nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "memory/memory.h"

namespace belay {

// One item of a batch, with the attribute that applies to it.
struct BatchItem {
  void* to;
  void* from;
  std::size_t bytes;
  const aclrtMemcpyBatchAttr* attribute;
  std::size_t room;  // at `to`, as the caller says
};

class Transfer {
 public:
  // `acting`: device of the current context; it decides whose peer access counts, and where managed memory
  // comes to, unless the host does the copy.
  enum class By : std::uint8_t { Device, Host };
  Transfer(Memory& memory, std::uint32_t acting, By by = By::Device)
      : memory_{memory}, acting_{acting}, by_{by} {}

  Status copy(void* to, const void* from, std::size_t bytes);
  Status copy_rows(const Location& to, std::size_t to_pitch, const Location& from, std::size_t from_pitch,
                   std::size_t width, std::size_t height);
  Status fill(const Location& to, unsigned char value, std::size_t bytes);
  Status fill32(const Location& to, std::uint32_t value, std::size_t words);
  Status store64(const Location& to, std::uint64_t value);  // in one piece (P-41)

  // Would it be refused?
  Status check_copy(const Location& to, const Location& from, std::size_t bytes) const;
  Status check_rows(const Location& to, std::size_t to_pitch, const Location& from, std::size_t from_pitch,
                    std::size_t width, std::size_t height) const;
  Status check_fill(const Location& to, std::size_t bytes, const char* rule) const {
    return check(to, bytes, true, rule);
  }

  // Where the bytes of a device range are. For whoever is inside a ReaderGuard.
  Reached pieces_of(std::uintptr_t start, std::size_t bytes, std::vector<BackingStore::Stretch>& pieces);

 private:
  Status check(const Location& at, std::size_t bytes, bool written, const char* rule = "M-239") const;
  Status check_pair(const Location& to, const Location& from) const;
  bool copy_plainly(void* to, const void* from, std::size_t bytes);
  Status move(const Location& to, const Location& from, std::size_t bytes);
  Status move_held(const Location& to, const Location& from, std::size_t bytes);
  Status check_managed(const Location& at, std::size_t bytes, const char* rule) const;
  void note_managed(const Location& at, std::size_t bytes, bool writes);
  Status filled(const Location& to, std::size_t bytes, Reached how);
  template <class OnDevice, class OnHost>
  Status fill_by(const Location& to, std::size_t bytes, const char* rule, OnDevice&& on_device,
                 OnHost&& on_host);
  template <class Act>
  Reached by_piece(std::uintptr_t start, std::size_t bytes, Act&& act);
  Reached prepare(std::uintptr_t start, std::size_t bytes);
  Reached write(std::uintptr_t to, const void* from, std::size_t bytes);
  Reached read(std::uintptr_t from, void* to, std::size_t bytes);
  Reached copy_on_device(std::uintptr_t to, std::uintptr_t from, std::size_t bytes);

  Memory& memory_;
  std::uint32_t acting_;
  By by_;
};

// The synchronous batch (M-292 ... M-295): all checks first, then all copies. `fail_index` is set
// where one item is at fault.
Status copy_batch(Memory& memory, std::span<const BatchItem> items, std::size_t& fail_index);

// Both ends of an item, if the stated location of each is the real one, and one of them is on the host
// (M-292, M-293).
struct BatchEnds {
  Location to, from;
  Way way() const { return way_between(to, from); }
};
Result<BatchEnds> check_batch_item(const Memory& memory, const BatchItem& item, std::size_t index);

}  // namespace belay
