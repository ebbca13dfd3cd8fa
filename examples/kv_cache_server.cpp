// The KV cache of a server for language models: pages, shared prefixes, and swapping to host memory.
//
// A session keeps the keys and values (KV) of all its tokens. They are in blocks of 16 tokens from one pool,
// and the block table of the session says in which. Sessions with the same system prompt share its blocks,
// until one of them writes. When the pool is used up, the session that was idle for longest moves to pinned
// host memory, and back when its user returns.
//
// There are no kernels here: copies stand in for them. Each byte of KV can be foretold, and a session that
// ends is compared with what it should be.
//
// Usage: kv_cache_server [steps [sessions [blocks of the pool]]]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "acl/acl.h"

namespace {

void check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d\n%s", call, code, message != nullptr ? message : "");
  std::exit(1);
}
#define CHECK(call) check(call, #call)

constexpr size_t kTokenBytes = 2048;  // the KV of one token
constexpr size_t kBlockTokens = 16;
constexpr size_t kBlockBytes = kBlockTokens * kTokenBytes;
constexpr size_t kSystemPrompts = 4;
constexpr size_t kSystemTokens = 40;  // of each: two and a half blocks
constexpr size_t kMaxTokens = 320;    // of a session
constexpr size_t kTurnTokens = 72;    // at most, what a user says and the answer

constexpr size_t blocks_for(size_t tokens) { return (tokens + kBlockTokens - 1) / kBlockTokens; }

// What a model would compute for one token of a text.
void compute_kv(unsigned char* to, uint32_t text, size_t token) {
  std::memset(to, static_cast<int>((text * 31 + token) & 0xff), kTokenBytes);
  std::memcpy(to, &text, sizeof text);
}

