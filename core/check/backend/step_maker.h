// Steps as plain arrays, put together from pieces of sequences that live in a block KV pool.
#pragma once

#include <cstdint>
#include <vector>

#include "halogen/backend.h"

namespace halogen::check {

// A part of a sequence that a step computes.
struct Piece {
  uint32_t sequence;
  std::vector<int32_t> tokens;  // what follows the tokens already computed
  bool rows = true;             // whether the outputs of all its tokens are wanted, or of none
};

struct StepArrays {
  std::vector<int32_t> token_ids, positions, rows;
  std::vector<uint32_t> kv_slots, sequence_starts, context_lengths, block_tables;
  uint32_t block_table_stride = 0;

  // Points into the arrays; either output may be null.
  halogen_step step(float* logits, float* hidden) const;
};

class StepMaker {
 public:
  // Sequence s owns blocks order[s * blocks_per_sequence] and those after it.
  StepMaker(uint32_t block_tokens, uint32_t blocks_per_sequence, std::vector<uint32_t> order);

  // Appends the pieces to their sequences.
  StepArrays next(const std::vector<Piece>& pieces);

  uint32_t length(uint32_t sequence) const { return lengths_[sequence]; }
  // Forgets the tokens of a sequence behind the first `length`.
  void rewind(uint32_t sequence, uint32_t length) { lengths_[sequence] = length; }
  const uint32_t* blocks(uint32_t sequence) const {
    return &order_[size_t{sequence} * blocks_per_sequence_];
  }

 private:
  uint32_t block_tokens_, blocks_per_sequence_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> lengths_;
};

// `count` blocks in order, or in one that a seed decides.
std::vector<uint32_t> blocks_in_order(uint32_t count);
std::vector<uint32_t> shuffled_blocks(uint32_t count, uint32_t seed);

}  // namespace halogen::check
