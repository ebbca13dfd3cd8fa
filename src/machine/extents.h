// Physical memory that several processes hold: who, and whose pages it is charged to.
//
// An extent lives as long as one living process holds it. Its pages are charged to its maker, and when that
// one holds it no longer, to the holder who has been on the machine longest. Everything is single words, so a
// process may be killed or stopped between any two instructions: whoever comes next goes on from there. Who
// borrows an extent only keeps its range from being used again; when nobody else holds it, its pages are
// nobody's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "machine/state.h"
#include "platform/shared_bytes.h"

namespace belay::machine {

class PageQuota;
class ProcessTable;

// How an extent is named to another process. A name of one that is gone leads nowhere.
struct ExtentName {
  std::size_t index;
  std::uint64_t serial;
};

struct ExtentPlace {
  std::uint64_t offset, bytes;
  platform::FileName file;
};
struct HeldExtent : ExtentPlace {
  std::size_t device, kind;  // of the machine, of pages
};

class Extents {
 public:
  Extents(State& state, ProcessTable& processes) : state_{state}, processes_{processes} {}

  // Pages that this process has in use, in a shard of its own, become an extent. Memory of the host has none.
  // Empty: there is no extent left.
  std::optional<ExtentName> make(PageQuota& quota, std::size_t kind, std::uint64_t pages, std::size_t shard,
                                 const ExtentPlace& place);
  // From now on this process holds it, too. Empty: it is gone.
  enum class As : std::uint8_t { Owner, Borrower };
  std::optional<HeldExtent> hold(const ExtentName& name, As as = As::Owner);
  // It does not hold it any more.
  void release(const ExtentName& name, As as = As::Owner);
  bool lives(const ExtentName& name) const;
  // The same, after those who died were noticed.
  bool lives_now(const ExtentName& name);
  // Where this process has its file open, for those who come when its maker is gone; and where others have.
  void show_file(const ExtentName& name, std::int32_t descriptor);
  std::vector<platform::FileName> files(const ExtentName& name) const;

  // Whoever had that row up to that life is gone and holds nothing.
  static void release_all_of(State& state, std::size_t row, std::uint64_t life,
                             const ProcessTable& processes);
  // Whether it holds anything, or is charged for anything on that device.
  static bool concerns(const State& state, std::size_t row);

 private:
  std::uint64_t me(As as) const;

  State& state_;
  ProcessTable& processes_;
  std::size_t first_free_ = 0;  // below it none was free when this process looked last
};

// Whether that is still it, as far as the state says: of one whose holders are all dead, too, as long as
// nobody noticed.
bool extent_lives(const State& state, const ExtentName& name);
// Sums of what extents are charged on a device: to all, or to one process.
void add_charges(const State& state, std::size_t device, std::array<std::uint64_t, kKinds>& use,
                 std::size_t row = Charge::kNobody);
// Completes the passing of pages from an account to an extent that a pending word tells of.
void complete_move(State& state, std::size_t device, const NumberedWord::Value& pending);

}  // namespace belay::machine
