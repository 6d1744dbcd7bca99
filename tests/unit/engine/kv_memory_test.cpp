// What sequences share and what stays for later ones, step by step and without an engine.
#include "core/engine/kv_memory.h"

#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/plan.h"
#include "fake_device.h"

namespace halogen::fake {
namespace {

constexpr uint32_t kBlock = 4;

class Memory {
 public:
  explicit Memory(uint32_t blocks, uint32_t host_blocks = 0) : device(50, kBlock, blocks) {
    limits_.block_tokens = kBlock;
    limits_.total_blocks = blocks;
    limits_.host_blocks = host_blocks;
    limits_.block_bytes = device.block_bytes();
    host_.resize(host_blocks * limits_.block_bytes);
    parts_.backend = &Device::factory();
    parts_.kv = device.kv();
    parts_.host_memory = host_.data();
    kv.emplace(parts_, limits_);
  }

  Sequence& sequence(const std::vector<int32_t>& tokens, uint64_t root = 0) {
    auto& made = *all_.emplace_back(std::make_unique<Sequence>());
    made.tokens = tokens;
    made.prompt_tokens = static_cast<uint32_t>(tokens.size());
    made.root = root;
    made.block_hashes.push_back(hash_root(0, root));
    return made;
  }

  // Takes what is there; how many tokens that is.
  uint32_t begin(Sequence& sequence) {
    kv->look_up(sequence);
    kv->pin(sequence);
    kv->attach(sequence);
    sequence.running = true;
    return sequence.computed;
  }
  void compute(Sequence& sequence, uint32_t tokens) {
    kv->cover(sequence, sequence.computed + tokens);
    sequence.computed += tokens;
    kv->record(sequence);
  }
  // From beginning to end; how many tokens were there.
  uint32_t run(const std::vector<int32_t>& tokens, uint64_t root = 0, bool keep = true) {
    Sequence& made = sequence(tokens, root);
    const uint32_t found = begin(made);
    compute(made, made.waiting());
    end(made, keep);
    return found;
  }
  void end(Sequence& sequence, bool keep = true) {
    kv->release(sequence, keep);
    sequence.running = false;
  }

  std::string fault() const {
    std::vector<const Sequence*> pointers;
    for (const auto& each : all_) pointers.push_back(each.get());
    return kv->fault(pointers);
  }

  Device device;
  std::optional<KvMemory> kv;

 private:
  EngineParts parts_;
  EngineLimits limits_;
  std::vector<uint8_t> host_;
  std::vector<std::unique_ptr<Sequence>> all_;
};

std::vector<int32_t> counting(int32_t from, int32_t count) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; i++) tokens[static_cast<size_t>(i)] = from + i;
  return tokens;
}

TEST(KvMemory, TheSameTextIsThereButForItsLastToken) {
  for (const int32_t length : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17}) {
    Memory memory(16);
    EXPECT_EQ(memory.run(counting(0, length)), 0U);
    EXPECT_EQ(memory.run(counting(0, length)), static_cast<uint32_t>(length) - 1);
    EXPECT_EQ(memory.fault(), "");
    EXPECT_EQ(memory.kv->used(), 0U);
  }
}

TEST(KvMemory, ALongerTextGoesOnWhereTheShorterOneEnded) {
  Memory memory(16);
  memory.run(counting(0, 6));
  EXPECT_EQ(memory.run(counting(0, 20)), 6U);
  EXPECT_EQ(memory.run(counting(0, 30)), 20U);
  // Nobody else had the last block, so it was taken over and not copied.
  EXPECT_EQ(memory.device.copies, 0U);
}

