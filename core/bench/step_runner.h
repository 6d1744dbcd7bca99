// Runs steps of a loaded model through its backend, with sequences of our own and without an
// engine: for measurements, and for logits that nobody samples from.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/check/backend/step_maker.h"
#include "core/serve/served_model.h"

namespace halogen::bench {

class StepRunner {
 public:
  // `sequences` of up to `context` positions each share the model's KV pool. HALOGEN_E_NO_MEMORY
  // where the pool is too small for them.
  static Result<StepRunner> create(const ServedModel& model, uint32_t sequences, uint32_t context);

  // [worker] Computes the pieces as one step and waits for it. Logits are wanted where a piece says
  // so, and of `last_row` the last token of every piece; logits() has them.
  Status step(const std::vector<check::Piece>& pieces, bool last_row);

  // [worker] Fills the pool with the keys and values of some real tokens, so that steps at any
  // depth can be measured. All sequences are empty afterwards.
  Status fill_pool();

  // [worker] Waits until the backend has its weights in the order that it wants.
  void settle() const;

  // Makes a sequence `length` positions long, whatever the pool holds there.
  void set_length(uint32_t sequence, uint32_t length) { steps_.rewind(sequence, length); }

  // [rows, vocabulary] of the last step.
  const std::vector<float>& logits() const { return logits_; }
  const ServedModel& model() const { return model_; }

 private:
  StepRunner(const ServedModel& model, uint32_t blocks_per_sequence, uint32_t blocks);

  const ServedModel& model_;
  uint32_t blocks_;
  check::StepMaker steps_;
  std::vector<float> logits_;
};

// `count` token ids below `vocabulary_size`, always the same.
std::vector<int32_t> some_tokens(uint32_t count, uint32_t vocabulary_size);

}  // namespace halogen::bench
