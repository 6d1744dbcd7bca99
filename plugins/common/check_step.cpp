#include "plugins/common/check_step.h"

#include <string>

#include "halogen/cxx/plugin.hpp"

namespace halogen::backends {
namespace {

halogen_status bad_step(halogen_error* error, const std::string& what) {
  return failed(error, HALOGEN_E_INVALID, "step refused: " + what);
}

halogen_status check_sequence(const halogen_limits& limits, const PoolSize& pool,
                              const halogen_step& step, uint32_t sequence, halogen_error* error) {
  const uint32_t begin = step.sequence_starts[sequence], end = step.sequence_starts[sequence + 1];
  const uint32_t length = step.context_lengths[sequence];
  if (begin > end || end > step.n_tokens)
    return bad_step(error, "sequence starts are not in order");
  const uint32_t blocks = (length + pool.block_tokens - 1) / pool.block_tokens;
  if (length > limits.max_context || blocks > step.block_table_stride) {
    return bad_step(error, "a context of " + std::to_string(length) + " positions is too long");
  }
  for (uint32_t t = begin; t < end; t++) {
    if (step.positions[t] < 0 || static_cast<uint32_t>(step.positions[t]) >= length) {
      return bad_step(error,
                      "position " + std::to_string(step.positions[t]) + " is outside the context");
    }
  }
  const uint32_t* table = step.block_tables + size_t{sequence} * step.block_table_stride;
  for (uint32_t b = 0; b < blocks; b++) {
    if (table[b] >= pool.blocks)
      return bad_step(error, "a block table names a block outside the pool");
  }
  return HALOGEN_OK;
}

}  // namespace

halogen_status check_step(const halogen_graph& graph, const halogen_limits& limits,
                          const PoolSize& pool, const halogen_step& step, halogen_error* error) {
  if (step.n_tokens == 0 || step.n_tokens > limits.max_tokens || step.n_sequences == 0 ||
      step.n_sequences > limits.max_sequences || step.n_rows > limits.max_rows) {
    return bad_step(error, std::to_string(step.n_tokens) + " tokens, " +
                               std::to_string(step.n_sequences) + " sequences or " +
                               std::to_string(step.n_rows) +
                               " rows are more than the program's limits, or none");
  }
  if (graph.logits != HALOGEN_NO_VALUE && step.n_rows > 0 && !step.logits) {
    return bad_step(error, "rows are wanted but there is no place for their logits");
  }
  const uint64_t slots = uint64_t{pool.blocks} * pool.block_tokens;
  for (uint32_t t = 0; t < step.n_tokens; t++) {
    if (step.token_ids[t] < 0 ||
        static_cast<uint32_t>(step.token_ids[t]) >= graph.vocabulary_size) {
      return bad_step(
          error, "token id " + std::to_string(step.token_ids[t]) + " is not in the vocabulary");
    }
    if (step.kv_slots[t] >= slots) return bad_step(error, "a KV slot is outside the pool");
  }
  for (uint32_t r = 0; r < step.n_rows; r++) {
    if (step.rows[r] < 0 || static_cast<uint32_t>(step.rows[r]) >= step.n_tokens) {
      return bad_step(error, "a wanted row is not one of the step's tokens");
    }
  }
  if (step.sequence_starts[0] != 0 || step.sequence_starts[step.n_sequences] != step.n_tokens) {
    return bad_step(error, "the sequences do not cover the tokens");
  }
  for (uint32_t s = 0; s < step.n_sequences; s++) {
    if (const halogen_status status = check_sequence(limits, pool, step, s, error);
        status != HALOGEN_OK)
      return status;
  }
  return HALOGEN_OK;
}

}  // namespace halogen::backends
