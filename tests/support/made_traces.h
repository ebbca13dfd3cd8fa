// Traces that nobody recorded: a training run and a serving run, made from a seed, with what readers should
// find in them. For tests of readers, for pages made of traces, and for measurements of any length.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "recording/coding.h"
#include "recording/writer.h"

namespace belay_test {

struct MadeTotals {
  std::uint64_t events = 0, allocated = 0, freed = 0, bytes_allocated = 0, charged = 0, returned = 0;
  std::uint64_t copies = 0, copied = 0, refusals = 0;
  std::uint64_t peak = 0;  // charged bytes at once, of the one device
  std::uint64_t alive() const { return charged - returned; }
};

// One process with one device, and one thread; lines of source in files that do not exist.
class MadeTrace {
 public:
  MadeTrace(const std::string& path, std::uint64_t seed,
            std::uint64_t limit = belay::recording::kDefaultLimit)
      : random_{seed} {
    EXPECT_EQ(file_.open(path, limit, true), "");
    belay::recording::ProcessStart start;
    start.process = 4711;
    start.began_ns = time_ = file_.header().clock_ns;
    start.name = "made <up>";  // pages must not take it for HTML
    start.soc = "Ascend910B3";
    start.family = "Atlas A2";
    start.product = "A2";
    start.form = "EP";
    start.stacks = 1;
    start.device_bytes = {std::uint64_t{62432} << 20};
    start.visible = {0};
    log_ = std::make_unique<belay::recording::ProcessLog>(file_, start, tell_site);
    lane_ = &log_->take_lane();
    lane_->begin(4711);
  }
  ~MadeTrace() { close(); }
  MadeTrace(const MadeTrace&) = delete;
  MadeTrace& operator=(const MadeTrace&) = delete;

