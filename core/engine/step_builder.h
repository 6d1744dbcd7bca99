// Writes the arrays of a step: one StepBuilder for all steps, sized for the largest.
#pragma once

#include <cstdint>
#include <vector>

#include "halogen/backend.h"

#include "core/engine/engine.h"
#include "core/engine/sequence.h"

namespace halogen {

// What one sequence contributes to a step.
struct StepPart {
  Sequence* sequence;
  uint32_t tokens;  // computed in this step, beginning at sequence->computed
  bool has_row;     // its last known token is among them, so the next one can be sampled
};

class StepBuilder {
 public:
  StepBuilder(const EngineLimits& limits, bool has_states);

  // Begins a new step; the arrays of the one before must not be in use any more.
  void clear();
  // Adds the next `tokens` (at least 1) of a sequence whose block table covers them.
  void add(Sequence& sequence, uint32_t tokens);

  bool empty() const { return parts_.empty(); }
  const std::vector<StepPart>& parts() const { return parts_; }
  // The step as the backend wants it; valid until clear().
  const halogen_step& step();
  // [n_rows, vocabulary_size], one row for each part that has one, in order.
  float* logits() { return logits_.data(); }

 private:
  const uint32_t block_tokens_;
  const uint32_t block_table_stride_;  // blocks of the longest context
  const bool has_states_;
  std::vector<StepPart> parts_;
  halogen_step step_{};
  std::vector<int32_t> token_ids_, positions_, rows_;
  std::vector<uint32_t> kv_slots_, starts_, context_lengths_, block_tables_, state_slots_;
  std::vector<float> logits_;
};

}  // namespace halogen
