// What is asked of the engine and what it answers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "halogen/sampler.h"

namespace halogen {

// halogen_sampling_parameters with its own storage; the same meanings and off values.
struct SamplingOptions {
  uint64_t seed = 0;
  float temperature = 1.0F;
  int32_t top_k = 0;
  float top_p = 1.0F;
  float min_p = 0.0F;
  float repetition_penalty = 1.0F;
  float presence_penalty = 0.0F;
  float frequency_penalty = 0.0F;
  int32_t penalty_window = -1;
  std::vector<halogen_logit_bias> logit_bias;
  float typical_p = 1.0F;
  float top_n_sigma = 0.0F;
  float xtc_probability = 0.0F;
  float xtc_threshold = 0.1F;
  float dynatemp_range = 0.0F;
  float dynatemp_exponent = 1.0F;
  uint32_t mirostat = 0;
  float mirostat_tau = 5.0F;
  float mirostat_eta = 0.1F;
  float dry_multiplier = 0.0F;
  float dry_base = 1.75F;
  uint32_t dry_allowed_length = 2;
  int32_t dry_penalty_last_n = -1;
  // Token sequences that no repetition reaches across, each followed by -1; null: none. Choices of
  // one request share them.
  std::shared_ptr<const std::vector<int32_t>> dry_breakers;
  std::optional<std::vector<uint32_t>> stages;  // of halogen_sampling_stage; none: the default
};

struct GenerationRequest {
  std::vector<int32_t> prompt;  // at least one token
  SamplingOptions sampling;
  uint32_t max_tokens = 0;  // 0: as many as the context holds
  uint32_t min_tokens = 0;  // before these no end-of-generation token can come
  std::vector<std::string> stop;
  bool ignore_eos = false;    // end-of-generation tokens are ordinary tokens
  bool skip_special = true;   // control tokens do not show up in the text
  int32_t top_logprobs = -1;  // -1 none, 0 the chosen token's, k also the k best
  int32_t priority = 0;
  // False: its text is shared with no request but one that `shares_with` names.
  bool cache_prompt = true;
  uint64_t shares_with = 0;  // the id of an earlier request with the same prompt; 0: none
};

enum class FinishReason : uint8_t {
  none,       // more to come
  stop,       // an end-of-generation token or a stop string
  length,     // max_tokens or the context is reached
  cancelled,  // the engine is shutting down
  error       // the backend failed; `error` says how
};

// What the device did for a request. A step serves several: each is booked its share, in proportion
// to its tokens in the step, so that all requests together come to what the device did in all.
struct RequestWork {
  uint64_t bytes = 0, operations = 0;
  uint64_t step_bytes = 0, step_ns = 0;  // of the whole steps, for the rate that they went at
};

struct TokenLogprob {
  int32_t token = 0;
  float logprob = 0.0F;
};

// What a sequence gained since its last event. Recycled: copy what must stay.
struct GenerationEvent {
  uint64_t request_id = 0;
  std::vector<int32_t> tokens;  // an end-of-generation token that ended the sequence is included
  std::string text;             // complete UTF-8 characters, cut before a stop string
  std::vector<float> logprobs;  // [tokens], where asked for
  std::vector<TokenLogprob> top_logprobs;  // [tokens, top_logprobs], best first, where asked for
  FinishReason finish = FinishReason::none;
  std::string error;
  uint32_t prompt_tokens = 0;  // the figures are the request's totals so far
  uint32_t cached_tokens = 0;  // of the prompt, that were not computed for it
  uint32_t generated_tokens = 0;
  uint64_t queued_us = 0;                 // submit to first step
  uint64_t prefill_us = 0;                // first step to first token
  uint64_t decode_us = 0;                 // first token to now
  RequestWork prefill_work, decode_work;  // until the first token, and since
};

// [loop]
using EventHandler = std::function<void(const GenerationEvent&)>;

}  // namespace halogen
