#include "core/engine/admission.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/call_plugin.h"
#include "core/engine/engine_counters.h"
#include "core/engine/plan.h"

namespace halogen {

namespace {

Error invalid(std::string message) {
  return fail(HALOGEN_E_INVALID, std::move(message));
}

// Positions that one sequence can have: the context's, or the pool's where that is smaller.
uint64_t positions_of(const EngineLimits& limits) {
  return std::min<uint64_t>(limits.max_context,
                            uint64_t{limits.total_blocks} * limits.block_tokens);
}

Status check_prompt(const std::vector<int32_t>& prompt, const EngineLimits& limits) {
  if (prompt.empty()) return invalid("the prompt has no tokens; send at least one");
  for (size_t i = 0; i < prompt.size(); i++) {
    if (prompt[i] < 0 || std::cmp_greater_equal(prompt[i], limits.vocabulary_size)) {
      return invalid("token " + std::to_string(i) + " of the prompt is " +
                     std::to_string(prompt[i]) + "; ids go from 0 to " +
                     std::to_string(limits.vocabulary_size - 1));
    }
  }
  return {};
}

Status check_length(const GenerationRequest& request, const EngineLimits& limits) {
  const uint64_t wanted = request.prompt.size() + std::max(request.max_tokens, 1U);
  const uint64_t room = positions_of(limits);
  if (wanted <= room) return {};
  const char* what = room == limits.max_context ? "the context" : "the KV pool";
  return invalid("the prompt has " + std::to_string(request.prompt.size()) + " tokens and " +
                 std::to_string(std::max(request.max_tokens, 1U)) + " are to be generated, but " +
                 what + " holds " + std::to_string(room) +
                 "; shorten the prompt or lower max_tokens");
}

halogen_sampling_parameters parameters_of(const SamplingOptions& options) {
  halogen_sampling_parameters parameters{};
  parameters.struct_size = sizeof parameters;
  parameters.seed = options.seed;
  parameters.temperature = options.temperature;
  parameters.top_k = options.top_k;
  parameters.top_p = options.top_p;
  parameters.min_p = options.min_p;
  parameters.repetition_penalty = options.repetition_penalty;
  parameters.presence_penalty = options.presence_penalty;
  parameters.frequency_penalty = options.frequency_penalty;
  parameters.penalty_window = options.penalty_window;
  parameters.n_biases = static_cast<uint32_t>(options.logit_bias.size());
  parameters.biases = options.logit_bias.data();
  parameters.typical_p = options.typical_p;
  parameters.top_n_sigma = options.top_n_sigma;
  parameters.xtc_probability = options.xtc_probability;
  parameters.xtc_threshold = options.xtc_threshold;
  parameters.dynatemp_range = options.dynatemp_range;
  parameters.dynatemp_exponent = options.dynatemp_exponent;
  parameters.mirostat = options.mirostat;
  parameters.mirostat_tau = options.mirostat_tau;
  parameters.mirostat_eta = options.mirostat_eta;
  parameters.dry_multiplier = options.dry_multiplier;
  parameters.dry_base = options.dry_base;
  parameters.dry_allowed_length = options.dry_allowed_length;
  parameters.dry_penalty_last_n = options.dry_penalty_last_n;
  if (options.dry_multiplier > 0 && options.dry_breakers) {
    parameters.n_dry_breakers = static_cast<uint32_t>(options.dry_breakers->size());
    parameters.dry_breakers = options.dry_breakers->data();
  }
  if (options.stages) {
    static constexpr uint32_t none = 0;  // for an empty chain, since null means the default
    parameters.stages = options.stages->empty() ? &none : options.stages->data();
    parameters.n_stages = static_cast<uint32_t>(options.stages->size());
  }
  return parameters;
}

Result<SamplingState> make_sampling_state(const GenerationRequest& request, uint32_t max_tokens,
                                          const EngineParts& parts) {
  const halogen_sampling_parameters parameters = parameters_of(request.sampling);
  Status status =
      call_plugin([&](halogen_error* error) { return parts.sampler->check(&parameters, error); });
  if (!status) return status.error();
  halogen_sampling_state* state = nullptr;
  status = call_plugin([&](halogen_error* error) {
    return parts.sampler->state_create(parts.sampler_instance, &parameters, request.prompt.data(),
                                       static_cast<uint32_t>(request.prompt.size()), max_tokens,
                                       &state, error);
  });
  if (!status) return status.error();
  return SamplingState(state, SamplingStateDeleter{parts.sampler});
}

// A bit set of all tokens of the vocabulary but these.
std::vector<uint32_t> mask_without(std::span<const int32_t> tokens, uint32_t vocabulary_size) {
  std::vector<uint32_t> mask((vocabulary_size + 31) / 32, ~0U);
  for (const int32_t token : tokens)
    mask[static_cast<size_t>(token) / 32] &= ~(1U << (static_cast<uint32_t>(token) % 32));
  return mask;
}

// What it shares its text in the prefix cache with: everybody, or one request's choices.
uint64_t root_of(const GenerationRequest& request, uint64_t id, const EngineLimits& limits) {
  if (limits.prefix_cache && request.cache_prompt) return 0;
  return request.shares_with != 0 ? request.shares_with : id;
}

}  // namespace

Status check_limits(const EngineLimits& limits) {
  auto zero = [](const char* name) {
    return invalid(std::string("the engine cannot work with ") + name + " = 0");
  };
  if (limits.vocabulary_size == 0) return zero("vocabulary_size");
  if (limits.block_tokens == 0) return zero("block_tokens");
  if (limits.total_blocks == 0) return zero("total_blocks");
  if (limits.max_context == 0) return zero("max_context");
  if (limits.max_batch_tokens == 0) return zero("max_batch_tokens");
  if (limits.prefill_batch_tokens == 0) return zero("prefill_batch_tokens");
  if (limits.max_sequences == 0) return zero("max_sequences");
  if (uint64_t{limits.total_blocks} * limits.block_tokens > std::numeric_limits<uint32_t>::max())
    return invalid("the KV pool has more token slots than a 32-bit slot number can name");
  return {};
}

Result<std::unique_ptr<Sequence>> make_sequence(GenerationRequest request, uint64_t id,
                                                const EngineParts& parts,
                                                const EngineLimits& limits,
                                                const TextSource& text) {
  if (Status ok = check_prompt(request.prompt, limits); !ok) return ok.error();
  if (Status ok = check_length(request, limits); !ok) return ok.error();
  const uint32_t most = std::min(limits.max_top_logprobs, limits.vocabulary_size);
  if (request.top_logprobs < -1 || std::cmp_greater(request.top_logprobs, most)) {
    return invalid("top_logprobs is " + std::to_string(request.top_logprobs) + "; it may be 0 to " +
                   std::to_string(most));
  }

  auto sequence = std::make_unique<Sequence>();
  sequence->id = id;
  sequence->prompt_tokens = static_cast<uint32_t>(request.prompt.size());
  sequence->max_tokens = request.max_tokens;
  if (request.max_tokens == 0)
    sequence->max_tokens = static_cast<uint32_t>(positions_of(limits) - request.prompt.size());
  sequence->top_logprobs = request.top_logprobs;
  sequence->priority = request.priority;
  sequence->ignore_eos = request.ignore_eos;

  if (request.min_tokens > sequence->max_tokens) {
    return invalid("min_tokens is " + std::to_string(request.min_tokens) + ", but at most " +
                   std::to_string(sequence->max_tokens) + " tokens are to be generated");
  }
  sequence->min_tokens = request.min_tokens;
  if (request.min_tokens > 0 && !request.ignore_eos)
    sequence->no_end = mask_without(text.end_tokens(), limits.vocabulary_size);

  auto sampling = make_sampling_state(request, sequence->max_tokens, parts);
  if (!sampling) return sampling.error();
  sequence->sampling = std::move(*sampling);
  auto sink = text.open(request);
  if (!sink) return sink.error();
  sequence->text = std::move(*sink);

  const size_t positions = size_t{sequence->prompt_tokens} + sequence->max_tokens;
  const uint32_t blocks = blocks_for(positions, limits.block_tokens);
  sequence->blocks.reserve(blocks);
  sequence->prefix.reserve(blocks);
  sequence->tokens = std::move(request.prompt);
  sequence->tokens.reserve(positions);
  sequence->root = root_of(request, id, limits);
  sequence->block_hashes.reserve(size_t{blocks} + 1);
  sequence->block_hashes.push_back(hash_root(parts.model_identity, sequence->root));
  extend_hashes(*sequence, sequence->prompt_tokens / limits.block_tokens, limits.block_tokens);
  sequence->submitted_us = monotonic_us();
  return sequence;
}

}  // namespace halogen
