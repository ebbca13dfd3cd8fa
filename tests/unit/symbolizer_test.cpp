// Addresses of code as text, without the command that reads debug information.
#include "platform/symbolizer.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "observe/call_sites.h"
#include "observe/lives.h"
#include "observe/observe.h"
#include "observe/stack_words.h"
#include "platform/call_stack.h"
#include "platform/modules.h"

namespace symbolizer_test {
using namespace belay;

std::uintptr_t here() { return reinterpret_cast<std::uintptr_t>(&here) + 1; }

TEST(Modules, TheProgramAndItsLibrariesAreKnown) {
  platform::learn_modules();
  const platform::Module* program = platform::module_around(here());
  ASSERT_NE(program, nullptr);
  EXPECT_TRUE(program->path.ends_with("unit_tests")) << program->path;
  const platform::Module* libc = platform::module_around(reinterpret_cast<std::uintptr_t>(&::fopen));
  ASSERT_NE(libc, nullptr);
  EXPECT_NE(libc, program);
  EXPECT_EQ(platform::module_around(8), nullptr);
}

TEST(Modules, ALibraryThatWasUnloadedIsStillKnown) {
  void* library = ::dlopen("libutil.so.1", RTLD_NOW);
  if (library == nullptr) library = ::dlopen("libanl.so.1", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  platform::learn_modules();
  link_map* map = nullptr;
  ASSERT_EQ(::dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  const std::uintptr_t inside = map->l_addr + 1;
  const platform::Module* before = platform::module_around(inside);
  ASSERT_NE(before, nullptr);
  ::dlclose(library);
  platform::learn_modules();
  EXPECT_EQ(platform::module_around(inside), before);
}

TEST(Symbolizer, WithoutTheCommandAFrameIsModuleAndOffset) {
  platform::learn_modules();
  const platform::Module* program = platform::module_around(here());
  char expected[64];
  std::snprintf(expected, sizeof expected, "unit_tests+0x%lx",
                static_cast<unsigned long>(here() - program->bias));
  const std::string text =
      "a " + platform::frame_token(here()) + " b\nc " + platform::frame_token(here()) + "\n";
  EXPECT_EQ(platform::symbolised(text), std::string{"a "} + expected + " b\nc " + expected + "\n");
  EXPECT_EQ(platform::symbolised("nothing here"), "nothing here");
  EXPECT_EQ(platform::symbolised(platform::frame_token(0x1234)), "?+0x1234");
}

TEST(Symbolizer, BrokenTokensAreCut_NotFollowed) {
  EXPECT_EQ(platform::symbolised("x \1/a/b"), "x b");
  EXPECT_EQ(platform::symbolised("x \1/a/b\2"), "x b+0x");
  EXPECT_EQ(platform::symbolised("\1\2\2\3."), "+0x.");
}

TEST(StackWords, EachLineBeginsWithTheIndent_AndALineThatDoesNotFitIsLeftOut) {
  platform::learn_modules();
  const std::uintptr_t frames[] = {here(), here()};
  char room[4096];
  const std::size_t all = observe::put_stack_words({frames, 2}, {}, "> ", room, sizeof room);
  const std::string lines{room, all};
  EXPECT_TRUE(lines.starts_with("> at \1"));
  EXPECT_TRUE(lines.ends_with("\3\n"));
  const std::size_t half = observe::put_stack_words({frames, 2}, {}, "> ", room, all - 1);
  EXPECT_EQ(half, all / 2);
}

// --- the number of stacks is bounded --------------------------------------------------------------

TEST(CallSitesBound, TenThousandStacksTwice_AreKeptOnce) {
  static std::uint64_t line = 0;
  observe::keep_stacks(4);
  observe::g_interpreter_frames = [](std::uint64_t* frames, std::size_t) -> std::size_t {
    frames[0] = line;
    return 1;
  };
  std::vector<std::uint32_t> first;
  for (int round = 0; round < 2; ++round) {
    for (line = 0; line < 10'000; ++line) {
      const std::uint32_t site = observe::site_of_this_call();
      if (round == 0)
        first.push_back(site);
      else
        ASSERT_EQ(site, first[line]);
    }
  }
  observe::g_interpreter_frames = nullptr;
  observe::keep_stacks(0);
  EXPECT_EQ(std::set<std::uint32_t>(first.begin(), first.end()).size(), first.size());
  EXPECT_EQ(observe::site_of_this_call(), 0U) << "nobody wants to know";
}

// --- lives ----------------------------------------------------------------------------------------

TEST(Lives, BeginAndEndOfAnObjectAreKept_UpToABound) {
  const auto note = [](observe::What what, std::uint64_t serial, std::uint32_t site) {
    observe::note_life(
        {.what = what, .object = Object::Stream, .site = site, .serial = serial, .address = serial});
  };
  note(observe::What::Created, 1'000'000, 7);
  EXPECT_EQ(observe::life_of(Object::Stream, 1'000'000)->made_at, 7U);
  EXPECT_FALSE(observe::life_of(Object::Stream, 1'000'000)->ended);
  EXPECT_FALSE(observe::life_of(Object::Event, 1'000'000)) << "another kind";
  note(observe::What::Destroyed, 1'000'000, 8);
  const std::optional<observe::Life> life = observe::life_of_handle(1'000'000);
  ASSERT_TRUE(life);
  EXPECT_TRUE(life->ended);
  EXPECT_EQ(life->made_at, 7U);
  EXPECT_EQ(life->ended_at, 8U);
  EXPECT_EQ(observe::ended_at_address(1'000'000)->serial, 1'000'000U);
  for (std::uint64_t i = 1; i <= 20'000; ++i) {
    note(observe::What::Created, 1'000'000 + i, 1);
    note(observe::What::Destroyed, 1'000'000 + i, 1);
  }
  EXPECT_FALSE(observe::life_of(Object::Stream, 1'000'000)) << "the oldest are forgotten";
  EXPECT_TRUE(observe::life_of(Object::Stream, 1'020'000));
  observe::forget_lives();
}

}  // namespace symbolizer_test
