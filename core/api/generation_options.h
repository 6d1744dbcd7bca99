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

// Reads everything but messages, prompt, and how logprobs are asked for. What is wrong is
// remembered by `fields`.
void read_generation_options(Fields& fields, const ModelAccess& model, GenerationOptions& options);

// The most choices a request may ask for, and the most likely tokens it may have listed.
inline constexpr int64_t kMostChoices = 128;
inline constexpr int64_t kMostTopLogprobs = 20;

}  // namespace halogen::api
