#include "core/engine/step_builder.h"

#include <algorithm>
#include <cassert>

#include "core/engine/plan.h"

namespace halogen {

StepBuilder::StepBuilder(const EngineLimits& limits, bool has_states)
    : block_tokens_(limits.block_tokens),
      block_table_stride_(blocks_for(limits.max_context, limits.block_tokens)),
      has_states_(has_states),
      block_tables_(size_t{limits.max_sequences} * block_table_stride_),
      logits_(size_t{limits.max_sequences} * limits.vocabulary_size) {
  parts_.reserve(limits.max_sequences);
  token_ids_.reserve(limits.max_batch_tokens);
  positions_.reserve(limits.max_batch_tokens);
  kv_slots_.reserve(limits.max_batch_tokens);
  rows_.reserve(limits.max_sequences);
  starts_.reserve(size_t{limits.max_sequences} + 1);
  context_lengths_.reserve(limits.max_sequences);
  state_slots_.reserve(limits.max_sequences);
  clear();
}

void StepBuilder::clear() {
  parts_.clear();
  token_ids_.clear();
  positions_.clear();
  kv_slots_.clear();
  rows_.clear();
  starts_.assign(1, 0);
  context_lengths_.clear();
  state_slots_.clear();
}

void StepBuilder::add(Sequence& sequence, uint32_t tokens) {
  assert(tokens > 0 && tokens <= sequence.waiting());
  const uint32_t end = sequence.computed + tokens;
  for (uint32_t position = sequence.computed; position < end; position++) {
    token_ids_.push_back(sequence.tokens[position]);
    positions_.push_back(static_cast<int32_t>(position));
    kv_slots_.push_back(sequence.blocks[position / block_tokens_] * block_tokens_ +
                        position % block_tokens_);
  }
  std::copy(sequence.blocks.begin(), sequence.blocks.end(),
            block_tables_.begin() + static_cast<ptrdiff_t>(parts_.size() * block_table_stride_));
  starts_.push_back(static_cast<uint32_t>(token_ids_.size()));
  context_lengths_.push_back(end);
  state_slots_.push_back(sequence.state_slot);
  const bool has_row = end == sequence.tokens.size();
  if (has_row) rows_.push_back(static_cast<int32_t>(token_ids_.size()) - 1);
  parts_.push_back({&sequence, tokens, has_row});
}

const halogen_step& StepBuilder::step() {
  step_.struct_size = sizeof step_;
  step_.n_tokens = static_cast<uint32_t>(token_ids_.size());
  step_.n_sequences = static_cast<uint32_t>(parts_.size());
  step_.n_rows = static_cast<uint32_t>(rows_.size());
  step_.token_ids = token_ids_.data();
  step_.positions = positions_.data();
  step_.kv_slots = kv_slots_.data();
  step_.sequence_starts = starts_.data();
  step_.context_lengths = context_lengths_.data();
  step_.block_tables = block_tables_.data();
  step_.block_table_stride = block_table_stride_;
  step_.state_slots = has_states_ ? state_slots_.data() : nullptr;
  step_.rows = rows_.data();
  step_.logits = logits_.data();
  step_.hidden = nullptr;
  return step_;
}

}  // namespace halogen
