// Requests for memory as programs with language models make them.
//
// The shapes are those of a decoder with 32 layers, 4,096 wide, in two bytes per number: what many call a 7B
// model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

// Allocates `bytes` as block number `slot`, or frees that block if bytes is 0.
struct Request {
  std::uint32_t slot;
  std::size_t bytes;
};

// At its end nothing is allocated, so that it can be repeated for ever.
struct Trace {
  std::string name;
  std::size_t slots;
  std::vector<Request> requests;
};

Trace load_weights();  // every tensor of the model, then none
Trace run_activations(
    std::uint64_t seed);  // one inference after another, each with a sequence length of its own
Trace serve_from_kv_blocks(std::uint64_t seed);  // requests that come, grow by a block now and then, and end

}  // namespace bench
