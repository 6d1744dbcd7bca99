// The parameters that chat and text completions share.
#pragma once

#include "core/api/fields.h"
#include "core/api/model_access.h"

namespace halogen::api {

struct GenerationOptions {
  GenerationRequest request;  // without the prompt
  int64_t choices = 1;        // "n"
  bool stream = false;
  bool include_usage = false;
  bool return_token_ids = false;
};

// Reads everything but messages, prompt, and how logprobs are asked for; max_tokens stays as it is
// where the request names none. What is wrong is remembered by `fields`.
void read_generation_options(Fields& fields, const ModelAccess& model, GenerationOptions& options);

// Refuses, as `param`, a prompt that leaves no room for an answer, and a max_tokens that does not
// fit beside it.
void check_lengths(Fields& fields, const std::string& param,
                   const std::vector<std::vector<int32_t>>& prompts, const ModelAccess& model,
                   const GenerationOptions& options);

// Refuses, as "n", more answers than a request may have or than can ever be in work at once.
void check_choices(Fields& fields, size_t prompts, const ModelAccess& model,
                   const GenerationOptions& options);

// Refuses what would change the answer but is not done yet.
void refuse_unsupported_sampling(Fields& fields);

// The most choices a request may ask for, and the most likely tokens it may have listed.
inline constexpr int64_t kMostChoices = 128;
inline constexpr int64_t kMostTopLogprobs = 20;

}  // namespace halogen::api