void* pinned_memory(size_t bytes) {
  void* memory = nullptr;
  CHECK(aclrtMallocHost(&memory, bytes));
  return memory;
}
void* device_memory(size_t bytes) {
  void* memory = nullptr;
  CHECK(aclrtMallocAlign32(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return memory;
}

// Room for what one step may append: a quarter of the sessions, at most 48 tokens each, and the system
// prompts.
void* staging_memory(size_t sessions) {
  return pinned_memory((sessions * 12 + 48 + kSystemPrompts * kSystemTokens) * kTokenBytes);
}

// The blocks of one piece of memory, and in how many tables each is.
class Pool {
 public:
  Pool(void* memory, size_t blocks) : memory_(static_cast<unsigned char*>(memory)), users_(blocks) {
    for (size_t block = blocks; block-- > 0;) free_.push_back(block);
  }
  bool empty() const { return free_.empty(); }
  size_t take() {
    const size_t block = free_.back();
    free_.pop_back();
    users_[block] = 1;
    most_used_ = std::max(most_used_, users_.size() - free_.size());
    return block;
  }
  void share(size_t block) { ++users_[block]; }
  void drop(size_t block) {
    if (--users_[block] == 0) free_.push_back(block);
  }
  bool shared(size_t block) const { return users_[block] > 1; }
  unsigned char* at(size_t block) const { return memory_ + block * kBlockBytes; }
  size_t most_used() const { return most_used_; }

 private:
  unsigned char* memory_;
  std::vector<size_t> users_, free_;
  size_t most_used_ = 0;
};

struct Entry {  // of a block table
  size_t block;
  bool on_host;  // which pool it is from
};

struct Session {
  uint32_t text = 0;
  size_t tokens = 0;
  size_t to_answer = 0;  // tokens until it is idle
  size_t used_in = 0;    // the last step in which it was not
  std::vector<Entry> table;
};

class Server {
 public:
  Server(size_t sessions, size_t blocks)
      : pinned_(pinned_memory(sessions * blocks_for(kMaxTokens) * kBlockBytes)),
        staging_{staging_memory(sessions), staging_memory(sessions)},
        result_(pinned_memory(kMaxTokens * kTokenBytes)),
        memory_(device_memory(blocks * kBlockBytes)),
        gathered_(device_memory(kMaxTokens * kTokenBytes)),
        device_(memory_, blocks),
        host_(pinned_, sessions * blocks_for(kMaxTokens)),
        sessions_(sessions),
        prompts_(kSystemPrompts) {
    for (aclrtStream* stream : {&compute_, &swap_}) CHECK(aclrtCreateStream(stream));
    for (aclrtEvent* event : {&computed_, &swapped_, &staged_[0], &staged_[1]})
      CHECK(aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC));
    for (Session& prompt : prompts_) {
      prompt.text = texts_++;
      append(prompt, kSystemTokens);
    }
    CHECK(aclrtRecordEvent(staged_[0], compute_));  // before the steps use this memory again
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    CHECK(aclrtSynchronizeDevice());
    for (aclrtEvent event : {computed_, swapped_, staged_[0], staged_[1]}) CHECK(aclrtDestroyEvent(event));
    for (aclrtStream stream : {compute_, swap_}) CHECK(aclrtDestroyStream(stream));
    for (void* memory : {memory_, gathered_}) CHECK(aclrtFree(memory));
    for (void* memory : {pinned_, staging_[0], staging_[1], result_}) CHECK(aclrtFreeHost(memory));
  }

  // A quarter of the sessions answer, a token in each step; the others wait for their users.
  bool step() {
    ++step_;
    staged_tokens_ = 0;
    CHECK(aclrtSynchronizeEvent(staged_[step_ % 2]));  // the staging memory was used two steps ago
    while (answering_ < std::max<size_t>(sessions_.size() / 4, 1)) begin_turn();
    bool good = true;
    for (Session& session : sessions_) {
      if (session.to_answer == 0) continue;
      session.used_in = step_;
      append(session, 1);
      attend(session);
      if (--session.to_answer > 0) continue;
      --answering_;
      if (session.tokens + kTurnTokens > kMaxTokens) good = end(session) && good;
    }
    CHECK(aclrtRecordEvent(staged_[step_ % 2], compute_));
    return good;
  }

  size_t tokens = 0, ended = 0, shared = 0, copied = 0, swapped_out = 0, swapped_in = 0;
  size_t most_blocks() const { return device_.most_used(); }

 private:
  void begin_turn() {
    Session* session = nullptr;
    do session = &sessions_[random_() % sessions_.size()];
    while (session->to_answer > 0);
    session->used_in = step_;
    session->to_answer = 4 + random_() % 20;
    ++answering_;
    if (session->tokens == 0) {
      session->text = texts_++;
      const Session& prompt = prompts_[session->text % kSystemPrompts];
      for (const Entry& entry : prompt.table) device_.share(entry.block);
      shared += prompt.table.size();
      session->table = prompt.table;
      session->tokens = prompt.tokens;
    } else {
      move(*session, false);
    }
    append(*session, 8 + random_() % 40);  // what the user says
  }

  // Prefill and decode: KV of new tokens, by way of pinned memory.
  void append(Session& session, size_t count) {
    tokens += count;
    while (count > 0) {
      const size_t used = session.tokens % kBlockTokens;  // of the last block
      if (used == 0) {
        session.table.push_back({take(), false});
      } else if (device_.shared(session.table.back().block)) {  // others read it: write to a copy
        const size_t old = session.table.back().block, block = take();
        copy(device_.at(block), device_.at(old), used, ACL_MEMCPY_DEVICE_TO_DEVICE, compute_);
        device_.drop(old);
        session.table.back().block = block;
        ++copied;
      }
      const size_t now = std::min(count, kBlockTokens - used);
      auto* const staged = static_cast<unsigned char*>(staging_[step_ % 2]) + staged_tokens_ * kTokenBytes;
      staged_tokens_ += now;
      for (size_t i = 0; i < now; ++i) compute_kv(staged + i * kTokenBytes, session.text, session.tokens + i);
      copy(device_.at(session.table.back().block) + used * kTokenBytes, staged, now,
           ACL_MEMCPY_HOST_TO_DEVICE, compute_);
      session.tokens += now;
      count -= now;
    }
  }

  // Attention reads all KV of the session: here, it copies it to one place.
  void attend(const Session& session) {
    for (size_t i = 0; i < session.table.size(); ++i)
      copy(static_cast<unsigned char*>(gathered_) + i * kBlockBytes, device_.at(session.table[i].block),
           tokens_in(session, i), ACL_MEMCPY_DEVICE_TO_DEVICE, compute_);
  }

  // Compares what the last attention read, and gives the blocks back.
  bool end(Session& session) {
    auto* const result = static_cast<unsigned char*>(result_);
    copy(result, static_cast<unsigned char*>(gathered_), session.tokens, ACL_MEMCPY_DEVICE_TO_HOST, compute_);
    CHECK(aclrtSynchronizeStream(compute_));
    bool good = true;
    for (size_t token = 0; token < session.tokens; ++token) {
      unsigned char expected[kTokenBytes];
      compute_kv(expected, token < kSystemTokens ? session.text % kSystemPrompts : session.text, token);
      good = good && std::memcmp(result + token * kTokenBytes, expected, kTokenBytes) == 0;
    }
    for (const Entry& entry : session.table) device_.drop(entry.block);
    session = Session{};
    ++ended;
    return good;
  }

  // A block of the device, if need be at the cost of an idle session.
  size_t take() {
    while (device_.empty()) {
      Session* oldest = nullptr;
      for (Session& each : sessions_) {
        const bool gives = std::any_of(each.table.begin(), each.table.end(), [this](const Entry& entry) {
          return !entry.on_host && !device_.shared(entry.block);
        });
        if (gives && each.used_in < step_ && (oldest == nullptr || each.used_in < oldest->used_in))
          oldest = &each;
      }
      if (oldest == nullptr) {
        std::fprintf(stderr, "the pool is too small for the sessions that answer at once\n");
        std::exit(1);
      }
      move(*oldest, true);
    }
    return device_.take();
  }

  // Moves blocks between device and host. Those that are shared stay.
  void move(Session& session, bool to_host) {
    order(compute_, computed_, swap_);  // blocks that leave, or are written, may still be used
    for (size_t i = 0; i < session.table.size(); ++i) {
      Entry& entry = session.table[i];
      if (entry.on_host == to_host || (to_host && device_.shared(entry.block))) continue;
      if (to_host) {
        const size_t block = host_.take();
        copy(host_.at(block), device_.at(entry.block), tokens_in(session, i), ACL_MEMCPY_DEVICE_TO_HOST,
             swap_);
        device_.drop(entry.block);
        entry = {block, true};
        ++swapped_out;
      } else {
        const size_t block = take();
        copy(device_.at(block), host_.at(entry.block), tokens_in(session, i), ACL_MEMCPY_HOST_TO_DEVICE,
             swap_);
        host_.drop(entry.block);
        entry = {block, false};
        ++swapped_in;
      }
    }
    order(swap_, swapped_, compute_);  // blocks that left are written, blocks that came are read
  }

  static size_t tokens_in(const Session& session, size_t i) {  // in the block i of its table
    return std::min(kBlockTokens, session.tokens - i * kBlockTokens);
  }
  static void copy(unsigned char* to, const unsigned char* from, size_t count, aclrtMemcpyKind kind,
                   aclrtStream stream) {
    CHECK(aclrtMemcpyAsync(to, count * kTokenBytes, from, count * kTokenBytes, kind, stream));
  }
  // What is queued on the second stream from now on runs after what is queued on the first by now.
  static void order(aclrtStream first, aclrtEvent event, aclrtStream second) {
    CHECK(aclrtRecordEvent(event, first));
    CHECK(aclrtStreamWaitEvent(second, event));
  }

  void *pinned_, *staging_[2], *result_;  // host
  void *memory_, *gathered_;              // device
  Pool device_, host_;
  std::vector<Session> sessions_, prompts_;
  aclrtStream compute_ = nullptr, swap_ = nullptr;
  aclrtEvent computed_ = nullptr, swapped_ = nullptr, staged_[2] = {};
  size_t step_ = 0, staged_tokens_ = 0, answering_ = 0;
  uint32_t texts_ = 0;
  std::mt19937 random_{1};
};

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, size_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const size_t steps = argument(1, 1000), sessions = argument(2, 64), blocks = argument(3, 400);
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  bool good = true;
  {
    Server server(sessions, blocks);
    for (size_t step = 0; step < steps && good; ++step) good = server.step();
    std::printf("%zu tokens in %zu steps; %zu of %zu blocks used at once\n", server.tokens, steps,
                server.most_blocks(), blocks);
    std::printf("blocks shared %zu times, copied before a write %zu, to the host %zu, back %zu\n",
                server.shared, server.copied, server.swapped_out, server.swapped_in);
    std::printf("%zu sessions ended: %s\n", server.ended, good ? "all KV as expected" : "WRONG");
  }
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  std::printf("done\n");
  return good ? 0 : 1;
}
