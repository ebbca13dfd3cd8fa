#include "model_shapes.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace bench {
namespace {

constexpr std::size_t kLayers = 32, kWidth = 4096, kInner = 11008, kHeads = 32, kVocabulary = 32000;
constexpr std::size_t kNumber = 2;  // bytes of bfloat16

// Hands out numbers of blocks and writes down what happens to them.
class Recorder {
 public:
  explicit Recorder(const char* name) { trace_.name = name; }

  std::uint32_t allocate(std::size_t bytes) {
    std::uint32_t slot = 0;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(trace_.slots++);
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    trace_.requests.push_back({slot, bytes});
    return slot;
  }
  void release(std::uint32_t slot) {
    trace_.requests.push_back({slot, 0});
    free_.push_back(slot);
  }
  Trace trace() && { return std::move(trace_); }

 private:
  Trace trace_{{}, 0, {}};
  std::vector<std::uint32_t> free_;
};

// Short sequences are common and long ones exist.
std::size_t draw_length(std::mt19937_64& random, double shortest, double longest) {
  std::uniform_real_distribution<double> exponent{std::log2(shortest), std::log2(longest)};
  return static_cast<std::size_t>(std::exp2(exponent(random)));
}

}  // namespace

Trace load_weights() {
  Recorder record{"weights"};
  std::vector<std::uint32_t> tensors;
  const auto tensor = [&](std::size_t rows, std::size_t columns) {
    tensors.push_back(record.allocate(rows * columns * kNumber));
  };
  tensor(kVocabulary, kWidth);
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    for (int i = 0; i < 4; ++i) tensor(kWidth, kWidth);  // query, key, value, output
    for (int i = 0; i < 3; ++i) tensor(kInner, kWidth);  // gate, up, down
    for (int i = 0; i < 2; ++i) tensor(1, kWidth);       // norms
  }
  tensor(1, kWidth);
  tensor(kVocabulary, kWidth);
  for (const std::uint32_t each : tensors) record.release(each);
  return std::move(record).trace();
}

Trace run_activations(std::uint64_t seed) {
  std::mt19937_64 random{seed};
  Recorder record{"activations"};
  for (int inference = 0; inference < 64; ++inference) {
    const std::size_t length = draw_length(random, 16, 4096);
    const std::size_t hidden = length * kWidth * kNumber;
    const std::uint32_t residual = record.allocate(hidden);
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      const std::uint32_t projected[] = {record.allocate(hidden), record.allocate(hidden),
                                         record.allocate(hidden)};
      const std::uint32_t scores =
          record.allocate(kHeads * length * std::min<std::size_t>(length, 512) * kNumber);
      const std::uint32_t attended = record.allocate(hidden);
      record.release(scores);
      for (const std::uint32_t each : projected) record.release(each);
      const std::uint32_t gate = record.allocate(length * kInner * kNumber);
      const std::uint32_t up = record.allocate(length * kInner * kNumber);
      record.release(attended);
      record.release(gate);
      record.release(up);
    }
    const std::uint32_t logits = record.allocate(kVocabulary * 4);  // of the last place, as float
    record.release(residual);
    record.release(logits);
  }
  return std::move(record).trace();
}

Trace serve_from_kv_blocks(std::uint64_t seed) {
  constexpr std::size_t kTokens = 16;  // of a block
  constexpr std::size_t kBlock = kTokens * 2 * kWidth * kNumber;
  constexpr std::size_t kTogether = 64;
  struct Sequence {
    std::size_t blocks_to_come;
    std::vector<std::uint32_t> blocks;
  };
  std::mt19937_64 random{seed};
  Recorder record{"kv_blocks"};
  std::vector<Sequence> sequences(kTogether);
  const auto end = [&](Sequence& sequence) {
    for (const std::uint32_t each : sequence.blocks) record.release(each);
    sequence.blocks.clear();
  };
  std::uniform_int_distribution<std::size_t> which{0, kTogether - 1};
  for (int step = 0; step < 20'000; ++step) {
    Sequence& sequence = sequences[which(random)];
    if (sequence.blocks_to_come == 0) {
      end(sequence);
      sequence.blocks_to_come = draw_length(random, 4, 256);
    }
    sequence.blocks.push_back(record.allocate(kBlock));
    --sequence.blocks_to_come;
  }
  for (Sequence& each : sequences) end(each);
  return std::move(record).trace();
}

}  // namespace bench
