#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "recording/reader.h"
#include "support/made_traces.h"
#include "support/scratch.h"

namespace belay::recording {
namespace recording_test {

using belay_test::MadeTotals;
using belay_test::MadeTrace;
using observe::What;

MadeTotals totals_of(Trace& trace) {
  MadeTotals sum;
  std::uint64_t before = 0;
  for (Records records = trace.records(); const Record* each = records.next();) {
    if (each->kind != Kind::Event) continue;
    EXPECT_GE(each->time_ns, before);
    before = each->time_ns;
    ++sum.events;
    if (each->is_block() && each->what == What::Allocated) {
      ++sum.allocated;
      sum.bytes_allocated += each->bytes;
      sum.charged += each->charged();
      sum.peak = std::max(sum.peak, sum.charged - sum.returned);
    } else if (each->is_block()) {
      ++sum.freed;
      sum.returned += each->charged();
    } else if (each->what == What::Copied) {
      ++sum.copies;
      sum.copied += each->moved[1];
    } else if (each->what == What::Refused) {
      ++sum.refusals;
    }
  }
  for (const ProcessFacts& facts : trace.processes()) {
    for (const auto& place : facts.omitted->blocks) {
      for (const Omitted::Blocks& page : place) {
        sum.allocated += page.made.times;
        sum.bytes_allocated += page.made.bytes;
        sum.freed += page.freed.times;
        sum.charged += page.charged;
        sum.returned += page.returned;
      }
    }
    sum.copies += facts.omitted->moved[1].times;
    sum.copied += facts.omitted->moved[1].bytes;
    for (const auto& events : facts.omitted->events) sum.events += events;
  }
  return sum;
}

void expect_same(const MadeTotals& found, const MadeTotals& made) {
  EXPECT_EQ(found.events, made.events);
  EXPECT_EQ(found.allocated, made.allocated);
  EXPECT_EQ(found.freed, made.freed);
  EXPECT_EQ(found.bytes_allocated, made.bytes_allocated);
  EXPECT_EQ(found.charged, made.charged);
  EXPECT_EQ(found.returned, made.returned);
  EXPECT_EQ(found.copies, made.copies);
  EXPECT_EQ(found.copied, made.copied);
  EXPECT_EQ(found.refusals, made.refusals);
}

TEST(Recording, WhatIsWrittenIsRead) {
  const belay_test::Scratch scratch;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const std::string path = scratch.sub("trace");
    MadeTotals made;
    {
      MadeTrace trace{path, seed};
      trace.train(20'000);
      trace.serve(40'000);
      made = trace.totals();
    }
    Trace trace;
    ASSERT_EQ(trace.open(path), "");
    const MadeTotals found = totals_of(trace);
    expect_same(found, made);
    EXPECT_EQ(found.peak, made.peak);
    EXPECT_TRUE(trace.remarks().empty()) << trace.remarks()[0];
    ASSERT_EQ(trace.processes().size(), 1U);
    EXPECT_NE(trace.processes()[0].ended_ns, 0U);
    EXPECT_LT(std::filesystem::file_size(path), made.events * 20);
  }
}

TEST(Recording, TellsEveryFieldAsItWas) {
  const belay_test::Scratch scratch;
  const std::string path = scratch.sub("trace");
  std::mt19937_64 random{7};
  const auto any = [&] { return random() >> random() % 64; };
  struct Written {
    observe::Event event;
    observe::Details details;
    std::vector<observe::Touch> touches;
    std::string text;
  };
  std::vector<Written> all;
  {
    File file;
    ASSERT_EQ(file.open(path, kDefaultLimit, true), "");
    ProcessStart start;
    start.began_ns = file.header().clock_ns;
    ProcessLog log{file, start, nullptr};
    Lane& lane = log.take_lane();
    lane.begin(9);
    for (int i = 0; i < 20'000; ++i) {
      Written& one = all.emplace_back();
      one.event = {.what = static_cast<What>(random() % 23),
                   .actor = static_cast<observe::Actor>(random() % 3),
                   .object = static_cast<Object>(random() % 15),
                   .operation = static_cast<observe::Operation>(random() % 21),
                   .page_shift = static_cast<std::uint8_t>(random() % 31),
                   .device = static_cast<std::uint8_t>(random() % 64),
                   .outcome = static_cast<std::int32_t>(any()),
                   .units = static_cast<std::uint32_t>(any()),
                   .serial = any(),
                   .address = any(),
                   .bytes = any(),
                   .function = "aclrtMalloc"};
      one.details = {
          any(), any(), any(), any(), any(), any(), any(), "M-1", static_cast<std::uint32_t>(any())};
      for (std::size_t n = random() % 20; n > 0; --n) {
        one.touches.push_back({any(), any(), any(), any(), static_cast<std::uint32_t>(random() % 3),
                               static_cast<std::uint16_t>(random() % 64), random() % 2 == 0,
                               random() % 2 == 0});
      }
      one.text.assign(random() % 30, 'x');
      lane.write(one.event, &one.details, one.touches, one.text,
                 file.header().clock_ns + static_cast<unsigned>(i));
    }
    lane.end();
  }
  Trace trace;
  ASSERT_EQ(trace.open(path), "");
  Records records = trace.records();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Record* read = records.next();
    ASSERT_NE(read, nullptr) << i;
    const auto& [event, details, touches, text] = all[i];
    ASSERT_EQ(read->what, event.what) << i;
    ASSERT_EQ(read->object, event.object);
    ASSERT_EQ(read->device, event.device);
    ASSERT_EQ(read->time_ns, i);
    ASSERT_EQ(read->thread, 9U);
    ASSERT_EQ(read->serial, event.serial) << i;
    ASSERT_EQ(read->outcome, event.outcome);
    ASSERT_EQ(read->stream, details.stream);
    ASSERT_EQ(read->position, details.position);
    ASSERT_EQ(read->caller, details.caller);
    ASSERT_EQ(trace.text(read->process, read->rule), "M-1");
    ASSERT_EQ(trace.text(read->process, read->function), "aclrtMalloc");
    ASSERT_EQ(read->text, text);
    const bool task = event.what >= What::Submitted && event.what <= What::Dropped;
    if (task && event.what != What::Submitted) continue;
    ASSERT_EQ(read->bytes, event.bytes);
    ASSERT_EQ(read->pages, event.units);
    ASSERT_EQ(read->record, details.record);
    ASSERT_EQ(read->other, details.object);
    ASSERT_EQ(read->value, details.value);
    ASSERT_EQ(read->flag, details.flag);
    ASSERT_EQ(read->parts.size() + read->left_out, touches.size());
    for (std::size_t part = 0; part < read->parts.size(); ++part) {
      ASSERT_EQ(read->parts[part].extent, touches[part].extent);
      ASSERT_EQ(read->parts[part].offset, touches[part].offset);
      ASSERT_EQ(read->parts[part].bytes, touches[part].bytes);
      ASSERT_EQ(read->parts[part].rows, touches[part].rows);
      ASSERT_EQ(read->parts[part].device, touches[part].device);
      ASSERT_EQ(read->parts[part].on_device, touches[part].on_device);
      ASSERT_EQ(read->parts[part].writes, touches[part].writes);
    }
  }
  EXPECT_EQ(records.next(), nullptr);
}

TEST(Recording, KeepsTotalsExactWithinItsLimit) {
  const belay_test::Scratch scratch;
  for (const std::uint64_t limit : {std::uint64_t{1} << 20, std::uint64_t{2} << 20, std::uint64_t{5} << 20}) {
    const std::string path = scratch.sub("trace");
    MadeTotals made;
    {
      MadeTrace trace{path, limit, limit};
      trace.train(300'000);
      trace.serve(600'000);
      made = trace.totals();
    }
    EXPECT_LE(std::filesystem::file_size(path), limit);
    Trace trace;
    ASSERT_EQ(trace.open(path), "");
    MadeTotals found = totals_of(trace);
    found.refusals = made.refusals;  // few, and only their number is kept
    expect_same(found, made);
    EXPECT_TRUE(trace.is_thinned());
    ASSERT_EQ(trace.remarks().size(), 1U);
    EXPECT_NE(trace.remarks()[0].find("not every event was written down"), std::string::npos)
        << trace.remarks()[0];
  }
}

// A block is written down from its beginning to its end, or not at all, until the file is full.
TEST(Recording, LeavesOutWholeLives) {
  const belay_test::Scratch scratch;
  const std::string path = scratch.sub("trace");
  {
    MadeTrace trace{path, 5, 4 << 20};
    trace.serve(400'000);
  }
  Trace trace;
  ASSERT_EQ(trace.open(path), "");
  const std::vector<Thinning>& thinning = trace.processes()[0].thinning;
  ASSERT_FALSE(thinning.empty());
  const std::uint64_t full =
      thinning.back().level == Thinning::kNothing ? thinning.back().time_ns : UINT64_MAX;
  std::map<std::uint64_t, bool> alive;
  for (Records records = trace.records(); const Record* each = records.next();) {
    if (!each->is_block() || each->time_ns >= full) continue;
    if (each->what == What::Allocated)
      alive[each->serial] = true;
    else
      EXPECT_EQ(alive.erase(each->serial), 1U) << each->serial;
  }
}

// Whatever is in a file: words, and no crash; and of a trace that was cut off, what is whole.
TEST(Recording, ReadsWhatIsLeftOfADamagedTrace) {
  const belay_test::Scratch scratch;
  const std::string path = scratch.sub("trace"), other = scratch.sub("other");
  {
    MadeTrace trace{path, 11};
    trace.serve(30'000);
  }
  const std::string whole = belay_test::read_text(path);
  const auto read = [&](const std::string& bytes) {
    std::ofstream(other, std::ios::binary) << bytes;
    Trace trace;
    const std::string why = trace.open(other);
    std::uint64_t events = 0;
    if (why.empty()) {
      for (Records records = trace.records(); records.next() != nullptr;) ++events;
      (void)trace.remarks();
    }
    return std::pair{why, events};
  };
  EXPECT_NE(read("").first.find("is no trace"), std::string::npos);
  EXPECT_NE(read("hello, I am not a trace").first.find("is no trace"), std::string::npos);
  EXPECT_NE(read(whole.substr(0, 40)).first.find("is no trace"), std::string::npos);
  std::string newer = whole;
  newer[8] = 2;
  EXPECT_NE(read(newer).first.find("version 2"), std::string::npos);

  std::uint64_t before = 0;
  for (std::size_t bytes = 16384; bytes <= whole.size(); bytes += 4999) {
    const auto [why, events] = read(whole.substr(0, bytes));
    EXPECT_EQ(why, "");
    EXPECT_GE(events, before) << bytes;
    before = events;
  }
  EXPECT_GT(before, 25'000U);

  std::mt19937_64 random{3};
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole;
    for (std::uint64_t n = 1 + random() % 20; n > 0; --n) {
      const std::size_t where = random() % 3 == 0
                                    ? random() % damaged.size()
                                    : random() % (damaged.size() / 16384) * 16384 + random() % 512;
      damaged[where] = static_cast<char>(random());
    }
    (void)read(damaged);
  }
}

TEST(Recording, GoesOnBehindWhatIsThere_AndLeavesOtherFilesAlone) {
  const belay_test::Scratch scratch;
  const std::string path = scratch.sub("trace");
  for (int i = 0; i < 3; ++i) {
    File file;
    ASSERT_EQ(file.open(path, kDefaultLimit, false), "");
    ProcessStart start;
    start.process = i;
    start.began_ns = now_ns();
    ProcessLog log{file, start, nullptr};
    Lane& lane = log.take_lane();
    lane.begin(1);
    lane.write({.what = What::Marked, .function = ""}, nullptr, {}, {}, now_ns());
    lane.end();
  }
  Trace trace;
  ASSERT_EQ(trace.open(path), "");
  EXPECT_EQ(trace.processes().size(), 3U);
  EXPECT_EQ(totals_of(trace).events, 3U);

  const std::string letter = scratch.write("letter", "dear reader");
  File file;
  EXPECT_NE(file.open(letter, kDefaultLimit, true).find("is no trace; it was left as it is"),
            std::string::npos);
  EXPECT_EQ(belay_test::read_text(letter), "dear reader");
  EXPECT_NE(file.open(scratch.path().string(), kDefaultLimit, true).find("is not a file"), std::string::npos);
  EXPECT_NE(file.open(scratch.sub("no/such/directory"), kDefaultLimit, true), "");
}

}  // namespace recording_test
}  // namespace belay::recording