TEST(KvMemory, OfABlockThatDiffersLaterTheBeginningIsCopied) {
  Memory memory(16);
  memory.run({1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(memory.run({1, 2, 3, 4, 5, 6, 0, 0, 0}), 6U);
  EXPECT_EQ(memory.device.copies, 1U);
  EXPECT_EQ(memory.run({1, 2, 3, 4, 5, 6, 7, 8, 9}), 8U);
}

TEST(KvMemory, ASequenceSharesWhatAnotherOneStillHolds) {
  Memory memory(16);
  Sequence& first = memory.sequence(counting(0, 10));
  memory.begin(first);
  memory.compute(first, 10);
  Sequence& second = memory.sequence(counting(0, 10));
  EXPECT_EQ(memory.begin(second), 9U);
  EXPECT_EQ(memory.kv->used(), 4U);  // two full blocks, and the third twice
  EXPECT_EQ(second.blocks[1], first.blocks[1]);
  EXPECT_NE(second.blocks[2], first.blocks[2]);
  EXPECT_EQ(memory.fault(), "");
}

TEST(KvMemory, ABlockThatTwoComputedIsKeptOnce) {
  Memory memory(16);
  Sequence& first = memory.sequence(counting(0, 9));
  Sequence& second = memory.sequence(counting(0, 9));
  memory.begin(first);
  memory.begin(second);
  memory.compute(first, 6);
  memory.compute(second, 6);
  EXPECT_EQ(second.blocks[0], first.blocks[0]);
  memory.compute(second, 3);
  memory.compute(first, 3);
  EXPECT_EQ(second.blocks[1], first.blocks[1]);
  EXPECT_EQ(memory.kv->used(), 4U);
  EXPECT_EQ(memory.fault(), "");
}

TEST(KvMemory, FreeBlocksAreTakenBeforeCachedOnesAndOfThoseTheOldest) {
  Memory memory(4);
  memory.run(counting(0, 4));
  memory.run(counting(10, 4));
  memory.run(counting(20, 8));  // the last two free ones
  EXPECT_EQ(memory.kv->thrown_out_count(), 0U);
  memory.run(counting(30, 4));
  EXPECT_EQ(memory.kv->thrown_out_count(), 1U);
  EXPECT_EQ(memory.run(counting(10, 4)), 3U);
  EXPECT_EQ(memory.run(counting(0, 4)), 0U);
}

TEST(KvMemory, TheEndOfATextGoesBeforeItsBeginning) {
  Memory memory(4);
  memory.run(counting(0, 16));
  memory.run(counting(40, 5));
  EXPECT_EQ(memory.kv->thrown_out_count(), 2U);
  Sequence& again = memory.sequence(counting(0, 16));
  memory.kv->look_up(again);
  EXPECT_EQ(memory.kv->ready_tokens(again), 8U);
}

TEST(KvMemory, WhatASequenceHoldsIsNotThrownOut) {
  Memory memory(4);
  Sequence& held = memory.sequence(counting(0, 9));
  memory.begin(held);
  memory.compute(held, 9);
  EXPECT_EQ(memory.kv->available(), 1U);
  memory.run(counting(20, 4));
  memory.run(counting(30, 4));
  EXPECT_EQ(memory.kv->available(), 1U);
  EXPECT_EQ(memory.fault(), "");
}

TEST(KvMemory, ALookUpNoticesWhatWasThrownOutSince) {
  Memory memory(4);
  memory.run(counting(0, 16));
  Sequence& waiting = memory.sequence(counting(0, 16));
  memory.kv->look_up(waiting);
  EXPECT_EQ(memory.kv->ready_tokens(waiting), 12U);
  memory.run(counting(20, 8));
  memory.kv->look_up(waiting);
  EXPECT_EQ(memory.kv->ready_tokens(waiting), 8U);
  EXPECT_EQ(memory.begin(waiting), 8U);
}

TEST(KvMemory, RootsShareNothingAndLeaveNothingBehind) {
  Memory memory(16);
  memory.run(counting(0, 10));
  EXPECT_EQ(memory.run(counting(0, 10), 1, false), 0U);
  EXPECT_EQ(memory.kv->cached(), 3U);
  EXPECT_EQ(memory.run(counting(0, 10), 1, false), 0U);
}

TEST(KvMemory, AColdBlockMovesToTheSecondTierAndBack) {
  Memory memory(4, 8);
  memory.run(counting(0, 16));
  memory.run(counting(20, 16));
  EXPECT_EQ(memory.kv->stored_count(), 4U);
  EXPECT_EQ(memory.kv->cached_in_tier(), 4U);
  EXPECT_EQ(memory.kv->thrown_out_count(), 0U);
  EXPECT_EQ(memory.run(counting(0, 16)), 15U);
  EXPECT_EQ(memory.kv->loaded_count(), 4U);
  EXPECT_EQ(memory.fault(), "");
}

TEST(KvMemory, ASpilledSequenceGoesOnWhereItWas) {
  Memory memory(8, 8);
  Sequence& sequence = memory.sequence(counting(0, 11));
  memory.begin(sequence);
  memory.compute(sequence, 11);
  memory.kv->spill(sequence);
  sequence.tokens.push_back(11);  // what was sampled
  EXPECT_EQ(memory.kv->available(), 8U);
  EXPECT_EQ(memory.kv->cached(), 0U);
  EXPECT_EQ(memory.kv->cached_in_tier(), 3U);
  EXPECT_EQ(memory.begin(sequence), 11U);
  EXPECT_EQ(memory.kv->cached_in_tier(), 0U);
  EXPECT_EQ(memory.fault(), "");
}

TEST(KvMemory, WhatTheBackendCannotMoveIsComputedAgain) {
  Memory memory(4, 8);
  memory.run(counting(0, 16));
  memory.device.exports_fail = true;
  memory.run(counting(20, 4));
  EXPECT_EQ(memory.kv->thrown_out_count(), 1U);
  memory.device.exports_fail = false;
  memory.run(counting(20, 16));
  memory.device.imports_fail = true;
  EXPECT_EQ(memory.run(counting(0, 16)), 0U);
  EXPECT_EQ(memory.fault(), "");
  memory.device.copies_fail = true;
  EXPECT_EQ(memory.run(counting(0, 16)), 12U);
  EXPECT_EQ(memory.fault(), "");
}

TEST(KvMemory, ClearedItHasNothing) {
  Memory memory(4, 8);
  memory.run(counting(0, 16));
  memory.run(counting(20, 9));
  memory.kv->clear();
  EXPECT_EQ(memory.kv->available(), 4U);
  EXPECT_EQ(memory.kv->cached() + memory.kv->cached_in_tier(), 0U);
  EXPECT_EQ(memory.run(counting(0, 16)), 0U);
  EXPECT_EQ(memory.fault(), "");
}

// Sequences of a small alphabet, so that many begin alike, come, grow, yield and go.
TEST(KvMemory, TheBooksAreRightWhateverHappens) {
  for (const uint32_t host_blocks : {0U, 3U, 40U}) {
    Memory memory(20, host_blocks);
    std::mt19937 random(host_blocks + 5);
    const auto below = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    std::vector<Sequence*> live;
    uint64_t found = 0;
    for (int round = 0; round < 4000; round++) {
      memory.device.imports_fail = below(50) == 0;
      memory.device.exports_fail = below(50) == 0;
      memory.device.copies_fail = below(50) == 0;
      if (live.size() < 6) {
        std::vector<int32_t> tokens(1 + below(24));
        for (int32_t& token : tokens) token = static_cast<int32_t>(below(8) == 0);
        const uint64_t root = below(10) == 0 ? 1 + below(3) : 0;
        live.push_back(&memory.sequence(tokens, root));
      }
      const size_t i = below(static_cast<uint32_t>(live.size()));
      Sequence& sequence = *live[i];
      const uint32_t action = below(10);
      if (!sequence.running) {
        memory.kv->look_up(sequence);
        const uint32_t most = blocks_for(sequence.tokens.size(), kBlock);
        if (memory.kv->available() >= most) found += memory.begin(sequence);
      } else if (action == 0) {
        memory.kv->spill(sequence);
        sequence.running = false;
      } else if (action == 1) {
        memory.end(sequence);
      } else if (action == 2 || sequence.tokens.size() > 40) {
        memory.end(sequence, sequence.root == 0);
        live.erase(live.begin() + static_cast<ptrdiff_t>(i));
      } else {
        const uint32_t tokens = 1 + below(sequence.waiting());
        const uint32_t needed = blocks_for(sequence.computed + tokens, kBlock);
        const auto have = static_cast<uint32_t>(sequence.blocks.size());
        if (needed - std::min(needed, have) > memory.kv->available()) continue;
        memory.compute(sequence, tokens);
        if (sequence.waiting() == 0) sequence.tokens.push_back(static_cast<int32_t>(below(2)));
      }
      ASSERT_EQ(memory.fault(), "") << "round " << round;
    }
    EXPECT_GT(found, 0U);
    for (Sequence* sequence : live)
      if (sequence->running) memory.end(*sequence);
    EXPECT_EQ(memory.kv->available(), 20U);
    EXPECT_EQ(memory.fault(), "");
  }
}

}  // namespace
}  // namespace halogen::fake
