// Checks that a vocabulary's arrays fit each other, the special tokens and the embedding.
#pragma once

#include "plugins/gguf/failure.h"
#include "plugins/gguf/gguf_model.h"
#include "plugins/gguf/metadata_values.h"

namespace halogen::gguf {

// Also adds halogen.vocabulary_size from the embedding where there are neither tokens nor that key.
// What the tokens and merges say is the tokenizer's business.
bool complete_vocabulary(const GgufModel& model, NormalisedMetadata& metadata, Failure& failure);

}  // namespace halogen::gguf
