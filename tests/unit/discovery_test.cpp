#include "machine/discovery.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "support/scratch.h"
#include "support/shared_state.h"

namespace belay::machine {
namespace discovery_test {

using namespace belay_test;
using platform::CommonMemory;
namespace fs = std::filesystem;

Header some_header(std::uint32_t devices = 1) {
  Header header{};
  header.magic = kMagic;
  header.layout = kLayout;
  header.devices = devices;
  header.bytes = State::bytes_for(devices);
  header.limits.total = 100;
  return header;
}

const Header& header_in(const CommonMemory& memory) {
  return reinterpret_cast<const State*>(memory.start())->header;
}

std::size_t links_in(const std::string& directory) {
  std::size_t count = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) count += entry.is_symlink() ? 1U : 0U;
  return count;
}

// --- names ----------------------------------------------------------------------------------------------

TEST(Discovery, D52_NamesOfMachines) {
  for (const char* name :
       {"a", "Z", "0", "_", "-", "default", "private", "job-17.gpu_3", "a.b", "a..b", "--x"})
    EXPECT_TRUE(good_name(name)) << name;
  EXPECT_TRUE(good_name(std::string(64, 'n')));
  EXPECT_FALSE(good_name(std::string(65, 'n')));
  for (const char* name :
       {"", ".", "..", ".a", "a/b", "/", "a b", " ", "a\n", "a\t", "\xC3\xA4", "a:b", "a*"})
    EXPECT_FALSE(good_name(name)) << name;
  EXPECT_FALSE(good_name(std::string{"a\0b", 3}));
}

// --- states ---------------------------------------------------------------------------------------------

struct Damage {
  const char* name;
  std::function<void(Header&)> done;
  const char* words;
  bool checked_again = true;  // with a check that fits
};

TEST(Discovery, D52_WhatIsWrongWithAStateIsToldInWords) {
  const Damage damages[] = {
      {"nothing", [](Header&) {}, ""},
      {"other magic", [](Header& header) { header.magic[0] = 'B'; }, "was not written by belay"},
      {"empty", [](Header& header) { header = Header{}; }, "was not written by belay", false},
      {"newer layout", [](Header& header) { header.layout = kLayout + 1; }, "another version"},
      {"a limit changed", [](Header& header) { header.limits.total ^= 1; }, "damaged", false},
      {"a setting changed", [](Header& header) { header.settings[3] = 'x'; }, "damaged", false},
      {"check changed", [](Header& header) { header.check ^= 1; }, "damaged", false},
      {"no devices", [](Header& header) { header.devices = 0; }, "damaged"},
      {"another number of devices", [](Header& header) { header.devices = 3; }, "damaged"},
      {"far too many devices", [](Header& header) { header.devices = 0xFFFFFFFF; }, "damaged"},
      {"another size", [](Header& header) { header.bytes += 4096; }, "damaged"},
  };
  for (const Damage& damage : damages) {
    const CommonMemory memory = CommonMemory::create(kUnitState, State::bytes_for(2));
    ASSERT_TRUE(memory.valid());
    Header& header = reinterpret_cast<State*>(memory.start())->header;
    header = some_header(2);
    header.check = State::check_of(header);
    damage.done(header);
    if (damage.checked_again) header.check = State::check_of(header);
    const std::string fault = fault_in(memory);
    if (*damage.words == '\0') {
      EXPECT_EQ(fault, "") << damage.name;
    } else {
      EXPECT_NE(fault.find(damage.words), std::string::npos) << damage.name << ": " << fault;
    }
  }
  for (const std::size_t bytes : {std::size_t{1}, sizeof(Header) - 1}) {
    EXPECT_NE(fault_in(CommonMemory::create(kUnitState, bytes)).find("too short"), std::string::npos);
  }
}

TEST(Discovery, D52_AnotherLayoutIsNamedInTheRefusal) {
  const CommonMemory memory = CommonMemory::create(kUnitState, State::bytes_for(1));
  Header& header = reinterpret_cast<State*>(memory.start())->header;
  header = some_header();
  header.layout = 77;
  EXPECT_NE(fault_in(memory).find("layout 77, this one has " + std::to_string(kLayout)), std::string::npos)
      << fault_in(memory);
}

TEST(Discovery, D52_TheMemoryIsSealed_AndOnlyOpenedIfItIs) {
  const CommonMemory memory = CommonMemory::create(kUnitState, 8192);
  ASSERT_TRUE(memory.valid());
  EXPECT_NE(::ftruncate(memory.file(), 0), 0);
  EXPECT_NE(::ftruncate(memory.file(), 16384), 0);
  EXPECT_NE(::fcntl(memory.file(), F_ADD_SEALS, F_SEAL_WRITE), 0) << "nor can it be frozen";
  const auto link = [](int file) { return "/proc/self/fd/" + std::to_string(file); };
  CommonMemory opened;
  EXPECT_EQ(CommonMemory::open(link(memory.file()), "another name", true, opened),
            CommonMemory::Opened::NotOurs);
  EXPECT_EQ(CommonMemory::open("/nowhere", kUnitState, true, opened), CommonMemory::Opened::Gone);
  EXPECT_EQ(CommonMemory::open("/proc/self/fd/9999", kUnitState, true, opened), CommonMemory::Opened::Gone);
  EXPECT_EQ(CommonMemory::open("/proc/self/exe", kUnitState, true, opened), CommonMemory::Opened::NotOurs);
  const int unsealed = ::memfd_create(kUnitState, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(::ftruncate(unsealed, 8192), 0);
  EXPECT_EQ(CommonMemory::open(link(unsealed), kUnitState, true, opened), CommonMemory::Opened::NotOurs);
  ::close(unsealed);
  // A name that begins alike is another name.
  const CommonMemory longer = CommonMemory::create((std::string{kUnitState} + "-2").c_str(), 8192);
  EXPECT_EQ(CommonMemory::open(link(longer.file()), kUnitState, true, opened), CommonMemory::Opened::NotOurs);
  EXPECT_FALSE(opened.valid());
}

TEST(Discovery, D66_LocksTellWhoIsAlive) {
  SharedState shared{no_limits(1)};
  CommonMemory& memory = shared.memory();
  ASSERT_TRUE(memory.try_lock(9));
  const Child child{[&] {
    CommonMemory& mine = *new CommonMemory;
    if (CommonMemory::open(shared.link(), kUnitState, true, mine) != CommonMemory::Opened::Done) return 1;
    return mine.try_lock(7) && !mine.try_lock(9) ? 0 : 2;
  }};
  ASSERT_EQ(child.answer(), 0);
  EXPECT_EQ(memory.state(7), CommonMemory::Lock::Held);
  EXPECT_EQ(memory.state(8), CommonMemory::Lock::Free);
  EXPECT_EQ(memory.state(9), CommonMemory::Lock::Free) << "one's own is not in one's way";
  EXPECT_FALSE(memory.try_lock(7));
  child.kill();
  EXPECT_EQ(memory.state(7), CommonMemory::Lock::Free);
  EXPECT_TRUE(memory.try_lock(7));
  ::close(memory.file());
  EXPECT_EQ(memory.state(7), CommonMemory::Lock::Unknown);
  EXPECT_FALSE(memory.try_lock(7));
}

// --- meeting --------------------------------------------------------------------------------------------

std::string identity_of(const std::string& path) {
  std::string why;
  return platform::OpenDirectory{path, true, why}.identity(".");
}

struct Grounds {
  Scratch scratch;
  Place place{scratch.path(), {}};
  MeetingPlace meeting = meeting_place(place, "m");
  std::string directory = meeting.path();
};

// On the machine "m", until it ends. Answers with the generation, or -1.
int stay(const Place& place) {
  Result<Joined> joined = discover(place, "m", some_header());
  if (!joined) return -1;
  const Joined& kept = *new Joined{std::move(*joined)};
  return static_cast<int>(header_in(kept.memory).generation);
}

TEST(Discovery, D52_TheFirstFounds_TheOthersFollow_AndAfterThemComesTheNextGeneration) {
  const Grounds grounds;
  for (int generation = 1; generation < 4; ++generation) {
    Child one{[&] { return stay(grounds.place); }};
    ASSERT_EQ(one.answer(), generation);
    Child two{[&] { return stay(grounds.place); }};
    EXPECT_EQ(two.answer(), generation);
    one.end();
    const Child three{[&] { return stay(grounds.place); }};
    EXPECT_EQ(three.answer(), generation) << "through the second";
    EXPECT_LE(links_in(grounds.directory), 4U);
  }
}

TEST(Discovery, D52_WhoOnlyLooksLeavesNoTrace) {
  const Grounds grounds;
  EXPECT_FALSE(look_in(grounds.meeting).joined.memory.valid());
  EXPECT_FALSE(fs::exists(grounds.directory));
  Child one{[&] { return stay(grounds.place); }};
  ASSERT_EQ(one.answer(), 1);
  const std::size_t before = links_in(grounds.directory);
  {
    const LookedIn seen = look_in(grounds.meeting);
    ASSERT_TRUE(seen.joined.memory.valid());
    EXPECT_EQ(header_in(seen.joined.memory).generation, 1U);
    EXPECT_EQ(fault_in(seen.joined.memory), "");
  }
  EXPECT_EQ(links_in(grounds.directory), before);
  one.end();
  EXPECT_FALSE(look_in(grounds.meeting).joined.memory.valid());
  EXPECT_EQ(machines_at(grounds.place), std::vector<std::string>{"m"});
}

TEST(Discovery, D52_WhoLeavesAgainTakesItsOwnLinkOnly) {
  const Grounds grounds;
  const Child one{[&] { return stay(grounds.place); }};
  ASSERT_EQ(one.answer(), 1);
  const std::size_t before = links_in(grounds.directory);
  const Child guest{[&] {
    Result<Joined> joined = discover(grounds.place, "m", some_header());
    if (!joined) return -1;
    leave(*joined);
    return 0;
  }};
  ASSERT_EQ(guest.answer(), 0);
  EXPECT_EQ(links_in(grounds.directory), before);
}

TEST(Discovery, D52_OnlyADeadMachineIsRemoved) {
  const Grounds grounds;
  Child one{[&] { return stay(grounds.place); }};
  ASSERT_EQ(one.answer(), 1);
  std::string why;
  EXPECT_FALSE(remove(grounds.place, "m", why));
  EXPECT_NE(why, "");
  EXPECT_TRUE(look_in(grounds.meeting).joined.memory.valid()) << "it is still there";
  one.end();
  EXPECT_TRUE(remove(grounds.place, "m", why)) << why;
  EXPECT_FALSE(fs::exists(grounds.directory));
  EXPECT_TRUE(machines_at(grounds.place).empty());
}

// Between the choice of a place and its use another may have put something else there.
TEST(Discovery, D52_APlaceThatHasBecomeALink_IsNotUsed) {
  const Scratch scratch;
  const std::string path = scratch.sub("place"), aside = scratch.sub("aside"), theirs = scratch.sub("theirs");
  for (const std::string& each : {path, theirs}) ASSERT_EQ(::mkdir(each.c_str(), 0700), 0);
  const Place place{path, {}};
  Child one{[&] {
    Result<Joined> joined = discover(place, "m", some_header());
    if (!joined) return 1;
    // What it left here is taken away here or nowhere.
    const std::string inside = theirs + "/" + joined->place.machine;
    if (::mkdir(inside.c_str(), 0700) != 0) return 2;
    const std::string link =
        text_of({kMember, 1, ::getpid(), platform::start_time(::getpid()).value_or(0), 1});
    if (::symlink("/nowhere", (inside + "/" + link).c_str()) != 0) return 3;
    if (::rename(path.c_str(), aside.c_str()) != 0 || ::symlink(theirs.c_str(), path.c_str()) != 0) return 4;
    leave(*joined);
    joined->place.remove_link(link);
    if (!fs::is_symlink(inside + "/" + link)) return 5;
    if (!machines_at(place).empty() || look_in(meeting_place(place, "m")).joined.memory.valid()) return 6;
    Result<Joined> again = discover(place, "m", some_header());
    if (again) return 7;
    return again.take_refusal()->what.find("is a symbolic link") == std::string::npos ? 8 : 0;
  }};
  EXPECT_EQ(one.answer(), 0);
  EXPECT_EQ(links_in(theirs + "/" + meeting_place(place, "m").machine), 1U) << "nothing was made there";
  std::string why;
  EXPECT_FALSE(remove(place, "m", why));
  EXPECT_NE(why.find("is a symbolic link"), std::string::npos) << why;
}

// A live process with a link that leads to a state that it made itself.
struct Planted {
  Planted(const Grounds& grounds, std::uint64_t generation, const std::function<CommonMemory()>& make)
      : owner{[&grounds, generation, make] {
          const CommonMemory& memory = *new CommonMemory{make()};
          const std::string target =
              "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory.file());
          const std::string link =
              text_of({kMember, generation, ::getpid(), platform::start_time(::getpid()).value_or(0), 1});
          return ::symlink(target.c_str(), (grounds.directory + "/" + link).c_str());
        }} {
    EXPECT_EQ(owner.answer(), 0);
  }
  Child owner;
};

// Generation 1 is dead, and its lead is there.
void let_one_pass(const Grounds& grounds) {
  const Child one{[&] { return stay(grounds.place); }};
  ASSERT_EQ(one.answer(), 1);
}

TEST(Discovery, D52_AMemberWithADamagedState_KeepsOthersOut_AndTheReasonIsTold) {
  struct Case {
    std::function<void(Header&)> damage;
    std::size_t bytes;
    const char* words;
  };
  const Case cases[] = {
      {[](Header& header) { header.magic[0] = 'x'; }, State::bytes_for(1), "was not written by belay"},
      {[](Header& header) { header.layout = 99; }, State::bytes_for(1), "another version"},
      {[](Header& header) { header.check ^= 1; }, State::bytes_for(1), "damaged"},
      {[](Header&) {}, State::bytes_for(1) + 4096, "damaged"},
      {[](Header&) {}, 64, "too short"},
  };
  for (const Case& each : cases) {
    const Grounds grounds;
    let_one_pass(grounds);
    const Planted planted{grounds, 1, [&] {
                            CommonMemory memory = CommonMemory::create(
                                state_name(identity_of(grounds.directory), 1).c_str(), each.bytes);
                            Header header = some_header();
                            header.generation = 1;
                            header.check = State::check_of(header);
                            each.damage(header);
                            std::memcpy(memory.start(), &header, std::min(each.bytes, sizeof header));
                            return memory;
                          }};
    const Child comer{[&] {
      Result<Joined> joined = discover(grounds.place, "m", some_header());
      if (joined) return 1;
      return joined.take_refusal()->what.find(each.words) == std::string::npos ? 2 : 0;
    }};
    EXPECT_EQ(comer.answer(), 0) << each.words;
  }
}

// What bears the machine's name, but was not made as one of them, is no reason to stay away.
TEST(Discovery, D52_AFileThatIsNotSealed_OrOfAnotherMachine_IsNobodys) {
  for (const bool sealed : {false, true}) {
    const Grounds grounds;
    let_one_pass(grounds);
    const Planted planted{
        grounds, 1, [&] {
          if (sealed) {
            CommonMemory memory = CommonMemory::create(
                state_name(identity_of(grounds.scratch.path()), 1).c_str(), State::bytes_for(1));
            return memory;
          }
          const int file = ::memfd_create(state_name(identity_of(grounds.directory), 1).c_str(), 0);
          (void)!::ftruncate(file, static_cast<off_t>(State::bytes_for(1)));
          return CommonMemory{};
        }};
    const Child comer{[&] { return stay(grounds.place); }};
    EXPECT_EQ(comer.answer(), 2);
  }
}

// The number is used again by another process, and the link is older than it.
TEST(Discovery, D66_ALinkOfAnEarlierProcessWithTheSameNumber_IsRemoved) {
  const Grounds grounds;
  let_one_pass(grounds);
  const Child stranger{[] { return 0; }};
  ASSERT_EQ(stranger.answer(), 0);
  const std::string link =
      grounds.directory + "/" + text_of({kMember, 1, stranger.process(), stranger.start() - 1, 1});
  ASSERT_EQ(::symlink("/nowhere", link.c_str()), 0);
  const Child comer{[&] { return stay(grounds.place); }};
  EXPECT_EQ(comer.answer(), 2);
  EXPECT_FALSE(fs::is_symlink(link));
}

// --- links of the dead, while the founder lives ----------------------------------------------------------

// No process has such a number, now or ever.
constexpr int kNobody = 1 << 30;

void plant_dead_links(const Grounds& grounds, int count, std::string_view role = kMember) {
  for (int i = 0; i < count; ++i) {
    const std::string name = text_of({role, 1, kNobody + i, 1, 1});
    ASSERT_EQ(::symlink("/proc/1073741824/fd/3", (grounds.directory + "/" + name).c_str()), 0);
  }
}

TEST(Discovery, D66_EachWhoJoinsRemovesAFewLinksOfTheDead) {
  const Grounds grounds;
  const Child founder{[&] { return stay(grounds.place); }};
  ASSERT_EQ(founder.answer(), 1);
  plant_dead_links(grounds, 5000);
  std::size_t before = links_in(grounds.directory);
  for (int i = 0; i < 20; ++i) {
    const Child guest{[&] { return stay(grounds.place); }};
    ASSERT_EQ(guest.answer(), 1);
    const std::size_t after = links_in(grounds.directory);
    EXPECT_LE(after, before - 50) << "fewer with each";
    EXPECT_GE(after + 64, before) << "and no more than a few at a time";
    before = after;
  }
}

TEST(Discovery, D66_InTheEndAllLinksOfTheDeadAreGone_AndThoseOfTheLivingStay) {
  const Grounds grounds;
  const Child founder{[&] { return stay(grounds.place); }};
  ASSERT_EQ(founder.answer(), 1);
  std::vector<std::unique_ptr<Child>> members;
  for (int i = 0; i < 5; ++i) {
    members.push_back(std::make_unique<Child>([&] { return stay(grounds.place); }));
    ASSERT_EQ(members.back()->answer(), 1);
  }
  // Alive and not yet in: it has said that it comes, and nothing is open there.
  const Child comer{[] { return 0; }};
  ASSERT_EQ(comer.answer(), 0);
  const std::string coming = text_of({kMember, 1, comer.process(), comer.start(), 1});
  const std::string founding = text_of({kFounder, 1, comer.process(), comer.start(), 2});
  for (const std::string& name : {coming, founding})
    ASSERT_EQ(::symlink("/nowhere", (grounds.directory + "/" + name).c_str()), 0);
  std::ofstream(grounds.directory + "/letter") << "dear";
  const std::size_t of_the_living = links_in(grounds.directory);
  plant_dead_links(grounds, 700);
  plant_dead_links(grounds, 70, kFounder);
  for (int i = 0; i < 400 && links_in(grounds.directory) > of_the_living + 2; ++i) {
    const Child guest{[&] { return stay(grounds.place); }};
    ASSERT_EQ(guest.answer(), 1);
  }
  EXPECT_LE(links_in(grounds.directory), of_the_living + 2) << "the last guest's may still be there";
  for (const std::string& name : {coming, founding, std::string{"lead.0000000000000001"}})
    EXPECT_TRUE(fs::is_symlink(grounds.directory + "/" + name)) << name;
  std::size_t found = 0;
  for (const auto& entry : fs::directory_iterator(grounds.directory)) {
    for (const auto& member : members)
      found += entry.path().filename().string().find("." + std::to_string(member->process()) + ".") !=
                       std::string::npos
                   ? 1U
                   : 0U;
  }
  EXPECT_EQ(found, members.size());
  EXPECT_EQ(read_text(grounds.directory + "/letter"), "dear");
}

// --- machines -------------------------------------------------------------------------------------------

Wish wish_for(const Grounds& grounds, const std::string& settings = "hbm=1;devices=2") {
  Wish wish;
  wish.name = "m";
  wish.directory = grounds.scratch.path();
  wish.product = "A2";
  wish.soc = "Ascend910B3";
  wish.devices = 2;
  wish.limits = no_limits(100);
  wish.settings = settings;
  return wish;
}

TEST(Discovery, D52_AnOnlookerSeesWhoHoldsWhat) {
  const Grounds grounds;
  EXPECT_FALSE(look_at(grounds.place, "m").live);
  const Child one{[&] {
    auto machine = Machine::join(wish_for(grounds));
    if (!machine || !(*machine)->quota(1).take(0, 40)) return 1;
    (void)machine->release();
    return 0;
  }};
  ASSERT_EQ(one.answer(), 0);
  Child two{[&] {
    auto machine = Machine::join(wish_for(grounds));
    if (!machine || !(*machine)->quota(1).take(2, 35)) return 1;
    (*machine)->quota(1).note_peak(35);
    (*machine)->quota(1).give(2, 5);
    (void)machine->release();
    return 0;
  }};
  ASSERT_EQ(two.answer(), 0);
  Seen seen = look_at(grounds.place, "m");
  ASSERT_TRUE(seen.live);
  EXPECT_EQ(seen.trouble, "");
  EXPECT_EQ(seen.product, "A2");
  EXPECT_EQ(seen.soc, "Ascend910B3");
  EXPECT_EQ(seen.devices, 2U);
  ASSERT_EQ(seen.processes.size(), 2U);
  EXPECT_EQ(seen.on_device[1][0], 40U);
  EXPECT_EQ(seen.on_device[1][2], 30U);
  EXPECT_EQ(seen.on_device[0][0], 0U);
  EXPECT_EQ(seen.peaks, (std::vector<std::uint64_t>{0, 75}));
  for (const ProcessSeen& each : seen.processes) {
    // The first never said that it has a peak; what it has is the least that it can be.
    EXPECT_EQ(each.peaks[1], each.process == one.process() ? 40U : 35U);
  }
  two.kill();
  seen = look_at(grounds.place, "m");
  ASSERT_EQ(seen.processes.size(), 1U);
  EXPECT_EQ(seen.processes[0].process, one.process());
  EXPECT_EQ(seen.on_device[1][2], 0U) << "the dead hold nothing";
  EXPECT_EQ(seen.peaks[1], 75U) << "what was in use at once was";
}

TEST(Discovery, V37_AnOnlookerSeesWhatIsReservedAndMapped_OfTheLivingOnly) {
  const Grounds grounds;
  const auto first = [&] {
    const Seen seen = look_at(grounds.place, "m");
    EXPECT_EQ(seen.processes.size(), 1U);
    return seen.processes.empty() ? ProcessSeen{} : seen.processes[0];
  };
  Child one{[&] {
    auto machine = Machine::join(wish_for(grounds));
    if (!machine) return 1;
    (*machine)->show_reserved(std::uint64_t{32} << 40);
    (*machine)->show_mapped(0, 7);
    (*machine)->show_mapped(1, 6 << 20);
    (*machine)->show_mapped(0, 0);
    (*machine)->show_mapped_on_host(2 << 20);
    (void)machine->release();
    return 0;
  }};
  ASSERT_EQ(one.answer(), 0);
  EXPECT_EQ(first().process, one.process());
  EXPECT_EQ(first().reserved, std::uint64_t{32} << 40);
  EXPECT_EQ(first().mapped, (std::vector<std::uint64_t>{0, 6 << 20}));
  EXPECT_EQ(first().mapped_on_host, std::uint64_t{2} << 20);
  one.kill();
  EXPECT_FALSE(look_at(grounds.place, "m").live);
  // Two on the machine, so that the second finds the row of the first.
  const Child keeper{[&] {
    auto machine = Machine::join(wish_for(grounds));
    return machine ? ((void)machine->release(), 0) : 1;
  }};
  ASSERT_EQ(keeper.answer(), 0);
  Child two{[&] {
    auto machine = Machine::join(wish_for(grounds));
    if (!machine) return 1;
    (*machine)->show_reserved(5);
    (*machine)->show_mapped(1, 5);
    (*machine)->show_mapped_on_host(5);
    (void)machine->release();
    return 0;
  }};
  ASSERT_EQ(two.answer(), 0);
  two.kill();
  const Child three{[&] {
    auto machine = Machine::join(wish_for(grounds));
    return machine ? ((void)machine->release(), 0) : 1;
  }};
  ASSERT_EQ(three.answer(), 0);
  const Seen seen = look_at(grounds.place, "m");
  ASSERT_EQ(seen.processes.size(), 2U);
  for (const ProcessSeen& each : seen.processes) {
    EXPECT_EQ(each.reserved, 0U);
    EXPECT_EQ(each.mapped, (std::vector<std::uint64_t>{0, 0}));
    EXPECT_EQ(each.mapped_on_host, 0U);
  }
}

TEST(Discovery, D52_OtherSettingsAreRefused_AndTheGuestLeavesNoLink) {
  const Grounds grounds;
  const Child one{[&] {
    auto machine = Machine::join(wish_for(grounds));
    return machine ? ((void)machine->release(), 0) : 1;
  }};
  ASSERT_EQ(one.answer(), 0);
  const std::size_t before = links_in(grounds.directory);
  const Child odd{[&] {
    auto machine = Machine::join(wish_for(grounds, "hbm=2;devices=2"));
    if (machine) return 1;
    const std::string text = machine.take_refusal()->what;
    const bool tells = text.find("hbm = 1") != std::string::npos &&
                       text.find("hbm = 2") != std::string::npos &&
                       text.find("devices = ") == std::string::npos &&
                       text.find(std::to_string(one.process())) != std::string::npos;
    return tells ? 0 : 2;
  }};
  EXPECT_EQ(odd.answer(), 0);
  EXPECT_EQ(links_in(grounds.directory), before);
}

// The words are compared as a whole, however many there are.
TEST(Discovery, D52_TheLongestSettingsAreStillTheSame) {
  const Grounds grounds;
  const std::string longest(sizeof(Header::settings) - 1, 's');
  for (int i = 0; i < 2; ++i) {
    const Child one{[&] {
      auto machine = Machine::join(wish_for(grounds, longest));
      return machine ? ((void)machine->release(), 0) : 1;
    }};
    EXPECT_EQ(one.answer(), 0);
  }
}

}  // namespace discovery_test
}  // namespace belay::machine
