#include "core/check/backend/step_maker.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace halogen::check {

halogen_step StepArrays::step(float* logits, float* hidden) const {
  halogen_step step{};
  step.struct_size = sizeof step;
  step.n_tokens = static_cast<uint32_t>(token_ids.size());
  step.n_sequences = static_cast<uint32_t>(context_lengths.size());
  step.n_rows = static_cast<uint32_t>(rows.size());
  step.token_ids = token_ids.data();
  step.positions = positions.data();
  step.kv_slots = kv_slots.data();
  step.sequence_starts = sequence_starts.data();
  step.context_lengths = context_lengths.data();
  step.block_tables = block_tables.data();
  step.block_table_stride = block_table_stride;
  step.rows = rows.data();
  step.logits = logits;
  step.hidden = hidden;
  return step;
}

StepMaker::StepMaker(uint32_t block_tokens, uint32_t blocks_per_sequence,
                     std::vector<uint32_t> order)
    : block_tokens_(block_tokens),
      blocks_per_sequence_(blocks_per_sequence),
      order_(std::move(order)),
      lengths_(order_.size() / blocks_per_sequence) {}

StepArrays StepMaker::next(const std::vector<Piece>& pieces) {
  StepArrays arrays;
  arrays.sequence_starts.push_back(0);
  arrays.block_table_stride = blocks_per_sequence_;
  for (const Piece& piece : pieces) {
    const uint32_t* table = blocks(piece.sequence);
    uint32_t& length = lengths_[piece.sequence];
    for (const int32_t token : piece.tokens) {
      if (piece.rows) arrays.rows.push_back(static_cast<int32_t>(arrays.token_ids.size()));
      arrays.token_ids.push_back(token);
      arrays.positions.push_back(static_cast<int32_t>(length));
      arrays.kv_slots.push_back(table[length / block_tokens_] * block_tokens_ +
                                length % block_tokens_);
      length++;
    }
    arrays.sequence_starts.push_back(static_cast<uint32_t>(arrays.token_ids.size()));
    arrays.context_lengths.push_back(length);
    arrays.block_tables.insert(arrays.block_tables.end(), table, table + blocks_per_sequence_);
  }
  return arrays;
}

std::vector<uint32_t> blocks_in_order(uint32_t count) {
  std::vector<uint32_t> blocks(count);
  std::iota(blocks.begin(), blocks.end(), 0U);
  return blocks;
}

std::vector<uint32_t> shuffled_blocks(uint32_t count, uint32_t seed) {
  std::vector<uint32_t> blocks = blocks_in_order(count);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(seed));
  return blocks;
}

}  // namespace halogen::check