  // Weights and a gradient for each layer stay; each step copies a batch to the device, allocates activations
  // going forward, and frees them going backward. Every so often a step leaves a block behind.
  void train(std::uint64_t at_least) {
    constexpr std::size_t kLayers = 24;
    for (std::size_t layer = 0; layer < kLayers; ++layer) allocate(48 << 20, 2), allocate(48 << 20, 3);
    std::vector<Block> activations;
    for (std::uint64_t step = 0; totals_.events < at_least; ++step) {
      range(belay::observe::What::RangeBegun, "forward");
      const Block batch = allocate((4 << 20) + below(1 << 20), 4);
      copy(batch, batch.bytes);
      for (std::size_t layer = 0; layer < kLayers; ++layer) {
        activations.push_back(allocate((8 << 20) + below(64) * 4096, 5));
        const Block temporary = allocate(1 + below(3 << 20), 6);
        free(temporary, 7);
      }
      range(belay::observe::What::RangeEnded, "");
      range(belay::observe::What::RangeBegun, "backward");
      for (; !activations.empty(); activations.pop_back()) free(activations.back(), 8);
      range(belay::observe::What::RangeEnded, "");
      free(batch, 9);
      if (step % 64 == 63) allocate(1 << 20, 10);
      time_ += 1'000'000;
    }
  }
  // Requests come and go; each takes blocks of a KV cache as it grows, and some are refused.
  void serve(std::uint64_t at_least) {
    std::vector<std::vector<Block>> requests;
    while (totals_.events < at_least) {
      if (requests.size() < 32 && below(4) == 0) requests.emplace_back();
      if (requests.empty()) continue;
      std::vector<Block>& one = requests[below(requests.size())];
      one.push_back(allocate(2 << 20, 11));
      if (one.size() == 1) label(one[0], "kv-cache");
      if (one.size() > 4 + below(64)) {
        for (const Block& each : one) free(each, 12);
        one.swap(requests.back());
        requests.pop_back();
      }
      if (below(4096) == 0) refuse();
      time_ += below(20'000);
    }
  }
  void close() {
    if (lane_ == nullptr) return;
    lane_->end();
    log_->end(time_);
    lane_ = nullptr;
    log_.reset();
  }

  const MadeTotals& totals() const { return totals_; }

  struct Block {
    std::uint64_t serial, address, bytes, pages;
  };
  Block allocate(std::uint64_t bytes, std::uint32_t site) {
    const unsigned shift = bytes > 1 << 20 ? 21 : 12;
    const std::uint64_t pages = belay::recording::likely_pages(bytes, shift);
    const Block block{++serial_, 0x12C000000000 + below(1 << 20) * 4096, bytes, pages};
    tell(belay::observe::What::Allocated, block, shift, site);
    ++totals_.allocated;
    totals_.bytes_allocated += bytes;
    totals_.charged += pages * 4096;
    totals_.peak = std::max(totals_.peak, totals_.alive());
    return block;
  }
  void free(const Block& block, std::uint32_t site) {
    tell(belay::observe::What::Freed, block, block.bytes > 1 << 20 ? 21 : 12, site);
    ++totals_.freed;
    totals_.returned += block.pages * 4096;
  }
  void copy(const Block& to, std::uint64_t bytes) {
    std::array<belay::observe::Touch, 2> touches{};
    touches[0] = {.extent = to.serial, .bytes = bytes, .on_device = true, .writes = true};
    touches[1] = {.offset = 0x7F0000001000, .bytes = bytes};
    belay::observe::Details details;
    write({.what = belay::observe::What::Copied,
           .operation = belay::observe::Operation::Copy,
           .site = 13,
           .address = to.address,
           .bytes = bytes,
           .function = "aclrtMemcpy"},
          &details, touches, {});
    ++totals_.copies;
    totals_.copied += bytes;
  }
  void refuse() {
    belay::observe::Details details{.rule = "M-86"};
    write({.what = belay::observe::What::Refused, .outcome = 207001, .site = 11, .function = "aclrtMalloc"},
          &details, {}, "not enough memory: <b>everything</b> is taken");
    ++totals_.refusals;
  }
  void range(belay::observe::What what, std::string_view name) {
    belay::observe::Details details;
    write({.what = what, .function = ""}, &details, {}, name);
  }
  void label(const Block& block, std::string_view name) {
    belay::observe::Details details;
    write({.what = belay::observe::What::Labelled,
           .serial = block.serial,
           .address = block.address,
           .function = ""},
          &details, {}, name);
  }
  std::uint64_t below(std::uint64_t most) { return random_() % most; }

 private:
  void tell(belay::observe::What what, const Block& block, unsigned shift, std::uint32_t site) {
    write({.what = what,
           .object = belay::Object::DeviceBlock,
           .operation = what == belay::observe::What::Allocated ? belay::observe::Operation::Malloc
                                                                : belay::observe::Operation::Free,
           .page_shift = static_cast<std::uint8_t>(shift),
           .module = 33,
           .units = static_cast<std::uint32_t>(block.pages),
           .site = site,
           .serial = block.serial,
           .address = block.address,
           .bytes = block.bytes},
          nullptr, {}, {});
  }
  void write(const belay::observe::Event& event, const belay::observe::Details* details,
             std::span<const belay::observe::Touch> touches, std::string_view text) {
    if (++totals_.events % 1024 == 0) {
      lane_->end();
      log_->keep_within_limit(time_);
      lane_->begin(4711);
    }
    lane_->write(event, details, touches, text, time_ += 50 + below(500));
  }
  static void tell_site(std::uint32_t site, belay::recording::ProcessLog& log) {
    static constexpr std::array<std::string_view, 14> kFunctions{"?",
                                                                 "?",
                                                                 "load_weights",
                                                                 "load_gradients",
                                                                 "next_batch",
                                                                 "Linear<float>::forward",
                                                                 "scratch",
                                                                 "~scratch",
                                                                 "backward",
                                                                 "drop_batch",
                                                                 "keep_statistics",
                                                                 "grow_cache",
                                                                 "end_request",
                                                                 "upload"};
    const std::array<belay::recording::SiteFrame, 2> frames{
        {{.function = kFunctions[site % kFunctions.size()], .file = "model.py", .line = 10 * site},
         {.function = "main", .file = "train.py", .line = 7}}};
    log.define_site(site, site == 13 ? "aclrtMemcpy" : "aclrtMalloc", frames);
  }

  std::mt19937_64 random_;
  belay::recording::File file_;
  std::unique_ptr<belay::recording::ProcessLog> log_;
  belay::recording::Lane* lane_ = nullptr;
  std::uint64_t time_ = 0, serial_ = 0;
  MadeTotals totals_;
};

}  // namespace belay_test
