// The numbers that shape a decoder, read from a model's normalised metadata and checked.
#pragma once

#include <cstdint>
#include <string>

#include "halogen/graph.h"

#include "core/base/result.h"
#include "core/model/loaded_model.h"

namespace halogen {

struct Hyperparameters {
  std::string architecture;  // "llama", "qwen2", …
  uint32_t layers = 0;
  uint32_t hidden_size = 0;
  uint32_t feed_forward_size = 0;
  uint32_t heads = 0;
  uint32_t kv_heads = 0;
  uint32_t head_dim = 0;         // of q and k
  uint32_t value_dim = 0;        // of v
  uint32_t vocabulary_size = 0;  // rows of the token embedding
  uint32_t context_length = 0;   // that the model was trained for
  uint32_t sliding_window = 0;   // 0: full attention
  float rms_epsilon = 0.0F;
  halogen_rope_attributes rope{};  // pairing 0 where the file does not say
};

// [worker] Errors name the file, the key and what is wrong with it.
Result<Hyperparameters> read_hyperparameters(const LoadedModel& model);

}  // namespace halogen
